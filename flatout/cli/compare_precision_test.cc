#include "flatout/cli/compare_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "flatout/base/error.h"

namespace flatout::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

PolicyTiming Timing(const std::string& policy, ir::DType compute, std::vector<double> seconds,
                    int64_t memory) {
  PolicyTiming timing;
  timing.policy = policy;
  timing.compute = compute;
  timing.seconds_per_step = std::move(seconds);
  timing.memory = memory;
  timing.rows = timing.micro_rows = 64;
  timing.loss = 0.5;
  timing.steps = 40;
  return timing;
}

PrecisionSetting Gpu() {
  PrecisionSetting setting;
  setting.device = "1 x NVIDIA H100";
  setting.peaks = {
      {ir::DType::kF32, 495e12}, {ir::DType::kBF16, 990e12}, {ir::DType::kF16, 990e12}};
  setting.global_batch = 64;
  setting.rounds = 2;
  setting.launches = 2;
  setting.steps_per_launch = 10;
  setting.current = "float32";
  return setting;
}

constexpr auto kF32 = ir::DType::kF32, kBF16 = ir::DType::kBF16, kF16 = ir::DType::kF16;

TEST(PolicyTimingTest, MedianAndSpread) {
  const PolicyTiming timing = Timing("float32", kF32, {4, 1, 2, 3, 5}, 1);
  EXPECT_DOUBLE_EQ(timing.median(), 3);
  EXPECT_DOUBLE_EQ(timing.spread(), 1.0 / 3);
}

TEST(PrecisionReportTest, FasterPolicyIsRecommendedWithItsReason) {
  const std::string report = PrecisionReport(
      Gpu(), {Timing("float32", kF32, {0.020, 0.020, 0.020, 0.021}, 2000 << 20),
              Timing("mixed_bfloat16", kBF16, {0.010, 0.010, 0.010, 0.010}, 1000 << 20)});
  EXPECT_THAT(report, HasSubstr("mixed_bfloat16 is 2.0 times as fast as float32, with 50 % less "
                                "memory: this card multiplies bf16 2 times as fast as float32. "
                                "Write train.precision = \"mixed_bfloat16\" into the run file."));
  EXPECT_THAT(report, AllOf(HasSubstr("10.000"), HasSubstr("6,400"), HasSubstr("2.00x"),
                            HasSubstr("0.5 after 40 steps"), HasSubstr("1 x NVIDIA H100")));
}

TEST(PrecisionReportTest, BfloatWinsWhereFloat16IsNotReallyFaster) {
  const std::string report = PrecisionReport(
      Gpu(), {Timing("float32", kF32, {0.020}, 100), Timing("mixed_bfloat16", kBF16, {0.0101}, 60),
              Timing("mixed_float16", kF16, {0.0100}, 60)});
  EXPECT_THAT(report, HasSubstr("Write train.precision = \"mixed_bfloat16\""));
}

TEST(PrecisionReportTest, WeightsOf16BitsMustGainMore) {
  std::vector<PolicyTiming> timings = {Timing("float32", kF32, {0.020}, 100),
                                       Timing("mixed_bfloat16", kBF16, {0.0100}, 60),
                                       Timing("bfloat16", kBF16, {0.0095}, 50)};
  EXPECT_THAT(PrecisionReport(Gpu(), timings),
              HasSubstr("Write train.precision = \"mixed_bfloat16\""));
  timings[2].seconds_per_step = {0.0080};
  EXPECT_THAT(PrecisionReport(Gpu(), timings), HasSubstr("Write train.precision = \"bfloat16\""));
}

TEST(PrecisionReportTest, OnCpusFloat32WinsAndWhyIsSaid) {
  PrecisionSetting setting = Gpu();
  setting.device = "1 x cpu";
  setting.is_cpu = true;
  setting.peaks.clear();
  const std::string report =
      PrecisionReport(setting, {Timing("float32", kF32, {0.010}, 100 << 20),
                                Timing("mixed_bfloat16", kBF16, {0.025}, 80 << 20)});
  EXPECT_THAT(report, AllOf(HasSubstr("float32 is the fastest here; mixed_bfloat16 takes 2.5 times "
                                      "as long, with 20 % less memory"),
                            HasSubstr("no faster kernels for 16-bit products on CPUs"),
                            HasSubstr("The run file has it: train.precision = \"float32\".")));
}

TEST(PrecisionReportTest, NoiseIsNoDifference) {
  const std::string report = PrecisionReport(
      Gpu(), {Timing("float32", kF32, {0.010, 0.012, 0.014, 0.011}, 100),
              Timing("mixed_bfloat16", kBF16, {0.0105, 0.0115, 0.0135, 0.010}, 100)});
  EXPECT_THAT(report, AllOf(HasSubstr("No policy is faster than float32 by more than"),
                            HasSubstr("train.precision = \"float32\"")));
}

TEST(PrecisionReportTest, WhatFailedIsALineAndDivergedIsNoWinner) {
  PolicyTiming failed = Timing("mixed_float16", kF16, {}, 0);
  failed.error = "no float16 here\nmore";
  PolicyTiming diverged = Timing("mixed_bfloat16", kBF16, {0.001}, 100);
  diverged.loss = std::numeric_limits<double>::quiet_NaN();
  const std::string report =
      PrecisionReport(Gpu(), {Timing("float32", kF32, {0.010}, 100), diverged, failed});
  EXPECT_THAT(report, AllOf(HasSubstr("mixed_float16   not measured: no float16 here\n"),
                            HasSubstr("Only float32 works here"), Not(HasSubstr("more\n"))));
  EXPECT_THROW(PrecisionReport(Gpu(), {failed}), InternalError);
}

TEST(PrecisionReportTest, MicroBatchesAndSkippedStepsAreShown) {
  PolicyTiming half = Timing("mixed_float16", kF16, {0.005}, 100);
  half.skipped = 2;
  half.micro_rows = 16;
  const std::string report = PrecisionReport(Gpu(), {Timing("float32", kF32, {0.010}, 100), half});
  EXPECT_THAT(report, HasSubstr("0.5 after 40 steps, 2 skipped; micro-batch 16"));
}

// On the CPU, with a loss scale, from a file of 20 records that no launch divides.
TEST(ComparePrecisionTest, MeasuresARunFile) {
  std::string folder = (std::filesystem::temp_directory_path() / "flatout-compare-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  {
    std::ofstream file(folder + "/rows.csv");
    file << "a,b,label\n";
    for (int i = 0; i < 20; ++i) file << i % 5 * 0.25 << "," << i % 3 << "," << i % 2 << "\n";
  }
  const Config tree = Config::ParseToml(
      "[model]\nbuiltin = \"mlp\"\nunits = 8\nclasses = 2\n[data]\nsource = \"csv\"\nfiles = \"" +
          folder +
          "/rows.csv\"\n[data.columns]\nx = {from = [\"a\", \"b\"], dtype = \"f32\"}\n"
          "label = {dtype = \"i32\", bound = 2}\n[train]\nglobal_batch = 6\n"
          "precision = \"mixed_float16\"\n",
      "run.toml");
  ::testing::internal::CaptureStdout();
  const int code =
      ComparePrecision(train::ReadRunConfig(tree, "run"), {.rounds = 2, .round_seconds = 0.001});
  const std::string report = ::testing::internal::GetCapturedStdout();
  std::filesystem::remove_all(folder);
  EXPECT_EQ(code, kExitDone);
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16", "bfloat16"}) {
    EXPECT_THAT(report, HasSubstr("\n  " + std::string(policy) + " "));
  }
  EXPECT_THAT(report, AllOf(HasSubstr("batch 6, 2 rounds of"), HasSubstr("train.precision = "),
                            Not(HasSubstr("not measured")), Not(HasSubstr("nan"))));
}

}  // namespace
}  // namespace flatout::cli
