#include "flatout/data/device_prefetch.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "flatout/data/dataset.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const xla::Client> CpuClient() {
  // One client for all tests: making one takes longer than any of them.
  static std::shared_ptr<const xla::Client> client =
      xla::Client::Create(xla::Plugin::Load("cpu"), {.cpu_device_count = 2});
  return client;
}

SourcePtr Numbers(int64_t size) {
  std::vector<int32_t> ids(static_cast<size_t>(size));
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<uint8_t> images;
  for (int32_t id : ids) images.insert(images.end(), 48, static_cast<uint8_t>(id * 7));
  return std::make_shared<ArraysSource>(
      "numbers",
      std::vector<Array>{MakeArray("image", ir::Shape(ir::DType::kU8, {4, 4, 3}), images),
                         MakeArray("label", ir::Shape::Scalar(ir::DType::kI32), ids)});
}

SourcePtr Shuffled(SourcePtr source) {
  return Dataset::FromSource(std::move(source)).Shuffle(4).source();
}

// All that arrives on the devices, epoch by epoch, equals what is assembled on the host.
void ExpectSameAsHost(const LaunchReader& reader, DevicePrefetchOptions options, size_t keep) {
  auto client = CpuClient();
  std::vector<xla::Device> devices(
      client->devices().begin(),
      client->devices().begin() + static_cast<int64_t>(reader.layout().replicas));
  options.end_epoch = 3;
  DevicePrefetcher input(client, devices, reader, reader.Start(), options);
  HostLaunch expected(reader);
  ReadContext context;
  IteratorState state = reader.Start();
  // Launches that are still held, as a training loop with steps in flight holds them.
  std::vector<DeviceLaunch> held;
  auto check = [&](const DeviceLaunch& launch) {
    reader.Assemble(launch.plan, context, expected);
    ASSERT_EQ(launch.buffers.size(), devices.size());
    for (size_t r = 0; r < devices.size(); ++r) {
      ASSERT_EQ(launch.buffers[r].size(), reader.fields().size());
      for (size_t f = 0; f < reader.fields().size(); ++f) {
        const xla::Buffer& buffer = launch.buffers[r][f];
        ASSERT_EQ(buffer.shape(), reader.LaunchShape(f));
        ASSERT_EQ(buffer.device().id(), devices[r].id());
        auto bytes = static_cast<size_t>(buffer.shape().bytes());
        std::vector<std::byte> found(bytes);
        buffer.ToHost(found.data(), bytes);
        ASSERT_EQ(std::memcmp(found.data(), expected.data(r, f), bytes), 0);
      }
    }
  };
  while (auto launch = input.Next()) {
    ASSERT_EQ(launch->plan.start, state);
    state = launch->plan.next;
    held.push_back(std::move(*launch));
    if (held.size() > keep) {
      check(held.front());
      held.erase(held.begin());
    }
  }
  for (const DeviceLaunch& launch : held) check(launch);
  EXPECT_EQ(state.epoch, 3);
  EXPECT_EQ(input.stats().records, 3 * reader.source()->size());
  EXPECT_GT(input.stats().stages.at("transfer").seconds, 0);
}

TEST(DevicePrefetcher, SameAsHost) {
  for (bool zero_copy : {false, true}) {
    for (int64_t replicas : {1, 2}) {
      for (int workers : {1, 3}) {
        LaunchReader reader(Shuffled(Numbers(203)),
                            {.steps_per_launch = 3, .replicas = replicas, .rows = 5});
        DevicePrefetchOptions options;
        options.depth = 3;
        options.workers = workers;
        options.zero_copy = zero_copy;
        for (size_t keep : {0, 5}) {
          SCOPED_TRACE(fmt::format("zero_copy {} R {} workers {} keep {}", zero_copy, replicas,
                                   workers, keep));
          ExpectSameAsHost(reader, options, keep);
        }
      }
    }
  }
}

// A program gets the right data although the launch is let go before the program has ended.
TEST(DevicePrefetcher, BuffersMayGoBeforeTheProgramEnds) {
  auto client = CpuClient();
  LaunchReader reader(Shuffled(Numbers(64)), {.steps_per_launch = 2, .rows = 4});
  auto sum = client->Compile(R"(module @sum { func.func @main(%x: tensor<2x4xi32>) -> tensor<i32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %s = "stablehlo.reduce"(%x, %zero) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %c = "stablehlo.add"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        "stablehlo.return"(%c) : (tensor<i32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x4xi32>, tensor<i32>) -> tensor<i32>
    "func.return"(%s) : (tensor<i32>) -> () } })",
                             {});
  for (bool zero_copy : {false, true}) {
    DevicePrefetchOptions options;
    options.end_epoch = 20;
    options.zero_copy = zero_copy;
    DevicePrefetcher input(client, {client->devices()[0]}, reader, reader.Start(), options);
    std::vector<xla::Execution> runs;
    while (auto launch = input.Next()) {
      runs.push_back(sum->Execute({&launch->buffers[0][1]}));
    }
    ASSERT_EQ(runs.size(), 20u * 8);
    int64_t total = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
      total += runs[i].outputs[0][0].ToVector<int32_t>()[0];
      if (i % 8 == 7) {
        EXPECT_EQ(total, 64 * 63 / 2);
        total = 0;
      }
    }
  }
}

TEST(DevicePrefetcher, LaunchesOutliveIt) {
  LaunchReader reader(Numbers(20), {.rows = 4});
  std::optional<DeviceLaunch> launch;
  {
    DevicePrefetcher input(CpuClient(), {CpuClient()->devices()[0]}, reader, reader.Start(), {});
    input.Next();
    launch = input.Next();
  }
  EXPECT_THAT(launch->buffers[0][1].ToVector<int32_t>(), ::testing::ElementsAre(4, 5, 6, 7));
}

TEST(DevicePrefetcher, ErrorsAndStop) {
  const SourcePtr broken =
      Dataset::FromSource(Numbers(20))
          .Map({Field{"x", ir::Shape::Scalar(ir::DType::kI32)}},
               [](const Block& in, Block& out) {
                 if (in.as<uint8_t>(0)[0] >= 84) throw BadData("no such number");
                 std::memset(out.data(0), 0, static_cast<size_t>(4 * in.rows()));
               })
          .source();
  LaunchReader reader(broken, {.rows = 4});
  DevicePrefetcher input(CpuClient(), {CpuClient()->devices()[0]}, reader, reader.Start(), {});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(input.Next());
  EXPECT_THAT(testing::MessageOf<DataError>([&] { input.Next(); }), HasSubstr("no such number"));
  input.Stop();
  EXPECT_THROW(DevicePrefetcher(CpuClient(), {}, reader, reader.Start(), {}), InternalError);
}

}  // namespace
}  // namespace flatout::data
