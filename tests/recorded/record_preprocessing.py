"""Records preprocessing.json: what Keras's preprocessing layers and tf.strings make of a few values."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np
import tensorflow as tf

from common import keras_versions, tensor, write

CASES = []


def values(array):
    """A tensor, or strings as {"dtype": "string", "shape", "data"}."""
    if isinstance(array, tf.RaggedTensor):
        return {"dtype": "string", "rows": [[s.decode() for s in row] for row in array.to_list()]}
    array = np.asarray(array)
    if array.dtype.kind in "OSU":
        flat = [s.decode() if isinstance(s, bytes) else s for s in array.reshape(-1)]
        return {"dtype": "string", "shape": list(array.shape), "data": flat}
    return tensor(array)


def case(name, op, config, inputs, output):
    assert name not in {c["name"] for c in CASES}, name
    CASES.append({
        "name": name,
        "op": op,
        "config": config,
        "input": values(inputs),
        "output": values(output),
    })


WORDS = np.array(["the", "quick", "brown", "fox", "", "[MASK]", "Grüße", "日本語", "a" * 40,
                  "the quick brown fox jumps over the lazy dog, again and again and again, until "
                  "it is longer than sixty-four bytes"])
VOCABULARY = ["fox", "the", "dog"]
INTEGERS = np.array([0, 1, 7, -1, -13, 42, 1000, 2147483647, -2147483648], np.int32)


def lookups():
    for oov in (1, 2, 5):
        for mask in (None, "[MASK]"):
            layer = keras.layers.StringLookup(
                vocabulary=VOCABULARY, num_oov_indices=oov, mask_token=mask)
            config = {"vocabulary": VOCABULARY, "num_oov_indices": oov}
            if mask:
                config["mask_token"] = mask
            case(f"string_lookup_{oov}_{mask}", "lookup", config, WORDS, layer(WORDS))
        for mask in (None, 7):
            layer = keras.layers.IntegerLookup(
                vocabulary=[42, 1, 5], num_oov_indices=oov, mask_token=mask)
            config = {"vocabulary": [42, 1, 5], "num_oov_indices": oov}
            if mask:
                config["mask_token"] = mask
            case(f"integer_lookup_{oov}_{mask}", "lookup", config, INTEGERS, layer(INTEGERS))
    known = np.array(["dog", "fox", "the", "dog"])
    layer = keras.layers.StringLookup(vocabulary=VOCABULARY, num_oov_indices=0)
    case("string_lookup_0", "lookup", {"vocabulary": VOCABULARY, "num_oov_indices": 0}, known,
         layer(known))


def hashes():
    strings = np.array(list(WORDS) + ["x" * n for n in (1, 3, 4, 7, 8, 9, 16, 17, 32, 33, 64, 65,
                                                        128, 200)])
    for bins in (1, 3, 1000003):
        for salt in (None, 137, [3, -7]):
            for mask in (None, "fox"):
                layer = keras.layers.Hashing(num_bins=bins, salt=salt, mask_value=mask)
                config = {"num_bins": bins}
                if salt is not None:
                    config["salt"] = salt
                if mask is not None:
                    config["mask_value"] = mask
                case(f"hash_strings_{bins}_{salt}_{mask}", "hash", config, strings, layer(strings))
    layer = keras.layers.Hashing(num_bins=97)
    case("hash_integers", "hash", {"num_bins": 97}, INTEGERS, layer(INTEGERS))
    layer = keras.layers.Hashing(num_bins=97, mask_value=7)
    case("hash_integers_masked", "hash", {"num_bins": 97, "mask_value": 7}, INTEGERS,
         layer(INTEGERS))
    floats = np.array([1.0, 1.9, -1.9, 1e6], np.float32)
    layer = keras.layers.Hashing(num_bins=97)
    case("hash_floats", "hash", {"num_bins": 97}, floats, layer(floats))


def numbers():
    x = np.array([-2.0, -1.0, -0.5, 0.0, 0.1, 1.0, 1.0000001, 2.5, np.inf, -np.inf, np.nan],
                 np.float32)
    boundaries = [-1.0, 0.1, 1.0, 2.5]
    layer = keras.layers.Discretization(bin_boundaries=boundaries)
    case("bucketize_floats", "bucketize", {"boundaries": boundaries}, x, layer(x))
    integers = np.array([-3, -1, 0, 1, 2, 3, 100], np.int32)
    case("bucketize_integers", "bucketize", {"boundaries": boundaries}, integers, layer(integers))
    ids = np.array([[0, 3], [4, 1], [2, 2]], np.int32)
    case("one_hot", "one_hot", {"depth": 5}, ids, tf.one_hot(ids, 5))
    for mode in ("multi_hot", "count"):
        layer = keras.layers.CategoryEncoding(num_tokens=5, output_mode=mode)
        config = {"depth": 5}
        if mode == "count":
            config["count"] = True
        case(mode, "multi_hot", config, ids, layer(ids))
    rows = np.array([[1.5, -2.0, 100.0], [0.25, 3.0, -1e-3], [1e6, 0.0, 7.0]], np.float32)
    mean, variance = [0.5, 1.0, -3.0], [4.0, 0.3, 0.0]
    layer = keras.layers.Normalization(mean=mean, variance=variance)
    case("normalize_columns", "normalize", {"mean": mean, "variance": variance}, rows, layer(rows))
    layer = keras.layers.Normalization(axis=None, mean=0.3, variance=2.0)
    case("normalize_all", "normalize", {"mean": 0.3, "variance": 2.0}, rows, layer(rows))
    bytes_ = np.array([[0, 1, 127], [128, 254, 255]], np.uint8)
    layer = keras.layers.Rescaling(1 / 127.5, offset=-1)
    case("scale", "scale", {"scale": 1 / 127.5, "offset": -1}, bytes_, layer(bytes_))
    layer = keras.layers.Rescaling([0.5, 2.0, 3.0], offset=[1.0, -1.0, 0.1])
    case("scale_columns", "scale", {"scale": [0.5, 2.0, 3.0], "offset": [1.0, -1.0, 0.1]}, rows,
         layer(rows))
    case("clip", "clip", {"min": -1.5, "max": 2.25}, rows, tf.clip_by_value(rows, -1.5, 2.25))
    positive = np.array([0.0, 1e-7, 0.5, 1.0, 1000.0], np.float32)
    case("log1p", "log1p", {}, positive, tf.math.log1p(positive))
    case("sqrt", "sqrt", {}, positive, tf.math.sqrt(positive))
    case("abs", "abs", {}, rows, tf.math.abs(rows))
    texts = np.array(["1", " -2.5", "3e4 ", "+7", "0.1", "nan", "-inf"])
    case("to_number", "cast", {"dtype": "f32"}, texts, tf.strings.to_number(texts))
    wide = np.array([0.1, 65519.0, 65520.0, 1e-8, -2.5, 2049.0], np.float32)
    case("cast_half", "cast", {"dtype": "f16"}, wide, tf.cast(wide, tf.float16))
    case("cast_integer", "cast", {"dtype": "i32"}, np.array([1.9, -1.9, 0.5], np.float32),
         tf.cast(np.array([1.9, -1.9, 0.5], np.float32), tf.int32))


def texts():
    strings = np.array(["The quick, BROWN fox!", "  two  blanks\tand a tab\n", "", "Grüße, ÄÖÜ",
                        "it's #1 [of] {many}~", "ΑΒΓ Дом"])
    case("lower", "lower", {}, strings, tf.strings.lower(strings))
    case("upper", "upper", {}, strings, tf.strings.upper(strings))
    case("lower_utf8", "lower", {"encoding": "utf-8"}, strings,
         tf.strings.lower(strings, encoding="utf-8"))
    case("upper_utf8", "upper", {"encoding": "utf-8"}, strings[[0, 1, 2, 4, 5]],
         tf.strings.upper(strings[[0, 1, 2, 4, 5]], encoding="utf-8"))
    layer = keras.layers.TextVectorization(standardize="strip_punctuation", split=None)
    case("strip_punctuation", "strip_punctuation", {}, strings,
         layer._preprocess(tf.constant(strings)))
    case("split", "split_words", {}, strings, tf.strings.split(strings))
    case("split_comma", "split_words", {"separator": ", "}, strings,
         tf.strings.split(strings, ", "))
    case("split_characters", "split_words", {"separator": ""}, strings,
         tf.strings.unicode_split(strings, "UTF-8"))
    words = tf.strings.split(strings)
    case("ngrams", "ngrams", {"widths": 2}, words, tf.strings.ngrams(words, 2))
    case("ngrams_many", "ngrams", {"widths": [1, 3, 2], "separator": "_"}, words,
         tf.strings.ngrams(words, (1, 3, 2), separator="_"))
    case("regex_replace", "regex_replace", {"pattern": "[aeiou]+", "replacement": "-"}, strings,
         tf.strings.regex_replace(strings, "[aeiou]+", "-"))


def crosses():
    cities = np.array(["a", "b", "", "Grüße", "b"])
    ids = np.array([1, -2, 3, 2147483647, -2147483648], np.int32)
    words = np.array(["x", "y", "x" * 100, "", "y"])
    for name, inputs in (("strings", {"x": cities, "y": words}), ("mixed", {"x": cities, "y": ids}),
                         ("three", {"x": ids, "y": cities, "z": words})):
        for bins in (5, 1000003):
            layer = keras.layers.HashedCrossing(num_bins=bins)
            CASES.append({
                "name": f"cross_{name}_{bins}",
                "op": "cross",
                "config": {"fields": list(inputs), "output": "c", "num_bins": bins},
                "inputs": {key: values(value) for key, value in inputs.items()},
                "output": values(layer(tuple(inputs.values()))),
            })


lookups()
hashes()
crosses()
numbers()
texts()
write("preprocessing.json", keras_versions(), CASES)
