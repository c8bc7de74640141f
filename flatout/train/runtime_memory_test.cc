// The memory a run takes: on the cards of xla/testdata/fake_gpus.h, through a CUDA plugin that runs
// on the CPU, and on CPU devices.
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/train/runtime.h"

namespace flatout::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kH100 = (81559 - 551) * kMiB;  // what programs can have of it

TrainOptions Options(const std::string& memory, const std::string& device = "cuda",
                     int64_t devices = 1) {
  // As a run file gives it, with its place.
  const Config table = Config::ParseToml("\nmemory = " + memory, "run.toml");
  TrainOptions options;
  options.device = device;
  options.devices = Config(devices);
  options.memory = *table.Find("memory");
  return options;
}

class RuntimeMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("FAKE_CUDA_REAL", xla::Plugin::Load("cpu-0.81")->path().c_str(), 1);
    setenv("PJRT_NAMES_AND_LIBRARY_PATHS", "cuda:" FAKE_CUDA_PLUGIN, 1);
    setenv("FLATOUT_CUDA_LIBRARY", FAKE_NVIDIA, 1);
    setenv("FLATOUT_NVML_LIBRARY", FAKE_NVIDIA, 1);
    record_ = ::testing::TempDir() + "/created" + std::to_string(getpid());
    setenv("FAKE_CUDA_RECORD", record_.c_str(), 1);
    std::remove(record_.c_str());
    for (const char* name : {"FAKE_GPUS", "FAKE_CUDA_LIMIT", "FAKE_CUDA_EXTRA",
                             "CUDA_VISIBLE_DEVICES", "FAKE_NVML_DENY"}) {
      unsetenv(name);
    }
  }
  void TearDown() override { std::remove(record_.c_str()); }

  std::vector<std::string> Recorded() const {
    std::ifstream file(record_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  // The error of a run with these options; its exit code in code_.
  std::string ErrorOf(const TrainOptions& options) {
    try {
      const Runtime runtime(options);
    } catch (const UserError& error) {
      code_ = error.exit_code();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  // What is warned of while a run with these options starts.
  static std::string WarningsOf(const TrainOptions& options) {
    ::testing::internal::CaptureStderr();
    { const Runtime runtime(options); }
    return ::testing::internal::GetCapturedStderr();
  }

  std::string record_;
  int code_ = 0;
};

TEST_F(RuntimeMemoryTest, AllTakesAllButTheDriversShare) {
  const Runtime runtime(Options("\"all\""));
  const int64_t expected = kH100 - xla::GpuReserveBytes(kH100, 1);
  EXPECT_NEAR(static_cast<double>(*runtime.memory_limit()), static_cast<double>(expected), kMiB);
  EXPECT_EQ(runtime.free_memory(), runtime.memory_limit());
  EXPECT_THAT(runtime.Describe(),
              AllOf(StartsWith("1 x NVIDIA H100 80GB HBM3 (plugin cuda, PJRT 0."),
                    HasSubstr("memory: 75.9 GiB of 79.1 GiB"), Not(HasSubstr("on demand"))));
}

TEST_F(RuntimeMemoryTest, GrowthAndCapTogether) {
  const Runtime runtime(Options("\"grow,10GiB\""));
  EXPECT_THAT(Recorded(), ElementsAre("create", "preallocate=false", HasSubstr("memory_fraction"),
                                      "visible_devices=0,"));
  EXPECT_LE(*runtime.memory_limit(), 10 * kGiB);
  EXPECT_GE(*runtime.memory_limit(), 10 * kGiB - kMiB);
  const auto stats = runtime.devices()[0].memory_stats();
  EXPECT_LE(*stats->pool_bytes, kMiB);  // at the start nearly nothing
  EXPECT_THAT(runtime.Describe(), AllOf(HasSubstr("10.0 GiB of 79.1 GiB"), HasSubstr("on demand")));
}

TEST_F(RuntimeMemoryTest, APartOfTheCard) {
  for (const char* half : {"0.5", "\"0.5\""}) {
    const Runtime runtime(Options(half));
    EXPECT_EQ(runtime.memory_limit(), kH100 / 2);
    EXPECT_EQ(*runtime.devices()[0].memory_stats()->pool_bytes, kH100 / 2 / 256 * 256);
  }
}

TEST_F(RuntimeMemoryTest, OnlyTheChosenCardsAreTouched) {
  const Runtime second(Options("\"grow\"", "cuda:1"));
  EXPECT_THAT(Recorded(), ::testing::Contains("visible_devices=1,"));
  ASSERT_EQ(second.replicas(), 1);
  EXPECT_EQ(second.devices()[0].kind(), "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(second.devices()[0].local_hardware_id(), 1);
  EXPECT_THAT(ErrorOf(Options("\"grow\"", "cuda:2")),
              AllOf(HasSubstr("\"cuda:2\""), HasSubstr("2")));
  EXPECT_THAT(ErrorOf(Options("\"grow\"", "cuda", 3)),
              AllOf(HasSubstr("3 devices"), HasSubstr("found 2")));
}

TEST_F(RuntimeMemoryTest, SeveralCapsOnDifferentCards) {
  // The smaller of two cards gets the same part, and the run counts with that.
  std::string warnings;
  ::testing::internal::CaptureStderr();
  {
    const Runtime runtime(Options("\"20GiB\"", "cuda", 2));
    warnings = ::testing::internal::GetCapturedStderr();
    const int64_t large = *runtime.devices()[0].memory_stats()->bytes_limit;
    const int64_t small = *runtime.devices()[1].memory_stats()->bytes_limit;
    EXPECT_LE(large, 20 * kGiB);
    EXPECT_LT(small, 11 * kGiB);
    EXPECT_LE(*runtime.memory_limit(), small);
    EXPECT_THAT(runtime.Describe(), AllOf(HasSubstr("2 x"), HasSubstr(" each")));
  }
  EXPECT_THAT(warnings, AllOf(HasSubstr("cuda:1"), HasSubstr("these cards differ")));
}

TEST_F(RuntimeMemoryTest, ACapAboveTheCard) {
  EXPECT_THAT(ErrorOf(Options("\"100GiB\"")),
              AllOf(StartsWith("run.toml:2:"), HasSubstr("memory: "), HasSubstr("100 GiB"),
                    HasSubstr("cuda:0"), HasSubstr("H100"), HasSubstr("79.1 GiB")));
  EXPECT_EQ(code_, kExitUsage);
  EXPECT_THAT(ErrorOf(Options("\"grow,50GiB\"", "cuda:1")), HasSubstr("39.4 GiB"));
}

TEST_F(RuntimeMemoryTest, NonsenseIsRefusedAtItsPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"\"-1GiB\"", "above 0"},
      {"\"0\"", "above 0"},
      {"0", "above 0"},
      {"-0.5", "above 0"},
      {"\"0GiB\"", "above 0"},
      {"1.5", "did you mean \"1.5GiB\"?"},
      {"10", "did you mean \"10GiB\"?"},
      {"\"10Gb?\"", "\"Gb?\" is no unit"},
      {"\"10Gb\"", "\"Gb\" is no unit"},
      {"\"half\"", "\"half\" is neither"},
      {"\"nan\"", "neither"},
      {"\"infGiB\"", "no device has that much"},
      {"\"1e99GiB\"", "no device has that much"},
      {"\"\"", "not understood"},
      {"\"grow,\"", "not understood"},
      {"\"grow,grow\"", "not understood"},
      {"\"all,10GiB\"", "not understood"},
      {"\"1GiB,2GiB\"", "two caps"},
      {"\"grow,0.5,1GiB\"", "two caps"},
      {"true", "found true"},
      {"[1]", "expected"},
  };
  for (const char* device : {"cpu", "cuda"}) {
    for (const auto& [value, text] : cases) {
      const std::string error = ErrorOf(Options(value, device));
      EXPECT_THAT(error, AllOf(StartsWith("run.toml:2:1: memory: "), HasSubstr(text),
                               HasSubstr("expected")))
          << value;
      EXPECT_EQ(code_, kExitUsage);
    }
  }
  EXPECT_THAT(Recorded(), IsEmpty());  // before any device is touched
}

// ---- sharing a card ----

constexpr const char* kShared =
    "name=NVIDIA L4|total=23034|reserved=434|used=15000|proc=4321:python3:15000";

TEST_F(RuntimeMemoryTest, ACapThatOthersLeaveNoRoomFor) {
  setenv("FAKE_GPUS", kShared, 1);
  EXPECT_THAT(ErrorOf(Options("\"10GiB\"")),
              AllOf(StartsWith("run.toml:2:"), HasSubstr("7.42 GiB free of 22.1 GiB"),
                    HasSubstr("10.0 GiB are to be taken at once"),
                    HasSubstr("python3 (pid 4321) 14.6 GiB")));
  EXPECT_EQ(code_, kExitOutOfMemory);
  EXPECT_THAT(ErrorOf(Options("0.5")), HasSubstr("python3 (pid 4321)"));
  EXPECT_EQ(code_, kExitOutOfMemory);
  // On demand it may still come out all right.
  EXPECT_THAT(WarningsOf(Options("\"grow,10GiB\"")),
              AllOf(HasSubstr("10.0 GiB may be needed"), HasSubstr("python3 (pid 4321)")));
  EXPECT_THAT(WarningsOf(Options("\"7GiB\"")), IsEmpty());
}

TEST_F(RuntimeMemoryTest, AllIsWhatOthersLeave) {
  setenv("FAKE_GPUS", kShared, 1);
  const Runtime runtime(Options("\"all\""));
  const int64_t free = (23034 - 434 - 15000) * kMiB;
  EXPECT_LE(*runtime.memory_limit(), free - kGiB);
  EXPECT_GE(*runtime.memory_limit(), free - kGiB - kMiB);
  EXPECT_THAT(runtime.Describe(), HasSubstr("others there: python3 (pid 4321) 14.6 GiB"));
  setenv("FAKE_GPUS", "name=NVIDIA L4|total=23034|reserved=434|used=22000|proc=4321:python3:22000",
         1);
  EXPECT_THAT(ErrorOf(Options("\"all\"")), AllOf(HasSubstr("600 MiB free"), HasSubstr("python3")));
  EXPECT_EQ(code_, kExitOutOfMemory);
}

TEST_F(RuntimeMemoryTest, OnDemandCountsWhatTheCardReallyHas) {
  setenv("FAKE_GPUS", kShared, 1);
  const Runtime runtime(Options("\"grow,10GiB\""));
  EXPECT_GE(*runtime.memory_limit(), 10 * kGiB - kMiB);
  // And what it has taken so far.
  EXPECT_LE(*runtime.free_memory(), (23034 - 434 - 15000) * kMiB + 256);
}

TEST_F(RuntimeMemoryTest, EqualCapsAreEqualWhoeverStartsFirst) {
  // Two runs at 0.4 of the card: each gets 0.4 of the whole, not of what is left.
  int64_t first = 0;
  {
    setenv("FAKE_GPUS", "name=L4|total=20000", 1);
    first = *Runtime(Options("0.4")).memory_limit();
  }
  setenv("FAKE_GPUS", "name=L4|total=20000|used=8300|proc=12:flatout:8300", 1);
  EXPECT_EQ(*Runtime(Options("0.4")).memory_limit(), first);
  EXPECT_EQ(first / kMiB, 7999);  // rounded to 256 bytes, below
}

TEST_F(RuntimeMemoryTest, LessThanAskedForIsSaid) {
  // NVML shows nothing, and the card has less than it should.
  setenv("FAKE_GPUS", kShared, 1);
  setenv("FAKE_NVML_DENY", "nvml", 1);
  EXPECT_THAT(WarningsOf(Options("\"10GiB\"")),
              AllOf(HasSubstr("10.0 GiB were to be taken at once"), HasSubstr("could be had")));
  const Runtime runtime(Options("\"10GiB\""));
  EXPECT_LE(*runtime.memory_limit(), (23034 - 434 - 15000) * kMiB);
}

// ---- what the plugin makes of it ----

TEST_F(RuntimeMemoryTest, APluginThatTakesMoreIsAnError) {
  setenv("FAKE_CUDA_LIMIT", "20480", 1);
  for (const char* memory : {"\"10GiB\"", "\"grow,10GiB\"", "0.2"}) {
    EXPECT_THAT(ErrorOf(Options(memory)),
                AllOf(StartsWith("run.toml:2:"), HasSubstr("20.0 GiB"), HasSubstr("cuda:0"),
                      HasSubstr("memory_fraction"), HasSubstr(FAKE_CUDA_PLUGIN)));
  }
  EXPECT_THAT(WarningsOf(Options("\"30GiB\"")),
              AllOf(HasSubstr("20.0 GiB of the 30.0 GiB"), Not(HasSubstr("differ"))));
}

TEST_F(RuntimeMemoryTest, AnotherIdeaOfTheCardsMemoryIsAllowedFor) {
  // XLA finds more memory than the driver says: the part is corrected, the cap held.
  setenv("FAKE_CUDA_EXTRA", "512", 1);
  for (const char* memory : {"\"10GiB\"", "\"grow,10GiB\""}) {
    const Runtime runtime(Options(memory));
    EXPECT_LE(*runtime.devices()[0].memory_stats()->bytes_limit, 10 * kGiB);
    EXPECT_GE(*runtime.devices()[0].memory_stats()->bytes_limit, 10 * kGiB - kMiB);
  }
  const Runtime half(Options("0.5"));
  EXPECT_LE(*half.devices()[0].memory_stats()->bytes_limit, kH100 / 2);
}

// ---- CPU ----

TEST_F(RuntimeMemoryTest, OnCpuACapIsForPlans) {
  const Runtime capped(Options("\"256MiB\"", "cpu", 2));
  EXPECT_EQ(capped.memory_limit(), 256 * kMiB);
  EXPECT_LE(*capped.free_memory(), 256 * kMiB);
  EXPECT_THAT(capped.Describe(),
              AllOf(HasSubstr("plans with 256 MiB a device"), HasSubstr("does not hold")));
  const int64_t usable = ReadCgroup().memory.usable;
  ASSERT_GT(usable, 0);
  EXPECT_EQ(Runtime(Options("\"all\"", "cpu", 2)).memory_limit(), usable / 2);
  EXPECT_EQ(Runtime(Options("\"grow\"", "cpu")).memory_limit(), usable);
  EXPECT_EQ(Runtime(Options("0.25", "cpu")).memory_limit(),
            static_cast<int64_t>(0.25 * static_cast<double>(usable)));
  EXPECT_THAT(Runtime(Options("\"all\"", "cpu")).Describe(), Not(HasSubstr("memory")));
  EXPECT_THAT(ErrorOf(Options("\"900TiB\"", "cpu", 2)),
              AllOf(StartsWith("run.toml:2:"), HasSubstr("900 TiB"), HasSubstr(HumanBytes(usable)),
                    HasSubstr("each")));
}

TEST_F(RuntimeMemoryTest, TheLastLogicalCpuDevice) {
  EXPECT_EQ(Runtime(Options("\"all\"", "cpu:255")).devices()[0].index(), 255);
  EXPECT_THAT(ErrorOf(Options("\"all\"", "cpu:256")),
              AllOf(HasSubstr("\"cpu:256\""), HasSubstr("at most 256")));
}

TEST(MemoryOptionsTest, TextsAreReadBack) {
  for (const char* text : {"all", "grow", "10GiB", "1TiB", "1500MiB", "2GB", "333MB", "7B", "0.5",
                           "grow,10GiB", "grow,0.25"}) {
    const xla::MemoryOptions options = xla::MemoryOptions::Parse(text);
    EXPECT_EQ(options.ToString(), text);
    EXPECT_EQ(xla::MemoryOptions::Parse(options.ToString()), options);
  }
  EXPECT_EQ(xla::MemoryOptions::Parse(" 10 GiB , grow ").ToString(), "grow,10GiB");
  EXPECT_EQ(xla::MemoryOptions::Parse("1").ToString(), "1");
}

}  // namespace
}  // namespace flatout::train
