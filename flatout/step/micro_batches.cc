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

}  // namespace

MicroBatches Divide(const StepSpec& spec) {
  const int64_t batch = BatchRows(spec);
  if (spec.micro_rows < 0) {
    throw Invalid("a micro-batch must have at least one row, found {}", spec.micro_rows);
  }
  if (spec.micro_rows == 0 || spec.micro_rows >= batch) return {.rows = batch, .count = 1};
  return {.rows = spec.micro_rows, .count = (batch + spec.micro_rows - 1) / spec.micro_rows};
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

std::vector<Value> OverMicroBatches(const StepSpec& spec, ir::Graph& graph, const StepInput& input,
                                    std::span<const Value> constants, std::span<const Value> carry,
                                    bool with_global_rows, const PieceBody& body) {
  const MicroBatches pieces = Divide(spec);
  const int64_t batch = BatchRows(spec);
  std::vector<Value> all_constants(constants.begin(), constants.end());
  all_constants.insert(all_constants.end(), input.fields.begin(), input.fields.end());
  all_constants.push_back(input.weight);
  all_constants.push_back(input.index);
  std::vector<Value> xs = {ir::Iota(graph, Shape(DType::kI32, {pieces.count}), 0)};
  if (with_global_rows) {
    xs.push_back(GlobalRows(spec, pieces, ir::DynamicIndex(input.weight, input.index)));
  }

  const auto run = [&](ir::Graph& loop, std::span<const Value> arguments) {
    const auto own_constants = arguments.first(constants.size());
    const auto fields = arguments.subspan(constants.size(), input.fields.size());
    const Value weight = arguments[constants.size() + fields.size()];
    const Value index = arguments[constants.size() + fields.size() + 1];
    const auto own_carry = arguments.subspan(all_constants.size(), carry.size());
    const Value piece_number = arguments[all_constants.size() + carry.size()];

    const Value due = piece_number * static_cast<double>(pieces.rows);
    const bool divides = batch % pieces.rows == 0;
    const Value begin = divides ? due : ir::Min(due, static_cast<double>(batch - pieces.rows));
    Piece piece;
    for (const Value& field : fields) {
      piece.fields.push_back(RowsOf(field, index, begin, pieces.rows));
    }
    piece.fields.push_back(RowsOf(weight, index, begin, pieces.rows));
    piece.fields = TiedTo(piece_number, std::move(piece.fields));
    piece.weight = piece.fields.back();
    piece.fields.pop_back();
    if (!divides) {
      const Value row = ir::Iota(loop, Shape(DType::kI32, {pieces.rows}), 0) + begin;
      const Value is_new = ir::Compare(row, due, ir::Comparison::kGe);
      piece.weight = ir::Select(is_new, piece.weight, ir::ZerosLike(piece.weight));
    }
    piece.first_row = ir::Convert(begin, DType::kU32);
    if (const Value first = FirstRow(loop, spec)) piece.first_row = piece.first_row + first;
    if (with_global_rows) piece.global_rows = arguments.back();
    return body(loop, piece, own_constants, own_carry);
  };
  return ir::Scan(graph, pieces.count, all_constants, carry, xs, run);
}

}  // namespace flatout::step
