"""distributed_peer: what gloo of PyTorch takes for the sizes of distributed.lua: its version, then
the median seconds of an all_reduce of two processes, one line for each size.

Invariant: sizes and rounds are those of distributed.lua.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist

if len(sys.argv) == 1:
    with tempfile.TemporaryDirectory() as folder:
        ranks = [subprocess.Popen([sys.executable, __file__, str(rank), folder])
                 for rank in range(2)]
        sys.exit(max(rank.wait() for rank in ranks))
rank = int(sys.argv[1])
os.environ["GLOO_SOCKET_IFNAME"] = "lo"
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="file://" + sys.argv[2] + "/store", rank=rank,
                        world_size=2)
if rank == 0:
    print("PyTorch %s, gloo" % torch.__version__)
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
