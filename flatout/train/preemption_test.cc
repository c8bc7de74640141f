// Runs that stop because their cloud says so.
#include "flatout/train/preemption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <thread>

#include "flatout/checkpoint/store.h"
#include "flatout/train/testing.h"

namespace flatout::train::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// Compute Engine's metadata server, on this machine.
class Metadata {
 public:
  Metadata() {
    const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
      ++asked;
      response.set_header("Metadata-Flavor", "Google");
      const bool preempted = request.path.ends_with("preempted");
      response.set_content(preempted ? (gone ? "TRUE" : "FALSE") : "NONE", "application/text");
    };
    server_.Get("/computeMetadata/v1/instance/preempted", answer);
    server_.Get("/computeMetadata/v1/instance/maintenance-event", answer);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Metadata() {
    server_.stop();
    thread_.join();
  }
  std::string option() const {
    return fmt::format(
        "preemption = {{cloud = \"gce\", address = \"http://127.0.0.1:{}\", poll_seconds = "
        "0.01}}\n",
        port_);
  }
  std::atomic<bool> gone{false};
  std::atomic<int> asked{0};

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

CheckpointOptions Read(const std::string& lines) {
  return Options("epochs = 1", "[checkpoint]\n" + lines).checkpoint;
}

TEST(PreemptionTest, ANoticeSavesTheRunAndEndsIt) {
  Metadata server;
  struct Notice : Observer {
    explicit Notice(Metadata& metadata) : server(metadata) {}
    void OnEpochEnd(const EpochEnd& end) override {
      if (end.epoch == 2) server.gone = true;
    }
    void OnMessage(const std::string& message) override { messages.push_back(message); }
    Metadata& server;
    std::vector<std::string> messages;
  } observer(server);
  const RunConfig config =
      Options("epochs = 1000000\nglobal_batch = 8", "[checkpoint]\n" + server.option());
  StopRequest stop;
  const auto watch = WatchForPreemption(config.checkpoint, &stop);
  ASSERT_NE(watch, nullptr);
  RunFolder folder(Fresh("preempted"));
  Trainer trainer(config, Mlp(), {.train = Source(40)}, Devices(1));
  const FitResult result = testing::Fit(trainer, &folder, &observer, &stop);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.summary.exit_code, kExitPreempted);
  EXPECT_GE(result.epochs, 2);
  EXPECT_THAT(observer.messages,
              Contains(HasSubstr("a notice of Google Compute Engine: saving step")));
  const checkpoint::Newest newest = checkpoint::Store(CheckpointFolder(folder.path())).LoadNewest();
  ASSERT_TRUE(newest.snapshot);
  EXPECT_EQ(newest.snapshot->info.step, result.steps);
  EXPECT_LT(stop.deadline, std::numeric_limits<double>::infinity());
}

TEST(PreemptionTest, WithNothingToLoseTheProcessEndsOnTheSpot) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto start = [] {
    Metadata server;
    server.gone = true;
    StopRequest stop;
    stop.nothing_to_lose = true;
    const auto watch = WatchForPreemption(Read(server.option()), &stop);
    std::this_thread::sleep_for(std::chrono::hours(1));
  };
  EXPECT_EXIT(start(), ::testing::ExitedWithCode(kExitPreempted), "preemption notice");
}

TEST(PreemptionTest, WhatTheRunFileSays) {
  EXPECT_FALSE(ReadPreemption(Read("preemption = \"none\"\n")));
  EXPECT_EQ(ReadPreemption(Read("preemption = \"ec2\"\n"))->cloud, watch::Cloud::kEc2);
  EXPECT_EQ(WatchForPreemption(Read("preemption = \"none\"\n"), nullptr), nullptr);
  const auto complaint = [](const std::string& lines) { return MessageOf([&] { Read(lines); }); };
  EXPECT_THAT(complaint("preemption = \"gcp\"\n"),
              AllOf(HasSubstr("run.toml:"), HasSubstr("did you mean \"gce\"")));
  EXPECT_THAT(complaint("preemption = {cloud = \"gce\", poll_seconds = 0}\n"),
              HasSubstr("poll_seconds must be positive"));
  EXPECT_THAT(complaint("preemption = {cloud = \"gce\", adress = \"x\"}\n"),
              HasSubstr("did you mean \"address\""));
  EXPECT_THAT(complaint("keep_last = 0\n"), HasSubstr("keep_last"));
  EXPECT_THAT(complaint("preemption = {cloud = \"gce\", poll_seconds = inf}\n"),
              HasSubstr("poll_seconds must be positive"));
  for (const char* none : {"-1", "inf", "nan", "1e300"}) {
    for (const char* key : {"every_seconds", "grace_seconds"}) {
      EXPECT_THAT(complaint(fmt::format("{} = {}\n", key, none)),
                  HasSubstr("must be a number of seconds from 0 to 1,000,000,000"))
          << key;
    }
    EXPECT_THAT(complaint(fmt::format("between_interruptions = {}\n", none)),
                HasSubstr("must be a number of seconds above 0"));
  }
  EXPECT_THAT(complaint("between_interruptions = 0\n"), HasSubstr("above 0"));
}

}  // namespace
}  // namespace flatout::train::testing
