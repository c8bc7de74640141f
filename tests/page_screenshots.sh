#!/usr/bin/env bash
# Takes pictures of the live page and of a report, as browsers show them: wide, on a phone, in the
# dark. For looking at them; make test checks what can be checked without eyes.
#
#   tests/page_screenshots.sh build/release/bin/flatout [FOLDER]
#
# Needs a Chromium (apt-get install chromium-headless-shell). The pictures go to FOLDER, build/pages
# unless told.
set -euo pipefail

flatout=$(realpath "${1:?usage: tests/page_screenshots.sh FLATOUT [FOLDER]}")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$(mkdir -p "${2:-$root/build/pages}" && cd "${2:-$root/build/pages}" && pwd)
for browser in chromium-headless-shell chromium google-chrome; do
  command -v "$browser" >/dev/null && break
done
command -v "$browser" >/dev/null || {
  echo "page_screenshots: no Chromium is here; apt-get install chromium-headless-shell" >&2
  exit 1
}

work=$(mktemp -d)
run_pid=
trap '[[ -z $run_pid ]] || kill "$run_pid" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

# A picture of an address: name, width, height, and "dark" or "light".
picture() {
  local scheme=0
  [[ $5 == dark ]] || scheme=1 # blink's preferred colour scheme: 0 dark, 1 light
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
    --user-data-dir="$work/profile" --virtual-time-budget=6000 \
    --blink-settings=preferredColorScheme=$scheme \
    --window-size="$3,$4" --screenshot="$out/$1.png" "$2" >"$work/browser.log" 2>&1 ||
    { tail -n 5 "$work/browser.log" >&2; return 1; }
  echo "$out/$1.png"
}

cat >"$work/run.toml" <<'TOML'
[model]
builtin = "mlp"
layers = 1
units = 64
[data]
source = "fashion_mnist"
validation_split = 0.02
[train]
epochs = 1000
global_batch = 64
metrics = ["accuracy"]
evaluate_test = false
[checkpoint]
every_seconds = 5
[watch]
log_seconds = 1
progress = "plain"
ceiling = false
[watch.http]
port = 18090
[cost]
price_per_hour = 2.5
TOML
cd "$work"
"$flatout" train run.toml --run-dir run >log 2>&1 &
run_pid=$!
until grep -q '^epoch 4/' log; do
  kill -0 "$run_pid" || { tail -n 5 log >&2; exit 1; }
  sleep 0.5
done
url=$(sed -n 's/^live page: \(http[^ ]*\) .*/\1/p' log)
picture page_wide "$url" 1280 2600 light
picture page_dark "$url" 1280 2600 dark
picture page_phone "$url" 390 4200 light
kill -INT "$run_pid"
wait "$run_pid" || true
run_pid=
"$flatout" train run.toml --run-dir other --set optimizer.learning_rate=0.01 --set train.epochs=3 \
  --set watch.http.port=0 >log2 2>&1
"$flatout" report run
"$flatout" report run other --out compare.html
picture report_wide "file://$work/run/report.html" 1280 2600 light
picture report_compare "file://$work/compare.html" 1280 2400 light
picture report_phone "file://$work/run/report.html" 390 4200 dark
