# SPDX-License-Identifier: BSD-2-Clause
"""
syscount beside empty programs and libbpf-tools: ns of BPF programs per system call, entry and return
together where both are used.
"""
import loads
import measure
import tables
from runqlat import LibbpfTool
from subjects import BUILD, Empty, Tally, available

COUNTING, TIMING = ("empty-exit",), ("empty-both",)


class Counter(LibbpfTool):
    links = 1


class Timer(LibbpfTool):
    links = 2


def tally(name, empties, *options):
    return Tally(name, " ".join(["tally syscount", *options]), [f"{BUILD}/syscount", *options],
                 empties)


def peer(name, kind, empties, *options):
    return kind(name, " ".join(["libbpf-tools syscount", *options]),
                ["/usr/sbin/syscount", *options], empties)


def candidates():
    yield lambda: Empty("empty-exit", "empty program, sys_exit", "empty_raw_exit")
    yield lambda: Empty("empty-both", "empty programs, sys_enter and sys_exit", "empty_raw_enter",
                        "empty_raw_exit")
    yield lambda: tally("counts", COUNTING).beside_peer("libbpf")
    yield lambda: peer("libbpf", Counter, COUNTING)
    yield lambda: tally("counts-pid", COUNTING, "--by", "pid").beside_peer("libbpf-pid")
    yield lambda: peer("libbpf-pid", Counter, COUNTING, "-P")
    yield lambda: tally("times", TIMING, "--latency").beside_peer("libbpf-times")
    yield lambda: peer("libbpf-times", Timer, TIMING, "-L")
    yield lambda: tally("times-pid", TIMING, "--latency", "--by", "pid").beside_peer(
        "libbpf-times-pid")
    yield lambda: peer("libbpf-times-pid", Timer, TIMING, "-L", "-P")


def measure_all(quick, show, look, progress):
    """Shows the tables as they come; returns the raw numbers."""
    things, notes = available(candidates())
    load = loads.dd(50_000 if quick else 400_000)
    load.event = "sys_exit"     # the hook that all of them have
    costs, memory = measure.program_costs(things, [load], 3 if quick else 7, progress)
    show(tables.costs("system call", costs, things, [load]))
    show(tables.memory(memory, things))
    return {"costs": costs, "memory": memory}, notes
