// flatout data bench: how fast the input pipeline is, alone and ahead of a device.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "flatout/base/cgroup.h"
#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/process.h"
#include "flatout/base/text.h"
#include "flatout/cli/data.h"
#include "flatout/cli/signals.h"
#include "flatout/data/dataset.h"
#include "flatout/data/keep_fields.h"
#include "flatout/data/prefetch.h"

namespace flatout::cli {
namespace {

struct Options {
  DataArguments data;
  std::string split = "train";
  double seconds = 5;
  double step_ms = 5;
  std::optional<int64_t> batch;
  int64_t steps_per_launch = 1;
  bool json = false;
};

// One timed pass.
struct Measured {
  double seconds = 0;
  int64_t steps = 0, records = 0, bad = 0;
  double wait = 0;  // of the consumer
  double busy = 0;  // of the pretended device
  double cpu = 0;   // seconds of processor, all threads
  data::EngineStats stats;
  int64_t resident = 0;

  double records_per_second() const { return static_cast<double>(records) / seconds; }
  int64_t bytes() const {
    int64_t sum = 0;
    for (const auto& [name, time] : stats.stages) sum += time.bytes;
    return sum;
  }
};

class Bench {
 public:
  Bench(const DataInput& input, const Options& options) : input_(input), options_(options) {
    source_ = data::OpenSource(input.table(), options.split, input.seed);
    if (source_ == nullptr) {
      throw Invalid("{}: [data] defines no {} split", input.origin, options.split);
    }
    description_ = source_->description();
    // As training does: batches are made of what has one size for all records.
    std::vector<std::string> fixed;
    for (const data::Field& field : source_->fields()) {
      if (field.fixed()) fixed.push_back(field.name);
    }
    if (fixed.empty()) {
      throw Invalid(
          "{}: no field has one size for all records, as batches need; bring some to one with "
          "data.transforms (decode_image, resize, pad_or_truncate, lookup, ...)",
          source_->description());
    }
    if (fixed.size() < source_->fields().size()) source_ = data::KeepFields(source_, fixed);
    const data::PipelineOptions& pipeline = input.pipeline;
    if (pipeline.shuffle && options.split == "train") {
      const data::Dataset all = data::Dataset::FromSource(source_);
      source_ =
          (pipeline.shuffle_window > 0 ? all.ShuffleWindow(input.seed, pipeline.shuffle_window)
                                       : all.Shuffle(input.seed))
              .source();
    }
    batch_ = options.batch.value_or(input.global_batch);
  }

  const std::string& description() const { return description_; }
  int64_t batch() const { return batch_; }

  // `step_seconds` 0: takes launches as fast as they come.
  Measured Run(double step_seconds, const std::string& label) {
    data::BadRecords bad(input_.pipeline.max_bad_records);
    data::LaunchReader reader(
        source_, {.steps_per_launch = options_.steps_per_launch, .replicas = 1, .rows = batch_});
    const data::IteratorState start = reader.Start();
    data::PrefetchOptions options;
    options.depth = input_.pipeline.prefetch_depth();
    options.bytes = input_.pipeline.prefetch_bytes();
    options.workers = input_.pipeline.worker_threads();
    options.bad = &bad;
    data::Prefetcher prefetcher(std::move(reader), start, options);
    ProgressLine line;
    Measured measured;
    const StopRequest* stop = StopOnSignals();
    const double cpu_before = ProcessCpuSeconds();
    // The first launch is waited for outside the measurement: a run compiles meanwhile.
    std::optional<data::Prefetcher::Item> item = prefetcher.Next();
    const data::EngineStats before = prefetcher.stats();
    const double begin = SteadySeconds();
    double device_free = begin, now = begin;
    while (item && now - begin < options_.seconds && !stop->asked) {
      measured.steps += item->plan.steps;
      measured.records += item->plan.rows - item->bad_rows;
      if (step_seconds > 0) {
        // The device begins when it is free and the input is there, and the next launch may be
        // handed to it while it works, as in training.
        const double starts = std::max(now, device_free);
        const double takes = step_seconds * static_cast<double>(item->plan.steps);
        device_free = starts + takes;
        measured.busy += takes;
        std::this_thread::sleep_for(std::chrono::duration<double>(starts - now));
      }
      item = prefetcher.Next();
      now = SteadySeconds();
      line.Show(
          label, (now - begin) / options_.seconds,
          fmt::format("{} records/s", HumanCount(static_cast<int64_t>(
                                          static_cast<double>(measured.records) / (now - begin)))));
    }
    now = std::max(now, device_free);
    measured.seconds = std::max(now - begin, 1e-9);
    measured.cpu = ProcessCpuSeconds() - cpu_before;
    measured.stats = prefetcher.stats();
    measured.wait = measured.stats.wait - before.wait;
    measured.bad = bad.count();
    measured.resident = PeakResidentBytes();
    return measured;
  }

 private:
  const DataInput& input_;
  const Options& options_;
  data::SourcePtr source_;
  std::string description_;
  int64_t batch_ = 0;
};

std::vector<std::pair<std::string, data::StageTime>> Stages(const data::EngineStats& stats) {
  std::vector<std::pair<std::string, data::StageTime>> stages(stats.stages.begin(),
                                                              stats.stages.end());
  std::sort(stages.begin(), stages.end(),
            [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  return stages;
}

void PrintStages(const Measured& measured) {
  double all = 0;
  for (const auto& [name, time] : measured.stats.stages) all += time.seconds;
  if (all <= 0) return;
  std::printf("  %-24s  %7s  %14s  %12s\n", "stage", "share", "one thread", "from files");
  for (const auto& [name, time] : Stages(measured.stats)) {
    const std::string rate =
        time.seconds > 0 && time.records > 0
            ? fmt::format("{}/s", HumanCount(static_cast<int64_t>(
                                      static_cast<double>(time.records) / time.seconds)))
            : "";
    std::printf("  %-24s  %5.1f %%  %14s  %12s\n", name.c_str(), 100 * time.seconds / all,
                rate.c_str(),
                time.bytes > 0 ? Throughput(time.bytes, measured.seconds).c_str() : "");
  }
}

void PrintEngine(const Measured& measured, const DataInput& input) {
  const data::EngineStats& stats = measured.stats;
  std::printf(
      "  %d thread%s%s, up to %d launches ahead%s (%s of %s), %.0f %% of them ready on "
      "average; %.1f cores busy\n",
      stats.workers, stats.workers == 1 ? "" : "s",
      input.pipeline.worker_threads() == 0 ? " (tuned)" : "", stats.depth,
      input.pipeline.prefetch_depth() == 0 ? " (tuned)" : "", HumanBytes(stats.most_bytes).c_str(),
      HumanBytes(stats.budget).c_str(), 100 * stats.fill, measured.cpu / measured.seconds);
  for (const std::string& decision : stats.decisions) std::printf("    %s\n", decision.c_str());
}

nlohmann::ordered_json MeasuredJson(const Measured& measured) {
  nlohmann::ordered_json json;
  json["seconds"] = measured.seconds;
  json["steps"] = measured.steps;
  json["records"] = measured.records;
  json["bad"] = measured.bad;
  json["records_per_second"] = measured.records_per_second();
  json["bytes_per_second"] = static_cast<double>(measured.bytes()) / measured.seconds;
  json["wait_seconds"] = measured.wait;
  json["cpu_seconds"] = measured.cpu;
  json["peak_resident_bytes"] = measured.resident;
  const data::EngineStats& stats = measured.stats;
  json["workers"] = stats.workers;
  json["prefetch"] = stats.depth;
  json["fill"] = stats.fill;
  json["waiting_bytes"] = stats.most_bytes;
  json["budget"] = stats.budget;
  for (const auto& [name, time] : Stages(stats)) {
    json["stages"][name] = {
        {"seconds", time.seconds}, {"records", time.records}, {"bytes", time.bytes}};
  }
  json["decisions"] = stats.decisions;
  return json;
}

int BenchCommand(const Options& options) {
  if (!(options.seconds > 0 && options.seconds <= 3600)) {
    throw Invalid("--seconds must be above 0 and at most 3600, found {}", options.seconds);
  }
  if (!(options.step_ms >= 0 && options.step_ms <= 60000)) {
    throw Invalid("--step-ms must be from 0 (no device) to 60000, found {}", options.step_ms);
  }
  if (options.batch && *options.batch < 1) {
    throw Invalid("--batch must be at least 1, found {}", *options.batch);
  }
  if (options.steps_per_launch < 1) {
    throw Invalid("--steps-per-launch must be at least 1, found {}", options.steps_per_launch);
  }
  const DataInput input = FindDataInput(options.data);
  Bench bench(input, options);
  if (!options.json) {
    std::printf("%s\nbatches of %s, %lld step%s a launch; %s\n", bench.description().c_str(),
                HumanCount(bench.batch()).c_str(), static_cast<long long>(options.steps_per_launch),
                options.steps_per_launch == 1 ? "" : "s", ReadCgroup().cpu.ToString().c_str());
    std::fflush(stdout);
  }
  const Measured alone = bench.Run(0, "alone");
  nlohmann::ordered_json json;
  if (options.json) {
    json["data"] = input.origin;
    json["batch"] = bench.batch();
    json["steps_per_launch"] = options.steps_per_launch;
    json["alone"] = MeasuredJson(alone);
  } else {
    std::printf(
        "alone: %s records/s, %.1f batches/s%s\n",
        HumanCount(static_cast<int64_t>(alone.records_per_second())).c_str(),
        static_cast<double>(alone.steps) / alone.seconds,
        alone.bytes() > 0
            ? fmt::format(", {} from files", Throughput(alone.bytes(), alone.seconds)).c_str()
            : "");
    PrintEngine(alone, input);
    PrintStages(alone);
    std::fflush(stdout);
  }
  if (options.step_ms > 0 && !StopOnSignals()->asked) {
    const Measured device = bench.Run(options.step_ms / 1000, "device");
    const double busy = device.busy / device.seconds;
    if (options.json) {
      json["device"] = MeasuredJson(device);
      json["device"]["step_ms"] = options.step_ms;
      json["device"]["busy"] = busy;
    } else {
      std::printf("with a device that takes %g ms for a step: %.1f %% busy, %s records/s\n",
                  options.step_ms, 100 * busy,
                  HumanCount(static_cast<int64_t>(device.records_per_second())).c_str());
      PrintEngine(device, input);
      const double needed = 1000.0 / options.step_ms;
      const double made = static_cast<double>(alone.steps) / alone.seconds;
      std::printf(made >= needed
                      ? "the pipeline is %.1f times as fast as that device\n"
                      : "the pipeline is the limit: it makes only %.2f of what that device takes\n",
                  made / needed);
    }
  }
  if (options.json) {
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else if (alone.bad > 0) {
    std::printf("%s bad records were left out\n", HumanCount(alone.bad).c_str());
  }
  return kExitDone;
}

}  // namespace

void AddDataBench(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "bench", "Time the input pipeline, alone and ahead of a device that only pretends to work");
  auto options = std::make_shared<Options>();
  AddDataArguments(command, options->data);
  command->add_option("--split", options->split, "train, validation or test")
      ->capture_default_str()
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command->add_option("--seconds", options->seconds, "For each of the two measurements")
      ->capture_default_str();
  command
      ->add_option("--step-ms", options->step_ms,
                   "Time that the device takes for a step; 0: only the pipeline alone")
      ->capture_default_str();
  command->add_option("--batch", options->batch,
                      "Records of a step (default: train.global_batch, else 32)");
  command->add_option("--steps-per-launch", options->steps_per_launch, "Steps made at once")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Examples:\n"
      "  flatout data bench examples/fashion_mnist/cnn.toml\n"
      "  flatout data bench run.toml --step-ms 12 --seconds 10\n"
      "  flatout data bench run.toml --set data.workers=4 --set data.prefetch=8 --json");
  command->callback([options, run] { *run = [options] { return BenchCommand(*options); }; });
}

}  // namespace flatout::cli
