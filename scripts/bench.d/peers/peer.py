"""peer.py: PyTorch's side of `scripts/bench peers`.

Invariant: for each line `NAME THREADS N` the row NAME takes N steps on THREADS threads and answers
the seconds of them all; `-` in place of N ends the row and frees its memory. Its argument is its
own path, its folder for files is DPT_BENCH_FOLDER. Rows have the names and the sizes of
tensors.lua, layers.lua and networks.lua. Rows that end in _2w are two processes of one thread each,
DistributedDataParallel on gloo; the other follows rank 0.
"""
import gc
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

FILE = os.environ['DPT_BENCH_FOLDER'] + '/tensor.pt'
ROWS = {}


def row(f):
    ROWS[f.__name__] = f
    return f


# ---- tensors ----

N = 10_000_000


def gemm(n):
    a, b, r = torch.randn(n, n), torch.randn(n, n), torch.empty(n, n)
    return lambda: torch.mm(a, b, out=r)


for size in (512, 1024, 2048):
    ROWS[f'gemm_{size}'] = lambda size=size: gemm(size)


def layout(kind):
    """Operands of 10 million elements: contiguous, strided rows, every second, transposed."""
    def make():
        if kind == 'contiguous':
            t = torch.empty(N)
        elif kind == 'rows':
            t = torch.empty(2500, 8000)[:, :4000]
        elif kind == 'second':
            t = torch.empty(2 * N)[::2]
        else:
            t = torch.empty(4000, 2500).t()
        return t.uniform_(-4, 4)
    return make


for kind in ('contiguous', 'rows', 'second', 'transposed'):
    def unary(f, make=layout(kind), kind=kind):
        a = make()
        r = torch.empty(2500, 4000).fill_(0) if kind == 'transposed' else torch.zeros_like(a) \
            if kind == 'contiguous' else make()
        return lambda: f(a, out=r)

    def binary(f, make=layout(kind), kind=kind):
        a, b = make(), make()
        r = torch.zeros(2500, 4000) if kind == 'transposed' else make()
        return lambda: f(a, b, out=r)

    def copy(make=layout(kind), kind=kind):
        a = make()
        r = torch.zeros(2500, 4000) if kind == 'transposed' else make()
        return lambda: r.copy_(a)

    ROWS[f'tanh_{kind}'] = lambda unary=unary: unary(torch.tanh)
    ROWS[f'exp_{kind}'] = lambda unary=unary: unary(torch.exp)
    ROWS[f'add_{kind}'] = lambda binary=binary: binary(torch.add)
    ROWS[f'mul_{kind}'] = lambda binary=binary: binary(torch.mul)
    ROWS[f'copy_{kind}'] = copy


@row
def sum_all():
    a = torch.randn(2500, 4000)
    return lambda: a.sum()


@row
def sum_transposed():
    a = torch.randn(4000, 2500).t()
    return lambda: a.sum()


@row
def sum_rows():
    a, r = torch.randn(2500, 4000), torch.empty(2500, 1)
    return lambda: torch.sum(a, 1, keepdim=True, out=r)


@row
def sum_columns():
    a, r = torch.randn(2500, 4000), torch.empty(1, 4000)
    return lambda: torch.sum(a, 0, keepdim=True, out=r)


@row
def adamw():
    x = torch.randn(124_000_000, requires_grad=True)
    x.grad = torch.randn(124_000_000)
    return torch.optim.AdamW([x], lr=1e-3, fused=True).step


def small(f):
    a, b = torch.randn(16), torch.randn(16)
    return lambda: f(a, b)


def assign(a, b):
    a[5] = 2.0


ROWS['small_add_number'] = lambda: small(lambda a, b: a.add_(1.0))
ROWS['small_add_tensor'] = lambda: small(lambda a, b: a.add_(b))
ROWS['small_tanh'] = lambda: small(lambda a, b: a.tanh_())
ROWS['small_index'] = lambda: small(lambda a, b: a[5])
ROWS['small_assign'] = lambda: small(assign)


@row
def save():
    t = torch.randn(25 * 2**20)
    return lambda: torch.save(t, FILE)


@row
def load():
    torch.save(torch.randn(25 * 2**20), FILE)
    return lambda: torch.load(FILE)


# ---- layers ----

def layer(make, *size):
    m, x, g = make(), torch.randn(size, requires_grad=True), torch.randn(size)

    def step():
        x.grad = None
        m(x).backward(g)
    return step


for name, make, size in (
        ('norm', lambda: nn.LayerNorm(1024), (8192, 1024)),
        ('group_norm', lambda: nn.GroupNorm(32, 256), (32, 256, 32, 32)),
        ('gelu', nn.GELU, (8192, 1024)),
        ('gelu_tanh', lambda: nn.GELU(approximate='tanh'), (8192, 1024)),
        ('silu', nn.SiLU, (8192, 1024)),
        ('softmax', lambda: nn.Softmax(-1), (64, 128, 1024))):
    ROWS[f'layer_{name}'] = lambda make=make, size=size: layer(make, *size)


def attention(length, batch):
    q, k, v, g = (torch.randn(batch, 12, length, 64) for _ in range(4))
    for t in (q, k, v):
        t.requires_grad_()

    def step():
        q.grad = k.grad = v.grad = None
        F.scaled_dot_product_attention(q, k, v, is_causal=True).backward(g)
    return step


for length, batch in ((64, 16), (256, 4), (1024, 1), (4096, 1)):
    ROWS[f'layer_attention_{length}'] = lambda a=length, b=batch: attention(a, b)


@row
def layer_embedding():
    m, x = nn.Embedding(50000, 512), torch.randint(50000, (64, 128))
    g = torch.randn(64, 128, 512)
    return lambda: m(x).backward(g)


@row
def clip_norm():
    p, most = torch.empty(32_000_000, requires_grad=True), [5000.0]
    p.grad = torch.randn(32_000_000)

    def step():
        most[0] *= 0.999
        torch.nn.utils.clip_grad_norm_([p], most[0])
    return step


# ---- networks ----

def step_of(net, loss, x, y):
    parameters = list(net.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True) \
        if any(isinstance(m, Transformer) for m in net.modules()) else \
        torch.optim.SGD(parameters, lr=0.01, momentum=0.9)

    def step():
        optimizer.zero_grad()
        loss(net(x), y).backward()
        optimizer.step()
    return step


def classes(net, x, n):
    y = torch.randint(n, (x.shape[0],))
    return net, F.cross_entropy, x, y


def mlp_784(b=128):
    return classes(nn.Sequential(nn.Linear(784, 1024), nn.ReLU(True), nn.Linear(1024, 10)),
                   torch.randn(b, 784), 10)


def tiny(b=16):
    return classes(nn.Sequential(nn.Linear(16, 32), nn.ReLU(True), nn.Linear(32, 32),
                                 nn.ReLU(True), nn.Linear(32, 10)), torch.randn(b, 16), 10)


def mlp_1024(b=256):
    layers = []
    for _ in range(3):
        layers += [nn.Linear(1024, 1024), nn.ReLU(True)]
    return classes(nn.Sequential(*layers, nn.Linear(1024, 10)), torch.randn(b, 1024), 10)


def vgg(b=64):
    layers, before = [], 3
    for width in (32, 64, 128):
        for _ in range(2):
            layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU(True)]
            before = width
        layers += [nn.MaxPool2d(2)]
    layers += [nn.Flatten(), nn.Linear(2048, 256), nn.ReLU(True), nn.Linear(256, 10)]
    return classes(nn.Sequential(*layers), torch.randn(b, 3, 32, 32), 10)


class Block(nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, width, 3, stride, 1), nn.BatchNorm2d(width), nn.ReLU(True),
            nn.Conv2d(width, width, 3, 1, 1), nn.BatchNorm2d(width))
        self.short = nn.Identity() if stride == 1 and before == width else nn.Sequential(
            nn.Conv2d(before, width, 1, stride), nn.BatchNorm2d(width))

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x), True)


def resnet(b=64):
    layers = [nn.Conv2d(3, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.ReLU(True)]
    before = 16
    for width in (16, 32, 64):
        for i in range(3):
            layers += [Block(before, width, 2 if i == 0 and width > 16 else 1)]
            before = width
    layers += [nn.AvgPool2d(8), nn.Flatten(), nn.Linear(64, 10)]
    return classes(nn.Sequential(*layers), torch.randn(b, 3, 32, 32), 10)


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm = nn.Embedding(1000, 256), nn.LSTM(256, 256, 2, batch_first=True)
        self.out = nn.Linear(256, 1000)

    def forward(self, x):
        return self.out(self.lstm(self.embed(x))[0]).view(-1, 1000)


def lstm(b=32):
    return Language(), F.cross_entropy, torch.randint(1000, (b, 32)), torch.randint(1000, (b * 32,))


class Attend(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (t.unflatten(2, (self.heads, -1)).transpose(1, 2)
                   for t in self.project(x).chunk(3, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


class Transformer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attend = nn.Sequential(nn.LayerNorm(width), Attend(width, heads))
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width),
                                 nn.GELU(approximate='tanh'), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attend(x)
        return x + self.mlp(x)


class GPT(nn.Module):
    def __init__(self, vocabulary, positions, width, layers, heads):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), \
            nn.Embedding(positions, width)
        self.blocks = nn.Sequential(*(Transformer(width, heads) for _ in range(layers)),
                                    nn.LayerNorm(width))
        self.out = nn.Linear(width, vocabulary, bias=False)
        self.out.weight = self.tokens.weight

    def forward(self, x):
        y = self.tokens(x) + self.positions.weight[:x.shape[1]]
        return self.out(self.blocks(y)).flatten(0, 1)


def texts(net, vocabulary, b):
    y = torch.randint(vocabulary, (b * 256,))
    return net, F.cross_entropy, torch.randint(vocabulary, (b, 256)), y


def gpt(b=8):
    return texts(GPT(256, 256, 384, 6, 6), 256, b)


def gpt2(b=1):
    return texts(GPT(50257, 1024, 768, 12, 12), 50257, b)


NETWORKS = {'mlp_784': mlp_784, 'tiny': tiny, 'mlp_1024': mlp_1024, 'vgg': vgg, 'resnet': resnet,
            'lstm': lstm, 'gpt': gpt, 'gpt2': gpt2}

def compiled(make):
    net, *rest = make()
    return step_of(torch.compile(net), *rest)


for name, make in NETWORKS.items():
    ROWS[name] = lambda make=make: step_of(*make())
    ROWS[name + '_compiled'] = lambda make=make: compiled(make)


def convolution(backward):
    net = nn.Conv2d(64, 64, 3, padding=1)
    x, g = torch.randn(32, 64, 32, 32, requires_grad=backward), torch.randn(32, 64, 32, 32)
    if not backward:
        def forward():
            with torch.no_grad():
                net(x)
        return forward
    y = net(x)

    def step():
        net.zero_grad()
        x.grad = None
        y.backward(g, retain_graph=True)
    return step


ROWS['conv_forward'] = lambda: convolution(False)
ROWS['conv_backward'] = lambda: convolution(True)


# ---- two processes ----

def distributed(name, rank, address):
    import torch.distributed as dist
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=address, GLOO_SOCKET_IFNAME='lo')
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=2)
    make = NETWORKS[name]
    batch = make.__defaults__[0] // 2
    net, loss, x, y = make(batch)
    step = step_of(nn.parallel.DistributedDataParallel(net), loss, x, y)
    count = torch.zeros(1, dtype=torch.long)

    def steps(n):
        count.fill_(n)
        dist.broadcast(count, 0)
        for _ in range(int(count)):
            step()
        dist.barrier()
        return int(count)
    if rank == 0:
        return steps
    while steps(0):
        pass
    return None


def two(name):
    import socket
    import subprocess
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = str(s.getsockname()[1])
    other = subprocess.Popen([sys.executable, sys.argv[1], 'rank', name, port])
    steps = distributed(name, 0, port)

    def end():
        import torch.distributed as dist
        steps(0)
        dist.destroy_process_group()
        other.wait()
    return steps, end


def repeated(step):
    def steps(n):
        for _ in range(n):
            step()
    return steps


def main():
    print(torch.__version__, flush=True)
    known, end = {}, None
    for line in sys.stdin:
        name, threads, n = line.split()
        torch.set_num_threads(int(threads))
        if n == '-':
            if end:
                end()
            known, end = {}, None
            torch.compiler.reset()
            gc.collect()
            print(0, flush=True)
            continue
        if name not in known:
            torch.manual_seed(1)
            if name.endswith('_2w'):
                known[name], end = two(name[:-3])
            else:
                known[name] = repeated(ROWS[name]())
        begin = time.perf_counter()
        known[name](int(n))
        print(time.perf_counter() - begin, flush=True)


if __name__ == '__main__':
    if sys.argv[1:2] == ['rank']:
        distributed(sys.argv[2], 1, sys.argv[3])
    else:
        main()
