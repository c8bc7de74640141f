// flatout profile as people run it, on the CPU and on a GPU that is played.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "flatout/watch/profile/testing.h"
#include "tests/small_run.h"

namespace flatout {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::MatchesRegex;
using ::testing::Not;
using testing::Outcome;
using testing::ReadAll;
using ::testing::SizeIs;

class ProfileCommand : public testing::SmallRun {
 protected:
  static std::vector<std::string> Profile(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {"profile", "run.toml", "--steps", "10"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  // Files below a folder, without the folder itself.
  std::vector<fs::path> Files(const std::string& folder) const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(Path(folder))) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
};

TEST_F(ProfileCommand, ShowsWhatThreadsAndDevicesDid) {
  const Outcome outcome = Run(Profile());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("training thread"));
  EXPECT_THAT(outcome.out, HasSubstr("compute"));
  EXPECT_THAT(outcome.out, HasSubstr("kernels: n/a (this plugin has no profiler)"));
  const std::vector<fs::path> files = Files("runs/run-profile");
  ASSERT_THAT(files, SizeIs(1)) << "nothing of the training is kept";
  EXPECT_EQ(files[0].filename(), "trace.json");

  const json trace = json::parse(ReadAll(files[0]));
  std::map<int, std::string> tracks;
  std::map<std::string, std::set<std::string>> names;
  double last = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] == "thread_name") {
      tracks[event["tid"]] = event["args"]["name"];
    }
    if (event["ph"] != "X") continue;
    EXPECT_GE(event["ts"].get<double>(), 0);
    EXPECT_GE(event["dur"].get<double>(), 0);
    names[tracks.at(event["tid"])].insert(event["name"].get<std::string>());
    last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
  }
  EXPECT_GT(last, 0);
  EXPECT_THAT(names["device 0"], Contains("compute"));
  EXPECT_THAT(names["training thread"], IsSupersetOf({"launch", "results", "wait for device"}));
  std::set<std::string> input;
  for (const auto& [track, stages] : names) {
    if (track.starts_with("input")) input.insert(stages.begin(), stages.end());
  }
  EXPECT_THAT(input, IsSupersetOf({"parse csv", "assemble"}));
}

// As many steps as asked for, or as many more as the last launch has.
TEST_F(ProfileCommand, RecordsWholeLaunches) {
  const Outcome outcome = Run(Profile({"--set", "train.steps_per_launch=4"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\n12 steps in "));
}

TEST_F(ProfileCommand, ShowsKernelsWhereThePluginHasAProfiler) {
  const std::string space = watch::profile::PlayedSpace();
  AtomicWriteFile(Path("space"), space);
  std::vector<std::string> environment = {"FAKE_CUDA_PROFILE=" + Path("space").string(),
                                          "FAKE_CUDA_PROFILER=own"};
  environment.push_back("FAKE_CUDA_REAL=" FLATOUT_DEPS_FOLDER
                        "/xla_cpu_pjrt/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so");
  environment.push_back("FLATOUT_CUDA_LIBRARY=" FAKE_NVIDIA);
  environment.push_back("FLATOUT_NVML_LIBRARY=" FAKE_NVIDIA);
  environment.push_back("PJRT_NAMES_AND_LIBRARY_PATHS=cuda:" FAKE_CUDA_PLUGIN);
  const std::vector<std::string> command =
      Profile({"--out", "out", "--set", "train.device=cuda", "--kernels", "1"});
  Outcome outcome = Run(command, environment);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("/device:GPU:0: kernels and copies ran 70.0 %"));
  EXPECT_THAT(outcome.out, HasSubstr("gemm_fusion (dot.3)"));
  EXPECT_THAT(outcome.out, HasSubstr("and 1 more"));
  const std::vector<fs::path> files = Files("out");
  ASSERT_THAT(files, SizeIs(2));
  const fs::path& xplane = files[0].extension() == ".pb" ? files[0] : files[1];
  EXPECT_THAT(xplane.string(), MatchesRegex(".*/out/plugins/profile/[0-9_]+/.+\\.xplane\\.pb"));
  EXPECT_EQ(ReadAll(xplane), space);

  // One that may not look at the card: the rest is recorded all the same.
  environment[1] = "FAKE_CUDA_PROFILER=start";
  outcome = Run(command, environment);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kernels: n/a ("));
  EXPECT_THAT(outcome.out, HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES in start"));
  EXPECT_THAT(outcome.out, HasSubstr("training thread"));
}

TEST_F(ProfileCommand, SaysWhatIsWrong) {
  Outcome outcome = Run({"profile", "run.toml", "--steps", "0"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--steps"));
  outcome = Run({"profile", "missing.toml"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("missing.toml"));
  AtomicWriteFile(Path("file"), "no folder");
  outcome = Run(Profile({"--out", "file/out"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("file/out"));
}

}  // namespace
}  // namespace flatout
