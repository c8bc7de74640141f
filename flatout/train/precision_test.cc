// Precision policies in training: the loss scale and its skipped steps, 16-bit variables in files,
// and the first value that is not finite.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/nn/layers.h"
#include "flatout/train/testing.h"
#include "flatout/train/trainer.h"

namespace flatout::train {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing;  // NOLINT: flatout/train/testing.h

struct Messages : Observer {
  void OnMessage(const std::string& message) override { all += message + "\n"; }
  std::string all;
};

// Four points that no linear model can tell apart.
Rows Xor() {
  Rows rows;
  for (int i = 0; i < 64; ++i) {
    const float a = static_cast<float>(i & 1), b = static_cast<float>((i >> 1) & 1);
    rows.x.insert(rows.x.end(), {a, b, 0, 0});
    rows.y.push_back(static_cast<int32_t>(a != b));
  }
  return rows;
}

nn::Model Two() {
  return Chain({nn::Dense({.units = 16, .activation = "tanh"}), nn::Dense({.units = kClasses})});
}

TEST(PrecisionTest, XorIsLearnedInEveryPrecision) {
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16", "bfloat16", "float16"}) {
    SCOPED_TRACE(policy);
    const Trained trained =
        Train(Options(fmt::format("epochs = 60\nglobal_batch = 16\nmetrics = [\"accuracy\"]\n"
                                  "precision = \"{}\"",
                                  policy),
                      "[optimizer]\nclass = \"Adam\"\nlearning_rate = 0.02\n"),
              Two(), {.train = Source(Xor())});
    EXPECT_EQ(trained.result.steps, 240);
    for (float loss : trained.result.losses) ASSERT_TRUE(std::isfinite(loss));
    EXPECT_EQ(trained.result.last_epoch.at("accuracy"), 1);
    const bool half = std::string(policy).find("float16") != std::string::npos &&
                      std::string(policy).find("bfloat16") == std::string::npos;
    EXPECT_EQ(trained.result.summary.loss_scale.has_value(), half);
    EXPECT_EQ(trained.weights.metadata.contains("loss_scale"), half);
  }
}

// ---- the loss scale -----------------------------------------------------------------------------

const std::string kHalf = "precision = \"mixed_float16\"\n";

TEST(PrecisionTest, StepsThatOverflowAreSkippedShownAndNotCounted) {
  for (int64_t devices : {1, 2}) {
    for (const char* k : {"1", "7"}) {
      SCOPED_TRACE(fmt::format("{} steps per launch on {} devices", k, devices));
      // 2^40 is far beyond float16: it takes many halvings until gradients are finite.
      const RunConfig config =
          Options(kHalf +
                      "epochs = 9\nglobal_batch = 4\nmax_steps = 20\nloss_scale = {initial = "
                      "1099511627776}\nsteps_per_launch = " +
                      k,
                  kSgd + "[watch]\nlog_seconds = 0.0001\n");
      Trainer trainer(config, Two(), {.train = Source(40)}, Devices(devices));
      RunFolder folder(Fresh("skips"));
      Messages messages;
      const FitResult result = Fit(trainer, &folder, &messages);
      EXPECT_EQ(result.steps, 20);
      EXPECT_EQ(result.losses.size(), 20u);
      EXPECT_GT(result.skipped_steps, 5);
      EXPECT_LT(result.skipped_steps, 40);
      EXPECT_LE(result.samples, 80);
      EXPECT_THAT(messages.all, AllOf(HasSubstr("the gradients had overflowed at loss scale"),
                                      HasSubstr(fmt::format("({} so far)", result.skipped_steps))));
      const auto summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
      EXPECT_EQ(summary["steps"], 20);
      EXPECT_EQ(summary["skipped_steps"], result.skipped_steps);
      EXPECT_EQ(summary["loss_scale"].get<double>(),
                std::exp2(40 - static_cast<double>(result.skipped_steps)))
          << "each skip halves it";
      EXPECT_THAT(ReadFile(folder.File("metrics.jsonl")),
                  AllOf(HasSubstr(fmt::format("\"skipped_steps\":{}", result.skipped_steps)),
                        HasSubstr("\"loss_scale\":")));
      EXPECT_THAT(fmt::format("{}", fmt::join(result.verdict.lines, "\n")),
                  HasSubstr(fmt::format("{} of {} steps skipped", result.skipped_steps,
                                        20 + result.skipped_steps)));
      // What is kept says the same.
      const auto weights = checkpoint::LoadSafetensors(folder.File("weights.safetensors"));
      EXPECT_EQ(weights.metadata.at("loss_scale_skipped"), std::to_string(result.skipped_steps));
      EXPECT_EQ(weights.metadata.at("step"), "20");
    }
  }
}

TEST(PrecisionTest, TheLossScaleSurvivesSavingAndLoading) {
  const auto options = [](int64_t steps) {
    return Options(kHalf + fmt::format("epochs = 9\nglobal_batch = 8\nmax_steps = {}\n"
                                       "loss_scale = {{initial = 1024, growth_steps = 4}}",
                                       steps),
                   kSgd + "[data]\nsource = \"arrays\"\nshuffle = false\n");
  };
  const auto source = Source(40);
  Trainer first(options(6), Two(), {.train = source}, Devices(1));
  Fit(first);
  const checkpoint::TensorFile kept = first.Weights();
  EXPECT_EQ(kept.metadata.at("loss_scale"), "2048");
  EXPECT_EQ(kept.metadata.at("loss_scale_good_steps"), "2");
  EXPECT_EQ(kept.metadata.at("loss_scale_skipped"), "0");
  const std::string path = Fresh("kept.safetensors");
  checkpoint::SaveSafetensors(path, kept);

  Trainer second(options(2), Two(), {.train = source}, Devices(1));
  second.LoadWeights(checkpoint::LoadSafetensors(path), path);
  EXPECT_EQ(second.Weights().metadata, kept.metadata);
  Fit(second);
  EXPECT_EQ(second.Weights().metadata.at("loss_scale"), "4096") << "two more make four";

  // Without a loss scale, and with one that the run file fixes, the file's does not matter.
  Trainer plain(Options("global_batch = 8"), Two(), {.train = source}, Devices(1));
  plain.LoadWeights(kept, "kept");
  EXPECT_FALSE(plain.Weights().metadata.contains("loss_scale"));
  Trainer fixed(Options(kHalf + "global_batch = 8\nloss_scale = 16"), Two(), {.train = source},
                Devices(1));
  fixed.LoadWeights(kept, "kept");
  EXPECT_EQ(fixed.Weights().metadata.at("loss_scale"), "16");

  checkpoint::TensorFile damaged = kept;
  for (const char* scale : {"", "many", "0", "-1", "nan", "inf", "1e30", "1024 "}) {
    damaged.metadata["loss_scale"] = scale;
    try {
      second.LoadWeights(damaged, "damaged.safetensors");
      ADD_FAILURE() << "no error was thrown for \"" << scale << '"';
    } catch (const UserError& error) {
      EXPECT_EQ(error.exit_code(), kExitBadData);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("damaged.safetensors"), HasSubstr("loss_scale")));
    }
  }
}

TEST(PrecisionTest, AStaticScaleStaysAndItsOverflowsEndTheRunNamingTheLayer) {
  Trainer trainer(Options(kHalf + "global_batch = 8\nepochs = 2\nloss_scale = 64", kSgd), Two(),
                  {.train = Source(40)}, Devices(1));
  const FitResult result = Fit(trainer);
  EXPECT_EQ(result.summary.loss_scale, 64);
  EXPECT_EQ(result.skipped_steps, 0);

  const Failed failed =
      Fail(Options(kHalf + "global_batch = 8\nepochs = 99\nloss_scale = 1e12", kSgd), Two(),
           {.train = Source(40)});
  EXPECT_THAT(failed.message,
              AllOf(HasSubstr("steps in a row were skipped"), HasSubstr("loss scale 1e+12"),
                    HasSubstr("at step 1 "), HasSubstr("dense"), HasSubstr("weights.safetensors")));
  EXPECT_EQ(failed.summary["steps"], 0);
  EXPECT_GE(failed.summary["skipped_steps"].get<int64_t>(), 50);
}

// ---- 16-bit variables ---------------------------------------------------------------------------

TEST(PrecisionTest, Bfloat16VariablesGoThroughFilesEvaluationAndAverages) {
  const std::string options =
      "precision = \"bfloat16\"\nepochs = 2\nglobal_batch = 8\nmetrics = [\"accuracy\"]\n";
  const auto train_set = Source(80), validation = Source(40, 3);
  for (const char* optimizer : {"[optimizer]\nclass = \"Adam\"\nlearning_rate = 0.05\n",
                                "[optimizer]\nclass = \"SGD\"\nlearning_rate = 0.5\n"
                                "use_ema = true\n"}) {
    Trainer trainer(Options(options, optimizer), Two(),
                    {.train = train_set, .validation = validation}, Devices(1));
    RunFolder folder(Fresh("bf16"));
    Fit(trainer, &folder);
    const checkpoint::TensorFile weights = trainer.Weights();
    for (const checkpoint::HostTensor& tensor : weights.tensors) {
      EXPECT_EQ(tensor.shape.dtype, ir::DType::kBF16) << tensor.name;
    }
    const checkpoint::TensorFile last =
        checkpoint::LoadSafetensors(folder.File("weights.safetensors"));
    EXPECT_TRUE(SameBytes(last, weights));
    EXPECT_EQ(checkpoint::LoadSafetensors(folder.File("best.safetensors")).tensors[0].shape.dtype,
              ir::DType::kBF16);
    const Scores scores = trainer.Evaluate(validation);

    Trainer again(Options(options), Two(), {.validation = validation}, Devices(1));
    again.LoadWeights(last, "last");
    EXPECT_EQ(again.Evaluate(validation).loss, scores.loss);
    EXPECT_TRUE(SameBytes(again.Weights(), weights));
    EXPECT_EQ(again.Predict(validation, 5)[0].shape.dtype, ir::DType::kF32);

    // A run in float32 takes them too, exactly, and gives them back.
    Trainer wide(Options("global_batch = 8"), Two(), {.validation = validation}, Devices(1));
    wide.LoadWeights(last, "last");
    EXPECT_NEAR(wide.Evaluate(validation).loss, scores.loss, 0.05);
    again.LoadWeights(wide.Weights(), "wide");
    EXPECT_TRUE(SameBytes(again.Weights(), weights));
  }
}

// ---- check_finite -------------------------------------------------------------------------------

TEST(PrecisionTest, CheckFiniteChangesNothingWhereAllIsFinite) {
  const auto train = [](const std::string& more) {
    return Train(Options("epochs = 2\nglobal_batch = 8\n" + more), Mlp(), {.train = Source(50)});
  };
  const Trained plain = train(""), checked = train("check_finite = true");
  EXPECT_EQ(plain.result.losses, checked.result.losses);
  EXPECT_TRUE(SameBytes(plain.weights, checked.weights));
}

TEST(PrecisionTest, CheckFiniteNamesWhatTheLossDoesNotShow) {
  // float16 ends at 65504: the first layer overflows, and tanh makes ones of it.
  const auto model = [] {
    return Chain({nn::Dense({.units = 8, .kernel_initializer = nn::Initializer::Constant(3e4)}),
                  nn::Activation({.activation = "tanh"}), nn::Dense({.units = kClasses})});
  };
  Rows rows = MakeRows(40);
  for (int64_t i = 0; i < 17 * kFeatures; ++i) rows.x[i] = 0.01f;  // the first 17 are harmless
  for (int64_t i = 17 * kFeatures; i < 40 * kFeatures; ++i) rows.x[i] = 2;
  const std::string data = "[data]\nsource = \"arrays\"\nshuffle = false\n" + kSgd;
  const std::string options = "precision = \"mixed_float16\"\nglobal_batch = 4\nepochs = 1\n";
  for (int64_t devices : {1, 2}) {
    for (const char* micro : {"", "micro_batch = 1\n"}) {
      SCOPED_TRACE(fmt::format("{} devices {}", devices, micro));
      const Failed failed = Fail(Options(options + micro + "check_finite = true", data), model(),
                                 {.train = Source(rows)}, devices);
      EXPECT_THAT(failed.message,
                  AllOf(HasSubstr("not finite at step 5 "), HasSubstr("the output of layer dense"),
                        HasSubstr("weights.safetensors")));
      EXPECT_EQ(failed.summary["steps"], 4);
    }
  }
}

}  // namespace
}  // namespace flatout::train
