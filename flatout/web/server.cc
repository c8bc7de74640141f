#include "flatout/web/server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/web/page.h"

namespace flatout::web {
namespace {

constexpr int kThreads = 2;
constexpr size_t kMostWaiting = 32;  // connections behind those that are being answered
constexpr int kBacklog = 1024;       // connections that the kernel holds until they are accepted
constexpr size_t kMostHeadBytes = 8192;  // of a request
constexpr double kRequestSeconds = 5;    // for the whole request to arrive
constexpr double kAnswerSeconds = 15;    // for the whole answer to leave, over a slow line too
constexpr int kPollMs = 50;              // how soon the end of the server is noticed
constexpr double kFreshSeconds = 0.5;    // for so long an answer is given again
constexpr int kPortsTried = 20;
constexpr int kNice = 10;

// The request's head, read whole before anything looks at it, and the answer's way out. Both have
// an end, however slowly the client reads or writes.
class Connection : public httplib::Stream {
 public:
  Connection(socket_t socket, const std::atomic<bool>& stopping)
      : socket_(socket), stopping_(stopping), deadline_(SteadySeconds() + kRequestSeconds) {}

  enum class Head { kRead, kTooLong, kGone };
  Head ReadHead() {
    std::string head;
    char buffer[2048];
    while (true) {
      if (!Wait(POLLIN)) return Head::kGone;
      const ssize_t got = recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got <= 0) return Head::kGone;
      head.append(buffer, static_cast<size_t>(got));
      const size_t end = head.find("\r\n\r\n");
      if (end != std::string::npos && end + 4 <= kMostHeadBytes) {
        head_ = Cleaned(head.substr(0, end + 2));
        deadline_ = SteadySeconds() + kAnswerSeconds;
        return Head::kRead;
      }
      if (head.size() >= kMostHeadBytes) return Head::kTooLong;
    }
  }

  bool is_readable() const override { return at_ < head_.size(); }
  bool is_writable() const override { return Wait(POLLOUT); }
  ssize_t read(char* to, size_t size) override {
    const size_t count = std::min(size, head_.size() - at_);
    std::memcpy(to, head_.data() + at_, count);
    at_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, size_t size) override {
    while (Wait(POLLOUT)) {
      const ssize_t sent = send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent >= 0) return sent;
      if (errno != EAGAIN && errno != EINTR) return -1;
    }
    return -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return socket_; }

 private:
  // Of the fields only those that are used here go on: no ranges, no encodings, no bodies.
  static std::string Cleaned(std::string_view head) {
    std::string kept;
    for (bool first = true; !head.empty(); first = false) {
      const size_t end = head.find("\r\n");
      const std::string_view line = head.substr(0, end);
      head.remove_prefix(end + 2);
      const std::string_view name = line.substr(0, line.find(':'));
      if (first || Is(name, "host") || Is(name, "authorization")) {
        kept.append(line);
        kept += "\r\n";
      }
    }
    return kept + "Connection: close\r\n\r\n";
  }

  static bool Is(std::string_view name, std::string_view lower) {
    return name.size() == lower.size() &&
           std::equal(name.begin(), name.end(), lower.begin(), [](char a, char b) {
             return std::tolower(static_cast<unsigned char>(a)) == b;
           });
  }

  bool Wait(short event) const {
    while (!stopping_) {
      const double left = deadline_ - SteadySeconds();
      if (left <= 0) return false;
      pollfd wanted = {socket_, event, 0};
      const int ready = poll(&wanted, 1, std::min(kPollMs, static_cast<int>(left * 1000) + 1));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
    return false;
  }

  const socket_t socket_;
  const std::atomic<bool>& stopping_;
  double deadline_;
  std::string head_;
  size_t at_ = 0;
};

// Set on the thread that accepts while it sends somebody away.
thread_local bool refusing = false;

// A few threads, and a queue that has an end.
class BoundedPool : public httplib::TaskQueue {
 public:
  BoundedPool() {
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { Work(); });
  }

  void enqueue(std::function<void()> job) override {
    {
      const std::lock_guard lock(mutex_);
      if (jobs_.size() < kMostWaiting) {
        jobs_.push_back(std::move(job));
        job = nullptr;
      }
    }
    if (job == nullptr) {
      changed_.notify_one();
      return;
    }
    refusing = true;
    job();
    refusing = false;
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void Work() {
    while (true) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ended_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

// One request a connection, under the bounds above.
class BoundedServer : public httplib::Server {
 public:
  explicit BoundedServer(const std::atomic<bool>& stopping) : stopping_(stopping) {
    new_task_queue = [] { return new BoundedPool; };
    // Without SO_REUSEPORT, with which two runs would share a port and each would answer now and
    // then.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
  }

  // httplib lets five connections wait to be accepted; the sixth would be tried again only after a
  // second.
  void LetMoreWait() { ::listen(svr_sock_, kBacklog); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    if (refusing) {
      SendAndClose(socket, "503 Service Unavailable", "too many connections\n");
      return false;
    }
    Connection connection(socket, stopping_);
    switch (connection.ReadHead()) {
      case Connection::Head::kRead: {
        bool closed = false;
        process_request(connection, /*close_connection=*/true, closed, nullptr);
        Close(socket);
        return true;
      }
      case Connection::Head::kTooLong:
        SendAndClose(socket, "431 Request Header Fields Too Large", "the request is too long\n");
        return false;
      case Connection::Head::kGone:
        break;
    }
    Close(socket);
    return false;
  }

  static void SendAndClose(socket_t socket, const char* status, const char* text) {
    const std::string answer = fmt::format(
        "HTTP/1.1 {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: "
        "close\r\n\r\n{}",
        status, std::strlen(text), text);
    send(socket, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    Close(socket);
  }

  // What the client has sent and nobody read would reset the connection under the answer; some of
  // it is read away.
  static void Close(socket_t socket) {
    shutdown(socket, SHUT_WR);
    char waste[4096];
    for (int i = 0; i < 16 && recv(socket, waste, sizeof waste, MSG_DONTWAIT) > 0; ++i) {
    }
    close(socket);
  }

  const std::atomic<bool>& stopping_;
};

// As long for a wrong token as for a right one.
bool SameToken(std::string_view shown, std::string_view token) {
  unsigned char difference = shown.size() == token.size() ? 0 : 1;
  for (size_t i = 0; i < token.size(); ++i) {
    difference |= static_cast<unsigned char>(token[i]) ^
                  static_cast<unsigned char>(i < shown.size() ? shown[i] : 0);
  }
  return difference == 0;
}

std::string RandomNonce() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

bool IsLoopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

// A page of somebody else's that has been told to be 127.0.0.1 (DNS rebinding) asks under its own
// name. What people type for their own machine, or for a tunnel to another, is a number or
// localhost.
bool IsOwnName(std::string host) {
  if (host.starts_with("[")) return true;
  host = host.substr(0, host.rfind(':'));
  if (host.empty() || host == "localhost") return true;
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && name[0] != 0 ? name : "localhost";
}

}  // namespace

struct StatusServer::State {
  State(const HttpOptions& chosen, const watch::StatusBoard& its_board, MetricsWriter& its_metrics)
      : options(chosen), board(its_board), metrics(its_metrics), token(ReadToken(chosen)) {}

  const HttpOptions options;
  const watch::StatusBoard& board;
  MetricsWriter& metrics;
  const std::string token;
  const std::string nonce = RandomNonce();
  const std::string page = LivePage(nonce);
  int port = 0;
  std::string note;

  // Answers that take work are made at most so often, however often they are asked for.
  struct Kept {
    double made = -1e9;
    std::string body;
  };
  std::mutex mutex;
  Kept sections, json, prometheus;

  std::atomic<bool> stopping = false;
  std::unique_ptr<BoundedServer> server;
  std::thread thread;

  template <typename Make>
  std::string Fresh(Kept& kept, const Make& make) {
    const std::lock_guard lock(mutex);
    const double now = SteadySeconds();
    if (now - kept.made >= kFreshSeconds) {
      kept.body = make();
      kept.made = now;
    }
    return kept.body;
  }

  void Answer(const httplib::Request& request, httplib::Response& response) {
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Cache-Control", "no-store");
    response.set_header("Referrer-Policy", "no-referrer");
    const auto say = [&](int status, const std::string& text) {
      response.status = status;
      response.set_content(text + "\n", "text/plain; charset=utf-8");
    };
    if (request.method != "GET" && request.method != "HEAD") {
      response.set_header("Allow", "GET, HEAD");
      return say(405, "only GET and HEAD are answered here");
    }
    if (token.empty() && IsLoopback(options.address) &&
        !IsOwnName(request.get_header_value("Host"))) {
      return say(403,
                 "asked for under another name than 127.0.0.1 or localhost; set a token "
                 "(watch.http.token_file) to serve under names");
    }
    if (request.path == "/") {
      response.set_header("Content-Security-Policy",
                          "default-src 'none'; connect-src 'self'; img-src data:; style-src "
                          "'unsafe-inline'; script-src 'nonce-" +
                              nonce +
                              "'; base-uri 'none'; form-action 'none'; frame-ancestors "
                              "'none'");
      // Nothing of the run is in the page itself.
      response.set_content(page, "text/html; charset=utf-8");
      response.status = 200;
      return;
    }
    const bool known = request.path == "/metrics" || request.path == "/status.json" ||
                       request.path == "/sections.json";
    if (!known) {
      return say(404,
                 "there is nothing here; / is the live page, /metrics is for Prometheus, "
                 "/status.json for programs");
    }
    if (!token.empty()) {
      const std::string shown = request.get_header_value("Authorization");
      const std::string scheme = "Bearer ";
      if (!shown.starts_with(scheme) ||
          !SameToken(std::string_view(shown).substr(scheme.size()), token)) {
        response.set_header("WWW-Authenticate", "Bearer");
        return say(401, "this run asks for its token: Authorization: Bearer TOKEN");
      }
    }
    response.status = 200;
    if (request.path == "/metrics") {
      response.set_content(Fresh(prometheus, [&] { return metrics.Write(board.Read()); }),
                           "text/plain; version=0.0.4; charset=utf-8");
    } else if (request.path == "/status.json") {
      response.set_content(Fresh(json, [&] { return StatusJson(board.Read()); }),
                           "application/json");
    } else {
      response.set_content(Fresh(sections, [&] { return SectionsJson(board.Read()); }),
                           "application/json");
    }
  }

  // Why the address and port could not be had.
  UserError CannotListen(int64_t wanted, int error) const {
    const std::string where = fmt::format("{}:{}", options.address, wanted);
    if (error == EADDRINUSE) {
      if (options.port_in_use == "next") {
        return UserError(Code::kAlreadyExists,
                         fmt::format("watch.http: port {} on {} is in use, and so are the {} after "
                                     "it; choose another watch.http.port",
                                     wanted, options.address, kPortsTried - 1));
      }
      return UserError(Code::kAlreadyExists,
                       fmt::format("watch.http: port {} on {} is in use (another run? ss -ltnp "
                                   "names the program); choose another watch.http.port, or "
                                   "port_in_use = \"next\"",
                                   wanted, options.address));
    }
    if (error == EACCES) {
      return UserError(Code::kPermissionDenied,
                       fmt::format("watch.http: ports below 1024 need root's rights, and {} is "
                                   "one; choose one from 1024 on",
                                   where));
    }
    if (error == EADDRNOTAVAIL || error == 0) {
      return Invalid(
          "watch.http: this machine has no address {}; use \"127.0.0.1\" (itself alone) or "
          "\"0.0.0.0\" (all)",
          options.address);
    }
    return Invalid("watch.http: cannot listen on {}: {}", where, std::strerror(error));
  }

  void Bind() {
    const int tries = options.port_in_use == "next" ? kPortsTried : 1;
    int first_error = 0;
    for (int i = 0; i < tries && options.port + i <= 65535; ++i) {
      const int candidate = static_cast<int>(options.port) + i;
      errno = 0;
      if (server->bind_to_port(options.address, candidate)) {
        port = candidate;
        server->LetMoreWait();
        if (i > 0) note = fmt::format("port {} is in use, so it is {}", options.port, port);
        return;
      }
      if (i == 0) first_error = errno;
      if (errno != EADDRINUSE) break;
    }
    throw CannotListen(options.port, first_error);
  }
};

StatusServer::StatusServer(const HttpOptions& options, const watch::StatusBoard& board,
                           MetricsWriter& metrics)
    : state_(std::make_unique<State>(options, board, metrics)) {
  State& state = *state_;
  state.server = std::make_unique<BoundedServer>(state.stopping);
  state.Bind();
  if (!IsLoopback(options.address) && state.token.empty()) {
    state.note += fmt::format(
        "{}anyone who reaches {} can read it; a token (watch.http.token_file) keeps it to those "
        "who have that",
        state.note.empty() ? "" : "; ", options.address);
  }
  state.server->set_pre_routing_handler(
      [&state](const httplib::Request& request, httplib::Response& response) {
        state.Answer(request, response);
        return httplib::Server::HandlerResponse::Handled;
      });
  state.server->set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
        response.status = 500;
        response.set_content("the answer could not be made\n", "text/plain");
      });
  state.thread = std::thread([&state] {
    // Those that answer inherit it.
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
    state.server->listen_after_bind();
  });
  while (!state.server->is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

StatusServer::~StatusServer() {
  state_->stopping = true;
  state_->server->stop();
  state_->thread.join();
}

int StatusServer::port() const { return state_->port; }

std::string StatusServer::url() const {
  std::string host = state_->options.address;
  if (host == "0.0.0.0" || host == "::") host = HostName();
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return fmt::format("http://{}:{}/", host, state_->port);
}

std::string StatusServer::note() const { return state_->note; }

}  // namespace flatout::web
