#include "flatout/web/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "flatout/base/file.h"

namespace flatout::web {
namespace {

constexpr const char* kTokenVariable = "FLATOUT_HTTP_TOKEN";

std::string Trim(const std::string& text) {
  const char* blank = " \t\r\n";
  const size_t begin = text.find_first_not_of(blank);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

}  // namespace

void ReadConfig(const Config& value, HttpOptions& field) {
  ReadOptions(value, "[watch.http]", field);
  if (field.port < 0 || field.port > 65535) {
    throw value.Find("port")->Complain(
        fmt::format("must be a port from 1 to 65535, or 0 for none, found {}", field.port));
  }
  if (field.port_in_use != "next" && field.port_in_use != "error") {
    throw value.Find("port_in_use")
        ->Complain("must be \"next\" or \"error\", found \"" + field.port_in_use + "\"");
  }
  if (field.address.empty()) {
    throw value.Find("address")->Complain(
        "must be an address of this machine: \"127.0.0.1\" for itself alone, \"0.0.0.0\" for all");
  }
  if (!(field.linger_seconds >= 0 && std::isfinite(field.linger_seconds))) {
    throw value.Find("linger_seconds")
        ->Complain(fmt::format("must not be negative, found {}", field.linger_seconds));
  }
}

void ReadConfig(const Config& value, PushOptions& field) {
  ReadOptions(value, "[watch.push_gateway]", field);
  const std::string& address = field.address;
  if (!address.empty() && !address.starts_with("http://") && !address.starts_with("https://")) {
    throw value.Find("address")->Complain(
        "must begin with http:// or https://, such as \"http://gateway:9091\", found \"" + address +
        "\"");
  }
  if (field.job.empty()) throw value.Find("job")->Complain("must not be empty");
  if (!(field.every_seconds > 0)) {
    throw value.Find("every_seconds")
        ->Complain(fmt::format("must be positive, found {}", field.every_seconds));
  }
}

std::string ReadToken(const HttpOptions& options) {
  std::string token, origin;
  if (!options.token_file.empty()) {
    origin = options.token_file;
    token = Trim(ReadFile(options.token_file));
    if (token.empty()) {
      throw Invalid("watch.http.token_file: {} is empty; it should hold the token", origin);
    }
  } else if (const char* set = std::getenv(kTokenVariable); set != nullptr) {
    origin = kTokenVariable;
    token = Trim(set);
  }
  const bool plain =
      std::all_of(token.begin(), token.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  if (!plain) {
    throw Invalid("the token in {} must be one word of printable ASCII characters", origin);
  }
  return token;
}

}  // namespace flatout::web
