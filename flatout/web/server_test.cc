#include "flatout/web/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/web/testing.h"

namespace flatout::web {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A server on a port that was free a moment ago, with a run on its board.
class Served {
 public:
  explicit Served(HttpOptions options = {}) {
    board.Publish(testing::SomeRun());
    // Ports that nobody is given by the system; each test process begins elsewhere.
    options.port = 20000 + getpid() % 10000;
    server = std::make_unique<StatusServer>(options, board, metrics);
  }
  httplib::Client Client() const {
    httplib::Client client("127.0.0.1", server->port());
    client.set_read_timeout(30);
    return client;
  }

  watch::StatusBoard board;
  MetricsWriter metrics;
  std::unique_ptr<StatusServer> server;
};

// A bare connection.
class Socket {
 public:
  explicit Socket(int port, int receive_bytes = 0)
      : file_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) {
      setsockopt(file_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(file_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Socket() {
    if (file_ >= 0) close(file_);
  }
  Socket(Socket&& other) noexcept
      : file_(std::exchange(other.file_, -1)), connected_(other.connected_) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;

  bool connected() const { return connected_; }
  // False once the other side has closed.
  bool Send(const std::string& text) const {
    return send(file_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // Until the other side closes.
  std::string ReadAll() const {
    std::string all;
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(file_, buffer, sizeof buffer, 0)) > 0;) {
      all.append(buffer, static_cast<size_t>(got));
    }
    return all;
  }

 private:
  int file_;
  bool connected_ = false;
};

std::string Ask(int port, const std::string& request) {
  const Socket socket(port);
  socket.Send(request);
  return socket.ReadAll();
}

TEST(StatusServer, Serves) {
  const Served served;
  auto client = served.Client();
  auto page = client.Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_THAT(page->body, StartsWith("<!DOCTYPE html>"));
  const std::string policy = page->get_header_value("Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  const size_t nonce = policy.find("'nonce-") + 7;
  EXPECT_THAT(page->body, HasSubstr("<script nonce=\"" + policy.substr(nonce, 32) + "\">"));
  const auto metrics = client.Get("/metrics");
  ASSERT_TRUE(metrics);
  EXPECT_THAT(metrics->get_header_value("Content-Type"), HasSubstr("version=0.0.4"));
  EXPECT_THAT(metrics->body, HasSubstr("\nflatout_steps_total 230\n"));
  const auto json = client.Get("/status.json");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->get_header_value("Content-Type"), "application/json");
  EXPECT_THAT(json->body, HasSubstr("\"name\": \"cnn\""));
  const auto sections = client.Get("/sections.json");
  ASSERT_TRUE(sections);
  EXPECT_THAT(sections->body, HasSubstr("<figure>"));
  EXPECT_EQ(served.server->url(),
            "http://127.0.0.1:" + std::to_string(served.server->port()) + "/");
}

TEST(StatusServer, NothingElseIsServed) {
  const Served served;
  const int port = served.server->port();
  for (const char* path :
       {"/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
        "/metrics/../../etc/passwd", "/run.toml", "/weights.safetensors", "/metrics/", "/.", "/%00",
        "/metrics%00.html", "/\\..\\..\\etc\\passwd"}) {
    const std::string answer =
        Ask(port, std::string("GET ") + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(answer, AnyOf(StartsWith("HTTP/1.1 404"), StartsWith("HTTP/1.1 400"))) << path;
    EXPECT_THAT(answer, Not(HasSubstr("root:"))) << path;
  }
}

TEST(StatusServer, OtherMethods) {
  const Served served;
  const int port = served.server->port();
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    const std::string answer = Ask(port, std::string(method) +
                                             " /metrics HTTP/1.1\r\nHost: localhost\r\n"
                                             "Content-Length: 1000000000\r\n\r\nx");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 405")) << method;
    EXPECT_THAT(answer, HasSubstr("Allow: GET, HEAD")) << method;
  }
  for (const char* method : {"TRACE", "CONNECT", "BREW", ""}) {
    EXPECT_THAT(Ask(port, std::string(method) + " /metrics HTTP/1.1\r\n\r\n"),
                AnyOf(StartsWith("HTTP/1.1 405"), StartsWith("HTTP/1.1 400")))
        << method;
  }
  const std::string head = Ask(port, "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(head, Not(HasSubstr("flatout_steps_total")));
}

TEST(StatusServer, RequestsThatAreNone) {
  const Served served;
  const int port = served.server->port();
  for (const std::string& request :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string(100, '\0') + "\r\n\r\n",
        std::string("\x16\x03\x01\x02\x01\xfc\x03\x03\r\n\r\n"),  // TLS
        std::string("GET / HTTP/9.9\r\n\r\n"), std::string("GET / HTTP/1.1\r\n: \r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nno colon\r\n\r\n")}) {
    Ask(port, request);  // whatever is answered, the next one is too
  }
  EXPECT_EQ(served.Client().Get("/metrics")->status, 200);
}

TEST(StatusServer, HugeHeaders) {
  const Served served;
  const int port = served.server->port();
  EXPECT_THAT(
      Ask(port, "GET / HTTP/1.1\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n"),
      AnyOf(StartsWith("HTTP/1.1 431"), Eq("")));  // the rest of it may reset the connection
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 2000; ++i) many += "X" + std::to_string(i) + ": y\r\n";
  EXPECT_THAT(Ask(port, many + "\r\n"), AnyOf(StartsWith("HTTP/1.1 431"), Eq("")));
  EXPECT_THAT(Ask(port, "GET /" + std::string(1 << 16, 'a') + " HTTP/1.1\r\n\r\n"),
              AnyOf(StartsWith("HTTP/1.1 431"), Eq("")));
  // Just what is allowed, and ranges that would multiply the answer.
  std::string ranges = "bytes=0-";
  while (ranges.size() < 8000) ranges += ",0-";
  const std::string answer =
      Ask(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nRange: " + ranges + "\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_LT(answer.size(), size_t{100000});
}

TEST(StatusServer, SlowClientsAreSentAway) {
  const Served served;
  const int port = served.server->port();
  const Socket silent(port), slow(port);
  // A header without end, a byte now and then.
  slow.Send("GET / HTTP/1.1\r\nX: ");
  while (slow.Send("x")) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(silent.ReadAll(), "");
  EXPECT_EQ(served.Client().Get("/metrics")->status, 200);
}

TEST(StatusServer, AThousandConnections) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < 2100) {
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  }
  const Served served;
  const int port = served.server->port();
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto files_before = open_files(), threads_before = threads();
  std::vector<Socket> sockets;
  for (int i = 0; i < 1000; ++i) sockets.emplace_back(port);
  // Of the server's own: those that are open, those that have just arrived, and the listener.
  EXPECT_LT(open_files() - files_before - 1000, 150);
  EXPECT_EQ(threads(), threads_before);
  sockets.clear();
  // When they have gone it is as if nothing had been.
  int status = 0;
  while (status != 200) {
    if (const auto answer = served.Client().Get("/metrics")) status = answer->status;
  }
  EXPECT_EQ(threads(), threads_before);
}

// Many clients that begin a request and never end it, and go on opening more.
TEST(StatusServer, HalfOpenClientsKeepNobodyOut) {
  const Served served;
  const int port = served.server->port();
  std::vector<Socket> held;
  for (int i = 0; i < 300; ++i) {
    held.emplace_back(port);
    if (i % 2 == 0) held.back().Send("GET /metrics HTTP/1.1\r\nHost: loc");  // others say nothing
  }
  std::atomic<bool> end = false;
  std::thread more([&] {
    while (!end) {
      std::vector<Socket> some;
      for (int i = 0; i < 5; ++i) some.emplace_back(port).Send("GET ");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  for (int i = 0; i < 50; ++i) {
    // Each of these is a whole request as soon as it is there.
    EXPECT_THAT(Ask(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                StartsWith("HTTP/1.1 200"))
        << i;
  }
  end = true;
  more.join();
  const auto answer = served.Client().Get("/metrics");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

// Clients that ask for much and do not take it.
TEST(StatusServer, ClientsThatDoNotReadKeepNobodyOut) {
  Served served;
  watch::RunStatus run = testing::SomeRun();
  for (int i = 0; i < 500; ++i) {
    watch::RunPoint point;
    point.step = 1000 + i;
    for (int k = 0; k < 20; ++k) point.metrics["metric_" + std::to_string(k)] = 1.0 / (i + k + 1);
    run.history.Add(point);
  }
  served.board.Publish(run);
  const int port = served.server->port();
  std::vector<Socket> held;
  for (int i = 0; i < 100; ++i) {
    held.emplace_back(port, /*receive_bytes=*/2048);
    held.back().Send("GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Ask(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                StartsWith("HTTP/1.1 200"))
        << i;
  }
}

TEST(StatusServer, EndsAtOnceWhateverClientsDo) {
  auto served = std::make_unique<Served>();
  std::vector<Socket> sockets;
  for (int i = 0; i < 20; ++i) {
    sockets.emplace_back(served->server->port());
    sockets.back().Send("GET / HT");
  }
  const double begin = SteadySeconds();
  served.reset();
  EXPECT_LT(SteadySeconds() - begin, 60);  // and not the seconds that each of them may take
  for (const Socket& socket : sockets) socket.ReadAll();
}

TEST(StatusServer, TheTokenIsAskedFor) {
  const std::string path = ::testing::TempDir() + "flatout_token";
  std::ofstream(path) << "secret-token\n";
  const Served served({.token_file = path});
  auto client = served.Client();
  EXPECT_EQ(client.Get("/")->status, 200);  // nothing of the run is in it
  EXPECT_THAT(client.Get("/")->body, Not(HasSubstr("cnn")));
  for (const char* place : {"/metrics", "/status.json", "/sections.json"}) {
    const auto answer = client.Get(place);
    EXPECT_EQ(answer->status, 401) << place;
    EXPECT_EQ(answer->get_header_value("WWW-Authenticate"), "Bearer");
    for (const char* shown : {"Bearer secret-toke", "Bearer secret-token2", "Bearer ",
                              "secret-token", "Basic secret-token"}) {
      EXPECT_EQ(client.Get(place, {{"Authorization", shown}})->status, 401) << shown;
    }
    EXPECT_EQ(client.Get(place, {{"Authorization", "Bearer secret-token"}})->status, 200) << place;
  }
  std::filesystem::remove(path);
}

TEST(StatusServer, OtherSitesNames) {
  const Served served;
  const int port = served.server->port();
  for (const char* host : {"evil.example", "evil.example:8080", "127.0.0.1.evil.example"}) {
    EXPECT_THAT(Ask(port, std::string("GET /status.json HTTP/1.1\r\nHost: ") + host + "\r\n\r\n"),
                StartsWith("HTTP/1.1 403"))
        << host;
  }
  for (const char* host : {"127.0.0.1:8080", "localhost", "localhost:1", "[::1]:8080"}) {
    EXPECT_THAT(Ask(port, std::string("GET /status.json HTTP/1.1\r\nHost: ") + host + "\r\n\r\n"),
                StartsWith("HTTP/1.1 200"))
        << host;
  }
}

TEST(StatusServer, APortInUse) {
  const Served first;
  HttpOptions options;
  options.port = first.server->port();
  watch::StatusBoard board;
  MetricsWriter metrics;
  const StatusServer next(options, board, metrics);
  EXPECT_GT(next.port(), options.port);
  EXPECT_THAT(next.note(), HasSubstr("port " + std::to_string(options.port) + " is in use"));
  options.port_in_use = "error";
  try {
    const StatusServer never(options, board, metrics);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is in use"));
    EXPECT_THAT(error.what(), HasSubstr("port_in_use = \"next\""));
    EXPECT_EQ(error.code(), Code::kAlreadyExists);
  }
}

TEST(StatusServer, AnAddressThatIsNotHere) {
  watch::StatusBoard board;
  MetricsWriter metrics;
  for (const char* address : {"203.0.113.1", "no.such.host.invalid"}) {
    HttpOptions options;
    options.port = 20000 + getpid() % 10000;
    options.address = address;
    try {
      const StatusServer never(options, board, metrics);
      FAIL() << address;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("this machine has no address")) << address;
    }
  }
}

TEST(StatusServer, OpenToOthersIsSaid) {
  const Served open({.address = "0.0.0.0"});
  EXPECT_THAT(open.server->note(), HasSubstr("token"));
  EXPECT_THAT(open.server->url(), Not(HasSubstr("0.0.0.0")));
}

TEST(StatusServer, WhoReadsNeverHoldsUpWhoPublishes) {
  Served served;
  std::atomic<bool> end = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (!end) served.Client().Get("/status.json");
    });
  }
  watch::RunStatus run = testing::SomeRun();
  for (int i = 0; i < 2000; ++i) {
    run.step = i;
    served.board.Publish(run);
  }
  end = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(served.board.Read().step, 1999);
}

}  // namespace
}  // namespace flatout::web
