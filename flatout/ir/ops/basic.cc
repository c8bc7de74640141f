// parameter, constant, iota, stop_gradient, optimization_barrier.
#include <cstring>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

std::vector<Shape> SameAsInputs(const Node& node) {
  std::vector<Shape> shapes;
  for (const Value& input : node.inputs()) shapes.push_back(input.shape());
  return shapes;
}

const OpDef kParameter = {
    .name = "parameter",
    // Graph::AddParameter sets the shape; there is nothing to work it out from.
    .infer = [](const Node& node) { return std::vector<Shape>{node.shape()}; },
    .write =
        [](StablehloWriter&, const Node& node) {
          throw Internal("parameter {} is not an argument of its function",
                         node.attrs().Int("index"));
        },
};

const OpDef kConstant = {
    .name = "constant",
    .infer =
        [](const Node& node) {
          const Literal& literal = node.attrs().Data("value");
          const int64_t bytes =
              literal.splat ? ByteSize(literal.shape.dtype) : literal.shape.bytes();
          if (static_cast<int64_t>(literal.bytes.size()) != bytes) {
            throw Invalid("{} needs {} bytes of data, found {}", literal.shape.ToString(), bytes,
                          literal.bytes.size());
          }
          return std::vector<Shape>{literal.shape};
        },
    .write =
        [](StablehloWriter& writer, const Node& node) {
          writer.Emit(node, "constant", "value = " + DenseText(node.attrs().Data("value")));
        },
};

const OpDef kIota = {
    .name = "iota",
    .infer =
        [](const Node& node) {
          const Shape shape(node.attrs().Type("dtype"), node.attrs().Ints("dims"));
          const int64_t axis = node.attrs().Int("axis");
          if (axis < 0 || axis >= shape.rank()) {
            throw Invalid("axis {} is out of range for {}", axis, shape.ToString());
          }
          if (shape.dtype == DType::kPred) throw Invalid("has no pred form");
          return std::vector<Shape>{shape};
        },
    .write =
        [](StablehloWriter& writer, const Node& node) {
          writer.Emit(node, "iota", "iota_dimension = " + I64(node.attrs().Int("axis")));
        },
};

const OpDef kStopGradient = {
    .name = "stop_gradient",
    .infer = SameAsInputs,
    .write = [](StablehloWriter& writer,
                const Node& node) { writer.Alias(node, writer.Ref(node.input(0))); },
};

const OpDef kOptimizationBarrier = {
    .name = "optimization_barrier",
    .infer = SameAsInputs,
    .write = [](StablehloWriter& writer,
                const Node& node) { writer.Emit(node, "optimization_barrier"); },
    .differentiability = Differentiability::kRule,
    .gradient = [](Node&,
                   std::span<const Value> dy) { return std::vector<Value>(dy.begin(), dy.end()); },
};

template <typename T>
Literal MakeLiteral(DType dtype, const Dims& dims, std::span<const T> values) {
  Literal literal{.shape = Shape(dtype, dims), .splat = false, .bytes = {}};
  if (static_cast<int64_t>(values.size()) != literal.shape.size()) {
    throw Invalid("a constant of shape {} needs {} values, found {}", literal.shape.ToString(),
                  literal.shape.size(), values.size());
  }
  const auto bytes = std::as_bytes(values);
  literal.bytes.assign(bytes.begin(), bytes.end());
  return literal;
}

}  // namespace

std::span<const OpDef* const> BasicOps() {
  static const OpDef* const rows[] = {&kParameter, &kConstant, &kIota, &kStopGradient,
                                      &kOptimizationBarrier};
  return rows;
}

Value Constant(Graph& graph, Literal literal) {
  return graph
      .AddNode(kConstant, {}, {{"value", std::make_shared<const Literal>(std::move(literal))}})
      .output();
}

Value Full(Graph& graph, const Shape& shape, double value) {
  Literal literal{.shape = shape, .splat = true, .bytes = {}};
  literal.bytes.resize(ByteSize(shape.dtype));
  StoreElement(shape.dtype, value, literal.bytes.data());
  return Constant(graph, std::move(literal));
}

Value Scalar(Graph& graph, DType dtype, double value) {
  return Full(graph, Shape::Scalar(dtype), value);
}

Value ScalarLike(Value like, double value) { return Scalar(like.graph(), like.dtype(), value); }

Value ZerosLike(Value like) { return Full(like.graph(), like.shape(), 0); }

Value ConstantI32(Graph& graph, const Dims& dims, std::span<const int32_t> values) {
  return Constant(graph, MakeLiteral(DType::kI32, dims, values));
}

Value ConstantF32(Graph& graph, const Dims& dims, std::span<const float> values) {
  return Constant(graph, MakeLiteral(DType::kF32, dims, values));
}

Value Iota(Graph& graph, const Shape& shape, int64_t axis) {
  if (axis < 0) axis += shape.rank();
  return graph.AddNode(kIota, {}, {{"dtype", shape.dtype}, {"dims", shape.dims}, {"axis", axis}})
      .output();
}

Value StopGradient(Value x) { return x.graph().AddNode(kStopGradient, {x}).output(); }

std::vector<Value> OptimizationBarrier(std::span<const Value> values) {
  if (values.empty()) return {};
  Node& node = values[0].graph().AddNode(kOptimizationBarrier, {values.begin(), values.end()});
  std::vector<Value> results;
  for (size_t i = 0; i < values.size(); ++i) results.push_back(node.output(static_cast<int>(i)));
  return results;
}

}  // namespace flatout::ir
