// Small data, models and runs. For tests only.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/data/arrays.h"
#include "flatout/nn/layers.h"
#include "flatout/train/trainer.h"

namespace flatout::train::testing {

inline constexpr int64_t kFeatures = 4, kClasses = 3;

// A folder for the whole program: compiled programs, run folders.
class Scratch : public ::testing::Environment {
 public:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "flatout-train-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    path = name;
    ASSERT_EQ(setenv("FLATOUT_CACHE", (path + "/cache").c_str(), 1), 0);
  }
  void TearDown() override { std::filesystem::remove_all(path); }
  static inline std::string path;
};
[[maybe_unused]] inline const auto* const scratch =
    ::testing::AddGlobalTestEnvironment(new Scratch);  // NOLINT: gtest owns it

// A name in the scratch folder that nobody has.
inline std::string Fresh(const std::string& name) {
  static int count = 0;
  return Scratch::path + "/" + name + std::to_string(count++);
}

// ---- data and models ----------------------------------------------------------------------------

struct Rows {
  std::vector<float> x;    // [n, kFeatures]
  std::vector<int32_t> y;  // [n]
};

// Points that lie near one of three corners; learnable, and every row different.
inline Rows MakeRows(int64_t n, uint64_t seed = 1) {
  Rows rows;
  uint64_t state = seed;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(state >> 40) / static_cast<float>(1 << 24);
  };
  for (int64_t i = 0; i < n; ++i) {
    const auto label = static_cast<int32_t>(next() * kClasses);
    rows.y.push_back(label);
    for (int64_t f = 0; f < kFeatures; ++f) {
      rows.x.push_back(next() - 0.5f + (f == label ? 1.0f : 0.0f));
    }
  }
  return rows;
}

inline data::SourcePtr Source(const Rows& rows) {
  return std::make_shared<data::ArraysSource>(
      "rows", std::vector<data::Array>{
                  data::MakeArray("x", ir::Shape(ir::DType::kF32, {kFeatures}), rows.x),
                  data::MakeArray("y", ir::Shape::Scalar(ir::DType::kI32), rows.y)});
}

inline data::SourcePtr Source(int64_t n, uint64_t seed = 1) { return Source(MakeRows(n, seed)); }

inline nn::Model Chain(std::vector<nn::LayerPtr> layers) {
  return nn::Model::Sequential(nn::Input({kFeatures}, ir::DType::kF32, "x"), std::move(layers));
}
// Softmax regression: small enough to be computed by hand.
inline nn::Model Linear(double l2 = 0) {
  return Chain({nn::Dense({.units = kClasses, .kernel_regularizer = {.l2 = l2}})});
}
inline nn::Model Mlp() {
  return Chain({nn::Dense({.units = 8, .activation = "relu"}), nn::Dropout({.rate = 0.25}),
                nn::Dense({.units = kClasses})});
}

inline RunConfig Options(const std::string& train, const std::string& rest = "") {
  return ReadRunConfig(
      Config::ParseToml(
          "[model]\nbuiltin = \"mlp\"\n" + rest + "\n[train]\n" + train +
              (rest.find("[data]") == std::string::npos ? "\n[data]\nsource = \"arrays\"\n" : "\n"),
          "run.toml"),
      "run");
}
inline const std::string kSgd = "[optimizer]\nclass = \"SGD\"\nlearning_rate = 0.5\n";

// Clients are dear: one for each number of devices.
inline std::shared_ptr<Runtime> Devices(int64_t count) {
  static std::map<int64_t, std::shared_ptr<Runtime>> runtimes;
  std::shared_ptr<Runtime>& runtime = runtimes[count];
  if (runtime == nullptr) {
    TrainOptions options;
    options.devices = Config(count);
    runtime = std::make_shared<Runtime>(options);
  }
  return runtime;
}

// What every run is held to: each of the ledger's parts counts, none is negative, together they are
// the wall time within 0.5 %, and the stages of a cause are no more than the cause.
inline void ExpectWhole(const watch::LedgerReport& ledger) {
  EXPECT_GT(ledger.wall, 0);
  EXPECT_NEAR(ledger.sum(), ledger.wall, 0.005 * ledger.wall);
  std::map<watch::Cause, double> stages;
  for (int i = 1; i < watch::kNumStages; ++i) {
    const auto stage = static_cast<watch::Stage>(i);
    EXPECT_GE(ledger.of(stage), 0) << watch::Name(stage);
    stages[watch::CauseOf(stage)] += ledger.of(stage);
  }
  for (int i = 0; i < watch::kNumCauses; ++i) {
    const auto cause = static_cast<watch::Cause>(i);
    EXPECT_GE(ledger.of(cause), -1e-9) << watch::Name(cause);
    EXPECT_LE(stages[cause], ledger.of(cause) + 1e-6) << watch::Name(cause);
  }
}
inline void ExpectWhole(const FitResult& result) { ExpectWhole(result.summary.ledger); }

// Trainer::Fit, held to that.
inline FitResult Fit(Trainer& trainer, RunFolder* folder = nullptr, Observer* observer = nullptr,
                     StopRequest* stop = nullptr) {
  FitResult result = trainer.Fit(folder, observer, stop);
  ExpectWhole(result);
  return result;
}

struct Trained {
  FitResult result;
  checkpoint::TensorFile weights;
};

inline Trained Train(const RunConfig& config, nn::Model model, Sources sources,
                     int64_t devices = 1) {
  Trainer trainer(config, std::move(model), std::move(sources), Devices(devices));
  Trained trained;
  trained.result = Fit(trainer);
  trained.weights = trainer.Weights();
  return trained;
}

inline bool SameBytes(const checkpoint::TensorFile& a, const checkpoint::TensorFile& b) {
  if (a.tensors.size() != b.tensors.size()) return false;
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    if (a.tensors[i].name != b.tensors[i].name || a.tensors[i].bytes != b.tensors[i].bytes) {
      return false;
    }
  }
  return true;
}

inline std::vector<float> Values(const checkpoint::HostTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

inline void ExpectNear(const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << "at " << i;
}

inline void ExpectNear(const checkpoint::TensorFile& a, const checkpoint::TensorFile& b,
                       double tolerance) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    SCOPED_TRACE(a.tensors[i].name);
    ExpectNear(Values(a.tensors[i]), Values(b.tensors[i]), tolerance);
  }
}

inline std::string MessageOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of error: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

struct Failed {
  std::string message;
  int exit_code = 0;
  checkpoint::TensorFile weights;
  nlohmann::json summary;
};
inline Failed Fail(const RunConfig& config, nn::Model model, Sources sources, int64_t devices = 1) {
  Failed failed;
  RunFolder folder(Fresh("failed"));
  Trainer trainer(config, std::move(model), std::move(sources), Devices(devices));
  try {
    Fit(trainer, &folder);
    ADD_FAILURE() << "no error was thrown";
  } catch (const UserError& error) {
    failed.message = error.what();
    failed.exit_code = error.exit_code();
  }
  failed.weights = checkpoint::LoadSafetensors(folder.File("weights.safetensors"));
  failed.summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  double seconds = 0;
  for (const auto& [cause, part] : failed.summary["ledger"].items()) {
    if (part.is_number()) seconds += part.get<double>();
  }
  const double wall = failed.summary["wall_seconds"];
  EXPECT_NEAR(seconds, wall, 0.005 * wall);
  return failed;
}

}  // namespace flatout::train::testing
