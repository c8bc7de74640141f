#include "flatout/web/pusher.h"

#include <fmt/format.h>
#include <httplib.h>
#include <netdb.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "flatout/base/log.h"

namespace flatout::web {
namespace {

constexpr time_t kTimeoutSeconds = 3;
constexpr int kNice = 10;

std::string PercentEncode(const std::string& text) {
  std::string encoded;
  for (const unsigned char c : text) {
    if (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '~') {
      encoded += static_cast<char>(c);
    } else {
      encoded += fmt::format("%{:02X}", c);
    }
  }
  return encoded;
}

// RFC 4648, section 5 (URL-safe), with padding.
std::string Base64(const std::string& text) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string encoded;
  for (size_t i = 0; i < text.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0);
    }
    for (size_t k = 0; k < 4; ++k) {
      encoded += i + k > text.size() ? '=' : kDigits[bits >> (18 - 6 * k) & 63];
    }
  }
  return encoded;
}

// A slash, and nothing at all, cannot stand in a path: the gateway takes base64 for those.
std::string Grouping(const std::string& label, const std::string& value) {
  if (value.empty()) return "/" + label + "@base64/=";
  if (value.find('/') != std::string::npos) return "/" + label + "@base64/" + Base64(value);
  return "/" + label + "/" + PercentEncode(value);
}

// In which way a connection fails; nothing where it comes about. httplib does not say.
std::string TryToConnect(const GatewayAddress& gateway) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(gateway.host.c_str(), std::to_string(gateway.port).c_str(), &hints, &found);
  if (error != 0) {
    return fmt::format("there is no host called {} ({}); correct watch.push_gateway.address",
                       gateway.host, gai_strerror(error));
  }
  int why = 0;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int file =
        socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, one->ai_protocol);
    if (file < 0) {
      why = errno;
      continue;
    }
    why = connect(file, one->ai_addr, one->ai_addrlen) == 0 ? 0 : errno;
    if (why == EINPROGRESS) {
      pollfd wanted = {file, POLLOUT, 0};
      const int ready = poll(&wanted, 1, static_cast<int>(kTimeoutSeconds) * 1000);
      socklen_t size = sizeof why;
      if (ready <= 0) {
        why = ETIMEDOUT;
      } else if (getsockopt(file, SOL_SOCKET, SO_ERROR, &why, &size) != 0) {
        why = errno;
      }
    }
    close(file);
    if (why == 0) break;
  }
  freeaddrinfo(found);
  const std::string remedy = "start the gateway there, or correct watch.push_gateway.address";
  switch (why) {
    case 0:
      return "";
    case ECONNREFUSED:
      return fmt::format("nothing listens on port {} of {} (connection refused); {}", gateway.port,
                         gateway.host, remedy);
    case ETIMEDOUT:
      return fmt::format(
          "{} port {} did not answer within {} s (is it down, or does a firewall keep it from "
          "here?); {}",
          gateway.host, gateway.port, kTimeoutSeconds, remedy);
    default:
      return fmt::format("{} port {} cannot be reached: {}; {}", gateway.host, gateway.port,
                         std::generic_category().message(why), remedy);
  }
}

// Why a push did not come about, and what to do.
std::string WhyNot(const GatewayAddress& gateway, httplib::Error error) {
  const std::string why = TryToConnect(gateway);
  if (!why.empty()) return why;
  switch (error) {
    case httplib::Error::SSLConnection:
      return "it speaks no TLS there; write http:// for https:// where it has none";
    case httplib::Error::SSLLoadingCerts:
    case httplib::Error::SSLServerVerification:
      return "its certificate is not trusted by this machine; install its authority's";
    default:
      return fmt::format(
          "it took the connection, but did not answer the request within {} s; is it a push "
          "gateway that listens there?",
          kTimeoutSeconds);
  }
}

std::string WhyRefused(int status, const std::string& body) {
  std::string text = fmt::format("it answered {}", status);
  // Its own first line says most.
  const std::string line = body.substr(0, std::min(body.find('\n'), size_t{200}));
  if (!line.empty() && line.find('<') == std::string::npos) text += ": " + line;
  if (status == 401 || status == 403)
    return text + "; it asks who is there, which is not supported";
  if (status == 404 || status == 405 || status / 100 == 3) {
    return text + "; is it a push gateway, and is the path of watch.push_gateway.address its own?";
  }
  return text;
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace

std::string Pusher::Path(const std::string& job, const std::string& instance,
                         const std::string& run) {
  return "/metrics" + Grouping("job", job) + Grouping("instance", instance) + Grouping("run", run);
}

Pusher::Pusher(const PushOptions& options, const watch::StatusBoard& board, MetricsWriter& metrics)
    : options_(options), board_(board), metrics_(metrics) {
  thread_ = std::thread([this] {
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
    Work();
  });
}

Pusher::~Pusher() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Pusher::Work() {
  bool ended = false;
  while (!ended) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::duration<double>(options_.every_seconds),
                        [this] { return ended_; });
      ended = ended_;
    }
    Push();
  }
}

void Pusher::Push() {
  std::string problem;
  try {
    const watch::RunStatus status = board_.Read();
    const GatewayAddress gateway = ParseGateway(options_.address);
    httplib::Client client(gateway.base);
    client.set_connection_timeout(kTimeoutSeconds);
    client.set_read_timeout(kTimeoutSeconds);
    client.set_write_timeout(kTimeoutSeconds);
    const httplib::Result result =
        client.Put(gateway.prefix + Path(options_.job, HostName(), status.name),
                   metrics_.Write(status), "text/plain; version=0.0.4");
    if (!result) {
      problem = WhyNot(gateway, result.error());
    } else if (result->status / 100 != 2) {
      problem = WhyRefused(result->status, result->body);
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!problem.empty() && !failed_) {
    LogWarning(
        "the push gateway {} does not take the metrics: {}. It is tried again every {:g} s, and "
        "training does not wait for it",
        options_.address, problem, options_.every_seconds);
  } else if (problem.empty() && failed_) {
    LogInfo("the push gateway {} takes the metrics again", options_.address);
  }
  failed_ = !problem.empty();
}

}  // namespace flatout::web
