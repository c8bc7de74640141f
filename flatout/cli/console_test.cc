#include "flatout/cli/console.h"

#include <gmock/gmock.h>

#include "flatout/base/log.h"

namespace flatout::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

train::RunStart Start() {
  train::RunStart start;
  start.name = "cnn";
  start.device = "2 x cpu";
  start.model = "cnn";
  start.parameters = 1234567;
  start.epochs = 3;
  start.steps_per_epoch = 1000;
  start.global_batch = 64;
  start.replicas = 2;
  start.rows_per_replica = 32;
  start.train_rows = 55000;
  start.optimizer = "Adam";
  start.learning_rate = "CosineDecay";
  start.folder = "runs/cnn";
  return start;
}

train::Progress At(int64_t step) {
  train::Progress progress;
  progress.epoch = 1;
  progress.epochs = 3;
  progress.step = progress.step_in_epoch = step;
  progress.steps_per_epoch = 1000;
  progress.loss = 0.5;
  progress.metrics["accuracy"] = 0.75;
  progress.samples_per_second = 12345;
  progress.full = 0.9996;
  progress.resident_bytes = int64_t{512} << 20;
  progress.epoch_seconds = 10;
  return progress;
}

train::EpochEnd End() {
  train::EpochEnd end;
  end.epoch = 1;
  end.epochs = 3;
  end.step = 1000;
  end.seconds = 12;
  end.logs = {{"loss", 0.25}, {"val_loss", 0.5}};
  end.note = "best val_loss so far";
  return end;
}

template <typename Body>
std::string Printed(const std::string& mode, Body body) {
  ::testing::internal::CaptureStdout();
  {
    const auto console = MakeConsole(mode);
    body(*console);
  }
  return ::testing::internal::GetCapturedStdout();
}

TEST(ConsoleTest, PlainLinesHaveNoControlCharacters) {
  for (const char* mode : {"plain", "auto"}) {  // captured output is no terminal
    const std::string text = Printed(mode, [](train::Observer& console) {
      console.OnStart(Start());
      console.OnProgress(At(10));
      console.OnLog(At(20));
      console.OnEvaluation(1, 2);
      console.OnEpochEnd(End());
      console.OnMessage("a message");
    });
    EXPECT_THAT(
        text,
        AllOf(
            HasSubstr("run cnn on 2 x cpu: cnn, 1,234,567 parameters, Adam with rate CosineDecay"),
            HasSubstr("55,000 train"), HasSubstr("global batch 64 = 2 devices x 32"),
            HasSubstr("run folder: runs/cnn"),
            HasSubstr("epoch 1/3 step 20/1000 (in all 20): loss 0.5000, accuracy 0.7500"),
            HasSubstr("12,345 samples/s"), HasSubstr("memory 512 MiB"),
            HasSubstr("epoch 1/3 in 12.0 s: loss 0.2500, val_loss 0.5000 (best val_loss so far)"),
            EndsWith("a message\n"), Not(HasSubstr("step 10/")), Not(HasSubstr("\r")),
            Not(HasSubstr("\033"))));
  }
}

TEST(ConsoleTest, AlmostFullIsNotFullAndUnknownIsNotZero) {
  const auto log = [](const train::Progress& progress) {
    return Printed("plain", [&](train::Observer& console) { console.OnLog(progress); });
  };
  train::Progress progress = At(20);
  EXPECT_THAT(log(progress), AllOf(HasSubstr("full 99.9 %"), Not(HasSubstr("100.0"))));
  progress.full = 1;
  EXPECT_THAT(log(progress), HasSubstr("full 100.0 %"));
  progress.full.reset();
  progress.resident_bytes = -1;
  EXPECT_THAT(log(progress),
              AllOf(HasSubstr("full n/a"), HasSubstr("memory n/a"), Not(HasSubstr("-1"))));
}

TEST(ConsoleTest, TheBarIsRedrawnInPlace) {
  std::string text = Printed("bar", [](train::Observer& console) {
    console.OnProgress(At(250));
    console.OnProgress(At(500));
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 0);
  EXPECT_THAT(text, AllOf(StartsWith("\r\033[K"), HasSubstr("250/1000"), HasSubstr("500/1000"),
                          HasSubstr("["), HasSubstr("10.0 s left"), EndsWith("\r\033[K")));
  // No line is wider than the terminal, whatever is shown.
  train::Progress wide = At(1);
  for (int i = 0; i < 30; ++i) wide.metrics["metric_" + std::to_string(i)] = i;
  text = Printed("bar", [&](train::Observer& console) { console.OnProgress(wide); });
  EXPECT_LT(text.size(), 120u);
}

TEST(ConsoleTest, LinesGoAboveTheBar) {
  const std::string text = Printed("bar", [](train::Observer& console) {
    console.OnProgress(At(250));
    console.OnEpochEnd(End());
    console.OnLog(At(260));
  });
  EXPECT_THAT(text, AllOf(HasSubstr("\r\033[Kepoch 1/3 in 12.0 s"), EndsWith("so far)\n")));
}

TEST(ConsoleTest, LogLinesLeaveTheBarFirst) {
  ::testing::internal::CaptureStderr();
  const std::string text = Printed("bar", [](train::Observer& console) {
    console.OnProgress(At(250));
    LogWarning("the disk is slow");
  });
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("the disk is slow"));
  EXPECT_THAT(text, EndsWith("\r\033[K"));
}

TEST(ConsoleTest, NoneIsSilent) {
  EXPECT_EQ(Printed("none",
                    [](train::Observer& console) {
                      console.OnStart(Start());
                      console.OnProgress(At(10));
                      console.OnLog(At(20));
                      console.OnEpochEnd(End());
                      console.OnMessage("a message");
                    }),
            "");
}

}  // namespace
}  // namespace flatout::cli
