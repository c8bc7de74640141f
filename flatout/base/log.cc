#include "flatout/base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/base/error.h"

namespace flatout {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"debug", "info", "warning", "error", "off"};

constexpr std::array<spdlog::level::level_enum, 5> kSpdlogLevels = {
    spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err,
    spdlog::level::off};

spdlog::logger& Logger() {
  // Never destroyed: threads may still log while the process ends.
  static spdlog::logger* const logger = [] {
    auto* made =
        new spdlog::logger("flatout", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern("%H:%M:%S %^%l%$ %v");
    made->set_level(spdlog::level::trace);  // levels are decided before the logger is asked
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

std::atomic<LogLevel>& Level() {
  static std::atomic<LogLevel> level = [] {
    const char* wanted = std::getenv("FLATOUT_LOG");
    if (wanted == nullptr || *wanted == '\0') return LogLevel::kInfo;
    try {
      return ParseLogLevel(wanted);
    } catch (const Error& error) {
      LogLine(LogLevel::kWarning, std::string("FLATOUT_LOG: ") + error.what());
      return LogLevel::kInfo;
    }
  }();
  return level;
}

std::mutex sink_mutex;
LogSink current_sink = nullptr;
void* sink_context = nullptr;
// Of its own, so that a copy may take its time without holding up a change of the sink.
std::mutex copy_mutex;
LogSink current_copy = nullptr;
void* copy_context = nullptr;
// A copy that logs itself would go round in a circle.
thread_local bool copying = false;

}  // namespace

LogLevel GetLogLevel() { return Level().load(std::memory_order_relaxed); }
void SetLogLevel(LogLevel level) { Level().store(level, std::memory_order_relaxed); }

LogLevel ParseLogLevel(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<LogLevel>(i);
  }
  throw Invalid("\"{}\" is no log level{}; the levels are debug, info, warning, error, off", name,
                DidYouMean(name, std::vector<std::string>(kNames.begin(), kNames.end())));
}

void SetLogSink(LogSink sink, void* context) {
  const std::lock_guard lock(sink_mutex);
  current_sink = sink;
  sink_context = context;
}

void SetLogCopy(LogSink copy, void* context) {
  const std::lock_guard lock(copy_mutex);
  current_copy = copy;
  copy_context = context;
}

void LogLine(LogLevel level, const std::string& message) noexcept {
  if (level == LogLevel::kOff) return;
  try {
    {
      const std::lock_guard lock(sink_mutex);
      if (current_sink != nullptr) {
        current_sink(level, message, sink_context);
      } else {
        Logger().log(kSpdlogLevels[static_cast<size_t>(level)], "{}", message);
      }
    }
    if (copying) return;
    const std::lock_guard lock(copy_mutex);
    if (current_copy == nullptr) return;
    copying = true;
    current_copy(level, message, copy_context);
    copying = false;
  } catch (...) {
    copying = false;
    // A log line that cannot be written must not end the training that it tells of.
  }
}

}  // namespace flatout
