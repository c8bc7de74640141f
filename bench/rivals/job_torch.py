"""The whole job in PyTorch (job.py), images in memory as tensors, channels last, fused Adam."""

import job

args = job.arguments("compile")

import math
import sys
import time

import torch
from torch import nn

torch.set_num_threads(args.threads)
torch.manual_seed(0)
version = f"torch {torch.__version__}"


def tensors(name):
    images, labels = job.split(args, name)
    x = torch.from_numpy(images.copy()).permute(0, 3, 1, 2)
    return x.contiguous(memory_format=torch.channels_last), torch.from_numpy(labels.astype("int64"))


model = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                      nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 14 * 14, 128), nn.ReLU(), nn.Linear(128, 10))
model = model.to(memory_format=torch.channels_last)
x, y = tensors("train")
steps = job.EPOCHS * -(-len(x) // job.BATCH)
optimizer = torch.optim.Adam(model.parameters(), lr=job.RATE, fused=True)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda t: 0.5 * (1 + math.cos(math.pi * min(t / steps, 1))))
criterion = nn.CrossEntropyLoss()


def forward_and_loss(x, y):
    return criterion(model(x.float() / 255), y)


objective = torch.compile(forward_and_loss) if args.compile else forward_and_loss
first = None
for epoch in range(job.EPOCHS):
    order = torch.randperm(len(x))
    for begin in range(0, len(x), job.BATCH):
        rows = order[begin:begin + job.BATCH]
        loss = objective(x[rows], y[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        if first is None:
            loss.item()
            first = time.time()
            if args.first_step:
                job.tell(args, version, first)
                sys.exit(0)
model.eval()
x, y = tensors("t10k")
with torch.no_grad():
    right = sum((model(x[i:i + 1000].float() / 255).argmax(1) == y[i:i + 1000]).sum().item()
                for i in range(0, len(x), 1000))
job.tell(args, version, first, right / len(x))
