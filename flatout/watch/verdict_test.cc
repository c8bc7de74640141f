#include "flatout/watch/verdict.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace flatout::watch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Text(const Verdict& verdict) {
  return fmt::format("{}", fmt::join(verdict.lines, "\n"));
}

// A run of 100 steps of 10 rows with 60 s of compute and `seconds` of another cause.
RunFacts Facts(Cause cause, double seconds) {
  RunFacts facts;
  facts.ledger.seconds[static_cast<int>(Cause::kStart)] = 1;
  facts.ledger.seconds[static_cast<int>(Cause::kCompile)] = 2;
  facts.ledger.seconds[static_cast<int>(Cause::kCompute)] = 60;
  facts.ledger.seconds[static_cast<int>(cause)] += seconds;
  facts.ledger.wall = facts.ledger.sum();
  facts.steps = 100;
  facts.launches = 100;
  facts.samples = 1000;
  facts.device_kind = "abacus";
  facts.flops_per_sample = 3e9;
  return facts;
}

// Workers that spend `read` and `decode` seconds, and compute all of them unless told otherwise.
InputFacts Workers(int workers, double read, double decode) {
  InputFacts input;
  input.workers = workers;
  input.busy = input.cpu = read + decode;
  input.queue_fill = 0.1;
  input.stages = {{"read", read, 1000, int64_t{3} << 30}, {"decode_image", decode, 1000, 0}};
  return input;
}

TEST(VerdictTest, InputNamesTheStageAndTheWorkers) {
  RunFacts facts = Facts(Cause::kInput, 40);
  facts.cores = 8;
  facts.input = Workers(1, 30, 10);
  Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.limit, "input");
  EXPECT_EQ(verdict.stage, "read");
  EXPECT_THAT(verdict.advice, AllOf(HasSubstr("data.workers = \"auto\""), HasSubstr("now 1")));
  EXPECT_DOUBLE_EQ(verdict.full.value(), 0.6);
  EXPECT_NEAR(verdict.predicted_gain, 1 / 0.6, 1e-9);
  EXPECT_DOUBLE_EQ(verdict.samples_per_second.value(), 10);
  EXPECT_THAT(Text(verdict), AllOf(HasSubstr("full: 60.0 %"),
                                   HasSubstr("limit: input (read), 40.0 % of the training time"),
                                   HasSubstr("read 75.0 % (33 records/s, 107 MB/s each)"),
                                   HasSubstr("decode_image 25.0 %"), HasSubstr("queue 10.0 % full"),
                                   HasSubstr("up to 1.67x"), HasSubstr("10 samples/s")));
  // The same loss in the other stage changes the name.
  facts.input = Workers(1, 10, 30);
  EXPECT_EQ(Judge(facts).stage, "decode_image");
  // All cores taken: more workers would gain nothing, doing the stage once would.
  facts.input = Workers(8, 20, 30);
  verdict = Judge(facts);
  EXPECT_THAT(verdict.advice, AllOf(HasSubstr("do decode_image once"), HasSubstr("data write")));
  EXPECT_NEAR(verdict.predicted_gain, 1 / 0.6,
              1e-9);  // 2.5 of the workers, but the step has limits
  facts.input = Workers(8, 30, 20);
  EXPECT_THAT(Judge(facts).advice, HasSubstr("data.cache = \"memory\""));
}

TEST(VerdictTest, WorkersThatWaitThemselvesNeedNoMoreCores) {
  RunFacts facts = Facts(Cause::kInput, 40);
  facts.cores = 2;
  facts.input = Workers(2, 30, 10);
  facts.input.cpu = 4;
  EXPECT_THAT(Judge(facts).advice, AllOf(HasSubstr("data.workers = \"auto\""),
                                         HasSubstr("than a core 90.0 % of their time")));
  facts.input.workers_tuned = true;
  EXPECT_THAT(Judge(facts).advice, AllOf(HasSubstr("read waits for a disk"),
                                         HasSubstr("90.0 % of the time"), HasSubstr("data.cache")));
  // The same without a core to run on is no disk's fault.
  facts.input.queued = 36;
  const Verdict crowded = Judge(facts);
  EXPECT_THAT(crowded.advice,
              AllOf(HasSubstr("waited 90.0 % of their time for a core"), Not(HasSubstr("disk"))));
  EXPECT_NEAR(crowded.predicted_gain, 1 / 0.6, 1e-9);
}

TEST(VerdictTest, TransfersAreNoStageOfTheWorkers) {
  RunFacts facts = Facts(Cause::kInput, 40);
  facts.cores = 2;
  facts.input = Workers(2, 10, 30);
  facts.input.stages.push_back({"transfer", 500, 0, 0});
  const Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.stage, "decode_image");
  EXPECT_THAT(Text(verdict), ::testing::Not(HasSubstr("transfer")));
}

TEST(VerdictTest, TheGainOfWorkersIsNoMoreThanTheirNumber) {
  RunFacts facts = Facts(Cause::kInput, 940);
  facts.cores = 4;
  facts.input = Workers(2, 10, 30);
  EXPECT_DOUBLE_EQ(Judge(facts).predicted_gain, 2);
}

TEST(VerdictTest, EveryOtherLimitHasItsAdvice) {
  struct Case {
    Cause cause;
    const char* name;
    const char* advice;
  };
  const Case cases[] = {{Cause::kCopy, "copy", "u8 instead of f32"},
                        {Cause::kCommunication, "communication", "train.global_batch"},
                        {Cause::kCheckpoint, "checkpoint", "checkpoint.every_steps"},
                        {Cause::kHost, "host", "train.steps_per_launch (now 1"}};
  for (const auto& [cause, name, advice] : cases) {
    const Verdict verdict = Judge(Facts(cause, 20));
    EXPECT_EQ(verdict.limit, name);
    EXPECT_THAT(verdict.advice, HasSubstr(advice));
    EXPECT_NEAR(verdict.predicted_gain, 80.0 / 60, 1e-9);
    EXPECT_THAT(Text(verdict), AllOf(HasSubstr(fmt::format("limit: {}, 25.0 %", name)),
                                     HasSubstr("up to 1.33x"), HasSubstr("full: 75.0 %")));
  }
}

TEST(VerdictTest, HostTimeWithLongLaunchesIsTheLogs) {
  RunFacts facts = Facts(Cause::kHost, 20);
  facts.launches = 1;
  facts.steps_per_launch = 100;
  EXPECT_THAT(Judge(facts).advice, HasSubstr("watch.log_seconds"));
}

TEST(VerdictTest, ComputeIsTheLimitWhenNothingElseIsWorthNaming) {
  RunFacts facts = Facts(Cause::kInput, 0.5);
  Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.limit, "compute");
  EXPECT_EQ(verdict.predicted_gain, 1);
  EXPECT_THAT(verdict.advice, HasSubstr("GPU"));
  EXPECT_THAT(Text(verdict), AllOf(HasSubstr("limit: compute. Next:"), Not(HasSubstr("gain"))));
  facts.device_is_cpu = false;
  EXPECT_THAT(Judge(facts).advice, HasSubstr("mixed_bfloat16"));
  facts.compute_dtype = "bf16";
  EXPECT_THAT(Judge(facts).advice, HasSubstr("global_batch"));
}

TEST(VerdictTest, TheLargestLossIsTheLimit) {
  RunFacts facts = Facts(Cause::kInput, 10);
  facts.ledger.seconds[static_cast<int>(Cause::kCheckpoint)] = 11;
  EXPECT_EQ(Judge(facts).limit, "checkpoint");
  facts.ledger.seconds[static_cast<int>(Cause::kInput)] = 12;
  EXPECT_EQ(Judge(facts).limit, "input");
}

TEST(VerdictTest, AlmostFullIsNotShownAsFull) {
  // 99.96 %.
  RunFacts facts = Facts(Cause::kHost, 60 * 0.0004 / 0.9996);
  ASSERT_NEAR(facts.ledger.full().value(), 0.9996, 1e-12);
  EXPECT_THAT(Text(Judge(facts)), AllOf(HasSubstr("full: 99.9 %"), Not(HasSubstr("100.0"))));
  EXPECT_THAT(Text(Judge(Facts(Cause::kHost, 0))), HasSubstr("full: 100.0 %"));
}

TEST(VerdictTest, UnknownMfuIsSaidToBeUnknown) {
  RunFacts facts = Facts(Cause::kHost, 0);
  Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.mfu, std::nullopt);
  EXPECT_THAT(Text(verdict), AllOf(HasSubstr("MFU: not available"), HasSubstr("\"abacus\""),
                                   HasSubstr("50.0 GFLOP/s"), Not(HasSubstr("MFU: 0"))));
  facts.peak_flops = 1e12;
  verdict = Judge(facts);
  EXPECT_DOUBLE_EQ(verdict.mfu.value(), 0.05);
  EXPECT_THAT(Text(verdict),
              AllOf(HasSubstr("MFU: 5.0 %"), HasSubstr("50.0 GFLOP/s of 1.00 TFLOP/s"),
                    HasSubstr("dense float32"), HasSubstr("3,000,000,000 FLOPs")));
  // Known peak, unknown work.
  facts.flops_per_sample = 0;
  verdict = Judge(facts);
  EXPECT_EQ(verdict.mfu, std::nullopt);
  EXPECT_THAT(Text(verdict), AllOf(HasSubstr("MFU: not available"), Not(HasSubstr("0.0 GFLOP"))));
}

TEST(VerdictTest, TheCardWhosePeakCountsIsNamed) {
  RunFacts facts = Facts(Cause::kHost, 0);
  facts.peak_flops = 2e12;
  facts.card = "Abacus 9";
  EXPECT_THAT(Text(Judge(facts)), HasSubstr("of 2.00 TFLOP/s dense float32 of Abacus 9, "));
  facts.devices = 2;
  EXPECT_THAT(Text(Judge(facts)), HasSubstr("dense float32 of 2 x Abacus 9, "));
}

TEST(VerdictTest, PlannedAndPeakMemoryStandSideBySide) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  RunFacts facts = Facts(Cause::kHost, 0);
  EXPECT_THAT(Text(Judge(facts)), Not(HasSubstr("memory:")));
  facts.planned_bytes = 1900 * kMiB;
  facts.process_peak_bytes = 3000 * kMiB;
  EXPECT_THAT(Text(Judge(facts)),
              HasSubstr("memory: planned 1.86 GiB, peak not available from the device; the whole "
                        "process took 2.93 GiB at most"));
  facts.process_peak_bytes.reset();
  EXPECT_THAT(Text(Judge(facts)), AllOf(HasSubstr("peak not available"), Not(HasSubstr("peak 0")),
                                        Not(HasSubstr("process took"))));
  facts.device_peak_bytes = 1880 * kMiB;
  EXPECT_THAT(Text(Judge(facts)), HasSubstr("memory: planned 1.86 GiB, peak 1.84 GiB"));
  facts.devices = 2;
  EXPECT_THAT(Text(Judge(facts)), HasSubstr("planned 1.86 GiB on each device, peak 1.84 GiB"));
  facts.planned_bytes.reset();
  EXPECT_THAT(Text(Judge(facts)), HasSubstr("memory: planned not available"));
}

TEST(VerdictTest, SkippedStepsAreShown) {
  RunFacts facts = Facts(Cause::kHost, 0);
  EXPECT_THAT(Text(Judge(facts)), Not(HasSubstr("loss scale")));
  facts.loss_scale = 32768;
  EXPECT_THAT(Text(Judge(facts)), HasSubstr("loss scale: 32768, no step skipped"));
  facts.skipped_steps = facts.steps;
  facts.loss_scale = 0.5;
  EXPECT_THAT(Text(Judge(facts)), AllOf(HasSubstr("loss scale: 0.5; "), HasSubstr("(50.0 %)"),
                                        HasSubstr("not counted as steps")));
}

TEST(VerdictTest, WithoutAStepNothingIsClaimed) {
  RunFacts facts;
  facts.ledger.seconds[0] = facts.ledger.wall = 3;
  const Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.full, std::nullopt);
  EXPECT_EQ(verdict.samples_per_second, std::nullopt);
  EXPECT_EQ(verdict.mfu, std::nullopt);
  EXPECT_EQ(verdict.limit, "unknown");
  EXPECT_THAT(Text(verdict), AllOf(HasSubstr("full: not available"), Not(HasSubstr("%"))));
}

TEST(VerdictTest, TheCeilingIsShownWhereItWasMeasured) {
  RunFacts facts = Facts(Cause::kInput, 60);
  EXPECT_THAT(Text(Judge(facts)), Not(HasSubstr("the device alone")));
  facts.ceiling_samples_per_second = 16;
  EXPECT_THAT(Text(Judge(facts)), HasSubstr("fed from memory, does 16 samples/s"));
}

TEST(VerdictTest, CommunicationInsideTheStepIsNotZero) {
  RunFacts facts = Facts(Cause::kHost, 1);
  facts.devices = 2;
  EXPECT_THAT(Text(Judge(facts)), HasSubstr("communication not measured (inside compute)"));
}

TEST(VerdictTest, TheTimeLineNamesWhatCounts) {
  const std::string text = Text(Judge(Facts(Cause::kInput, 37)));
  EXPECT_THAT(text,
              AllOf(HasSubstr("start 1.00 s (1.0 %)"), HasSubstr("compile 2.00 s (2.0 %)"),
                    HasSubstr("input 37.00 s (37.0 %)"), HasSubstr("compute 60.00 s (60.0 %)"),
                    HasSubstr("wall 100.00 s"), Not(HasSubstr("copy"))));
}

TEST(VerdictTest, StepsThatOtherWorkSlowedAreNotCalledFull) {
  RunFacts facts = Facts(Cause::kHost, 0.1);
  const Verdict before = Judge(facts);
  ASSERT_TRUE(before.samples_per_second.has_value());
  facts.ceiling_samples_per_second = 1.5 * *before.samples_per_second;
  const Verdict slowed = Judge(facts);
  EXPECT_EQ(slowed.stage, "slowed");
  EXPECT_NEAR(slowed.predicted_gain, 1.5, 1e-9);
  EXPECT_THAT(Text(slowed), AllOf(HasSubstr("slowed by other work"), HasSubstr("1.50x")));
  // A ceiling below what was achieved is none.
  facts.ceiling_samples_per_second = 0.9 * *before.samples_per_second;
  EXPECT_THAT(Text(Judge(facts)), Not(HasSubstr("fed from memory")));
}

TEST(VerdictTest, EpochsOfOneLaunchCannotTakeMoreSteps) {
  RunFacts facts = Facts(Cause::kHost, 40);
  facts.steps_per_launch = facts.steps_per_epoch = 7;
  EXPECT_THAT(Judge(facts).advice,
              AllOf(HasSubstr("epochs are too short"), Not(HasSubstr("raise train"))));
}

}  // namespace
}  // namespace flatout::watch
