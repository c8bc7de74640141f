#include "flatout/xla/error_text.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "flatout/xla/api.h"

namespace flatout::xla {
namespace {

bool Contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) ==
                  std::tolower(static_cast<unsigned char>(b));
         }) != text.end();
}

struct TextPlace {
  int line = 0, column = 0;
};

// The first ":<line>:<column>: error" of an MLIR diagnostic, or the first ":<line>:<column>:".
std::optional<TextPlace> FindPlace(std::string_view text) {
  std::optional<TextPlace> first;
  for (size_t i = 0; i + 3 < text.size(); ++i) {
    if (text[i] != ':' || !std::isdigit(static_cast<unsigned char>(text[i + 1]))) continue;
    size_t at = i + 1;
    auto number = [&] {
      int value = 0;
      while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) &&
             value < 100'000'000) {
        value = value * 10 + (text[at++] - '0');
      }
      return value;
    };
    TextPlace place;
    place.line = number();
    if (at + 1 >= text.size() || text[at] != ':' ||
        !std::isdigit(static_cast<unsigned char>(text[at + 1]))) {
      continue;
    }
    ++at;
    place.column = number();
    if (text.substr(at).starts_with(": error")) return place;
    if (!first && at < text.size() && (text[at] == ':' || text[at] == ')')) first = place;
  }
  return first;
}

std::string_view Line(std::string_view program, int line) {
  for (int i = 1; i < line; ++i) {
    const size_t end = program.find('\n');
    if (end == std::string_view::npos) return {};
    program.remove_prefix(end + 1);
  }
  return program.substr(0, program.find('\n'));
}

std::string Shorten(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  return std::string(text.substr(0, limit)) + fmt::format("... ({} characters)", text.size());
}

// What a message ends with that is of no use to its reader: the advice on compatibility that every
// parse error carries, MLIR's "<unknown>:0: error:", places in XLA's own source.
std::string_view StripTail(std::string_view message) {
  for (std::string_view tail : {"Failed to parse using StableHLO", "=== Source Location Trace",
                                "See https://openxla.org"}) {
    const size_t at = message.find(tail);
    if (at != std::string_view::npos && at > 0) message = message.substr(0, at);
  }
  for (;;) {
    while (!message.empty() && std::isspace(static_cast<unsigned char>(message.back()))) {
      message.remove_suffix(1);
    }
    constexpr std::string_view kNowhere = "<unknown>:0: error:";
    if (!message.ends_with(kNowhere)) return message;
    message.remove_suffix(kNowhere.size());
  }
}

}  // namespace

std::exception_ptr Translate(const PluginError& error, std::string_view doing,
                             std::string_view program) {
  const std::string_view whole = error.message;
  const std::string_view said = StripTail(whole);
  const auto user = [&](Code code, const std::string& message) {
    return std::make_exception_ptr(UserError(
        code, fmt::format("{} (while {}; XLA says: {})", message, doing, Shorten(said, 2000))));
  };
  if (error.code == Code::kResourceExhausted || Contains(whole, "out of memory")) {
    return user(Code::kResourceExhausted,
                "the device has too little free memory for this program and its data; make "
                "train.global_batch smaller, split it with more micro-batches, or free the device "
                "of other programs");
  }
  if (Contains(whole, "plugin is likely built with a")) {
    return user(error.code,
                fmt::format("the plugin and Flatout (PJRT {}) are of versions that don't "
                            "fit together; install the plugin that deps/install brings",
                            BuiltWithPjrt().ToString()));
  }
  if (Contains(whole, "No visible GPU devices")) {
    return user(error.code,
                "XLA finds no GPU it may use; check nvidia-smi, CUDA_VISIBLE_DEVICES and the "
                "visible_devices option");
  }
  if (Contains(whole, "deleted or donated")) {
    return user(error.code,
                "an argument is gone: its buffer was donated to an earlier execution (or deleted); "
                "pass the output that took its place");
  }
  if (Contains(whole, "option name passed to PJRT") || Contains(whole, "expected type index is")) {
    return user(error.code, "the plugin doesn't take one of the client options");
  }
  if (Contains(whole, "No such compile option")) {
    return user(Code::kInvalidArgument,
                "the plugin doesn't know one of the XLA flags set for this program");
  }
  if (Contains(whole, "No FFI handler registered") ||
      Contains(whole, "No registered implementation")) {
    return std::make_exception_ptr(
        Internal("the program calls a kernel that this plugin doesn't know, while {}; XLA says: {}",
                 doing, Shorten(said, 2000)));
  }
  if (!program.empty()) {
    if (const auto place = FindPlace(whole)) {
      const std::string_view line = Line(program, place->line);
      if (!line.empty()) {
        return std::make_exception_ptr(
            Internal("XLA refuses the program while {}, at line {}, column {}:\n  {}\nXLA says: {}",
                     doing, place->line, place->column, Shorten(line, 500), Shorten(said, 2000)));
      }
    }
    if (error.code == Code::kInvalidArgument || error.code == Code::kUnknown) {
      return std::make_exception_ptr(
          Internal("XLA refuses the program while {}; XLA says: {}", doing, Shorten(said, 2000)));
    }
  }
  if (error.code == Code::kInternal || error.code == Code::kUnknown) {
    return std::make_exception_ptr(Error(
        error.code, fmt::format("XLA failed while {}; it says: {}", doing, Shorten(said, 4000))));
  }
  return std::make_exception_ptr(UserError(
      error.code,
      fmt::format("{} failed ({}): {}", doing, CodeName(error.code), Shorten(said, 4000))));
}

void DestroyError(const PJRT_Api* api, PJRT_Error* error) noexcept {
  FLATOUT_ARGS(PJRT_Error_Destroy, args);
  args->error = error;
  api->PJRT_Error_Destroy(args.get());
}

PluginError TakeError(const PJRT_Api* api, PJRT_Error* error) {
  PluginError result;
  FLATOUT_ARGS(PJRT_Error_GetCode, code);
  code->error = error;
  if (PJRT_Error* nested = api->PJRT_Error_GetCode(code.get()); nested != nullptr) {
    DestroyError(api, nested);
  } else {
    // UNAUTHENTICATED (16) has no counterpart in Code.
    result.code = code->code == PJRT_Error_Code_UNAUTHENTICATED ? Code::kPermissionDenied
                                                                : static_cast<Code>(code->code);
  }
  FLATOUT_ARGS(PJRT_Error_Message, message);
  message->error = error;
  api->PJRT_Error_Message(message.get());
  if (message->message != nullptr) result.message.assign(message->message, message->message_size);
  DestroyError(api, error);
  return result;
}

void ThrowAndDestroy(const PJRT_Api* api, PJRT_Error* error, std::string_view doing,
                     std::string_view program) {
  std::rethrow_exception(Translate(TakeError(api, error), doing, program));
}

void ThrowLacks(const PJRT_Api* api, std::string_view function) {
  throw UserError(
      Code::kUnimplemented,
      fmt::format("the plugin (PJRT {}.{}) has no {}; install a newer plugin, for example "
                  "the one that deps/install brings",
                  api->pjrt_api_version.major_version, api->pjrt_api_version.minor_version,
                  function));
}

}  // namespace flatout::xla
