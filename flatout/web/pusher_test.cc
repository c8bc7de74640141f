#include "flatout/web/pusher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <mutex>
#include <thread>

#include "flatout/base/log.h"
#include "flatout/web/testing.h"

namespace flatout::web {
namespace {

using ::testing::HasSubstr;

// A gateway that remembers what it was sent.
class Gateway {
 public:
  explicit Gateway(int answer = 200) {
    server_.Put(".*", [this, answer](const httplib::Request& request, httplib::Response& response) {
      const std::lock_guard lock(mutex_);
      paths_.push_back(request.path);
      bodies_.push_back(request.body);
      response.status = answer;
      response.set_content("no", "text/plain");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Gateway() {
    server_.stop();
    thread_.join();
  }
  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<std::string> paths() {
    const std::lock_guard lock(mutex_);
    return paths_;
  }
  std::vector<std::string> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

 private:
  httplib::Server server_;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> paths_, bodies_;
  std::thread thread_;
};

std::mutex lines_mutex;
std::vector<std::string> lines;
void Take(LogLevel, const std::string& line, void*) {
  const std::lock_guard lock(lines_mutex);
  lines.push_back(line);
}

TEST(Pusher, PushesTheLastState) {
  Gateway gateway;
  watch::StatusBoard board;
  MetricsWriter metrics;
  watch::RunStatus run = testing::SomeRun();
  board.Publish(run);
  {
    const Pusher pusher({.address = gateway.address() + "/", .every_seconds = 1000}, board,
                        metrics);
    run.state = "done";
    run.process_steps = 500;
    board.Publish(run);
  }
  ASSERT_EQ(gateway.bodies().size(), 1u);  // shorter than its interval, and pushed all the same
  EXPECT_THAT(gateway.bodies()[0], HasSubstr("\nflatout_steps_total 500\n"));
  EXPECT_THAT(gateway.bodies()[0], HasSubstr("flatout_run_state{state=\"done\"} 1"));
  EXPECT_THAT(gateway.paths()[0], HasSubstr("/metrics/job/flatout/instance/"));
  EXPECT_THAT(gateway.paths()[0], HasSubstr("/run/cnn"));
}

TEST(Pusher, PushesAgainAndAgain) {
  Gateway gateway;
  watch::StatusBoard board;
  MetricsWriter metrics;
  board.Publish(testing::SomeRun());
  const Pusher pusher({.address = gateway.address(), .every_seconds = 0.02}, board, metrics);
  while (gateway.bodies().size() < 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(Pusher, AGatewayThatIsNotThereIsSaidOnce) {
  for (const bool refuses : {false, true}) {
    lines.clear();
    SetLogSink(&Take, nullptr);
    watch::StatusBoard board;
    MetricsWriter metrics;
    board.Publish(testing::SomeRun());
    std::string address = "http://127.0.0.1:9";
    std::unique_ptr<Gateway> gateway;
    if (refuses) {
      gateway = std::make_unique<Gateway>(400);
      address = gateway->address();
    }
    {
      const Pusher pusher({.address = address, .every_seconds = 0.01}, board, metrics);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    SetLogSink(nullptr, nullptr);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_THAT(lines[0], HasSubstr("push gateway " + address));
    if (refuses) EXPECT_THAT(lines[0], HasSubstr("400"));
  }
}

TEST(Pusher, NamesInPaths) {
  EXPECT_EQ(Pusher::Path("flatout", "node1", "cnn"), "/metrics/job/flatout/instance/node1/run/cnn");
  EXPECT_EQ(Pusher::Path("a b", "é", "x%y?#"),
            "/metrics/job/a%20b/instance/%C3%A9/run/x%25y%3F%23");
  // As the gateway's README has it.
  EXPECT_EQ(Pusher::Path("j", "i", "/var/tmp"),
            "/metrics/job/j/instance/i/run@base64/L3Zhci90bXA=");
  EXPECT_EQ(Pusher::Path("j", "i", ""), "/metrics/job/j/instance/i/run@base64/=");
}

}  // namespace
}  // namespace flatout::web
