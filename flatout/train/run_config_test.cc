#include "flatout/train/run_config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <functional>

#include "flatout/base/error.h"

namespace flatout::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string MessageOf(const std::function<void()>& body) {
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

RunConfig Options(const std::string& train, const std::string& rest = "") {
  return ReadRunConfig(Config::ParseToml("[model]\nbuiltin = \"mlp\"\n" + rest + "\n[train]\n" +
                                             train + "\n[data]\nsource = \"arrays\"\n",
                                         "run.toml"),
                       "run");
}

TEST(RunConfigTest, ValuesOutOfRangeHaveTheirPlace) {
  const auto message = [](const std::string& train, const std::string& rest = "") {
    return MessageOf([&] { Options(train, rest); });
  };
  EXPECT_THAT(message("epochs = 0"), AllOf(HasSubstr("run.toml:5"), HasSubstr("at least 1")));
  EXPECT_THAT(message("global_batch = -8"), AllOf(HasSubstr("run.toml:5"), HasSubstr("found -8")));
  EXPECT_THAT(message("max_steps = 0"), HasSubstr("at least 1"));
  EXPECT_THAT(message("devices = 0"), HasSubstr("\"all\""));
  EXPECT_THAT(message("memory = \"10Gb\""),
              AllOf(HasSubstr("train.memory: "), HasSubstr("no unit")));
  EXPECT_THAT(message("memory = 1.5"), HasSubstr("at most 1"));
  EXPECT_THAT(message("devices = \"al\""), HasSubstr("\"all\""));
  EXPECT_THAT(message("devices = 1.5"), HasSubstr("1.5"));
  EXPECT_THAT(message("devices = [1]"), HasSubstr("run.toml:5"));
  EXPECT_THAT(message("steps_per_launch = 0"), HasSubstr("\"auto\""));
  EXPECT_THAT(message("precision = \"float8\""), HasSubstr("float8"));
  EXPECT_THAT(message("micro_batch = 0"), AllOf(HasSubstr("run.toml:5"), HasSubstr("1 to")));
  EXPECT_THAT(message("micro_batch = -4"), HasSubstr("the integer -4"));
  EXPECT_THAT(message("micro_batch = 33"), HasSubstr("train.global_batch = 32"));
  EXPECT_THAT(message("micro_batch = 1.5"), HasSubstr("\"auto\""));
  EXPECT_THAT(message("micro_batch = \"atuo\""), HasSubstr("atuo"));
  EXPECT_THAT(message("loss_blocks = 0"), AllOf(HasSubstr("run.toml:5"), HasSubstr("from 1"),
                                                HasSubstr("found the integer 0")));
  EXPECT_THAT(message("loss_blocks = \"atuo\""), HasSubstr("atuo"));
  EXPECT_THAT(message("recompute = \"block\""),
              AllOf(HasSubstr("run.toml:5"), HasSubstr("did you mean \"blocks\"?")));
  EXPECT_THAT(message("loss_scale = \"dinamic\""),
              AllOf(HasSubstr("run.toml:5"), HasSubstr("did you mean \"dynamic\"?")));
  EXPECT_THAT(message("loss_scale = 0"), HasSubstr("run.toml:5"));
  EXPECT_THAT(message("loss_scale = -2.5"), HasSubstr("run.toml:5"));
  EXPECT_THAT(message("loss_scale = inf"), HasSubstr("run.toml:5"));
  EXPECT_THAT(message("loss_scale = {initial = 1024, growth_stepz = 5}"),
              HasSubstr("did you mean \"growth_steps\"?"));
  EXPECT_THAT(message("loss_scale = true"), HasSubstr("true"));
  EXPECT_THAT(message("check_finite = 1"), HasSubstr("run.toml:5"));
  EXPECT_THAT(message("precision = \"mixed_float_16\""),
              AllOf(HasSubstr("run.toml:5"), HasSubstr("did you mean \"mixed_float16\"?")));
  EXPECT_THAT(message("epoch = 3"), HasSubstr("did you mean \"epochs\"?"));
  EXPECT_THAT(message("epochs = \"3\""), HasSubstr("expected an integer"));
  EXPECT_THAT(message("early_stopping = {patience = -1}"), HasSubstr("patience"));
  EXPECT_THAT(message("early_stopping = {mode = \"up\"}"), HasSubstr("\"up\""));
  EXPECT_THAT(message("reduce_lr_on_plateau = {factor = 1.5}"), HasSubstr("factor"));
  EXPECT_THAT(message("", "[checkpoint]\nevery_steps = -1"), HasSubstr("every_steps"));
  EXPECT_THAT(message("", "[watch]\nlog_seconds = 0"), HasSubstr("log_seconds"));
  EXPECT_THAT(message("", "[watch]\nprogress = \"fancy\""), HasSubstr("\"fancy\""));
  for (const char* none : {"-1", "inf", "nan", "1e300"}) {
    for (const char* key : {"log_seconds", "sample_seconds"}) {
      EXPECT_THAT(message("", fmt::format("[watch]\n{} = {}", key, none)),
                  AllOf(HasSubstr(key), HasSubstr("must be a number of seconds")));
    }
  }
  EXPECT_THAT(message("", "[watch]\nsample_seconds = 1e-9"), HasSubstr("from 0.001 to"));
  for (const char* images : {"0", "-1", "100000000", "9000000000000000000"}) {
    EXPECT_THAT(message("", fmt::format("[watch.tensorboard]\nimages = {}", images)),
                HasSubstr("images: must be a number of rows from 1 to 256"));
  }
  EXPECT_THAT(message("", "[watch]\nhttp = 8090"), HasSubstr("write watch.http.port = 8090"));
  EXPECT_THAT(message("", "[cost]\nprice_per_hour = 1e308"), HasSubstr("from 0 to 1,000,000,000"));
  const auto instead = [](const std::string& line) {
    return MessageOf([&] {
      ReadRunConfig(Config::ParseToml(line + "\n[model]\nbuiltin = \"mlp\"\n", "run.toml"), "run");
    });
  };
  EXPECT_THAT(instead("cost = 2.5"), HasSubstr("found the number 2.5; write cost.price_per_hour"));
  EXPECT_THAT(instead("checkpoint = true"), HasSubstr("[checkpoint] on a line of its own"));
  EXPECT_THAT(message("", "[wach]\nprogress = \"bar\""), HasSubstr("did you mean \"watch\"?"));
}

TEST(RunConfigTest, DefaultsAreThoseOfTheOptions) {
  const RunConfig config = Options("");
  EXPECT_EQ(config.train.epochs, 1);
  EXPECT_EQ(config.train.global_batch, 32);
  EXPECT_EQ(config.train.device, "cpu");
  EXPECT_EQ(config.train.precision, "float32");
  EXPECT_EQ(config.train.seed, 0u);
  EXPECT_EQ(config.train.micro_batch.AsString(), "auto");
  EXPECT_EQ(config.train.loss_blocks.AsString(), "auto");
  EXPECT_EQ(config.train.loss_scale.AsString(), "auto");
  EXPECT_EQ(config.train.recompute.AsString(), "auto");
  EXPECT_EQ(config.train.memory.AsString(), "all");
  EXPECT_FALSE(config.train.check_finite);
  EXPECT_FALSE(config.train.max_steps.has_value());
  EXPECT_TRUE(config.train.evaluate_test);
  EXPECT_TRUE(config.pipeline.shuffle);
  EXPECT_EQ(config.checkpoint.every_steps, 0);
  EXPECT_EQ(config.watch.progress, "auto");
  EXPECT_EQ(config.name, "run");
}

TEST(RunConfigTest, EveryKeyIsRead) {
  const RunConfig config = Options(
      "epochs = 3\nmax_steps = 7\nglobal_batch = 64\ndevice = \"cuda\"\ndevices = \"all\"\nseed = "
      "9\nprecision = \"mixed_bfloat16\"\nsteps_per_launch = 5\nmetrics = [\"accuracy\"]\n"
      "evaluate_every = 2\nevaluate_test = false\n"
      "early_stopping = {monitor = \"val_accuracy\", patience = 4, baseline = 0.5}\n"
      "reduce_lr_on_plateau = {factor = 0.3, min_lr = 0.01}",
      "[checkpoint]\nevery_steps = 11\n[watch]\nlog_seconds = 2.5\nprogress = \"plain\"\n"
      "ceiling = false\n[optimizer]\nclass = \"SGD\"");
  EXPECT_EQ(config.train.epochs, 3);
  EXPECT_EQ(config.train.max_steps, 7);
  EXPECT_EQ(config.train.global_batch, 64);
  EXPECT_EQ(config.train.device, "cuda");
  EXPECT_EQ(config.train.devices.AsString(), "all");
  EXPECT_EQ(config.train.seed, 9u);
  EXPECT_EQ(config.train.precision, "mixed_bfloat16");
  EXPECT_EQ(config.train.steps_per_launch.AsInt(), 5);
  ASSERT_EQ(config.train.metrics.size(), 1u);
  EXPECT_EQ(config.train.evaluate_every, 2);
  EXPECT_FALSE(config.train.evaluate_test);
  EXPECT_EQ(config.train.early_stopping->monitor, "val_accuracy");
  EXPECT_EQ(config.train.early_stopping->patience, 4);
  EXPECT_EQ(config.train.early_stopping->baseline, 0.5);
  EXPECT_EQ(config.train.reduce_lr_on_plateau->factor, 0.3);
  EXPECT_EQ(config.train.reduce_lr_on_plateau->min_lr, 0.01);
  EXPECT_EQ(config.checkpoint.every_steps, 11);
  EXPECT_EQ(config.watch.log_seconds, 2.5);
  EXPECT_EQ(config.watch.progress, "plain");
  EXPECT_FALSE(config.watch.ceiling);
  EXPECT_EQ(config.optimizer.Find("class")->AsString(), "SGD");
}

// The run files that people start from, and later assignments winning over earlier ones.
TEST(RunConfigTest, TheExamplesAreRead) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(FLATOUT_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".toml") continue;
    SCOPED_TRACE(entry.path());
    const RunConfig config =
        LoadRunConfig(entry.path().string(), {"train.epochs=7", "train.epochs=9", "train.seed=3"});
    EXPECT_EQ(config.train.epochs, 9);
    EXPECT_EQ(config.train.seed, 3u);
    EXPECT_EQ(config.name, entry.path().stem());
    // What the run folder keeps is the same run.
    const RunConfig again =
        ReadRunConfig(Config::ParseToml(config.tree.ToToml(), "again"), "again");
    EXPECT_EQ(again.tree, config.tree);
    EXPECT_EQ(again.train.epochs, 9);
    ++count;
  }
  EXPECT_GE(count, 3);
}

TEST(RunConfigTest, MissingTablesAreNamed) {
  const auto message = [](const std::string& text) {
    return MessageOf([&] { ReadRunConfig(Config::ParseToml(text, "run.toml"), "run"); });
  };
  EXPECT_THAT(message("[model]\nbuiltin = \"mlp\""), HasSubstr("[data]"));
  EXPECT_THAT(message("[data]\nsource = \"idx\""), HasSubstr("[model]"));
  EXPECT_THAT(message("model = 3\n[data]\nsource = \"idx\""), HasSubstr("[model]"));
  EXPECT_THAT(message("train = 3\n[model]\nbuiltin = \"mlp\"\n[data]\nsource = \"idx\""),
              AllOf(HasSubstr("run.toml:1:"), HasSubstr("[train]"), HasSubstr("the integer 3")));
}

TEST(RunConfigTest, SplitsThatAreNotDefinedAreAbsent) {
  const Sources sources = OpenSources(Config::ParseToml(
      "source = \"clicks\"\nrecords = 50\nvalidation_records = 0\ntest_records = 20", "data"));
  ASSERT_NE(sources.train, nullptr);
  EXPECT_EQ(sources.train->size(), 50);
  EXPECT_EQ(sources.validation, nullptr);
}

}  // namespace
}  // namespace flatout::train
