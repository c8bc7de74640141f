#include "flatout/nn/context.h"

#include <fmt/format.h>

#include "flatout/nn/layer.h"

namespace flatout::nn {
namespace {

// Undoes a change of a member when the traced layer returns or throws.
template <typename T>
class Restore {
 public:
  explicit Restore(T& field) : field_(field), saved_(field) {}
  ~Restore() { field_ = std::move(saved_); }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& field_;
  T saved_;
};

}  // namespace

void ReadConfig(const Config& value, Regularizer& field) {
  constexpr double kDefault = 0.01;
  const auto named = [&](std::string_view name, const Config& at) {
    if (name == "l1" || name == "L1") {
      field = {.l1 = kDefault, .l2 = 0};
    } else if (name == "l2" || name == "L2") {
      field = {.l1 = 0, .l2 = kDefault};
    } else if (name == "l1_l2" || name == "L1L2") {
      field = {.l1 = kDefault, .l2 = kDefault};
    } else {
      throw at.Complain(fmt::format("no regularizer is called \"{}\"{} (known: l1, l2, l1_l2)",
                                    name, DidYouMean(name, {"l1", "l2", "l1_l2"})));
    }
  };
  if (value.is_string()) {
    named(value.AsString(), value);
  } else if (value.is_table()) {
    FieldReader reader(value, "regularizer");
    field = {};
    if (const Config* type = reader.Take("class")) {
      // An L1L2 table penalises only what it names, as Keras's class does.
      if (type->AsString() != "l1_l2" && type->AsString() != "L1L2") named(type->AsString(), *type);
    }
    reader("l1", field.l1);
    reader("l2", field.l2);
    reader.Finish();
  } else {
    throw value.Complain(fmt::format(
        "expected a regularizer (\"l1\", \"l2\", \"l1_l2\" or a table such as {{l2 = 1e-4}}), "
        "found {}",
        value.Describe()));
  }
  if (!(field.l1 >= 0) || !(field.l2 >= 0)) {
    throw value.Complain(
        fmt::format("a regularizer's factors must not be negative, found l1 = {}, "
                    "l2 = {}",
                    field.l1, field.l2));
  }
}

ir::Value Penalty(const Regularizer& regularizer, ir::Value value) {
  if (regularizer.empty()) return {};
  const ir::Value x = ir::Convert(value, ir::DType::kF32);
  ir::Value total;
  if (regularizer.l1 != 0) total = ir::ReduceSum(ir::Abs(x)) * regularizer.l1;
  if (regularizer.l2 != 0) {
    const ir::Value squares = ir::ReduceSum(ir::Square(x)) * regularizer.l2;
    total = total ? total + squares : squares;
  }
  return total;
}

Policy Policy::Named(std::string_view name) {
  static const Policy kPolicies[] = {
      {"float32", ir::DType::kF32, ir::DType::kF32},
      {"mixed_bfloat16", ir::DType::kBF16, ir::DType::kF32},
      {"mixed_float16", ir::DType::kF16, ir::DType::kF32},
      {"bfloat16", ir::DType::kBF16, ir::DType::kBF16},
      {"float16", ir::DType::kF16, ir::DType::kF16},
  };
  for (const Policy& policy : kPolicies) {
    if (policy.name == name) return policy;
  }
  throw Invalid("no precision policy is called \"{}\"{} (known: {})", name,
                DidYouMean(name, Names()), fmt::join(Names(), ", "));
}

const std::vector<std::string>& Policy::Names() {
  static const std::vector<std::string> names = {"float32", "mixed_bfloat16", "mixed_float16",
                                                 "bfloat16", "float16"};
  return names;
}

Context::Context(ir::Graph& graph, ContextOptions options, std::vector<Variable>* collect)
    : graph_(graph),
      options_(std::move(options)),
      collect_(collect),
      compute_dtype_(options_.policy.compute),
      product_dtype_(options_.policy.compute),
      variable_dtype_(options_.policy.variable) {}

ir::Value Context::GetWeight(std::string_view name, ir::Dims dims, const Initializer& initializer,
                             const Regularizer& regularizer, ir::DType dtype, bool trainable) {
  const std::string path = path_.empty() ? std::string(name) : fmt::format("{}/{}", path_, name);
  for (const int64_t dim : dims) {
    if (dim <= 0) {
      throw Invalid("weight {} would have the shape {}; every dimension must be positive", name,
                    ir::DimsToString(dims));
    }
  }
  const auto found = weights_.find(path);
  if (found != weights_.end()) {
    if (found->second.dims() != dims) {
      throw Invalid(
          "weight {} has the shape {}, but this input needs {}; a layer that is used "
          "twice needs inputs of one shape",
          name, ir::DimsToString(found->second.dims()), ir::DimsToString(dims));
    }
    return found->second;
  }
  if (collect_ == nullptr) {
    throw Internal("weight {} was not bound before the trace", path);
  }
  const ir::Shape shape(dtype, std::move(dims));
  const ir::Value value = graph_.AddParameter(shape, path);
  collect_->push_back({path, shape, trainable && trainable_, initializer, regularizer});
  weights_[path] = value;
  return value;
}

ir::Value Context::Weight(std::string_view name, ir::Dims dims, const Initializer& initializer,
                          const Regularizer& regularizer) {
  return ir::Convert(StoredWeight(name, std::move(dims), initializer, regularizer), compute_dtype_);
}

ir::Value Context::Float32Weight(std::string_view name, ir::Dims dims,
                                 const Initializer& initializer, const Regularizer& regularizer) {
  return ir::Convert(StoredWeight(name, std::move(dims), initializer, regularizer),
                     ir::DType::kF32);
}

ir::Value Context::StoredWeight(std::string_view name, ir::Dims dims,
                                const Initializer& initializer, const Regularizer& regularizer) {
  return GetWeight(name, std::move(dims), initializer, regularizer, variable_dtype_, true);
}

ir::Value Context::State(std::string_view name, ir::Dims dims, const Initializer& initializer) {
  return GetWeight(name, std::move(dims), initializer, {}, ir::DType::kF32, false);
}

void Context::Assign(std::string_view name, ir::Value value) {
  const std::string path = path_.empty() ? std::string(name) : fmt::format("{}/{}", path_, name);
  if (!training()) throw Internal("{} assigned outside training", path);
  const auto found = weights_.find(path);
  if (found == weights_.end()) throw Internal("{} assigned before it was read", path);
  const ir::Value updated = ir::StopGradient(ir::Convert(value, found->second.dtype()));
  if (updated.dims() != found->second.dims()) {
    throw Internal("{} of shape {} assigned a value of shape {}", path,
                   found->second.shape().ToString(), updated.shape().ToString());
  }
  found->second = updated;
  updates_[path] = updated;
}

std::vector<ir::Value> Context::Call(const Layer& layer, std::span<const ir::Value> inputs) {
  const std::string name = layer.name().empty() ? SnakeCase(layer.type()) : layer.name();
  const Restore restore_path(path_);
  const Restore restore_compute(compute_dtype_);
  const Restore restore_product(product_dtype_);
  const Restore restore_variable(variable_dtype_);
  const Restore restore_trainable(trainable_);
  const bool outermost = path_.empty();
  path_ = outermost ? name : fmt::format("{}/{}", path_, name);
  trainable_ = trainable_ && layer.common().trainable;
  const ir::Scope scope(graph_, name);
  return WithContext(fmt::format("layer {}", name), [&] {
    // Layers without a dtype of their own take that of the layer they are part of.
    if (!layer.common().dtype.empty()) {
      const Policy own = Policy::Named(layer.common().dtype);
      compute_dtype_ = product_dtype_ = own.compute;
      variable_dtype_ = own.variable;
    } else if (force_float32_ && outermost) {
      compute_dtype_ = product_dtype_ = ir::DType::kF32;
      // bfloat16 has float32's range; float16's would not hold every gradient.
      if (options_.policy.compute == ir::DType::kBF16) product_dtype_ = ir::DType::kBF16;
    }
    computed_in_.insert(compute_dtype_);
    const auto count = static_cast<int64_t>(inputs.size());
    if (count < layer.min_inputs() || count > layer.max_inputs()) {
      if (layer.min_inputs() == layer.max_inputs()) {
        throw Invalid("{} takes {} input{}, found {}", layer.type(), layer.min_inputs(),
                      layer.min_inputs() == 1 ? "" : "s", count);
      }
      if (count < layer.min_inputs()) {
        throw Invalid("{} takes at least {} inputs, found {}", layer.type(), layer.min_inputs(),
                      count);
      }
      throw Invalid("{} takes at most {} inputs, found {}", layer.type(), layer.max_inputs(),
                    count);
    }
    std::vector<ir::Value> cast;
    cast.reserve(inputs.size());
    for (const ir::Value input : inputs) {
      const bool casts = layer.autocast() && ir::IsFloat(input.dtype());
      cast.push_back(casts ? ir::Convert(input, compute_dtype_) : input);
    }
    return layer.Call(*this, cast);
  });
}

ir::Value Context::Call(const Layer& layer, ir::Value input) {
  const std::vector<ir::Value> outputs = Call(layer, std::span<const ir::Value>(&input, 1));
  if (outputs.size() != 1) {
    throw Internal("layer {} gave {} results where one was expected", layer.name(), outputs.size());
  }
  return outputs[0];
}

ir::Value Context::Bits(const ir::Dims& dims, const RandomOptions& options) {
  // Shape probes draw without a key: any will do.
  if (!key_) key_ = ir::MakeKey(graph_, 0);
  ir::Key key = ir::FoldIn(*key_, next_stream_++);
  if (options.seed) {
    const auto seed = static_cast<uint64_t>(*options.seed);
    key = ir::FoldIn(key, static_cast<uint32_t>(seed));
    key = ir::FoldIn(key, static_cast<uint32_t>(seed >> 32));
  }
  if (dims.empty()) return ir::Reshape(ir::RandomBits(key, {1}), {});
  if (!options.by_row) return ir::RandomBits(key, dims);
  const ir::Value first_row = first_row_ ? first_row_ : ir::Scalar(graph_, ir::DType::kU32, 0);
  return ir::RandomBitsAt(key, dims, first_row);
}

ir::Value Context::RandomUniform(const ir::Dims& dims, double low, double high,
                                 const RandomOptions& options) {
  return ir::UniformFromBits(Bits(dims, options), low, high);
}

ir::Value Context::RandomNormal(const ir::Dims& dims, const RandomOptions& options) {
  return ir::NormalFromBits(Bits(dims, options));
}

ir::Value Context::RandomBernoulli(double p, const ir::Dims& dims, const RandomOptions& options) {
  return ir::BernoulliFromBits(Bits(dims, options), p);
}

ir::Value Context::CrossReplicaSum(ir::Value value) {
  if (replicas() == 1) return value;
  return CrossReplicaSum(std::span<const ir::Value>(&value, 1))[0];
}

std::vector<ir::Value> Context::CrossReplicaSum(std::span<const ir::Value> values) {
  if (replicas() == 1) return {values.begin(), values.end()};
  return ir::AllReduce(values, ir::Reduction::kSum, replicas());
}

void Context::SetRandom(const ir::Key& key, ir::Value first_row) {
  key_ = key;
  first_row_ = first_row;
  next_stream_ = 0;
}

ir::Value Context::Lookup(const std::string& path) const {
  const auto found = weights_.find(path);
  if (found == weights_.end()) throw Internal("no weight is called {}", path);
  return found->second;
}

}  // namespace flatout::nn
