// Cases of flatout/ir/ops/sort.cc.
#include <limits>

#include "flatout/ir/gradient.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

const bool sort =
    AddRecorded("sort",
                [](const Recorded& r, Graph&, Inputs x) -> Outputs {
                  return ir::Sort(x, r.attrs.Int("dimension"), r.attrs.Bool("descending"));
                },
                {.differentiable = true});

const bool top_k = AddRecorded("top_k",
                               [](const Recorded& r, Graph&, Inputs x) -> Outputs {
                                 const auto [values, indices] = ir::TopK(x[0], r.attrs.Int("k"));
                                 return {values, indices};
                               },
                               {.differentiable = true, .row = "sort"});

// A second operand travels along, and its gradient back.
const bool pairs = AddCase({
    .name = "sort_two_operands",
    .op = "sort",
    .inputs = {F32({2, 3}, {3, 1, 2, -1, -3, -2}), F32({2, 3}, {1, 2, 3, 4, 5, 6})},
    .build = [](Graph&, Inputs x) -> Outputs { return ir::Sort(x, -1); },
    .expected = {F32({2, 3}, {1, 2, 3, -3, -2, -1}), F32({2, 3}, {2, 3, 1, 5, 6, 4})},
    .differentiable = true,
});

// NaN is the largest; both zeros and all NaNs are equal, so their order stays.
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
bool AddSpecial(bool descending) {
  return AddCase({
      .name = descending ? "sort_nan_zeros_descending" : "sort_nan_zeros",
      .op = "sort",
      .inputs = {F32({7}, {-kNan, 0.0, -0.0, kInf, kNan, 0.0, -kInf}),
                 I32({7}, {0, 1, 2, 3, 4, 5, 6})},
      .build = [descending](Graph&, Inputs x) -> Outputs {
        return {ir::Sort(x, 0, descending)[1]};
      },
      .expected = {descending ? I32({7}, {0, 4, 3, 1, 2, 5, 6}) : I32({7}, {6, 1, 2, 5, 3, 0, 4})},
  });
}
const bool special[] = {AddSpecial(false), AddSpecial(true)};

const bool integers = AddCase({
    .name = "sort_integers",
    .op = "sort",
    .inputs = {I32({4}, {3, -1, 2, -7}), Of(DType::kU8, {4}, {3, 255, 2, 128})},
    .build = [](Graph&, Inputs x) -> Outputs {
      return {ir::Sort(x.first(1), 0)[0], ir::Sort(x.subspan(1), 0)[0]};
    },
    .expected = {I32({4}, {-7, -1, 2, 3}), Of(DType::kU8, {4}, {2, 3, 128, 255})},
});

}  // namespace
}  // namespace flatout::testing
