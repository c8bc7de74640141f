// The head and the loss of a pass, over blocks of its rows. Internal to flatout/step.
//
// A model's head (nn::Model::head_calls) works on each position by itself, and losses and metrics
// are sums over positions. So a pass can run the model's body once and then go over its result in
// `count` blocks: head, loss, metrics and the gradient by the head's input and weights for one
// block at a time. The head's outputs, as large as a vocabulary for every position, exist for one
// block only, and each is computed once. Where the rows don't divide, the last block begins
// earlier, and rows that it shares with the block before it have weight 0 there.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/nn/context.h"
#include "flatout/step/forward.h"
#include "flatout/step/micro_batches.h"
#include "flatout/step/step_program.h"

namespace flatout::step {

struct LossBlocks {
  int64_t rows = 0;          // of one
  int64_t count = 1;         // per pass; 1: the whole pass at once, without a loop
  bool by_position = false;  // rows are positions of [batch, positions, features]
};
// How spec.loss_blocks divides a pass (a micro-batch, or the batch). Throws UserError for a
// negative number, and for more than one block where model, loss or metrics do not allow it.
LossBlocks DivideLoss(const StepSpec& spec);

// Rows to be gone over at once.
struct LossBlock {
  ir::Value x;       // of the body: [rows, ...]
  ir::Value target;  // [rows, ...]
  ir::Value weight;  // f32[rows]
};

// Runs `body` over the blocks in order. x, target and weight are those of the pass. body gets the
// loop's graph, the block, `constants` (as values of that graph) and the carry; it returns the new
// carry, and then values [rows, ...]. Returns the last carry, and then those values for all rows,
// their first dimensions those of x.
using LossBlockBody = std::function<std::vector<ir::Value>(ir::Graph& graph, const LossBlock& block,
                                                           std::span<const ir::Value> constants,
                                                           std::span<const ir::Value> carry)>;
std::vector<ir::Value> OverLossBlocks(const StepSpec& spec, const LossBlock& pass,
                                      std::span<const ir::Value> constants,
                                      std::span<const ir::Value> carry, const LossBlockBody& body);

// Traces head, loss and metrics over a block. `weights`: values of the head's variables, in the
// order of nn::Model::HeadVariables.
Forward RunHead(const StepSpec& spec, ir::Graph& graph, const LossBlock& block,
                std::span<const ir::Value> weights, bool training);

// RunForward by blocks, without outputs. `variables` are those bound in ctx, in the model's order.
Forward RunForwardInBlocks(const StepSpec& spec, nn::Context& ctx,
                           std::span<const ir::Value> fields, ir::Value weight,
                           std::span<const ir::Value> variables);

// The same with the head's part of the gradient. `rows`, `scale`: as Objective takes them.
struct HeadPass {
  Forward forward;  // without outputs and activity
  ir::Value by_x;   // gradient of the objective by the body's result
  // By the head's variables, in the order of nn::Model::HeadVariables, f32; none where they are not
  // trained.
  std::vector<ir::Value> gradients;
};
HeadPass RunHeadPass(const StepSpec& spec, const LossBlock& pass,
                     std::span<const ir::Value> variables, ir::Value rows, ir::Value scale);

}  // namespace flatout::step
