// A model as TensorBoard's Graphs tab shows it: a box for each layer, its ops inside.
#pragma once

#include <vector>

#include "flatout/nn/model.h"
#include "flatout/watch/tensorboard/event.h"

namespace flatout::train {

// The forward pass as it is in training: inputs ("input"), weights ("dense/kernel") and the
// ops of each layer ("dense/dot_general"). The size of the batch is unknown in it.
std::vector<watch::tensorboard::GraphNode> ModelGraph(const nn::Model& model);

}  // namespace flatout::train
