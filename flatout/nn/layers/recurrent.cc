#include "flatout/nn/layers/recurrent.h"

#include <functional>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/activation.h"
#include "flatout/nn/layers/common.h"

namespace flatout::nn {
namespace {

using ir::Value;
using Values = std::vector<Value>;

// What the loop carries into every step unchanged; absent ones are none.
struct CellWeights {
  Value kernel;  // recurrent_kernel [units, gates * units]
  Value bias;    // [gates * units], for GRU's reset_after
  Value masks;   // [batch, gates, units], recurrent dropout
};

// h [batch, units] times columns of gates [first, last) of the recurrent kernel, in the kernel's
// dtype.
Value Recur(const CellWeights& w, Value h, int64_t units, int64_t first, int64_t last) {
  h = ir::Convert(h, w.kernel.dtype());
  const int64_t gates = last - first;
  const int64_t all = w.kernel.dim(1) / units;
  Value kernel = w.kernel;
  if (gates != all) kernel = ir::SliceAxis(kernel, 1, first * units, last * units);
  if (!w.masks) return ir::DotGeneral(h, kernel, {{}, {}, {1}, {0}});
  // Each gate sees the state through its own mask: one product per gate.
  Value masks = gates == all ? w.masks : ir::SliceAxis(w.masks, 1, first, last);
  Value seen = ir::ExpandDims(h, 1) * masks;
  Value by_gate = ir::Reshape(kernel, {units, gates, units});
  Value product = ir::DotGeneral(seen, by_gate, {{1}, {1}, {2}, {0}});  // [gates, batch, units]
  return ir::Reshape(ir::Transpose(product, {1, 0, 2}), {h.dim(0), gates * units});
}

Value Gate(Value z, int64_t units, int64_t i) {
  return ir::SliceAxis(z, 1, i * units, (i + 1) * units);
}

class RecurrentLayer : public Layer {
 public:
  RecurrentLayer(std::string_view type, const RecurrentOptions& base, int64_t gates, int64_t states)
      : Layer(type, base.common), base_(base), gates_(gates), states_(states) {
    CheckPositive(type, "units", base_.units);
    WithContext(type, [&] { CheckActivation(base_.activation); });
    CheckRate(type, "dropout", base_.dropout);
    CheckRate(type, "recurrent_dropout", base_.recurrent_dropout);
  }
  const RecurrentOptions& base() const { return base_; }
  // The same layer running the other way.
  virtual LayerPtr TurnedRound() const = 0;

  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    Value x = ToCompute(ctx, inputs[0]);
    CheckRank(*this, x, 3);
    const int64_t batch = x.dim(0), steps = x.dim(1), units = base_.units;
    const std::string cell = SnakeCase(type()) + "_cell/";
    Value kernel = ctx.Weight(cell + "kernel", {x.dim(2), gates_ * units}, base_.kernel_initializer,
                              base_.kernel_regularizer);
    CellWeights weights;
    weights.kernel = ctx.Weight(cell + "recurrent_kernel", {units, gates_ * units},
                                base_.recurrent_initializer, base_.recurrent_regularizer);
    if (ctx.training() && base_.dropout > 0) {
      x = x * ir::ExpandDims(DropoutMask(ctx, {batch, x.dim(2)}, base_.dropout), 1);
    }
    // Time first, so that a step's rows lie together: [T, batch, gates * units].
    Value projected = ir::DotGeneral(ir::Transpose(x, {1, 0, 2}), kernel, {{}, {}, {2}, {0}});
    if (base_.use_bias) projected = AddBias(ctx, cell + "bias", projected, weights);
    if (ctx.training() && base_.recurrent_dropout > 0) {
      weights.masks = DropoutMask(ctx, {batch, gates_, units}, base_.recurrent_dropout);
    }

    Values state;
    for (int64_t i = 0; i < states_; ++i) {
      const ir::DType dtype = AddsUp(i) ? ir::DType::kF32 : x.dtype();
      state.push_back(ir::Full(ctx.graph(), ir::Shape(dtype, {batch, units}), 0));
    }
    Value sequence;
    if (base_.unroll) {
      Values outputs;
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t t = base_.go_backwards ? steps - 1 - i : i;
        Value row = ir::Squeeze(ir::SliceAxis(projected, 0, t, t + 1), 0);
        state = Step(row, state, weights);
        outputs.push_back(state[0]);
      }
      if (base_.return_sequences) sequence = ir::Stack(outputs, 0);
    } else {
      Values constants = {weights.kernel};
      if (weights.bias) constants.push_back(weights.bias);
      if (weights.masks) constants.push_back(weights.masks);
      const size_t fixed = constants.size();
      const Values xs = {projected};
      const auto body = [&](ir::Graph&, std::span<const Value> arguments) {
        size_t next = 0;
        CellWeights inner;
        inner.kernel = arguments[next++];
        if (weights.bias) inner.bias = arguments[next++];
        if (weights.masks) inner.masks = arguments[next++];
        const Values carry(arguments.begin() + static_cast<std::ptrdiff_t>(fixed),
                           arguments.begin() + static_cast<std::ptrdiff_t>(fixed) + states_);
        Values results = Step(arguments.back(), carry, inner);
        if (base_.return_sequences) results.push_back(ToCompute(ctx, results[0]));
        return results;
      };
      Values results = ir::Scan(ctx.graph(), steps, constants, state, xs, body, base_.go_backwards);
      state.assign(results.begin(), results.begin() + states_);
      if (base_.return_sequences) {
        sequence = results.back();
        if (base_.go_backwards) sequence = ir::Reverse(sequence, {0});
      }
    }
    Value y =
        ToCompute(ctx, base_.return_sequences ? ir::Transpose(sequence, {1, 0, 2}) : state[0]);
    AddActivityPenalty(ctx, base_.activity_regularizer, y);
    return {y};
  }

 protected:
  // Adds the cell's bias to the projected inputs; a part that belongs to the states goes to
  // `weights`.
  virtual Value AddBias(Context& ctx, const std::string& name, Value projected,
                        CellWeights& weights) const {
    (void)weights;
    return projected +
           ctx.Weight(name, {gates_ * base_.units}, base_.bias_initializer, base_.bias_regularizer);
  }
  // Whether state i is the sum of what earlier steps gave it. Such states are carried in float32:
  // in bfloat16 a sum takes no notice of what is smaller than its 256th part.
  virtual bool AddsUp(int64_t i) const { return i > 0; }
  // New states from projected inputs [batch, gates * units] and states [batch, units], each in its
  // dtype; the first state is the output.
  virtual Values Step(Value x, const Values& state, const CellWeights& weights) const = 0;

 private:
  Value DropoutMask(Context& ctx, const ir::Dims& dims, double rate) const {
    Value keep = ctx.RandomBernoulli(1 - rate, dims, {.seed = base_.seed});
    return ir::Convert(keep, ctx.compute_dtype()) * (1 / (1 - rate));
  }

  RecurrentOptions base_;
  int64_t gates_, states_;
};

class LSTMLayer : public RecurrentLayer {
 public:
  explicit LSTMLayer(LSTMOptions options)
      : RecurrentLayer(LSTMOptions::kType, options, 4, 2), options_(std::move(options)) {
    WithContext(type(), [&] { CheckActivation(options_.recurrent_activation); });
  }
  LayerPtr TurnedRound() const override {
    LSTMOptions other = options_;
    other.go_backwards = !other.go_backwards;
    return LSTM(std::move(other));
  }

 protected:
  Value AddBias(Context& ctx, const std::string& name, Value projected,
                CellWeights&) const override {
    Initializer initializer = options_.bias_initializer;
    initializer.unit_forget_bias = options_.unit_forget_bias;
    return projected +
           ctx.Weight(name, {4 * options_.units}, initializer, options_.bias_regularizer);
  }
  Values Step(Value x, const Values& state, const CellWeights& weights) const override {
    const int64_t units = options_.units;
    const std::string& gate = options_.recurrent_activation;
    Value z = x + Recur(weights, state[0], units, 0, 4);
    Value i = Activate(gate, Gate(z, units, 0));
    Value f = Activate(gate, Gate(z, units, 1));
    Value candidate = Activate(options_.activation, Gate(z, units, 2));
    Value o = Activate(gate, Gate(z, units, 3));
    const auto wide = [](Value v) { return ir::Convert(v, ir::DType::kF32); };
    Value c = wide(f) * state[1] + wide(i) * wide(candidate);
    return {o * Activate(options_.activation, ir::Convert(c, o.dtype())), c};
  }

 private:
  LSTMOptions options_;
};

class GRULayer : public RecurrentLayer {
 public:
  explicit GRULayer(GRUOptions options)
      : RecurrentLayer(GRUOptions::kType, options, 3, 1), options_(std::move(options)) {
    WithContext(type(), [&] { CheckActivation(options_.recurrent_activation); });
  }
  LayerPtr TurnedRound() const override {
    GRUOptions other = options_;
    other.go_backwards = !other.go_backwards;
    return GRU(std::move(other));
  }

 protected:
  Value AddBias(Context& ctx, const std::string& name, Value projected,
                CellWeights& weights) const override {
    const int64_t width = 3 * options_.units;
    if (!options_.reset_after) {
      return projected +
             ctx.Weight(name, {width}, options_.bias_initializer, options_.bias_regularizer);
    }
    Value both = ctx.Weight(name, {2, width}, options_.bias_initializer, options_.bias_regularizer);
    weights.bias = ir::Reshape(ir::SliceAxis(both, 0, 1, 2), {width});
    return projected + ir::Reshape(ir::SliceAxis(both, 0, 0, 1), {width});
  }
  bool AddsUp(int64_t) const override { return true; }
  Values Step(Value x, const Values& state, const CellWeights& weights) const override {
    const int64_t units = options_.units;
    const std::string& gate = options_.recurrent_activation;
    Value h = state[0];  // float32
    Value inner = Recur(weights, h, units, 0, options_.reset_after ? 3 : 2);
    if (weights.bias) inner = inner + weights.bias;
    Value z = Activate(gate, Gate(x, units, 0) + Gate(inner, units, 0));
    Value r = Activate(gate, Gate(x, units, 1) + Gate(inner, units, 1));
    Value recurrent = options_.reset_after
                          ? r * Gate(inner, units, 2)
                          : Recur(weights, r * ir::Convert(h, r.dtype()), units, 2, 3);
    Value candidate = Activate(options_.activation, Gate(x, units, 2) + recurrent);
    z = ir::Convert(z, ir::DType::kF32);
    return {z * h + (1.0 - z) * ir::Convert(candidate, ir::DType::kF32)};
  }

 private:
  GRUOptions options_;
};

class SimpleRNNLayer : public RecurrentLayer {
 public:
  explicit SimpleRNNLayer(SimpleRNNOptions options)
      : RecurrentLayer(SimpleRNNOptions::kType, options, 1, 1), options_(std::move(options)) {}
  LayerPtr TurnedRound() const override {
    SimpleRNNOptions other = options_;
    other.go_backwards = !other.go_backwards;
    return SimpleRNN(std::move(other));
  }

 protected:
  Values Step(Value x, const Values& state, const CellWeights& weights) const override {
    return {Activate(options_.activation, x + Recur(weights, state[0], options_.units, 0, 1))};
  }

 private:
  SimpleRNNOptions options_;
};

class BidirectionalLayer : public Layer {
 public:
  explicit BidirectionalLayer(BidirectionalOptions options)
      : Layer(BidirectionalOptions::kType, options.common), options_(std::move(options)) {
    CheckOneOf(type(), "merge_mode", options_.merge_mode, {"concat", "sum", "mul", "ave"});
    const RecurrentLayer* forward = Recurrent("layer", options_.layer);
    // The layer given stays as it is: it may be in use elsewhere, under its own name.
    forward_ = Copy(*forward);
    backward_ = options_.backward_layer
                    ? Copy(*Recurrent("backward_layer", options_.backward_layer))
                    : forward->TurnedRound();
    const RecurrentOptions& f = Recurrent("layer", forward_)->base();
    const RecurrentOptions& b = Recurrent("backward_layer", backward_)->base();
    if (f.go_backwards == b.go_backwards) {
      throw Invalid(
          "{}: layer and backward_layer must run in opposite directions, but both have "
          "go_backwards = {}",
          type(), f.go_backwards);
    }
    if (f.return_sequences != b.return_sequences) {
      throw Invalid("{}: layer and backward_layer must agree on return_sequences, found {} and {}",
                    type(), f.return_sequences, b.return_sequences);
    }
    const auto base = [](const LayerPtr& layer) {
      return layer->name().empty() ? SnakeCase(layer->type()) : layer->name();
    };
    forward_->set_name("forward_" + base(options_.layer));
    backward_->set_name("backward_" +
                        base(options_.backward_layer ? options_.backward_layer : options_.layer));
    return_sequences_ = f.return_sequences;
  }

  // The layers within cast to what they compute in.
  bool autocast() const override { return false; }
  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    CheckRank(*this, inputs[0], 3);
    Value forward = ToCompute(ctx, ctx.Call(*forward_, inputs[0]));
    Value backward = ToCompute(ctx, ctx.Call(*backward_, inputs[0]));
    // Steps come in the order taken: turn the second so that both speak of the same step.
    if (return_sequences_) backward = ir::Reverse(backward, {1});
    const std::string& mode = options_.merge_mode;
    if (mode == "concat") {
      const Value both[] = {forward, backward};
      return {ir::Concatenate(both, -1)};
    }
    if (mode == "mul") return {forward * backward};
    Value sum = forward + backward;
    return {mode == "ave" ? sum * 0.5 : sum};
  }

 private:
  const RecurrentLayer* Recurrent(std::string_view argument, const LayerPtr& layer) const {
    const auto* recurrent = dynamic_cast<const RecurrentLayer*>(layer.get());
    if (recurrent == nullptr) {
      throw Invalid("{}: {} must be a recurrent layer (LSTM, GRU or SimpleRNN), found {}", type(),
                    argument, layer ? layer->type() : "none");
    }
    return recurrent;
  }
  static LayerPtr Copy(const RecurrentLayer& layer) {
    LayerPtr turned = layer.TurnedRound();
    return static_cast<const RecurrentLayer&>(*turned).TurnedRound();
  }

  BidirectionalOptions options_;
  LayerPtr forward_, backward_;
  bool return_sequences_ = false;
};

class TimeDistributedLayer : public Layer {
 public:
  explicit TimeDistributedLayer(TimeDistributedOptions options)
      : Layer(TimeDistributedOptions::kType, options.common), options_(std::move(options)) {
    if (!options_.layer) throw Invalid("{}: layer is missing", type());
  }

  // The layer within casts to what it computes in.
  bool autocast() const override { return false; }
  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    Value x = inputs[0];
    CheckMinRank(*this, x, 3);
    const int64_t batch = x.dim(0), steps = x.dim(1);
    ir::Dims folded = {batch * steps};
    folded.insert(folded.end(), x.dims().begin() + 2, x.dims().end());
    // A step of a padding row is padding too.
    const Value row_weights = ctx.row_weights();
    if (row_weights) {
      ctx.SetRowWeights(
          ir::Reshape(ir::BroadcastInDim(row_weights, {batch, steps}, {0}), {batch * steps}));
    }
    Value y = ctx.Call(*options_.layer, ir::Reshape(x, folded));
    if (row_weights) ctx.SetRowWeights(row_weights);
    ir::Dims unfolded = {batch, steps};
    unfolded.insert(unfolded.end(), y.dims().begin() + 1, y.dims().end());
    return {ir::Reshape(y, unfolded)};
  }

 private:
  TimeDistributedOptions options_;
};

}  // namespace

void ReadConfig(const Config& value, LayerPtr& field) { field = LayerFromConfig(value); }

LayerPtr LSTM(LSTMOptions options) { return std::make_shared<LSTMLayer>(std::move(options)); }
LayerPtr GRU(GRUOptions options) { return std::make_shared<GRULayer>(std::move(options)); }
LayerPtr SimpleRNN(SimpleRNNOptions options) {
  return std::make_shared<SimpleRNNLayer>(std::move(options));
}
LayerPtr Bidirectional(BidirectionalOptions options) {
  return std::make_shared<BidirectionalLayer>(std::move(options));
}
LayerPtr TimeDistributed(TimeDistributedOptions options) {
  return std::make_shared<TimeDistributedLayer>(std::move(options));
}

std::span<const LayerDef> RecurrentLayers() {
  static const LayerDef table[] = {
      MakeLayerDef<LSTMOptions, &LSTM>("LSTM"),
      MakeLayerDef<GRUOptions, &GRU>("GRU"),
      MakeLayerDef<SimpleRNNOptions, &SimpleRNN>("SimpleRNN"),
      MakeLayerDef<BidirectionalOptions, &Bidirectional>("Bidirectional"),
      MakeLayerDef<TimeDistributedOptions, &TimeDistributed>("TimeDistributed"),
  };
  return table;
}

}  // namespace flatout::nn
