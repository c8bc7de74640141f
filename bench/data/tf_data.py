"""tf.data's side of bench/data/run: protocol.py says what is asked.

Each pipeline is written as TensorFlow's own performance guide has it: parallel reads, vectorised parsing (batch
before map), fused decode and crop, the fast inverse DCT, AUTOTUNE or a fixed parallelism (--workers), prefetch
at the end. Nothing is shuffled, which favours tf.data: its shuffle copies through a buffer.
"""

import math
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402

import protocol  # noqa: E402

args = protocol.arguments()
AUTO = tf.data.AUTOTUNE
WORKERS = AUTO if args.workers == "auto" else int(args.workers)
FILES = protocol.files(args.data, args.pipeline)
BATCH = protocol.BATCH[args.pipeline]


def records():
    return tf.data.TFRecordDataset(FILES, buffer_size=8 << 20, num_parallel_reads=WORKERS)


def parse_image(batch):
    fields = tf.io.parse_example(batch, {"image": tf.io.FixedLenFeature([], tf.string),
                                         "label": tf.io.FixedLenFeature([], tf.int64)})
    image = tf.reshape(tf.io.decode_raw(fields["image"], tf.uint8), (-1, 64, 64, 3))
    return tf.cast(image, tf.float32) / 255.0, tf.cast(fields["label"], tf.int32)


def parse_float(batch):
    fields = tf.io.parse_example(batch, {"x": tf.io.FixedLenFeature([256], tf.float32),
                                         "label": tf.io.FixedLenFeature([], tf.int64)})
    return fields["x"], tf.cast(fields["label"], tf.int32)


def decode_jpeg(path, label):
    data = tf.io.read_file(path)
    shape = tf.io.extract_jpeg_shape(data)
    height, width = tf.cast(shape[0], tf.float32), tf.cast(shape[1], tf.float32)
    area = tf.random.uniform([], 0.08, 1.0) * height * width
    ratio = tf.exp(tf.random.uniform([], math.log(3 / 4), math.log(4 / 3)))
    h = tf.cast(tf.clip_by_value(tf.round(tf.sqrt(area / ratio)), 1, height), tf.int32)
    w = tf.cast(tf.clip_by_value(tf.round(tf.sqrt(area * ratio)), 1, width), tf.int32)
    y = tf.random.uniform([], 0, shape[0] - h + 1, tf.int32)
    x = tf.random.uniform([], 0, shape[1] - w + 1, tf.int32)
    image = tf.image.decode_and_crop_jpeg(data, tf.stack([y, x, h, w]), channels=3, dct_method="INTEGER_FAST")
    image = tf.image.resize(image, (224, 224))  # bilinear, no antialiasing: the cheapest it has
    image = tf.image.random_flip_left_right(image)
    scale = 1 / 255.0
    mean, deviation = tf.constant(protocol.MEAN), tf.constant(protocol.DEVIATION)
    return image * (scale / deviation) - mean / deviation, label


def parse_csv(lines):
    columns = tf.io.decode_csv(lines, [tf.constant([0], tf.int32)] + [tf.constant([0.0])] * 31)
    return tf.stack(columns[1:], 1), columns[0]


def dataset():
    name = args.pipeline
    if name == "tfrecord":
        return records().repeat().batch(BATCH)
    if name in ("image", "float"):
        return records().repeat().batch(BATCH).map(parse_image if name == "image" else parse_float,
                                                   num_parallel_calls=WORKERS)
    if name == "csv":
        # decode_csv over batches of lines was faster here than CsvDataset, which goes row by row on one thread.
        return tf.data.TextLineDataset(FILES, buffer_size=8 << 20).skip(1).repeat().batch(BATCH).map(
            parse_csv, num_parallel_calls=WORKERS)
    classes = sorted({os.path.dirname(path) for path in FILES})
    labels = [classes.index(os.path.dirname(path)) for path in FILES]
    return tf.data.Dataset.from_tensor_slices((FILES, labels)).repeat().map(
        decode_jpeg, num_parallel_calls=WORKERS).batch(BATCH)


def with_options(ds, deterministic):
    options = tf.data.Options()
    options.deterministic = deterministic
    return ds.prefetch(AUTO).with_options(options)


batches = iter(with_options(dataset(), False))


def pull():
    batch = next(batches)
    return int((batch[0] if isinstance(batch, tuple) else batch).shape[0])


def check():
    left = {"tfrecord": None}.get(args.pipeline, 0)
    count = epoch_records()
    total, values, labels, seen = 0.0, 0, 0, 0
    for batch in with_options(dataset(), True):
        x, y = batch if isinstance(batch, tuple) else (batch, None)
        x, y = x[:count - seen], None if y is None else y[:count - seen]
        seen += int(x.shape[0])
        if left is None:
            total += float(tf.reduce_sum(tf.strings.length(x)))
            values += int(x.shape[0])
        else:
            total += float(tf.reduce_sum(tf.cast(x, tf.float64)))
            values += int(tf.size(x))
            labels += int(tf.reduce_sum(y))
        if seen == count:
            break
    return {"records": seen, "sum": labels, "mean": total / values}


def epoch_records():
    if args.pipeline == "jpeg":
        return len(FILES)
    if args.pipeline == "csv":
        return sum(1 for path in FILES for _ in open(path, "rb")) - len(FILES)
    return sum(1 for _ in tf.data.TFRecordDataset(FILES).batch(1).unbatch())


protocol.serve(f"tensorflow {tf.__version__}", pull, check)
