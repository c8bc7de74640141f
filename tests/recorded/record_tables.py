"""Records tables.json: how Python's csv module and TensorFlow's CsvDataset read tricky CSV files."""

import csv
import io
import json
import os
import random
import tempfile

import tensorflow as tf

from common import FOLDER, tensor

PIECES = ["a", "bc", "7", " ", ",", ";", "\t", "|", '"', '""', "'", "\n", "\r\n", "\r", "é", "€", "😀", "#", "x,y", '"q"']


def split_cases():
    """What csv.writer writes in its dialects, and what csv.reader makes of it."""
    draw = random.Random(4180)
    cases = []
    for delimiter in ",;\t|":
        for quote in "\"'":
            for ends in ("\n", "\r\n", "\r"):
                for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
                    # The writer leaves line ends other than its own without quotes.
                    pieces = [
                        piece
                        for piece in PIECES
                        if quoting == csv.QUOTE_ALL or set(piece) & set("\r\n") <= set(ends)
                    ]
                    rows = [
                        ["".join(draw.choices(pieces, k=draw.randrange(5))) for _ in range(3)]
                        for _ in range(5)
                    ]
                    out = io.StringIO(newline="")
                    writer = csv.writer(
                        out, delimiter=delimiter, quotechar=quote, lineterminator=ends, quoting=quoting
                    )
                    writer.writerows(rows)
                    text = out.getvalue()
                    if draw.random() < 0.5:
                        text = text[: -len(ends)]
                    reader = csv.reader(
                        io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote, strict=True
                    )
                    read = [row for row in reader if row]
                    assert read == rows
                    cases.append({"delimiter": delimiter, "quote": quote, "text": text, "rows": read})
    return cases


def number(draw):
    kind = draw.randrange(6)
    if kind == 0:
        return repr(draw.gauss(0, 1))
    if kind == 1:
        return "%.*f" % (draw.randrange(8), draw.gauss(0, 1000))
    if kind == 2:
        return "%.*e" % (draw.randrange(18), draw.gauss(0, 1) * 10.0 ** draw.randrange(-30, 30))
    if kind == 3:
        return str(draw.randrange(-(10**9), 10**9))
    if kind == 4:
        # Near the middle between two float32, where rounding twice goes wrong.
        base = draw.randrange(2**23, 2**24)
        return "%d.5%s1" % (base, "0" * draw.randrange(3, 12))
    return "%d.%de%d" % (draw.randrange(-9, 10), draw.randrange(10**6), draw.randrange(-20, 20))


def dataset_case(draw, quoted):
    lines = ["i,f,d,l,s"]
    for _ in range(40):
        cells = [
            str(draw.randrange(-(2**31), 2**31)),
            number(draw),
            number(draw),
            str(draw.randrange(-(2**63), 2**63)),
            "".join(draw.choices([p for p in PIECES if '"' not in p and "\r" not in p], k=3)),
        ]
        if draw.random() < 0.1:
            cells[draw.randrange(4)] = ""
        cells[4] = '"%s"' % cells[4] if any(c in cells[4] for c in ",\n") or quoted else cells[4]
        if quoted:
            cells[:4] = ['"%s"' % cell for cell in cells[:4]]
        lines.append(",".join(cells))
    text = "\n".join(lines) + "\n"
    defaults = [
        tf.constant([-5], tf.int32),
        tf.constant([0.25], tf.float32),
        tf.constant([0.125], tf.float64),
        tf.constant([-6], tf.int64),
        tf.constant([""], tf.string),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            file.write(text)
        rows = list(tf.data.experimental.CsvDataset(path, defaults, header=True))
    columns = [[row[c].numpy() for row in rows] for c in range(5)]
    return {
        "text": text,
        "i": tensor(columns[0]),
        "f": tensor(columns[1]),
        "d": tensor(columns[2]),
        # As text: JSON readers differ in how they take integers beyond 2^53.
        "l": [str(value) for value in columns[3]],
        "s": [value.decode() for value in columns[4]],
    }


def main():
    draw = random.Random(1)
    data = {
        "versions": {"tensorflow": tf.__version__},
        "splits": split_cases(),
        "datasets": [dataset_case(draw, quoted) for quoted in (False, True)],
    }
    with open(os.path.join(FOLDER, "tables.json"), "w", encoding="utf-8") as file:
        file.write('{"versions": %s,\n' % json.dumps(data["versions"]))
        for key in ("splits", "datasets"):
            cases = ",\n".join(json.dumps(case) for case in data[key])
            file.write('"%s": [\n%s\n]%s\n' % (key, cases, "," if key == "splits" else "}"))


main()
