#include "flatout/step/micro_batches.h"

#include <algorithm>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"
#include "flatout/step/forward.h"

namespace flatout::step {
namespace {

using ir::DType;
using ir::Shape;
using ir::Value;

// `values`, computed in the loop's pass number `index` and not before it. Where a slice does not
// depend on the loop's counter (one step per launch) XLA would otherwise move what depends on
// nothing else out of the loop and fuse the rest in another way, which changes bits.
std::vector<Value> TiedTo(Value index, std::vector<Value> values) {
  values.push_back(index);
  values = ir::OptimizationBarrier(values);
  values.pop_back();
  return values;
}

// Rows [begin, begin + rows) of step `index` of a launch's array [K, B, ...].
Value RowsOf(Value stacked, Value index, Value begin, int64_t rows) {
  std::vector<Value> start(stacked.rank(), ir::ScalarLike(index, 0));
  start[0] = index;
  start[1] = begin;
  ir::Dims sizes = stacked.dims();
  sizes[0] = 1;
  sizes[1] = rows;
  const Value slice = ir::DynamicSlice(stacked, start, sizes);
  sizes.erase(sizes.begin());
  return ir::Reshape(slice, sizes);
}

// Real rows of each micro-batch, over all replicas: f32[count].
Value GlobalRows(const StepSpec& spec, const MicroBatches& pieces, Value weight) {
  const int64_t padding = pieces.rows * pieces.count - weight.dim(0);
  const Value padded = padding > 0 ? ir::Pad(weight, 0, {0}, {padding}, {0}) : weight;
  const Value rows = ir::ReduceSum(ir::Reshape(padded, {pieces.count, pieces.rows}), {1});
  if (spec.replicas == 1) return rows;
  return ir::AllReduce(std::span(&rows, 1), ir::Reduction::kSum, spec.replicas)[0];
}

// The values that `input` has, in a row, and an input like it made of such a row.
std::vector<Value> Packed(const PassInput& input) {
  std::vector<Value> values = input.variables;
  for (const Value& value : {input.step, input.rows, input.scale}) {
    if (value) values.push_back(value);
  }
  return values;
}

PassInput Unpacked(const PassInput& like, std::span<const Value> values) {
  PassInput input;
  size_t next = like.variables.size();
  input.variables.assign(values.begin(), values.begin() + static_cast<int64_t>(next));
  if (like.step) input.step = values[next++];
  if (like.rows) input.rows = values[next++];
  if (like.scale) input.scale = values[next++];
  return input;
}

}  // namespace

MicroBatches Divide(const StepSpec& spec) {
  const int64_t batch = BatchRows(spec);
  if (spec.micro_rows < 0) {
    throw Invalid("a micro-batch must have at least one row, found {}", spec.micro_rows);
  }
  if (spec.micro_rows == 0 || spec.micro_rows >= batch) return {.rows = batch, .count = 1};
  return {.rows = spec.micro_rows, .count = (batch + spec.micro_rows - 1) / spec.micro_rows};
}

PieceOfRows::PieceOfRows(Value number, int64_t rows, int64_t total) : rows(rows) {
  due = number * static_cast<double>(rows);
  begin = total % rows == 0 ? due : ir::Min(due, static_cast<double>(total - rows));
}

Value PieceOfRows::Of(Value all) const {
  std::vector<Value> start(all.rank(), ir::ScalarLike(begin, 0));
  start[0] = begin;
  ir::Dims sizes = all.dims();
  sizes[0] = rows;
  return ir::DynamicSlice(all, start, sizes);
}

Value PieceOfRows::NewOnly(Value weights) const {
  if (begin == due) return weights;
  const Value row = ir::Iota(weights.graph(), Shape(DType::kI32, {rows}), 0) + begin;
  const Value is_new = ir::Compare(row, due, ir::Comparison::kGe);
  return ir::Select(is_new, weights, ir::ZerosLike(weights));
}

Piece WholeBatch(const StepSpec& spec, ir::Graph& graph, const StepInput& input) {
  Piece piece;
  for (const Value& field : input.fields) {
    piece.fields.push_back(ir::DynamicIndex(field, input.index));
  }
  piece.fields.push_back(ir::DynamicIndex(input.weight, input.index));
  piece.fields = TiedTo(input.index, std::move(piece.fields));
  piece.weight = piece.fields.back();
  piece.fields.pop_back();
  piece.first_row = FirstRow(graph, spec);
  return piece;
}

Probe::Probe(const StepSpec& spec, const PassInput& like) : graph("probe") {
  std::vector<Value> values;
  for (const Value& value : Packed(like)) values.push_back(graph.AddParameter(value.shape(), ""));
  input = Unpacked(like, values);
  const int64_t rows = Divide(spec).rows;
  for (const Shape& shape : spec.field_shapes) {
    piece.fields.push_back(graph.AddParameter(WithRows(shape, rows), ""));
  }
  piece.weight = graph.AddParameter(Shape(DType::kF32, {rows}), "");
  piece.first_row = ir::Scalar(graph, DType::kU32, 0);
}

std::vector<Value> OverMicroBatches(const StepSpec& spec, ir::Graph& graph,
                                    const StepInput& step_input, const PassInput& input,
                                    std::span<const Value> carry, bool with_global_rows,
                                    const PieceBody& body) {
  const MicroBatches pieces = Divide(spec);
  const int64_t batch = BatchRows(spec);
  const std::vector<Value> constants = Packed(input);
  std::vector<Value> all_constants = constants;
  all_constants.insert(all_constants.end(), step_input.fields.begin(), step_input.fields.end());
  all_constants.push_back(step_input.weight);
  all_constants.push_back(step_input.index);
  std::vector<Value> xs = {ir::Iota(graph, Shape(DType::kI32, {pieces.count}), 0)};
  if (with_global_rows) {
    xs.push_back(GlobalRows(spec, pieces, ir::DynamicIndex(step_input.weight, step_input.index)));
  }

  const auto run = [&](ir::Graph& loop, std::span<const Value> arguments) {
    const PassInput own_input = Unpacked(input, arguments.first(constants.size()));
    const auto fields = arguments.subspan(constants.size(), step_input.fields.size());
    const Value weight = arguments[constants.size() + fields.size()];
    const Value index = arguments[constants.size() + fields.size() + 1];
    const auto own_carry = arguments.subspan(all_constants.size(), carry.size());
    const Value piece_number = arguments[all_constants.size() + carry.size()];

    const PieceOfRows of(piece_number, pieces.rows, batch);
    Piece piece;
    for (const Value& field : fields) {
      piece.fields.push_back(RowsOf(field, index, of.begin, pieces.rows));
    }
    piece.fields.push_back(RowsOf(weight, index, of.begin, pieces.rows));
    piece.fields = TiedTo(piece_number, std::move(piece.fields));
    piece.weight = of.NewOnly(piece.fields.back());
    piece.fields.pop_back();
    piece.first_row = ir::Convert(of.begin, DType::kU32);
    if (const Value first = FirstRow(loop, spec)) piece.first_row = piece.first_row + first;
    if (with_global_rows) piece.global_rows = arguments.back();
    return body(loop, piece, own_input, own_carry);
  };
  return ir::Scan(graph, pieces.count, all_constants, carry, xs, run);
}

}  // namespace flatout::step
