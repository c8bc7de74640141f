#include "flatout/watch/run_status.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cmath>

namespace flatout::watch {
namespace {

// The pace is taken over at least so many seconds, where there are so many.
constexpr double kLeastPaceSeconds = 20;

}  // namespace

void RunHistory::Add(RunPoint point) {
  if (temporary_) {
    points_.back() = std::move(point);
  } else {
    points_.push_back(std::move(point));
  }
  temporary_ = added_ % stride_ != 0;
  ++added_;
  if (points_.size() <= most_) return;
  const size_t last = points_.size() - 1;
  temporary_ = temporary_ || last % 2 != 0;
  size_t kept = 0;
  for (size_t i = 0; i <= last; ++i) {
    if (i % 2 != 0 && i != last) continue;
    if (kept != i) points_[kept] = std::move(points_[i]);
    ++kept;
  }
  points_.resize(kept);
  stride_ *= 2;
}

double RunStatus::epochs_done() const {
  if (epoch <= 0) return 0;
  const double part = steps_per_epoch.value_or(0) > 0
                          ? std::min(1.0, static_cast<double>(step_in_epoch) /
                                              static_cast<double>(*steps_per_epoch))
                          : 0;
  return static_cast<double>(epoch - 1) + part;
}

std::optional<int64_t> RunStatus::steps_in_all() const {
  std::optional<int64_t> all;
  if (steps_per_epoch && *steps_per_epoch > 0 && epochs > 0) all = epochs * *steps_per_epoch;
  if (max_steps) all = std::min(all.value_or(*max_steps), *max_steps);
  return all;
}

std::optional<double> RunStatus::progress() const {
  if (state == "done") return 1;
  const std::optional<int64_t> all = steps_in_all();
  if (!all || *all <= 0) return std::nullopt;
  return std::clamp(static_cast<double>(step) / static_cast<double>(*all), 0.0, 1.0);
}

bool RunStatus::alive() const {
  return state == "starting" || state == "training" || state == "evaluating" || state == "running";
}

void AddLogLine(RunStatus& status, std::string line) {
  status.log.push_back(std::move(line));
  while (status.log.size() > kLogLines) status.log.pop_front();
}

void AddEpoch(RunStatus& status, RunEpoch epoch) {
  std::vector<RunEpoch>& all = status.epoch_history;
  all.push_back(std::move(epoch));
  if (all.size() > kMostEpochs) all.erase(all.begin());
}

void ReadDisk(const std::string& folder, RunStatus& status) {
  struct statvfs disk {};
  if (statvfs(folder.c_str(), &disk) != 0) return;
  const auto block = static_cast<double>(disk.f_frsize);
  status.disk_free_bytes = static_cast<double>(disk.f_bavail) * block;
  status.disk_bytes = static_cast<double>(disk.f_blocks) * block;
}

std::optional<double> EstimateEta(const RunStatus& status) {
  if (!status.alive()) return std::nullopt;
  const std::optional<int64_t> all = status.steps_in_all();
  const std::vector<RunPoint>& points = status.history.points();
  if (!all || points.size() < 2) return std::nullopt;
  const RunPoint& last = points.back();
  const RunPoint* first = &points[points.size() - 2];
  for (size_t i = points.size() - 1; i-- > 0;) {
    first = &points[i];
    if (i < points.size() * 3 / 4 && last.seconds - first->seconds >= kLeastPaceSeconds) break;
  }
  const double seconds = last.seconds - first->seconds;
  const auto steps = static_cast<double>(last.step - first->step);
  // A clock that was set back (a folder written by hand, say) gives no pace.
  if (!(seconds > 0) || steps <= 0) return std::nullopt;
  return std::max<double>(0, static_cast<double>(*all - status.step)) * seconds / steps;
}

StatusBoard::StatusBoard(Refresh refresh)
    : refresh_(std::move(refresh)), status_(std::make_shared<const RunStatus>()) {}

void StatusBoard::Publish(const RunStatus& status) {
  auto next = std::make_shared<const RunStatus>(status);
  const std::lock_guard lock(mutex_);
  status_.swap(next);
}

RunStatus StatusBoard::Read() const {
  std::shared_ptr<const RunStatus> status;
  {
    const std::lock_guard lock(mutex_);
    status = status_;
  }
  RunStatus copy = *status;
  if (refresh_) refresh_(copy);
  return copy;
}

}  // namespace flatout::watch
