#include "flatout/web/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "flatout/base/error.h"
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
  if (!value.is_table()) {
    const bool port = value.kind() == Config::Kind::kInt;
    throw value.Complain(fmt::format(
        "expected a table [watch.http], found {}; for the port write {}.port = {} (or "
        "flatout train --port {})",
        value.Describe(), value.path(), port ? value.AsInt() : 8090, port ? value.AsInt() : 8090));
  }
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
  RequireSeconds(value, "linger_seconds", field.linger_seconds);
}

GatewayAddress ParseGateway(const std::string& address) {
  const auto wrong = [&](const std::string& why) {
    return Invalid("{}: write it as \"http://gateway:9091\", found \"{}\"", why, address);
  };
  const size_t scheme_end = address.find("://");
  const std::string scheme = scheme_end == std::string::npos ? "" : address.substr(0, scheme_end);
  if (scheme != "http" && scheme != "https") throw wrong("must begin with http:// or https://");
  GatewayAddress parsed;
  const std::string rest = address.substr(scheme.size() + 3);
  const std::string authority = rest.substr(0, rest.find('/'));
  parsed.base = scheme + "://" + authority;
  parsed.prefix = rest.substr(authority.size());
  while (parsed.prefix.ends_with('/')) parsed.prefix.pop_back();
  const bool plain = std::all_of(rest.begin(), rest.end(), [](unsigned char c) {
    return c > 0x20 && c < 0x7f &&
           std::string_view("?#\\\"<>").find(static_cast<char>(c)) == std::string_view::npos;
  });
  if (!plain) throw wrong("must have no blanks, quotes, ? or #");
  if (authority.find('@') != std::string::npos) throw wrong("must hold no user and password");
  // "[::1]:9091": the colons in brackets are the host's.
  const bool bracket = authority.starts_with('[');
  const size_t host_end = bracket ? authority.find(']') : authority.rfind(':');
  if (bracket && host_end == std::string::npos) throw wrong("the [ of its host is not closed");
  parsed.host = bracket ? authority.substr(1, host_end - 1) : authority.substr(0, host_end);
  if (parsed.host.empty()) throw wrong("names no host");
  if (!bracket && parsed.host.find(':') != std::string::npos) {
    throw wrong("an IPv6 address stands in brackets");
  }
  parsed.port = scheme == "https" ? 443 : 80;
  const std::string after = bracket                         ? authority.substr(host_end + 1)
                            : host_end == std::string::npos ? ""
                                                            : authority.substr(host_end);
  if (after.empty()) return parsed;
  const std::string digits = after.substr(1);
  const bool number =
      after[0] == ':' && !digits.empty() && digits.size() <= 5 &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  parsed.port = number ? std::stoi(digits) : 0;
  if (parsed.port < 1 || parsed.port > 65535) throw wrong("its port is none from 1 to 65535");
  return parsed;
}

void ReadConfig(const Config& value, PushOptions& field) {
  if (!value.is_table()) {
    throw value.Complain(
        fmt::format("expected a table [watch.push_gateway], found {}; write {}.address = {}",
                    value.Describe(), value.path(),
                    value.is_string() ? '"' + value.AsString() + '"' : "\"http://gateway:9091\""));
  }
  ReadOptions(value, "[watch.push_gateway]", field);
  if (!field.address.empty()) {
    try {
      ParseGateway(field.address);
    } catch (const UserError& error) {
      throw value.Find("address")->Complain(error.message());
    }
  }
  if (field.job.empty()) throw value.Find("job")->Complain("must not be empty");
  RequireSeconds(value, "every_seconds", field.every_seconds, 0.1);
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
