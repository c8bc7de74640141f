// What the CUDA driver says, memory options in terms of it, and what the plugin then gets: on cards
// that are played by testdata/fake_nvidia.c and testdata/fake_cuda_plugin.cc.
#include "flatout/xla/cuda_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "flatout/base/error.h"
#include "flatout/xla/pjrt.h"

namespace flatout::xla {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;

std::string ErrorOf(auto&& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

class CudaDriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("FLATOUT_CUDA_LIBRARY", FAKE_NVIDIA, 1);
    setenv("FAKE_CUDA_REAL", Plugin::Load("cpu-0.81")->path().c_str(), 1);
    record_ = ::testing::TempDir() + "/options" + std::to_string(getpid());
    setenv("FAKE_CUDA_RECORD", record_.c_str(), 1);
    for (const char* name : {"FAKE_GPUS", "FAKE_CUDA_INIT", "FAKE_CUDA_VERSION", "FAKE_CUDA_LIMIT",
                             "FAKE_CUDA_EXTRA", "CUDA_VISIBLE_DEVICES"}) {
      unsetenv(name);
    }
    std::remove(record_.c_str());
  }
  void TearDown() override { std::remove(record_.c_str()); }

  // A client of the fake plugin, and the options it got.
  std::shared_ptr<Client> Create(const ClientOptions& options) {
    std::remove(record_.c_str());
    auto client = Client::Create(Plugin::Load(FAKE_CUDA_PLUGIN), options);
    std::ifstream file(record_);
    recorded_.clear();
    for (std::string line; std::getline(file, line);) {
      if (line != "create") recorded_.push_back(line);
    }
    return client;
  }

  std::vector<std::string> recorded_;
  std::string record_;
};

TEST_F(CudaDriverTest, SaysWhatCudaSees) {
  const CudaDriver driver = ReadCudaDriver();
  EXPECT_TRUE(driver.loaded);
  EXPECT_THAT(driver.why_not, IsEmpty());
  EXPECT_EQ(driver.cuda_version, 13010);
  ASSERT_EQ(driver.devices.size(), 2u);
  EXPECT_EQ(driver.devices[0].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(driver.devices[0].total_bytes, (81559 - 551) * kMiB);
  EXPECT_EQ(driver.devices[0].uuid, "10111213-1415-1617-1819-1a1b1c1d1e1f");
  EXPECT_EQ(driver.devices[1].ordinal, 1);
  EXPECT_EQ(driver.devices[1].pci_bus_id, "0000:18:00.0");
}

TEST_F(CudaDriverTest, CountsAsCudaDoes) {
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  const CudaDriver driver = ReadCudaDriver();
  ASSERT_EQ(driver.devices.size(), 1u);
  EXPECT_EQ(driver.devices[0].ordinal, 0);
  EXPECT_EQ(driver.devices[0].name, "NVIDIA A100-SXM4-40GB");
}

TEST_F(CudaDriverTest, SaysWhyThereIsNone) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_THAT(ReadCudaDriver().why_not, HasSubstr("CUDA_VISIBLE_DEVICES is \"\""));
  for (const auto& [result, text] : {std::pair{"34", "stub"},
                                     {"802", "nvidia-fabricmanager"},
                                     {"803", "restart"},
                                     {"7", "error 7"}}) {
    setenv("FAKE_CUDA_INIT", result, 1);
    const CudaDriver driver = ReadCudaDriver();
    EXPECT_TRUE(driver.loaded);
    EXPECT_THAT(driver.why_not, HasSubstr(text));
    EXPECT_THAT(driver.devices, IsEmpty());
  }
  setenv("FLATOUT_CUDA_LIBRARY", "/no/such/libcuda.so", 1);
  EXPECT_FALSE(ReadCudaDriver().loaded);
  EXPECT_THAT(ReadCudaDriver().why_not,
              AllOf(HasSubstr("no NVIDIA driver"), HasSubstr("/no/such/libcuda.so")));
  setenv("FLATOUT_CUDA_LIBRARY", FAKE_CUDA_PLUGIN, 1);  // some other library
  EXPECT_THAT(ReadCudaDriver().why_not, HasSubstr("cuInit"));
}

TEST_F(CudaDriverTest, WithoutADriverTheClientSaysSo) {
  setenv("FLATOUT_CUDA_LIBRARY", "/no/such/libcuda.so", 1);
  if (access("/dev/nvidiactl", F_OK) != 0 && access("/dev/dxg", F_OK) != 0) {
    EXPECT_THAT(ErrorOf([&] { Create({}); }),
                AllOf(HasSubstr("no NVIDIA GPU"), HasSubstr("device \"cpu\"")));
  }
  setenv("FLATOUT_CUDA_LIBRARY", FAKE_NVIDIA, 1);
  setenv("FAKE_CUDA_INIT", "803", 1);
  EXPECT_THAT(ErrorOf([&] { Create({}); }),
              AllOf(HasSubstr("no GPU can be used"), HasSubstr("803")));
}

TEST_F(CudaDriverTest, RefusesADriverThatIsTooOld) {
  setenv("FAKE_CUDA_VERSION", "12080", 1);
  EXPECT_THAT(ErrorOf([&] { Create({}); }),
              AllOf(HasSubstr("12.8"), HasSubstr("13.0"), HasSubstr("580 or newer")));
}

// ---- the options the plugin gets ----

TEST_F(CudaDriverTest, GrowthAndCapReachThePlugin) {
  Create({.memory = {.grow = true, .fraction = 0.5}});
  EXPECT_THAT(recorded_, ElementsAre("preallocate=false", "memory_fraction=0.5"));
  Create({.memory = {.fraction = 0.25}, .visible_devices = {1}});
  EXPECT_THAT(recorded_,
              ElementsAre("preallocate=true", "memory_fraction=0.25", "visible_devices=1,"));
  Create({.memory = {.grow = true}, .visible_devices = {0, 1}});
  EXPECT_THAT(recorded_, ElementsAre("preallocate=false", HasSubstr("memory_fraction=0."),
                                     "visible_devices=0,1,"));
}

TEST_F(CudaDriverTest, ACapInBytesIsHeldToTheByte) {
  for (const int64_t cap : {kGiB, 10 * kGiB, 12345678901, int64_t{333} * 1000 * 1000, 79 * kGiB}) {
    for (const bool grow : {false, true}) {
      const auto client =
          Create({.memory = {.grow = grow, .limit_bytes = cap}, .visible_devices = {0}});
      const auto stats = client->devices()[0].memory_stats();
      ASSERT_TRUE(stats && stats->bytes_limit);
      EXPECT_LE(*stats->bytes_limit, cap);
      EXPECT_GE(static_cast<double>(*stats->bytes_limit), static_cast<double>(cap) * 0.999999);
    }
  }
}

TEST_F(CudaDriverTest, OnDifferentCardsNoneTakesMore) {
  const auto client = Create({.memory = {.limit_bytes = 20 * kGiB}});
  ASSERT_EQ(client->devices().size(), 2u);
  const int64_t large = *client->devices()[0].memory_stats()->bytes_limit;
  const int64_t small = *client->devices()[1].memory_stats()->bytes_limit;
  EXPECT_LE(large, 20 * kGiB);
  EXPECT_GE(large, 20 * kGiB - kMiB);
  EXPECT_LT(small, 11 * kGiB);  // the same part of half the memory
}

TEST_F(CudaDriverTest, WithoutACapTheDriverKeepsItsShare) {
  const auto one = Create({.visible_devices = {0}});
  const int64_t total = (81559 - 551) * kMiB;
  const int64_t limit = *one->devices()[0].memory_stats()->bytes_limit;
  EXPECT_LE(limit, total - GpuReserveBytes(total, 1));
  EXPECT_GE(limit, total - GpuReserveBytes(total, 1) - kMiB);
  EXPECT_GT(limit, total / 10 * 9);
  // One part for both, the smaller one, with room for NCCL.
  const auto two = Create({});
  for (size_t i = 0; i < 2; ++i) {
    const int64_t all = i == 0 ? total : (40960 - 622) * kMiB;
    EXPECT_LE(*two->devices()[i].memory_stats()->bytes_limit, all - GpuReserveBytes(all, 2));
  }
}

TEST_F(CudaDriverTest, TheCapHoldsWhenArraysAreMade) {
  const auto client =
      Create({.memory = {.grow = true, .limit_bytes = 8 * kMiB}, .visible_devices = {1}});
  const Device& device = client->devices()[0];
  EXPECT_EQ(device.memory_stats()->pool_bytes, 0);
  const std::vector<float> data(kMiB);  // 4 MiB
  const ir::Shape shape{ir::DType::kF32, {kMiB}};
  std::vector<Buffer> buffers;
  buffers.push_back(client->FromVector(data, shape));
  EXPECT_EQ(device.memory_stats()->bytes_in_use, 4 * kMiB);
  EXPECT_EQ(device.memory_stats()->pool_bytes, 4 * kMiB);
  try {
    for (int i = 0; i < 3; ++i) buffers.push_back(client->FromVector(data, shape));
    FAIL() << "16 MiB were taken under a cap of 8 MiB";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), Code::kResourceExhausted);
    EXPECT_EQ(error.exit_code(), kExitOutOfMemory);
  }
  EXPECT_LE(*device.memory_stats()->peak_bytes_in_use, 8 * kMiB);
  buffers.clear();
  EXPECT_EQ(device.memory_stats()->bytes_in_use, 0);
}

TEST_F(CudaDriverTest, CapsThatCannotBe) {
  EXPECT_THAT(ErrorOf([&] { Create({.memory = {.limit_bytes = 41 * kGiB}}); }),
              AllOf(HasSubstr("cuda:1"), HasSubstr("A100"), HasSubstr("39.4 GiB")));
  EXPECT_THAT(ErrorOf([&] { Create({.memory = {.fraction = 1.5}}); }), HasSubstr("at most 1"));
  EXPECT_THAT(ErrorOf([&] { Create({.memory = {.fraction = 0}}); }), HasSubstr("above 0"));
  EXPECT_THAT(ErrorOf([&] { Create({.memory = {.limit_bytes = 0}}); }), HasSubstr("above 0"));
  EXPECT_THAT(ErrorOf([&] { Create({.visible_devices = {2}}); }),
              AllOf(HasSubstr("\"cuda:2\""), HasSubstr("2 GPUs")));
  EXPECT_THAT(ErrorOf([&] { GpuMemoryFraction({.limit_bytes = kGiB}, {}); }),
              AllOf(HasSubstr("1.00 GiB"), HasSubstr("0.5")));
  EXPECT_EQ(GpuMemoryFraction({}, {}), std::nullopt);
}

TEST_F(CudaDriverTest, ReserveIsNeverMostOfACard) {
  EXPECT_EQ(GpuReserveBytes(80 * kGiB, 1), 80 * kGiB / 25);
  EXPECT_EQ(GpuReserveBytes(80 * kGiB, 8), 80 * kGiB / 25 + kGiB);
  EXPECT_EQ(GpuReserveBytes(15 * kGiB, 1), kGiB);
  EXPECT_EQ(GpuReserveBytes(kGiB, 2), kGiB / 2);
}

TEST_F(CudaDriverTest, TheRealPluginKnowsTheOptions) {
  // It checks their names and types before it looks for a GPU, which it needs not find here.
  const auto plugin = Plugin::Load("cuda");
  ASSERT_TRUE(plugin->attributes().contains("cuda_version"));
  for (const MemoryOptions& memory :
       {MemoryOptions{}, MemoryOptions{.grow = true}, MemoryOptions{.grow = true, .fraction = 0.1},
        MemoryOptions{.limit_bytes = kGiB}}) {
    std::string error;
    try {
      Client::Create(plugin, {.memory = memory, .visible_devices = {0}});
    } catch (const UserError& failed) {
      error = failed.what();
    }
    EXPECT_THAT(error, AnyOf(IsEmpty(), HasSubstr("XLA finds no GPU")));
  }
}

TEST_F(CudaDriverTest, ProgramsRunOnTheFakeCards) {
  // The fake is only worth something if programs do run on it.
  const auto client = Create({.visible_devices = {0}});
  EXPECT_EQ(client->platform_name(), "cuda");
  EXPECT_EQ(client->devices()[0].kind(), "NVIDIA H100 80GB HBM3");
  const auto program = client->Compile(
      "module @m { func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {\n"
      "  %0 = \"stablehlo.add\"(%a, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>\n"
      "  \"func.return\"(%0) : (tensor<64xf32>) -> ()\n} }",
      {});
  const Buffer x = client->FromVector(std::vector<float>(64, 1.5F), {ir::DType::kF32, {64}});
  const Execution run = program->Execute({&x});
  EXPECT_EQ(run.outputs[0][0].ToVector<float>(), std::vector<float>(64, 3));
  EXPECT_EQ(client->devices()[0].memory_stats()->bytes_in_use, 512);
}

}  // namespace
}  // namespace flatout::xla
