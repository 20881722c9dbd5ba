"""training_peer: what a step of PyTorch's DistributedDataParallel on gloo takes for the networks of
training.lua: its version, then the median seconds of two processes, one line for each network.

Invariant: networks, batches, steps and rounds are those of training.lua.
"""
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn

import gloo

rank = gloo.rank()


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.linear = nn.LSTM(64, 128), nn.Linear(128, 10)

    def forward(self, x):
        return self.linear(self.lstm(x)[0][-1])


def vgg():
    layers = []
    for before, planes in ((3, 32), (32, 64), (64, 128)):
        layers += [nn.Conv2d(before, planes, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(2048, 256), nn.ReLU(),
                         nn.Linear(256, 10))


mlp = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
for network, data, count, steps in ((mlp, torch.rand(32, 20), 32, 100),
                                    (vgg(), torch.rand(16, 3, 32, 32), 16, 3),
                                    (Last(), torch.rand(20, 16, 64), 16, 3)):
    net = nn.parallel.DistributedDataParallel(network)
    sgd = torch.optim.SGD(net.parameters(), lr=0.01)
    target = torch.full((count,), 2)
    rounds = []
    for i in range(8):
        begin = time.perf_counter()
        for _ in range(steps):
            sgd.zero_grad()
            loss = nn.functional.cross_entropy(net(data), target)
            loss.backward()
            sgd.step()
            loss.item()
        if i:
            rounds.append((time.perf_counter() - begin) / steps)
    if rank == 0:
        print(statistics.median(rounds), flush=True)
dist.destroy_process_group()
