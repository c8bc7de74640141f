// flatout/step: the compiled programs of a run, built as graphs.
//
// A training program is one executable: up to K steps of forward, backward, gradient sync and
// update, in a loop on the device whose trip count is an argument, so that one program serves any
// number of steps with the same bits. The state (variables, slots, counters) is donated: it is
// updated in place. An evaluation program runs the forward pass and sums loss and metrics; a
// prediction program returns the model's outputs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/nn/loss.h"
#include "flatout/nn/metric.h"
#include "flatout/nn/model.h"
#include "flatout/nn/recompute.h"
#include "flatout/optim/loss_scale.h"
#include "flatout/optim/optimizer.h"

namespace flatout::step {

// One tensor of the training state.
struct StateTensor {
  enum class Kind { kVariable, kSlot, kCounter };
  std::string name;  // "dense/kernel", "dense/kernel/momentum", "step"
  Kind kind;
  ir::Shape shape;
  int variable = -1;   // index into model.variables() (of the slot's variable, for slots)
  double initial = 0;  // slots and counters
};

// Everything a program is made from. The referenced objects must outlive it.
struct StepSpec {
  const nn::Model* model = nullptr;
  const optim::Optimizer* optimizer = nullptr;  // training only
  const nn::Loss* loss = nullptr;
  std::vector<const nn::Metric*> metrics;
  nn::Policy policy;
  // The launch's fields, per step and replica with the batch first: [B, ...], without "weight".
  std::vector<ir::Shape> field_shapes;
  std::vector<std::string> field_names;
  std::vector<int> input_fields;  // field of each model input
  int target_field = -1;
  int64_t steps_per_launch = 1;  // K, the most that one launch can do
  int64_t replicas = 1;
  uint64_t seed = 0;
  // Rows of one micro-batch per replica: a training or evaluation step goes over its B rows in
  // ceil(B / micro_rows) pieces, one after the other, and so needs the memory of one. 0 (or
  // anything from B on): the whole batch at once. Prediction takes no notice.
  int64_t micro_rows = 0;
  // Into how many blocks a pass of training or evaluation divides the rows of its last layer's
  // result, where they alone decide about loss and metrics: the logits of a large vocabulary then
  // exist for one block at a time. 1: the whole at once; 0: chosen by their size (docs/memory.md).
  // Prediction takes no notice.
  int64_t loss_blocks = 0;
  optim::LossScale loss_scale;  // training only
  nn::Recompute recompute;      // training only
  bool gradient_norm = false;   // training only: told of each step
};

// The state in the order in which programs take it: variables, slots, the loss scale's counters
// (optim::LossScaleCounters; none without a loss scale), "step" (i32, updates applied) and "halted"
// (i32, 1 after a step whose loss was not finite; then nothing is updated any more, so that the
// state is the last good one and the step can be looked into).
std::vector<StateTensor> StateLayout(const nn::Model& model, const optim::Optimizer& optimizer,
                                     const optim::LossScale& loss_scale = {});

// Into how many blocks a pass of spec's programs divides its loss; 1: it does not. Throws UserError
// where spec.loss_blocks asks for what cannot be.
int64_t NumLossBlocks(const StepSpec& spec);

// What the results of a launch mean. Sums add up over launches. For replicas they are already
// summed, equal on all of them.
struct ResultLayout {
  int losses = 0;  // result index: f32[K], mean loss of each step, regularization included
  int rates = 0;   // f32[K], learning rates used; training only
  // Training with a loss scale only, else -1. i32[K]: 1 for a step that was skipped because
  // gradients (or, above the least dynamic scale, its loss) were not finite: neither variables nor
  // slots nor the step counter changed, and losses[i] may be any value, NaN included. f32[K]: the
  // scale that the step used.
  int skipped = -1;
  int scales = -1;
  // Where asked for (StepSpec), else -1. f32[K]: the L2 norm of all gradients together, before they
  // are clipped.
  int gradient_norms = -1;
  // f32 scalar: sum of weighted losses, regularization included. A skipped step whose loss is not
  // finite adds nothing to any sum.
  int loss_sum = 0;
  int weight_sum = 0;  // f32 scalar
  // First result and number of results of each metric's Sums.
  std::vector<std::pair<int, int>> metrics;
  int outputs = 0;  // first model output, [B, ...]; prediction only
  int num_outputs = 0;
};

struct Program {
  std::unique_ptr<ir::Graph> graph;
  ResultLayout results;
  int num_state = 0;      // leading arguments that are state
  double step_flops = 0;  // of one step on one replica, forward and backward, as the graph counts
};

// Arguments: state (donated), fields [K, B, ...], weight f32[K, B], steps i32, rate_factor f32.
// Results: state, then what Program::results says.
Program BuildTrainProgram(const StepSpec& spec);
// Arguments: the variables (not donated), fields, weight, steps.
Program BuildEvaluateProgram(const StepSpec& spec);
// One batch. Arguments: the variables, the model's input fields [B, ...]. Results: outputs, f32.
Program BuildPredictProgram(const StepSpec& spec);

// For a step whose loss or gradients were not finite: one step without update. Arguments: the
// variables, the loss scale f32 (only with spec.loss_scale.enabled()), the step counter i32, fields
// [B, ...], weight f32[B]. Results: pred scalars, in the order of `names`: false where the name
// says what is wrong.
struct DiagnosisProgram {
  std::unique_ptr<ir::Graph> graph;
  // "the weight dense/kernel is not finite", "the output of layer dense is not finite", ...
  std::vector<std::string> names;
  std::vector<bool> in_data;  // it is the data's fault
};
DiagnosisProgram BuildDiagnosisProgram(const StepSpec& spec);

}  // namespace flatout::step
