#include "flatout/train/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/text.h"

namespace flatout::train {
namespace {

// The first launch compiles, fills caches and waits for the first batches.
constexpr int64_t kWarmUpLaunches = 2;
constexpr size_t kMostSpans = size_t{1} << 18;
constexpr const char* kWaiting = "wait for device";

std::string NameOf(const watch::LedgerSpan& span) {
  if (span.stage != watch::Stage::kNone) return std::string(Name(span.stage));
  return std::string(Name(span.cause));
}

// When some device computed, in order and without overlap.
std::vector<std::pair<double, double>> BusyTimes(const std::vector<watch::LedgerSpan>& spans) {
  std::vector<std::pair<double, double>> times;
  for (const watch::LedgerSpan& span : spans) {
    if (span.replica >= 0 && span.end > span.begin) times.emplace_back(span.begin, span.end);
  }
  std::sort(times.begin(), times.end());
  std::vector<std::pair<double, double>> whole;
  for (const auto& [begin, end] : times) {
    if (whole.empty() || begin > whole.back().second) {
      whole.emplace_back(begin, end);
    } else {
      whole.back().second = std::max(whole.back().second, end);
    }
  }
  return whole;
}

// The training thread does by name what it does besides waiting for results. So of the time that
// has no name it waits where a device computes, and is the host's only where none does.
std::vector<watch::LedgerSpan> WithWaits(const std::vector<watch::LedgerSpan>& spans,
                                         std::vector<trace::Event>& waits) {
  const std::vector<std::pair<double, double>> busy = BusyTimes(spans);
  std::vector<watch::LedgerSpan> told;
  for (const watch::LedgerSpan& span : spans) {
    const bool unnamed =
        span.replica < 0 && span.cause == watch::Cause::kHost && span.stage == watch::Stage::kNone;
    if (!unnamed) {
      told.push_back(span);
      continue;
    }
    double at = span.begin;
    const auto host = [&](double until) {
      if (until <= at) return;
      watch::LedgerSpan part = span;
      part.begin = at;
      part.end = until;
      told.push_back(part);
    };
    auto one = std::upper_bound(busy.begin(), busy.end(), span.begin,
                                [](double time, const auto& other) { return time < other.second; });
    for (; one != busy.end() && one->first < span.end; ++one) {
      const double from = std::max(one->first, at), to = std::min(one->second, span.end);
      if (to <= from) continue;
      host(from);
      waits.push_back({kWaiting, from, to});
      at = to;
    }
    host(span.end);
  }
  return told;
}

// What the ledger kept, as tracks of the recording.
void AddLedger(const std::vector<watch::LedgerSpan>& all, trace::Recording& recording) {
  std::map<int, trace::Track> tracks;  // by replica; -1: the training thread
  std::vector<trace::Event> waits;
  const std::vector<watch::LedgerSpan> spans = WithWaits(all, waits);
  for (const trace::Event& wait : waits) {
    const double begin = std::max(wait.begin, recording.begin);
    const double end = std::min(wait.end, recording.end);
    if (end > begin) tracks[-1].events.push_back({wait.name, begin, end});
  }
  for (const watch::LedgerSpan& span : spans) {
    const double begin = std::max(span.begin, recording.begin);
    const double end = std::min(span.end, recording.end);
    if (end <= begin) continue;
    trace::Track& track = tracks[span.replica];
    // A launch may be told of several times as it settles.
    if (!track.events.empty() && track.events.back().name == NameOf(span) &&
        track.events.back().end == begin && span.replica < 0) {
      track.events.back().end = end;
      continue;
    }
    track.events.push_back({NameOf(span), begin, end});
  }
  for (auto& [replica, track] : tracks) {
    std::stable_sort(track.events.begin(), track.events.end(),
                     [](const auto& a, const auto& b) { return a.end < b.end; });
    track.name = replica < 0 ? "training thread" : fmt::format("device {}", replica);
    recording.tracks.push_back(std::move(track));
  }
  std::stable_sort(recording.tracks.begin(), recording.tracks.end(),
                   [](const trace::Track& a, const trace::Track& b) { return a.name < b.name; });
}

// Seconds by name; of spans within spans the inner one's count for it alone.
std::map<std::string, double> OwnSeconds(const trace::Track& track) {
  std::vector<const trace::Event*> events;
  for (const trace::Event& event : track.events) events.push_back(&event);
  // Outer ones first.
  std::stable_sort(events.begin(), events.end(), [](const auto* a, const auto* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
  });
  std::map<std::string, double> seconds;
  std::vector<const trace::Event*> open;
  for (const trace::Event* event : events) {
    while (!open.empty() && open.back()->end <= event->begin) open.pop_back();
    seconds[event->name] += event->end - event->begin;
    if (!open.empty()) {
      seconds[open.back()->name] -= std::min(event->end, open.back()->end) - event->begin;
    }
    open.push_back(event);
  }
  return seconds;
}

// "flatout-input" of "flatout-input12"; a name that is a number stays.
std::string GroupOf(const std::string& name) {
  size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  while (end > 0 && (name[end - 1] == ' ' || name[end - 1] == '-')) --end;
  return end == 0 ? name : name.substr(0, end);
}

}  // namespace

ProfileObserver::ProfileObserver(int64_t steps, watch::Ledger& ledger, StopRequest& stop,
                                 std::unique_ptr<xla::Profiler> profiler)
    : steps_(steps), ledger_(ledger), stop_(stop), profiler_(std::move(profiler)) {}

ProfileObserver::~ProfileObserver() = default;

void ProfileObserver::OnProgress(const Progress& progress) {
  if (profile_) return;
  ++launches_;
  if (!running_) {
    if (launches_ >= kWarmUpLaunches) Begin(progress.step);
  } else if (progress.step - running_->first_step >= steps_) {
    End(progress.step);
  }
}

void ProfileObserver::Begin(int64_t step) {
  running_.emplace();
  running_->first_step = step;
  if (profiler_ != nullptr) {
    try {
      profiler_->Start();
    } catch (const Error& error) {
      running_->why_no_kernels = error.what();
      profiler_ = nullptr;
    }
  }
  ledger_.KeepTrace(kMostSpans);
  trace::Start();
}

void ProfileObserver::End(int64_t step) {
  running_->steps = step - running_->first_step;
  running_->recording = trace::Stop();
  running_->seconds = running_->recording.end - running_->recording.begin;
  AddLedger(ledger_.TakeTrace(), running_->recording);
  ledger_.KeepTrace(0);
  if (profiler_ != nullptr) {
    try {
      profiler_->Stop();
      running_->xspace = profiler_->Collect();
    } catch (const Error& error) {
      running_->why_no_kernels = error.what();
    }
    profiler_ = nullptr;
  }
  profile_ = std::exchange(running_, std::nullopt);
  stop_.Ask("the profile has its steps");
}

void ProfileObserver::OnEnd(const RunEnd& end) {
  // Fewer steps than asked for are a profile, too.
  if (running_ && end.step > running_->first_step) End(end.step);
}

std::string TimeTable(const Profile& profile) {
  struct Group {
    int64_t tracks = 0;
    std::map<std::string, double> seconds;
  };
  std::map<std::string, Group> groups;
  for (const trace::Track& track : profile.recording.tracks) {
    Group& group = groups[GroupOf(track.name)];
    ++group.tracks;
    for (const auto& [name, seconds] : OwnSeconds(track)) group.seconds[name] += seconds;
  }
  std::string text = fmt::format(
      "{} steps in {}, {} a step\n", profile.steps, HumanDuration(profile.seconds),
      HumanDuration(profile.seconds / static_cast<double>(std::max<int64_t>(profile.steps, 1))));
  text += fmt::format("  {:<24} {:>6}  what it did, by share of the time\n", "", "busy");
  for (const auto& [name, group] : groups) {
    const double all = profile.seconds * static_cast<double>(group.tracks);
    std::vector<std::pair<std::string, double>> shares(group.seconds.begin(), group.seconds.end());
    std::stable_sort(shares.begin(), shares.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    double busy = 0;
    std::string parts;
    for (const auto& [what, seconds] : shares) {
      busy += seconds;
      const double percent = all > 0 ? 100 * seconds / all : 0;
      if (percent < 0.05) continue;
      parts += fmt::format("{}{} {:.1f}", parts.empty() ? "" : ", ", what, percent);
    }
    const std::string title =
        group.tracks == 1 ? name : fmt::format("{} ({} of them)", name, group.tracks);
    text += fmt::format("  {:<24} {:>5.1f}%  {}\n", title, all > 0 ? 100 * busy / all : 0, parts);
  }
  return text;
}

}  // namespace flatout::train
