#include "flatout/xla/compile_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "flatout/base/error.h"
#include "flatout/base/file.h"

namespace flatout::xla {

namespace fs = std::filesystem;
using ir::DType;
using ir::Shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// x + k, four times.
std::string AddConstant(int k) {
  return fmt::format(R"(module @plus{0} {{
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
    %k = "stablehlo.constant"() {{value = dense<{0}.0> : tensor<4xf32>}} : () -> tensor<4xf32>
    %0 = "stablehlo.add"(%x, %k) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%0) : (tensor<4xf32>) -> ()
  }}
}})",
                     k);
}

float LastOf(const Client& client, const Executable& program) {
  Buffer x = client.FromVector<float>({1, 2, 3, 4}, Shape(DType::kF32, {4}));
  return program.Execute({&x}).outputs[0][0].ToVector<float>()[3];
}

std::shared_ptr<Client> MakeClient(const std::string& plugin, int devices = 1) {
  return Client::Create(Plugin::Load(plugin), {.cpu_device_count = devices});
}

// One of several processes that use the same folder: exit code 0 if every program gives what it
// should, whatever happens to the files meanwhile. Where it is `alone` in a folder that has all the
// programs, every one must come from there.
int Child(const std::string& plugin, const std::string& folder, bool alone) {
  auto client = MakeClient(plugin);
  CompileCache cache({.folder = folder, .warn = [](const std::string&) {}});
  for (int round = 0; round < 6; ++round) {
    for (int k = 0; k < 8; ++k) {
      auto program = cache.Compile(*client, AddConstant(k), {});
      if (LastOf(*client, *program) != 4.0f + static_cast<float>(k)) return 1;
    }
  }
  return !alone || cache.stats().hits == 6 * 8 ? 0 : 2;
}

namespace {

class CompileCacheTest : public ::testing::TestWithParam<const char*> {
 protected:
  CompileCacheTest()
      : folder_(::testing::TempDir() + fmt::format("flatout_cache_{}_{}", getpid(), GetParam())) {
    fs::remove_all(folder_);
  }
  ~CompileCacheTest() override { fs::remove_all(folder_); }

  CompileCache MakeCache(int64_t max_bytes = 1 << 30) {
    return CompileCache({.folder = folder_,
                         .max_bytes = max_bytes,
                         .warn = [this](const auto& message) { warnings_.push_back(message); }});
  }
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    if (!fs::exists(folder_)) return files;
    for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
    return files;
  }

  // Starts this program as a child in the given mode.
  pid_t Start(const char* mode) const {
    const pid_t pid = fork();
    if (pid == 0) {
      execl("/proc/self/exe", "compile_cache_test", mode, GetParam(), folder_.c_str(), nullptr);
      _exit(127);
    }
    return pid;
  }

  std::string folder_;
  std::vector<std::string> warnings_;
};

INSTANTIATE_TEST_SUITE_P(BothPlugins, CompileCacheTest, ::testing::Values("cpu-0.81", "cpu-0.115"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = isalnum(c) ? c : '_';
                           return name;
                         });

TEST_P(CompileCacheTest, MissesThenHits) {
  auto client = MakeClient(GetParam());
  {
    CompileCache cache = MakeCache();
    auto program = cache.Compile(*client, AddConstant(7), {});
    EXPECT_FALSE(program->from_cache());
    EXPECT_EQ(LastOf(*client, *program), 11);
    EXPECT_EQ(cache.stats().misses, 1);
    EXPECT_EQ(cache.stats().hits, 0);
    EXPECT_GT(cache.stats().compile_seconds, 0);
  }
  CompileCache cache = MakeCache();
  auto program = cache.Compile(*client, AddConstant(7), {});
  EXPECT_TRUE(program->from_cache());
  EXPECT_EQ(program->name(), "plus7");
  EXPECT_THAT(program->output_shapes(), ElementsAre(Shape(DType::kF32, {4})));
  EXPECT_EQ(LastOf(*client, *program), 11);
  EXPECT_EQ(cache.stats().hits, 1);
  EXPECT_EQ(cache.stats().misses, 0);
  EXPECT_GT(cache.stats().load_seconds, 0);
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_EQ(Files().size(), 1u);
}

TEST_P(CompileCacheTest, LoadedProgramsStillDonate) {
  auto client = MakeClient(GetParam());
  const std::string text = R"(module @step {
  func.func @main(%p: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
    %0 = "stablehlo.add"(%p, %p) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%0) : (tensor<4xf32>) -> ()
  }
})";
  CompileCache cache = MakeCache();
  cache.Compile(*client, text, {});
  auto program = cache.Compile(*client, text, {});
  ASSERT_TRUE(program->from_cache());
  Buffer x = client->FromVector<float>({1, 2, 3, 4}, Shape(DType::kF32, {4}));
  Execution run = program->Execute({&x});
  EXPECT_TRUE(x.IsDeleted());
  EXPECT_EQ(run.outputs[0][0].ToVector<float>()[3], 8);
}

TEST_P(CompileCacheTest, KeyCoversWhatMatters) {
  auto client = MakeClient(GetParam()), wider = MakeClient(GetParam(), 2);
  const std::string text = AddConstant(1);
  const std::string key = CompileCache::Key(*client, text, {});
  EXPECT_EQ(CompileCache::Key(*client, text, {}), key);
  EXPECT_NE(CompileCache::Key(*client, AddConstant(2), {}), key);
  EXPECT_NE(CompileCache::Key(*client, text, {.cache_salt = "kernels 2"}), key);
  EXPECT_NE(
      CompileCache::Key(*client, text, {.env_overrides = {{"xla_cpu_enable_fast_math", "true"}}}),
      key);
  EXPECT_NE(CompileCache::Key(*wider, text, {}), key);
  EXPECT_NE(CompileCache::Key(*wider, text, {.num_replicas = 2}),
            CompileCache::Key(*wider, text, {}));
  const std::string other = GetParam() == std::string("cpu-0.81") ? "cpu-0.115" : "cpu-0.81";
  EXPECT_NE(CompileCache::Key(*MakeClient(other), text, {}), key);
}

TEST_P(CompileCacheTest, DamagedEntriesAreCompiledAnew) {
  auto client = MakeClient(GetParam());
  MakeCache().Compile(*client, AddConstant(3), {});
  ASSERT_EQ(Files().size(), 1u);
  const std::string path = Files()[0];
  const std::string good = ReadFile(path);
  std::string flipped = good, cut = good.substr(0, good.size() / 2);
  flipped[good.size() - 10] ^= 1;
  for (const std::string& bad : {std::string(), std::string("x"), cut, flipped, good + "x"}) {
    std::ofstream(path, std::ios::binary) << bad;
    warnings_.clear();
    CompileCache cache = MakeCache();
    auto program = cache.Compile(*client, AddConstant(3), {});
    EXPECT_FALSE(program->from_cache());
    EXPECT_EQ(LastOf(*client, *program), 7);
    EXPECT_EQ(cache.stats().corrupt, 1);
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("damaged")));
    // Mended on disk.
    EXPECT_TRUE(cache.Compile(*client, AddConstant(3), {})->from_cache());
  }
}

TEST_P(CompileCacheTest, WhatThePluginRefusesIsCompiledAnew) {
  auto client = MakeClient(GetParam());
  MakeCache().Compile(*client, AddConstant(3), {});
  const std::string path = Files()[0];
  const std::string good = ReadFile(path);
  // A whole entry with the right checksum around bytes that are no program.
  const std::string junk = "no program at all";
  const std::string magic = good.substr(0, good.find('\n') + 1);
  std::ofstream(path, std::ios::binary)
      << magic << fmt::format("{:08x}\n", Crc32c(junk, Crc32c(fs::path(path).filename().string())))
      << junk;
  CompileCache cache = MakeCache();
  auto program = cache.Compile(*client, AddConstant(3), {});
  EXPECT_EQ(LastOf(*client, *program), 7);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("not taken by the plugin")));
}

TEST_P(CompileCacheTest, EntriesOfOtherProgramsAreNotTaken) {
  auto client = MakeClient(GetParam());
  CompileCache cache = MakeCache();
  cache.Compile(*client, AddConstant(3), {});
  const fs::path three = Files()[0];
  fs::copy_file(three, fs::path(folder_) / CompileCache::Key(*client, AddConstant(4), {}));
  EXPECT_EQ(LastOf(*client, *cache.Compile(*client, AddConstant(4), {})), 8);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("damaged")));
}

TEST_P(CompileCacheTest, UnusableFolderOnlyWarns) {
  auto client = MakeClient(GetParam());
  std::ofstream(folder_) << "a file where the folder should be";
  CompileCache cache = MakeCache();
  EXPECT_EQ(LastOf(*client, *cache.Compile(*client, AddConstant(1), {})), 5);
  EXPECT_EQ(LastOf(*client, *cache.Compile(*client, AddConstant(2), {})), 6);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("FLATOUT_CACHE")));  // once
  EXPECT_EQ(cache.stats().misses, 2);
}

TEST_P(CompileCacheTest, FullDiskOnlyWarns) {
  auto client = MakeClient(GetParam());
  CompileCache cache = MakeCache();
  // No file may grow beyond 100 bytes: writing fails half-way, as on a full disk.
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  auto program = cache.Compile(*client, AddConstant(1), {});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(LastOf(*client, *program), 5);
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(Files(), IsEmpty());  // nothing half-written stays
}

TEST_P(CompileCacheTest, OffKeepsNothing) {
  auto client = MakeClient(GetParam());
  CompileCache cache({.folder = "off"});
  cache.Compile(*client, AddConstant(1), {});
  EXPECT_FALSE(cache.Compile(*client, AddConstant(1), {})->from_cache());
  EXPECT_THAT(cache.folder(), IsEmpty());
}

TEST_P(CompileCacheTest, LeastRecentlyUsedGoFirst) {
  auto client = MakeClient(GetParam());
  {
    CompileCache cache = MakeCache();
    for (int k = 0; k < 3; ++k) cache.Compile(*client, AddConstant(1 + k), {});
  }
  const auto path = [&](int k) {
    return fs::path(folder_) / CompileCache::Key(*client, AddConstant(1 + k), {});
  };
  // 0 is the oldest, but used again; 1 is then the oldest.
  const auto now = fs::file_time_type::clock::now();
  for (int k = 0; k < 3; ++k) fs::last_write_time(path(k), now - std::chrono::hours(10 - k));
  const fs::path stale = path(0).string() + ".1.0.tmp", fresh = path(0).string() + ".2.0.tmp";
  std::ofstream(stale) << "left by a killed process";
  std::ofstream(fresh) << "being written";
  fs::last_write_time(stale, now - std::chrono::hours(2));
  const auto bytes = static_cast<int64_t>(fs::file_size(path(0)));
  CompileCache cache = MakeCache(bytes * 3 + bytes / 2);
  EXPECT_TRUE(cache.Compile(*client, AddConstant(1), {})->from_cache());
  cache.Compile(*client, AddConstant(4), {});
  EXPECT_TRUE(fs::exists(path(0)));
  EXPECT_FALSE(fs::exists(path(1)));
  EXPECT_TRUE(fs::exists(path(2)));
  EXPECT_TRUE(fs::exists(path(3)));
  EXPECT_EQ(cache.stats().evicted, 1);
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(fresh));
  // What plans left counts, too.
  const fs::path plan = fs::path(folder_) / "0123.plan";
  std::ofstream(plan) << std::string(static_cast<size_t>(bytes) * 2, 'x');
  fs::last_write_time(plan, now - std::chrono::hours(20));
  MakeCache(bytes * 4).Compile(*client, AddConstant(6), {});
  EXPECT_FALSE(fs::exists(plan));
  EXPECT_TRUE(fs::exists(path(3)));
  // A limit too small for any entry still keeps the newest.
  MakeCache(0).Compile(*client, AddConstant(5), {});
  EXPECT_TRUE(fs::exists(path(4)));
  EXPECT_FALSE(fs::exists(path(3)));
}

TEST_P(CompileCacheTest, CompileErrorsComeThrough) {
  auto client = MakeClient(GetParam());
  CompileCache cache = MakeCache();
  EXPECT_THROW(cache.Compile(*client, "no program", {}), InternalError);
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_P(CompileCacheTest, ProcessesShareAFolder) {
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t pid = Start("--child");
    ASSERT_GT(pid, 0);
    children.push_back(pid);
  }
  // Meanwhile entries are cut short and removed under their hands.
  int round = 0;
  while (!children.empty()) {
    for (const fs::path& file : Files()) {
      std::error_code ignored;
      if (++round % 7 == 0) fs::resize_file(file, 40, ignored);
      if (round % 11 == 0) fs::remove(file, ignored);
    }
    usleep(20'000);
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended > 0) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
      std::erase(children, ended);
    }
  }
  // What this process writes, another one finds.
  auto client = MakeClient(GetParam());
  CompileCache cache = MakeCache();
  for (int k = 0; k < 8; ++k) cache.Compile(*client, AddConstant(k), {});
  int status = 0;
  const pid_t pid = Start("--alone");
  ASSERT_GT(pid, 0);
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(CompileCacheFolderTest, ComesFromTheEnvironment) {
  const char* names[] = {"FLATOUT_CACHE", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::string> old;
  for (const char* name : names) old.push_back(getenv(name) ? getenv(name) : "");
  setenv("FLATOUT_CACHE", "/a", 1);
  setenv("XDG_CACHE_HOME", "/b", 1);
  setenv("HOME", "/c", 1);
  EXPECT_EQ(CompileCache::DefaultFolder(), "/a");
  unsetenv("FLATOUT_CACHE");
  EXPECT_EQ(CompileCache::DefaultFolder(), "/b/flatout");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(CompileCache::DefaultFolder(), "/c/.cache/flatout");
  unsetenv("HOME");
  EXPECT_EQ(CompileCache::DefaultFolder(), "");
  for (size_t i = 0; i < 3; ++i) {
    if (!old[i].empty()) setenv(names[i], old[i].c_str(), 1);
  }
}

}  // namespace
}  // namespace flatout::xla

int main(int argc, char** argv) {
  if (argc == 4 && strcmp(argv[1], "--child") == 0) {
    return flatout::xla::Child(argv[2], argv[3], false);
  }
  if (argc == 4 && strcmp(argv[1], "--alone") == 0) {
    return flatout::xla::Child(argv[2], argv[3], true);
  }
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
