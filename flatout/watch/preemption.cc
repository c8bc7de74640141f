#include "flatout/watch/preemption.h"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"

namespace flatout::watch {
namespace {

// Metadata servers are next door: one that takes longer is not there.
constexpr int kTimeoutSeconds = 2;
// Google promises that much between notice and end.
constexpr double kGceGraceSeconds = 30;
constexpr const char* kTokenSeconds = "21600";

std::string Title(Cloud cloud) {
  return cloud == Cloud::kGce ? "Google Compute Engine" : "Amazon EC2";
}

// "" where the file cannot be read.
std::string FirstLine(const std::string& path) {
  try {
    const std::string text = ReadFile(path);
    return text.substr(0, text.find('\n'));
  } catch (const Error&) {
    return "";
  }
}

httplib::Client MakeClient(const std::string& address) {
  // Metadata servers speak HTTP; the library throws at schemes that it does not know.
  if (!address.starts_with("http://")) {
    throw UserError(Code::kUnavailable,
                    fmt::format("{}: expected an address that begins with http://", address));
  }
  httplib::Client client(address);
  client.set_connection_timeout(kTimeoutSeconds);
  client.set_read_timeout(kTimeoutSeconds);
  client.set_write_timeout(kTimeoutSeconds);
  return client;
}

// The answer to a request; throws where there is none, or one with another status than `statuses`.
httplib::Response Expect(httplib::Result result, std::initializer_list<int> statuses,
                         const std::string& what) {
  if (!result) {
    throw UserError(Code::kUnavailable,
                    fmt::format("{}: no answer ({})", what, httplib::to_string(result.error())));
  }
  if (std::find(statuses.begin(), statuses.end(), result->status) == statuses.end()) {
    throw UserError(Code::kUnavailable,
                    fmt::format("{}: answered with status {}", what, result->status));
  }
  return *result;
}

std::optional<PreemptionNotice> AskGce(const std::string& address) {
  httplib::Client client = MakeClient(address);
  const httplib::Headers headers = {{"Metadata-Flavor", "Google"}};
  const auto get = [&](const std::string& path) {
    const std::string what = address + path;
    const httplib::Response response = Expect(client.Get(path, headers), {200}, what);
    // So says Google: an answer without this header comes from somebody else.
    if (response.get_header_value("Metadata-Flavor") != "Google") {
      throw UserError(Code::kUnavailable, what + ": the answer does not come from Compute Engine");
    }
    std::string text = response.body;
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
  };
  PreemptionNotice notice;
  notice.seconds_left = kGceGraceSeconds;
  if (const std::string text = get("/computeMetadata/v1/instance/preempted"); text == "TRUE") {
    notice.what = "a preemption notice of Google Compute Engine";
    return notice;
  }
  const std::string event = get("/computeMetadata/v1/instance/maintenance-event");
  if (event.starts_with("TERMINATE")) {
    notice.what = "a maintenance notice of Google Compute Engine (" + event + ")";
    notice.seconds_left.reset();  // an hour or a minute, by the machine's kind
    return notice;
  }
  return std::nullopt;
}

// Seconds from now until "2026-11-30T08:22:00Z".
std::optional<double> SecondsUntil(const std::string& time) {
  std::tm parts{};
  if (strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return std::nullopt;
  return std::difftime(timegm(&parts), std::time(nullptr));
}

std::optional<PreemptionNotice> AskEc2(const std::string& address) {
  httplib::Client client = MakeClient(address);
  const std::string token_path = "/latest/api/token";
  const httplib::Response token =
      Expect(client.Put(token_path, {{"X-aws-ec2-metadata-token-ttl-seconds", kTokenSeconds}}, "",
                        "text/plain"),
             {200}, address + token_path);
  const std::string path = "/latest/meta-data/spot/instance-action";
  const httplib::Response response = Expect(
      client.Get(path, {{"X-aws-ec2-metadata-token", token.body}}), {200, 404}, address + path);
  if (response.status == 404) return std::nullopt;  // no notice
  const nlohmann::json json = nlohmann::json::parse(response.body, nullptr, false);
  if (!json.is_object() || !json.contains("action") || !json["action"].is_string()) {
    throw UserError(Code::kUnavailable, address + path + ": the answer is no interruption notice");
  }
  PreemptionNotice notice;
  notice.cloud = Cloud::kEc2;
  notice.what =
      "an interruption notice of Amazon EC2 (" + json["action"].get_ref<const std::string&>() + ")";
  if (json.contains("time") && json["time"].is_string()) {
    notice.seconds_left = SecondsUntil(json["time"].get<std::string>());
  }
  return notice;
}

}  // namespace

std::optional<Cloud> DetectCloud(const std::string& dmi) {
  if (FirstLine(dmi + "/product_name") == "Google Compute Engine") return Cloud::kGce;
  if (FirstLine(dmi + "/sys_vendor") == "Amazon EC2") return Cloud::kEc2;
  return std::nullopt;
}

std::string MetadataAddress(Cloud cloud, const PreemptionOptions& options) {
  if (!options.address.empty()) return options.address;
  const char* set =
      std::getenv(cloud == Cloud::kGce ? "GCE_METADATA_HOST" : "AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (set != nullptr && *set != '\0') {
    const std::string address = set;
    return address.find("://") == std::string::npos ? "http://" + address : address;
  }
  return cloud == Cloud::kGce ? "http://metadata.google.internal" : "http://169.254.169.254";
}

std::optional<PreemptionNotice> AskForNotice(Cloud cloud, const std::string& address) {
  return cloud == Cloud::kGce ? AskGce(address) : AskEc2(address);
}

PreemptionWatch::PreemptionWatch(Cloud cloud, const PreemptionOptions& options,
                                 std::function<void(const PreemptionNotice&)> on_notice)
    : on_notice_(std::move(on_notice)),
      thread_([this, cloud, address = MetadataAddress(cloud, options),
               poll = options.poll_seconds] { Run(cloud, address, poll); }) {}

PreemptionWatch::~PreemptionWatch() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PreemptionWatch::Run(Cloud cloud, const std::string& address, double poll_seconds) {
  bool warned = false;
  std::unique_lock lock(mutex_);
  while (!ended_) {
    lock.unlock();
    std::optional<PreemptionNotice> notice;
    try {
      notice = AskForNotice(cloud, address);
    } catch (const Error& error) {
      if (!warned) {
        LogWarning("notices of {} cannot be read, only signals will stop the run in time: {}",
                   Title(cloud), error.what());
        warned = true;
      }
    }
    lock.lock();
    if (notice) {
      if (!ended_) on_notice_(*notice);
      return;
    }
    changed_.wait_for(lock, std::chrono::duration<double>(poll_seconds), [this] { return ended_; });
  }
}

}  // namespace flatout::watch
