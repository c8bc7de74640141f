// A small training run with everything that a run remembers, for tests that interrupt it and hold
// what comes of it against the run that was left alone.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "flatout/base/file.h"
#include "flatout/checkpoint/compare.h"
#include "flatout/checkpoint/store.h"
#include "flatout/checkpoint/testing.h"
#include "tests/command.h"
#include "tests/summary.h"

namespace flatout::testing {

// Long enough for a kill to find it in any phase: 12 epochs with a validation after each, a
// snapshot every few steps, everything that a run remembers.
inline constexpr const char* kRunFile = R"(
[model]
builtin = "mlp"
units = 32
dropout = 0.2
[data]
source = "csv"
files = "train.csv"
validation_split = 40
columns = {x = {from = ["a", "b", "c", "d"], dtype = "f32"}, y = {dtype = "i32", bound = 3}}
[train]
epochs = 12
global_batch = 16
steps_per_launch = 2
metrics = ["accuracy"]
early_stopping = {monitor = "loss", patience = 50, restore_best_weights = true}
reduce_lr_on_plateau = {monitor = "val_loss", patience = 3, factor = 0.7}
[optimizer]
class = "Adam"
learning_rate = 0.003
use_ema = true
[checkpoint]
every_steps = 9
keep_last = 3
[watch]
ceiling = false
progress = "none"
)";

inline std::string Table(int64_t rows) {
  std::mt19937_64 random(5);
  std::string text = "a,b,c,d,y\n";
  for (int64_t i = 0; i < rows; ++i) {
    const uint64_t label = random() % 3;
    for (uint64_t k = 0; k < 4; ++k) {
      text +=
          fmt::format("{},", static_cast<double>(random() % 1000) / 1000 + (k == label ? 1 : 0));
    }
    text += fmt::format("{}\n", label);
  }
  return text;
}

class SmallRun : public ::testing::Test {
 protected:
  SmallRun() {
    setenv("FLATOUT_CACHE", scratch_.File("cache").c_str(), 1);
    setenv("FLATOUT_DEPS", FLATOUT_DEPS_FOLDER, 0);
    std::filesystem::create_directory(work_);
    AtomicWriteFile(Path("run.toml"), kRunFile);
    AtomicWriteFile(Path("train.csv"), Table(360));
  }
  std::filesystem::path Path(const std::string& name) const { return work_ / name; }
  Process Start(std::vector<std::string> arguments) const { return {work_, std::move(arguments)}; }
  Outcome Run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) const {
    return RunFlatout(work_, std::move(arguments), std::move(environment));
  }
  // The environment in which the disk below a folder fails (tests/faults/disk_faults.cc).
  std::vector<std::string> Faults(const std::string& folder,
                                  const std::vector<std::string>& plan) const {
    std::vector<std::string> environment = {
        "LD_PRELOAD=" DISK_FAULTS,
        "FLATOUT_FAULT_FOLDER=" + canonical(work_).string() + "/" + folder,
        // The address sanitizer wants to be the first of all libraries.
        "ASAN_OPTIONS=verify_asan_link_order=0"};
    for (const std::string& part : plan) environment.push_back("FLATOUT_FAULT" + part);
    return environment;
  }
  std::vector<std::string> Train(const std::string& folder) const {
    return {"train", "run.toml", "--run-dir", folder};
  }
  checkpoint::Store StoreOf(const std::string& folder) const {
    return checkpoint::Store((Path(folder) / "checkpoints").string());
  }
  nlohmann::json Summary(const std::string& folder) const {
    return ReadSummary(Path(folder));
  }
  // Every file and figure that a user keeps.
  void ExpectSame(const std::string& a, const std::string& b) const {
    for (const char* file : {"weights.safetensors", "best.safetensors"}) {
      EXPECT_EQ(ReadAll(Path(a) / file), ReadAll(Path(b) / file)) << file;
    }
    EXPECT_EQ(Summary(a)["metrics"], Summary(b)["metrics"]);
    EXPECT_EQ(Summary(a)["steps"], Summary(b)["steps"]);
    EXPECT_EQ(Summary(a)["samples"], Summary(b)["samples"]);
    EXPECT_EQ(Epochs(a), Epochs(b));
    const checkpoint::Newest first = StoreOf(a).LoadNewest(), second = StoreOf(b).LoadNewest();
    for (const auto& [name, group] : first.snapshot->groups) {
      for (const auto& tensor : checkpoint::Compare(group, second.snapshot->Group(name))) {
        EXPECT_EQ(tensor.kind, checkpoint::TensorDifference::Kind::kSame) << tensor.name;
      }
    }
  }
  // The epochs of metrics.jsonl without their times.
  std::vector<std::string> Epochs(const std::string& folder) const {
    std::vector<std::string> lines;
    std::istringstream file(ReadAll(Path(folder) / "metrics.jsonl"));
    for (std::string line; std::getline(file, line);) {
      nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!json.is_object() || json["event"] != "epoch") continue;
      json.erase("seconds");
      lines.push_back(json.dump());
    }
    return lines;
  }

  const checkpoint::ScratchFolder scratch_{"crash"};
  const std::filesystem::path work_ = scratch_.File("work");
};

}  // namespace flatout::testing
