// flatout devices, flatout doctor and training on GPUs that are played (xla/testdata/fake_nvidia.c,
// fake_cuda_plugin.cc), and on a machine without any.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "flatout/base/error.h"
#include "flatout/cli/cli.h"
#include "flatout/xla/pjrt.h"

namespace flatout::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMiB = int64_t{1} << 20;

constexpr const char* kShared =
    "name=NVIDIA L4|total=23034|reserved=434|used=15000|proc=4321:python3:14000;"
    "name=NVIDIA A100-SXM4-40GB|total=40960|reserved=622";

struct Outcome {
  int exit_code;
  std::string out, err;
};

Outcome RunCommand(std::vector<std::string> words) {
  words.insert(words.begin(), "flatout");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.exit_code = Main(static_cast<int>(argv.size()), argv.data());
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err = ::testing::internal::GetCapturedStderr();
  return outcome;
}

class DevicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"FAKE_GPUS", "FAKE_CUDA_INIT", "FAKE_CUDA_VERSION", "FAKE_NVML_DENY",
                             "CUDA_VISIBLE_DEVICES", "PJRT_NAMES_AND_LIBRARY_PATHS"}) {
      unsetenv(name);
    }
    std::string folder = (fs::temp_directory_path() / "flatout-devices-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    setenv("FLATOUT_CACHE", (folder_ / "cache").c_str(), 1);
    setenv("FAKE_CUDA_REAL", xla::Plugin::Load("cpu-0.81")->path().c_str(), 1);
    UseGpus();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static void UseGpus() {
    setenv("FLATOUT_CUDA_LIBRARY", FAKE_NVIDIA, 1);
    setenv("FLATOUT_NVML_LIBRARY", FAKE_NVIDIA, 1);
  }
  static void UsePlugin() { setenv("PJRT_NAMES_AND_LIBRARY_PATHS", "cuda:" FAKE_CUDA_PLUGIN, 1); }
  static void UseNoDriver() {
    setenv("FLATOUT_CUDA_LIBRARY", "/no/libcuda.so.1", 1);
    setenv("FLATOUT_NVML_LIBRARY", "/no/libnvidia-ml.so.1", 1);
  }

  fs::path folder_;
};

TEST_F(DevicesTest, WithoutAGpuItSaysSoAndWhy) {
  UseNoDriver();
  const Outcome outcome = RunCommand({"devices"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("GPUs: none. no NVIDIA driver"), HasSubstr("cpu:0"),
                                 HasSubstr("cores usable")));
  const json parsed = json::parse(RunCommand({"devices", "--json"}).out);
  EXPECT_THAT(parsed["gpus"]["why_not"].get<std::string>(), HasSubstr("no NVIDIA driver"));
  EXPECT_TRUE(parsed["gpus"]["list"].empty());
  EXPECT_TRUE(parsed["gpus"]["driver_version"].is_null());
  EXPECT_GE(parsed["cpu"]["cores_usable"].get<int>(), 1);
  EXPECT_EQ(parsed["plugins"][0]["devices"][0]["device"], "cpu:0");
  EXPECT_TRUE(parsed["plugins"][0]["devices"][0]["bytes_limit"].is_null());
}

TEST_F(DevicesTest, EachCardItsMemoryAndWhoUsesIt) {
  setenv("FAKE_GPUS", kShared, 1);
  const Outcome outcome = RunCommand({"devices"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("NVIDIA driver 580.65.06, CUDA up to 13.1"), HasSubstr("cuda:0  NVIDIA L4"),
            HasSubstr(
                "memory  22.5 GiB, of which the driver keeps 434 MiB; 14.6 GiB in use, 7.42 GiB "
                "free"),
            HasSubstr("used by python3 (pid 4321) 13.7 GiB, others 1000 MiB"),
            HasSubstr("cuda:1  NVIDIA A100-SXM4-40GB, compute capability 8.0"),
            HasSubstr("used by nobody"), HasSubstr("ECC on, 1 uncorrected memory error")));
  EXPECT_THAT(outcome.out, HasSubstr("takes 6.42 GiB"));
}

TEST_F(DevicesTest, TheSameAsJson) {
  setenv("FAKE_GPUS", kShared, 1);
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  setenv("FAKE_NVML_DENY", "Power", 1);
  UsePlugin();
  const json gpus = json::parse(RunCommand({"devices", "--json"}).out)["gpus"];
  EXPECT_EQ(gpus["driver_version"], "580.65.06");
  EXPECT_EQ(gpus["cuda_version"], "13.1");
  EXPECT_TRUE(gpus["why_not"].is_null());
  ASSERT_EQ(gpus["list"].size(), 2u);
  const json& seen = gpus["list"][0];
  EXPECT_EQ(seen["device"], "cuda:0");
  EXPECT_EQ(seen["kind"], "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(seen["usable_bytes"], (40960 - 622) * kMiB);
  EXPECT_TRUE(seen["card"]["power_w"].is_null());
  EXPECT_TRUE(seen["card"]["processes"].empty());
  const json& hidden = gpus["list"][1];
  EXPECT_TRUE(hidden["device"].is_null());
  EXPECT_EQ(hidden["card"]["used_bytes"], 15000 * kMiB);
  EXPECT_EQ(hidden["card"]["free_bytes"], (23034 - 434 - 15000) * kMiB);
  EXPECT_EQ(hidden["card"]["processes"][0]["pid"], 4321);
  EXPECT_EQ(hidden["card"]["processes"][0]["name"], "python3");
  EXPECT_THAT(RunCommand({"devices"}).out, HasSubstr("CUDA_VISIBLE_DEVICES is \"1\""));
}

TEST_F(DevicesTest, SlicesAndWhatNvmlDoesNotSay) {
  setenv("FAKE_GPUS", "name=NVIDIA A100|total=40960|mig=1", 1);
  EXPECT_THAT(RunCommand({"devices"}).out,
              AllOf(HasSubstr("slice   MIG 3g.40gb"), HasSubstr("MIG-")));
  setenv("FAKE_NVML_DENY", "Info", 1);
  EXPECT_THAT(RunCommand({"devices"}).out, HasSubstr("NVML does not say"));
  setenv("FLATOUT_NVML_LIBRARY", "/no/libnvidia-ml.so.1", 1);
  EXPECT_THAT(RunCommand({"devices"}).out,
              AllOf(HasSubstr("cuda:0  NVIDIA A100"), HasSubstr("who uses them is not known")));
}

// ---- doctor ----

TEST_F(DevicesTest, DoctorWithoutAGpu) {
  UseNoDriver();
  const Outcome outcome = RunCommand({"doctor"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("missing  GPU: no NVIDIA driver"), HasSubstr("ready")));
}

TEST_F(DevicesTest, DoctorTriesAGpuThatWorks) {
  setenv("FAKE_GPUS", "name=NVIDIA L4|total=23034|reserved=434", 1);
  UsePlugin();
  const Outcome outcome = RunCommand({"doctor"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("ok       cuda:0: NVIDIA L4"),
                                 HasSubstr("plugin cuda: 1 device of kind \"NVIDIA L4\""),
                                 HasSubstr("ok       NVIDIA driver 580.65.06")));
}

TEST_F(DevicesTest, DoctorNamesWhatIsWrongWithTheCards) {
  setenv("FAKE_GPUS", kShared, 1);
  setenv("PJRT_NAMES_AND_LIBRARY_PATHS", "cuda:/no/plugin.so", 1);
  setenv("FAKE_CUDA_VERSION", "12040", 1);
  const Outcome outcome = RunCommand({"doctor"});
  EXPECT_EQ(outcome.exit_code, kExitUsage);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("PROBLEM  there are GPUs, but the plugin for them is not installed"),
                    HasSubstr("flatout plugin install cuda13 --for-running"),
                    HasSubstr("580.65.06 serves CUDA up to 12.4"), HasSubstr("580 or newer"),
                    HasSubstr("used by python3 (pid 4321)"),
                    HasSubstr("PROBLEM  cuda:1 (NVIDIA A100-SXM4-40GB): 1 memory error"),
                    HasSubstr("persistence is off")));
  setenv("FAKE_CUDA_INIT", "802", 1);
  EXPECT_THAT(RunCommand({"doctor"}).out,
              AllOf(HasSubstr("NVML sees 2 cards, but CUDA none"), HasSubstr("fabricmanager")));
}

// ---- training under a cap ----

class CappedTrainingTest : public DevicesTest {
 protected:
  // 96 images of 28 x 28 in 3 classes.
  void SetUp() override {
    DevicesTest::SetUp();
    UsePlugin();
    setenv("FAKE_GPUS", "name=NVIDIA L4|total=23034|reserved=434", 1);
    const auto header = [](std::vector<int> dims) {
      std::string text = {0, 0, 8, static_cast<char>(dims.size())};
      for (int dim : dims) text += {0, 0, static_cast<char>(dim >> 8), static_cast<char>(dim)};
      return text;
    };
    std::string images = header({96, 28, 28}), labels = header({96});
    for (int i = 0; i < 96; ++i) {
      for (int p = 0; p < 28 * 28; ++p) images += static_cast<char>((i % 3 * 60 + p * 7) % 200);
      labels += static_cast<char>(i % 3);
    }
    std::ofstream(folder_ / "images", std::ios::binary) << images;
    std::ofstream(folder_ / "labels", std::ios::binary) << labels;
  }

  // 807,000 weights and hardly any activations; hardly any weights and large activations.
  static constexpr const char* kDense =
      "[[model.layers]]\nclass = \"Flatten\"\n[[model.layers]]\nclass = \"Dense\"\nunits = 1024\n"
      "activation = \"relu\"\n[[model.layers]]\nclass = \"Dense\"\nunits = 3\n";
  static constexpr const char* kConvolution =
      "[[model.layers]]\nclass = \"Conv2D\"\nfilters = 32\nkernel_size = 3\npadding = \"same\"\n"
      "activation = \"relu\"\n[[model.layers]]\nclass = \"GlobalAveragePooling2D\"\n"
      "[[model.layers]]\nclass = \"Dense\"\nunits = 3\n";

  Outcome Train(const std::string& memory, const std::string& layers) {
    const std::string run = (folder_ / "run.toml").string();
    std::ofstream(run) << "[model]\n[[model.layers]]\nclass = \"Rescaling\"\nscale = 0.01\n"
                       << layers << "[data]\nsource = \"idx\"\ntrain_images = \""
                       << (folder_ / "images").string() << "\"\ntrain_labels = \""
                       << (folder_ / "labels").string() << "\"\nclasses = 3\n[train]\n"
                       << "global_batch = 32\nepochs = 2\nsteps_per_launch = 1\n"
                       << "device = \"cuda\"\nmemory = " << memory << "\n";
    return RunCommand({"train", run, "--run-dir", (folder_ / "run").string()});
  }
};

TEST_F(CappedTrainingTest, ARunStaysBelowItsCap) {
  // The whole batch, and so little that rows must take turns or be computed twice.
  for (const int64_t mib : {64, 4}) {
    const Outcome outcome = Train("\"grow," + std::to_string(mib) + "MiB\"", kConvolution);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out + outcome.err,
                AllOf(HasSubstr("NVIDIA L4"), HasSubstr("MiB of 22.1 GiB, on demand")));
    std::ifstream file(folder_ / "run" / "summary.json");
    const json memory = json::parse(file)["memory"];
    // The allocator's own count of the most that was in use.
    ASSERT_TRUE(memory["peak_bytes"].is_number()) << memory;
    EXPECT_LE(memory["peak_bytes"].get<int64_t>(), mib * kMiB) << memory;
    EXPECT_LE(memory["planned_bytes"].get<int64_t>(), mib * kMiB) << memory;
    const bool whole = memory["micro_batch"] == 32 && memory["recompute"] == "none";
    EXPECT_EQ(whole, mib == 64) << memory;
    fs::remove_all(folder_ / "run");
  }
}

TEST_F(CappedTrainingTest, ACapBelowTheWeightsIsSaidBeforeTraining) {
  const Outcome outcome = Train("\"2MiB\"", kDense);
  EXPECT_EQ(outcome.exit_code, kExitOutOfMemory) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("2.00 MiB"), Not(HasSubstr("XLA says"))));
}

}  // namespace
}  // namespace flatout::cli
