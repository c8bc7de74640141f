"""Records losses.json, metrics.json and regularizers.json from Keras."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np
import tensorflow as tf

from common import Draw, keras_versions, seed_of, tensor, write

LOSSES = []
METRICS = []


def loss(name, kind, config, y_true, y_pred, sample_weight=None):
    """Value with the default reduction, unreduced values, and the gradient at y_pred."""
    function = getattr(keras.losses, kind)(**config)
    unreduced = getattr(keras.losses, kind)(**config, reduction=None)
    true, pred = tf.constant(y_true), tf.constant(y_pred)
    weight = None if sample_weight is None else tf.constant(sample_weight)
    with tf.GradientTape() as tape:
        tape.watch(pred)
        value = function(true, pred, sample_weight=weight)
    gradient = tape.gradient(value, pred)
    per_sample = unreduced(true, pred, sample_weight=weight)
    assert np.isfinite(value.numpy()), name
    assert name not in {c["name"] for c in LOSSES}, name
    LOSSES.append({
        "name": name,
        "loss": kind,
        "config": config,
        "y_true": tensor(y_true),
        "y_pred": tensor(y_pred),
        "sample_weight": None if sample_weight is None else tensor(sample_weight),
        "value": tensor(value)["data"][0],
        "per_sample": tensor(per_sample),
        "gradient": tensor(gradient),
    })


def losses():
    for shape, tag in (((4,), "2d"), ((2, 3), "3d")):
        draw = Draw(seed_of("losses" + tag))
        classes = 5
        weight = draw.uniform(0, 2, *shape)
        weight.reshape(-1)[1] = 0
        index = draw.integers(0, classes, *shape)
        one_hot = np.eye(classes, dtype=np.float32)[index]
        soft = draw.probabilities(*shape, classes)
        logits = draw.normal(*shape, classes, scale=2)
        probabilities = draw.probabilities(*shape, classes)
        binary = draw.integers(0, 2, *shape, classes).astype(np.float32)
        p01 = draw.uniform(0.05, 0.95, *shape, classes)
        for weights, wtag in ((None, ""), (weight, "_weighted")):
            t = tag + wtag
            loss(f"sparse_categorical_logits_{t}", "SparseCategoricalCrossentropy", {"from_logits": True},
                 index, logits, weights)
            loss(f"sparse_categorical_{t}", "SparseCategoricalCrossentropy", {}, index, probabilities, weights)
            loss(f"categorical_logits_{t}", "CategoricalCrossentropy", {"from_logits": True}, one_hot, logits,
                 weights)
            loss(f"categorical_logits_smoothed_{t}", "CategoricalCrossentropy",
                 {"from_logits": True, "label_smoothing": 0.1}, one_hot, logits, weights)
            loss(f"categorical_{t}", "CategoricalCrossentropy", {}, soft, probabilities, weights)
            loss(f"categorical_smoothed_{t}", "CategoricalCrossentropy", {"label_smoothing": 0.2}, one_hot,
                 probabilities, weights)
            loss(f"binary_logits_{t}", "BinaryCrossentropy", {"from_logits": True}, binary, logits, weights)
            loss(f"binary_logits_smoothed_{t}", "BinaryCrossentropy",
                 {"from_logits": True, "label_smoothing": 0.1}, binary, logits, weights)
            loss(f"binary_{t}", "BinaryCrossentropy", {}, binary, p01, weights)
            loss(f"binary_smoothed_{t}", "BinaryCrossentropy", {"label_smoothing": 0.1}, binary, p01, weights)
            loss(f"categorical_focal_{t}", "CategoricalFocalCrossentropy", {}, one_hot, probabilities, weights)
            loss(f"categorical_focal_logits_{t}", "CategoricalFocalCrossentropy",
                 {"from_logits": True, "alpha": 0.5, "gamma": 1.5, "label_smoothing": 0.1}, one_hot, logits,
                 weights)
            loss(f"binary_focal_{t}", "BinaryFocalCrossentropy", {}, binary, p01, weights)
            loss(f"binary_focal_logits_{t}", "BinaryFocalCrossentropy",
                 {"from_logits": True, "gamma": 3.0, "apply_class_balancing": True, "alpha": 0.3}, binary,
                 logits, weights)
            target = draw.normal(*shape, 4)
            guess = draw.normal(*shape, 4)
            positive = draw.uniform(0.2, 3, *shape, 4)
            positive_guess = draw.uniform(0.2, 3, *shape, 4)
            loss(f"mean_squared_error_{t}", "MeanSquaredError", {}, target, guess, weights)
            loss(f"mean_absolute_error_{t}", "MeanAbsoluteError", {}, target, guess, weights)
            loss(f"mean_absolute_percentage_error_{t}", "MeanAbsolutePercentageError", {}, positive,
                 positive_guess, weights)
            loss(f"mean_squared_logarithmic_error_{t}", "MeanSquaredLogarithmicError", {}, positive,
                 positive_guess, weights)
            loss(f"huber_{t}", "Huber", {}, target, guess, weights)
            loss(f"huber_delta_{t}", "Huber", {"delta": 0.5}, target, guess, weights)
            loss(f"kl_divergence_{t}", "KLDivergence", {}, draw.probabilities(*shape, 4),
                 draw.probabilities(*shape, 4), weights)
            loss(f"cosine_similarity_{t}", "CosineSimilarity", {}, target, guess, weights)
            signs = np.where(draw.normal(*shape, 4) > 0, 1, -1).astype(np.float32)
            loss(f"hinge_{t}", "Hinge", {}, signs, guess, weights)
            loss(f"hinge_zero_one_{t}", "Hinge", {}, (signs + 1) / 2, guess, weights)
            loss(f"squared_hinge_{t}", "SquaredHinge", {}, signs, guess, weights)
            loss(f"categorical_hinge_{t}", "CategoricalHinge", {}, one_hot, logits, weights)
            loss(f"log_cosh_{t}", "LogCosh", {}, target, guess, weights)
            loss(f"poisson_{t}", "Poisson", {}, positive, positive_guess, weights)
    draw = Draw(77)
    index = np.array([[0, 2, -1], [-1, 1, 3]], np.int32)
    loss("sparse_categorical_ignore_class", "SparseCategoricalCrossentropy",
         {"from_logits": True, "ignore_class": -1}, index, draw.normal(2, 3, 4))
    loss("cosine_similarity_axis1", "CosineSimilarity", {"axis": 1}, draw.normal(2, 3, 4), draw.normal(2, 3, 4))
    loss("sparse_categorical_column", "SparseCategoricalCrossentropy", {"from_logits": True},
         draw.integers(0, 4, 3, 1), draw.normal(3, 4))
    loss("sparse_categorical_large_logits", "SparseCategoricalCrossentropy", {"from_logits": True},
         np.array([0, 1, 2], np.int32), np.array([[100, 0, -100], [-200, 0, 90], [80, 81, 79]], np.float32))
    loss("binary_large_logits", "BinaryCrossentropy", {"from_logits": True},
         np.array([[0, 1, 0, 1]], np.float32), np.array([[-90, -90, 90, 90]], np.float32))


def metric(name, kind, config, batches):
    """batches: (y_true or None, y_pred, sample_weight or None); result after each batch."""
    if kind == "Perplexity":
        keras_metric = keras.metrics.SparseCategoricalCrossentropy(**config)
    else:
        keras_metric = getattr(keras.metrics, kind)(**config)
    results = []
    for y_true, y_pred, weight in batches:
        if y_true is None:
            keras_metric.update_state(y_pred, sample_weight=weight)
        else:
            keras_metric.update_state(y_true, y_pred, sample_weight=weight)
        result = np.asarray(keras_metric.result(), dtype=np.float32)
        results.append(np.exp(result) if kind == "Perplexity" else result)
    assert name not in {c["name"] for c in METRICS}, name
    METRICS.append({
        "name": name,
        "metric": kind,
        "config": config,
        "batches": [
            {
                "y_true": None if t is None else tensor(t),
                "y_pred": tensor(p),
                "sample_weight": None if w is None else tensor(w),
            }
            for t, p, w in batches
        ],
        "results": [tensor(r)["data"][0] if r.ndim == 0 else tensor(r)["data"] for r in results],
        "result": tensor(results[-1])["data"][0] if results[-1].ndim == 0 else tensor(results[-1])["data"],
    })


def metrics():
    draw = Draw(41)
    classes = 6
    for weighted in (False, True):
        t = "_weighted" if weighted else ""

        def weights(*shape):
            if not weighted:
                return None
            w = draw.uniform(0, 2, *shape)
            w.reshape(-1)[0] = 0
            return w

        def three(make):
            return [(*make(n), weights(n)) for n in (4, 4, 2)]

        def sparse(n):
            return draw.integers(0, classes, n), draw.distinct(n, classes)

        def one_hot(n):
            return np.eye(classes, dtype=np.float32)[draw.integers(0, classes, n)], draw.distinct(n, classes)

        def binary(n):
            return draw.integers(0, 2, n).astype(np.float32), draw.uniform(0, 1, n)

        def binary_2d(n):
            return draw.integers(0, 2, n, 3).astype(np.float32), draw.uniform(0, 1, n, 3)

        metric(f"sparse_categorical_accuracy{t}", "SparseCategoricalAccuracy", {}, three(sparse))
        metric(f"categorical_accuracy{t}", "CategoricalAccuracy", {}, three(one_hot))
        metric(f"binary_accuracy{t}", "BinaryAccuracy", {}, three(binary_2d))
        metric(f"binary_accuracy_threshold{t}", "BinaryAccuracy", {"threshold": 0.3}, three(binary_2d))
        metric(f"accuracy{t}", "Accuracy", {}, three(lambda n: (draw.integers(0, 3, n), draw.integers(0, 3, n))))
        for k in (1, 2, 5):
            metric(f"sparse_top_{k}{t}", "SparseTopKCategoricalAccuracy", {"k": k}, three(sparse))
            metric(f"top_{k}{t}", "TopKCategoricalAccuracy", {"k": k}, three(one_hot))
        many = [(*binary(12), weights(12)) for _ in range(2)]
        metric(f"auc{t}", "AUC", {}, many)
        metric(f"auc_pr{t}", "AUC", {"curve": "PR"}, many)
        metric(f"auc_10_thresholds{t}", "AUC", {"num_thresholds": 10}, many)
        metric(f"auc_minoring{t}", "AUC", {"num_thresholds": 20, "summation_method": "minoring"}, many)
        metric(f"auc_majoring{t}", "AUC", {"num_thresholds": 20, "summation_method": "majoring"}, many)
        metric(f"auc_logits{t}", "AUC", {"from_logits": True, "num_thresholds": 50},
               [(draw.integers(0, 2, 10).astype(np.float32), draw.normal(10, scale=2), weights(10))])
        for kind in ("Precision", "Recall"):
            k = kind.lower()
            metric(f"{k}{t}", kind, {}, three(binary_2d))
            metric(f"{k}_threshold{t}", kind, {"thresholds": 0.3}, three(binary_2d))
            metric(f"{k}_thresholds{t}", kind, {"thresholds": [0.2, 0.5, 0.8]}, three(binary_2d))
            metric(f"{k}_top_k{t}", kind, {"top_k": 2}, three(binary_2d))
            metric(f"{k}_class_id{t}", kind, {"class_id": 1}, three(binary_2d))
            metric(f"{k}_top_k_class_id{t}", kind, {"top_k": 2, "class_id": 2}, three(binary_2d))
        metric(f"mean{t}", "Mean", {}, [(None, draw.normal(n), weights(n)) for n in (4, 4, 2)])

        def regression(n):
            return draw.normal(n, 3), draw.normal(n, 3)

        def positive(n):
            return draw.uniform(0.2, 3, n, 3), draw.uniform(0.2, 3, n, 3)

        for kind in ("MeanSquaredError", "MeanAbsoluteError", "RootMeanSquaredError", "LogCoshError",
                     "CosineSimilarity"):
            metric(f"{kind}{t}", kind, {}, three(regression))
        for kind in ("MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "Poisson"):
            metric(f"{kind}{t}", kind, {}, three(positive))
        metric(f"KLDivergence{t}", "KLDivergence", {},
               three(lambda n: (draw.probabilities(n, 4), draw.probabilities(n, 4))))

        def logits(n):
            return draw.integers(0, classes, n), draw.normal(n, classes)

        metric(f"sparse_categorical_crossentropy{t}", "SparseCategoricalCrossentropy", {"from_logits": True},
               three(logits))
        metric(f"sparse_categorical_crossentropy_probabilities{t}", "SparseCategoricalCrossentropy", {},
               three(lambda n: (draw.integers(0, classes, n), draw.probabilities(n, classes))))
        metric(f"categorical_crossentropy{t}", "CategoricalCrossentropy",
               {"from_logits": True, "label_smoothing": 0.1},
               three(lambda n: (np.eye(classes, dtype=np.float32)[draw.integers(0, classes, n)],
                                draw.normal(n, classes))))
        metric(f"binary_crossentropy{t}", "BinaryCrossentropy", {}, three(binary_2d))
        metric(f"binary_crossentropy_logits{t}", "BinaryCrossentropy", {"from_logits": True},
               three(lambda n: (draw.integers(0, 2, n, 3).astype(np.float32), draw.normal(n, 3))))
        metric(f"perplexity{t}", "Perplexity", {"from_logits": True}, three(logits))

        def sequence(n):
            return draw.integers(0, classes, n, 3), draw.distinct(n, 3, classes)

        metric(f"perplexity_sequence{t}", "Perplexity", {"from_logits": True},
               [(*sequence(n), weights(n, 3)) for n in (3, 2)])
        metric(f"sparse_categorical_accuracy_sequence{t}", "SparseCategoricalAccuracy", {},
               [(*sequence(n), weights(n, 3)) for n in (3, 2)])
    # Ties and edges.
    metric("precision_empty", "Precision", {}, [(np.zeros(4, np.float32), np.zeros(4, np.float32), None)])
    metric("recall_empty", "Recall", {}, [(np.zeros(4, np.float32), np.ones(4, np.float32), None)])
    metric("auc_perfect", "AUC", {},
           [(np.array([0, 0, 1, 1], np.float32), np.array([0.1, 0.2, 0.8, 0.9], np.float32), None)])
    metric("sparse_accuracy_tie_first_wins", "SparseCategoricalAccuracy", {},
           [(np.array([0, 1, 2], np.int32), np.ones((3, 3), np.float32), None)])


def regularizers():
    """Penalty on a kernel, and its gradient."""
    cases = []
    for name, kind, config in (
        ("l1", "L1", {}), ("l1_strength", "L1", {"l1": 0.3}), ("l2", "L2", {}), ("l2_strength", "L2", {"l2": 0.2}),
        ("l1l2", "L1L2", {"l1": 0.1, "l2": 0.4}), ("l1l2_default", "L1L2", {}),
        ("orthogonal_rows", "OrthogonalRegularizer", {"factor": 0.5, "mode": "rows"}),
    ):
        kernel = Draw(seed_of(name)).normal(3, 4)
        variable = tf.constant(kernel)
        with tf.GradientTape() as tape:
            tape.watch(variable)
            value = tf.convert_to_tensor(getattr(keras.regularizers, kind)(**config)(variable))
        gradient = tape.gradient(value, variable, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        cases.append({"name": name, "regularizer": kind, "config": config, "input": tensor(kernel),
                      "value": tensor(value)["data"][0], "gradient": tensor(gradient)})
    return cases


def main():
    losses()
    write("losses.json", keras_versions(), LOSSES)
    metrics()
    write("metrics.json", keras_versions(), METRICS)
    write("regularizers.json", keras_versions(), regularizers())


if __name__ == "__main__":
    main()
