"""Training steps of the five workloads in PyTorch, eager or through torch.compile."""

import torch
import torch.nn.functional as F
from torch import nn

import workloads

args = workloads.arguments(("eager", "compile"))
torch.set_num_threads(args.threads)
torch.manual_seed(0)
inputs, labels = workloads.data(args.workload)


class Residual(nn.Module):
    def __init__(self, fan_in, filters, stride):
        super().__init__()
        self.first = nn.Conv2d(fan_in, filters, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(filters)
        self.second = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(filters)
        self.skip = nn.Identity()
        if stride > 1 or fan_in != filters:
            self.skip = nn.Sequential(nn.Conv2d(fan_in, filters, 1, stride, bias=False), nn.BatchNorm2d(filters))

    def forward(self, x):
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.skip(x) + self.second_norm(self.second(y)))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        parts = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
        width = 64
        for stage, filters in enumerate((64, 128, 256, 512)):
            for block in range(2):
                parts.append(Residual(width, filters, 2 if stage and not block else 1))
                width = filters
        self.body = nn.Sequential(*parts)
        self.head = nn.Linear(512, 10)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(256)
        self.qkv = nn.Linear(256, 768)
        self.out = nn.Linear(256, 256)
        self.norm_2 = nn.LayerNorm(256)
        self.wide = nn.Linear(256, 1024)
        self.narrow = nn.Linear(1024, 256)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, 4, 64).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(F.gelu(self.wide(self.norm_2(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(8192, 256)
        self.blocks = nn.Sequential(*[Block() for _ in range(4)])
        self.norm = nn.LayerNorm(256)
        self.head = nn.Linear(256, 8192)
        nn.init.uniform_(self.embedding.weight, -0.05, 0.05)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.embedding(tokens))))


class Dlrm(nn.Module):
    def __init__(self):
        super().__init__()
        # Sparse gradients: only the touched rows are updated, PyTorch's best switch here.
        self.tables = nn.ModuleList([nn.Embedding(100000, 32, sparse=True) for _ in range(8)])
        self.bottom = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(32 + 81, 256), nn.ReLU(), nn.Linear(256, 2))
        for table in self.tables:
            nn.init.uniform_(table.weight, -0.05, 0.05)

    def forward(self, dense, ids):
        bottom = self.bottom(dense)
        rows = [table(ids[:, i]) for i, table in enumerate(self.tables)]
        stacked = torch.stack(rows + [bottom], 1)
        pairs = torch.bmm(stacked, stacked.transpose(1, 2)).flatten(1)
        return self.top(torch.cat([bottom, pairs], 1))


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def cnn():
    return nn.Sequential(nn.Conv2d(1, 32, 3, 1, 1), nn.ReLU(), nn.Conv2d(32, 64, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(64 * 14 * 14, 128), nn.ReLU(), nn.Linear(128, 10))


model = {"mlp": mlp, "cnn": cnn, "rn": ResNet18, "tr": Transformer, "dl": Dlrm}[args.workload]()
x = [torch.from_numpy(v) for v in inputs]
y = torch.from_numpy(labels).long().reshape(-1)
if args.workload in ("cnn", "rn"):
    model = model.to(memory_format=torch.channels_last)
    x = [x[0].permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)]
if args.workload == "rn":
    optimizer = torch.optim.SGD(model.parameters(), 1e-2, momentum=0.9, fused=True)
elif args.workload == "dl":
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
else:
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, fused=True)
forward = torch.compile(model) if args.mode == "compile" else model


def train():
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", torch.bfloat16, enabled=args.precision == "mixed_bfloat16"):
        out = forward(*x)
    out = out.float()
    loss = F.cross_entropy(out.reshape(-1, out.shape[-1]), y)
    loss.backward()
    optimizer.step()
    return loss.item()


workloads.serve(args, "torch", f"torch {torch.__version__}", train)
