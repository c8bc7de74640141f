#include "flatout/web/server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
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

constexpr size_t kMostOpen = 128;    // connections that are read from or written to
constexpr size_t kMostArrived = 16;  // accepted, but not looked at yet
// Of more than so many open ones those make room that have not asked anything within that time.
constexpr size_t kManyOpen = 32;
constexpr double kPatienceSeconds = 0.5;
constexpr size_t kMostAnswerBytes = size_t{16} << 20;  // that wait to be sent, of all together
constexpr int kBacklog = 1024;  // connections that the kernel holds until they are accepted
constexpr size_t kMostHeadBytes = 8192;  // of a request
constexpr double kRequestSeconds = 5;    // for the whole request to arrive
constexpr double kAnswerSeconds = 15;    // for the whole answer to leave, over a slow line too
constexpr int kPollMs = 50;              // how soon the end of the server is noticed
constexpr double kFreshSeconds = 0.5;    // for so long an answer is given again
constexpr int kPortsTried = 20;
constexpr int kNice = 10;

bool IsHeader(std::string_view name, std::string_view lower) {
  return name.size() == lower.size() &&
         std::equal(name.begin(), name.end(), lower.begin(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         });
}

// Of a request's fields only those that are used here go on: no ranges, no encodings, no bodies.
std::string Cleaned(std::string_view head) {
  std::string kept;
  for (bool first = true; !head.empty(); first = false) {
    const size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    const std::string_view name = line.substr(0, line.find(':'));
    if (first || IsHeader(name, "host") || IsHeader(name, "authorization")) {
      kept.append(line);
      kept += "\r\n";
    }
  }
  return kept + "Connection: close\r\n\r\n";
}

std::string PlainAnswer(const char* status, const char* text) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: "
      "close\r\n\r\n{}",
      status, std::strlen(text), text);
}

// A request that has been read whole, and the answer to it, both in memory: making one waits for no
// client.
class Exchange : public httplib::Stream {
 public:
  Exchange(socket_t socket, std::string head) : socket_(socket), head_(std::move(head)) {}

  const std::string& answer() const { return answer_; }

  bool is_readable() const override { return at_ < head_.size(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, size_t size) override {
    const size_t count = std::min(size, head_.size() - at_);
    std::memcpy(to, head_.data() + at_, count);
    at_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, size_t size) override {
    answer_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return socket_; }

 private:
  const socket_t socket_;
  const std::string head_;
  size_t at_ = 0;
  std::string answer_;
};

// Does at once what it is given: handing a connection over.
class NoQueue : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> job) override { job(); }
  void shutdown() override {}
};

// One request a connection. One thread reads all requests and writes all answers, a piece of
// whichever client is ready, so that none holds up another however slowly it reads or writes. Each
// has an end; and where many are open those that have been longest without a whole request make
// room. What has arrived already is always read before.
class BoundedServer : public httplib::Server {
 public:
  explicit BoundedServer(const std::atomic<bool>& stopping)
      : stopping_(stopping), wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    new_task_queue = [] { return new NoQueue; };
    // Without SO_REUSEPORT, with which two runs would share a port and each would answer now and
    // then.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
  }
  ~BoundedServer() override {
    End();
    if (wake_ >= 0) close(wake_);
  }
  BoundedServer(const BoundedServer&) = delete;
  BoundedServer& operator=(const BoundedServer&) = delete;

  // httplib lets five connections wait to be accepted; the sixth would be tried again only after a
  // second.
  void LetMoreWait() { ::listen(svr_sock_, kBacklog); }

  // Once all handlers are set.
  void Begin() {
    thread_ = std::thread([this] {
      setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
      Serve();
    });
  }
  // After `stopping` was set.
  void End() {
    Wake();
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct Client {
    socket_t socket;
    double came, deadline;
    std::string head{};    // as far as it has been read
    std::string answer{};  // once that is whole
    size_t sent = 0;       // of the answer
    bool answering() const { return !answer.empty(); }
  };

  // On the thread that accepts. It waits while more have arrived than are looked at; the kernel
  // holds the rest.
  bool process_and_close_socket(socket_t socket) override {
    std::unique_lock lock(mutex_);
    while (arrived_.size() >= kMostArrived && !stopping_) {
      looked_at_.wait_for(lock, std::chrono::milliseconds(kPollMs));
    }
    if (stopping_) {
      close(socket);
      return false;
    }
    arrived_.push_back(socket);
    lock.unlock();
    Wake();
    return true;
  }

  void Wake() const {
    const uint64_t one = 1;
    // Where it cannot be woken it looks by itself before long.
    [[maybe_unused]] const ssize_t ignored = write(wake_, &one, sizeof one);
  }

  void Serve() {
    std::vector<pollfd> wanted;
    while (!stopping_) {
      wanted.assign(1, {wake_, POLLIN, 0});
      for (const Client& client : clients_) {
        wanted.push_back(
            {client.socket, static_cast<short>(client.answering() ? POLLOUT : POLLIN), 0});
      }
      poll(wanted.data(), wanted.size(), kPollMs);
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t ignored = read(wake_, &count, sizeof count);
      const double now = SteadySeconds();
      for (size_t i = 0; i < clients_.size(); ++i) {
        Client& client = clients_[i];
        const bool ready = wanted[i + 1].revents != 0;
        if ((ready && !GoOn(client)) || now >= client.deadline) Close(client);
      }
      TakeArrived();
      std::erase_if(clients_, [](const Client& client) { return client.socket < 0; });
      MakeRoom(now);
    }
    TakeArrived();
    for (Client& client : clients_) Close(client);
    clients_.clear();
  }

  // The oldest clients come first.
  void MakeRoom(double now) {
    size_t open = clients_.size(), bytes = 0;
    for (const Client& client : clients_) bytes += client.answer.size();
    for (Client& client : clients_) {
      const bool idle = !client.answering() && now - client.came > kPatienceSeconds;
      const bool much = client.answering() && bytes > kMostAnswerBytes;
      if (!much && !(idle && open > kManyOpen)) continue;
      bytes -= client.answer.size();
      --open;
      Close(client);
    }
    for (const bool answering : {false, true}) {
      for (Client& client : clients_) {
        if (open <= kMostOpen) break;
        if (client.socket < 0 || client.answering() != answering) continue;
        --open;
        Close(client);
      }
    }
    std::erase_if(clients_, [](const Client& client) { return client.socket < 0; });
  }

  void TakeArrived() {
    std::vector<socket_t> arrived;
    {
      const std::lock_guard lock(mutex_);
      arrived.swap(arrived_);
    }
    looked_at_.notify_all();
    for (const socket_t socket : arrived) {
      const double now = SteadySeconds();
      Client& client = clients_.emplace_back(
          Client{.socket = socket, .came = now, .deadline = now + kRequestSeconds});
      if (!GoOn(client)) Close(client);
    }
  }

  // As far as it goes without waiting; false: it is over.
  bool GoOn(Client& client) { return client.answering() ? Send(client) : Receive(client); }

  bool Receive(Client& client) {
    char buffer[2048];
    while (true) {
      const ssize_t got = recv(client.socket, buffer, sizeof buffer, MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return true;
      if (got <= 0) return false;
      client.head.append(buffer, static_cast<size_t>(got));
      const size_t end = client.head.find("\r\n\r\n");
      const bool whole = end != std::string::npos && end + 4 <= kMostHeadBytes;
      if (!whole && client.head.size() < kMostHeadBytes) continue;
      client.answer =
          whole ? AnswerTo(client.socket, client.head.substr(0, end + 2))
                : PlainAnswer("431 Request Header Fields Too Large", "the request is too long\n");
      client.deadline = SteadySeconds() + kAnswerSeconds;
      return client.answering() && Send(client);
    }
  }

  std::string AnswerTo(socket_t socket, const std::string& head) {
    Exchange exchange(socket, Cleaned(head));
    bool closed = false;
    process_request(exchange, /*close_connection=*/true, closed, nullptr);
    return exchange.answer();
  }

  static bool Send(Client& client) {
    while (client.sent < client.answer.size()) {
      const ssize_t sent = send(client.socket, client.answer.data() + client.sent,
                                client.answer.size() - client.sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return errno == EAGAIN;
      client.sent += static_cast<size_t>(sent);
    }
    return false;
  }

  // What the client has sent and nobody read would reset the connection under the answer; some of
  // it is read away.
  static void Close(Client& client) {
    if (client.socket < 0) return;
    shutdown(client.socket, SHUT_WR);
    char waste[4096];
    for (int i = 0; i < 16 && recv(client.socket, waste, sizeof waste, MSG_DONTWAIT) > 0; ++i) {
    }
    close(client.socket);
    client.socket = -1;
  }

  const std::atomic<bool>& stopping_;
  const int wake_;  // an eventfd
  std::mutex mutex_;
  std::condition_variable looked_at_;
  std::vector<socket_t> arrived_;
  std::vector<Client> clients_;  // in the order in which they came; of the serving thread
  std::thread thread_;
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
  state.server->Begin();
  state.thread = std::thread([&state] {
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
    state.server->listen_after_bind();
  });
  while (!state.server->is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

StatusServer::~StatusServer() {
  state_->stopping = true;
  state_->server->stop();
  state_->thread.join();
  state_->server->End();
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
