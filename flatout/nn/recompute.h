// Recomputation (activation checkpointing): values inside a block of layers are not kept for the
// gradients but computed again, from what the block took in, when the gradients need them. Less
// memory, more time, the same bits. ir/recompute.h does it to a graph; here is which layers are a
// block, what recomputing it costs, and which blocks to take.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/ir/graph.h"
#include "flatout/nn/context.h"
#include "flatout/nn/model.h"

namespace flatout::nn {

// What to recompute. In run files: recompute = "none" | "blocks" | "auto" | ["block1", "stage1_*"].
struct Recompute {
  enum class Kind {
    kNone,
    kBlocks,  // the blocks that `names` says; all of the model's where it is empty
    kAuto,    // as few as make the step fit; whoever plans memory decides (RecomputePlan::Choose).
              // A step built before that decision recomputes nothing.
  };
  Kind kind = Kind::kNone;
  // Names of blocks or of layers, with '*' for any characters. A layer outside of the blocks so
  // named is a block with those named next to it.
  std::vector<std::string> names;

  static Recompute None() { return {}; }
  static Recompute AllBlocks() { return {.kind = Kind::kBlocks, .names = {}}; }
  static Recompute Only(std::vector<std::string> names) {
    return {.kind = Kind::kBlocks, .names = std::move(names)};
  }
  // "none", "blocks", "auto", "blocks: block1, block2".
  std::string ToString() const;
  bool operator==(const Recompute&) const = default;
};
// Throws UserError at the value's place for other words and for lists that are empty.
void ReadConfig(const Config& value, Recompute& field);

// Layers that are recomputed together.
struct Block {
  std::string name;                 // "block1", "stage2_block1", "segment3"
  std::vector<std::string> layers;  // names, in the order of their use
  std::vector<int> calls;           // indices into Model::calls()
};

// The blocks of a model. Layers whose names begin with "...block<number>_" are one block (built-in
// transformer and ResNet; any model that names its layers so). A model without such names is cut
// into about sqrt(n) segments where a single tensor passes from the layers before to those after,
// so that what is kept between segments and what one segment holds are small together (Chen et al.
// 2016, "Training deep nets with sublinear memory cost"). The output layer is in no segment.
std::vector<Block> Blocks(const Model& model);

// The blocks that `recompute` chooses, in order; none for kNone and kAuto. Throws UserError for a
// name that fits no block and no layer, with the nearest known one.
std::vector<Block> ChosenBlocks(const Model& model, const Recompute& recompute);

// For ir::Gradient: of each node that `context` has traced of `model`, which chosen block it
// belongs to, or -1.
std::vector<int> BlockOfNodes(const Model& model, const Recompute& recompute,
                              const Context& context);

// What recomputing a block is worth for one step.
struct BlockCost {
  std::string name;
  int64_t bytes = 0;  // kept for the gradients if it is not recomputed, without what it hands on
  double flops = 0;   // that recomputing adds
};

struct RecomputePlan {
  std::vector<BlockCost> blocks;  // in the order of the model

  // Bytes that recomputing `names` saves: one block's values at a time still exist.
  int64_t BytesSaved(std::span<const std::string> names) const;
  double Flops(std::span<const std::string> names) const;
  // The blocks that save at least `bytes`, those first that save most for a FLOP: None() for bytes
  // <= 0; all of them where even they do not save enough.
  Recompute Choose(int64_t bytes) const;
};

// An estimate from our own graph, before any compiler has fused it, for `rows` rows of the batch
// and all blocks of `model`.
RecomputePlan PlanRecompute(const Model& model, const Policy& policy, int64_t rows);

}  // namespace flatout::nn
