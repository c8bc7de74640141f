"""PyTorch's side of bench/data/run: protocol.py says what is asked.

    jpeg   DataLoader, workers as processes; torchvision's own decoder and its antialiased resize on bytes, which
           was faster here than Pillow; flip, then normalised as floats
    csv    DataLoader over ranges of the file; NumPy's text reader

PyTorch itself reads no TFRecord files.
"""

import math
import os
import sys

import numpy as np
import torch
import torchvision
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms.v2 import functional as F

import protocol

args = protocol.arguments()
WORKERS = os.cpu_count() if args.workers == "auto" else int(args.workers)
FILES = protocol.files(args.data, args.pipeline)
BATCH = protocol.BATCH[args.pipeline]
torch.set_num_threads(1)  # in the workers; several would fight over the same cores
SCALE = (1 / (255 * torch.tensor(protocol.DEVIATION))).reshape(3, 1, 1)
SHIFT = (torch.tensor(protocol.MEAN) / torch.tensor(protocol.DEVIATION)).reshape(3, 1, 1)


class Images(Dataset):
    def __init__(self):
        classes = sorted({os.path.dirname(path) for path in FILES})
        self.labels = [classes.index(os.path.dirname(path)) for path in FILES]

    def __len__(self):
        return len(FILES)

    def __getitem__(self, i):
        image = decode_jpeg(read_file(FILES[i]), mode=ImageReadMode.RGB)
        height, width = image.shape[1:]
        u = torch.rand(5).tolist()
        area = (0.08 + 0.92 * u[0]) * height * width
        ratio = math.exp(math.log(3 / 4) + u[1] * (math.log(4 / 3) - math.log(3 / 4)))
        h = min(max(round(math.sqrt(area / ratio)), 1), height)
        w = min(max(round(math.sqrt(area * ratio)), 1), width)
        y, x = int(u[2] * (height - h + 1)), int(u[3] * (width - w + 1))
        image = F.resized_crop(image, y, x, h, w, [224, 224], antialias=True)
        if u[4] < 0.5:
            image = image.flip(2)
        return image * SCALE - SHIFT, self.labels[i]


class Rows(IterableDataset):
    """Blocks of BATCH rows; worker k of n takes each n-th megabyte of the file."""

    def __init__(self, once=False):
        self.once = once

    def __iter__(self):
        worker = get_worker_info()
        index, count = (worker.id, worker.num_workers) if worker else (0, 1)
        while True:
            for path in FILES:
                yield from self.rows(path, index, count)
            if self.once:
                return

    def rows(self, path, index, count, piece=1 << 20):
        size, rest = os.path.getsize(path), None
        with open(path, "rb", buffering=0) as file:
            head = len(file.read(4096).split(b"\n", 1)[0]) + 1
            for begin in range(head + index * piece, size, count * piece):
                # A piece owns the rows that begin within it.
                file.seek(begin - 1)
                data = file.read(piece + 1 + 4096)
                first = data.index(b"\n") + 1
                last = data.find(b"\n", piece)
                text = data[first:last + 1 if last >= 0 else len(data)]
                # One call of NumPy's C reader for all numbers of the piece.
                block = np.fromstring(text.replace(b"\n", b","), dtype=np.float32, sep=",").reshape(-1, 32)
                if rest is not None and len(rest):
                    block = np.concatenate([rest, block])
                whole = len(block) // BATCH * BATCH
                for k in range(0, whole, BATCH):
                    yield torch.from_numpy(block[k:k + BATCH, 1:]), torch.from_numpy(block[k:k + BATCH, 0].astype(np.int32))
                rest = block[whole:]
        if rest is not None and len(rest):
            yield torch.from_numpy(rest[:, 1:]), torch.from_numpy(rest[:, 0].astype(np.int32))


def loader(once=False):
    if args.pipeline == "jpeg":
        return DataLoader(Images(), BATCH, num_workers=WORKERS, persistent_workers=WORKERS > 0 and not once)
    return DataLoader(Rows(once), None, num_workers=WORKERS)


def endless():
    batches = loader()
    while True:
        yield from batches


def check():
    seen, total, values, labels = 0, 0.0, 0, 0
    for x, y in loader(once=True):
        seen += len(x)
        total += float(x.to(torch.float64).sum())
        values += x.numel()
        labels += int(y.sum())
    return {"records": seen, "sum": labels, "mean": total / values}


if __name__ == "__main__":
    if args.pipeline not in ("jpeg", "csv"):
        sys.exit(f"PyTorch has no reader for the pipeline '{args.pipeline}'")
    batches = endless()
    protocol.serve(f"torch {torch.__version__}, torchvision {torchvision.__version__}", lambda: len(next(batches)[0]), check)
