"""Records parquet.json: small Parquet files, by Arrow, and what is in them."""

import base64
import datetime
import decimal
import io
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from common import write

CASES = []


def case(name, table, **options):
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    columns = {}
    for column in table.column_names:
        values = table[column].to_pylist()
        if all(isinstance(v, (int, float, bool, str, list, type(None))) for v in values):
            columns[column] = values
    CASES.append({
        "name": name,
        "file": base64.b64encode(buffer.getvalue()).decode(),
        "columns": columns,
    })


def plain():
    return pa.table({
        "flag": pa.array([True, False, True, True, False]),
        "i8": pa.array([-128, 0, 1, 2, 127], pa.int8()),
        "u8": pa.array([0, 1, 2, 3, 255], pa.uint8()),
        "i16": pa.array([-32768, 0, 1, 2, 32767], pa.int16()),
        "u16": pa.array([0, 1, 2, 3, 65535], pa.uint16()),
        "i32": pa.array([-2147483648, 0, 1, 2, 2147483647], pa.int32()),
        "u32": pa.array([0, 1, 2, 3, 2147483647], pa.uint32()),
        "i64": pa.array([-5, 0, 1, 2, 2147483647], pa.int64()),
        "f16": pa.array(np.array([0.5, -1, 2, 65504, 0], np.float16)),
        "f32": pa.array([0.5, -1.25, 2, 3, 1e30], pa.float32()),
        "f64": pa.array([0.5, -1.25, 2, 3, 1e30], pa.float64()),
        "text": pa.array(["a", "", "日本", "dddd", "a"]),
    })


for compression in ("none", "snappy", "gzip", "zstd", "lz4", "brotli"):
    case(f"plain_{compression}", plain(), compression=compression)
case("without_dictionary", plain(), use_dictionary=False, compression="none")
case("version_2_pages", plain(), data_page_version="2.0")
case("row_groups", plain(), row_group_size=2)

nullable = pa.table({
    "x": pa.array([1.5, None, 2.5, None, None, 3.5], pa.float32()),
    "i": pa.array([1, None, 3, 4, None, None], pa.int64()),
    "text": pa.array([None, "b", None, "", "e", "f"]),
})
case("nulls", nullable)
case("nulls_in_row_groups", nullable, row_group_size=4)
lists = pa.table({
    "v": pa.array([[1, 2, 3], [], None, [4], [None, 5]], pa.list_(pa.int32())),
    "w": pa.array([["a", "bb"], [""], [], None, ["c"]], pa.list_(pa.string())),
    "e": pa.array([[0.5, 1], [2, 3], [4, 5], [6, 7], [8, 9]], pa.list_(pa.float32(), 2)),
})
case("lists", lists)
case("lists_in_row_groups", lists, row_group_size=2)
required = pa.schema([pa.field("a", pa.int32(), nullable=False),
                      pa.field("b", pa.list_(pa.field("element", pa.int32(), nullable=False)),
                               nullable=False)])
case("required", pa.table({"a": [1, 2, 3], "b": [[1], [], [2, 3]]}, schema=required))
case("others", pa.table({
    "a": pa.array([1, 2], pa.int32()),
    "price": pa.array([decimal.Decimal("1.25"), decimal.Decimal("2.50")]),
    "nested": pa.array([[[1], [2]], [[3]]], pa.list_(pa.list_(pa.int32()))),
    "when": pa.array([datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)],
                     pa.timestamp("us")),
    "point": pa.array([{"x": 1, "y": 2}, {"x": 3, "y": 4}]),
}))
rows = 1000
case("many_rows", pa.table({
    "i": pa.array([i * 7 % 101 if i % 5 else None for i in range(rows)], pa.int32()),
    "v": pa.array([list(range(i % 4)) for i in range(rows)], pa.list_(pa.int16())),
}), row_group_size=300, data_page_size=256)

write("parquet.json", {"pyarrow": pa.__version__,
                       "python": ".".join(str(v) for v in sys.version_info[:3])}, CASES)
