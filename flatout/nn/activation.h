// Activation functions, with Keras's names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flatout/ir/graph.h"

namespace flatout::nn {

// Applies the activation called `name` ("relu", "gelu", "softmax", ...; "linear" and "" do
// nothing). Those with parameters take Keras's defaults. Softmax kinds compute in float32.
ir::Value Activate(std::string_view name, ir::Value x);
// Throws UserError with the nearest known name unless `name` is an activation.
void CheckActivation(std::string_view name);
std::vector<std::string> ActivationNames();

}  // namespace flatout::nn
