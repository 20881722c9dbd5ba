"""half.py: PyTorch's side of `scripts/bench half`.

Invariant: its arguments are the number of threads and the folder of peer.py. For each line
`NAME TYPE N` the row NAME takes N steps in a type and answers the seconds of them all, or -1 if
PyTorch cannot; `-` frees the memory. Rows have the names and the sizes of half.lua.
"""
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, sys.argv[2])
os.environ.setdefault('DPT_BENCH_FOLDER', '/tmp')
import peer  # noqa: E402

TYPES = {'Float': torch.float, 'Half': torch.half, 'BFloat16': torch.bfloat16}
LARGE, SMALL = 2**25, 2**15


def random(kind, *shape):
    return torch.empty(*shape).uniform_(-1, 1).to(kind)


def pointwise(step, operands, n=LARGE, result=None):
    def start(kind):
        r = random(result or kind, n)
        others = [random(kind, n) for _ in range(operands - 1)]
        return lambda: step(r, *others)
    return start


def from_float(kind):
    r, a = random(kind, LARGE), random(torch.float, LARGE)
    return lambda: r.copy_(a)


def reduction(step):
    def start(kind):
        a, r = random(kind, LARGE // 4096, 4096), torch.empty(0, dtype=kind)
        return lambda: step(r, a)
    return start


def product(*shape):
    def start(kind):
        a, b = random(kind, shape[0], shape[1]), random(kind, *shape[1:])
        r = torch.matmul(a, b)
        return lambda: torch.matmul(a, b, out=r)
    return start


def layer(make, *shape, backward=False):
    def start(kind):
        net, x = make().to(kind), torch.randn(*shape).to(kind).requires_grad_(backward)

        def forward():
            with torch.no_grad():
                net(x)
        if not backward:
            return forward
        g = torch.ones_like(net(x)[0])

        def step():
            net.zero_grad()
            x.grad = None
            net(x)[0].backward(g)
        return step
    return start


def train(kind):
    net = nn.Sequential(nn.Linear(512, 512), nn.ReLU(True), nn.Linear(512, 512)).to(kind)
    x, y = torch.randn(128, 512).to(kind), torch.randint(512, (128,))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
    return step


class Mixed(nn.Module):
    """A network whose products and convolutions are computed in a type, by autocast."""
    def __init__(self, net, kind):
        super().__init__()
        self.net, self.kind = net, kind

    def forward(self, x):
        with torch.autocast('cpu', dtype=self.kind, enabled=self.kind != torch.float):
            return self.net(x).float()


def mixed(name):
    def start(kind):
        net, *rest = peer.NETWORKS[name]()
        return peer.step_of(Mixed(net, kind), *rest)
    return start


def add(r, a, b):
    torch.add(a, b, out=r)


ROWS = {
    'copy': pointwise(lambda r, a: r.copy_(a), 2),
    'add': pointwise(add, 3),
    'mul': pointwise(lambda r, a, b: torch.mul(a, b, out=r), 3),
    'add_number': pointwise(lambda r, a: torch.add(a, 2, out=r), 2),
    'threshold': pointwise(lambda r, a: torch.clamp_min(a, 0, out=r), 2),
    'to_float': pointwise(lambda r, a: r.copy_(a), 2, result=torch.float),
    'from_float': from_float,
    'add_small': pointwise(add, 3, SMALL),
    'sum': reduction(lambda r, a: a.sum()),
    'sum_rows': reduction(lambda r, a: torch.sum(a, 1, keepdim=True, out=r)),
    'sum_columns': reduction(lambda r, a: torch.sum(a, 0, keepdim=True, out=r)),
    'max': reduction(lambda r, a: a.max()),
    'norm': reduction(lambda r, a: a.norm()),
    'mm_512': product(512, 512, 512),
    'mm_2048': product(2048, 512, 512),
    'mv': product(LARGE // 4096, 4096),
    'conv': layer(lambda: nn.Conv2d(64, 64, 3, padding=1), 32, 64, 32, 32),
    'norm_batch': layer(lambda: nn.BatchNorm2d(64), 32, 64, 32, 32),
    'lstm': layer(lambda: nn.LSTM(256, 256), 32, 32, 256, backward=True),
    'train': train,
    'mixed_resnet': mixed('resnet'),
    'mixed_lstm': mixed('lstm'),
    'mixed_gpt': mixed('gpt'),
}


def main():
    torch.set_num_threads(int(sys.argv[1]))
    print(torch.__version__, flush=True)
    known = {}
    for line in sys.stdin:
        if line.strip() == '-':
            known = {}
            print(0, flush=True)
            continue
        name, kind, n = line.split()
        try:
            if (name, kind) not in known:
                known[name, kind] = ROWS[name](TYPES[kind])
            step = known[name, kind]
            begin = time.perf_counter()
            for _ in range(int(n)):
                step()
            print(time.perf_counter() - begin, flush=True)
        except RuntimeError as error:
            print(name, kind, str(error).split('\n')[0], file=sys.stderr)
            print(-1, flush=True)


if __name__ == '__main__':
    main()
