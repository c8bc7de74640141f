#include "flatout/web/pusher.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cctype>
#include <chrono>

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
    // "https://gateway/prefix": the gateway may live below a path.
    const size_t host = options_.address.find("://") + 3;
    const size_t slash = options_.address.find('/', host);
    std::string prefix = slash == std::string::npos ? "" : options_.address.substr(slash);
    while (prefix.ends_with('/')) prefix.pop_back();
    httplib::Client client(options_.address.substr(0, slash));
    client.set_connection_timeout(kTimeoutSeconds);
    client.set_read_timeout(kTimeoutSeconds);
    client.set_write_timeout(kTimeoutSeconds);
    const httplib::Result result = client.Put(prefix + Path(options_.job, HostName(), status.name),
                                              metrics_.Write(status), "text/plain; version=0.0.4");
    if (!result) {
      problem = httplib::to_string(result.error());
    } else if (result->status / 100 != 2) {
      problem = fmt::format("it answered {}: {}", result->status, result->body.substr(0, 200));
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!problem.empty() && !failed_) {
    LogWarning("the push gateway {} does not take the metrics ({}); it is tried again every {:g} s",
               options_.address, problem, options_.every_seconds);
  } else if (problem.empty() && failed_) {
    LogInfo("the push gateway {} takes the metrics again", options_.address);
  }
  failed_ = !problem.empty();
}

}  // namespace flatout::web
