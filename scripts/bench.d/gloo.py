"""gloo.py: two processes of PyTorch on gloo, of one thread each, from one script.

Invariant: the script that calls rank() runs itself twice and waits; each of the two goes on,
joined.
"""
import os
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist


def rank():
    """The rank, 0 or 1; rank 0 has printed the version. The first process does not return."""
    if len(sys.argv) == 1:
        with tempfile.TemporaryDirectory() as folder:
            ranks = [subprocess.Popen([sys.executable, sys.argv[0], str(rank), folder])
                     for rank in range(2)]
            sys.exit(max(rank.wait() for rank in ranks))
    own = int(sys.argv[1])
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + sys.argv[2] + "/store", rank=own,
                            world_size=2)
    if own == 0:
        print("PyTorch %s, gloo" % torch.__version__)
    return own
