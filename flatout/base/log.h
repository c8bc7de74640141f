// Log lines on standard error: one logger, five levels, from the environment variable FLATOUT_LOG
// (debug, info, warning, error or off; info by default).
//
//   LogInfo("compiled in {:.1f} s", seconds);
//
// What a command was asked to print (tables, results) goes to standard output and is no log.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace flatout {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

// The level in force. Lines below it cost a comparison and are not formatted.
LogLevel GetLogLevel();
void SetLogLevel(LogLevel level);
// "warning" to LogLevel::kWarning; throws UserError for other words, naming the nearest.
LogLevel ParseLogLevel(std::string_view name);

// Sends lines to `sink` instead of standard error; an empty function restores that. For tests and
// for the progress bar, which must leave its line before a message is printed.
using LogSink = void (*)(LogLevel level, const std::string& line, void* context);
void SetLogSink(LogSink sink, void* context);

// Each line goes to `copy` as well, besides to where it goes: for a file of them. nullptr ends it.
void SetLogCopy(LogSink copy, void* context);

// One line, already formatted. Safe from any thread; never throws.
void LogLine(LogLevel level, const std::string& message) noexcept;

template <typename... Args>
void LogAt(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (level >= GetLogLevel()) LogLine(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void LogDebug(fmt::format_string<Args...> format, Args&&... args) {
  LogAt(LogLevel::kDebug, format, std::forward<Args>(args)...);
}
template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  LogAt(LogLevel::kInfo, format, std::forward<Args>(args)...);
}
template <typename... Args>
void LogWarning(fmt::format_string<Args...> format, Args&&... args) {
  LogAt(LogLevel::kWarning, format, std::forward<Args>(args)...);
}
template <typename... Args>
void LogError(fmt::format_string<Args...> format, Args&&... args) {
  LogAt(LogLevel::kError, format, std::forward<Args>(args)...);
}

}  // namespace flatout
