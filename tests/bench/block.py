# SPDX-License-Identifier: BSD-2-Clause
"""
Tools for block requests compared with empty programs and libbpf-tools: ns of BPF programs per request, from its
submission to its completion. The load is direct reads of a loop device over a file in memory.
"""
import contextlib
import os
import re
import subprocess

import loads
import measure
import tables
from processes import Failed
from runqlat import LibbpfTool
from subjects import BUILD, Empty, Tally, available

FILE = "/dev/shm/tally-bench-disk"
SIZE = 64 << 20
EMPTIES = ("empty",)
HOOKS = ("start", "insert", "issue", "requeue", "merge", "complete")


class Latency(LibbpfTool):
    """Attaches to block_rq_issue and block_rq_complete."""
    links = 2


def tally(name, tool, *options):
    return Tally(name, " ".join(["tally", tool, *options]), [f"{BUILD}/{tool}", *options], EMPTIES)


def candidates():
    yield lambda: Empty("empty", "empty programs, all hooks", *(f"empty_block_{h}" for h in HOOKS))
    yield lambda: tally("biolatency", "biolatency").beside_peer("libbpf")
    yield lambda: Latency("libbpf", "libbpf-tools biolatency", ["/usr/sbin/biolatency"], EMPTIES)
    yield lambda: tally("biolatency-by", "biolatency", "--by", "disk").beside_peer("libbpf-by")
    yield lambda: Latency("libbpf-by", "libbpf-tools biolatency -D", ["/usr/sbin/biolatency", "-D"],
                          EMPTIES)
    yield lambda: tally("biosnoop", "biosnoop").beside_peer("libbpf-snoop")
    yield lambda: LibbpfTool("libbpf-snoop", "libbpf-tools biosnoop", ["/usr/sbin/biosnoop"], EMPTIES)
    yield lambda: tally("biosnoop-min", "biosnoop", "--min", "10s")
    yield lambda: tally("biotop", "biotop")
    yield lambda: tally("biopattern", "biopattern")


@contextlib.contextmanager
def disk():
    with open(FILE, "wb") as f:
        f.truncate(SIZE)
    try:
        path = subprocess.run(["losetup", "-f", "--show", FILE], check=True, text=True,
                              capture_output=True).stdout.strip()
        try:
            yield path
        finally:
            subprocess.run(["losetup", "-d", path], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failed(f"no loop device: {error}") from error
    finally:
        os.unlink(FILE)


def reads(path, requests):
    load = loads.dd(requests)
    load.name, load.event = "direct reads of 512 bytes", "block_rq_complete"
    load.argv[-1] = re.sub("if=.* bs", f"if={path} of=/dev/null iflag=direct bs", load.argv[-1])
    return load


def measure_all(quick, show, look, progress):
    """Shows each table once it is measured; returns the raw numbers."""
    things, notes = available(candidates())
    with disk() as path:
        all_loads = [reads(path, 5_000 if quick else 50_000)]
        costs, memory = measure.program_costs(things, all_loads, 3 if quick else 7, progress)
    show(tables.costs("request", costs, things, all_loads))
    show(tables.memory(memory, things))
    return {"costs": costs, "memory": memory}, notes
