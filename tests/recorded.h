// Reading the recordings of tests/recorded/ (their format: tests/recorded/README.md) and running
// graphs against them.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/base/error.h"
#include "flatout/ir/graph.h"
#include "flatout/nn/context.h"
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
// The cases of layers.json by the layer's class, without those where we differ from Keras on
// purpose (tests/layers_test.cc says what we do instead).
const std::map<std::string, std::vector<nlohmann::json>>& RecordedLayers();

// Recorded layers in one program: outputs, gradients of inputs and weights, and what training makes
// of moving statistics. Compiling takes the time, so a program holds many.
class LayerProgram {
 public:
  explicit LayerProgram(nn::Policy policy) : policy_(std::move(policy)) {}
  LayerProgram(const LayerProgram&) = delete;
  LayerProgram& operator=(const LayerProgram&) = delete;

  // A case of layers.json. Fails the test where our weights are not Keras's, by name, order and
  // whether they are trained, or where a dtype is not the policy's.
  void Add(const nlohmann::json& one);
  // All of them so far, with their gradients.
  const ir::Graph& graph();
  // Everything finite and as ExpectClose wants it.
  void RunAndCompare(double tolerance);

 private:
  nn::Policy policy_;
  ir::Graph graph_{"main"};
  std::vector<HostTensor> arguments_;
  std::vector<ir::Value> outputs_;
  std::vector<std::pair<std::string, HostTensor>> expected_;  // one for each output
};

// Every element within `tolerance` times the largest finite magnitude expected (at least 1); NaN
// equals NaN.
void ExpectClose(const HostTensor& found, const HostTensor& expected, double tolerance,
                 const std::string& what);
// No NaN and no infinity.
void ExpectFinite(const HostTensor& found, const std::string& what);

}  // namespace flatout::testing
