// The table of cases that the verdict is held to: one thing of a whole run is slowed by a known
// amount; the verdict must name it, and the gain that it predicts must be what a run without the
// slowness has over it. Devices are played (xla/testdata/fake_time.h), slow stages sleep, so that
// no case depends on how fast this machine is. One that is in use by others can still come between:
// each case gets some attempts, of which one must fit.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <regex>
#include <thread>

#include "flatout/base/clock.h"
#include "flatout/data/dataset.h"
#include "flatout/nn/layers.h"
#include "flatout/train/testing.h"

namespace flatout::train {
namespace {

using ir::DType;
using ir::Shape;
using testing::Chain;
using testing::ExpectWhole;
using testing::Fresh;
using ::testing::HasSubstr;
using testing::kClasses;
using testing::kFeatures;
using testing::kSgd;
using testing::Linear;
using testing::MakeRows;
using testing::Options;

constexpr double kTolerance = 0.15;
constexpr int kAttempts = 6;
constexpr int64_t kBatch = 8;

void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

const char* const kPlayed[] = {
    "FAKE_CUDA_STEP_MS", "FAKE_CUDA_EVALUATE_MS", "FAKE_CUDA_LAUNCH_MS", "FAKE_CUDA_COPY_MS_PER_MB",
    "FAKE_CUDA_READ_MS", "FAKE_CUDA_COMPILE_MS",  "FAKE_GPUS",           "FLATOUT_CGROUP_ROOT"};

// One way in which a run may be.
struct Situation {
  std::map<std::string, std::string> played;  // the environment
  int64_t batch = kBatch;
  std::string train = "steps_per_launch = 1";
  std::string rest;   // further tables
  std::string watch;  // further keys of [watch]
  std::string data = "workers = 1\nprefetch = 2";
  std::function<nn::Model()> model = [] { return Linear(); };
  std::function<Sources()> sources;
  int64_t devices = 1;
  Observer* observer = nullptr;
  bool fresh_runtime = false;  // not the one of the run before
  bool folder = true;          // without one nothing is saved
};

struct Outcome {
  watch::Verdict verdict;
  watch::RunFacts facts;
  double samples_per_second = 0;
  double wall = 0;
  std::vector<float> losses;
  std::vector<watch::Advised> advised;
};

std::shared_ptr<Runtime> MakeRuntime(int64_t devices) {
  TrainOptions options;
  options.device = "cuda";
  options.devices = Config(devices);
  return std::make_shared<Runtime>(options);
}

class VerdictCasesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("FAKE_CUDA_REAL", xla::Plugin::Load("cpu-0.81")->path().c_str(), 1);
    setenv("PJRT_NAMES_AND_LIBRARY_PATHS", "cuda:" FAKE_CUDA_PLUGIN, 1);
    setenv("FLATOUT_CUDA_LIBRARY", FAKE_NVIDIA, 1);
    setenv("FLATOUT_NVML_LIBRARY", FAKE_NVIDIA, 1);
    for (const char* name : kPlayed) unsetenv(name);
  }
  void TearDown() override {
    for (const char* name : kPlayed) unsetenv(name);
  }

  static constexpr const char* kCards =
      "name=NVIDIA H100 80GB HBM3|total=81559|reserved=551;"
      "name=NVIDIA H100 80GB HBM3|total=81559|reserved=551";

  static Outcome Run(const Situation& situation) {
    for (const char* name : kPlayed) unsetenv(name);
    setenv("FAKE_GPUS", kCards, 1);
    for (const auto& [name, value] : situation.played) setenv(name.c_str(), value.c_str(), 1);
    // The played plugin knows one client's cards at a time.
    const auto cards = situation.played.find("FAKE_GPUS");
    const std::string key = fmt::format("{} {}", situation.devices,
                                        cards == situation.played.end() ? "" : cards->second);
    if (situation.fresh_runtime || key != runtime_key_ || runtime_ == nullptr) {
      runtime_ = nullptr;
      runtime_ = MakeRuntime(situation.devices);
      runtime_key_ = key;
    }
    const RunConfig config =
        Options(fmt::format("global_batch = {}\n{}", situation.batch, situation.train),
                fmt::format("{}\n[data]\nsource = \"arrays\"\nshuffle = false\n{}\n[watch]\n"
                            "sample_seconds = 0.05\ntensorboard = false\n{}\n{}",
                            kSgd, situation.data, situation.watch, situation.rest));
    RunFolder folder(Fresh("case"));
    Trainer trainer(config, situation.model(), situation.sources(), runtime_,
                    std::make_shared<watch::Ledger>(0));
    FitResult result = trainer.Fit(situation.folder ? &folder : nullptr, situation.observer);
    ExpectWhole(result);
    return {result.verdict,
            result.summary.facts,
            result.verdict.samples_per_second.value_or(0),
            result.summary.ledger.wall,
            result.losses,
            result.summary.advised};
  }

  // Runs slowed and mended until what is predicted is what comes, or the attempts are used up.
  // `mend` may look at the verdict on the slow run.
  static void Check(const Situation& slow, const std::function<Situation(const Outcome&)>& mend,
                    const std::string& kind, const std::string& limit, const std::string& stage) {
    std::string seen;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const Outcome before = Run(slow);
      // The first run of a program compiles it, which is what a short run is slow by.
      if (before.verdict.limit == "compile") continue;
      const Outcome after = Run(mend(before));
      const double gain = before.verdict.of_run
                              ? before.wall / after.wall
                              : after.samples_per_second / before.samples_per_second;
      const double predicted = before.verdict.predicted_gain;
      seen += fmt::format("\n{}, {} ({}): predicted {:.3f}x, obtained {:.3f}x; {}",
                          before.verdict.kind, before.verdict.limit, before.verdict.stage,
                          predicted, gain, before.verdict.lines.back());
      if (before.verdict.kind == kind && before.verdict.limit == limit &&
          before.verdict.stage == stage && std::abs(predicted / gain - 1) <= kTolerance) {
        RecordProperty("seen", seen);
        std::printf("%s\n", seen.c_str() + 1);
        return;
      }
    }
    ADD_FAILURE() << "not " << kind << ", " << limit << " (" << stage
                  << ") in any attempt:" << seen;
  }
  static void Check(const Situation& slow, const Situation& mended, const std::string& kind,
                    const std::string& limit, const std::string& stage) {
    Check(
        slow, [&](const Outcome&) { return mended; }, kind, limit, stage);
  }
  static void TearDownTestSuite() { runtime_ = nullptr; }

 private:
  static inline std::shared_ptr<Runtime> runtime_;
  static inline std::string runtime_key_;
};

// ---- data that takes its time ----

// Sleeps for each record that it reads; `when_slept` is told.
class Slow : public data::ArraysSource {
 public:
  Slow(const testing::Rows& rows, double seconds, std::function<void(double)> when_slept = nullptr)
      : ArraysSource("slow rows", {data::MakeArray("x", Shape(DType::kF32, {kFeatures}), rows.x),
                                   data::MakeArray("y", Shape::Scalar(DType::kI32), rows.y)}),
        seconds_(seconds),
        when_slept_(std::move(when_slept)) {}
  void Read(data::ReadContext& context, int64_t epoch, std::span<const int64_t> indices,
            data::Block& out) const override {
    const data::ReadContext::Stage stage(context, stage_, static_cast<int64_t>(indices.size()));
    const double seconds = seconds_ * static_cast<double>(indices.size());
    Sleep(seconds);
    if (when_slept_) when_slept_(seconds);
    ArraysSource::Read(context, epoch, indices, out);
  }

 private:
  double seconds_;
  std::function<void(double)> when_slept_;
  std::string stage_ = "fetch";
};

data::SourcePtr Rows(int64_t launches) { return testing::Source(launches * kBatch); }

// A stage that sleeps for each record.
data::SourcePtr WithStage(const data::SourcePtr& source, double seconds, const std::string& name) {
  const data::Dataset rows = data::Dataset::FromSource(source);
  return rows
      .Map(
          rows.fields(),
          [seconds](const data::Block& in, data::Block& out) {
            Sleep(seconds * static_cast<double>(in.rows()));
            for (size_t f = 0; f < in.fields().size(); ++f) out.ShareColumn(f, in, f);
          },
          name)
      .source();
}

// ---- input, by stage ----

constexpr double kMs = 1e-3;

// Records that take so many milliseconds each to fetch, decode and augment.
Situation Input(double fetch, double decode, double augment) {
  Situation situation;
  situation.played = {{"FAKE_CUDA_STEP_MS", "20"}};
  situation.sources = [=] {
    const auto rows = std::make_shared<Slow>(MakeRows(40 * kBatch), fetch * kMs);
    return Sources{
        .train = WithStage(WithStage(rows, decode * kMs, "decode"), augment * kMs, "augment")};
  };
  return situation;
}

TEST_F(VerdictCasesTest, InputThatIsFetchedSlowly) {
  Check(Input(5, 0.2, 0.2), Input(0.2, 0.2, 0.2), "input-bound", "input", "fetch");
}
TEST_F(VerdictCasesTest, InputThatIsDecodedSlowly) {
  Check(Input(0.2, 5, 0.2), Input(0.2, 0.2, 0.2), "input-bound", "input", "decode");
}
TEST_F(VerdictCasesTest, InputThatIsAugmentedSlowly) {
  Check(Input(0.2, 0.2, 5), Input(0.2, 0.2, 0.2), "input-bound", "input", "augment");
}

TEST_F(VerdictCasesTest, MoreWorkersWhereTheyWait) {
  Situation mended = Input(5, 0.2, 0.2);
  mended.data = "workers = 6\nprefetch = 8";
  Check(Input(5, 0.2, 0.2), mended, "input-bound", "input", "fetch");
}

// The quota's throttling looks like slow input, but is told apart by the control group's count.
TEST_F(VerdictCasesTest, ThreadsThatTheCpuQuotaHoldsBack) {
  const std::string root = Fresh("group");
  std::filesystem::create_directories(root + "/proc/self");
  std::filesystem::create_directories(root + "/sys/fs/cgroup/job");
  std::ofstream(root + "/proc/self/cgroup") << "0::/job\n";
  std::ofstream(root + "/proc/self/mountinfo")
      << "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  std::ofstream(root + "/sys/fs/cgroup/job/cpu.max") << "200000 100000\n";
  auto throttled = std::make_shared<double>(0);  // one worker adds to it
  const auto write = [root](double seconds) {
    std::ofstream(root + "/sys/fs/cgroup/job/cpu.stat.new")
        << "throttled_usec " << static_cast<int64_t>(seconds * 1e6) << "\n";
    std::filesystem::rename(root + "/sys/fs/cgroup/job/cpu.stat.new",
                            root + "/sys/fs/cgroup/job/cpu.stat");
  };
  write(0);
  const auto setup = [&](double each) {
    Situation situation;
    situation.played = {{"FAKE_CUDA_STEP_MS", "20"}, {"FLATOUT_CGROUP_ROOT", root}};
    situation.sources = [=] {
      return Sources{.train =
                         std::make_shared<Slow>(MakeRows(40 * kBatch), each, [=](double seconds) {
                           *throttled += seconds;
                           write(*throttled);
                         })};
    };
    return situation;
  };
  Check(setup(5 * kMs), setup(0), "throttled", "input", "CPU quota");
}

// ---- the device's side ----

TEST_F(VerdictCasesTest, ASlowCopyToTheDevice) {
  constexpr int64_t kWide = 2048;
  const auto setup = [](const char* per_megabyte) {
    Situation situation;
    situation.played = {{"FAKE_CUDA_STEP_MS", "20"}, {"FAKE_CUDA_COPY_MS_PER_MB", per_megabyte}};
    situation.model = [] {
      return nn::Model::Sequential(nn::Input({kWide}, DType::kF32, "x"),
                                   {nn::Dense({.units = kClasses})});
    };
    situation.sources = [] {
      const testing::Rows rows = MakeRows(40 * kBatch);
      std::vector<float> x(rows.y.size() * kWide, 0.25f);
      return Sources{.train = std::make_shared<data::ArraysSource>(
                         "rows", std::vector<data::Array>{
                                     data::MakeArray("x", Shape(DType::kF32, {kWide}), x),
                                     data::MakeArray("y", Shape::Scalar(DType::kI32), rows.y)})};
    };
    return situation;
  };
  // 64 KiB a launch: 40 ms, or next to nothing.
  Check(setup("640"), setup("1"), "copy-bound", "copy", "");
}

TEST_F(VerdictCasesTest, ATinyModelThatIsLaunchedStepByStep) {
  const auto setup = [](int64_t steps) {
    Situation situation;
    situation.played = {{"FAKE_CUDA_STEP_MS", "5"}, {"FAKE_CUDA_LAUNCH_MS", "20"}};
    situation.train = fmt::format("epochs = 2\nsteps_per_launch = {}", steps);
    situation.sources = [] { return Sources{.train = Rows(40)}; };
    return situation;
  };
  Check(
      setup(1),
      [&](const Outcome& before) {
        return setup(before.verdict.change ? before.verdict.change->value : 1);
      },
      "launch-bound", "host", "launch");
}

TEST_F(VerdictCasesTest, OneSlowReplica) {
  const auto setup = [](const char* steps) {
    Situation situation;
    situation.played = {{"FAKE_CUDA_STEP_MS", steps}};
    situation.devices = 2;
    situation.sources = [] { return Sources{.train = Rows(40)}; };
    return situation;
  };
  Check(setup("20,40"), setup("20,20"), "straggler", "compute", "replica 1");
  Check(setup("30,20"), setup("20,20"), "straggler", "compute", "replica 0");
}

TEST_F(VerdictCasesTest, ACardThatIsTooHot) {
  const auto setup = [](const char* step, const char* state) {
    Situation situation;
    situation.played = {
        {"FAKE_CUDA_STEP_MS", step},
        {"FAKE_GPUS", fmt::format("name=NVIDIA H100 80GB HBM3|total=81559|reserved=551|"
                                  "busy=99|max_clock=1980|{}",
                                  state)}};
    situation.sources = [] { return Sources{.train = Rows(40)}; };
    return situation;
  };
  Check(setup("40", "clock=990|limits=0x48"), setup("20", "clock=1980|limits=0x4"), "throttled",
        "compute", "clocks");
}

// The kernels of a tiny model take less than starting them: the driver sees gaps, and a larger
// batch costs no time.
TEST_F(VerdictCasesTest, KernelsThatAreTooSmall) {
  const auto setup = [](int64_t batch) {
    Situation situation;
    situation.played = {{"FAKE_CUDA_STEP_MS", "20"}};
    situation.batch = batch;
    situation.sources = [] { return Sources{.train = Rows(120)}; };
    return situation;
  };
  Check(
      setup(kBatch),
      [&](const Outcome& before) {
        EXPECT_THAT(before.verdict.advice, HasSubstr("four times the train.global_batch"));
        return setup(4 * kBatch);
      },
      "launch-bound", "compute", "kernel launches");
}

// ---- what the host does ----

class SlowObserver : public Observer {
 public:
  explicit SlowObserver(double seconds) : seconds_(seconds) {}
  void OnProgress(const Progress&) override { Sleep(seconds_); }
  bool WantsStep(int64_t) override { return true; }

 private:
  double seconds_;
};

TEST_F(VerdictCasesTest, ACallbackThatTakesItsTime) {
  SlowObserver slow(0.04);
  Situation situation;
  situation.played = {{"FAKE_CUDA_STEP_MS", "20"}};
  situation.sources = [] { return Sources{.train = Rows(40)}; };
  const Situation mended = situation;
  situation.observer = &slow;
  Check(situation, mended, "host-bound", "host", "callbacks");
}

TEST_F(VerdictCasesTest, SnapshotsAtEveryStep) {
  const auto setup = [](const char* checkpoint) {
    Situation situation;
    situation.played = {{"FAKE_CUDA_STEP_MS", "40"}, {"FAKE_CUDA_READ_MS", "30"}};
    situation.train = "steps_per_launch = 1\nevaluate_every = 0";
    situation.rest = fmt::format("[checkpoint]\nkeep_best = false\n{}\n", checkpoint);
    situation.model = [] {
      return Chain({nn::Dense({.units = 512}), nn::Dense({.units = kClasses})});
    };
    situation.sources = [] { return Sources{.train = Rows(30)}; };
    return situation;
  };
  Check(setup("every_steps = 1"), setup("auto = true"), "checkpoint-bound", "checkpoint",
        "snapshot");
}

// ---- beside training ----

TEST_F(VerdictCasesTest, ValidationAfterEveryShortEpoch) {
  const auto setup = [](int64_t every) {
    Situation situation;
    situation.played = {{"FAKE_CUDA_STEP_MS", "20"}, {"FAKE_CUDA_EVALUATE_MS", "150"}};
    situation.train = fmt::format("epochs = 8\nsteps_per_launch = 1\nevaluate_every = {}", every);
    situation.sources = [] { return Sources{.train = Rows(20), .validation = Rows(3)}; };
    return situation;
  };
  Run(setup(1));  // compiles
  Check(
      setup(1),
      [&](const Outcome& before) {
        std::smatch every;
        EXPECT_TRUE(std::regex_search(before.verdict.advice, every,
                                      std::regex("train.evaluate_every = (\\d+)")))
            << before.verdict.advice;
        return setup(every.empty() ? 1 : std::stoll(every[1]));
      },
      "evaluation-bound", "evaluation", "validation");
}

TEST_F(VerdictCasesTest, ProgramsThatAreCompiledForTheFirstTime) {
  const std::string cache = std::getenv("FLATOUT_CACHE");
  int count = 0;
  Situation cold;
  cold.fresh_runtime = true;
  cold.played = {{"FAKE_CUDA_STEP_MS", "20"}, {"FAKE_CUDA_COMPILE_MS", "2500"}};
  cold.sources = [] { return Sources{.train = Rows(40)}; };
  std::string seen;
  bool fits = false;
  for (int attempt = 0; attempt < kAttempts && !fits; ++attempt) {
    // A cache of its own for each attempt; the second run finds what the first left.
    setenv("FLATOUT_CACHE", (cache + std::to_string(count++)).c_str(), 1);
    const Outcome before = Run(cold);
    const Outcome after = Run(cold);
    const double gain = before.wall / after.wall;
    seen += fmt::format("\npredicted {:.3f}x, obtained {:.3f}x; {}", before.verdict.predicted_gain,
                        gain, before.verdict.lines.back());
    fits = before.verdict.kind == "compile-bound" && before.verdict.limit == "compile" &&
           before.verdict.of_run &&
           std::abs(before.verdict.predicted_gain / gain - 1) <= kTolerance;
  }
  setenv("FLATOUT_CACHE", cache.c_str(), 1);
  EXPECT_TRUE(fits) << seen;
}

// ---- what the data sheet says of the steps themselves ----

// A layer of units^2 weights for eight rows: reading and writing them takes longer than computing
// with them.
nn::Model Wide(int64_t units) {
  return nn::Model::Sequential(
      nn::Input({kFeatures}, DType::kF32, "x"),
      {nn::Dense({.units = units}), nn::Dense({.units = units}), nn::Dense({.units = kClasses})});
}

TEST_F(VerdictCasesTest, StepsThatWaitForMemory) {
  const auto setup = [](const std::string& step) {
    Situation situation;
    situation.played = {{"FAKE_GPUS", "name=NVIDIA L4|total=23034|reserved=500|busy=99"},
                        {"FAKE_CUDA_STEP_MS", step}};
    situation.model = [] { return Wide(2048); };
    situation.folder = false;
    situation.sources = [] { return Sources{.train = Rows(8)}; };
    return situation;
  };
  // Half the bytes, where it is bytes that the card waits for.
  Check(
      setup("400"),
      [&](const Outcome& before) {
        EXPECT_THAT(before.verdict.advice, HasSubstr("mixed_bfloat16"));
        const watch::Roofline& sheet = before.facts.roofline.value();
        return setup(fmt::format("{}", 400 * (1 - 0.5 * sheet.memory / sheet.step())));
      },
      "memory-bound", "compute", "memory bandwidth");
}

TEST_F(VerdictCasesTest, StepsThatWaitForTheExchangeOfGradients) {
  const auto setup = [](double step) {
    Situation situation;
    situation.played = {{"FAKE_GPUS",
                         "name=NVIDIA L4|total=23034|reserved=500|busy=99;"
                         "name=NVIDIA L4|total=23034|reserved=500|busy=99"},
                        {"FAKE_CUDA_STEP_MS", fmt::format("{}", step)}};
    situation.devices = 2;
    situation.model = [] { return Wide(1024); };
    situation.folder = false;
    situation.sources = [] { return Sources{.train = Rows(6)}; };
    return situation;
  };
  // Twice the batch for the same exchange; here as the time per row that this takes.
  Check(
      setup(400),
      [&](const Outcome& before) {
        EXPECT_THAT(before.verdict.advice, HasSubstr("twice the train.global_batch"));
        const watch::Roofline& sheet = before.facts.roofline.value();
        return setup(400 * (1 - 0.5 * sheet.all_reduce / sheet.step()));
      },
      "communication-bound", "compute", "all-reduce");
}

// ---- changes that a run makes by itself, held to their predictions ----

// Follows its own advice until what it obtains is what it predicted; what it learns is what a run
// that changes nothing learns.
void CheckAdvised(const std::function<Outcome(const Situation&)>& run, Situation situation,
                  const std::string& change) {
  const Outcome plain = run(situation);
  EXPECT_TRUE(plain.advised.empty());
  situation.watch = "advise = true\nlog_seconds = 0.4";
  std::string seen;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Outcome outcome = run(situation);
    EXPECT_EQ(outcome.losses, plain.losses);
    for (const watch::Advised& advice : outcome.advised) {
      seen +=
          fmt::format("\n{} at step {} for {}: predicted {:.3f}x, obtained {:.3f}x{}",
                      advice.change, advice.step, advice.limit, advice.predicted_gain,
                      advice.obtained_gain.value_or(0), advice.taken_back ? ", taken back" : "");
    }
    if (outcome.advised.empty()) continue;
    const watch::Advised& first = outcome.advised[0];
    if (!first.change.starts_with(change) || !first.obtained_gain || first.taken_back) continue;
    if (std::abs(first.predicted_gain / *first.obtained_gain - 1) <= kTolerance) return;
  }
  ADD_FAILURE() << "no attempt obtained what it predicted of " << change << ":" << seen;
}

TEST_F(VerdictCasesTest, AdvisedToLaunchMoreStepsAtOnce) {
  Situation situation;
  situation.played = {{"FAKE_CUDA_STEP_MS", "3"}, {"FAKE_CUDA_LAUNCH_MS", "10"}};
  situation.train = "epochs = 12\nsteps_per_launch = 1";
  situation.sources = [] { return Sources{.train = Rows(40), .validation = Rows(2)}; };
  CheckAdvised(&Run, situation, "train.steps_per_launch = ");
}

TEST_F(VerdictCasesTest, AdvisedToReadWithMoreWorkers) {
  Situation situation = Input(5, 0.2, 0.2);
  situation.train = "epochs = 4\nsteps_per_launch = 1";
  CheckAdvised(&Run, situation, "data.workers = \"auto\"");
}

// Nothing is slow: then nothing is found.
TEST_F(VerdictCasesTest, ARunThatIsFullIsCalledSo) {
  Situation situation;
  situation.played = {{"FAKE_CUDA_STEP_MS", "50"}};
  situation.sources = [] { return Sources{.train = Rows(40)}; };
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Outcome outcome = Run(situation);
    if (outcome.verdict.limit == "compute" && *outcome.verdict.full > 0.95) return;
  }
  ADD_FAILURE() << "not full in any attempt";
}

}  // namespace
}  // namespace flatout::train
