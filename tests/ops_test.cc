// Every op of flatout/ir against its cases; see tests/op_harness.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "flatout/ir/op.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

constexpr std::string_view kPlugins[] = {"cpu-0.81", "cpu-0.115"};

std::vector<size_t> Where(bool (*wanted)(const OpCase&)) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < Cases().size(); ++i) {
    if (wanted(Cases()[i])) indices.push_back(i);
  }
  return indices;
}

std::string CaseName(const ::testing::TestParamInfo<size_t>& info) {
  std::string name = Cases()[info.param].name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

class Golden : public ::testing::TestWithParam<size_t> {};
TEST_P(Golden, Text) { EXPECT_EQ(CheckGolden(Cases()[GetParam()]), ""); }
INSTANTIATE_TEST_SUITE_P(Op, Golden, ::testing::ValuesIn(Where([](const OpCase&) { return true; })),
                         CaseName);

class Values : public ::testing::TestWithParam<size_t> {};
TEST_P(Values, OnBothPlugins) {
  for (const std::string_view plugin : kPlugins) {
    EXPECT_EQ(CheckValues(Cases()[GetParam()], plugin), "") << "on " << plugin;
  }
}
INSTANTIATE_TEST_SUITE_P(Op, Values,
                         ::testing::ValuesIn(Where([](const OpCase& c) { return !c.golden_only; })),
                         CaseName);

class Gradients : public ::testing::TestWithParam<size_t> {};
TEST_P(Gradients, EqualCentralDifferences) {
  EXPECT_EQ(CheckGradient(Cases()[GetParam()], "cpu-0.115"), "");
}
INSTANTIATE_TEST_SUITE_P(Op, Gradients, ::testing::ValuesIn(Where([](const OpCase& c) {
                           return c.differentiable && !c.golden_only;
                         })),
                         CaseName);

class Kernels : public ::testing::TestWithParam<size_t> {};
TEST_P(Kernels, EqualXlaAlone) {
  for (const std::string_view plugin : kPlugins) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      EXPECT_EQ(CheckKernels(Cases()[GetParam()], plugin, dtype), "")
          << "on " << plugin << " in " << ir::Name(dtype);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Op, Kernels,
                         ::testing::ValuesIn(Where([](const OpCase& c) { return !c.golden_only; })),
                         CaseName);

TEST(KernelCases, CallTheLibrary) {
  // Guards the test above against a pass that finds nothing to do.
  for (const std::string_view op : {"dot_general", "convolution"}) {
    int calls = 0;
    for (const OpCase& c : Cases()) {
      if (c.op == op && !c.golden_only) {
        EXPECT_EQ(CheckKernels(c, "cpu-0.115", DType::kF32, &calls), "") << c.name;
      }
    }
    EXPECT_GT(calls, 10) << op;
  }
}

TEST(OpTable, EveryRowHasACase) {
  std::set<std::string, std::less<>> covered, differentiable;
  for (const OpCase& c : Cases()) {
    covered.insert(c.op);
    if (c.differentiable || c.gradient_in_build) differentiable.insert(c.op);
  }
  // Every case has parameters; they need none of their own.
  covered.insert("parameter");
  for (const ir::OpDef* row : ir::OpTable()) {
    EXPECT_TRUE(covered.contains(row->name)) << row->name << " has no case in tests/ops";
    if (row->differentiability == ir::Differentiability::kRule) {
      EXPECT_TRUE(differentiable.contains(row->name))
          << row->name << " has no differentiable case in tests/ops";
    }
  }
}

TEST(OpTable, RowsAreComplete) {
  for (const ir::OpDef* row : ir::OpTable()) {
    EXPECT_NE(row->infer, nullptr) << row->name;
    EXPECT_NE(row->write, nullptr) << row->name;
    EXPECT_EQ(row->gradient != nullptr, row->differentiability == ir::Differentiability::kRule)
        << row->name;
    EXPECT_EQ(ir::FindOp(row->name), row);
  }
  EXPECT_EQ(ir::FindOp("no_such_op"), nullptr);
}

TEST(Cases, HaveDifferentNames) {
  std::set<std::string> names;
  for (const OpCase& c : Cases()) EXPECT_TRUE(names.insert(c.name).second) << c.name;
}

TEST(Cases, HaveAllGoldenFiles) {
  std::set<std::string> names;
  for (const OpCase& c : Cases()) names.insert(c.name + ".mlir");
  for (const auto& entry :
       std::filesystem::directory_iterator(FLATOUT_SOURCE_DIR "/tests/golden")) {
    EXPECT_TRUE(names.contains(entry.path().filename()))
        << entry.path() << " belongs to no case; delete it";
  }
}

TEST(Cases, UseWholeRecording) {
  // Recorded, but not ops of ours.
  const std::set<std::string> unsupported = {"round_nearest_afz", "count_leading_zeros_u32"};
  for (const std::string& name : UnusedRecorded()) {
    EXPECT_TRUE(unsupported.contains(name)) << name << " of ops.json is in no case";
  }
}

}  // namespace
}  // namespace flatout::testing
