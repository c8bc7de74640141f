#include "flatout/xla/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/proto.h"

namespace flatout::xla {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A CUDA plugin that is played (testdata/fake_cuda_plugin.cc), with a profiler that recorded this.
class ProfilerTest : public ::testing::Test {
 protected:
  ProfilerTest() {
    folder_ = ::testing::TempDir() + "flatout_profiler_" + std::to_string(getpid());
    MakeDirs(folder_);
    ProtoWriter plane, space;
    plane.Bytes(2, "/device:GPU:0");
    space.Message(1, plane);
    space_ = space.Take();
    AtomicWriteFile(folder_ + "/space", space_);
    setenv("FAKE_CUDA_PROFILE", (folder_ + "/space").c_str(), 1);
    setenv("FAKE_CUDA_REAL", Plugin::Load("cpu-0.81")->path().c_str(), 1);
    unsetenv("FAKE_CUDA_PROFILER");
  }
  static std::shared_ptr<Plugin> Fake() { return Plugin::Load(FAKE_CUDA_PLUGIN); }
  static std::string Record() {
    Profiler profiler(Fake());
    profiler.Start();
    profiler.Stop();
    return profiler.Collect();
  }

  std::string folder_, space_;
};

TEST_F(ProfilerTest, GivesWhatThePluginRecorded) {
  ASSERT_TRUE(Profiler::Has(*Fake()));
  setenv("FAKE_CUDA_PROFILER", "filled", 1);
  EXPECT_EQ(Record(), space_);
  setenv("FAKE_CUDA_PROFILER", "own", 1);
  EXPECT_EQ(Record(), space_) << "without the byte behind it";
}

TEST_F(ProfilerTest, SaysWhatThePluginSays) {
  for (const char* call : {"create", "start", "stop", "collect"}) {
    setenv("FAKE_CUDA_PROFILER", call, 1);
    try {
      Record();
      ADD_FAILURE() << call;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr(std::string("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES in ") + call),
                        HasSubstr("NVreg_RestrictProfilingToAdminUsers")));
    }
  }
}

TEST_F(ProfilerTest, CpuPluginsHaveNone) {
  const std::shared_ptr<Plugin> plugin = Plugin::Load("cpu");
  EXPECT_FALSE(Profiler::Has(*plugin));
  EXPECT_THROW(Profiler{plugin}, UserError);
}

// The real one, on a machine that may have no card: then it records nothing, or says why not.
TEST_F(ProfilerTest, TheCudaPluginHasOne) {
  const std::vector<PluginInfo> plugins = FindPlugins();
  for (const PluginInfo& info : plugins) {
    if (info.name != "cuda" || info.path.empty()) continue;
    const std::shared_ptr<Plugin> plugin = Plugin::Load("cuda");
    ASSERT_TRUE(Profiler::Has(*plugin));
    try {
      Profiler profiler(plugin);
      profiler.Start();
      profiler.Stop();
      const std::string space = profiler.Collect();
      ProtoReader reader(space);
      while (reader.Next()) EXPECT_LE(reader.field(), 4);
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("the profiler of plugin"));
    }
  }
}

}  // namespace
}  // namespace flatout::xla
