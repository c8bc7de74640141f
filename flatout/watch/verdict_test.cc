#include "flatout/watch/verdict.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "flatout/base/error.h"

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

void Spend(RunFacts& facts, Stage stage, double seconds) {
  facts.ledger.seconds[static_cast<size_t>(CauseOf(stage))] += seconds;
  facts.ledger.stages[static_cast<size_t>(stage)] += seconds;
  facts.ledger.wall = facts.ledger.sum();
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
  facts.launches = 2;
  facts.steps = 200;
  facts.steps_per_launch = 100;
  EXPECT_THAT(Judge(facts).advice, HasSubstr("watch.log_seconds"));
}

// Whatever took the host's time: what comes between launches is known of two of them.
TEST(VerdictTest, OfOneLaunchNothingIsAdvisedAboutLaunches) {
  for (const Stage stage : {Stage::kNone, Stage::kLaunch, Stage::kResults}) {
    SCOPED_TRACE(Name(stage));
    RunFacts facts = Facts(Cause::kHost, 20);
    facts.ledger.stages[static_cast<size_t>(stage)] = stage == Stage::kNone ? 0 : 20;
    facts.steps = facts.launches = facts.steps_per_launch = 1;
    facts.launch_cost = LaunchCost{.per_launch = 10, .per_step = 50};
    const Verdict verdict = Judge(facts);
    EXPECT_THAT(verdict.advice, Not(HasSubstr("steps_per_launch")));
    EXPECT_FALSE(verdict.change.has_value());
    EXPECT_EQ(verdict.predicted_gain, 1);
    facts.steps = facts.launches = 2;
    EXPECT_THAT(Judge(facts).advice, HasSubstr("steps_per_launch"));
  }
}

TEST(VerdictTest, SharesOfWorkersNeverExceedTheWhole) {
  RunFacts facts = Facts(Cause::kInput, 40);
  facts.cores = 1;
  facts.input = Workers(1, 30, 10);
  facts.input.cpu = 1;
  facts.input.queued = 44.8;  // of 40: the clocks of two sources do not agree
  Verdict verdict = Judge(facts);
  EXPECT_THAT(verdict.advice, HasSubstr("waited 100.0 % of their time for a core"));
  EXPECT_NEAR(verdict.predicted_gain, 1 / 0.6, 1e-9);
  // Work done while programs compiled counts for no more cores than there are.
  facts.input.cpu = 250;
  facts.input.busy = 300;
  verdict = Judge(facts);
  EXPECT_THAT(Text(verdict), HasSubstr("1.0 of 1 core busy"));
}

TEST(VerdictTest, WhatIsNotKnownOfTheInputIsLeftOut) {
  RunFacts facts = Facts(Cause::kInput, 40);
  facts.input.workers = 2;
  facts.input.stages = {{"read", 0.75, 0, 0}, {"assemble", 0.25, 0, 0}};  // shares, of a log
  const Verdict verdict = Judge(facts);
  EXPECT_THAT(Text(verdict), HasSubstr("input: 2 workers; of the workers' time read 75.0 %, "
                                       "assemble 25.0 %\n"));
  EXPECT_THAT(Text(verdict), Not(HasSubstr("cores usable")));
  // Nor is a number of programs made up.
  facts = Facts(Cause::kCompile, 98);
  EXPECT_THAT(Judge(facts).advice, AllOf(HasSubstr("run it again"), Not(HasSubstr("0"))));
  facts.compiles = 0;
  EXPECT_THAT(Judge(facts).advice, HasSubstr("longer runs"));
}

// A run that changed a setting is judged by what came after; the rest is told of all of it.
TEST(VerdictTest, TheLimitIsThatOfThePartSinceTheLastChange) {
  RunFacts facts = Facts(Cause::kHost, 40);
  Spend(facts, Stage::kResults, 40);
  facts.steps = facts.samples = 10000;
  facts.launches = 5078;
  facts.steps_per_launch = 64;
  facts.cores = 2;
  facts.input = Workers(1, 30, 10);
  ASSERT_EQ(Judge(facts).limit, "host");
  RunPart part;
  part.when = "since train.steps_per_launch = 64 at step 5,000";
  part.steps = part.samples = 5000;
  part.launches = 78;
  part.steps_per_launch = 64;
  part.ledger.seconds[static_cast<size_t>(Cause::kCompute)] = 30;
  part.ledger.seconds[static_cast<size_t>(Cause::kInput)] = 10;
  part.ledger.wall = 40;
  part.input = Workers(1, 8, 2);
  facts.part = part;
  const Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.limit, "input");
  EXPECT_NEAR(verdict.predicted_gain, 40.0 / 30, 1e-9);
  EXPECT_NEAR(*verdict.full, 60.0 / 140, 1e-9) << "of all of it";
  EXPECT_THAT(Text(verdict),
              AllOf(HasSubstr("limit: input (read), 25.0 % of the training time since "
                              "train.steps_per_launch = 64 at step 5,000. Next"),
                    HasSubstr("input since train.steps_per_launch = 64 at step 5,000: 1 worker, "
                              "0.2 of 2 cores busy")));
  // A ceiling below what the part achieved is none.
  facts.ceiling_samples_per_second = 110;  // 71 a second in all, 125 since
  EXPECT_FALSE(Judge(facts).ceiling_samples_per_second.has_value());
  facts.ceiling_samples_per_second = 130;
  EXPECT_EQ(Judge(facts).ceiling_samples_per_second, 130);
  // What was changed too late to show is not advised again.
  facts.part->made = "data.workers = \"auto\"";
  EXPECT_THAT(Judge(facts).advice, HasSubstr("is set already, too late in this run"));
  EXPECT_FALSE(Judge(facts).change.has_value());
  facts.part->made = "data.prefetch = \"auto\"";
  EXPECT_THAT(Judge(facts).advice, HasSubstr("set data.workers"));
  // It comes back from its text; a part that says nothing is passed over.
  EXPECT_EQ(Judge(RunFacts::FromJson(facts.ToJson(), "x")).lines, Judge(facts).lines);
  facts.part->steps = 0;
  EXPECT_EQ(Judge(facts).limit, "host");
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
  EXPECT_EQ(slowed.ceiling_samples_per_second, facts.ceiling_samples_per_second);
  // A ceiling below what was achieved is none, in words and in figures.
  facts.ceiling_samples_per_second = 0.9 * *before.samples_per_second;
  EXPECT_THAT(Text(Judge(facts)), Not(HasSubstr("fed from memory")));
  EXPECT_FALSE(Judge(facts).ceiling_samples_per_second.has_value());
  facts.steps = 0;
  facts.ceiling_samples_per_second = 1000;
  EXPECT_FALSE(Judge(facts).ceiling_samples_per_second.has_value());
}

TEST(VerdictTest, EpochsOfOneLaunchCannotTakeMoreSteps) {
  RunFacts facts = Facts(Cause::kHost, 40);
  facts.steps_per_launch = facts.steps_per_epoch = 7;
  EXPECT_THAT(Judge(facts).advice,
              AllOf(HasSubstr("epochs are too short"), Not(HasSubstr("raise train"))));
}

// ---- limits told apart, and what changing them gains ----

TEST(VerdictTest, CallbacksAreNamed) {
  RunFacts facts = Facts(Cause::kHost, 5);
  Spend(facts, Stage::kCallbacks, 15);
  const Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.limit, "host");
  EXPECT_EQ(verdict.stage, "callbacks");
  EXPECT_EQ(verdict.kind, "host-bound");
  EXPECT_NEAR(verdict.predicted_gain, 80.0 / 65, 1e-9) << "the rest of the host's time stays";
  EXPECT_THAT(Text(verdict), HasSubstr("limit: host (callbacks), 25.0 %"));
}

TEST(VerdictTest, LaunchesOfFewStepsAreFoundInsideComputeToo) {
  // 1000 launches of 4 steps each take 60 s; 10 ms of each launch are the launch itself.
  RunFacts facts = Facts(Cause::kHost, 0);
  facts.launches = 1000;
  facts.steps = 4000;
  facts.steps_per_launch = 4;
  facts.launch_cost = LaunchCost{.per_launch = 0.01, .per_step = 0.0125};
  Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.kind, "launch-bound");
  EXPECT_EQ(verdict.limit, "host");
  EXPECT_EQ(verdict.stage, "launch");
  // 10 s of 60: 64 steps a launch would leave a sixteenth of them.
  ASSERT_TRUE(verdict.change.has_value());
  EXPECT_EQ(verdict.change->kind, Change::Kind::kStepsPerLaunch);
  EXPECT_EQ(verdict.change->value, 64);
  EXPECT_EQ(verdict.change->ToString(), "train.steps_per_launch = 64");
  EXPECT_NEAR(verdict.predicted_gain, 60 / (50 + 10.0 / 16), 1e-9);
  EXPECT_THAT(Text(verdict), HasSubstr("raise train.steps_per_launch to 64 (now 4)"));
  // An epoch of eight steps has no more.
  facts.steps_per_epoch = 8;
  EXPECT_EQ(Judge(facts).change->value, 8);
  facts.steps_per_epoch = facts.steps_per_launch = 4;
  verdict = Judge(facts);
  EXPECT_FALSE(verdict.change.has_value());
  EXPECT_THAT(verdict.advice, HasSubstr("epochs are too short"));
  EXPECT_EQ(verdict.predicted_gain, 1);
  // Launches that cost nothing are not to blame for slow steps.
  facts.launch_cost->per_launch = 1e-5;
  EXPECT_EQ(Judge(facts).limit, "compute");
}

TEST(VerdictTest, AQueueThatIsFullAndThenEmptyIsTooShort) {
  RunFacts facts = Facts(Cause::kInput, 40);
  facts.cores = 2;
  facts.input = Workers(2, 30, 30);
  facts.input.depth = 1;
  facts.input.idle = 40;
  Verdict verdict = Judge(facts);
  EXPECT_THAT(verdict.advice,
              AllOf(HasSubstr("data.prefetch = \"auto\" (now 1)"), HasSubstr("idle 40.0 %")));
  EXPECT_EQ(verdict.change->kind, Change::Kind::kPrefetch);
  EXPECT_NEAR(verdict.predicted_gain, 1 / 0.6, 1e-9);
  facts.input.idle = 20;  // of 80: less than there is to gain elsewhere
  EXPECT_NEAR(Judge(facts).predicted_gain, 1 / 0.75, 1e-9);
  facts.input.depth_tuned = true;
  EXPECT_THAT(Judge(facts).advice, Not(HasSubstr("prefetch")));
}

TEST(VerdictTest, SnapshotsThatAreTooFrequent) {
  RunFacts facts = Facts(Cause::kHost, 0);
  Spend(facts, Stage::kSnapshot, 30);
  Spend(facts, Stage::kSlowed, 10);
  facts.checkpoint.saves = 40;
  facts.checkpoint.automatic_seconds = 25;
  const Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.kind, "checkpoint-bound");
  EXPECT_EQ(verdict.stage, "snapshot");
  EXPECT_EQ(verdict.change->kind, Change::Kind::kCheckpointInterval);
  // Of 40 seconds three remain: two snapshots in a minute, and the last.
  EXPECT_NEAR(verdict.predicted_gain, 100.0 / 63, 1e-9);
  facts.checkpoint.automatic = true;
  EXPECT_FALSE(Judge(facts).change.has_value());
  EXPECT_THAT(Judge(facts).advice, HasSubstr("faster disk"));
}

TEST(VerdictTest, ASlowReplicaIsNamed) {
  RunFacts facts = Facts(Cause::kHost, 0);
  facts.devices = 3;
  facts.replica_busy = {40, 58, 42};
  Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.kind, "straggler");
  EXPECT_EQ(verdict.limit, "compute");
  EXPECT_EQ(verdict.stage, "replica 1");
  EXPECT_NEAR(verdict.predicted_gain, 60.0 / 44, 1e-9);
  EXPECT_THAT(Text(verdict), AllOf(HasSubstr("limit: compute (replica 1), 26.6 %"),
                                   HasSubstr("replicas: device 1 is the slowest, busy 58.00 s")));
  // Why, where the driver says.
  DeviceUse& use = facts.device_use.emplace_back();
  use.device = 1;
  use.clock_samples = 10;
  use.clock_limits = {{"thermal", 9}, {"power cap", 1}};
  EXPECT_THAT(Judge(facts).advice, HasSubstr("held back (thermal 90.0 %, power cap 10.0 %)"));
  facts.replica_busy = {57, 58, 57};
  EXPECT_NE(Judge(facts).kind, "straggler");
  facts.replica_busy = {0, 58};
  EXPECT_NE(Judge(facts).kind, "straggler") << "of one nothing is known";
}

TEST(VerdictTest, ACardThatIsTooHotIsNamedAndOneAtItsPowerLimitIsNot) {
  RunFacts facts = Facts(Cause::kHost, 0);
  facts.device_is_cpu = false;
  DeviceUse& use = facts.device_use.emplace_back();
  use.sm_clock_hertz.Add(1200e6);
  use.sm_clock_max_hertz = 2000e6;
  use.clock_samples = 10;
  use.clock_limits = {{"power cap", 10}};
  EXPECT_EQ(Judge(facts).kind, "compute-bound");
  use.clock_limits = {{"hardware thermal", 8}};
  const Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.kind, "throttled");
  EXPECT_EQ(verdict.stage, "clocks");
  EXPECT_NEAR(verdict.predicted_gain, 2000.0 / 1200, 1e-9);
  EXPECT_THAT(verdict.advice, AllOf(HasSubstr("hardware thermal"), HasSubstr("cooling")));
}

TEST(VerdictTest, TheCpuQuotaIsTheCauseOfStallsThatItMakes) {
  RunFacts facts = Facts(Cause::kInput, 40);
  facts.cores = 2;
  facts.input = Workers(2, 150, 50);
  facts.throttled_seconds = 100;  // of the workers' 200 seconds
  facts.cpu_seconds = 100;
  Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.kind, "throttled");
  EXPECT_EQ(verdict.limit, "input");
  EXPECT_EQ(verdict.stage, "CPU quota");
  EXPECT_NEAR(verdict.predicted_gain, 100.0 / 60, 1e-9) << "the device needs its 60 seconds";
  EXPECT_THAT(Text(verdict), HasSubstr("quota held threads back for 100.0 core-seconds"));
  facts.throttled_seconds = 20;  // little of the waits
  EXPECT_EQ(Judge(facts).kind, "input-bound");
  facts.throttled_seconds.reset();
  EXPECT_EQ(Judge(facts).kind, "input-bound");
  // Steps on a CPU are held back as well, those on a GPU are not.
  facts = Facts(Cause::kHost, 0);
  facts.throttled_seconds = facts.cpu_seconds = 50;
  EXPECT_EQ(Judge(facts).kind, "throttled");
  EXPECT_NEAR(Judge(facts).predicted_gain, 2, 1e-9);
  facts.device_is_cpu = false;
  EXPECT_NE(Judge(facts).kind, "throttled");
}

TEST(VerdictTest, WhatStandsBesideTrainingIsTheLimitWhereItCostsMore) {
  RunFacts facts = Facts(Cause::kInput, 10);
  Spend(facts, Stage::kValidation, 50);
  facts.evaluation = {.validations = 10, .epochs = 10, .every = 1};
  Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.kind, "evaluation-bound");
  EXPECT_EQ(verdict.limit, "evaluation");
  EXPECT_TRUE(verdict.of_run);
  // 73 s beside it: two validations are still 12 %, one is 6 %.
  EXPECT_THAT(verdict.advice, HasSubstr("train.evaluate_every = 10 (now 1)"));
  EXPECT_NEAR(verdict.predicted_gain, 123.0 / 78, 1e-9);
  EXPECT_THAT(Text(verdict), HasSubstr("limit: evaluation (validation), 40.6 % of the whole run"));

  facts = Facts(Cause::kCompile, 98);
  facts.compiles = 3;
  verdict = Judge(facts);
  EXPECT_EQ(verdict.kind, "compile-bound");
  EXPECT_NEAR(verdict.predicted_gain, 161.0 / 61, 1e-9);
  EXPECT_THAT(verdict.advice, HasSubstr("3 programs were compiled for the first time"));
  facts = Facts(Cause::kCompile, 5);
  EXPECT_EQ(Judge(facts).limit, "compute") << "little of the run";

  facts = Facts(Cause::kStart, 99);
  EXPECT_EQ(Judge(facts).limit, "start");
  // Measuring the ceiling is nothing that a user could leave out.
  facts = Facts(Cause::kHost, 0);
  Spend(facts, Stage::kCeiling, 30);
  EXPECT_EQ(Judge(facts).limit, "compute");
}

TEST(VerdictTest, TheDataSheetTellsWhatStepsWaitFor) {
  RunFacts facts = Facts(Cause::kHost, 0);
  facts.device_is_cpu = false;
  facts.compute_dtype = "f32";
  facts.roofline = Roofline{
      .arithmetic = 0.1, .memory = 0.3, .launches = 0.05, .all_reduce = 0.05, .bf16_speedup = 2};
  Verdict verdict = Judge(facts);
  EXPECT_EQ(verdict.kind, "memory-bound");
  EXPECT_EQ(verdict.stage, "memory bandwidth");
  EXPECT_THAT(verdict.advice, HasSubstr("mixed_bfloat16"));
  EXPECT_NEAR(verdict.predicted_gain, 0.5 / (0.05 + 0.165 + 0.05 + 0.05), 1e-9);
  EXPECT_THAT(Text(verdict), AllOf(HasSubstr("the card by its data sheet 20 samples/s"),
                                   HasSubstr("limit: compute (memory bandwidth). Next")));
  facts.compute_dtype = "bf16";
  facts.roofline->bf16_speedup = 0;
  EXPECT_EQ(Judge(facts).kind, "memory-bound");
  EXPECT_EQ(Judge(facts).predicted_gain, 1);
  facts.roofline->arithmetic = 0.4;
  EXPECT_EQ(Judge(facts).kind, "compute-bound");
  facts.roofline->launches = 0.5;
  EXPECT_EQ(Judge(facts).kind, "launch-bound");
  facts.roofline->all_reduce = 0.6;
  EXPECT_EQ(Judge(facts).kind, "communication-bound");
}

TEST(VerdictTest, AKernelThatRunsIsNotACardThatIsFull) {
  RunFacts facts = Facts(Cause::kHost, 0);
  facts.device_is_cpu = false;
  EXPECT_THAT(Text(Judge(facts)), HasSubstr("clocks, power and temperature n/a"));
  DeviceUse& use = facts.device_use.emplace_back();
  for (int i = 0; i < 3; ++i) use.utilization.Add(0.2);
  std::string text = Text(Judge(facts));
  // The driver's figure is never alone, nor judged by.
  EXPECT_THAT(text, AllOf(HasSubstr("full: 100.0 %"), HasSubstr("a kernel ran 20.0 % of the time"),
                          HasSubstr("which is not how full it was"), HasSubstr("n/a of n/a W"),
                          HasSubstr("kernels only 20.0 % of it")));
  // Gaps between kernels are launches.
  facts.roofline = Roofline{.arithmetic = 0.4, .memory = 0.1, .launches = 0.01};
  EXPECT_EQ(Judge(facts).kind, "launch-bound");
  use.utilization = {};
  for (int i = 0; i < 3; ++i) use.utilization.Add(0.0);
  EXPECT_THAT(Text(Judge(facts)), HasSubstr("not to be believed"));
  EXPECT_EQ(Judge(facts).kind, "compute-bound");
  use.ecc_uncorrected = 2;
  EXPECT_THAT(Text(Judge(facts)), HasSubstr("2 memory errors that ECC could not correct"));
}

TEST(VerdictTest, OneSlowStepInManyIsShown) {
  RunFacts facts = Facts(Cause::kHost, 0);
  facts.step_times = {.median = 0.01,
                      .p99 = 0.012,
                      .slowest_step = 1000,
                      .slowest_seconds = 1,
                      .slowest_cause = "input"};
  EXPECT_THAT(Text(Judge(facts)),
              HasSubstr("steps: half of them within 10.0 ms, 99 % within 12.0 ms; the slowest took "
                        "1.00 s, at step 1,000, most of it input"));
  facts.step_times.slowest_seconds = 0.02;
  EXPECT_THAT(Text(Judge(facts)), Not(HasSubstr("the slowest took")));
}

TEST(VerdictTest, FactsComeBackFromTheirText) {
  RunFacts facts = Facts(Cause::kInput, 40);
  Spend(facts, Stage::kCallbacks, 3);
  facts.input = Workers(2, 30, 10);
  facts.input.decisions = {"workers 1 -> 2: \"quoted\""};
  facts.peak_flops = 989e12;
  facts.card = "H100";
  facts.planned_bytes = int64_t{1} << 40;
  facts.launch_cost = LaunchCost{.per_launch = 1e-4, .per_step = 0.125};
  facts.roofline = Roofline{.arithmetic = 0.1, .memory = 0.3, .bf16_speedup = 2};
  facts.replica_busy = {1.5, 2.5};
  facts.throttled_seconds = 0;
  facts.evaluation = {.validations = 2, .epochs = 4, .every = 2};
  facts.step_times.median = 0.5;
  DeviceUse& use = facts.device_use.emplace_back();
  use.name = "A";
  use.utilization.Add(0.5);
  use.clock_samples = 1;
  use.clock_limits = {{"thermal", 1}};
  const std::string text = facts.ToJson();
  const RunFacts back = RunFacts::FromJson(text, "facts.json");
  EXPECT_EQ(back.ToJson(), text);
  EXPECT_EQ(Judge(back).lines, Judge(facts).lines);
  EXPECT_EQ(back.device_use.at(0).limited_by("thermal"), 1.0);
  EXPECT_EQ(back.throttled_seconds, 0.0);
  EXPECT_EQ(back.loss_scale, std::nullopt);
  // Of other versions: what they lack stays at its default, what they have more is passed over.
  const RunFacts some = RunFacts::FromJson("{\"steps\": 3, \"new\": [1], \"cores\": null}", "x");
  EXPECT_EQ(some.steps, 3);
  EXPECT_EQ(some.cores, std::nullopt);
  for (const std::string& bad :
       {std::string(), text.substr(0, text.size() / 2), std::string("[]"),
        std::string("{\"steps\": \"many\"}"), std::string("{\"steps\": 1e300}"),
        std::string("{\"ledger\": 3}"), std::string("{\"input\": {\"stages\": {}}}")}) {
    EXPECT_THROW(RunFacts::FromJson(bad, "facts.json"), DataError) << bad;
  }
  // Any place where a file can be cut.
  for (size_t length = 0; length < text.size() - 2; length += 7) {
    EXPECT_THROW(RunFacts::FromJson(text.substr(0, length), "facts.json"), DataError) << length;
  }
}

}  // namespace
}  // namespace flatout::watch
