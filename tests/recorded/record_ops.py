"""Records ops.json: single operations, from NumPy (float64, rounded once) and from JAX on CPU.

`op` is the StableHLO name (or, for the composite ones, JAX's: top_k, cumsum, argmax, threefry2x32)
and `attrs` holds the StableHLO attributes of the op in plain JSON.
"""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jax import lax

from common import Draw, seed_of, tensor, write

CASES = []


def case(name, op, attrs, inputs, outputs):
    assert name not in {c["name"] for c in CASES}, name
    if not isinstance(outputs, (list, tuple)):
        outputs = [outputs]
    CASES.append({"name": name, "op": op, "attrs": attrs, "inputs": [tensor(i) for i in inputs],
                  "outputs": [tensor(o) for o in outputs]})


def unary():
    draw = Draw(1)
    any_values = draw.normal(3, 5, scale=2)
    any_values[0, :3] = [0.0, 1.0, -1.0]
    positive = draw.uniform(0.1, 5, 3, 5)
    halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.49, 3.51, -0.2, 1e9], np.float32)
    wide = {
        "abs": (np.abs, any_values), "negate": (np.negative, any_values), "sign": (np.sign, any_values),
        "exponential": (np.exp, any_values), "exponential_minus_one": (np.expm1, any_values),
        "log": (np.log, positive), "log_plus_one": (np.log1p, positive), "sqrt": (np.sqrt, positive),
        "rsqrt": (lambda v: 1 / np.sqrt(v), positive), "cbrt": (np.cbrt, any_values),
        "sine": (np.sin, any_values), "cosine": (np.cos, any_values), "tan": (np.tan, draw.uniform(-1.2, 1.2, 3, 5)),
        "tanh": (np.tanh, any_values), "logistic": (scipy.special.expit, any_values),
        "erf": (scipy.special.erf, any_values), "floor": (np.floor, any_values), "ceil": (np.ceil, any_values),
        "round_nearest_even": (np.rint, halves),
        "round_nearest_afz": (lambda v: np.sign(v) * np.floor(np.abs(v) + 0.5), halves),
    }
    for op, (function, x) in wide.items():
        case(op, op, {}, [x], function(x.astype(np.float64)).astype(np.float32))
    small = np.array([1e-6, -1e-6, 1e-4, -1e-4, 0.0], np.float32)
    case("exponential_minus_one_small", "exponential_minus_one", {}, [small],
         np.expm1(small.astype(np.float64)).astype(np.float32))
    case("log_plus_one_small", "log_plus_one", {}, [small], np.log1p(small.astype(np.float64)).astype(np.float32))
    large = np.array([-100, -30, 30, 100], np.float32)
    case("logistic_large", "logistic", {}, [large], scipy.special.expit(large.astype(np.float64)).astype(np.float32))
    case("tanh_large", "tanh", {}, [large], np.tanh(large))
    case("exponential_overflow", "exponential", {}, [np.array([89, 100, -200], np.float32)],
         np.array([np.inf, np.inf, 0], np.float32))
    case("log_of_zero_and_below", "log", {}, [np.array([0, -1], np.float32)], np.array([-np.inf, np.nan], np.float32))
    odd = np.array([np.inf, -np.inf, np.nan, 0, 1e30], np.float32)
    case("is_finite", "is_finite", {}, [odd], np.isfinite(odd))
    ints = np.array([0, 1, -1, 255, -256, 2147483647, -2147483648], np.int32)
    case("abs_i32", "abs", {}, [ints[:-1]], np.abs(ints[:-1]))
    case("negate_i32", "negate", {}, [ints[:-1]], -ints[:-1])
    case("sign_i32", "sign", {}, [ints], np.sign(ints))
    case("not_i32", "not", {}, [ints], ~ints)
    case("not_bool", "not", {}, [np.array([True, False])], np.array([False, True]))
    case("popcnt_i32", "popcnt", {}, [ints], np.array([bin(int(v) & 0xFFFFFFFF).count("1") for v in ints], np.int32))
    unsigned = np.array([0, 1, 4294967295, 2863311530], np.uint32)
    case("popcnt_u32", "popcnt", {}, [unsigned], np.array([bin(int(v)).count("1") for v in unsigned], np.uint32))
    case("not_u32", "not", {}, [unsigned], ~unsigned)
    case("count_leading_zeros_u32", "count_leading_zeros", {}, [unsigned], lax.clz(jnp.asarray(unsigned)))


def binary():
    draw = Draw(2)
    a, b = draw.normal(3, 4, scale=2), draw.normal(3, 4, scale=2)
    positive = draw.uniform(0.2, 3, 3, 4)
    wide = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
        "maximum": np.maximum, "minimum": np.minimum, "atan2": np.arctan2, "remainder": np.fmod,
    }
    for op, function in wide.items():
        case(op, op, {}, [a, b], function(a.astype(np.float64), b.astype(np.float64)).astype(np.float32))
    case("power", "power", {}, [positive, b], np.power(positive.astype(np.float64), b).astype(np.float32))
    case("power_negative_base", "power", {},
         [np.array([-2, -2, -1.5, 0, 0], np.float32), np.array([2, 3, -2, 2, 0], np.float32)],
         np.array([4, -8, 1 / 2.25, 0, 1], np.float32))
    nan = np.array([np.nan, 1, np.nan], np.float32)
    one = np.array([1, np.nan, np.nan], np.float32)
    case("maximum_nan", "maximum", {}, [nan, one], np.maximum(nan, one))
    case("divide_by_zero", "divide", {}, [np.array([1, -1, 0], np.float32), np.zeros(3, np.float32)],
         np.array([np.inf, -np.inf, np.nan], np.float32))
    i, j = np.array([7, -7, 7, -7, 0], np.int32), np.array([2, 2, -2, -2, 5], np.int32)
    for op, function in (("add", lax.add), ("subtract", lax.sub), ("multiply", lax.mul), ("divide", lax.div),
                         ("remainder", lax.rem), ("maximum", lax.max), ("minimum", lax.min),
                         ("and", lax.bitwise_and), ("or", lax.bitwise_or), ("xor", lax.bitwise_xor)):
        case(f"{op}_i32", op, {}, [i, j], function(jnp.asarray(i), jnp.asarray(j)))
    p, q = np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool)
    for op, function in (("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)):
        case(f"{op}_bool", op, {}, [p, q], function(p, q))
    s, k = np.array([1, -8, 12345, -1, 3], np.int32), np.array([3, 1, 4, 31, 0], np.int32)
    for op, function in (("shift_left", lax.shift_left), ("shift_right_arithmetic", lax.shift_right_arithmetic),
                         ("shift_right_logical", lax.shift_right_logical)):
        case(f"{op}_i32", op, {}, [s, k], function(jnp.asarray(s), jnp.asarray(k)))
    u, v = np.array([4000000000, 7, 4294967295], np.uint32), np.array([400000000, 9, 1], np.uint32)
    case("add_u32_wraps", "add", {}, [u, v], u + v)
    case("subtract_u32_wraps", "subtract", {}, [u[1:2], v[1:2]], u[1:2] - v[1:2])


def choose():
    draw = Draw(3)
    a, b = draw.normal(2, 4), draw.normal(2, 4)
    b[0] = a[0]
    for direction, function in (("EQ", np.equal), ("NE", np.not_equal), ("LT", np.less), ("LE", np.less_equal),
                                ("GT", np.greater), ("GE", np.greater_equal)):
        case(f"compare_{direction}", "compare", {"comparison_direction": direction}, [a, b], function(a, b))
        i, j = np.array([1, 2, -3], np.int32), np.array([1, -2, 3], np.int32)
        case(f"compare_{direction}_i32", "compare", {"comparison_direction": direction}, [i, j], function(i, j))
        nan = np.array([np.nan, np.nan, 1], np.float32)
        one = np.array([np.nan, 1, np.nan], np.float32)
        case(f"compare_{direction}_nan", "compare", {"comparison_direction": direction}, [nan, one],
             function(nan, one))
    p = np.array([[1, 0, 1, 0], [0, 1, 1, 0]], bool)
    case("select", "select", {}, [p, a, b], np.where(p, a, b))
    case("clamp", "clamp", {}, [np.float32(-0.5), a, np.float32(0.6)], np.clip(a, -0.5, 0.6).astype(np.float32))
    low, high = np.full((2, 4), -0.3, np.float32), np.full((2, 4), 0.4, np.float32)
    case("clamp_tensor", "clamp", {}, [low, a, high], np.clip(a, low, high))


def convert():
    x = np.array([0, 1, -1, 1.5, -2.7, 3.99, 100.25, 1.00390625, 1.01171875, 0.1, 65504, 1e-3], np.float32)
    for dtype in ("bfloat16", "float16", "int32", "int8", "float64"):
        source = x[:7] if dtype == "int8" else x
        result = jnp.asarray(source).astype(dtype) if dtype != "float64" else source.astype(np.float64)
        case(f"convert_f32_{dtype}", "convert", {"dtype": dtype}, [source], result)
    case("convert_f32_bool", "convert", {"dtype": "bool"}, [x], x != 0)
    case("convert_f32_uint8", "convert", {"dtype": "uint8"}, [np.array([0, 1.9, 254.7], np.float32)],
         np.array([0, 1, 254], np.uint8))
    i = np.array([0, 1, -1, 16777217, -2147483648], np.int32)
    case("convert_i32_f32", "convert", {"dtype": "float32"}, [i], i.astype(np.float32))
    case("convert_i32_i64", "convert", {"dtype": "int64"}, [i], i.astype(np.int64))
    case("convert_i32_u32", "convert", {"dtype": "uint32"}, [i], i.astype(np.uint32))
    case("convert_bool_f32", "convert", {"dtype": "float32"}, [np.array([1, 0], bool)], np.array([1, 0], np.float32))
    case("convert_u8_f32", "convert", {"dtype": "float32"}, [np.array([0, 255], np.uint8)],
         np.array([0, 255], np.float32))
    case("convert_bf16_f32", "convert", {"dtype": "float32"}, [jnp.asarray(x).astype("bfloat16")],
         np.asarray(jnp.asarray(x).astype("bfloat16").astype("float32")))


def dots():
    table = [
        ("matrix", (3, 4), (4, 5), (), (), (1,), (0,)),
        ("matrix_transposed_rhs", (3, 4), (5, 4), (), (), (1,), (1,)),
        ("matrix_transposed_lhs", (4, 3), (4, 5), (), (), (0,), (0,)),
        ("vectors", (4,), (4,), (), (), (0,), (0,)),
        ("matrix_vector", (3, 4), (4,), (), (), (1,), (0,)),
        ("batch", (2, 3, 4), (2, 4, 3), (0,), (0,), (2,), (1,)),
        ("batch_two", (2, 3, 2, 4), (2, 3, 4, 3), (0, 1), (0, 1), (3,), (2,)),
        ("batch_inner", (3, 2, 4), (4, 2, 3), (1,), (1,), (2,), (0,)),
        ("contract_two", (2, 3, 4), (3, 4, 2), (), (), (1, 2), (0, 1)),
        ("contract_two_swapped", (2, 3, 4), (4, 3, 2), (), (), (1, 2), (1, 0)),
        ("attention", (2, 3, 2, 4), (2, 5, 2, 4), (0, 2), (0, 2), (3,), (3,)),
        ("outer", (3,), (4,), (), (), (), ()),
    ]
    for name, ls, rs, lb, rb, lc, rc in table:
        draw = Draw(seed_of(name))
        a, b = draw.normal(*ls), draw.normal(*rs)
        out = lax.dot_general(a.astype(np.float32), b, ((lc, rc), (lb, rb)), precision="highest")
        case(f"dot_general_{name}", "dot_general",
             {"lhs_batching_dimensions": lb, "rhs_batching_dimensions": rb,
              "lhs_contracting_dimensions": lc, "rhs_contracting_dimensions": rc}, [a, b], out)


def convolutions():
    # name, lhs [N, spatial.., C], rhs [spatial.., I, O], strides, padding, lhs dilation, rhs dilation, feature, batch
    one, two, three = (1,), (1, 1), (1, 1, 1)
    table = [
        ("1d", (2, 6, 2), (3, 2, 4), one, [(0, 0)], one, one, 1, 1),
        ("1d_padded_stride", (2, 7, 2), (3, 2, 3), (2,), [(1, 1)], one, one, 1, 1),
        ("1d_rhs_dilation", (2, 7, 2), (3, 2, 3), one, [(2, 2)], one, (2,), 1, 1),
        ("1d_lhs_dilation", (2, 4, 2), (3, 2, 3), one, [(2, 1)], (2,), one, 1, 1),
        ("1d_groups", (2, 6, 4), (3, 2, 6), one, [(1, 1)], one, one, 2, 1),
        ("1d_negative_padding", (2, 7, 2), (2, 2, 2), one, [(-1, -2)], one, one, 1, 1),
        ("2d", (2, 5, 4, 2), (3, 3, 2, 3), two, [(0, 0), (0, 0)], two, two, 1, 1),
        ("2d_same", (2, 5, 4, 2), (3, 3, 2, 3), two, [(1, 1), (1, 1)], two, two, 1, 1),
        ("2d_stride_uneven_padding", (2, 5, 6, 2), (3, 2, 2, 3), (2, 3), [(1, 0), (0, 2)], two, two, 1, 1),
        ("2d_rhs_dilation", (2, 6, 6, 2), (3, 2, 2, 2), two, [(2, 2), (0, 1)], two, (2, 3), 1, 1),
        ("2d_lhs_dilation", (2, 3, 3, 2), (3, 3, 2, 2), two, [(2, 2), (1, 1)], (2, 2), two, 1, 1),
        ("2d_both_dilations_stride", (1, 4, 4, 2), (2, 2, 2, 2), (2, 1), [(1, 1), (0, 2)], (2, 3), (3, 2), 1, 1),
        ("2d_groups", (2, 4, 4, 4), (3, 3, 2, 4), two, [(1, 1), (1, 1)], two, two, 2, 1),
        ("2d_depthwise", (2, 4, 4, 3), (3, 3, 1, 6), two, [(0, 0), (0, 0)], two, two, 3, 1),
        ("2d_batch_groups", (4, 4, 4, 2), (3, 3, 2, 4), two, [(1, 1), (1, 1)], two, two, 1, 2),
        ("3d", (2, 3, 4, 3, 2), (2, 2, 2, 2, 3), three, [(0, 0)] * 3, three, three, 1, 1),
        ("3d_stride_same", (2, 3, 4, 5, 1), (3, 3, 3, 1, 2), (2, 2, 2), [(1, 1)] * 3, three, three, 1, 1),
        ("3d_dilations", (1, 3, 3, 3, 1), (2, 2, 2, 1, 2), three, [(1, 1)] * 3, (2, 1, 2), (1, 2, 1), 1, 1),
    ]
    for name, ls, rs, strides, padding, ld, rd, feature, batch in table:
        draw = Draw(seed_of(name))
        a, b = draw.normal(*ls), draw.normal(*rs)
        rank = len(ls) - 2
        letters = "DHW"[3 - rank:]
        spec = ("N" + letters + "C", letters + "IO", "N" + letters + "C")
        dimensions = lax.conv_dimension_numbers(ls, rs, spec)
        out = lax.conv_general_dilated(a, b, strides, padding, ld, rd, dimensions, feature, batch, "highest")
        spatial = list(range(1, rank + 1))
        case(f"convolution_{name}", "convolution", {
            "input_batch_dimension": 0, "input_feature_dimension": rank + 1, "input_spatial_dimensions": spatial,
            "kernel_input_feature_dimension": rank, "kernel_output_feature_dimension": rank + 1,
            "kernel_spatial_dimensions": list(range(rank)),
            "output_batch_dimension": 0, "output_feature_dimension": rank + 1, "output_spatial_dimensions": spatial,
            "window_strides": strides, "padding": padding, "lhs_dilation": ld, "rhs_dilation": rd,
            "feature_group_count": feature, "batch_group_count": batch}, [a, b], out)
    # The dimension numbers that a kernel gradient uses.
    draw = Draw(99)
    a, b = draw.normal(2, 5, 4, 3), draw.normal(2, 3, 2, 4)
    dimensions = lax.ConvDimensionNumbers((3, 0, 1, 2), (3, 0, 1, 2), (2, 3, 0, 1))
    out = lax.conv_general_dilated(a, b, (1, 1), [(0, 0), (0, 0)], (1, 1), (1, 1), dimensions, precision="highest")
    case("convolution_2d_kernel_gradient_layout", "convolution", {
        "input_batch_dimension": 3, "input_feature_dimension": 0, "input_spatial_dimensions": [1, 2],
        "kernel_input_feature_dimension": 0, "kernel_output_feature_dimension": 3,
        "kernel_spatial_dimensions": [1, 2],
        "output_batch_dimension": 2, "output_feature_dimension": 3, "output_spatial_dimensions": [0, 1],
        "window_strides": [1, 1], "padding": [[0, 0], [0, 0]], "lhs_dilation": [1, 1], "rhs_dilation": [1, 1],
        "feature_group_count": 1, "batch_group_count": 1}, [a, b], out)


def windows():
    draw = Draw(5)
    x = draw.distinct(2, 5, 6, 2)
    table = [
        ("pool2", (1, 2, 2, 1), (1, 2, 2, 1), [(0, 0)] * 4, (1,) * 4, (1,) * 4),
        ("overlap", (1, 3, 3, 1), (1, 1, 2, 1), [(0, 0)] * 4, (1,) * 4, (1,) * 4),
        ("padded", (1, 3, 2, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (0, 1), (0, 0)], (1,) * 4, (1,) * 4),
        ("dilated", (1, 2, 2, 1), (1, 1, 1, 1), [(0, 0)] * 4, (1,) * 4, (1, 2, 3, 1)),
        ("base_dilated", (1, 2, 2, 1), (1, 2, 1, 1), [(0, 0), (1, 0), (0, 0), (0, 0)], (1, 2, 2, 1), (1,) * 4),
    ]
    for name, size, strides, padding, base, window in table:
        for reducer, start, function in (("add", 0.0, lax.add), ("maximum", -np.inf, lax.max),
                                         ("minimum", np.inf, lax.min)):
            out = lax.reduce_window(x, np.float32(start), function, size, strides, padding, base, window)
            case(f"reduce_window_{reducer}_{name}", "reduce_window",
                 {"reducer": reducer, "init": "-inf" if start == -np.inf else "inf" if start == np.inf else 0,
                  "window_dimensions": size, "window_strides": strides, "padding": padding,
                  "base_dilations": base, "window_dilations": window}, [x], out)
    # The gradient of a max window: the cotangent goes to the (first) maximum of each window.
    for name, size, strides, padding, base, window in table[:3]:
        def pool(v, size=size, strides=strides, padding=padding):
            return lax.reduce_window(v, -jnp.inf, lax.max, size, strides, padding)

        out, pull = jax.vjp(pool, jnp.asarray(x))
        cotangent = Draw(seed_of(name)).normal(*out.shape)
        case(f"select_and_scatter_{name}", "select_and_scatter",
             {"select": "GE", "scatter": "add", "init": 0, "window_dimensions": size, "window_strides": strides,
              "padding": padding}, [x, cotangent], pull(jnp.asarray(cotangent))[0])
    y = draw.normal(3, 4, 2)
    for reducer, function in (("add", np.sum), ("maximum", np.max), ("minimum", np.min), ("multiply", np.prod)):
        for axes in ((0,), (1,), (0, 2), (0, 1, 2)):
            case(f"reduce_{reducer}_{''.join(map(str, axes))}", "reduce", {"reducer": reducer, "dimensions": axes},
                 [y], np.float32(function(y.astype(np.float64), axis=axes)))
    flags = np.array([[1, 0, 1], [1, 1, 1]], bool)
    case("reduce_and", "reduce", {"reducer": "and", "dimensions": [1]}, [flags], flags.all(1))
    case("reduce_or", "reduce", {"reducer": "or", "dimensions": [0]}, [~flags], (~flags).any(0))


def moving():
    draw = Draw(6)
    x = draw.normal(2, 3)
    table = [
        ("edges", [1, 0], [2, 1], [0, 0]),
        ("interior", [0, 1], [1, 0], [1, 2]),
        ("negative", [-1, 0], [0, -1], [0, 0]),
        ("negative_interior", [-1, 1], [1, -2], [2, 1]),
    ]
    for name, low, high, interior in table:
        out = lax.pad(x, np.float32(0.5), list(zip(low, high, interior)))
        case(f"pad_{name}", "pad", {"edge_padding_low": low, "edge_padding_high": high,
                                    "interior_padding": interior}, [x, np.float32(0.5)], out)
    t = draw.normal(3, 4, 2)
    case("transpose", "transpose", {"permutation": [2, 0, 1]}, [t], t.transpose(2, 0, 1))
    case("reverse", "reverse", {"dimensions": [0, 2]}, [t], t[::-1, :, ::-1])
    case("slice", "slice", {"start_indices": [0, 1, 0], "limit_indices": [3, 4, 2], "strides": [2, 1, 1]}, [t],
         t[0:3:2, 1:4])
    case("reshape", "reshape", {"shape": [4, 6]}, [t], t.reshape(4, 6))
    case("broadcast_in_dim", "broadcast_in_dim", {"shape": [2, 3, 4], "broadcast_dimensions": [1]},
         [t[:, 0, 0]], np.broadcast_to(t[:, 0, 0][None, :, None], (2, 3, 4)))
    case("broadcast_in_dim_expand_one", "broadcast_in_dim", {"shape": [2, 3, 4], "broadcast_dimensions": [0, 2]},
         [x[:, :1]], np.broadcast_to(x[:, :1][:, None], (2, 3, 4)))
    case("concatenate", "concatenate", {"dimension": 1}, [x, t[:2, :2, 0], x], np.concatenate([x, t[:2, :2, 0], x], 1))
    case("iota", "iota", {"shape": [2, 3], "iota_dimension": 1, "dtype": "int32"}, [],
         np.tile(np.arange(3, dtype=np.int32), (2, 1)))
    for start in ((1, 0), (5, -3)):
        i = [np.int32(s) for s in start]
        case(f"dynamic_slice_{start[0]}", "dynamic_slice", {"slice_sizes": [2, 3]}, [t[:, :, 0], *i],
             lax.dynamic_slice(t[:, :, 0], i, (2, 3)))
        case(f"dynamic_update_slice_{start[0]}", "dynamic_update_slice", {}, [t[:, :, 0], x, *i],
             lax.dynamic_update_slice(t[:, :, 0], x, i))
    table = draw.normal(6, 3)
    ids = np.array([[5, 0, 2], [2, 2, 1]], np.int32)
    rows = {"offset_dims": [2], "collapsed_slice_dims": [0], "start_index_map": [0], "index_vector_dim": 2,
            "slice_sizes": [1, 3]}
    case("gather_rows", "gather", rows, [table, ids], table[ids])
    flat = {"offset_dims": [1], "collapsed_slice_dims": [0], "start_index_map": [0], "index_vector_dim": 1,
            "slice_sizes": [1, 3]}
    case("gather_rows_flat", "gather", flat, [table, ids.reshape(-1)], table[ids.reshape(-1)])
    case("gather_rows_clamped", "gather", flat, [table, np.array([-4, 9, 3], np.int32)], table[[0, 5, 3]])
    updates = draw.normal(2, 3, 3)
    total = table.astype(np.float64).copy()
    np.add.at(total, ids.reshape(-1), updates.reshape(-1, 3).astype(np.float64))
    case("scatter_add_rows", "scatter",
         {"reducer": "add", "update_window_dims": [2], "inserted_window_dims": [0],
          "scatter_dims_to_operand_dims": [0], "index_vector_dim": 2}, [table, ids, updates],
         total.astype(np.float32))
    out_of_range = np.array([1, 6, -1, 1], np.int32)
    small = draw.normal(4, 3)
    total = table.astype(np.float64).copy()
    total[1] += small[0].astype(np.float64) + small[3]
    case("scatter_add_rows_out_of_range_dropped", "scatter",
         {"reducer": "add", "update_window_dims": [1], "inserted_window_dims": [0],
          "scatter_dims_to_operand_dims": [0], "index_vector_dim": 1}, [table, out_of_range, small],
         total.astype(np.float32))


def orders():
    draw = Draw(7)
    x = draw.distinct(3, 5)
    ties = np.array([[2, 1, 2, 0, 1], [0, 0, 0, 0, 0]], np.float32)
    index = np.tile(np.arange(5, dtype=np.int32), (3, 1))
    for descending in (False, True):
        order = np.argsort(-x if descending else x, 1, kind="stable")
        tag = "descending" if descending else "ascending"
        case(f"sort_{tag}", "sort", {"dimension": 1, "is_stable": True, "descending": descending}, [x],
             np.take_along_axis(x, order, 1))
        case(f"sort_with_indices_{tag}", "sort", {"dimension": 1, "is_stable": True, "descending": descending},
             [x, index], [np.take_along_axis(x, order, 1), order.astype(np.int32)])
        order = np.argsort(-ties if descending else ties, 1, kind="stable")
        case(f"sort_ties_{tag}", "sort", {"dimension": 1, "is_stable": True, "descending": descending},
             [ties, index[:2]], [np.take_along_axis(ties, order, 1), order.astype(np.int32)])
    case("sort_dimension0", "sort", {"dimension": 0, "is_stable": True, "descending": False}, [x], np.sort(x, 0))
    for k in (1, 3):
        for name, v in (("", x), ("_ties", ties)):
            case(f"top_{k}{name}", "top_k", {"k": k}, [v], lax.top_k(jnp.asarray(v), k))
    for axis in (0, 1):
        for reverse in (False, True):
            case(f"cumsum_axis{axis}{'_reverse' if reverse else ''}", "cumsum", {"axis": axis, "reverse": reverse},
                 [x], lax.cumsum(jnp.asarray(x), axis, reverse))
    for name, v in (("", x), ("_ties", ties)):
        for axis in (0, 1):
            case(f"argmax{name}_axis{axis}", "argmax", {"axis": axis}, [v], np.argmax(v, axis).astype(np.int32))
            case(f"argmin{name}_axis{axis}", "argmin", {"axis": axis}, [v], np.argmin(v, axis).astype(np.int32))


def threefry():
    from jax.extend.random import threefry_2x32

    def raw(key, counts):
        return threefry_2x32((jnp.uint32(key[0]), jnp.uint32(key[1])), jnp.asarray(counts, jnp.uint32))

    # The vectors published with Random123 (20 rounds): key, counter -> output.
    known = (
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    )
    for i, (key, counter, expected) in enumerate(known):
        out = np.asarray(raw(key, counter))
        assert tuple(int(v) for v in out) == expected, (out, expected)
        case(f"threefry_known_{i}", "threefry2x32", {}, [np.array(key, np.uint32), np.array(counter, np.uint32)], out)
    # JAX pairs the first half of the counts with the second half; here the pairs are written out: x0, x1 -> y0, y1.
    for key in ((0, 42), (7, 123456789)):
        x0, x1 = np.arange(8, dtype=np.uint32), np.arange(8, 16, dtype=np.uint32)
        out = np.asarray(raw(key, np.concatenate([x0, x1])))
        case(f"threefry_pairs_key_{key[1]}", "threefry2x32_pairs", {},
             [np.array(key, np.uint32), x0, x1], [out[:8], out[8:]])
    key = jax.random.wrap_key_data(jnp.array([0, 42], jnp.uint32), impl="threefry2x32")
    data = np.array([0, 42], np.uint32)
    for shape in ((8,), (3, 4)):
        tag = "x".join(map(str, shape))
        for partitionable in (False, True):
            with jax.threefry_partitionable(partitionable):
                attrs = {"shape": list(shape), "jax_threefry_partitionable": partitionable}
                p = "partitionable" if partitionable else "original"
                case(f"random_bits_{tag}_{p}", "random_bits", attrs, [data], jax.random.bits(key, shape))
                case(f"random_uniform_{tag}_{p}", "random_uniform", attrs, [data], jax.random.uniform(key, shape))
                case(f"random_normal_{tag}_{p}", "random_normal", attrs, [data], jax.random.normal(key, shape))
    # bits -> uniform in [0, 1): the top 23 bits as mantissa of a number in [1, 2), less one.
    bits = np.array([0, 1, 511, 512, 2147483648, 4294967295, 123456789], np.uint32)
    uniform = ((bits >> 9) | np.uint32(0x3F800000)).view(np.float32) - np.float32(1)
    case("bits_to_uniform", "bits_to_uniform", {}, [bits], uniform)
    u = np.array([-0.999, -0.5, -0.1, 0.0, 0.1, 0.5, 0.9, 0.9999], np.float32)
    case("uniform_to_normal", "erf_inv_sqrt2", {}, [u], (np.sqrt(2) * scipy.special.erfinv(u.astype(np.float64)))
         .astype(np.float32))


def main():
    for group in (unary, binary, choose, convert, dots, convolutions, windows, moving, orders, threefry):
        start = len(CASES)
        group()
        print(f"  ops: {group.__name__} {len(CASES) - start}", flush=True)
    versions = {"jax": jax.__version__, "numpy": np.__version__, "scipy": scipy.__version__,
                "python": ".".join(str(v) for v in sys.version_info[:3])}
    write("ops.json", versions, CASES)


if __name__ == "__main__":
    main()
