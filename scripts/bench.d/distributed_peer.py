"""distributed_peer: what gloo of PyTorch takes for the sizes of distributed.lua: its version, then
the median seconds of an all_reduce of two processes, one line for each size.

Invariant: sizes and rounds are those of distributed.lua.
"""
import statistics
import time

import torch
import torch.distributed as dist

import gloo

rank = gloo.rank()
for count, times in ((1024, 200), (2**18, 20), (2**22, 3), (2**24, 1)):
    t = torch.zeros(count)
    rounds = []
    for i in range(22):
        begin = time.perf_counter()
        for _ in range(times):
            dist.all_reduce(t)
        if i:
            rounds.append((time.perf_counter() - begin) / times)
    if rank == 0:
        print(statistics.median(rounds), flush=True)
dist.destroy_process_group()
