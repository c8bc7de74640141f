// All layers. Each family declares option structs with Keras's argument names and defaults, and a
// factory per layer: Dense({.units = 10, .activation = "relu"}).
#pragma once

#include "flatout/nn/layers/attention.h"
#include "flatout/nn/layers/augmentation.h"
#include "flatout/nn/layers/convolution.h"
#include "flatout/nn/layers/core.h"
#include "flatout/nn/layers/merging.h"
#include "flatout/nn/layers/normalization.h"
#include "flatout/nn/layers/pooling.h"
#include "flatout/nn/layers/preprocessing.h"
#include "flatout/nn/layers/recurrent.h"
#include "flatout/nn/layers/regularization.h"
#include "flatout/nn/layers/reshaping.h"
