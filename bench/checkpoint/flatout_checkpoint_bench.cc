// How fast a snapshot gets to the disk, beside dd with fsync on the same disk, in turn.
//
//   flatout_checkpoint_bench --folder DIR --mib 1024 --repeats 7
//
// Each repeat runs `dd if=/dev/zero bs=8M conv=fsync`, Store::Write of as many bytes, and the same
// through AsyncSaver (of which it shows how long handing over took), the order turned by one every
// repeat. Rates are bytes over wall time, from the call until everything is synced; ratios are
// taken repeat by repeat. The state is of 100 tensors of pseudo-random bytes. The last line is
// JSON.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/process.h"
#include "flatout/checkpoint/async_saver.h"
#include "flatout/checkpoint/store.h"

namespace flatout {
namespace {

namespace fs = std::filesystem;

constexpr int kTensors = 100;

struct Options {
  std::string folder = ".";
  int64_t mib = 1024;
  int repeats = 7;
};

struct Contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds;
  std::vector<double> cpu_seconds;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Of processes that ended and were waited for: dd.
double ChildCpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int Run(const Options& options) {
  const std::string folder = options.folder + "/flatout-checkpoint-bench";
  fs::create_directories(folder);
  const int64_t bytes = options.mib << 20;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> tensors;
  uint64_t random = 88172645463325252u;
  for (int i = 0; i < kTensors; ++i) {
    auto tensor = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(bytes / kTensors));
    for (std::byte& byte : *tensor) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      byte = static_cast<std::byte>(random >> 24);
    }
    tensors.push_back(std::move(tensor));
  }
  const auto snapshot = [&](int64_t step) {
    checkpoint::Snapshot made;
    made.step = step;
    checkpoint::TensorGroup& group = made.groups.emplace_back();
    group.name = "weights";
    for (int i = 0; i < kTensors; ++i) {
      group.tensors.push_back(checkpoint::HostSource(
          fmt::format("layer_{}/kernel", i),
          ir::Shape(ir::DType::kU8, {static_cast<int64_t>(tensors[i]->size())}), tensors[i]));
    }
    return made;
  };
  checkpoint::Store store(folder + "/checkpoints");
  for (const std::string& note : store.Prepare(bytes)) std::printf("note: %s\n", note.c_str());
  int64_t step = 0;
  std::vector<double> handing_over, loading, loading_cpu;
  const std::string dd_file = folder + "/dd";
  std::vector<Contestant> contestants;
  contestants.push_back({"dd conv=fsync",
                         [&] {
                           const std::string command = fmt::format(
                               "dd if=/dev/zero of='{}' bs=8M count={} conv=fsync 2>/dev/null",
                               dd_file, options.mib / 8);
                           if (std::system(command.c_str()) != 0) throw Invalid("dd failed");
                         },
                         {},
                         {}});
  contestants.push_back({"Store::Write", [&] { store.Write(snapshot(++step)); }, {}, {}});
  contestants.push_back({"AsyncSaver",
                         [&] {
                           checkpoint::AsyncSaver saver(store, {.retention = {.keep_last = 1000}});
                           const Stopwatch clock;
                           saver.Save(snapshot(++step), checkpoint::AsyncSaver::WhenBusy::kWait);
                           handing_over.push_back(clock.Seconds());
                           saver.Wait();
                           if (saver.status().saves != 1)
                             throw Invalid("{}", saver.status().last_error);
                         },
                         {},
                         {}});
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    for (size_t i = 0; i < contestants.size(); ++i) {
      Contestant& one = contestants[(i + static_cast<size_t>(repeat)) % contestants.size()];
      sync();
      const double cpu = ProcessCpuSeconds() + ChildCpuSeconds();
      const Stopwatch clock;
      one.run();
      one.seconds.push_back(clock.Seconds());
      one.cpu_seconds.push_back(ProcessCpuSeconds() + ChildCpuSeconds() - cpu);
      if (one.name == "Store::Write") {
        const double before = ProcessCpuSeconds();
        const Stopwatch reading;
        if (!store.LoadNewest().snapshot) throw Invalid("it cannot be loaded");
        loading.push_back(reading.Seconds());
        loading_cpu.push_back(ProcessCpuSeconds() - before);
      }
      fs::remove(dd_file);
      fs::remove_all(store.folder());
      fs::create_directory(store.folder());
    }
  }
  fs::remove_all(folder);
  nlohmann::ordered_json json;
  json["mib"] = options.mib;
  json["repeats"] = options.repeats;
  std::printf("%-14s  %10s  %22s  %12s  %s\n", "", "MB/s", "(least to most)", "CPU s", "to dd");
  for (const Contestant& one : contestants) {
    std::vector<double> rates, ratios;
    for (size_t i = 0; i < one.seconds.size(); ++i) {
      rates.push_back(static_cast<double>(bytes) / one.seconds[i] / 1e6);
      ratios.push_back(contestants[0].seconds[i] / one.seconds[i]);
    }
    const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
    std::printf("%-14s  %10.0f  %22s  %12.2f  %.3f\n", one.name.c_str(), Median(rates),
                fmt::format("({:.0f} to {:.0f})", *least, *most).c_str(), Median(one.cpu_seconds),
                Median(ratios));
    json[one.name] = {{"mb_per_second", rates},
                      {"cpu_seconds", one.cpu_seconds},
                      {"ratio_to_dd", Median(ratios)}};
  }
  const double most = *std::max_element(handing_over.begin(), handing_over.end());
  std::printf("handing over took %.3f ms, %.3f ms at most\n", 1e3 * Median(handing_over),
              1e3 * most);
  json["handing_over_seconds"] = handing_over;
  std::printf("loading: %.0f MB/s, %.2f CPU s\n",
              static_cast<double>(bytes) / Median(loading) / 1e6, Median(loading_cpu));
  json["loading_seconds"] = loading;
  std::printf("%s\n", json.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace flatout

int main(int argc, char** argv) {
  CLI::App app("Times snapshots beside dd with fsync.");
  flatout::Options options;
  app.add_option("--folder", options.folder, "Where to write")->capture_default_str();
  app.add_option("--mib", options.mib, "Bytes of the state, in MiB")->capture_default_str();
  app.add_option("--repeats", options.repeats, "Of each")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return flatout::Run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flatout_checkpoint_bench: %s\n", error.what());
    return 1;
  }
}
