// flatout plugin: installing from kept wheels, refusing changed ones, saying what to do when there
// is no network, leaving nothing half done.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The wheel that deps/install --cuda13 keeps.
fs::path KeptWheel() {
  for (const auto& entry : fs::directory_iterator(fs::path(FLATOUT_DEPS_FOLDER) / "wheels")) {
    if (entry.path().filename().string().starts_with("jax_cuda13_pjrt-")) return entry.path();
  }
  return {};
}

class PluginCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "flatout-plugin-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    deps_ = folder_ / "deps";
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Runs `flatout plugin <arguments>` with FLATOUT_DEPS at deps_; its exit code, with everything it
  // said in `said_`.
  int Run(const std::string& arguments, const std::string& variables = "") {
    const std::string out = (folder_ / "out").string();
    const std::string command =
        fmt::format("env FLATOUT_DEPS='{}' {} '{}' plugin {} >'{}' 2>&1 </dev/null", deps_.string(),
                    variables, FLATOUT_BINARY, arguments, out);
    const int status = std::system(command.c_str());
    said_ = ReadFile(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // A python3 that does what the script says, before all others in PATH.
  std::string FakePython(const std::string& script) const {
    fs::create_directories(folder_ / "bin");
    std::ofstream(folder_ / "bin/python3") << "#!/bin/sh\n" << script << "\n";
    chmod((folder_ / "bin/python3").c_str(), 0755);
    return fmt::format("PATH='{}':\"$PATH\"", (folder_ / "bin").string());
  }

  std::vector<std::string> Left() const {
    std::vector<std::string> names;
    if (!fs::exists(deps_)) return names;
    for (const auto& entry : fs::directory_iterator(deps_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  fs::path folder_, deps_;
  std::string said_;
};

TEST_F(PluginCommand, InstallsFromKeptWheelsOnceAndIsThenDone) {
  const fs::path wheel = KeptWheel();
  ASSERT_FALSE(wheel.empty()) << "deps/install --cuda13 keeps it";
  ASSERT_EQ(Run(fmt::format("install cuda13 --wheels '{}'", wheel.parent_path().string())), 0)
      << said_;
  EXPECT_THAT(
      said_, AllOf(HasSubstr("installed into"), HasSubstr("hashes checked"),
                   HasSubstr("PJRT 0.116"), HasSubstr("for planning"), HasSubstr("--for-running")));
  EXPECT_THAT(Left(), UnorderedElementsAre("xla_cuda13", ".lock"));
  // As deps/install leaves it, so that neither does the other's work again.
  EXPECT_EQ(ReadFile(deps_ / "xla_cuda13/.flatout-wheel"),
            ReadFile(fs::path(FLATOUT_DEPS_FOLDER) / "xla_cuda13/.flatout-wheel"));
  const auto when = fs::last_write_time(deps_ / "xla_cuda13");

  // Again: nothing is fetched, no pip is called.
  ASSERT_EQ(Run("install cuda13", FakePython("exit 9")), 0) << said_;
  EXPECT_THAT(said_, AllOf(HasSubstr("installed already"), HasSubstr("PJRT 0.116")));
  EXPECT_EQ(fs::last_write_time(deps_ / "xla_cuda13"), when);

  ASSERT_EQ(Run("list"), 0) << said_;
  EXPECT_THAT(said_, HasSubstr((deps_ / "xla_cuda13").string()));
  EXPECT_THAT(said_, HasSubstr("(planning)"));
}

TEST_F(PluginCommand, AChangedWheelIsRefused) {
  const fs::path wheel = KeptWheel();
  ASSERT_FALSE(wheel.empty());
  const fs::path wheels = folder_ / "wheels";
  fs::create_directories(wheels);
  // The right name, other bytes.
  std::ofstream(wheels / wheel.filename(), std::ios::binary) << "PK nothing of the kind";
  EXPECT_EQ(Run(fmt::format("install cuda13 --wheels '{}'", wheels.string())), 2);
  EXPECT_THAT(said_, AllOf(HasSubstr("pip could not install from"), HasSubstr("unchanged"),
                           HasSubstr("jax-cuda13-pjrt==")));
  EXPECT_THAT(Left(), ElementsAre(".lock"));
}

TEST_F(PluginCommand, WithoutNetworkSaysHowToFetchElsewhere) {
  EXPECT_EQ(Run("install cuda13", FakePython("echo no route to host >&2; exit 1")), 2);
  EXPECT_THAT(said_, AllOf(HasSubstr("no route to host"), HasSubstr("nothing was changed"),
                           HasSubstr("python3 -m pip download --no-deps"),
                           HasSubstr("jax-cuda13-pjrt=="), HasSubstr("--wheels wheels")));
  EXPECT_THAT(Left(), ElementsAre(".lock"));
}

TEST_F(PluginCommand, WithoutPythonSaysWhatIsMissing) {
  // A PATH that holds nothing; the binary itself is called by its path.
  EXPECT_EQ(Run("install cuda13", fmt::format("PATH='{}'", (folder_ / "nowhere").string())), 2);
  EXPECT_THAT(said_, HasSubstr("there is no python3"));
  EXPECT_THAT(Left(), ElementsAre(".lock"));
}

TEST_F(PluginCommand, WhatIsThereIsKeptWhenAnUpdateFails) {
  fs::create_directories(deps_ / "xla_cuda13");
  std::ofstream(deps_ / "xla_cuda13/.flatout-wheel") << "an older one\n";
  EXPECT_EQ(Run("install cuda13", FakePython("exit 1")), 2);
  EXPECT_EQ(ReadFile(deps_ / "xla_cuda13/.flatout-wheel"), "an older one\n");
  EXPECT_THAT(Left(), UnorderedElementsAre("xla_cuda13", ".lock"));
}

TEST_F(PluginCommand, AWheelWithoutThePluginIsNotPutIntoPlace) {
  // pip succeeds, but brings something else.
  EXPECT_EQ(Run("install cuda13", FakePython("exit 0")), 70);
  EXPECT_THAT(said_, HasSubstr("xla_cuda_plugin.so"));
  EXPECT_THAT(Left(), ElementsAre(".lock"));
}

TEST_F(PluginCommand, WrongArgumentsAreNamed) {
  EXPECT_EQ(Run("install cuda12"), 2);
  EXPECT_THAT(said_, HasSubstr("did you mean \"cuda13\"?"));
  EXPECT_EQ(Run("install cuda13 --wheels /no/such/folder"), 2);
  EXPECT_THAT(said_, HasSubstr("there is no such folder"));
  EXPECT_EQ(Run("install"), 2);
  EXPECT_EQ(Run(""), 2);
  EXPECT_THAT(Left(), Not(::testing::Contains("xla_cuda13")));
}

TEST_F(PluginCommand, AFolderThatCannotBeWrittenIsNamed) {
  std::ofstream(deps_) << "a file in the folder's place";
  EXPECT_EQ(Run("install cuda13"), 2);
  EXPECT_THAT(said_, HasSubstr(deps_.string()));
}

}  // namespace
