// The binding against both CPU plugins.
#include "flatout/xla/pjrt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <numeric>
#include <thread>

#include "flatout/base/error.h"

// An allocation of 16 TB must fail under the sanitizers as it does without them, not end the test.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace flatout::xla {
namespace {

using ir::DType;
using ir::Shape;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAdd = R"(module @add {
  func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = "stablehlo.add"(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    "func.return"(%0) : (tensor<2x3xf32>) -> ()
  }
})";

// What `body` throws, or "" when it throws nothing.
template <typename Body>
std::string ErrorOf(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class PjrtTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<Client> MakeClient(int devices = 1) {
    return Client::Create(Plugin::Load(GetParam()), {.cpu_device_count = devices});
  }
};

INSTANTIATE_TEST_SUITE_P(BothPlugins, PjrtTest, ::testing::Values("cpu-0.81", "cpu-0.115"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = isalnum(c) ? c : '_';
                           return name;
                         });

TEST_P(PjrtTest, CompilesAndRuns) {
  auto client = MakeClient();
  auto program = client->Compile(kAdd, {});
  EXPECT_EQ(program->name(), "add");
  EXPECT_EQ(program->num_devices(), 1);
  EXPECT_THAT(program->output_shapes(), ElementsAre(Shape(DType::kF32, {2, 3})));
  Buffer a = client->FromVector<float>({1, 2, 3, 4, 5, 6}, Shape(DType::kF32, {2, 3}));
  Buffer b = client->FromVector<float>({10, 20, 30, 40, 50, 60}, Shape(DType::kF32, {2, 3}));
  Execution run = program->Execute({&a, &b});
  run.Await();
  ASSERT_EQ(run.outputs.size(), 1u);
  ASSERT_EQ(run.outputs[0].size(), 1u);
  EXPECT_THAT(run.outputs[0][0].ToVector<float>(), ElementsAre(11, 22, 33, 44, 55, 66));
  EXPECT_FALSE(a.IsDeleted());
  EXPECT_EQ(a.OnDeviceBytes(), 24);
  EXPECT_TRUE(run.done[0].IsReady());
}

std::string DonatingProgram(int n) {
  return fmt::format(R"(module @step {{
  func.func @main(%p: tensor<{0}xf32> {{tf.aliasing_output = 0 : i32}}, %g: tensor<{0}xf32>) -> tensor<{0}xf32> {{
    %0 = "stablehlo.subtract"(%p, %g) : (tensor<{0}xf32>, tensor<{0}xf32>) -> tensor<{0}xf32>
    "func.return"(%0) : (tensor<{0}xf32>) -> ()
  }}
}})",
                     n);
}

TEST_P(PjrtTest, DonatesState) {
  auto client = MakeClient();
  constexpr int kSize = 1 << 20;
  auto program = client->Compile(DonatingProgram(kSize), {});
  const auto memory = program->memory();
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->alias, kSize * 4);
  EXPECT_EQ(memory->argument, kSize * 8);
  EXPECT_EQ(memory->output, kSize * 4);
  const Shape shape(DType::kF32, {kSize});
  Buffer p = client->FromVector(std::vector<float>(kSize, 5), shape);
  Buffer g = client->FromVector(std::vector<float>(kSize, 2), shape);
  Execution run = program->Execute({&p, &g});
  EXPECT_TRUE(p.IsDeleted());
  EXPECT_FALSE(g.IsDeleted());
  EXPECT_EQ(run.outputs[0][0].ToVector<float>()[kSize - 1], 3);
  try {
    program->Execute({&p, &g});
    FAIL() << "a donated argument was taken again";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("donated to an earlier execution"),
                                    HasSubstr("argument 0 f32[1048576]"), HasSubstr("step")));
  }
  EXPECT_THAT(ErrorOf([&] { p.ToVector<float>(); }), HasSubstr("donated"));

  // The state goes round through one Execution, as a trainer does it.
  Buffer state = std::move(run.outputs[0][0]);
  for (int i = 0; i < 10; ++i) {
    program->Execute(std::array<const Buffer*, 2>{&state, &g}, run);
    state = std::move(run.outputs[0][0]);
  }
  EXPECT_EQ(state.ToVector<float>()[0], 3 - 20);

  // Kept on request.
  const int64_t keep[] = {0};
  Execution kept = program->Execute({&state, &g}, {.non_donatable = keep});
  EXPECT_FALSE(state.IsDeleted());
  EXPECT_EQ(kept.outputs[0][0].ToVector<float>()[0], -19);
  EXPECT_EQ(state.ToVector<float>()[0], -17);
}

TEST_P(PjrtTest, WhileLoopTakesItsTripCountAtRunTime) {
  auto client = MakeClient();
  auto program = client->Compile(R"(module @loop {
  func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
    %zero = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %one = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %two = "stablehlo.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
    %r:2 = "stablehlo.while"(%zero, %x) ({
    ^bb0(%i: tensor<i32>, %y: tensor<f32>):
      %c = "stablehlo.compare"(%i, %n) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %y: tensor<f32>):
      %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %z = "stablehlo.multiply"(%y, %two) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%j, %z) : (tensor<i32>, tensor<f32>) -> ()
    }) : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
    "func.return"(%r#0, %r#1) : (tensor<i32>, tensor<f32>) -> ()
  }
})",
                                 {});
  EXPECT_THAT(program->output_shapes(),
              ElementsAre(Shape::Scalar(DType::kI32), Shape::Scalar(DType::kF32)));
  Buffer x = client->FromVector<float>({3}, Shape::Scalar(DType::kF32));
  for (int32_t n : {0, 1, 5, 20}) {
    Buffer trips = client->FromVector<int32_t>({n}, Shape::Scalar(DType::kI32));
    Execution run = program->Execute({&trips, &x});
    EXPECT_THAT(run.outputs[0][0].ToVector<int32_t>(), ElementsAre(n));
    EXPECT_THAT(run.outputs[0][1].ToVector<float>(),
                ElementsAre(3.0f * static_cast<float>(1 << n)));
  }
}

TEST_P(PjrtTest, SendsAndReadsEveryDType) {
  auto client = MakeClient(2);
  const Device& last = client->devices()[1];
  for (int i = 0; i <= static_cast<int>(DType::kF64); ++i) {
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{}, {3}, {2, 3, 4}, {0, 5}, {1, 1, 1, 1, 1, 1, 2}}) {
      const Shape shape(static_cast<DType>(i), dims);
      std::vector<uint8_t> data(static_cast<size_t>(shape.bytes()));
      for (size_t k = 0; k < data.size(); ++k) {
        data[k] = shape.dtype == DType::kPred ? k % 2 : static_cast<uint8_t>(k * 7);
      }
      Buffer buffer = client->FromHost(data.data(), shape, last);
      EXPECT_EQ(buffer.shape(), shape);
      EXPECT_EQ(buffer.device().id(), last.id());
      EXPECT_EQ(buffer.ToVector<uint8_t>(), data) << shape.ToString();
      const std::optional<HostView> view = buffer.ViewOnHost();
      ASSERT_EQ(view.has_value(), !data.empty());
      if (view) EXPECT_TRUE(std::ranges::equal(view->bytes(), std::as_bytes(std::span(data))));
    }
  }
  Buffer empty;
  EXPECT_FALSE(empty);
  EXPECT_THROW(empty.shape(), UserError);
  EXPECT_THROW(empty.ToHost(nullptr, 0), UserError);
  float one = 1;
  Buffer scalar = client->FromHost(&one, Shape::Scalar(DType::kF32), last);
  EXPECT_THAT(ErrorOf([&] { scalar.ToHost(&one, 8); }), HasSubstr("takes 4 bytes"));
  EXPECT_THROW(client->FromHost(nullptr, Shape(DType::kF32, {2}), last), UserError);
  EXPECT_THROW(client->FromHost(&one, Shape(DType::kF32, {-1}), last), UserError);
  EXPECT_THROW(client->FromVector<float>({1, 2}, Shape(DType::kF32, {3})), UserError);
  EXPECT_THROW(client->FromHost(&one, Shape::Scalar(DType::kF32), MakeClient()->devices()[0]),
               UserError);
  Buffer copy = scalar.CopyTo(client->devices()[0]);
  EXPECT_EQ(copy.device().index(), 0);
  EXPECT_THAT(copy.ToVector<float>(), ElementsAre(1));
  copy.Delete();
  EXPECT_TRUE(copy.IsDeleted());
}

TEST_P(PjrtTest, ReadsOtherLayoutsBackInRowMajorOrder) {
  auto client = MakeClient();
  auto program = client->Compile(R"(module @layout {
  func.func @main(%a: tensor<2x3xf32>) -> (tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}) {
    %0 = "stablehlo.add"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    "func.return"(%0) : (tensor<2x3xf32>) -> ()
  }
})",
                                 {});
  Buffer a = client->FromVector<float>({1, 2, 3, 4, 5, 6}, Shape(DType::kF32, {2, 3}));
  EXPECT_THAT(a.minor_to_major(), ElementsAre(1, 0));
  Execution run = program->Execute({&a});
  ASSERT_THAT(run.outputs[0][0].minor_to_major(), ElementsAre(0, 1));  // column-major
  EXPECT_THAT(run.outputs[0][0].ToVector<float>(), ElementsAre(2, 4, 6, 8, 10, 12));

  // Three dimensions in an order that is not its own inverse.
  auto turned = client->Compile(R"(module @layout3 {
  func.func @main(%a: tensor<2x3x4xi16>) -> (tensor<2x3x4xi16> {mhlo.layout_mode = "{0,2,1}"}) {
    %0 = "stablehlo.add"(%a, %a) : (tensor<2x3x4xi16>, tensor<2x3x4xi16>) -> tensor<2x3x4xi16>
    "func.return"(%0) : (tensor<2x3x4xi16>) -> ()
  }
})",
                                {});
  std::vector<int16_t> data(24), twice(24);
  for (int16_t i = 0; i < 24; ++i) {
    data[static_cast<size_t>(i)] = i;
    twice[static_cast<size_t>(i)] = static_cast<int16_t>(2 * i);
  }
  Buffer b = client->FromVector(data, Shape(DType::kI16, {2, 3, 4}));
  run = turned->Execute({&b});
  ASSERT_THAT(run.outputs[0][0].minor_to_major(), ElementsAre(0, 2, 1));
  EXPECT_EQ(run.outputs[0][0].ToVector<int16_t>(), twice);
}

TEST_P(PjrtTest, HostMemoryIsFreeWhenTheEventSays) {
  auto client = MakeClient();
  auto program = client->Compile(DonatingProgram(1024), {});
  const Shape shape(DType::kF32, {1024});
  const Device& device = client->devices()[0];
  alignas(64) static float data[1024];
  const auto fill = [&](float value) { std::fill(std::begin(data), std::end(data), value); };

  // Copied during the call.
  fill(1);
  Event free;
  Buffer copied = client->FromHost(data, shape, device, HostSemantics::kCopy, &free);
  fill(2);
  EXPECT_EQ(copied.ToVector<float>()[1023], 1);
  free.Await();

  // May be changed once the event is over.
  Buffer sent =
      client->FromHost(data, shape, device, HostSemantics::kUntilTransferCompletes, &free);
  free.Await();
  EXPECT_TRUE(free.IsReady());
  fill(3);
  EXPECT_EQ(sent.ToVector<float>()[1023], 2);

  // In use until the buffer is gone.
  Event gone;
  {
    Buffer shared = client->FromHost(data, shape, device, HostSemantics::kZeroCopy, &gone);
    Execution run = program->Execute({&copied, &shared});
    EXPECT_EQ(run.outputs[0][0].ToVector<float>()[0], 1 - 3);
    EXPECT_EQ(shared.ToVector<float>()[0], 3);
    EXPECT_FALSE(gone.IsReady());
  }
  gone.Await();
  EXPECT_TRUE(gone.IsReady());
}

TEST_P(PjrtTest, DonatedZeroCopyMemoryIsNotOverwritten) {
  auto client = MakeClient();
  auto program = client->Compile(DonatingProgram(1024), {});
  const Shape shape(DType::kF32, {1024});
  alignas(64) static float data[1024];
  std::fill(std::begin(data), std::end(data), 5.0f);
  Event gone;
  Buffer p = client->FromHost(data, shape, client->devices()[0], HostSemantics::kZeroCopy, &gone);
  Buffer g = client->FromVector(std::vector<float>(1024, 1), shape);
  Execution run = program->Execute({&p, &g});
  EXPECT_EQ(run.outputs[0][0].ToVector<float>()[7], 4);
  EXPECT_EQ(data[7], 5);
}

TEST_P(PjrtTest, EventsCallBack) {
  auto client = MakeClient();
  auto program = client->Compile(kAdd, {});
  const Shape shape(DType::kF32, {2, 3});
  Buffer a = client->FromVector(std::vector<float>(6, 1), shape);
  std::atomic<int> called = 0, failed = 0;
  {
    Execution run = program->Execute({&a, &a});
    run.done[0].OnReady([&] { ++called; });
    run.outputs[0][0].ReadyEvent().OnDone([&](std::exception_ptr error) {
      ++called;
      if (error) ++failed;
    });
    run.Await();
    run.Await();  // twice is fine
  }
  while (called < 2) std::this_thread::yield();
  EXPECT_EQ(failed, 0);
  Event over;
  EXPECT_TRUE(over.IsReady());
  over.Await();
  over.OnReady([&] { ++called; });
  EXPECT_EQ(called, 3);
}

TEST_P(PjrtTest, BuffersAndEventsOutliveTheirClient) {
  Buffer sum;
  Event done;
  {
    auto client = MakeClient();
    auto program = client->Compile(kAdd, {});
    Buffer a = client->FromVector(std::vector<float>(6, 1), Shape(DType::kF32, {2, 3}));
    Execution run = program->Execute({&a, &a});
    sum = std::move(run.outputs[0][0]);
    done = std::move(run.done[0]);
  }
  done.Await();
  EXPECT_EQ(sum.ToVector<float>()[5], 2);
}

TEST_P(PjrtTest, TranslatesErrors) {
  auto client = MakeClient();
  try {
    client->Compile("module @m {\n  func.func @main() -> tensor<f32> {\n    %0 = nonsense\n  }\n}",
                    {});
    FAIL() << "nonsense was compiled";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("line 3, column"), HasSubstr("    %0 = nonsense"),
                                    Not(HasSubstr("forward incompatibility"))));
    EXPECT_EQ(error.exit_code(), kExitInternal);
  }
  // Shapes that don't fit name the place, too.
  std::string wrong = kAdd;
  wrong.replace(wrong.find("tensor<2x3xf32>"), 15, "tensor<9x9xf32>");
  EXPECT_THAT(ErrorOf([&] { client->Compile(wrong, {}); }), HasSubstr("line 3"));

  // 16 TB.
  auto big = client->Compile(R"(module @big {
  func.func @main(%a: tensor<f32>) -> tensor<4000000000000xf32> {
    %0 = "stablehlo.broadcast_in_dim"(%a) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4000000000000xf32>
    "func.return"(%0) : (tensor<4000000000000xf32>) -> ()
  }
})",
                             {});
  Buffer a = client->FromVector<float>({1}, Shape::Scalar(DType::kF32));
  try {
    big->Execute({&a}).Await();
    FAIL() << "16 TB were allocated";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), Code::kResourceExhausted);
    EXPECT_EQ(error.exit_code(), kExitOutOfMemory);
    EXPECT_THAT(error.what(), HasSubstr("16000000000000"));
  }
}

TEST_P(PjrtTest, ChecksArguments) {
  auto client = MakeClient(2);
  auto program = client->Compile(kAdd, {});
  const Shape shape(DType::kF32, {2, 3});
  Buffer a = client->FromVector(std::vector<float>(6, 1), shape);
  Buffer other(client->FromHost(std::vector<float>(6).data(), shape, client->devices()[1]));
  Buffer odd = client->FromVector(std::vector<float>(7, 1), Shape(DType::kF32, {7}));
  EXPECT_THAT(ErrorOf([&] { program->Execute({&a}); }), HasSubstr("expected 2"));
  EXPECT_THAT(ErrorOf([&] { program->Execute({&a, &a, &a}); }), HasSubstr("expected 2"));
  EXPECT_THAT(ErrorOf([&] {
                program->Execute({&a, &other});
              }),
              AllOf(HasSubstr("argument 1"), HasSubstr("id=1")));
  EXPECT_THAT(ErrorOf([&] { program->Execute({&a, nullptr}); }), HasSubstr("argument 1"));
  EXPECT_THAT(ErrorOf([&] { program->Execute({&a, &odd}).Await(); }), HasSubstr("size"));
  // And still works.
  EXPECT_EQ(program->Execute({&a, &a}).outputs[0][0].ToVector<float>()[0], 2);
}

TEST_P(PjrtTest, CompileOptionsAreChecked) {
  auto client = MakeClient(2);
  EXPECT_THAT(ErrorOf([&] { client->Compile(kAdd, {.num_replicas = 3}); }),
              HasSubstr("has 2 devices"));
  EXPECT_THROW(client->Compile(kAdd, {.num_replicas = 0}), UserError);
  EXPECT_THAT(ErrorOf([&] { client->Compile(kAdd, {.device_ids = {5}}); }),
              HasSubstr("no device 5"));
  EXPECT_THROW(client->Compile(kAdd, {.num_replicas = 2, .device_ids = {1, 1}}), UserError);
  EXPECT_THROW(client->Compile(kAdd, {.num_replicas = 2, .device_ids = {1}}), UserError);
  EXPECT_THAT(ErrorOf([&] {
                client->Compile(kAdd, {.env_overrides = {{"xla_bogus", "true"}}});
              }),
              AllOf(HasSubstr("xla_bogus"), HasSubstr("flags")));
  // A flag that is known is taken, of each kind.
  client->Compile(kAdd, {.env_overrides = {{"xla_cpu_enable_fast_math", "true"},
                                           {"xla_backend_optimization_level", "1"},
                                           {"xla_dump_hlo_module_re", "none"}}});
  // A program on another device than the first.
  auto second = client->Compile(kAdd, {.device_ids = {1}});
  EXPECT_EQ(second->device(0).id(), 1);
  EXPECT_THROW(second->device(1), UserError);
  Buffer a = client->FromHost(std::vector<float>(6, 2).data(), Shape(DType::kF32, {2, 3}),
                              client->devices()[1]);
  EXPECT_EQ(second->Execute({&a, &a}).outputs[0][0].ToVector<float>()[0], 4);
}

// Whatever the plugin's own default is. Eight elements, so that vector instructions are used too.
TEST_P(PjrtTest, MinimumAndMaximumKeepNan) {
  auto client = MakeClient(1);
  auto program = client->Compile(R"(module @extremes {
  func.func @main(%a: tensor<9xf32>, %b: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
    %0 = "stablehlo.maximum"(%a, %b) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
    %1 = "stablehlo.minimum"(%a, %b) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
    "func.return"(%0, %1) : (tensor<9xf32>, tensor<9xf32>) -> ()
  }
})",
                                 {});
  const Shape shape(DType::kF32, {9});
  Buffer one = client->FromVector(std::vector<float>(9, 1), shape);
  Buffer nan = client->FromVector(std::vector<float>(9, std::nanf("")), shape);
  for (const auto& [a, b] : {std::pair(&one, &nan), std::pair(&nan, &one)}) {
    Execution run = program->Execute({a, b});
    for (const Buffer& output : run.outputs[0]) {
      for (float value : output.ToVector<float>()) EXPECT_TRUE(std::isnan(value)) << value;
    }
  }
}

TEST_P(PjrtTest, DevicesSayWhatTheyAre) {
  auto client = MakeClient(4);
  ASSERT_EQ(client->devices().size(), 4u);
  for (int i = 0; i < 4; ++i) {
    const Device& device = client->devices()[static_cast<size_t>(i)];
    EXPECT_EQ(device.index(), i);
    EXPECT_EQ(device.id(), i);
    EXPECT_EQ(device.kind(), "cpu");
    EXPECT_FALSE(device.memory_stats().has_value());  // unknown, not 0
  }
  EXPECT_EQ(client->platform_name(), "cpu");
  EXPECT_TRUE(client->is_cpu());
}

TEST_P(PjrtTest, SerializesAndLoads) {
  auto client = MakeClient(2);
  auto program = client->Compile(kAdd, {});
  const std::string bytes = program->Serialize();
  auto loaded = client->Deserialize(bytes, {});
  EXPECT_TRUE(loaded->from_cache());
  Buffer a = client->FromVector(std::vector<float>(6, 4), Shape(DType::kF32, {2, 3}));
  EXPECT_EQ(loaded->Execute({&a, &a}).outputs[0][0].ToVector<float>()[0], 8);
  EXPECT_THAT(ErrorOf([&] { client->Deserialize("nothing of the kind", {}); }),
              HasSubstr("loading a compiled program"));
  EXPECT_THAT(ErrorOf([&] { client->Deserialize(bytes, {.device_ids = {1}}); }),
              HasSubstr("other devices"));
}

std::string AllReduceProgram(int devices) {
  std::string group;
  for (int i = 0; i < devices; ++i) group += (i > 0 ? "," : "") + std::to_string(i);
  return fmt::format(R"(module @sum {{
  func.func @main(%x: tensor<8xf32> {{tf.aliasing_output = 0 : i32}}) -> (tensor<8xf32>, tensor<8xf32>) {{
    %s = "stablehlo.all_reduce"(%x) ({{
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%t) : (tensor<f32>) -> ()
    }}) {{replica_groups = dense<[[{}]]> : tensor<1x{}xi64>}} : (tensor<8xf32>) -> tensor<8xf32>
    %one = "stablehlo.constant"() {{value = dense<1.0> : tensor<8xf32>}} : () -> tensor<8xf32>
    %y = "stablehlo.add"(%x, %one) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "func.return"(%y, %s) : (tensor<8xf32>, tensor<8xf32>) -> ()
  }}
}})",
                     group, devices);
}

// Launches that nobody waits for: without the gate this hangs in XLA's rendezvous.
TEST_P(PjrtTest, ManyAllReduceStepsInFlight) {
  const Shape shape(DType::kF32, {8});
  for (int n : {2, 4, 8}) {
    auto client = MakeClient(n);
    auto program = client->Compile(AllReduceProgram(n), {.num_replicas = n});
    ASSERT_EQ(program->num_devices(), n);
    std::vector<Buffer> state;
    float total = 0;
    for (int d = 0; d < n; ++d) {
      const std::vector<float> x(8, static_cast<float>(d));
      total += static_cast<float>(d);
      state.push_back(client->FromHost(x.data(), shape, client->devices()[static_cast<size_t>(d)]));
    }
    Execution run;
    std::vector<const Buffer*> args(static_cast<size_t>(n));
    constexpr int kSteps = 1000;
    for (int step = 0; step < kSteps; ++step) {
      for (int d = 0; d < n; ++d) args[static_cast<size_t>(d)] = &state[static_cast<size_t>(d)];
      program->Execute(args, run);
      for (int d = 0; d < n; ++d) {
        state[static_cast<size_t>(d)] = std::move(run.outputs[static_cast<size_t>(d)][0]);
      }
    }
    run.Await();
    for (int d = 0; d < n; ++d) {
      EXPECT_EQ(run.outputs[static_cast<size_t>(d)][1].ToVector<float>()[7],
                total + static_cast<float>(n * (kSteps - 1)));
    }
  }
}

// The same with launches that don't depend on each other.
TEST_P(PjrtTest, ManyIndependentAllReduceSteps) {
  const Shape shape(DType::kF32, {8});
  constexpr int n = 4, kSteps = 1000;
  auto client = MakeClient(n);
  std::string text = AllReduceProgram(n);
  const std::string alias = "{tf.aliasing_output = 0 : i32}";
  text.erase(text.find(alias), alias.size());
  auto program = client->Compile(text, {.num_replicas = n});
  std::vector<Buffer> x;
  std::vector<const Buffer*> args;
  for (const Device& device : client->devices()) {
    x.push_back(client->FromHost(std::vector<float>(8, 3).data(), shape, device));
  }
  for (const Buffer& buffer : x) args.push_back(&buffer);
  std::vector<Execution> runs(kSteps);
  for (Execution& run : runs) program->Execute(args, run);
  for (const Execution& run : runs) run.Await();
  EXPECT_EQ(runs.back().outputs[n - 1][1].ToVector<float>()[0], 3 * n);
}

// Independent launches from several threads at once.
TEST_P(PjrtTest, AllReduceFromSeveralThreads) {
  auto client = MakeClient(2);
  auto program = client->Compile(AllReduceProgram(2), {.num_replicas = 2});
  const Shape shape(DType::kF32, {8});
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<float> x(8, static_cast<float>(t));
      for (int step = 0; step < 200; ++step) {
        Buffer a = client->FromHost(x.data(), shape, client->devices()[0]);
        Buffer b = client->FromHost(x.data(), shape, client->devices()[1]);
        Execution run = program->Execute({&a, &b});
        if (run.outputs[1][1].ToVector<float>()[3] != 2.0f * static_cast<float>(t)) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_P(PjrtTest, GateLetsOnlySoManyIn) {
  auto client = MakeClient();
  auto program = client->Compile(DonatingProgram(1 << 20), {});
  const Shape shape(DType::kF32, {1 << 20});
  Buffer state = client->FromVector(std::vector<float>(1 << 20, 0), shape);
  Buffer one = client->FromVector(std::vector<float>(1 << 20, 1), shape);
  LaunchGate gate(2);
  Execution run;
  for (int step = 0; step < 50; ++step) {
    gate.Enter();
    EXPECT_LE(gate.in_flight(), 2);
    program->Execute(std::array<const Buffer*, 2>{&state, &one}, run);
    gate.Track(run.done);
    state = std::move(run.outputs[0][0]);
  }
  gate.Drain();
  EXPECT_EQ(gate.in_flight(), 0);
  EXPECT_TRUE(run.done[0].IsReady());
  EXPECT_EQ(state.ToVector<float>()[0], -50);
  gate.Enter();
  gate.Track({});
  EXPECT_EQ(gate.in_flight(), 0);
  EXPECT_THROW(LaunchGate(0), UserError);
}

TEST_P(PjrtTest, ThreadsShareAProgram) {
  auto client = MakeClient();
  auto program = client->Compile(kAdd, {});
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Buffer a = client->FromVector(std::vector<float>(6, static_cast<float>(t)),
                                    Shape(DType::kF32, {2, 3}));
      for (int i = 0; i < 200; ++i) {
        Execution run = program->Execute({&a, &a});
        if (run.outputs[0][0].ToVector<float>()[5] != 2.0f * static_cast<float>(t)) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

// A client that callbacks kept alive would end on one of its own threads, waiting for itself.
TEST_P(PjrtTest, AClientsEndWaitsForItsCallbacks) {
  std::promise<void> begun, go_on;
  std::atomic<bool> over = false;
  std::jthread helper;
  {
    auto client = MakeClient();
    const Shape shape(DType::kF32, {1024, 1024});
    auto program = client->Compile(R"(module @square {
  func.func @main(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %0 = "stablehlo.dot_general"(%x, %x) {dot_dimension_numbers =
      #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}
      : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    "func.return"(%0) : (tensor<1024x1024xf32>) -> ()
  }
})",
                                   {});
    Buffer x = client->FromVector(std::vector<float>(1024 * 1024, 1.0f), shape);
    const Execution run = program->Execute({&x});
    helper = std::jthread([&] {
      begun.get_future().wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));  // while the client ends
      go_on.set_value();
    });
    run.done[0].OnReady([&] {
      begun.set_value();
      go_on.get_future().wait();
      over = true;
    });
  }
  EXPECT_TRUE(over);
}

// The wire format, byte by byte, for one small set of options.
TEST(CompileOptionsTest, WritesTheProto) {
  const std::string proto =
      CompileOptions{.num_replicas = 2, .device_ids = {0, 300}, .env_overrides = {{"f", "true"}}}
          .ToProto();
  const std::string build =
      std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11) +  // device_ordinal = -1
      std::string("\x20\x02\x28\x01", 4) +          // num_replicas = 2, num_partitions = 1
      std::string("\x4a\x0b\x08\x02\x10\x01", 6) +  // device_assignment: 2 replicas, 1 computation
      std::string("\x1a\x05\x08\x00\x08\xac\x02", 7);  // of the devices 0 and 300
  EXPECT_EQ(proto, std::string("\x1a") + static_cast<char>(build.size()) + build +
                       std::string("\x3a\x07\x0a\x01"
                                   "f"
                                   "\x12\x02\x10\x01",
                                   9));
}

}  // namespace
}  // namespace flatout::xla
