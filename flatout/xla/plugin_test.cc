// Finding plugins and refusing wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "flatout/base/error.h"
#include "flatout/xla/pjrt.h"

namespace flatout::xla {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string Fake(const std::string& name) { return std::string(FAKES) + "/fake_" + name + ".so"; }

std::string LoadError(const std::string& name) {
  try {
    Plugin::Load(name);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// Sets an environment variable for the length of a test.
class ScopedEnv {
 public:
  ScopedEnv(const char* name, const std::string& value) : name_(name) {
    if (const char* old = getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedEnv() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

PluginInfo Info(const std::string& name) {
  for (const PluginInfo& info : FindPlugins()) {
    if (info.name == name) return info;
  }
  ADD_FAILURE() << name;
  return {};
}

TEST(PluginTest, LoadsBothAndSaysWhatTheyAre) {
  auto older = Plugin::Load("cpu-0.81");
  auto newer = Plugin::Load("cpu-0.115");
  EXPECT_EQ(older->version().ToString(), "0.81");
  EXPECT_EQ(newer->version().ToString(), "0.115");
  EXPECT_EQ(older->attributes().at("stablehlo_current_version"), "1.13.3");
  EXPECT_EQ(newer->attributes().at("stablehlo_current_version"), "1.20.0");
  EXPECT_EQ(older->attributes().at("stablehlo_minimum_version"), "0.9.0");
  EXPECT_TRUE(older->attributes().contains("xla_version"));
  EXPECT_THAT(older->warning(), IsEmpty());
  EXPECT_THAT(newer->warning(), IsEmpty());
  // Once per process and file, under whichever name.
  EXPECT_EQ(Plugin::Load("cpu-0.81"), older);
  EXPECT_EQ(Plugin::Load(older->path()), older);
  auto standard = Plugin::Load("cpu");
  EXPECT_TRUE(standard == older || standard == newer);
  EXPECT_EQ(Plugin::Load("cpu:0"), standard);
}

TEST(PluginTest, BothServeOneProcess) {
  auto a = Client::Create(Plugin::Load("cpu-0.81"), {.cpu_device_count = 3});
  auto b = Client::Create(Plugin::Load("cpu-0.115"), {.cpu_device_count = 2});
  EXPECT_EQ(a->devices().size(), 3u);
  EXPECT_EQ(b->devices().size(), 2u);
}

TEST(PluginTest, RefusesOtherVersions) {
  EXPECT_THAT(LoadError(Fake("major1")),
              AllOf(HasSubstr("PJRT version 1.0"), HasSubstr("built with 0.81"),
                    HasSubstr(Fake("major1")), HasSubstr("deps/install")));
  EXPECT_THAT(LoadError(Fake("old")), AllOf(HasSubstr("PJRT version 0.28"), HasSubstr("0.29")));
  EXPECT_THAT(LoadError(Fake("tiny")), HasSubstr("(24 bytes"));
  EXPECT_THAT(LoadError(Fake("short")),
              AllOf(HasSubstr("version 0.81"), HasSubstr("lacks functions")));
}

TEST(PluginTest, WarnsOfUntestedVersions) {
  auto plugin = Plugin::Load(Fake("future"));
  EXPECT_THAT(plugin->warning(), AllOf(HasSubstr("0.9999"), HasSubstr("0.116")));
  try {
    Client::Create(plugin, {});
    FAIL() << "a client without devices";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no devices"));
  }
  EXPECT_THROW(plugin->RegisterFfiHandler("my.op", nullptr), UserError);
}

TEST(PluginTest, NamesAMissingFunction) {
  try {
    Client::Create(Plugin::Load(Fake("lacks")), {});
    FAIL() << "a missing function was called";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), Code::kUnimplemented);
    EXPECT_THAT(error.what(), HasSubstr("PJRT_Client_PlatformName"));
  }
}

TEST(PluginTest, RefusesWhatIsNoPlugin) {
  EXPECT_THAT(LoadError(Fake("no_api")), HasSubstr("no function GetPjrtApi"));
  EXPECT_THAT(LoadError("/no/such/plugin.so"), HasSubstr("no such file"));
  EXPECT_THAT(LoadError("/proc"), HasSubstr("not a file"));
  const std::string text = ::testing::TempDir() + "not_a_library.so";
  std::ofstream(text) << "hello";
  EXPECT_THAT(LoadError(text), AllOf(HasSubstr("cannot be loaded"), HasSubstr(text)));
  fs::remove(text);
  EXPECT_THAT(LoadError("tpu"), AllOf(HasSubstr("no plugin \"tpu\""), HasSubstr("cpu-0.115"),
                                      HasSubstr("PJRT_NAMES_AND_LIBRARY_PATHS")));
}

TEST(PluginTest, TakesNamesFromTheEnvironment) {
  ScopedEnv env("PJRT_NAMES_AND_LIBRARY_PATHS",
                "mine:" + Plugin::Load("cpu-0.81")->path() + ",gone:/no/such.so,,odd");
  EXPECT_EQ(Plugin::Load("mine"), Plugin::Load("cpu-0.81"));
  EXPECT_THAT(LoadError("gone"), HasSubstr("/no/such.so"));
  EXPECT_THAT(Info("gone").why_not, HasSubstr("PJRT_NAMES_AND_LIBRARY_PATHS"));
  {
    ScopedEnv wins("PJRT_NAMES_AND_LIBRARY_PATHS", "cpu:" + Fake("major1"));
    EXPECT_EQ(Info("cpu").path, Fake("major1"));
  }
}

TEST(PluginTest, SearchesInOrderAndSaysWhere) {
  const fs::path folder = fs::path(::testing::TempDir()) / fmt::format("deps{}", getpid());
  ScopedEnv env("FLATOUT_DEPS", folder.string());
  const fs::path there = folder / "xla_cpu_pjrt/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so";
  EXPECT_NE(Info("cpu-0.81").path, there.string());
  EXPECT_EQ(Info("cpu-0.81").searched[0], there.string());
  fs::create_directories(there.parent_path());
  fs::copy_file(Fake("major1"), there);
  EXPECT_EQ(Info("cpu-0.81").path, there.string());
  fs::remove_all(folder);
}

TEST(PluginTest, CudaWithoutGpuIsAClearError) {
  const bool driver = fs::exists("/dev/nvidiactl") || fs::exists("/dev/dxg");
  const PluginInfo info = Info("cuda");
  std::string error;
  try {
    Client::Create(Plugin::Load("cuda:0"), {});
  } catch (const UserError& e) {
    error = e.what();
  }
  if (!driver) {
    EXPECT_THAT(error, AllOf(HasSubstr("no NVIDIA GPU"), HasSubstr("/dev/nvidiactl"),
                             HasSubstr("device \"cpu\"")));
  }
  if (info.path.empty()) {
    EXPECT_THAT(error, HasSubstr("jax-cuda13-pjrt"));
    EXPECT_THAT(info.why_not, HasSubstr("jax-cuda13-pjrt"));
    for (const std::string& place : info.searched) EXPECT_THAT(error, HasSubstr(place));
  }
}

TEST(MemoryOptionsTest, Parses) {
  EXPECT_EQ(MemoryOptions::Parse("all"), MemoryOptions{});
  EXPECT_EQ(MemoryOptions::Parse("grow"), MemoryOptions{.grow = true});
  EXPECT_EQ(MemoryOptions::Parse("0.5"), MemoryOptions{.fraction = 0.5});
  EXPECT_EQ(MemoryOptions::Parse("10GiB"), MemoryOptions{.limit_bytes = int64_t{10} << 30});
  EXPECT_EQ(MemoryOptions::Parse("grow, 512 MiB"),
            (MemoryOptions{.grow = true, .limit_bytes = 512 << 20}));
  EXPECT_EQ(MemoryOptions::Parse("2GB"), MemoryOptions{.limit_bytes = 2'000'000'000});
  for (const char* wrong :
       {"", "some", "-1", "0", "1.5", "10 apples", "0.5,0.6", "nan", "1e99GiB"}) {
    EXPECT_THROW(MemoryOptions::Parse(wrong), UserError) << wrong;
  }
}

TEST(ClientTest, RefusesWrongOptions) {
  auto plugin = Plugin::Load("cpu");
  EXPECT_THROW(Client::Create(plugin, {.cpu_device_count = 0}), UserError);
  EXPECT_THROW(Client::Create(plugin, {.launches_in_flight = -1}), UserError);
  EXPECT_THROW(Client::Create(plugin, {.memory = {.fraction = 0.5}}), UserError);
  EXPECT_THROW(Client::Create(plugin, {.visible_devices = {0}}), UserError);
}

}  // namespace
}  // namespace flatout::xla
