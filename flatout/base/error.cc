#include "flatout/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace flatout {

std::string_view CodeName(Code code) {
  static constexpr std::array<std::string_view, 16> kNames = {"OK",
                                                              "CANCELLED",
                                                              "UNKNOWN",
                                                              "INVALID_ARGUMENT",
                                                              "DEADLINE_EXCEEDED",
                                                              "NOT_FOUND",
                                                              "ALREADY_EXISTS",
                                                              "PERMISSION_DENIED",
                                                              "RESOURCE_EXHAUSTED",
                                                              "FAILED_PRECONDITION",
                                                              "ABORTED",
                                                              "OUT_OF_RANGE",
                                                              "UNIMPLEMENTED",
                                                              "INTERNAL",
                                                              "UNAVAILABLE",
                                                              "DATA_LOSS"};
  const auto index = static_cast<size_t>(code);
  return index < kNames.size() ? kNames[index] : "UNKNOWN";
}

namespace {

int DefaultExitCode(Code code) {
  switch (code) {
    case Code::kResourceExhausted:
      return kExitOutOfMemory;
    case Code::kDataLoss:
      return kExitBadData;
    case Code::kInternal:
    case Code::kUnknown:
      return kExitInternal;
    default:
      return kExitUsage;
  }
}

// Names and values out of files stand in messages. What would end the text (a zero byte) or do
// things to a terminal is written as \x00.
std::string Printable(std::string text) {
  const auto hidden = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
  };
  if (std::none_of(text.begin(), text.end(), hidden)) return text;
  std::string printable;
  for (const char c : text) {
    if (hidden(c)) {
      printable += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      printable += c;
    }
  }
  return printable;
}

}  // namespace

Error::Error(Code code, std::string message)
    : code_(code), exit_code_(DefaultExitCode(code)), message_(Printable(std::move(message))) {
  Rebuild();
}

void Error::AddContext(std::string context) {
  context = Printable(std::move(context));
  // Who is near to the fault may have said the same already: "layer conv: add" within "layer conv".
  const std::string_view inner = context_.empty() ? message_ : context_.front();
  if (inner.starts_with(context) &&
      (inner.size() == context.size() || inner[context.size()] == ':')) {
    return;
  }
  context_.insert(context_.begin(), std::move(context));
  Rebuild();
}

void Error::Rebuild() {
  what_.clear();
  for (const std::string& context : context_) what_ += context + ": ";
  what_ += message_;
}

DataError::DataError(std::string message) : UserError(Code::kDataLoss, std::move(message)) {}

InternalError::InternalError(std::string message)
    : Error(
          Code::kInternal,
          std::move(message) +
              " (this is a fault in Flatout itself; please report it with the run file and log)") {}

}  // namespace flatout
