// Cases of flatout/ir/ops/custom.cc: text only, since a call needs a registered handler.
#include <string>

#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

const bool call = AddCase({
    .name = "custom_call",
    .op = "custom_call",
    .inputs = {F32({2, 3}, {1, 2, 3, 4, 5, 6}), I32({}, {1})},
    .build = [](Graph& graph, Inputs x) -> Outputs {
      return ir::CustomCall(graph, "flatout.test", x,
                            {Shape(DType::kF32, {3, 2}), Shape(DType::kI32, {})},
                            {{"alpha", 0.5},
                             {"count", int64_t{3}},
                             {"flag", true},
                             {"name", std::string("a \"quoted\" name")},
                             {"strides", Dims{1, 2}}});
    },
    .golden_only = true,
});

}  // namespace
}  // namespace flatout::testing
