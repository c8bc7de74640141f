// Reading the recordings of tests/recorded/ (their format: tests/recorded/README.md) and running
// graphs against them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/base/error.h"
#include "flatout/ir/graph.h"
#include "flatout/nn/model.h"

namespace flatout::testing {

// An array on the host, every element as a double.
struct HostTensor {
  ir::Shape shape;
  std::vector<double> data;  // row-major
};

// The whole of tests/recorded/<name>.
nlohmann::json LoadRecorded(const std::string& name);
// {"dtype": "float32", "shape": [2, 3], "data": [...]}; NaN and infinities are texts.
HostTensor ReadTensor(const nlohmann::json& tensor);
// Keras's config as run files write it: {"class_name": c, "config": {...}} becomes {class = c,
// ...}, None an empty array.
Config ToConfig(const nlohmann::json& value);
// The model of one recorded case: its "layers", for a batch of shape `input`.
nn::Model BuildModel(const nlohmann::json& one, const ir::Shape& input);
// Compiles and runs `graph` on the default CPU plugin. Arguments in the parameters' order; each is
// converted to its parameter's dtype.
std::vector<HostTensor> RunGraph(const ir::Graph& graph, std::span<const HostTensor> arguments);
// The same on two replicas, which get arguments of their own; results by replica.
std::vector<std::vector<HostTensor>> RunOnTwo(const ir::Graph& graph,
                                              std::span<const std::vector<HostTensor>> arguments);
// Every element within `tolerance` times the largest finite magnitude expected (at least 1); NaN
// equals NaN.
void ExpectClose(const HostTensor& found, const HostTensor& expected, double tolerance,
                 const std::string& what);

}  // namespace flatout::testing
