"""Records tests/recorded/layers.json: every layer's output and gradients, from Keras."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from common import Draw, as_tuples, keras_versions, seed_of, tensor, write

CASES = []


def build(name, layer, config):
    """The Keras layer of a class name and JSON config; a wrapper's inner layer is nested."""
    if layer in ("Bidirectional", "TimeDistributed"):
        config = dict(config)
        inner = config.pop("layer")
        inner_layer = getattr(layers, inner["class_name"])(**inner["config"])
        return getattr(layers, layer)(inner_layer, name="recorded", **config)
    # Keras exports its class GroupedQueryAttention as keras.layers.GroupQueryAttention.
    public = {"GroupedQueryAttention": "GroupQueryAttention"}.get(layer, layer)
    keep_lists = {"axis"} if layer in ("LayerNormalization", "Normalization") else set()
    arguments = {k: (v if k in keep_lists else as_tuples(v)) for k, v in config.items()}
    return getattr(layers, public)(name="recorded", **arguments)


def value_for(draw, short_name, weight):
    """Non-trivial weights: variances and scales positive, everything else normal."""
    shape = tuple(weight.shape)
    leaf = short_name.split("/")[-1]
    if "int" in str(weight.dtype):
        return None
    if "variance" in leaf:
        return draw.uniform(0.5, 1.5, *shape)
    if leaf in ("gamma", "scale"):
        return draw.uniform(0.5, 1.5, *shape)
    return draw.normal(*shape, scale=0.5)


def call(layer, kind, inputs, training, extra):
    if kind in ("MultiHeadAttention", "GroupedQueryAttention"):
        return layer(*inputs, training=training, **extra)
    if kind in ("Concatenate", "Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Dot"):
        return layer(list(inputs))
    if kind.startswith("Random") or kind in TAKES_TRAINING:
        return layer(*inputs, training=training, **extra)
    return layer(*inputs, **extra)


TAKES_TRAINING = {
    "BatchNormalization", "Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
    "LSTM", "GRU", "SimpleRNN", "Bidirectional", "GaussianNoise", "GaussianDropout", "AlphaDropout",
}


def case(name, kind, config, inputs, training=False, extra=None, adapt=None, gradients=True,
         jit=False):
    """Records one case; `inputs` are arrays, or shapes (tuples) to be drawn normal."""
    extra = extra or {}
    draw = Draw(seed_of(name))
    arrays = [draw.normal(*i) if isinstance(i, tuple) else np.asarray(i) for i in inputs]
    keras.utils.set_random_seed(1)
    layer = build(name, kind, config)
    if adapt is not None:
        layer.adapt(adapt)
    tensors = [tf.constant(a) for a in arrays]
    call(layer, kind, tensors, False, extra)
    names = ["/".join(w.path.split("/")[1:]) for w in layer.weights]
    assert len(set(names)) == len(names), names
    trainable = {id(w) for w in layer.trainable_weights}
    if adapt is None:
        for short, weight in zip(names, layer.weights):
            drawn = value_for(draw, short, weight)
            if drawn is not None:
                weight.assign(drawn)
    before = [w.numpy().copy() for w in layer.weights]

    floats = [i for i, a in enumerate(arrays) if a.dtype == np.float32] if gradients else []
    cotangent = None

    def run(*ts):
        with tf.GradientTape(persistent=False) as tape:
            for i in floats:
                tape.watch(ts[i])
            out = call(layer, kind, list(ts), training, extra)
            out = tf.convert_to_tensor(out)
            seed = tf.constant(cotangent)
            target = tf.reduce_sum(tf.cast(out, tf.float32) * seed)
        sources = [ts[i] for i in floats] + [w.value for w in layer.trainable_weights]
        grads = tape.gradient(target, sources) if gradients and sources else []
        dense = [
            None if g is None else tf.convert_to_tensor(g) for g in grads
        ]
        return out, dense

    out_shape = call(layer, kind, tensors, False, extra).shape
    cotangent = draw.normal(*out_shape)
    for weight, value in zip(layer.weights, before):
        weight.assign(value)
    try:
        if jit:
            raise tf.errors.UnimplementedError(None, None, "asked for XLA")
        out, grads = run(*tensors)
    except (tf.errors.UnimplementedError, tf.errors.InvalidArgumentError):
        # TensorFlow's CPU kernels lack some convolution gradients (groups, 3-D dilation); XLA has them.
        for weight, value in zip(layer.weights, before):
            weight.assign(value)
        out, grads = tf.function(run, jit_compile=True)(*tensors)
    grads = [None if g is None else np.asarray(g) for g in grads]
    input_gradients = [None] * len(arrays)
    for i, g in zip(floats, grads):
        input_gradients[i] = None if g is None else tensor(g)
    weight_gradients, rest = [], list(grads[len(floats):])
    for weight in layer.weights:
        if gradients and id(weight) in trainable:
            g = rest.pop(0)
            weight_gradients.append(None if g is None else tensor(g))
        else:
            weight_gradients.append(None)
    updated = [
        tensor(w.numpy()) if training and id(w) not in trainable else None
        for w in layer.weights
    ]
    entry = {
        "name": name,
        "layer": kind,
        "config": config,
        "inputs": [tensor(a) for a in arrays],
        "weights": [
            {"name": n, "trainable": id(w) in trainable, "value": tensor(b)}
            for n, w, b in zip(names, layer.weights, before)
        ],
        "training": training,
        "output": tensor(out),
        "output_cotangent": tensor(cotangent),
        "input_gradients": input_gradients,
        "weight_gradients": weight_gradients,
        "updated_weights": updated,
        "call": extra,
    }
    if adapt is not None:
        entry["adapt"] = tensor(adapt)
    finite = np.isfinite(np.asarray(out, dtype=np.float64)).all()
    assert finite, name
    assert name not in {c["name"] for c in CASES}, name
    CASES.append(entry)


def distinct(name, *shape):
    return Draw(seed_of(name) + 1).distinct(*shape)


def dense():
    case("dense", "Dense", {"units": 4}, [(3, 5)])
    case("dense_relu", "Dense", {"units": 4, "activation": "relu"}, [(3, 5)])
    case("dense_no_bias", "Dense", {"units": 3, "use_bias": False}, [(2, 4)])
    case("dense_sequence_tanh", "Dense", {"units": 4, "activation": "tanh"}, [(2, 3, 5)])
    case("dense_softmax", "Dense", {"units": 5, "activation": "softmax"}, [(3, 4)])


def convolutions():
    c = {"filters": 3, "kernel_size": 3}
    for padding in ("valid", "same", "causal"):
        case(f"conv1d_{padding}", "Conv1D", {**c, "padding": padding}, [(2, 7, 2)])
    case("conv1d_stride_same", "Conv1D", {**c, "strides": 2, "padding": "same"}, [(2, 7, 2)])
    case("conv1d_stride_valid", "Conv1D", {**c, "strides": 2}, [(2, 8, 2)])
    case("conv1d_dilation_same", "Conv1D", {**c, "dilation_rate": 2, "padding": "same"}, [(2, 7, 2)])
    case("conv1d_dilation_causal", "Conv1D", {**c, "dilation_rate": 2, "padding": "causal"}, [(2, 7, 2)])
    case("conv1d_stride_causal", "Conv1D", {**c, "strides": 2, "padding": "causal"}, [(2, 7, 2)])
    case("conv1d_groups", "Conv1D", {"filters": 4, "kernel_size": 2, "groups": 2}, [(2, 6, 4)])
    case("conv1d_no_bias_relu", "Conv1D", {**c, "use_bias": False, "activation": "relu"}, [(2, 6, 2)])

    for padding in ("valid", "same"):
        case(f"conv2d_{padding}", "Conv2D", {**c, "padding": padding}, [(2, 5, 4, 2)])
        case(f"conv2d_stride_{padding}", "Conv2D", {**c, "strides": 2, "padding": padding}, [(2, 6, 5, 2)])
        case(f"conv2d_dilation_{padding}", "Conv2D",
             {"filters": 2, "kernel_size": [2, 3], "dilation_rate": [2, 1], "padding": padding}, [(2, 5, 5, 2)])
    case("conv2d_1x1", "Conv2D", {"filters": 4, "kernel_size": 1}, [(2, 3, 3, 3)])
    case("conv2d_rectangle", "Conv2D",
         {"filters": 2, "kernel_size": [3, 1], "strides": [1, 2], "padding": "same"}, [(2, 4, 5, 2)])
    case("conv2d_even_kernel_same", "Conv2D",
         {"filters": 2, "kernel_size": 4, "strides": 2, "padding": "same"}, [(2, 5, 6, 2)])
    case("conv2d_groups", "Conv2D", {"filters": 4, "kernel_size": 3, "groups": 2}, [(2, 4, 4, 4)])
    case("conv2d_no_bias_gelu", "Conv2D",
         {**c, "use_bias": False, "activation": "gelu", "padding": "same"}, [(2, 4, 4, 2)])

    for padding in ("valid", "same"):
        case(f"conv3d_{padding}", "Conv3D", {"filters": 2, "kernel_size": 2, "padding": padding}, [(2, 3, 4, 3, 2)])
    case("conv3d_stride", "Conv3D",
         {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same"}, [(2, 4, 3, 5, 1)])
    case("conv3d_dilation", "Conv3D", {"filters": 2, "kernel_size": 2, "dilation_rate": 2}, [(2, 4, 4, 3, 1)])
    case("conv3d_groups_no_bias", "Conv3D",
         {"filters": 2, "kernel_size": 2, "groups": 2, "use_bias": False}, [(2, 3, 3, 3, 2)])

    case("depthwise_conv1d", "DepthwiseConv1D", {"kernel_size": 3, "padding": "same"}, [(2, 6, 3)])
    case("depthwise_conv1d_multiplier_stride", "DepthwiseConv1D",
         {"kernel_size": 3, "depth_multiplier": 2, "strides": 2}, [(2, 7, 2)])
    case("depthwise_conv2d", "DepthwiseConv2D", {"kernel_size": 3}, [(2, 4, 5, 3)])
    case("depthwise_conv2d_multiplier_same", "DepthwiseConv2D",
         {"kernel_size": 3, "depth_multiplier": 2, "padding": "same", "activation": "relu"}, [(2, 4, 4, 2)])
    case("depthwise_conv2d_stride", "DepthwiseConv2D",
         {"kernel_size": 3, "strides": 2, "padding": "same", "use_bias": False}, [(2, 5, 5, 2)])
    case("depthwise_conv2d_dilation", "DepthwiseConv2D",
         {"kernel_size": 2, "dilation_rate": 2}, [(2, 5, 5, 2)])

    case("separable_conv1d", "SeparableConv1D", {"filters": 4, "kernel_size": 3}, [(2, 6, 2)])
    case("separable_conv1d_multiplier_same", "SeparableConv1D",
         {"filters": 3, "kernel_size": 3, "depth_multiplier": 2, "padding": "same", "strides": 2}, [(2, 6, 2)])
    case("separable_conv2d", "SeparableConv2D", {"filters": 4, "kernel_size": 3}, [(2, 4, 4, 2)])
    case("separable_conv2d_multiplier_same", "SeparableConv2D",
         {"filters": 3, "kernel_size": 3, "depth_multiplier": 2, "padding": "same", "activation": "relu"},
         [(2, 4, 4, 2)])
    case("separable_conv2d_stride_no_bias", "SeparableConv2D",
         {"filters": 3, "kernel_size": 3, "strides": 2, "use_bias": False, "padding": "same"}, [(2, 5, 5, 2)])

    for padding in ("valid", "same"):
        case(f"conv1d_transpose_{padding}", "Conv1DTranspose", {**c, "padding": padding}, [(2, 4, 2)])
        case(f"conv1d_transpose_stride_{padding}", "Conv1DTranspose",
             {**c, "strides": 2, "padding": padding}, [(2, 4, 2)])
        case(f"conv2d_transpose_{padding}", "Conv2DTranspose", {**c, "padding": padding}, [(2, 3, 4, 2)])
        case(f"conv2d_transpose_stride_{padding}", "Conv2DTranspose",
             {**c, "strides": 2, "padding": padding}, [(2, 3, 3, 2)])
    case("conv1d_transpose_output_padding", "Conv1DTranspose",
         {**c, "strides": 2, "padding": "same", "output_padding": 1}, [(2, 4, 2)])
    case("conv2d_transpose_output_padding_valid", "Conv2DTranspose",
         {**c, "strides": 2, "padding": "valid", "output_padding": 1}, [(2, 3, 3, 1)])
    case("conv2d_transpose_output_padding_same", "Conv2DTranspose",
         {**c, "strides": [3, 2], "padding": "same", "output_padding": [0, 1]}, [(2, 3, 3, 1)])
    case("conv2d_transpose_kernel_below_stride", "Conv2DTranspose",
         {"filters": 2, "kernel_size": 2, "strides": 3, "padding": "valid"}, [(2, 3, 3, 1)])
    case("conv2d_transpose_no_bias_relu", "Conv2DTranspose",
         {"filters": 2, "kernel_size": 4, "strides": 2, "padding": "same", "use_bias": False, "activation": "relu"},
         [(2, 3, 3, 2)])
    case("conv3d_transpose_stride", "Conv3DTranspose",
         {"filters": 2, "kernel_size": 2, "strides": 2}, [(2, 2, 3, 2, 1)])
    case("conv3d_transpose_same", "Conv3DTranspose",
         {"filters": 1, "kernel_size": 3, "padding": "same"}, [(2, 3, 2, 3, 2)])


def pooling():
    shapes = {1: (2, 7, 2), 2: (2, 5, 6, 2), 3: (2, 4, 3, 5, 1)}
    for rank, shape in shapes.items():
        for kind in ("Max", "Average"):
            layer = f"{kind}Pooling{rank}D"
            tag = f"{kind.lower()}_pooling{rank}d"
            x = distinct(tag, *shape)
            case(f"{tag}_default", layer, {} if kind == "Max" else {"pool_size": 2}, [x])
            case(f"{tag}_same", layer, {"pool_size": 2, "padding": "same"}, [x])
            case(f"{tag}_overlap_valid", layer, {"pool_size": 3, "strides": 1}, [x])
            case(f"{tag}_overlap_same", layer, {"pool_size": 3, "strides": 2, "padding": "same"}, [x])
            layer = f"Global{kind}Pooling{rank}D"
            tag = f"global_{tag}"
            case(tag, layer, {}, [x])
            case(f"{tag}_keepdims", layer, {"keepdims": True}, [x])
    x = distinct("max_pooling2d_rectangle", 2, 5, 6, 2)
    case("max_pooling2d_rectangle", "MaxPooling2D", {"pool_size": [2, 3], "strides": [2, 1]}, [x])
    case("average_pooling2d_rectangle_same", "AveragePooling2D",
         {"pool_size": [3, 2], "strides": [1, 2], "padding": "same"}, [x])


def normalisation():
    for training in (False, True):
        t = "train" if training else "infer"
        case(f"batch_normalization_{t}", "BatchNormalization", {}, [(4, 3)], training)
        case(f"batch_normalization_4d_{t}", "BatchNormalization", {"momentum": 0.9, "epsilon": 0.01},
             [(3, 2, 3, 4)], training)
        case(f"batch_normalization_axis1_{t}", "BatchNormalization", {"axis": 1}, [(3, 4, 2)], training)
        case(f"batch_normalization_no_scale_{t}", "BatchNormalization", {"scale": False}, [(4, 3)], training)
        case(f"batch_normalization_no_center_{t}", "BatchNormalization", {"center": False}, [(4, 3)], training)
        case(f"batch_normalization_bare_{t}", "BatchNormalization", {"center": False, "scale": False},
             [(4, 2, 3)], training)
    case("layer_normalization", "LayerNormalization", {}, [(3, 6)])
    case("layer_normalization_3d", "LayerNormalization", {"epsilon": 1e-5}, [(2, 3, 4)])
    case("layer_normalization_axes", "LayerNormalization", {"axis": [1, 2]}, [(2, 3, 4)])
    case("layer_normalization_axis1", "LayerNormalization", {"axis": 1}, [(2, 3, 4)])
    case("layer_normalization_no_scale", "LayerNormalization", {"scale": False}, [(3, 5)])
    case("layer_normalization_no_center", "LayerNormalization", {"center": False}, [(3, 5)])
    case("group_normalization", "GroupNormalization", {"groups": 2}, [(2, 3, 4)])
    case("group_normalization_4d", "GroupNormalization", {"groups": 3, "epsilon": 0.01}, [(2, 2, 3, 6)])
    case("group_normalization_instance", "GroupNormalization", {"groups": -1}, [(2, 3, 3, 3)])
    case("group_normalization_axis1", "GroupNormalization", {"groups": 2, "axis": 1}, [(2, 4, 3)])
    case("group_normalization_bare", "GroupNormalization", {"groups": 2, "center": False, "scale": False},
         [(2, 3, 4)])
    if hasattr(layers, "RMSNormalization"):
        case("rms_normalization", "RMSNormalization", {}, [(3, 6)])
        case("rms_normalization_3d_epsilon", "RMSNormalization", {"epsilon": 0.01}, [(2, 3, 4)])
    case("unit_normalization", "UnitNormalization", {}, [(3, 5)])
    case("unit_normalization_axis1", "UnitNormalization", {"axis": 1}, [(2, 3, 4)])


def dropout():
    case("dropout_infer", "Dropout", {"rate": 0.4}, [(3, 4)])
    case("dropout_rate0_train", "Dropout", {"rate": 0.0}, [(3, 4)], True)
    case("spatial_dropout1d_infer", "SpatialDropout1D", {"rate": 0.4}, [(2, 3, 4)])
    case("spatial_dropout2d_infer", "SpatialDropout2D", {"rate": 0.4}, [(2, 3, 3, 2)])
    case("spatial_dropout3d_infer", "SpatialDropout3D", {"rate": 0.4}, [(2, 2, 3, 2, 2)])
    case("gaussian_noise_infer", "GaussianNoise", {"stddev": 0.4}, [(3, 4)])
    case("gaussian_dropout_infer", "GaussianDropout", {"rate": 0.4}, [(3, 4)])
    case("alpha_dropout_infer", "AlphaDropout", {"rate": 0.4}, [(3, 4)])


def attention():
    draw = Draw(11)
    case("embedding", "Embedding", {"input_dim": 7, "output_dim": 4}, [draw.integers(0, 7, 3, 5)])
    case("embedding_vector", "Embedding", {"input_dim": 6, "output_dim": 3}, [np.array([1, 5, 1, 0], np.int32)])
    case("embedding_repeated", "Embedding", {"input_dim": 5, "output_dim": 3},
         [np.array([[2, 2, 2], [4, 2, 0]], np.int32)])
    m = {"num_heads": 2, "key_dim": 3}
    same = Draw(12).normal(2, 4, 5)
    other = Draw(13).normal(2, 3, 6)
    keys = Draw(14).normal(2, 3, 4)
    case("multi_head_attention_self", "MultiHeadAttention", m, [same, same])
    case("multi_head_attention_causal", "MultiHeadAttention", m, [same, same], extra={"use_causal_mask": True})
    case("multi_head_attention_cross", "MultiHeadAttention", m, [same, other])
    case("multi_head_attention_cross_keys", "MultiHeadAttention", m, [same, other, keys])
    case("multi_head_attention_value_dim", "MultiHeadAttention", {**m, "value_dim": 2}, [same, same])
    case("multi_head_attention_no_bias", "MultiHeadAttention", {**m, "use_bias": False}, [same, same])
    case("multi_head_attention_output_shape", "MultiHeadAttention", {**m, "output_shape": 7}, [same, same],
         extra={"use_causal_mask": True})
    g = {"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2}
    case("grouped_query_attention_self", "GroupedQueryAttention", g, [same, same])
    case("grouped_query_attention_causal", "GroupedQueryAttention", g, [same, same],
         extra={"use_causal_mask": True})
    case("grouped_query_attention_cross", "GroupedQueryAttention", g, [same, other])
    case("grouped_query_attention_one_kv", "GroupedQueryAttention",
         {**g, "num_key_value_heads": 1, "use_bias": False}, [same, same])


def recurrent():
    for kind in ("LSTM", "GRU", "SimpleRNN"):
        tag = {"LSTM": "lstm", "GRU": "gru", "SimpleRNN": "simple_rnn"}[kind]
        case(tag, kind, {"units": 3}, [(2, 4, 3)])
        case(f"{tag}_sequences", kind, {"units": 3, "return_sequences": True}, [(2, 4, 3)])
        case(f"{tag}_backwards", kind, {"units": 3, "go_backwards": True, "return_sequences": True}, [(2, 4, 3)])
        case(f"{tag}_no_bias", kind, {"units": 2, "use_bias": False}, [(2, 3, 3)])
    case("lstm_sigmoid_relu", "LSTM",
         {"units": 3, "activation": "relu", "recurrent_activation": "hard_sigmoid"}, [(2, 4, 2)])
    case("gru_reset_before", "GRU", {"units": 3, "reset_after": False}, [(2, 4, 3)])
    case("gru_reset_before_sequences", "GRU",
         {"units": 3, "reset_after": False, "return_sequences": True}, [(2, 4, 3)])
    case("simple_rnn_relu", "SimpleRNN", {"units": 3, "activation": "relu"}, [(2, 4, 3)])
    lstm = {"class_name": "LSTM", "config": {"units": 2}}
    lstm_sequences = {"class_name": "LSTM", "config": {"units": 2, "return_sequences": True}}
    gru = {"class_name": "GRU", "config": {"units": 2, "return_sequences": True}}
    for mode in ("concat", "sum", "ave", "mul"):
        case(f"bidirectional_lstm_{mode}", "Bidirectional", {"layer": lstm, "merge_mode": mode}, [(2, 4, 3)])
        case(f"bidirectional_lstm_sequences_{mode}", "Bidirectional",
             {"layer": lstm_sequences, "merge_mode": mode}, [(2, 3, 3)])
    case("bidirectional_gru_sequences", "Bidirectional", {"layer": gru}, [(2, 4, 3)])


def activations():
    from keras.src.activations import ALL_OBJECTS_DICT

    names = set()
    for key in ALL_OBJECTS_DICT:
        if isinstance(key, str) and key.isidentifier() and key[0].islower():
            names.add(key)
    names |= {"linear", "swish", "hard_swish"}
    names.discard("threshold")  # takes arguments, so no layer can name it
    for name in sorted(names):
        # Kinks lie at 0, 0.5, 1, 2.5, 3 and 6: these points are all clear of them.
        x = np.round(np.linspace(-7.3, 7.7, 24), 3).astype(np.float32).reshape(2, 12)
        x = x[:, np.random.RandomState(5).permutation(12)]
        try:
            keras.activations.get(name)
        except ValueError:
            continue
        case(f"activation_{name}", "Activation", {"activation": name}, [x])
    x = np.round(np.linspace(-7.3, 7.7, 24), 3).astype(np.float32).reshape(2, 3, 4)
    case("leaky_relu", "LeakyReLU", {}, [x])
    case("leaky_relu_slope", "LeakyReLU", {"negative_slope": 0.1}, [x])
    case("prelu", "PReLU", {}, [(2, 3, 4)])
    case("prelu_shared", "PReLU", {"shared_axes": [1]}, [(2, 3, 4)])
    case("elu", "ELU", {}, [x])
    case("elu_alpha", "ELU", {"alpha": 0.5}, [x])
    case("softmax", "Softmax", {}, [(2, 3, 4)])
    case("softmax_axis1", "Softmax", {"axis": 1}, [(2, 3, 4)])
    case("softmax_axes", "Softmax", {"axis": [1, 2]}, [(2, 3, 4)])
    case("relu", "ReLU", {}, [x])
    case("relu_max_slope_threshold", "ReLU", {"max_value": 4.0, "negative_slope": 0.2, "threshold": 1.0}, [x])
    case("relu_max", "ReLU", {"max_value": 6.0}, [x])


def shapes():
    case("flatten", "Flatten", {}, [(2, 3, 2, 2)])
    case("flatten_vector", "Flatten", {}, [(3, 4)])
    case("reshape", "Reshape", {"target_shape": [3, 4]}, [(2, 2, 6)])
    case("reshape_infer", "Reshape", {"target_shape": [-1, 2]}, [(2, 3, 4)])
    case("permute", "Permute", {"dims": [2, 1]}, [(2, 3, 4)])
    case("permute_4d", "Permute", {"dims": [3, 1, 2]}, [(2, 2, 3, 2)])
    case("repeat_vector", "RepeatVector", {"n": 3}, [(2, 4)])
    case("zero_padding1d", "ZeroPadding1D", {"padding": [1, 2]}, [(2, 3, 2)])
    case("zero_padding1d_int", "ZeroPadding1D", {"padding": 2}, [(2, 3, 2)])
    case("zero_padding2d", "ZeroPadding2D", {"padding": [[1, 0], [2, 1]]}, [(2, 2, 3, 2)])
    case("zero_padding2d_int", "ZeroPadding2D", {"padding": 1}, [(2, 2, 3, 1)])
    case("zero_padding2d_pair", "ZeroPadding2D", {"padding": [2, 1]}, [(2, 2, 3, 1)])
    case("zero_padding3d", "ZeroPadding3D", {"padding": [[1, 0], [0, 1], [1, 1]]}, [(2, 2, 2, 2, 1)])
    case("cropping1d", "Cropping1D", {"cropping": [1, 2]}, [(2, 6, 2)])
    case("cropping2d", "Cropping2D", {"cropping": [[1, 0], [2, 1]]}, [(2, 4, 5, 2)])
    case("cropping2d_int", "Cropping2D", {"cropping": 1}, [(2, 4, 5, 1)])
    case("cropping3d", "Cropping3D", {"cropping": [[1, 0], [0, 1], [1, 1]]}, [(2, 3, 3, 4, 1)])
    case("up_sampling1d", "UpSampling1D", {"size": 3}, [(2, 3, 2)])
    case("up_sampling2d", "UpSampling2D", {}, [(2, 2, 3, 2)])
    case("up_sampling2d_rectangle", "UpSampling2D", {"size": [3, 2]}, [(2, 2, 3, 1)])
    case("up_sampling2d_bilinear", "UpSampling2D", {"size": 2, "interpolation": "bilinear"}, [(2, 3, 3, 2)])
    case("up_sampling2d_bilinear3", "UpSampling2D", {"size": [3, 2], "interpolation": "bilinear"}, [(2, 2, 3, 1)])
    case("up_sampling3d", "UpSampling3D", {"size": [2, 1, 2]}, [(2, 2, 3, 2, 1)])


def merging():
    case("concatenate", "Concatenate", {}, [(2, 3), (2, 4), (2, 2)])
    case("concatenate_axis1", "Concatenate", {"axis": 1}, [(2, 2, 3), (2, 4, 3)])
    for kind in ("Add", "Multiply", "Average"):
        case(kind.lower(), kind, {}, [(2, 3), (2, 3), (2, 3)])
        case(f"{kind.lower()}_broadcast", kind, {}, [(2, 3, 4), (2, 1, 4)])
    case("subtract", "Subtract", {}, [(2, 3), (2, 3)])
    for kind in ("Maximum", "Minimum"):
        x = distinct(kind + " of three", 3, 2, 4)
        case(kind.lower(), kind, {}, [x[0], x[1], x[2]])
    case("dot_vectors", "Dot", {"axes": 1}, [(3, 4), (3, 4)])
    case("dot_vectors_normalize", "Dot", {"axes": 1, "normalize": True}, [(3, 4), (3, 4)])
    case("dot_matrices", "Dot", {"axes": [2, 1]}, [(2, 3, 4), (2, 4, 5)])
    case("dot_matrices_axis2", "Dot", {"axes": 2}, [(2, 3, 4), (2, 5, 4)])
    case("dot_matrices_normalize", "Dot", {"axes": [1, 2], "normalize": True}, [(2, 4, 3), (2, 2, 4)])
    case("dot_matrix_vector", "Dot", {"axes": [2, 1]}, [(2, 3, 4), (2, 4)])


def preprocessing():
    case("rescaling", "Rescaling", {"scale": 0.00392156862745098, "offset": -0.5},
         [np.array([[0, 51, 255], [128, 7, 200]], np.float32)])
    case("rescaling_bytes", "Rescaling", {"scale": 0.00392156862745098},
         [np.array([[0, 51, 255], [128, 7, 200]], np.uint8)], gradients=False)
    case("normalization_given", "Normalization",
         {"mean": [0.5, -1.0, 2.0], "variance": [1.5, 0.25, 4.0]}, [(4, 3)])
    case("normalization_scalar", "Normalization", {"mean": 0.5, "variance": 2.0, "axis": None}, [(3, 4)])
    case("normalization_invert", "Normalization",
         {"mean": [0.5, -1.0, 2.0], "variance": [1.5, 0.25, 4.0], "invert": True}, [(4, 3)])
    data = Draw(21).normal(8, 3) * np.float32(2) + np.float32(1)
    case("normalization_adapt", "Normalization", {}, [(4, 3)], adapt=data)
    data = Draw(22).normal(4, 2, 3, 3)
    case("normalization_adapt_4d", "Normalization", {}, [(2, 2, 3, 3)], adapt=data)
    case("normalization_adapt_axis_none", "Normalization", {"axis": None}, [(2, 3)],
         adapt=Draw(23).normal(6, 3))
    case("normalization_adapt_axis1", "Normalization", {"axis": 1}, [(2, 3, 2)], adapt=Draw(24).normal(4, 3, 2))
    ints = np.array([[3], [0], [4], [1]], np.int32)
    rows = np.array([[3, 0], [4, 4], [1, 2]], np.int32)
    weights = {"num_tokens": 5}
    case("category_encoding_one_hot", "CategoryEncoding", {**weights, "output_mode": "one_hot"}, [ints],
         gradients=False)
    case("category_encoding_multi_hot", "CategoryEncoding", {**weights, "output_mode": "multi_hot"}, [rows],
         gradients=False)
    case("category_encoding_count", "CategoryEncoding", {**weights, "output_mode": "count"}, [rows],
         gradients=False)
    # At inference every random layer is the identity.
    image = Draw(31).uniform(0, 1, 2, 4, 5, 3)
    case("random_flip_infer", "RandomFlip", {"mode": "horizontal_and_vertical"}, [image], gradients=False)
    case("random_translation_infer", "RandomTranslation", {"height_factor": 0.2, "width_factor": 0.2}, [image],
         gradients=False)
    case("random_rotation_infer", "RandomRotation", {"factor": 0.2}, [image], gradients=False)
    case("random_contrast_infer", "RandomContrast", {"factor": 0.3}, [image], gradients=False)
    case("random_zoom_infer", "RandomZoom", {"height_factor": 0.2}, [image], gradients=False)
    case("random_brightness_infer", "RandomBrightness", {"factor": 0.2, "value_range": [0, 1]}, [image],
         gradients=False)
    case("random_crop_infer", "RandomCrop", {"height": 3, "width": 3}, [Draw(32).uniform(0, 1, 2, 5, 5, 2)],
         gradients=False)


def others():
    case("identity", "Identity", {}, [(2, 3)])
    case("activity_regularization", "ActivityRegularization", {"l1": 0.1, "l2": 0.2}, [(2, 3)])
    case("time_distributed", "TimeDistributed",
         {"layer": {"class_name": "Dense", "config": {"units": 4, "activation": "tanh"}}}, [(2, 3, 5)])
    case("discretization", "Discretization", {"bin_boundaries": [-0.5, 0.0, 1.0]},
         [np.array([[-1, -0.5, -0.2, 0.3], [1, 1.5, 0, 7]], np.float32)], gradients=False)
    case("discretization_one_hot", "Discretization",
         {"bin_boundaries": [0.0, 1.0], "output_mode": "one_hot"},
         [np.array([[-1], [0.5], [3]], np.float32)], gradients=False)
    image = Draw(33).uniform(0, 1, 2, 4, 6, 2)
    case("resizing_larger", "Resizing", {"height": 6, "width": 9}, [image])
    case("resizing_smaller", "Resizing", {"height": 2, "width": 4}, [image])
    case("resizing_nearest", "Resizing", {"height": 8, "width": 3, "interpolation": "nearest"}, [image])
    case("center_crop", "CenterCrop", {"height": 2, "width": 3}, [image])


def main():
    for group in (dense, convolutions, pooling, normalisation, dropout, attention, recurrent, activations,
                  shapes, merging, preprocessing, others):
        start = len(CASES)
        group()
        print(f"  layers: {group.__name__} {len(CASES) - start}", flush=True)
    write("layers.json", keras_versions(), CASES)


if __name__ == "__main__":
    main()
