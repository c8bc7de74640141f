"""Records what tf.data's verbs give: datasets.json.

A pipeline is {"source": [...], "steps": [[verb, arguments...], ...]}.  Its elements are written as
lists of tensors, one per component.
"""

import itertools

import tensorflow as tf

import common


def build(pipeline):
    source = pipeline["source"]
    kind, arguments = source[0], source[1:]
    if kind == "range":
        dataset = tf.data.Dataset.range(*arguments)
    elif kind == "ragged":
        # Record i: arguments[0][i] numbers 10 i, 10 i + 1, ...
        lengths = tf.constant(arguments[0], tf.int64)
        dataset = tf.data.Dataset.range(len(arguments[0])).map(
            lambda i: 10 * i + tf.range(lengths[i], dtype=tf.int64))
    elif kind == "matrices":
        # Record i: rows[i] x columns[i] numbers 100 i, 100 i + 1, ...
        rows, columns = (tf.constant(a, tf.int64) for a in arguments)
        dataset = tf.data.Dataset.range(len(arguments[0])).map(
            lambda i: 100 * i + tf.reshape(tf.range(rows[i] * columns[i], dtype=tf.int64),
                                           [rows[i], columns[i]]))
    elif kind == "zip":
        dataset = tf.data.Dataset.zip(tuple(build(p) for p in arguments[0]))
    elif kind == "interleave":
        inputs, cycle_length, block_length = arguments
        starts = tf.constant([p["source"][1] for p in inputs], tf.int64)
        ends = tf.constant([p["source"][2] for p in inputs], tf.int64)
        dataset = tf.data.Dataset.range(len(inputs)).interleave(
            lambda i: tf.data.Dataset.range(starts[i], ends[i]),
            cycle_length=cycle_length, block_length=block_length)
    else:
        raise ValueError(kind)
    for step in pipeline.get("steps", []):
        verb, arguments = step[0], step[1:]
        if verb == "batch":
            dataset = dataset.batch(arguments[0], drop_remainder=arguments[1])
        elif verb == "window":
            size, shift, stride, drop = arguments
            dataset = dataset.window(size, shift or None, stride, drop).flat_map(
                lambda window, size=size: window.batch(size))
        elif verb == "padded_batch":
            size, drop, shape, value = arguments
            shape = None if shape is None else [None if d < 0 else d for d in shape]
            dataset = dataset.padded_batch(size, padded_shapes=shape, drop_remainder=drop,
                                           padding_values=tf.constant(value, tf.int64))
        elif verb == "bucket":
            boundaries, sizes, to_boundary, drop = arguments
            dataset = dataset.bucket_by_sequence_length(
                lambda record: tf.shape(record)[0], bucket_boundaries=boundaries,
                bucket_batch_sizes=sizes, pad_to_bucket_boundary=to_boundary, drop_remainder=drop)
        elif verb == "concatenate":
            dataset = dataset.concatenate(build(arguments[0]))
        elif verb == "rebatch":
            dataset = dataset.rebatch(arguments[0], drop_remainder=arguments[1])
        else:
            dataset = getattr(dataset, verb)(*arguments)
    return dataset


def range_of(*arguments, steps=()):
    return {"source": ["range", *arguments], "steps": list(steps)}


def pipelines():
    for arguments in [(0,), (5,), (2, 9, 3), (9, 2, -3), (3, 3), (0, 7, 7), (0, 8, 7)]:
        yield range_of(*arguments)
    for step in [["take", 0], ["take", 3], ["take", 99], ["skip", 0], ["skip", 3], ["skip", 99],
                 ["repeat", 0], ["repeat", 1], ["repeat", 3]]:
        yield range_of(7, steps=[step])
    for shards in [1, 2, 3, 9]:
        for index in range(shards):
            yield range_of(7, steps=[["shard", shards, index]])
    yield range_of(7, steps=[["repeat", 3], ["skip", 5], ["take", 11], ["shard", 2, 1]])
    yield range_of(3, steps=[["repeat"], ["take", 8]])
    yield range_of(3, steps=[["concatenate", range_of(10, 15)]])
    yield range_of(3, steps=[["concatenate", range_of(0)], ["concatenate", range_of(20, 22)]])
    yield range_of(0, steps=[["concatenate", range_of(4)], ["repeat", 2]])
    for sizes in [(3, 5), (5, 3), (4, 4), (0, 4), (2, 3, 1)]:
        yield {"source": ["zip", [range_of(10 * i, 10 * i + n) for i, n in enumerate(sizes)]]}
    for n, size, drop in itertools.product([0, 1, 4, 5, 6, 7], [1, 2, 3, 8], [False, True]):
        yield range_of(n, steps=[["batch", size, drop]])
    for n in [0, 1, 5, 7, 10]:
        for size, shift, stride in [(3, 0, 1), (3, 1, 1), (3, 2, 1), (2, 3, 1), (3, 1, 2),
                                    (2, 4, 3), (1, 2, 5), (4, 1, 3)]:
            for drop in [False, True]:
                yield range_of(n, steps=[["window", size, shift, stride, drop]])
    layouts = [(3, 3, 3), (5, 1, 3), (1, 1, 1, 1), (0, 4, 2), (2, 0, 0, 3), (7, 2, 5, 1, 4),
               (4, 4, 4, 4, 4, 4), (6,), (1, 9, 1, 9), (3, 6, 2, 8, 4, 4, 1)]
    for sizes in layouts:
        for cycle, block in [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (4, 3), (9, 2), (2, 4)]:
            inputs = [range_of(100 * i, 100 * i + n) for i, n in enumerate(sizes)]
            yield {"source": ["interleave", inputs, cycle, block]}
    lengths = [3, 1, 4, 1, 5, 0, 2, 6, 5, 3]
    for n, size, drop in [(10, 3, False), (10, 4, True), (7, 2, False), (1, 5, False), (10, 1, False)]:
        for shape, value in [(None, 0), ([-1], -1), ([6], 7)]:
            yield {"source": ["ragged", lengths[:n]],
                   "steps": [["padded_batch", size, drop, shape, value]]}
    for shape in [None, [-1, 4], [3, -1], [3, 4]]:
        yield {"source": ["matrices", [1, 3, 2, 0, 2], [4, 1, 2, 3, 2]],
               "steps": [["padded_batch", 2, False, shape, -1]]}
    yield range_of(7, steps=[["padded_batch", 3, False, [], 0]])
    lengths = [2, 9, 1, 5, 4, 7, 1, 3, 8, 2, 6, 1, 0, 5, 2, 3, 3, 9, 1]
    for boundaries, sizes in [([3, 6], [2, 3, 2]), ([4], [3, 3]), ([1, 2, 3], [1, 2, 3, 4]),
                              ([], [4]), ([3, 6], [2, 2, 2])]:
        for drop in [False, True]:
            yield {"source": ["ragged", lengths],
                   "steps": [["bucket", boundaries, sizes, False, drop]]}
    yield {"source": ["ragged", lengths], "steps": [["bucket", [4, 10], [3, 2, 1], True, False]]}
    yield {"source": ["ragged", lengths], "steps": [["bucket", [4, 10], [3, 2, 1], True, True]]}
    yield range_of(10, steps=[["batch", 4, False], ["unbatch"]])
    yield range_of(10, steps=[["batch", 4, True], ["unbatch"]])
    yield range_of(12, steps=[["batch", 2, True], ["batch", 3, True], ["unbatch"]])
    yield range_of(12, steps=[["batch", 6, True], ["unbatch"], ["skip", 3], ["batch", 4, False]])
    yield {"source": ["ragged", [3, 1, 0, 4]], "steps": [["unbatch"]]}
    yield {"source": ["ragged", [3, 1, 0, 4, 2]],
           "steps": [["padded_batch", 2, False, None, 0], ["unbatch"]]}
    for n, first, second, drop in [(10, 4, 3, False), (10, 4, 3, True), (10, 3, 5, False),
                                   (12, 2, 6, True), (5, 7, 2, False)]:
        yield range_of(n, steps=[["batch", first, False], ["rebatch", second, drop]])
    yield range_of(20, steps=[["window", 4, 2, 1, True], ["batch", 2, True], ["unbatch"]])
    yield range_of(10, steps=[["shard", 2, 0], ["repeat", 2], ["batch", 3, False], ["skip", 1]])


def tensors(element):
    parts = element if isinstance(element, tuple) else (element,)
    return [common.tensor(part) for part in parts]


def main():
    cases = [{"pipeline": pipeline,
              "elements": [tensors(element) for element in build(pipeline).as_numpy_iterator()]}
             for pipeline in pipelines()]
    common.write("datasets.json", common.keras_versions(), cases)


if __name__ == "__main__":
    main()
