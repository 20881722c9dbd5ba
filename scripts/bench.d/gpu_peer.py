"""gpu_peer: what PyTorch takes for what gpu.lua measures; a line "name<tab>seconds" each.

Invariant: the same sizes and arithmetic, and rounds counted the same way as in gpu.lua.
"""
import os
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

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/peers")
os.environ.setdefault("DPT_BENCH_FOLDER", "/tmp")
import peer  # noqa: E402

small = "--small" in sys.argv
n, gemm, batch, plane, steps, hidden, length, images = (
    (10000, 64, 4, 8, 3, 8, 4, 4) if small else (100000000, 4096, 64, 56, 200, 512, 64, 256))
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cudnn.benchmark = True
print("PyTorch %s, CUDA %s, cuDNN %s" % (
    torch.__version__, torch.version.cuda, torch.backends.cudnn.version()))


def set_tf32(allowed):
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


set_tf32(False)


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


class Bottleneck(nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()

        def conv(a, b, kernel, step):
            return [nn.Conv2d(a, b, kernel, step, kernel // 2, bias=False), nn.BatchNorm2d(b)]
        self.body = nn.Sequential(
            *conv(before, width, 1, 1), nn.ReLU(True), *conv(width, width, 3, stride),
            nn.ReLU(True), *conv(width, 4 * width, 1, 1))
        self.short = (nn.Identity() if before == 4 * width
                      else nn.Sequential(*conv(before, 4 * width, 1, stride)))

    def forward(self, x):
        return nn.functional.relu_(self.body(x).add_(self.short(x)))


def resnet(side):
    layers, before = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(True),
                      nn.MaxPool2d(3, 2, 1)], 64
    for stage, count in enumerate((3, 4, 6, 3)):
        for i in range(count):
            layers.append(Bottleneck(before, 64 << stage, 2 if i == 0 and stage else 1))
            before = 4 * (64 << stage)
    return nn.Sequential(*layers, nn.AvgPool2d(side // 32), nn.Flatten(), nn.Linear(2048, 10),
                         nn.LogSoftmax(1)).cuda()


class Language(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.words, self.lstm = nn.Embedding(words, width), nn.LSTM(width, width, 2)
        self.out = nn.Linear(width, words)

    def forward(self, x):
        y = self.lstm(self.words(x))[0]
        return nn.functional.log_softmax(self.out(y.flatten(0, 1)), 1)


def layer(module, x, gradient=True):
    """Forward and backward of a layer, gradients of parameters included."""
    module = module.cuda()
    x.requires_grad_(gradient)
    ones = None

    def run():
        nonlocal ones
        y = module(x)
        y = y[0] if isinstance(y, tuple) else y
        if ones is None:
            ones = torch.ones_like(y)
        y.backward(ones)
    return run


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
    tell("convolution", seconds(layer(
        nn.Conv2d(64, 64, 3, padding=1), uniform(batch, 64, plane, plane)), few))
    tell("lstm", seconds(layer(nn.LSTM(hidden, hidden), uniform(length, batch, hidden)), few))


class Autocast(nn.Module):
    """A network in mixed precision."""
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        with torch.autocast("cuda", torch.bfloat16):
            return self.net(x).float()


def precisions(name, make):
    """A step in float, with TF32, and in mixed precision; make(wrap) is a step of wrap(net)."""
    for suffix in ("", ", TF32", ", bfloat16"):
        set_tf32(suffix == ", TF32")
        step = make(Autocast if suffix == ", bfloat16" else lambda net: net)
        tell(name + suffix, seconds(step, 1 if small else 3))
        set_tf32(False)
        del step
        torch.cuda.empty_cache()


def gpt2(wrap):
    words, width, depth = (50, 8, 2) if small else (50257, 768, 12)
    net, loss, x, y = peer.texts(peer.GPT(words, 1024, width, depth, depth), words, 8)
    return peer.step_of(wrap(net.cuda()), loss, x.cuda(), y.cuda())


def training():
    x, y = uniform(32, 64), torch.randint(0, 10, (32,), device="cuda")
    tell("MLP step", seconds(trainer(mlp(), x, y), steps))
    tell("MLP step, graph", seconds(graph(trainer(mlp(), x, y)), steps))
    x, y = uniform(images, 3, 32, 32), torch.randint(0, 10, (images,), device="cuda")
    tell("convnet step", seconds(trainer(convnet(), x, y), 2 if small else 20))
    few, (count, side) = (1, (1, 64)) if small else (3, (64, 224))
    x, y = uniform(count, 3, side, side), torch.randint(0, 10, (count,), device="cuda")
    precisions("ResNet-50 step", lambda wrap: trainer(wrap(resnet(side)), x, y))
    precisions("GPT-2 step", gpt2)
    words, width, steps_, rows = (20, 8, 3, 2) if small else (10000, 650, 35, 20)
    x = torch.randint(0, words, (steps_, rows), device="cuda")
    tell("language model step", seconds(
        trainer(Language(words, width).cuda(), x, torch.randint(0, words, (steps_ * rows,),
                                                         device="cuda")), 3 * few))


def startup():
    begin = time.perf_counter()
    subprocess.check_call([sys.executable, "-c",
                           "import torch; torch.ones(1, device='cuda').sum().item()"])
    tell("start-up", time.perf_counter() - begin)


def operations():
    """What gpu_operations.lua does, under its names."""
    k = 1000 if small else 1

    def size(m):
        return max(1, m // k)

    def row(name, make):
        made = make()
        f, count = made if isinstance(made, tuple) else (made, 20)
        tell(name, seconds(f, 2 if small else count))
        torch.cuda.empty_cache()

    side, wide = size(8192), size(10000)
    square = lambda: uniform(side, side)

    def fresh(module, x):
        """As layer, where the gradient of x is written, not added to."""
        run = layer(module, x)

        def f():
            x.grad = None
            run()
        return f

    def with_(f, *operands):
        return lambda: f(*operands)

    row("add 16 numbers", lambda: (with_(lambda a, b: a.add_(b), uniform(16), uniform(16)), 500))
    row("read a number", lambda: (with_(lambda a: a[2].item(), uniform(16)), 100))
    row("tanh", lambda: with_(lambda a, r: torch.tanh(a, out=r), square(), square()))
    row("copy transposed", lambda: with_(lambda a, r: r.copy_(a.t()), square(), square()))
    row("add rows of a wider", lambda: with_(
        lambda a, r: r.add_(a), uniform(side, 2 * side)[:, :side], square()))
    row("add a row to all", lambda: with_(lambda a, r: r.add_(a), uniform(side), square()))
    row("sum of rows", lambda: with_(lambda a: a.sum(1), square()))
    row("sum of columns", lambda: with_(lambda a: a.sum(0), square()))
    row("max of rows", lambda: with_(lambda a: a.max(1), square()))
    row("norm", lambda: with_(lambda a: a.norm().item(), square()))
    row("cumulated rows", lambda: with_(lambda a, r: torch.cumsum(a, 1, out=r), square(), square()))
    row("sort rows of 1000", lambda: with_(lambda a: a.sort(1), uniform(size(1000), 1000)))
    row("sort 1 M", lambda: with_(lambda a: a.sort(), uniform(size(1000000))))
    row("topk 10 of 10000", lambda: with_(lambda a: a.topk(10, 1), uniform(size(1000), 10000)))
    row("index rows", lambda: with_(
        lambda a, i, r: torch.index_select(a, 0, i, out=r), uniform(wide, 512),
        torch.randint(0, wide, (size(8192),), device="cuda"), uniform(size(8192), 512)))
    row("uniform", lambda: with_(lambda r: r.uniform_(), square()))
    row("normal", lambda: with_(lambda r: r.normal_(), square()))
    cube = lambda: uniform(64, 256, 256)
    row("bmm 64 x 256", lambda: with_(
        lambda a, b, r: torch.bmm(a, b, out=r), cube(), cube(), cube()))
    m = size(2048)
    row("product of doubles", lambda: with_(
        lambda a, b, r: torch.mm(a, b, out=r), *(uniform(m, m).double() for _ in range(3))))
    words = lambda: uniform(size(4096), 10000)
    row("softmax", lambda: fresh(nn.Softmax(1), words()))
    row("log-softmax", lambda: fresh(nn.LogSoftmax(1), words()))

    def cross():
        y = torch.randint(0, 10000, (size(4096),), device="cuda")
        x, loss = words().requires_grad_(), nn.CrossEntropyLoss()

        def run():
            x.grad = None
            loss(x, y).backward()
        return run
    row("cross entropy", cross)

    row("dropout", lambda: fresh(nn.Dropout(0.5), square()))
    row("relu", lambda: fresh(nn.ReLU(), square()))
    planes = lambda c, h, b=64: uniform(size(b), c, h, h)
    row("batch normalization", lambda: fresh(nn.BatchNorm2d(64), planes(64, 56)))
    row("batch normalization, rows", lambda: fresh(
        nn.BatchNorm1d(1024), uniform(max(2, size(8192)), 1024)))
    row("max pooling", lambda: fresh(nn.MaxPool2d(2), planes(64, 56)))
    row("average pooling 3x3", lambda: fresh(nn.AvgPool2d(3, 2, 1), planes(64, 56)))
    row("upsampling", lambda: fresh(nn.UpsamplingNearest2d(scale_factor=2), planes(64, 28)))
    row("linear 1024", lambda: fresh(nn.Linear(1024, 1024), uniform(size(4096), 1024)))
    row("convolution 1x1", lambda: fresh(nn.Conv2d(256, 64, 1), planes(256, 28)))
    row("convolution, depth-wise", lambda: fresh(
        nn.Conv2d(128, 128, 3, padding=1, groups=128), planes(128, 28)))
    row("full convolution", lambda: fresh(
        nn.ConvTranspose2d(64, 32, 4, 2, 1), planes(64, 28)))
    row("convolution of volumes", lambda: fresh(
        nn.Conv3d(16, 32, 3, padding=1), uniform(size(16), 16, 16, 28, 28)))
    row("lookup table", lambda: layer(
        nn.Embedding(wide, 512), torch.randint(0, wide, (size(8192),), device="cuda"), False))
    row("bidirectional GRU, 2 layers", lambda: fresh(
        nn.GRU(256, 256, 2, bidirectional=True), uniform(size(64), 64, 256)))

    def attention(length, dtype):
        """Forward and backward of causal attention: 8 sequences, 12 heads of 64."""
        q, k, v, gradient = (uniform(8, 12, size(length), 64).to(dtype) for _ in range(4))
        for x in (q, k, v):
            x.requires_grad_()

        def f():
            q.grad = k.grad = v.grad = None
            nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).backward(gradient)
        return f

    for m in (256, 1024, 4096):
        row("attention to %d" % m, lambda: attention(m, torch.float32))
        row("attention to %d, bfloat16" % m, lambda: attention(m, torch.bfloat16))

    def updates(make):
        x = uniform(size(25000000)).requires_grad_()
        x.grad = uniform(size(25000000))
        return make([x]).step
    row("sgd of 25 M", lambda: updates(
        lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9, fused=True)))
    row("adam of 25 M", lambda: updates(lambda p: torch.optim.Adam(p, lr=1e-3, fused=True)))
    host, device = torch.ones(size(25000000)), uniform(size(25000000))
    row("100 MB to the device", lambda: (lambda: device.copy_(host), 5))
    row("100 MB from the device", lambda: (lambda: host.copy_(device), 5))
    pinned = host.pin_memory()
    row("100 MB to the device, pinned", lambda: (
        lambda: device.copy_(pinned, non_blocking=True), 5))


for part in (bandwidth, products, operations, training, startup):
    part()
    torch.cuda.empty_cache()
