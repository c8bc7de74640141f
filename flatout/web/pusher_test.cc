#include "flatout/web/pusher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <thread>

#include "flatout/base/log.h"
#include "flatout/web/testing.h"

namespace flatout::web {
namespace {

using ::testing::AllOf;
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

// One that takes connections and says nothing.
class Silent {
 public:
  explicit Silent(int backlog) : file_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(file_, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(file_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    if (backlog > 0) listen(file_, backlog);
  }
  ~Silent() { close(file_); }
  Silent(const Silent&) = delete;
  Silent& operator=(const Silent&) = delete;
  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  int file_;
  int port_ = 0;
};

// What a run says of a gateway that does not take its metrics.
std::string Warning(const std::string& address) {
  lines.clear();
  SetLogSink(&Take, nullptr);
  watch::StatusBoard board;
  MetricsWriter metrics;
  board.Publish(testing::SomeRun());
  { const Pusher pusher({.address = address, .every_seconds = 1000}, board, metrics); }
  SetLogSink(nullptr, nullptr);
  return lines.size() == 1 ? lines[0] : "";
}

TEST(Pusher, SaysInPlainWordsWhyAndWhatToDo) {
  const Silent closed(0), silent(10);
  EXPECT_THAT(Warning(closed.address()),
              AllOf(HasSubstr(closed.address()), HasSubstr("nothing listens on port"),
                    HasSubstr("connection refused"), HasSubstr("start the gateway")));
  EXPECT_THAT(Warning("http://no.such.host.invalid:9091"),
              AllOf(HasSubstr("there is no host called no.such.host.invalid"),
                    HasSubstr("correct watch.push_gateway.address")));
  EXPECT_THAT(Warning(silent.address()),
              AllOf(HasSubstr("took the connection, but did not answer"), HasSubstr("within 3 s")));
  Gateway none(404), forbidden(403);
  EXPECT_THAT(Warning(none.address()),
              AllOf(HasSubstr("it answered 404"), HasSubstr("is it a push gateway")));
  EXPECT_THAT(Warning(forbidden.address()), HasSubstr("it answered 403"));
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
