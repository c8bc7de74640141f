// Compiling for cards that this machine does not have.
#include "flatout/xla/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/xla/compile_cache.h"

namespace flatout::xla {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// f32[n,n] added to itself, in place.
std::string Doubled(int n, std::string_view attributes = "{tf.aliasing_output = 0 : i32}") {
  return fmt::format(
      R"(module @doubled {{ func.func @main(%a: tensor<{0}x{0}xf32> {1}) -> tensor<{0}x{0}xf32> {{
  %0 = "stablehlo.add"(%a, %a) : (tensor<{0}x{0}xf32>, tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
  "func.return"(%0) : (tensor<{0}x{0}xf32>) -> () }} }})",
      n, attributes);
}

constexpr std::string_view kSum8 =
    R"(module @sum { func.func @main(%a: tensor<256xf32>) -> tensor<256xf32> {
  %0 = "stablehlo.all_reduce"(%a) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> () })
    {replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<256xf32>) -> tensor<256xf32>
  "func.return"(%0) : (tensor<256xf32>) -> () } })";

class TopologyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "flatout-topology-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.cache_folder = (folder_ / "cache").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::shared_ptr<Topology> H100(int gpus = 1) {
    return Topology::Create(LoadPlanningPlugin(), FindCard("h100"), gpus);
  }

  fs::path folder_;
  AotOptions options_;
};

TEST_F(TopologyTest, SaysWhatAProgramTakes) {
  const auto topology = H100();
  EXPECT_EQ(topology->card().name, "h100");
  const AotProgram program = topology->Compile(Doubled(512), options_);
  constexpr int64_t kBytes = 512 * 512 * 4;
  EXPECT_EQ(program.memory.argument, kBytes);
  EXPECT_EQ(program.memory.output, kBytes);
  EXPECT_EQ(program.memory.alias, kBytes);
  EXPECT_EQ(program.memory.temp, 0);
  EXPECT_EQ(program.memory.total(), program.memory.code + kBytes);
  EXPECT_GT(program.compile_seconds, 0);
  EXPECT_FALSE(program.from_cache);
  EXPECT_TRUE(program.serialized.empty());
  // Not donated: a second array.
  EXPECT_EQ(topology->Compile(Doubled(512, ""), options_).memory.alias, 0);
}

TEST_F(TopologyTest, CompilesForSeveralCards) {
  const AotProgram program =
      H100(8)->Compile(kSum8, {.num_replicas = 8, .cache_folder = options_.cache_folder});
  EXPECT_EQ(program.memory.argument, 1024);
}

TEST_F(TopologyTest, ASecondTimeComesFromDisk) {
  const AotProgram first = H100()->Compile(Doubled(64), options_);
  const AotProgram again = H100()->Compile(Doubled(64), options_);
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(again.memory.total(), first.memory.total());
  EXPECT_EQ(again.memory.peak, first.memory.peak);
  EXPECT_NEAR(again.compile_seconds, first.compile_seconds, 1e-3);
  // Another program, card, number of cards or flag is another entry.
  const std::string key = H100()->Key(Doubled(64), options_);
  EXPECT_NE(H100()->Key(Doubled(65), options_), key);
  EXPECT_NE(H100(2)->Key(Doubled(64), options_), key);
  EXPECT_NE(Topology::Create(LoadPlanningPlugin(), FindCard("h200"), 1)->Key(Doubled(64), options_),
            key);
  AotOptions other = options_;
  other.env_overrides["xla_gpu_enable_triton_gemm"] = "false";
  EXPECT_NE(H100()->Key(Doubled(64), other), key);
  EXPECT_EQ(H100()->Key(Doubled(64), options_), key);
}

TEST_F(TopologyTest, ADamagedEntryIsCompiledAnew) {
  const std::string key = H100()->Key(Doubled(32), options_);
  const AotProgram first = H100()->Compile(Doubled(32), options_);
  const fs::path path = fs::path(options_.cache_folder) / key;
  const std::string good = ReadFile(path.string());
  for (const std::string& bad : {std::string(), std::string("nonsense"), good.substr(0, 40),
                                 good + "x", std::string(good).replace(30, 1, "#")}) {
    std::ofstream(path, std::ios::binary) << bad;
    const AotProgram again = H100()->Compile(Doubled(32), options_);
    EXPECT_FALSE(again.from_cache) << bad;
    EXPECT_EQ(again.memory.total(), first.memory.total());
    EXPECT_TRUE(H100()->Compile(Doubled(32), options_).from_cache);
  }
}

TEST_F(TopologyTest, ACacheThatCannotBeWrittenCostsOnlyTheCompile) {
  std::ofstream(options_.cache_folder) << "a file in the folder's place";
  EXPECT_FALSE(H100()->Compile(Doubled(16), options_).from_cache);
  EXPECT_FALSE(H100()->Compile(Doubled(16), options_).from_cache);
  options_.cache_folder = "off";
  EXPECT_FALSE(H100()->Compile(Doubled(16), options_).from_cache);
}

TEST_F(TopologyTest, TheProgramItselfIsKeptOnRequest) {
  EXPECT_TRUE(H100()->Compile(Doubled(24), options_).serialized.empty());
  options_.keep_serialized = true;
  const AotProgram program = H100()->Compile(Doubled(24), options_);
  EXPECT_FALSE(program.from_cache);
  EXPECT_GT(program.serialized.size(), 100u);
  const AotProgram again = H100()->Compile(Doubled(24), options_);
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(again.serialized, program.serialized);
}

TEST_F(TopologyTest, WritesWhatTheMachineWithTheCardsLooksFor) {
  const std::string to = (folder_ / "for the machine").string();
  const std::string path =
      H100(8)->WriteCache(to, kSum8, {.num_replicas = 8, .cache_folder = options_.cache_folder});
  // As train::Runtime asks the compile cache there.
  CompileOptions there;
  there.num_replicas = 8;
  for (int i = 0; i < 8; ++i) there.device_ids.push_back(i);
  const std::vector<std::string> kinds(8, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(fs::path(path).filename(),
            CompileCache::KeyForDevices(*LoadPlanningPlugin(), kinds, kSum8, there));
  EXPECT_EQ(fs::path(path).parent_path(), to);
  EXPECT_THAT(ReadFile(path), ::testing::StartsWith("flatout compiled program"));
}

TEST_F(TopologyTest, ManyThreadsMayCompileAtOnce) {
  const auto topology = H100();
  std::vector<std::thread> threads;
  std::vector<int64_t> bytes(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&, i] { bytes[i] = topology->Compile(Doubled(8 << i), options_).memory.argument; });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bytes[i], int64_t{4} * (8 << i) * (8 << i));
}

TEST_F(TopologyTest, FlagsAreThoseOfOneCompile) {
  const char* before = std::getenv("XLA_FLAGS");
  const std::string flags = before == nullptr ? "" : before;
  H100()->Compile(Doubled(40), options_);
  const char* after = std::getenv("XLA_FLAGS");
  EXPECT_EQ(after == nullptr ? "" : std::string(after), flags);
  EXPECT_THAT(flags, ::testing::Not(HasSubstr("autotune")));
  AotOptions unknown = options_;
  unknown.env_overrides["xla_gpu_no_such_flag"] = "true";
  try {
    H100()->Compile(Doubled(40), unknown);
    FAIL() << "took an unknown flag";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("doesn't know one of the XLA flags"));
  }
}

TEST_F(TopologyTest, WhatIsWrongIsSaid) {
  for (const int gpus : {0, -1, 1025}) {
    try {
      H100(gpus);
      FAIL() << gpus;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("1 to 1024 GPUs"));
    }
  }
  for (const int replicas : {0, 3}) {
    EXPECT_THROW(H100(2)->Compile(Doubled(8), {.num_replicas = replicas}), UserError);
  }
  try {
    H100()->Compile(
        "module @m { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = \"stablehlo.nonsense\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  \"func.return\"(%0) : (tensor<4xf32>) -> () } }",
        options_);
    FAIL() << "compiled nonsense";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("NVIDIA H100"), HasSubstr("line 2"),
                                    HasSubstr("stablehlo.nonsense")));
  }
  try {
    Topology::Create(LoadPlanningPlugin(), FindCard("v100"), 1)->Compile(Doubled(8), options_);
    FAIL() << "compiled for Volta";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), Code::kUnimplemented);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("v100"), HasSubstr("CUDA 13")));
  }
}

TEST_F(TopologyTest, APluginForCpusKnowsNoCards) {
  try {
    Topology::Create(Plugin::Load("cpu"), FindCard("h100"), 1);
    FAIL() << "the CPU plugin took a card";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("flatout plugin install cuda13"));
  }
}

TEST_F(TopologyTest, WithoutThePluginSaysHowToInstallIt) {
  setenv("PJRT_NAMES_AND_LIBRARY_PATHS", ("cuda:" + (folder_ / "none.so").string()).c_str(), 1);
  try {
    LoadPlanningPlugin();
    FAIL() << "found a plugin";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("flatout plugin install cuda13"), HasSubstr("none.so")));
  }
  unsetenv("PJRT_NAMES_AND_LIBRARY_PATHS");
}

}  // namespace
}  // namespace flatout::xla
