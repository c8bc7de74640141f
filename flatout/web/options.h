// What a run file's [watch.http] and [watch.push_gateway] tables may say.
#pragma once

#include <cstdint>
#include <string>

#include "flatout/base/config.h"

namespace flatout::web {

// The live page and /metrics, served by the training process.
struct HttpOptions {
  int64_t port = 0;                   // 0: nothing is served
  std::string address = "127.0.0.1";  // "0.0.0.0": for other machines, too
  // Where the port is taken: "next" takes the next free one and says so, "error" ends the run.
  std::string port_in_use = "next";
  // A file with the token that readers must show ("Authorization: Bearer ..."). Without it the
  // environment variable FLATOUT_HTTP_TOKEN, without that none.
  std::string token_file;
  double linger_seconds = 0;  // keep serving so long after the end, for a last look

  template <class V>
  void Visit(V& v) {
    v("port", port);
    v("address", address);
    v("port_in_use", port_in_use);
    v("token_file", token_file);
    v("linger_seconds", linger_seconds);
  }
};
void ReadConfig(const Config& value, HttpOptions& field);

// Prometheus's Pushgateway, for runs that are over before anybody asks them.
struct PushOptions {
  std::string address;  // "http://gateway:9091"; empty: nothing is pushed
  std::string job = "flatout";
  double every_seconds = 15;

  template <class V>
  void Visit(V& v) {
    v("address", address);
    v("job", job);
    v("every_seconds", every_seconds);
  }
};
void ReadConfig(const Config& value, PushOptions& field);

// "https://gateway:9091/prefix/", taken apart: the gateway may live below a path.
struct GatewayAddress {
  std::string base;    // "https://gateway:9091"
  std::string host;    // "gateway"; of "[::1]" what is in the brackets
  int port = 0;        // as written, or the scheme's
  std::string prefix;  // "/prefix"
};
// Throws UserError where it names no host, a port that is none, or is no such address.
GatewayAddress ParseGateway(const std::string& address);

// The token that readers must show; "" where none is asked for. Throws UserError where the file
// cannot be read or holds none.
std::string ReadToken(const HttpOptions& options);

}  // namespace flatout::web
