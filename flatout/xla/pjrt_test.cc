// The binding against both CPU plugins.
#include "flatout/xla/pjrt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <numeric>
#include <thread>

#include "flatout/base/error.h"

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

}  // namespace
}  // namespace flatout::xla
