// What a training run shows of itself, as people use it: the live page, Prometheus (Debian's, out
// of .deps/prometheus) and the dashboard's queries, the report, top, cost; and clients that mean no
// good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "flatout/web/server.h"
#include "flatout/web/testing.h"
#include "tests/command.h"

namespace flatout {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Outcome;
using testing::Process;
using testing::ReadAll;

const fs::path kRoot = FLATOUT_SOURCE_DIR;
const std::string kPrometheus = FLATOUT_DEPS_FOLDER "/prometheus/usr/bin/prometheus";
const std::string kPromtool = FLATOUT_DEPS_FOLDER "/prometheus/usr/bin/promtool";

// As long as something may take that is bound to happen.
constexpr auto kPatience = std::chrono::seconds(300);

const char* const kRunFile = R"(
[model]
builtin = "mlp"
layers = 1
units = 16

[data]
source = "fashion_mnist"
validation_split = 0.02

[train]
epochs = 100000
global_batch = 64
metrics = ["accuracy"]
evaluate_test = false

[checkpoint]
every_seconds = 1

[watch]
log_seconds = 0.5
progress = "plain"
ceiling = false

[cost]
price_per_hour = 36
currency = "EUR"
)";

class Monitoring : public ::testing::Test {
 protected:
  Monitoring() : folder_(::testing::TempDir() + "flatout_monitoring_" + std::to_string(getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream(folder_ / "run.toml") << kRunFile;
  }
  ~Monitoring() override { fs::remove_all(folder_); }

  std::unique_ptr<Process> Start(std::vector<std::string> more = {},
                                 const std::string& run_dir = "run") const {
    std::vector<std::string> arguments = {"train", "run.toml", "--run-dir", run_dir};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<Process>(folder_, arguments);
  }
  Outcome Run(const std::vector<std::string>& arguments) const {
    return Process(folder_, arguments).Wait();
  }

  fs::path folder_;
};

// A port that nobody listens on.
int FreePort() {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(file, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(file, reinterpret_cast<sockaddr*>(&address), &size);
  close(file);
  return ntohs(address.sin_port);
}

// Until `ready` or out of patience.
template <typename Ready>
bool Eventually(const Ready& ready) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!ready()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

// Where the run says that its page is.
int PortOf(Process& run) {
  if (!run.WaitFor("live page: http://127.0.0.1:")) return 0;
  std::smatch match;
  const std::string out = run.out();
  std::regex_search(out, match, std::regex("live page: http://127.0.0.1:([0-9]+)/"));
  return std::stoi(match[1]);
}

std::string Get(int port, const std::string& path) {
  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(60);
  const auto answer = client.Get(path);
  return answer && answer->status == 200 ? answer->body : "";
}

// The value of a series; empty where it is not there.
std::string Series(const std::string& metrics, const std::string& series) {
  const size_t at = ("\n" + metrics).find("\n" + series + " ");
  if (at == std::string::npos) return "";
  const size_t begin = at + series.size() + 1;
  return metrics.substr(begin, metrics.find('\n', begin) - begin);
}

// A program, what it printed, and its exit code.
std::pair<int, std::string> Shell(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string out;
  char buffer[4096];
  for (size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, got);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out};
}

TEST_F(Monitoring, AlertsAndTheirUnitTests) {
  const std::string rules = (kRoot / "deploy/prometheus").string();
  auto [code, out] = Shell(kPromtool + " check rules " + rules + "/flatout_alerts.yml");
  EXPECT_EQ(code, 0) << out;
  std::tie(code, out) = Shell(kPromtool + " test rules " + rules + "/flatout_alerts_test.yml");
  EXPECT_EQ(code, 0) << out;
  // They ask only for metrics that there are.
  std::set<std::string> known;
  for (const web::MetricInfo& metric : web::AllMetrics()) known.insert(metric.name);
  const std::string text = ReadAll(rules + "/flatout_alerts.yml");
  const std::regex name("\\bflatout_[a-z_]+");
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it) {
    const std::string metric = it->str();
    if (metric != "flatout_alerts" && metric != "flatout_alerts_test") {
      EXPECT_TRUE(known.contains(metric)) << metric;
    }
  }
}

// The queries of the dashboard, with its variables filled in.
std::vector<std::string> DashboardQueries() {
  const auto dashboard = nlohmann::json::parse(ReadAll(kRoot / "deploy/grafana/flatout.json"));
  std::vector<std::string> queries;
  for (const auto& panel : dashboard["panels"]) {
    if (panel["type"] == "row") continue;
    EXPECT_EQ(panel["datasource"]["uid"], "${datasource}") << panel["title"];
    for (const auto& target : panel["targets"]) {
      std::string query = target["expr"];
      query = std::regex_replace(query, std::regex("\\$__rate_interval"), "20s");
      query = std::regex_replace(query, std::regex("\\$instance"), ".+");
      EXPECT_THAT(query, Not(HasSubstr("$")));
      queries.push_back(query);
    }
  }
  return queries;
}

TEST_F(Monitoring, PrometheusScrapesARunAndTheDashboardHasData) {
  ASSERT_TRUE(fs::exists(kPrometheus)) << "deps/install --tools brings it";
  const auto run = Start({"--port", std::to_string(FreePort())});
  const int port = PortOf(*run);
  ASSERT_GT(port, 0) << run->err();
  // Cards, which are not here, and communication between hosts: of a run that is made up.
  watch::StatusBoard board;
  web::MetricsWriter writer;
  watch::RunStatus pretended = web::testing::SomeRun();
  board.Publish(pretended);
  const web::StatusServer other({.port = FreePort()}, board, writer);
  std::ofstream(folder_ / "prometheus.yml")
      << "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
         "rule_files: ["
      << (kRoot / "deploy/prometheus/flatout_alerts.yml").string()
      << "]\n"
         "scrape_configs:\n  - job_name: flatout\n    static_configs:\n      - targets: "
         "[\"127.0.0.1:"
      << port << "\", \"127.0.0.1:" << other.port() << "\"]\n";
  const int prometheus_port = FreePort();
  const pid_t prometheus = fork();
  if (prometheus == 0) {
    if (chdir(folder_.c_str()) != 0) _exit(126);
    const std::string listen = "--web.listen-address=127.0.0.1:" + std::to_string(prometheus_port);
    execl(kPrometheus.c_str(), "prometheus", "--config.file=prometheus.yml",
          "--storage.tsdb.path=tsdb", listen.c_str(), "--log.level=error", nullptr);
    _exit(127);
  }
  const auto ask = [&](const std::string& query) {
    httplib::Client client("127.0.0.1", prometheus_port);
    const auto answer = client.Get("/api/v1/query", httplib::Params{{"query", query}}, {});
    if (!answer) return nlohmann::json();
    return nlohmann::json::parse(answer->body, nullptr, false);
  };
  const std::vector<std::string> queries = DashboardQueries();
  EXPECT_GT(queries.size(), 40u);
  std::set<std::string> missing(queries.begin(), queries.end());
  Eventually([&] {
    // The pretended run trains on.
    ++pretended.process_steps;
    board.Publish(pretended);
    std::erase_if(missing, [&](const std::string& query) {
      const auto answer = ask(query);
      if (answer.is_object()) EXPECT_EQ(answer["status"], "success") << query << answer;
      return answer.is_object() && answer["status"] == "success" &&
             !answer["data"]["result"].empty();
    });
    return missing.empty();
  });
  EXPECT_THAT(missing, IsEmpty());
  // The real run's own figures, through Prometheus.
  const std::string instance = "{instance=\"127.0.0.1:" + std::to_string(port) + "\"}";
  for (const char* metric :
       {"flatout_loss", "flatout_validation_loss", "flatout_full_ratio", "flatout_step",
        "flatout_checkpoint_last_step", "flatout_cost", "flatout_input_stage_seconds_total",
        "flatout_eta_seconds", "process_resident_memory_bytes"}) {
    EXPECT_TRUE(Eventually([&] { return !ask(metric + instance)["data"]["result"].empty(); }))
        << metric;
  }
  // All rules could be evaluated.
  httplib::Client client("127.0.0.1", prometheus_port);
  const auto rules = nlohmann::json::parse(client.Get("/api/v1/rules")->body);
  for (const auto& rule : rules["data"]["groups"][0]["rules"]) {
    EXPECT_EQ(rule["health"], "ok") << rule;
  }
  kill(prometheus, SIGKILL);
  waitpid(prometheus, nullptr, 0);

  // promtool's linter, and the same counts as the run's own.
  const std::string metrics = Get(port, "/metrics");
  std::ofstream(folder_ / "metrics.txt") << metrics;
  const auto [code, out] =
      Shell(kPromtool + " check metrics < " + (folder_ / "metrics.txt").string());
  EXPECT_EQ(code, 0) << out;
  EXPECT_EQ(out, "");
  EXPECT_EQ(run->End(SIGTERM).exit_code, 6);
}

TEST_F(Monitoring, ARunSeenFromAllSides) {
  const auto run = Start({"--port", std::to_string(FreePort()), "--set", "train.epochs=100000"});
  const int port = PortOf(*run);
  ASSERT_GT(port, 0) << run->err();
  ASSERT_TRUE(Eventually([&] {
    const auto json = nlohmann::json::parse(Get(port, "/status.json"), nullptr, false);
    return json.is_object() && json["epoch_history"].size() >= 2 && json["history"].size() >= 3 &&
           json["checkpoints"]["saved"] > 0;
  }));
  const auto json = nlohmann::json::parse(Get(port, "/status.json"));
  EXPECT_THAT(json["state"], AnyOf(Eq("training"), Eq("evaluating")));
  EXPECT_EQ(json["cost"]["currency"], "EUR");
  EXPECT_EQ(json["optimizer"], "Adam");
  double sum = 0;
  for (const auto& [cause, seconds] : json["ledger"].items()) sum += seconds.get<double>();
  EXPECT_NEAR(sum, json["wall_seconds"].get<double>(), 0.005 * sum);
  EXPECT_FALSE(json["verdict"].empty());
  EXPECT_FALSE(json["log"].empty());
  const auto page = nlohmann::json::parse(Get(port, "/sections.json"));
  for (const auto& [id, html] : page["sections"].items()) {
    EXPECT_EQ(web::testing::WhatIsWrong("<div>" + html.get<std::string>() + "</div>"), "") << id;
    EXPECT_NE(html, "") << id;
  }
  EXPECT_THAT(page["sections"]["curves"].get<std::string>(), HasSubstr("class=\"line s0\" d=\"M"));

  // From another process, while it runs.
  Outcome top = Run({"top", "run"});
  EXPECT_EQ(top.exit_code, 0) << top.err;
  EXPECT_THAT(top.out, HasSubstr("● running"));
  EXPECT_THAT(top.out, HasSubstr("time by cause"));
  EXPECT_THAT(top.out, HasSubstr("EUR"));
  Outcome report = Run({"report", "run"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_EQ(web::testing::WhatIsWrong(ReadAll(folder_ / "run/report.html")), "");

  // Killed in the middle of a line, as good as.
  run->End(SIGKILL);
  std::ofstream(folder_ / "run/metrics.jsonl", std::ios::app) << "{\"event\":\"log\",\"st";
  top = Run({"top", "run"});
  EXPECT_THAT(top.out, HasSubstr("✕ ended"));
  report = Run({"report", "run", "--out", "killed.html"});
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.err, "");
  const std::string html = ReadAll(folder_ / "killed.html");
  EXPECT_EQ(web::testing::WhatIsWrong(html), "");
  EXPECT_THAT(html, HasSubstr("Where the time went"));

  // It goes on: the curves begin with what was, the counters with this process.
  const auto again = Start({"--port", std::to_string(FreePort())});
  const int next = PortOf(*again);
  ASSERT_GT(next, 0) << again->err();
  ASSERT_TRUE(Eventually([&] {
    const auto now = nlohmann::json::parse(Get(next, "/status.json"), nullptr, false);
    return now.is_object() && now["sessions"] == 2 && now["step"] > 0;
  }));
  const auto now = nlohmann::json::parse(Get(next, "/status.json"));
  EXPECT_GE(now["history"].size(), 3u);
  EXPECT_LT(now["history"][0]["step"], now["step"]);
  const std::string metrics = Get(next, "/metrics");
  EXPECT_LT(std::stod(Series(metrics, "flatout_steps_total")),
            std::stod(Series(metrics, "flatout_step")));
  EXPECT_EQ(again->End(SIGTERM).exit_code, 6);
  EXPECT_THAT(ReadAll(folder_ / "run/run.log"), HasSubstr("run run on "));
}

// Cards that are played: the driver's libraries and the plugin are the tests' own.
TEST_F(Monitoring, CardsAreShown) {
  const std::vector<std::string> environment = {
      "FAKE_CUDA_REAL=" FLATOUT_DEPS_FOLDER
      "/xla_cpu_pjrt/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
      "FLATOUT_CUDA_LIBRARY=" FAKE_NVIDIA, "FLATOUT_NVML_LIBRARY=" FAKE_NVIDIA,
      "PJRT_NAMES_AND_LIBRARY_PATHS=cuda:" FAKE_CUDA_PLUGIN,
      // The mask is NVML's for a power cap.
      "FAKE_GPUS=name=NVIDIA H100 80GB HBM3|total=81559|reserved=551|used=1000|busy=37|"
      "clock=1200|max_clock=1980|limits=0x4"};
  Process run(folder_,
              {"train", "run.toml", "--run-dir", "run", "--port", std::to_string(FreePort()),
               "--set", "train.device=cuda"},
              environment);
  const int port = PortOf(run);
  ASSERT_GT(port, 0) << run.err();
  std::string metrics;
  const std::string active = "flatout_device_kernel_active_ratio{device=\"0\"}";
  ASSERT_TRUE(Eventually([&] {
    metrics = Get(port, "/metrics");
    return !Series(metrics, active).empty();
  }));
  EXPECT_EQ(Series(metrics, active), "0.37");
  EXPECT_EQ(Series(metrics, "flatout_device_clock_hertz{device=\"0\"}"), "1200000000");
  EXPECT_EQ(Series(metrics, "flatout_device_throttled{device=\"0\"}"), "1");
  EXPECT_NE(Series(metrics, "flatout_device_power_watts{device=\"0\"}"), "");
  EXPECT_NE(Series(metrics, "flatout_device_temperature_celsius{device=\"0\"}"), "");
  EXPECT_NE(Series(metrics, "flatout_full_ratio"), "");
  const auto page = nlohmann::json::parse(Get(port, "/sections.json"));
  const std::string devices = page["sections"]["devices"];
  EXPECT_THAT(devices, HasSubstr("0: NVIDIA H100 80GB HBM3"));
  EXPECT_THAT(devices, HasSubstr("▼ power cap"));
  EXPECT_THAT(devices, HasSubstr("37.0 %"));
  EXPECT_EQ(run.End(SIGTERM).exit_code, 6);
  EXPECT_EQ(Run({"report", "run"}).exit_code, 0);
  EXPECT_THAT(ReadAll(folder_ / "run/report.html"), HasSubstr("0: NVIDIA H100 80GB HBM3"));
}

TEST_F(Monitoring, CostAndTheEndOfARun) {
  const int port = FreePort();
  const auto run = Start({"--port", std::to_string(port), "--set", "train.epochs=2", "--set",
                          "data.limit=2000", "--set", "watch.http.linger_seconds=1000"});
  ASSERT_TRUE(run->WaitFor("kept in run")) << run->err();
  // It is over, and still to be asked.
  const auto json = nlohmann::json::parse(Get(PortOf(*run), "/status.json"));
  EXPECT_EQ(json["state"], "done");
  EXPECT_EQ(json["progress"], 1);
  EXPECT_EQ(Series(Get(port, "/metrics"), "flatout_run_state{state=\"done\"}"), "1");
  const std::string out = run->End(SIGTERM).out;
  EXPECT_THAT(out, HasSubstr("  cost: "));
  EXPECT_THAT(out, HasSubstr("EUR so far at 36.00 EUR per hour"));
  const auto summary = nlohmann::json::parse(ReadAll(folder_ / "run/summary.json"));
  const auto& cost = summary["cost"];
  EXPECT_EQ(cost["price_per_hour"], 36);
  EXPECT_NEAR(cost["total"].get<double>(), summary["wall_seconds"].get<double>() / 100, 1e-9);
  double sum = 0;
  for (const auto& [cause, money] : cost["by_cause"].items()) sum += money.get<double>();
  EXPECT_NEAR(sum, cost["total"].get<double>(), 0.005 * sum);
  EXPECT_GT(cost["per_epoch"], 0);
  // Another run beside it.
  const auto other = Start({"--set", "train.epochs=1", "--set", "data.limit=2000", "--set",
                            "optimizer.learning_rate=0.01"},
                           "other");
  EXPECT_EQ(other->Wait().exit_code, 0);
  const Outcome report = Run({"report", "run", "other"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  const std::string html = ReadAll(folder_ / "report.html");
  EXPECT_EQ(web::testing::WhatIsWrong(html), "");
  EXPECT_THAT(html, HasSubstr("2 runs"));
  EXPECT_THAT(html, HasSubstr("<td>optimizer.learning_rate</td>"));
}

// However a run ends, what it shows stays to be scraped for as long as is asked for, and the
// account of it stands still.
TEST_F(Monitoring, RunsThatFailedOrWereStoppedLingerToo) {
  const auto state = [](int port, const std::string& name) {
    return Series(Get(port, "/metrics"), "flatout_run_state{state=\"" + name + "\"}");
  };
  const int first = FreePort();
  const auto failed =
      Start({"--port", std::to_string(first), "--set", "watch.http.linger_seconds=1000", "--set",
             "optimizer.learning_rate=1e38"},
            "failed");
  const int port = PortOf(*failed);
  ASSERT_TRUE(failed->WaitFor("live page: served for another")) << failed->err();
  EXPECT_THAT(failed->err(), HasSubstr("flatout: the loss is"));
  EXPECT_EQ(state(port, "failed"), "1");
  const auto before = nlohmann::json::parse(Get(port, "/status.json"));
  std::this_thread::sleep_for(std::chrono::seconds(1));  // answers are kept for half of one
  const auto after = nlohmann::json::parse(Get(port, "/status.json"));
  EXPECT_EQ(before["wall_seconds"], after["wall_seconds"]);
  EXPECT_EQ(before["ledger"], after["ledger"]);
  EXPECT_EQ(before["cost"], after["cost"]);
  const auto summary = nlohmann::json::parse(ReadAll(folder_ / "failed/summary.json"));
  EXPECT_EQ(after["wall_seconds"], summary["wall_seconds"]);
  EXPECT_EQ(failed->End(SIGTERM).exit_code, 2);

  const auto stopped =
      Start({"--port", std::to_string(FreePort()), "--set", "watch.http.linger_seconds=1000",
             "--set", "checkpoint.grace_seconds=1000"},
            "stopped");
  const int next = PortOf(*stopped);
  ASSERT_TRUE(Eventually([&] { return state(next, "training") == "1"; }));
  stopped->Signal(SIGTERM);
  ASSERT_TRUE(stopped->WaitFor("live page: served for another")) << stopped->err();
  EXPECT_TRUE(Eventually([&] { return state(next, "stopped") == "1"; }));
  // What comes within a second is an echo of the first.
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const Outcome outcome = stopped->End(SIGTERM);
  EXPECT_EQ(outcome.exit_code, 6) << "all is saved";
  EXPECT_THAT(outcome.out, HasSubstr("the same command goes on from there"));

  // Whoever stops it waits for three seconds, not for a thousand.
  const auto hurried =
      Start({"--port", std::to_string(FreePort()), "--set", "watch.http.linger_seconds=1000",
             "--set", "checkpoint.grace_seconds=3"},
            "hurried");
  const int last = PortOf(*hurried);
  ASSERT_TRUE(Eventually([&] { return state(last, "training") == "1"; }));
  EXPECT_EQ(hurried->End(SIGTERM).exit_code, 6);
}

// The command's own words, doctor, top and the report have one figure of how full a run was.
TEST_F(Monitoring, OneFigureOfHowFullARunWas) {
  const Outcome run = Start({"--set", "train.epochs=2", "--set", "data.limit=20000"})->Wait();
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::smatch match;
  ASSERT_TRUE(std::regex_search(run.out, match, std::regex("full: ([0-9.]+ %)")));
  const std::string full = match[1];
  const Outcome doctor = Run({"doctor", "run"}), top = Run({"top", "run"});
  EXPECT_THAT(doctor.out, HasSubstr("full: " + full));
  EXPECT_THAT(top.out, HasSubstr("full " + full));
  EXPECT_THAT(top.out, HasSubstr("full: " + full));
  EXPECT_EQ(Run({"report", "run"}).exit_code, 0);
  EXPECT_THAT(ReadAll(folder_ / "run/report.html"), HasSubstr(full));
  // And one of what it cost.
  ASSERT_TRUE(std::regex_search(run.out, match, std::regex("cost: ([0-9.]+ EUR)")));
  const std::string cost = match[1];
  EXPECT_THAT(doctor.out, HasSubstr("cost: " + cost));
  EXPECT_THAT(top.out, HasSubstr("cost: " + cost));
}

TEST_F(Monitoring, HostileClientsChangeNothing) {
  const std::vector<std::string> short_run = {"--set", "train.epochs=3", "--set",
                                              "data.limit=6000"};
  EXPECT_EQ(Start(short_run, "alone")->Wait().exit_code, 0);
  std::vector<std::string> served = short_run;
  served.insert(served.end(), {"--port", std::to_string(FreePort())});
  const auto run = Start(served, "beset");
  const int port = PortOf(*run);
  ASSERT_GT(port, 0);
  std::atomic<bool> end = false;
  std::vector<std::thread> clients;
  for (int kind = 0; kind < 4; ++kind) {
    clients.emplace_back([&, kind] {
      std::vector<int> held;
      while (!end) {
        const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (file < 0) {
          for (const int old : held) close(old);
          held.clear();
          continue;
        }
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
          close(file);
          continue;
        }
        const std::string request =
            kind == 0   ? "GET /../../run.toml HTTP/1.1\r\nHost: localhost\r\n\r\n"
            : kind == 1 ? "GET / HTTP/1.1\r\nX: " + std::string(100000, 'x')
            : kind == 2 ? "POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"
                        : "GET /status.json HT";  // and no more
        send(file, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (kind == 3 && held.size() < 200) {
          held.push_back(file);
        } else {
          close(file);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      for (const int file : held) close(file);
    });
  }
  const Outcome outcome = run->Wait();
  end = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  // Bit for bit what it would have been.
  EXPECT_EQ(ReadAll(folder_ / "beset/weights.safetensors"),
            ReadAll(folder_ / "alone/weights.safetensors"));
}

TEST_F(Monitoring, PortsAndAddresses) {
  const int port = FreePort();
  const auto first = Start({"--port", std::to_string(port)});
  ASSERT_EQ(PortOf(*first), port);
  const auto next = Start({"--port", std::to_string(port)}, "next");
  EXPECT_GT(PortOf(*next), port);
  EXPECT_THAT(next->out(), HasSubstr("port " + std::to_string(port) + " is in use"));
  next->End(SIGTERM);
  const Outcome refused =
      Start({"--port", std::to_string(port), "--set", "watch.http.port_in_use=error"}, "error")
          ->Wait();
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("is in use"));
  EXPECT_FALSE(fs::exists(folder_ / "error"));
  first->End(SIGTERM);
  const Outcome elsewhere =
      Start({"--port", std::to_string(port), "--set", "watch.http.address=203.0.113.1"}, "x")
          ->Wait();
  EXPECT_EQ(elsewhere.exit_code, 2);
  EXPECT_THAT(elsewhere.err, HasSubstr("this machine has no address 203.0.113.1"));
}

TEST_F(Monitoring, ReportsThatCannotBeWritten) {
  fs::create_directories(folder_ / "run");
  std::ofstream(folder_ / "run/metrics.jsonl") << "{\"event\":\"log\",\"step\":1,\"loss\":1}\n";
  Outcome outcome = Run({"report", "none"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("there is no run folder none"));
  outcome = Run({"report", "run", "--out", "no/such/folder/report.html"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no/such/folder/report.html"));
  // A disk that takes no more than 4 KB.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{4096, before.rlim_max};
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &little);
  outcome = Run({"report", "run"});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("report.html"));
  size_t files = 0;  // nothing half written is left
  for (const auto& entry : fs::directory_iterator(folder_ / "run")) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 1u);
}

}  // namespace
}  // namespace flatout
