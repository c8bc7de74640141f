// Programs of flatout/step on the CPU, fed from host arrays. For tests only.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/nn/initializer.h"
#include "flatout/step/step_program.h"
#include "flatout/xla/pjrt.h"

namespace flatout::step::testing {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

// One step's rows over all replicas: the fields' values and the rows' weights.
struct Batch {
  std::vector<std::variant<Floats, Ints>> fields;
  Floats weight;
};

// One client for each number of devices: they are dear.
inline const xla::Client& CpuClient(int64_t devices) {
  static std::map<int64_t, std::shared_ptr<xla::Client>> clients;
  std::shared_ptr<xla::Client>& client = clients[devices];
  if (client == nullptr) {
    client = xla::Client::Create(xla::Plugin::Load("cpu"),
                                 {.cpu_device_count = static_cast<int>(devices)});
  }
  return *client;
}

inline Config Toml(const std::string& text) {
  return *Config::ParseToml("[x]\n" + text, "x.toml").Find("x");
}

// What a step is made from, with defaults that suit most tests.
struct Recipe {
  nn::Model model;
  std::string optimizer = "class = \"SGD\"\nlearning_rate = 0.5";
  std::string loss = "class = \"SparseCategoricalCrossentropy\"\nfrom_logits = true";
  std::vector<std::string> metrics = {};
  std::string policy = "float32";
  int64_t rows = 0;  // of one replica's batch
  int64_t steps_per_launch = 1;
  int64_t replicas = 1;
  int64_t micro_rows = 0;
  int64_t loss_blocks = 0;
  nn::Recompute recompute = {};
  optim::LossScale loss_scale = {};
  std::vector<ir::Shape> fields = {};  // without the batch; the last one is the target
  uint64_t seed = 7;
};

class Trainee {
 public:
  explicit Trainee(Recipe recipe) : recipe_(std::move(recipe)) {
    recipe_.model.SetPolicy(nn::Policy::Named(recipe_.policy));
    optimizer_ = optim::OptimizerFromConfig(Toml(recipe_.optimizer));
    loss_ = nn::LossFromConfig(Toml(recipe_.loss));
    for (const std::string& name : recipe_.metrics) {
      metrics_.push_back(nn::MetricFromConfig(Config(name), *loss_));
      spec_.metrics.push_back(metrics_.back().get());
    }
    spec_.model = &recipe_.model;
    spec_.optimizer = optimizer_.get();
    spec_.loss = loss_.get();
    spec_.policy = nn::Policy::Named(recipe_.policy);
    for (size_t i = 0; i < recipe_.fields.size(); ++i) {
      ir::Shape shape = recipe_.fields[i];
      shape.dims.insert(shape.dims.begin(), recipe_.rows);
      spec_.field_shapes.push_back(shape);
      spec_.field_names.push_back("field" + std::to_string(i));
      if (i + 1 < recipe_.fields.size()) spec_.input_fields.push_back(static_cast<int>(i));
    }
    spec_.target_field = static_cast<int>(recipe_.fields.size()) - 1;
    spec_.steps_per_launch = recipe_.steps_per_launch;
    spec_.replicas = recipe_.replicas;
    spec_.seed = recipe_.seed;
    spec_.micro_rows = recipe_.micro_rows;
    spec_.loss_blocks = recipe_.loss_blocks;
    spec_.recompute = recipe_.recompute;
    spec_.loss_scale = recipe_.loss_scale;
    layout_ = StateLayout(recipe_.model, *optimizer_, recipe_.loss_scale);
    for (const StateTensor& tensor : layout_) {
      std::vector<float> values(tensor.shape.size(), static_cast<float>(tensor.initial));
      if (tensor.kind == StateTensor::Kind::kVariable) {
        const nn::Variable& variable = recipe_.model.variables()[tensor.variable];
        nn::Initialize(variable.initializer, variable.shape, recipe_.seed, variable.path, values);
      }
      std::vector<std::byte> bytes(tensor.shape.bytes());
      const int64_t size = ir::ByteSize(tensor.shape.dtype);
      for (size_t i = 0; i < values.size(); ++i) {
        ir::StoreElement(tensor.shape.dtype, values[i], bytes.data() + i * size);
      }
      state_.push_back(std::move(bytes));
    }
  }
  Trainee(const Trainee&) = delete;
  Trainee& operator=(const Trainee&) = delete;

  const StepSpec& spec() const { return spec_; }
  const std::vector<StateTensor>& layout() const { return layout_; }
  const xla::Client& client() const { return CpuClient(recipe_.replicas); }

  const xla::Executable& train() {
    if (train_ == nullptr) {
      train_program_ = BuildTrainProgram(spec_);
      train_ = Compile(*train_program_.graph, recipe_.replicas);
    }
    return *train_;
  }
  const Program& train_program() {
    train();
    return train_program_;
  }

  // Trains on all batches, in launches of at most steps_per_launch.
  void Train(const std::vector<Batch>& batches) {
    for (size_t at = 0; at < batches.size();) {
      const size_t count = std::min<size_t>(batches.size() - at, recipe_.steps_per_launch);
      Launch({batches.begin() + at, batches.begin() + at + count});
      at += count;
    }
  }

  // Loss and weight sum of an evaluation of the batches, then the metrics' sums.
  std::vector<Floats> Evaluate(const std::vector<Batch>& batches) {
    const Program program = BuildEvaluateProgram(spec_);
    const auto executable = Compile(*program.graph, recipe_.replicas);
    const size_t num_variables = recipe_.model.variables().size();
    const xla::Execution run = Run(*executable, num_variables, batches, /*with_rate=*/false);
    std::vector<Floats> results;
    for (size_t i = 1; i < run.outputs[0].size(); ++i) {
      results.push_back(run.outputs[0][i].ToVector<float>());
    }
    return results;
  }

  // What the diagnosis says of one replica's rows of a batch: the first thing that is wrong, or "".
  std::string Diagnose(const Batch& batch) {
    const DiagnosisProgram program = BuildDiagnosisProgram(spec_);
    const auto executable = Compile(*program.graph, 1);
    std::vector<xla::Buffer> arguments;
    const auto state = [&](size_t i) {
      arguments.push_back(
          client().FromHost(state_[i].data(), layout_[i].shape, client().devices()[0]));
    };
    for (size_t i = 0; i < recipe_.model.variables().size(); ++i) state(i);
    if (spec_.loss_scale.enabled()) state(layout_.size() - 5);
    state(layout_.size() - 2);
    for (size_t f = 0; f < spec_.field_shapes.size(); ++f) {
      arguments.push_back(
          client().FromHost(Data(batch, f), spec_.field_shapes[f], client().devices()[0]));
    }
    arguments.push_back(
        client().FromVector(batch.weight, ir::Shape(ir::DType::kF32, {recipe_.rows})));
    std::vector<const xla::Buffer*> pointers;
    for (const xla::Buffer& argument : arguments) pointers.push_back(&argument);
    const xla::Execution run = executable->Execute(pointers);
    run.Await();
    for (size_t i = 0; i < program.names.size(); ++i) {
      if (run.outputs[0][i].ToVector<uint8_t>().at(0) == 0) return program.names[i];
    }
    return "";
  }

  // A tensor of the state as floats. Throws for a name that is none.
  Floats State(const std::string& name) const {
    for (size_t i = 0; i < layout_.size(); ++i) {
      if (layout_[i].name != name) continue;
      Floats values(layout_[i].shape.size());
      const int64_t size = ir::ByteSize(layout_[i].shape.dtype);
      for (size_t e = 0; e < values.size(); ++e) {
        values[e] = static_cast<float>(
            ir::LoadElement(layout_[i].shape.dtype, state_[i].data() + e * size));
      }
      return values;
    }
    throw Internal("no state is called {}", name);
  }
  void SetState(const std::string& name, const Floats& values) {
    for (size_t i = 0; i < layout_.size(); ++i) {
      if (layout_[i].name != name) continue;
      const int64_t size = ir::ByteSize(layout_[i].shape.dtype);
      for (size_t e = 0; e < values.size(); ++e) {
        ir::StoreElement(layout_[i].shape.dtype, values[e], state_[i].data() + e * size);
      }
    }
  }
  // The bytes of the whole state.
  const std::vector<std::vector<std::byte>>& state() const { return state_; }
  int64_t state_bytes() const {
    int64_t bytes = 0;
    for (const StateTensor& tensor : layout_) bytes += tensor.shape.bytes();
    return bytes;
  }

  // Of all steps so far.
  Floats losses, rates, scales;
  Ints skipped;
  // Sums over all steps so far: loss, weight, then those of the metrics.
  std::vector<std::vector<double>> sums;

 private:
  std::shared_ptr<xla::Executable> Compile(const ir::Graph& graph, int64_t replicas) const {
    // These programs run for microseconds: what counts is how long they take to compile.
    return client().Compile(ir::ToStablehlo(graph, {.num_replicas = static_cast<int>(replicas)}),
                            {.num_replicas = static_cast<int>(replicas),
                             .env_overrides = {{"xla_backend_optimization_level", "0"},
                                               {"xla_llvm_disable_expensive_passes", "true"}}});
  }

  static const std::byte* Data(const Batch& batch, size_t field) {
    return std::visit(
        [](const auto& values) { return reinterpret_cast<const std::byte*>(values.data()); },
        batch.fields.at(field));
  }

  xla::Execution Run(const xla::Executable& executable, size_t num_state,
                     const std::vector<Batch>& batches, bool with_rate) {
    const int64_t k = recipe_.steps_per_launch;
    std::vector<xla::Buffer> arguments;
    for (int64_t r = 0; r < recipe_.replicas; ++r) {
      const xla::Device& device = client().devices()[r];
      for (size_t i = 0; i < num_state; ++i) {
        arguments.push_back(client().FromHost(state_[i].data(), layout_[i].shape, device));
      }
      const auto stacked = [&](const ir::Shape& shape, const auto& data_of) {
        std::vector<std::byte> bytes(k * shape.bytes());
        for (size_t step = 0; step < batches.size(); ++step) {
          std::memcpy(bytes.data() + step * shape.bytes(),
                      data_of(batches[step]) + r * shape.bytes(), shape.bytes());
        }
        ir::Shape all = shape;
        all.dims.insert(all.dims.begin(), k);
        arguments.push_back(client().FromHost(bytes.data(), all, device));
      };
      for (size_t f = 0; f < spec_.field_shapes.size(); ++f) {
        stacked(spec_.field_shapes[f], [&](const Batch& batch) { return Data(batch, f); });
      }
      stacked(ir::Shape(ir::DType::kF32, {recipe_.rows}), [](const Batch& batch) {
        return reinterpret_cast<const std::byte*>(batch.weight.data());
      });
      const auto steps = static_cast<int32_t>(batches.size());
      arguments.push_back(client().FromHost(&steps, ir::Shape::Scalar(ir::DType::kI32), device));
      const float factor = 1;
      if (with_rate) {
        arguments.push_back(client().FromHost(&factor, ir::Shape::Scalar(ir::DType::kF32), device));
      }
    }
    std::vector<const xla::Buffer*> pointers;
    for (const xla::Buffer& argument : arguments) pointers.push_back(&argument);
    xla::Execution run = executable.Execute(pointers);
    run.Await();
    return run;
  }

  void Launch(const std::vector<Batch>& batches) {
    const xla::Execution run = Run(train(), layout_.size(), batches, /*with_rate=*/true);
    for (size_t i = 0; i < layout_.size(); ++i) {
      run.outputs[0][i].ToHost(state_[i].data(), state_[i].size());
      // Replicas must agree to the bit.
      for (int64_t r = 1; r < recipe_.replicas; ++r) {
        std::vector<std::byte> other(state_[i].size());
        run.outputs[r][i].ToHost(other.data(), other.size());
        if (other != state_[i]) throw Internal("replica {} has another {}", r, layout_[i].name);
      }
    }
    const ResultLayout& results = train_program_.results;
    const std::vector<xla::Buffer>& outputs = run.outputs[0];
    const auto append = [&](auto& to, int index) {
      using Element = typename std::remove_reference_t<decltype(to)>::value_type;
      const std::vector<Element> values = outputs[index].ToVector<Element>();
      to.insert(to.end(), values.begin(), values.begin() + static_cast<int64_t>(batches.size()));
    };
    append(losses, results.losses);
    append(rates, results.rates);
    if (results.skipped >= 0) append(skipped, results.skipped);
    if (results.scales >= 0) append(scales, results.scales);
    size_t next = 0;
    const auto add = [&](int index) {
      const Floats values = outputs[index].ToVector<float>();
      if (sums.size() == next) sums.emplace_back(values.size());
      for (size_t i = 0; i < values.size(); ++i) sums[next][i] += values[i];
      ++next;
    };
    add(results.loss_sum);
    add(results.weight_sum);
    for (const auto& [first, count] : results.metrics) {
      for (int i = 0; i < count; ++i) add(first + i);
    }
  }

  Recipe recipe_;
  StepSpec spec_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<nn::Loss> loss_;
  std::vector<std::unique_ptr<nn::Metric>> metrics_;
  std::vector<StateTensor> layout_;
  std::vector<std::vector<std::byte>> state_;
  Program train_program_;
  std::shared_ptr<xla::Executable> train_;
};

}  // namespace flatout::step::testing
