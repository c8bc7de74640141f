"""Records tfrecords.json: TFRecord files as TensorFlow writes them, tf.train.Example and
SequenceExample messages in usual and unusual encodings with what protobuf reads from them, and what
tf.io.parse_single_example makes of defaults and missing features.

Bytes are hexadecimal.  A feature is {"kind": "int64", "values": [...]}; its floats are their bits as
unsigned integers, its bytes hexadecimal."""

import os
import random
import struct
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

import common

Example, SequenceExample = tf.train.Example, tf.train.SequenceExample


def feature(kind, values):
    if kind == "bytes":
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if kind == "float":
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    if kind == "int64":
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Feature()


def example(**features):
    made = {name: feature(*value) for name, value in features.items()}
    return Example(features=tf.train.Features(feature=made)).SerializeToString(deterministic=True)


def sequence_example(context, lists):
    made = {name: feature(*value) for name, value in context.items()}
    frames = {
        name: tf.train.FeatureList(feature=[feature(kind, values) for values in rows])
        for name, (kind, rows) in lists.items()
    }
    return SequenceExample(
        context=tf.train.Features(feature=made),
        feature_lists=tf.train.FeatureLists(feature_list=frames),
    ).SerializeToString(deterministic=True)


def described(one):
    kind = one.WhichOneof("kind")
    if kind is None:
        return {"kind": "nothing", "values": []}
    values = getattr(one, kind).value
    if kind == "bytes_list":
        return {"kind": "bytes", "values": [value.hex() for value in values]}
    if kind == "float_list":
        bits = np.asarray(values, np.float32).view(np.uint32)
        return {"kind": "float", "values": [int(bit) for bit in bits]}
    return {"kind": "int64", "values": [int(value) for value in values]}


def case(name, record):
    """A message with what protobuf reads from it."""
    read = Example.FromString(record).features.feature
    return {
        "name": name,
        "record": record.hex(),
        "features": {key: described(read[key]) for key in sorted(read)},
    }


def sequence_case(name, record):
    read = SequenceExample.FromString(record)
    context, lists = read.context.feature, read.feature_lists.feature_list
    return {
        "name": name,
        "record": record.hex(),
        "features": {key: described(context[key]) for key in sorted(context)},
        "lists": {key: [described(one) for one in lists[key].feature] for key in sorted(lists)},
    }


# ---- messages put together by hand: legal, but not as TensorFlow writes them ----


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def entry(name, value):
    return field(1, field(1, name.encode()) + field(2, value))


def wrapped(*entries):
    return field(1, b"".join(entries))


def unpacked_ints(values):
    return field(3, b"".join(b"\x08" + varint(value) for value in values))


def unpacked_floats(values):
    return field(2, b"".join(b"\x0d" + struct.pack("<f", value) for value in values))


UNKNOWN = (
    varint(9 << 3) + varint(300)  # a varint
    + varint(9 << 3 | 1) + b"12345678"  # eight bytes
    + field(9, b"what a later version added")
    + varint(9 << 3 | 5) + b"1234"  # four bytes
    + varint(10 << 3 | 3) + varint(1 << 3) + b"\x07" + varint(10 << 3 | 4)  # a group
)


def odd_cases():
    a = example(a=("int64", [1, 2, 3]))
    b = example(a=("int64", [9]), b=("bytes", [b"b"]))
    yield case("empty record", b"")
    yield case("unpacked ints", wrapped(entry("a", unpacked_ints([1, -1, 300, 2**40]))))
    yield case("unpacked floats", wrapped(entry("a", unpacked_floats([1.5, -2.25, 0.0]))))
    packed_and_not = field(3, field(1, b"\x01\x02") + b"\x08\x03" + field(1, b"\x04"))
    yield case("packed and unpacked", wrapped(entry("a", packed_and_not)))
    yield case("two lists of one kind", wrapped(entry("a", unpacked_ints([1]) + unpacked_ints([2]))))
    yield case("two kinds: the last counts", wrapped(entry("a", unpacked_ints([1]) + unpacked_floats([2.0]))))
    yield case("the same name twice: the last counts", a + b)
    yield case("two features messages", wrapped(entry("x", unpacked_ints([1]))) + wrapped(entry("y", unpacked_ints([2]))))
    yield case("value before key", field(1, field(1, field(2, unpacked_ints([5])) + field(1, b"a"))))
    yield case("no value", field(1, field(1, field(1, b"a"))))
    yield case("no key", field(1, field(1, field(2, unpacked_ints([5])))))
    # Not between key and value: there implementations of protobuf disagree.
    yield case("unknown fields", UNKNOWN + field(1, UNKNOWN + field(
        1, field(1, b"a") + field(2, UNKNOWN + field(
            3, UNKNOWN + field(1, b"\x05\x06") + UNKNOWN))) + UNKNOWN) + UNKNOWN)
    padded = b"\x0a\x04" + b"\x81\x80\x80\x00"  # the number 1 in four bytes
    yield case("padded varint", wrapped(entry("a", field(3, padded))))


def usual_cases():
    yield case("all kinds", example(
        ints=("int64", [0, 1, -1, 127, 128, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]),
        floats=("float", [0.0, -0.0, 1.5, float("inf"), float("-inf"), 3e-45]),
        texts=("bytes", [b"", b"abc", bytes(range(256))])))
    yield case("empty lists", example(i=("int64", []), f=("float", []), b=("bytes", [])))
    yield case("no kind", example(n=(None, None), i=("int64", [4])))
    yield case("no features", Example(features=tf.train.Features()).SerializeToString())
    yield case("names that are no ASCII", example(**{"größe": ("int64", [7]), "": ("int64", [8])}))
    draw = random.Random(4)
    for i in range(40):
        features = {}
        for f in range(draw.randrange(6)):
            kind = draw.choice(["bytes", "float", "int64"])
            count = draw.choice([0, 1, 2, 7, 8, 9, 17, 40])
            bits = draw.choice([6, 7, 13, 20, 31, 63])
            values = {
                "bytes": lambda: bytes(draw.randrange(256) for _ in range(draw.choice([0, 1, 30]))),
                "float": lambda: float(np.float32(draw.uniform(-100, 100))),
                "int64": lambda: draw.getrandbits(bits) * draw.choice([1, 1, 1, -1]),
            }[kind]
            features["f%d" % f] = (kind, [values() for _ in range(count)])
        yield case("drawn %d" % i, example(**features))


def sequence_cases():
    yield sequence_case("frames", sequence_example(
        {"id": ("bytes", [b"first"]), "label": ("int64", [3])},
        {"tokens": ("int64", [[1], [200], [70000]]), "pixels": ("float", [[1.0, 2.0], [3.0, 4.0]]),
         "words": ("bytes", [[b"a"], [b""], [b"ccc"]]), "none": ("int64", [])}))
    yield sequence_case("frames of several lengths", sequence_example({}, {"a": ("int64", [[], [1], [2, 3]])}))
    yield sequence_case("no lists", sequence_example({"label": ("int64", [3])}, {}))
    yield sequence_case("empty record", b"")
    yield sequence_case("a list twice: the last counts",
                        sequence_example({}, {"a": ("int64", [[1], [2]])})
                        + sequence_example({}, {"a": ("int64", [[3]])}))
    yield sequence_case("unknown fields", UNKNOWN + sequence_example({}, {"a": ("int64", [[1]])}) + UNKNOWN)


def parsed_cases():
    """What tf.io.parse_single_example makes of what is missing."""
    io = tf.io
    records = {"with": example(a=("int64", [5, 6]), f=("float", [1.5]), s=("bytes", [b"text"]), raw=("bytes", [b"\x01\x00\x02\x01"])),
               "without": example(other=("int64", [1])),
               "no kind": example(a=(None, None), f=(None, None), s=(None, None))}
    specs = {
        "a": io.FixedLenFeature([2], tf.int64, [7, 8]),
        "f": io.FixedLenFeature([], tf.float32, 2.5),
        "s": io.FixedLenFeature([], tf.string, "absent"),
    }
    for name, record in records.items():
        read = io.parse_single_example(record, specs)
        any_length = io.parse_single_example(
            record, {"a": io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)})["a"]
        pairs = io.parse_single_example(
            record, {"a": io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)})["a"]
        made = {"name": name, "record": record.hex(), "a": read["a"].numpy().tolist(),
                "f": float(read["f"]), "s": read["s"].numpy().decode(),
                "any_length": any_length.numpy().tolist(), "pairs": list(pairs.shape)}
        if name == "with":
            raw = io.parse_single_example(record, {"raw": io.FixedLenFeature([], tf.string)})["raw"]
            made["raw_int16"] = io.decode_raw(raw, tf.int16).numpy().tolist()
        yield made


def files():
    """One list of records in each packing."""
    records = [b"", b"a", b"record two", bytes(range(256)) * 3] + [
        example(index=("int64", [i]), image=("bytes", [bytes([i]) * 20])) for i in range(8)]
    for name in ["", "GZIP", "ZLIB"]:
        with tempfile.NamedTemporaryFile() as file:
            with tf.io.TFRecordWriter(file.name, tf.io.TFRecordOptions(name)) as writer:
                for record in records:
                    writer.write(record)
            content = open(file.name, "rb").read()
        yield {"packing": name.lower(), "content": content.hex(), "records": [r.hex() for r in records]}


common.write(
    "tfrecords.json",
    {"tensorflow": tf.__version__},
    list(usual_cases()) + list(odd_cases()),
    key="examples",
    files=list(files()),
    sequences=list(sequence_cases()),
    parsed=list(parsed_cases()),
)
