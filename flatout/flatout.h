// The one include for C++ programs that use Flatout.
//
// A model is built from layers with Keras's names (nn), trained on a source of records (data) by a
// Trainer (train), whose options are those of a run file. See examples/fashion_mnist.cc.
#pragma once

#include "flatout/base/config.h"       // IWYU pragma: export
#include "flatout/base/error.h"        // IWYU pragma: export
#include "flatout/data/arrays.h"       // IWYU pragma: export
#include "flatout/data/dataset.h"      // IWYU pragma: export
#include "flatout/data/sources/idx.h"          // IWYU pragma: export
#include "flatout/data/source.h"       // IWYU pragma: export
#include "flatout/nn/layers.h"         // IWYU pragma: export
#include "flatout/nn/model.h"          // IWYU pragma: export
#include "flatout/train/run_config.h"  // IWYU pragma: export
#include "flatout/train/run_folder.h"  // IWYU pragma: export
#include "flatout/train/trainer.h"     // IWYU pragma: export
