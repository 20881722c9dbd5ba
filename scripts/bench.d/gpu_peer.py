"""gpu_peer: what PyTorch takes for what gpu.lua measures; a line "name<tab>seconds" each.

Invariant: the same sizes, the same arithmetic (no TF32), and rounds that are counted the
same way as in gpu.lua.
"""
import subprocess
import sys
import time

try:
    import torch
    from torch import nn
except ImportError:
    print("PyTorch is not installed: no ratios")
    sys.exit(0)
if not torch.cuda.is_available():
    print("PyTorch %s finds no GPU: no ratios" % torch.__version__)
    sys.exit(0)

small = "--small" in sys.argv
n, gemm, batch, plane, steps, hidden, length, images = (
    (10000, 64, 4, 8, 3, 8, 4, 4) if small else (100000000, 4096, 64, 56, 200, 512, 64, 256))
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True
print("PyTorch %s, CUDA %s, cuDNN %s" % (
    torch.__version__, torch.version.cuda, torch.backends.cudnn.version()))


def seconds(f, count):
    for _ in range(3):
        f()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(count):
            f()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - begin) / count)
    return best


def tell(name, value):
    print("%s\t%.9f" % (name, value), flush=True)


def uniform(*shape):
    return torch.rand(*shape, device="cuda") * 2 - 1


def trainer(net, x, y):
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
    criterion = nn.NLLLoss()

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
    return step


def graph(step):
    """The step captured as torch.cuda.CUDAGraph's documentation tells."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        step()
    return captured.replay


def mlp():
    layers = []
    for _ in range(6):
        layers += [nn.Linear(64, 64), nn.ReLU(True)]
    return nn.Sequential(*layers, nn.Linear(64, 10), nn.LogSoftmax(1)).cuda()


def convnet():
    layers, before = [], 3
    for planes in (64, 128, 256):
        for _ in range(2):
            layers += [nn.Conv2d(before, planes, 3, padding=1), nn.BatchNorm2d(planes),
                       nn.ReLU(True)]
            before = planes
        layers.append(nn.MaxPool2d(2, 2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(256 * 4 * 4, 10), nn.LogSoftmax(1)).cuda()


def bandwidth():
    a, b, r = uniform(n), uniform(n), uniform(n)
    few = 2 if small else 20
    tell("copy", seconds(lambda: r.copy_(a), few))
    tell("add", seconds(lambda: torch.add(a, b, alpha=2, out=r), few))
    tell("mul", seconds(lambda: torch.mul(a, 2, out=r), few))
    tell("exp", seconds(lambda: torch.exp(a, out=r), few))
    tell("sum", seconds(lambda: a.view(1, -1).sum(1), few))


def products():
    a, b, r = uniform(gemm, gemm), uniform(gemm, gemm), uniform(gemm, gemm)
    tell("gemm", seconds(lambda: torch.mm(a, b, out=r), 2 if small else 10))
    h, k, s = a.half(), b.half(), r.half()
    tell("gemm half", seconds(lambda: torch.mm(h, k, out=s), 2 if small else 20))
    few = 2 if small else 20

    def both(layer, x):
        x.requires_grad_()
        y = layer(x)
        gradient = torch.ones_like(y[0] if isinstance(y, tuple) else y)

        def run():
            y = layer(x)
            (y[0] if isinstance(y, tuple) else y).backward(gradient)
        return seconds(run, few)
    tell("convolution", both(nn.Conv2d(64, 64, 3, padding=1).cuda(),
                             uniform(batch, 64, plane, plane)))
    tell("lstm", both(nn.LSTM(hidden, hidden).cuda(), uniform(length, batch, hidden)))


def training():
    x, y = uniform(32, 64), torch.randint(0, 10, (32,), device="cuda")
    tell("MLP step", seconds(trainer(mlp(), x, y), steps))
    tell("MLP step, graph", seconds(graph(trainer(mlp(), x, y)), steps))
    x, y = uniform(images, 3, 32, 32), torch.randint(0, 10, (images,), device="cuda")
    tell("convnet step", seconds(trainer(convnet(), x, y), 2 if small else 20))


def startup():
    begin = time.perf_counter()
    subprocess.check_call([sys.executable, "-c",
                           "import torch; torch.ones(1, device='cuda').sum().item()"])
    tell("start-up", time.perf_counter() - begin)


for part in (bandwidth, products, training, startup):
    part()
    torch.cuda.empty_cache()
