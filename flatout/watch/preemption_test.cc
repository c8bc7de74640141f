// Notices of clouds, read from servers that answer as theirs do (on 127.0.0.1).
#include "flatout/watch/preemption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <future>
#include <thread>

#include "flatout/base/error.h"
#include "flatout/base/file.h"

namespace flatout::watch {
namespace {

using ::testing::HasSubstr;

class MetadataServer {
 public:
  MetadataServer() {
    // Compute Engine refuses whoever does not say that he means it, and names itself.
    const auto gce = [this](const httplib::Request& request, httplib::Response& response,
                            const std::string& text) {
      ++asked;
      if (request.get_header_value("Metadata-Flavor") != "Google") {
        response.status = 403;
        return;
      }
      if (is_google) response.set_header("Metadata-Flavor", "Google");
      response.set_content(text, "application/text");
    };
    server_.Get("/computeMetadata/v1/instance/preempted",
                [=, this](const httplib::Request& request, httplib::Response& response) {
                  gce(request, response, preempted ? "TRUE" : "FALSE");
                });
    server_.Get("/computeMetadata/v1/instance/maintenance-event",
                [=, this](const httplib::Request& request, httplib::Response& response) {
                  gce(request, response, maintenance ? "TERMINATE_ON_HOST_MAINTENANCE" : "NONE");
                });
    server_.Put("/latest/api/token",
                [](const httplib::Request& request, httplib::Response& response) {
                  if (request.get_header_value("X-aws-ec2-metadata-token-ttl-seconds").empty()) {
                    response.status = 400;
                    return;
                  }
                  response.set_content("secret", "text/plain");
                });
    server_.Get("/latest/meta-data/spot/instance-action",
                [this](const httplib::Request& request, httplib::Response& response) {
                  ++asked;
                  if (request.get_header_value("X-aws-ec2-metadata-token") != "secret") {
                    response.status = 401;
                  } else if (action.empty()) {
                    response.status = 404;
                  } else {
                    response.set_content(action, "application/json");
                  }
                });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~MetadataServer() {
    server_.stop();
    thread_.join();
  }
  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }

  std::atomic<bool> preempted{false}, maintenance{false}, is_google{true};
  std::atomic<int> asked{0};
  std::string action;  // set before anybody asks

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

std::string MessageOf(Cloud cloud, const std::string& address) {
  try {
    AskForNotice(cloud, address);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PreemptionTest, ComputeEngineSaysSo) {
  MetadataServer server;
  EXPECT_FALSE(AskForNotice(Cloud::kGce, server.address()));
  server.maintenance = true;
  const auto maintenance = AskForNotice(Cloud::kGce, server.address());
  ASSERT_TRUE(maintenance);
  EXPECT_THAT(maintenance->what, HasSubstr("TERMINATE_ON_HOST_MAINTENANCE"));
  EXPECT_FALSE(maintenance->seconds_left);
  server.preempted = true;
  const auto notice = AskForNotice(Cloud::kGce, server.address());
  ASSERT_TRUE(notice);
  EXPECT_THAT(notice->what, HasSubstr("preemption notice of Google Compute Engine"));
  EXPECT_EQ(notice->seconds_left, 30);
}

TEST(PreemptionTest, Ec2SaysSoAndWhen) {
  MetadataServer server;
  EXPECT_FALSE(AskForNotice(Cloud::kEc2, server.address()));
  const std::time_t end = std::time(nullptr) + 120;
  char time[32];
  std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&end));
  server.action = std::string(R"({"action": "terminate", "time": ")") + time + "\"}";
  const auto notice = AskForNotice(Cloud::kEc2, server.address());
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->what, "an interruption notice of Amazon EC2 (terminate)");
  ASSERT_TRUE(notice->seconds_left);
  EXPECT_LE(*notice->seconds_left, 120);
  EXPECT_GE(*notice->seconds_left, 60);
}

TEST(PreemptionTest, WhoeverElseAnswersIsNotBelieved) {
  MetadataServer server;
  server.is_google = false;
  EXPECT_THAT(MessageOf(Cloud::kGce, server.address()), HasSubstr("does not come from Compute"));
  server.action = "<html>";
  EXPECT_THAT(MessageOf(Cloud::kEc2, server.address()), HasSubstr("is no interruption notice"));
  // Nobody listens on the port of a server that has ended.
  std::string gone;
  {
    MetadataServer ended;
    gone = ended.address();
  }
  EXPECT_THAT(MessageOf(Cloud::kGce, gone), HasSubstr("no answer"));
  httplib::Server other;  // knows none of these paths
  const int port = other.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { other.listen_after_bind(); });
  EXPECT_THAT(MessageOf(Cloud::kEc2, "http://127.0.0.1:" + std::to_string(port)),
              HasSubstr("status 404"));
  other.stop();
  thread.join();
}

TEST(PreemptionTest, AddressesThatAreNoneAreToldAndNotMore) {
  for (const char* address : {"ftp://x", "https://127.0.0.1:1", "nonsense", "http://"}) {
    for (const Cloud cloud : {Cloud::kGce, Cloud::kEc2}) {
      EXPECT_THROW(AskForNotice(cloud, address), UserError) << address;
    }
  }
}

TEST(PreemptionTest, TheWatchTellsOnceAndEnds) {
  MetadataServer server;
  std::promise<PreemptionNotice> told;
  PreemptionWatch watch(Cloud::kGce, {.address = server.address(), .poll_seconds = 0.005},
                        [&](const PreemptionNotice& notice) { told.set_value(notice); });
  while (server.asked < 6) std::this_thread::yield();
  std::future<PreemptionNotice> notice = told.get_future();
  EXPECT_EQ(notice.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  server.preempted = true;
  EXPECT_THAT(notice.get().what, HasSubstr("preemption"));
}

TEST(PreemptionTest, TheWatchEndsWithoutANotice) {
  MetadataServer server;
  {
    PreemptionWatch watch(Cloud::kEc2, {.address = server.address(), .poll_seconds = 3600},
                          [](const PreemptionNotice&) { FAIL(); });
    while (server.asked < 1) std::this_thread::yield();
  }
  EXPECT_EQ(server.asked, 1);
}

TEST(PreemptionTest, OnlyCloudMachinesAreAsked) {
  const std::string dmi = ::testing::TempDir() + "/dmi";
  std::filesystem::create_directories(dmi);
  EXPECT_FALSE(DetectCloud(dmi));
  AtomicWriteFile(dmi + "/product_name", "Google Compute Engine\n");
  EXPECT_EQ(DetectCloud(dmi), Cloud::kGce);
  AtomicWriteFile(dmi + "/product_name", "c5.large\n");
  AtomicWriteFile(dmi + "/sys_vendor", "Amazon EC2\n");
  EXPECT_EQ(DetectCloud(dmi), Cloud::kEc2);
  AtomicWriteFile(dmi + "/sys_vendor", "Somebody\n");
  EXPECT_FALSE(DetectCloud(dmi));
}

TEST(PreemptionTest, AddressesComeFromOptionsThenEnvironment) {
  unsetenv("GCE_METADATA_HOST");
  unsetenv("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  EXPECT_EQ(MetadataAddress(Cloud::kGce, {}), "http://metadata.google.internal");
  EXPECT_EQ(MetadataAddress(Cloud::kEc2, {}), "http://169.254.169.254");
  setenv("GCE_METADATA_HOST", "127.0.0.1:8080", 1);
  setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://[::1]:80", 1);
  EXPECT_EQ(MetadataAddress(Cloud::kGce, {}), "http://127.0.0.1:8080");
  EXPECT_EQ(MetadataAddress(Cloud::kEc2, {}), "http://[::1]:80");
  EXPECT_EQ(MetadataAddress(Cloud::kEc2, {.address = "http://x"}), "http://x");
}

}  // namespace
}  // namespace flatout::watch
