// flatout_data_bench: our side of bench/data/run, and what only we can be asked.
//
//   flatout_data_bench serve --pipeline jpeg --data FOLDER     the protocol of protocol.py
//   flatout_data_bench grid --data FOLDER      five pipelines: every setting of a grid of workers
//   and
//                                              depths beside the tuned engine
//   flatout_data_bench device --data FOLDER    a pretended device of 5 ms per step: its busy share
//   flatout_data_bench memory                  20 epochs of records of 1 kB to 50 MB under a budget
//
// Pipelines are opened from the text of a [data] table, as `flatout train` does, and batches come
// from the Prefetcher, assembled into host buffers; raw records, which have no fixed size, from a
// Dataset's iterator. Each measurement prints one JSON line.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/base/error.h"
#include "flatout/data/dataset.h"
#include "flatout/data/launch.h"
#include "flatout/data/pipeline.h"
#include "flatout/data/prefetch.h"

namespace flatout {
namespace {

using data::Block;
using data::Dataset;
using data::Field;
using data::SourcePtr;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr double kWarmUp = 0.3;  // seconds, as in protocol.py

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

struct Pipeline {
  std::string name;
  int64_t batch;
  std::string table;  // {} is the folder of the data; empty: the slow source
  // Batches that one core makes in less than the 5 ms of the pretended device.
  int64_t device_batch;
};

const std::vector<Pipeline>& Pipelines() {
  static const std::vector<Pipeline> all = {
      {"tfrecord", 32, R"(
source = "tfrecord"
files = "{}/tfrecord/raw-*"
format = "bytes"
)",
       32},
      {"image", 256, R"(
source = "tfrecord"
files = "{}/tfrecord/image-*"
[features]
image = {{ dtype = "bytes", as = "u8", shape = [64, 64, 3] }}
label = "int64"
[[transforms]]
op = "to_float"
field = "image"
)",
       64},
      {"float", 256, R"(
source = "tfrecord"
files = "{}/tfrecord/float-*"
[features]
x = {{ dtype = "float", shape = [256] }}
label = "int64"
)",
       256},
      {"jpeg", 64, R"(
source = "image_folder"
path = "{}/jpeg"
[[transforms]]
op = "decode_image"
[[transforms]]
op = "random_resized_crop"
splits = ["train", "validation", "test"]
size = [224, 224]
[[transforms]]
op = "random_flip"
[[transforms]]
op = "normalize_image"
mean = [0.485, 0.456, 0.406]
std = [0.229, 0.224, 0.225]
)",
       4},
      {"csv", 1024, R"(
source = "csv"
files = "{}/csv/numbers.csv"
[columns]
label = "i32"
x = {{ from = "x0..x30", dtype = "f32" }}
)",
       512},
      {"slow", 32, "", 8},
  };
  return all;
}

const Pipeline& Find(const std::string& name) {
  for (const Pipeline& pipeline : Pipelines()) {
    if (pipeline.name == name) return pipeline;
  }
  throw Invalid("unknown pipeline '{}'", name);
}

// Every record takes 2 ms of waiting, as from a disk far away.
SourcePtr SlowSource() {
  std::vector<Field> fields = {Field{"x", ir::Shape{ir::DType::kF32, {256}}}};
  return Dataset::FromFunction(
             fields, 100'000,
             [](int64_t record, Block& out, int64_t row) {
               std::this_thread::sleep_for(std::chrono::milliseconds(2));
               std::fill_n(out.as<float>(0, row), 256, static_cast<float>(record));
             },
             "slow")
      .source();
}

SourcePtr Open(const Pipeline& pipeline, const std::string& folder) {
  if (pipeline.table.empty()) return SlowSource();
  const std::string text = fmt::format(fmt::runtime(pipeline.table), folder);
  return data::OpenSource(Config::ParseToml(text, pipeline.name), "train", 1);
}

// workers and depth; 0: tuned.
struct Setting {
  int workers = 0, depth = 0;
};

// Pulls batches over endless epochs.
class Puller {
 public:
  Puller(SourcePtr source, int64_t batch, Setting setting,
         int64_t end_epoch = std::numeric_limits<int64_t>::max()) {
    const std::vector<Field>& fields = source->fields();
    const bool fixed =
        std::all_of(fields.begin(), fields.end(), [](const Field& f) { return f.fixed(); });
    if (fixed) {
      data::LaunchReader reader(source, {.rows = batch});
      data::IteratorState start = reader.Start();
      prefetcher_ = std::make_unique<data::Prefetcher>(
          std::move(reader), start,
          data::PrefetchOptions{
              .depth = setting.depth, .workers = setting.workers, .end_epoch = end_epoch});
    } else {
      iterator_.emplace(Dataset::FromSource(source)
                            .Batch(batch)
                            .WithOptions({.workers = setting.workers})
                            .Prefetch(setting.depth)
                            .MakeIterator());
      end_epoch_ = end_epoch;
    }
  }

  // Records of the next batch, which `take` looks at; 0 at the end.
  int64_t Next(
      const std::function<void(const data::HostLaunch*, const data::Element*)>& take = {}) {
    if (prefetcher_) {
      last_ = prefetcher_->Next();
      if (!last_) return 0;
      if (take) take(last_->host.get(), nullptr);
      return last_->plan.rows - last_->bad_rows;
    }
    for (; epoch_ < end_epoch_; ++epoch_) {
      if (const data::Element* element = iterator_->Next()) {
        if (take) take(nullptr, element);
        const auto weight = element->Values<float>("weight");
        return static_cast<int64_t>(std::count(weight.begin(), weight.end(), 1.0F));
      }
    }
    return 0;
  }

  data::EngineStats stats() const {
    return prefetcher_ ? prefetcher_->stats() : iterator_->stats();
  }

 private:
  std::unique_ptr<data::Prefetcher> prefetcher_;
  std::optional<data::Prefetcher::Item> last_;
  std::optional<data::Iterator> iterator_;
  int64_t epoch_ = 0, end_epoch_ = 0;
};

struct Rate {
  int64_t records = 0;
  double seconds = 0;
  double per_second() const { return static_cast<double>(records) / seconds; }
};

Rate Measure(Puller& puller, double warm_up, double seconds) {
  for (auto begin = Clock::now(); Seconds(begin) < warm_up;) puller.Next();
  Rate rate;
  const auto begin = Clock::now();
  do {
    rate.records += puller.Next();
    rate.seconds = Seconds(begin);
  } while (rate.seconds < seconds);
  return rate;
}

void Say(const json& line) { std::cout << line.dump() << std::endl; }

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// ---- serve ----

// One epoch in order: what the driver compares between contestants.
json Check(const Pipeline& pipeline, const std::string& folder) {
  Puller puller(Open(pipeline, folder), pipeline.batch, {}, 1);
  int64_t records = 0, labels = 0, values = 0;
  double sum = 0;
  while (const int64_t rows =
             puller.Next([&](const data::HostLaunch* launch, const data::Element* element) {
               if (element != nullptr) {
                 const auto texts = element->Texts("record");
                 const auto weight = element->Values<float>("weight");
                 for (size_t i = 0; i < texts.size(); ++i) {
                   if (weight[i] == 0) continue;
                   sum += static_cast<double>(texts[i].size());
                   ++values;
                 }
                 return;
               }
               const int64_t count = launch->plan().rows;
               for (size_t f = 0; f < launch->fields().size(); ++f) {
                 const Field& field = launch->fields()[f];
                 const int64_t elements = field.shape.size() * count;
                 if (field.name == "weight") continue;
                 if (field.name == "label") {
                   const auto* data = reinterpret_cast<const int32_t*>(launch->data(0, f));
                   for (int64_t i = 0; i < elements; ++i) labels += data[i];
                 } else {
                   const auto* data = reinterpret_cast<const float*>(launch->data(0, f));
                   for (int64_t i = 0; i < elements; ++i) sum += data[i];
                   values += elements;
                 }
               }
             })) {
    records += rows;
  }
  return {{"records", records}, {"sum", labels}, {"mean", sum / static_cast<double>(values)}};
}

void Serve(const Pipeline& pipeline, const std::string& folder, Setting setting) {
  Puller puller(Open(pipeline, folder), pipeline.batch, setting);
  puller.Next();
  Say({{"ready", true}, {"version", "flatout"}});
  std::string command;
  while (std::cin >> command) {
    if (command == "check") {
      Say(Check(pipeline, folder));
      continue;
    }
    double seconds = 0;
    std::cin >> seconds;
    const Rate rate = Measure(puller, kWarmUp, seconds);
    const data::EngineStats stats = puller.stats();
    json stages;
    for (const auto& [name, time] : stats.stages) stages[name] = time.seconds;
    Say({{"records", rate.records},
         {"seconds", rate.seconds},
         {"workers", stats.workers},
         {"depth", stats.depth},
         {"stages", stages}});
  }
}

// ---- grid ----

void Grid(const std::string& folder, const std::string& only, double seconds, int rounds) {
  const int workers[] = {1, 2, 3, 4, 8};
  const int depths[] = {2, 4, 16};
  for (const Pipeline& pipeline : Pipelines()) {
    // Five kinds: of the two that read Examples, the one with small records.
    if (only.empty() ? pipeline.name == "image" : pipeline.name != only) continue;
    const SourcePtr source = Open(pipeline, folder);
    std::vector<std::pair<double, Setting>> found;
    for (int w : workers) {
      for (int d : depths) {
        Puller puller(source, pipeline.batch, {w, d});
        found.emplace_back(Measure(puller, kWarmUp, seconds / 2).per_second(), Setting{w, d});
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    // The best three once more in turn with the tuned one, which starts anew each time and has its
    // first seconds to settle: one look at each setting would make the luckiest the best.
    constexpr size_t kBest = 3;
    std::vector<double> rates[kBest], tuned;
    data::EngineStats stats;
    for (int round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < kBest; ++i) {
        Puller puller(source, pipeline.batch, found[i].second);
        rates[i].push_back(Measure(puller, kWarmUp, seconds).per_second());
      }
      Puller puller(source, pipeline.batch, {});
      tuned.push_back(Measure(puller, 3, seconds).per_second());
      stats = puller.stats();
    }
    size_t best = 0;
    for (size_t i = 1; i < kBest; ++i) {
      if (Median(rates[i]) > Median(rates[best])) best = i;
    }
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round)
      ratios.push_back(tuned[round] / rates[best][round]);
    json grid;
    for (const auto& [rate, setting] : found) {
      grid.push_back(
          {{"workers", setting.workers}, {"depth", setting.depth}, {"records_per_second", rate}});
    }
    const Setting setting = found[best].second;
    Say({{"pipeline", pipeline.name},
         {"best", Median(rates[best])},
         {"best_workers", setting.workers},
         {"best_depth", setting.depth},
         {"tuned", Median(tuned)},
         {"tuned_workers", stats.workers},
         {"tuned_depth", stats.depth},
         {"ratio", Median(ratios)},
         {"ratio_least", *std::min_element(ratios.begin(), ratios.end())},
         {"ratio_greatest", *std::max_element(ratios.begin(), ratios.end())},
         {"decisions", stats.decisions},
         {"grid", grid}});
  }
}

// ---- device ----

// The device works off the batches it was given, step_ms each, and the host asks for the next batch
// while it does: it may be one step ahead, as the trainer is. Its time line is arithmetic, so that
// the sleeps' own lateness is not charged to it.
void Device(const std::string& folder, const std::string& only, double step_ms, double seconds) {
  const auto step = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::milli>(step_ms));
  for (const Pipeline& pipeline : Pipelines()) {
    if (!only.empty() && pipeline.name != only) continue;
    const SourcePtr source = Open(pipeline, folder);
    double alone = 0;
    {
      Puller puller(source, pipeline.device_batch, {});
      const Rate rate = Measure(puller, 3, seconds / 2);
      alone = 1e3 * static_cast<double>(pipeline.device_batch) / rate.per_second();
    }
    Puller puller(source, pipeline.device_batch, {});
    Clock::time_point before, end = Clock::now();
    const auto run = [&](double for_seconds) {
      int64_t steps = 0;
      const auto begin = std::max(Clock::now(), end);
      while (std::chrono::duration<double>(end - begin).count() < for_seconds) {
        puller.Next();
        before = end;
        end = std::max(end, Clock::now()) + step;
        ++steps;
        std::this_thread::sleep_until(before);
      }
      return static_cast<double>(steps) * step_ms / 1e3 /
             std::chrono::duration<double>(end - begin).count();
    };
    run(3);
    const double busy = run(seconds);
    const data::EngineStats stats = puller.stats();
    Say({{"pipeline", pipeline.name},
         {"batch", pipeline.device_batch},
         {"step_ms", step_ms},
         {"alone_ms", alone},
         {"busy", busy},
         {"workers", stats.workers},
         {"depth", stats.depth}});
  }
}

// ---- memory ----

// {"VmRSS": MiB, "RssAnon": MiB, "RssFile": MiB}
json Resident() {
  json result;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    for (const char* name : {"VmRSS", "RssAnon", "RssFile"}) {
      if (line.rfind(std::string(name) + ":", 0) == 0) {
        result[name] = std::stoll(line.substr(std::strlen(name) + 1)) / 1024;
      }
    }
  }
  return result;
}

void Memory(int epochs, int64_t budget_mib) {
  // Sizes from 1 kB to 50 MB, evenly by their logarithms, in a mixed order (37 and 200 are
  // coprime).
  constexpr int64_t kRecords = 200;
  const auto size = [](int64_t record) {
    const double share = static_cast<double>(record * 37 % kRecords) / (kRecords - 1);
    return std::llround(1e3 * std::pow(50e3, share));
  };
  std::vector<Field> fields = {Field{"data", ir::Shape{ir::DType::kU8, {data::kAny}}}};
  Dataset dataset = Dataset::FromFunction(
                        fields, kRecords,
                        [size](int64_t record, Block& out, int64_t row) {
                          const int64_t dims[] = {size(record)};
                          std::memset(out.SetCell(0, row, dims), static_cast<int>(record),
                                      static_cast<size_t>(dims[0]));
                        },
                        "mixed")
                        .Shuffle(1)
                        .WithOptions({.memory_budget = budget_mib << 20})
                        .Prefetch();
  data::Iterator iterator = dataset.MakeIterator();
  int64_t bytes = 0;
  int64_t most = 0;
  const auto begin = Clock::now();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    while (const data::Element* element = iterator.Next()) {
      const auto data = element->Values<uint8_t>("data");
      bytes += static_cast<int64_t>(data.size());
      most = std::max(most, Resident()["VmRSS"].get<int64_t>());
    }
    const data::EngineStats stats = iterator.stats();
    json line = Resident();
    line["epoch"] = epoch + 1;
    line["most_resident_mib"] = most;
    line["engine_most_mib"] = stats.most_bytes >> 20;
    line["engine_budget_mib"] = stats.budget >> 20;
    line["gb_per_second"] = static_cast<double>(bytes) / 1e9 / Seconds(begin);
    Say(line);
  }
}

int Main(int argc, char** argv) {
  CLI::App app("Our side of bench/data/run; see the top of bench/data/flatout_data_bench.cc");
  app.require_subcommand(1);
  std::string folder, name, workers = "auto", depth = "auto", only;
  double seconds = 2, step_ms = 5;
  int rounds = 5, epochs = 20;
  int64_t budget = 256;
  CLI::App* serve = app.add_subcommand("serve", "answer the driver");
  serve->add_option("--pipeline", name)->required();
  serve->add_option("--workers", workers);
  serve->add_option("--depth", depth);
  CLI::App* grid = app.add_subcommand("grid", "the tuned engine beside a grid of settings");
  grid->add_option("--rounds", rounds);
  CLI::App* device = app.add_subcommand("device", "a pretended device's busy share");
  device->add_option("--step-ms", step_ms);
  for (CLI::App* command : {serve, grid, device}) command->add_option("--data", folder)->required();
  for (CLI::App* command : {grid, device}) {
    command->add_option("--only", only, "one pipeline");
    command->add_option("--seconds", seconds);
  }
  CLI::App* memory = app.add_subcommand("memory", "resident memory over many epochs");
  memory->add_option("--epochs", epochs);
  memory->add_option("--budget-mib", budget);
  CLI11_PARSE(app, argc, argv);
  const auto number = [](const std::string& text) { return text == "auto" ? 0 : std::stoi(text); };
  if (*serve) Serve(Find(name), folder, {number(workers), number(depth)});
  if (*grid) Grid(folder, only, seconds, rounds);
  if (*device) Device(folder, only, step_ms, seconds);
  if (*memory) Memory(epochs, budget);
  return 0;
}

}  // namespace
}  // namespace flatout

int main(int argc, char** argv) {
  try {
    return flatout::Main(argc, argv);
  } catch (const flatout::Error& error) {
    std::cerr << "flatout_data_bench: " << error.what() << "\n";
    return error.exit_code();
  }
}
