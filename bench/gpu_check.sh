#!/bin/bash
# Plans the five workloads for the GPU of this machine, trains each for some seconds, and writes what
# was planned beside what came: peak memory, step time, MFU.
#
#   bench/gpu_check.sh                       # on a machine with one data-centre GPU: at most 10 minutes
#   bench/gpu_check.sh --device cpu          # the same steps without a GPU, to try the script itself
#
# Options: --device cuda|cpu, --card NAME (where the driver's name for the card is not known),
# --flatout PATH (default: build/release/bin/flatout, built if it is missing), --seconds S of training
# for each run (8), --minutes M for everything (10), --workloads mlp,cnn,rn,tr,dl, --out FILE
# (docs/measurements/<card>-<date>.md; for cpu: standard output).
#
# Ends with 0 when every run gave its figures, 1 when some did not, 2 when something is missing to begin.
set -u -o pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
device=cuda
flatout=$root/build/release/bin/flatout
minutes=10
rest=()
need() { [ $# -ge 2 ] || { echo "gpu_check: $1 needs a value" >&2; exit 2; }; }
while [ $# -gt 0 ]; do
  case $1 in
    --device) need "$@"; device=$2; shift 2 ;;
    --flatout) need "$@"; flatout=$(realpath -m "$2"); shift 2 ;;
    --minutes) need "$@"; minutes=$2; shift 2 ;;
    --card | --seconds | --workloads) need "$@"; rest+=("$1" "$2"); shift 2 ;;
    --out) need "$@"; rest+=("$1" "$(realpath -m "$2")"); shift 2 ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "gpu_check: unknown option $1; see $0 --help" >&2; exit 2 ;;
  esac
done
case $device in cuda | cpu) ;; *) echo "gpu_check: --device is cuda or cpu, not $device" >&2; exit 2 ;; esac
case $minutes in '' | *[!0-9]* | 0) echo "gpu_check: --minutes is a whole number from 1" >&2; exit 2 ;; esac

command -v python3 >/dev/null || { echo "gpu_check: needs python3" >&2; exit 2; }
if [ "$device" = cuda ] && ! { [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; }; then
  echo "gpu_check: there is no NVIDIA GPU here (no /dev/nvidiactl); try the script with --device cpu" >&2
  exit 2
fi
if [ ! -x "$flatout" ]; then
  if [ "$flatout" != "$root/build/release/bin/flatout" ]; then
    echo "gpu_check: $flatout is not there" >&2
    exit 2
  fi
  echo "gpu_check: building (not part of the $minutes minutes)" >&2
  make -C "$root" build >&2 || { echo "gpu_check: the build failed" >&2; exit 2; }
fi
if [ "$device" = cuda ] && ! "$flatout" devices 2>/dev/null | grep -q 'cuda:0'; then
  echo "gpu_check: flatout sees no GPU; flatout devices says why, and" >&2
  echo "  $flatout plugin install cuda13 --for-running" >&2
  echo "brings the plugin with the libraries that it runs with" >&2
  exit 2
fi

# The driver stops by itself in time; the outer limit is for the case that it cannot.
exec timeout --kill-after=10 $((minutes * 60)) \
  python3 "$root/bench/gpu_check.py" --flatout "$flatout" --device "$device" \
  --minutes "$minutes" "${rest[@]}"
