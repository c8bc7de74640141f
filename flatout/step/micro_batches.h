// The rows of a step, at once or in micro-batches. Internal to flatout/step.
//
// A step's B rows per replica are gone over in `count` pieces of `rows` each by a loop with a fixed
// trip count. Where the rows don't divide, the last piece begins earlier, so that it is as long as
// the others; the rows that it shares with the piece before it have weight 0 there. So no batch is
// padded or copied, and there is one program. Row numbers, on which random values depend, are those
// of the whole batch.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/step/step_program.h"

namespace flatout::step {

struct MicroBatches {
  int64_t rows = 0;   // of one
  int64_t count = 1;  // per replica and step
};
// How spec.micro_rows divides the batch. Throws UserError for a negative number.
MicroBatches Divide(const StepSpec& spec);

// Rows [begin, begin + rows) of `total`: piece `number` of ceil(total / rows), the last of which
// begins so that it is as long as the others.
struct PieceOfRows {
  // number: i32 scalar.
  PieceOfRows(ir::Value number, int64_t rows, int64_t total);

  // Those rows of values [total, ...].
  ir::Value Of(ir::Value all) const;
  // `weights`, f32[rows], but 0 for rows that the piece before this one has.
  ir::Value NewOnly(ir::Value weights) const;

  int64_t rows;
  ir::Value begin;  // i32 scalar
  ir::Value due;    // where the rows begin that the piece before does not have: `begin` or later
};

// What a launch brings, and which of its steps is meant.
struct StepInput {
  std::vector<ir::Value> fields;  // [K, B, ...]
  ir::Value weight;               // f32[K, B]
  ir::Value index;                // i32 scalar
};

// Rows to be gone over at once.
struct Piece {
  std::vector<ir::Value> fields;  // [rows, ...]
  ir::Value weight;               // f32[rows]
  // Number of its first row in the global batch: u32 scalar, none: 0.
  ir::Value first_row;
  // Real rows in it, of all replicas (sum of their weights): f32 scalar; none unless asked for.
  ir::Value global_rows;
};

// All rows of the step as one piece.
Piece WholeBatch(const StepSpec& spec, ir::Graph& graph, const StepInput& input);

// What a pass over a piece takes besides it.
struct PassInput {
  std::vector<ir::Value> variables;  // in the model's order
  ir::Value step;                    // i32: updates so far; none in evaluation
  ir::Value rows;   // this replica's weights of the whole step; none: those of the piece
  ir::Value scale;  // the loss scale, f32 scalar; none: 1
};

// A graph of its own with a micro-batch and `like`'s values as parameters. What a pass gives there
// tells what there is to carry through a loop over micro-batches.
struct Probe {
  Probe(const StepSpec& spec, const PassInput& like);

  ir::Graph graph;
  Piece piece;
  PassInput input;
};

// Runs `body` over all micro-batches in order. body gets the loop's graph, the piece, `input` (as
// values of that graph) and the carry; it returns the new carry, and then values that are stacked
// over the pieces. Returns the last carry and the stacks. `with_global_rows`: pieces know them,
// which takes a small all-reduce before the loop.
using PieceBody = std::function<std::vector<ir::Value>(
    ir::Graph& graph, const Piece& piece, PassInput input, std::span<const ir::Value> carry)>;
std::vector<ir::Value> OverMicroBatches(const StepSpec& spec, ir::Graph& graph,
                                        const StepInput& step_input, const PassInput& input,
                                        std::span<const ir::Value> carry, bool with_global_rows,
                                        const PieceBody& body);

}  // namespace flatout::step
