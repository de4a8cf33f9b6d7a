# SPDX-License-Identifier: BSD-2-Clause
"""
Tools about files beside empty programs and libbpf-tools: ns of BPF programs per system call, entry
and return together, of reads and writes of files and of calls on what is no file.
"""
import os

import loads
import measure
import tables
from runqlat import LibbpfTool
from subjects import BUILD, WORK, Empty, Tally, available

EMPTIES = ("empty",)


class Timer(LibbpfTool):
    """Times all calls, whatever they are about."""
    links = 2


def tally(name, tool, *options):
    return Tally(name, " ".join(["tally", tool, *options]), [f"{BUILD}/{tool}", *options], EMPTIES)


def candidates():
    yield lambda: Empty("empty", "empty programs, sys_enter and sys_exit", "empty_raw_enter",
                        "empty_raw_exit")
    yield lambda: tally("fsdist", "fsdist")
    yield lambda: tally("fsdist-fs", "fsdist", "--by", "fs")
    yield lambda: tally("filetop", "filetop").beside_peer("libbpf-filetop")
    yield lambda: LibbpfTool("libbpf-filetop", "libbpf-tools filetop", ["/usr/sbin/filetop", "60"],
                             EMPTIES)
    yield lambda: tally("filetop-pid", "filetop", "--by", "pid")
    # On the tracepoints of the page cache, not on calls: of each read and what it asks for.
    yield lambda: tally("cachestat", "cachestat")
    yield lambda: tally("cachestat-file", "cachestat", "--by", "file")
    yield lambda: tally("fileslower", "fileslower").beside_peer("libbpf-syscount")
    # Needs no kprobes: it times all calls by the same hooks, and knows no files.
    yield lambda: Timer("libbpf-syscount", "libbpf-tools syscount -L", ["/usr/sbin/syscount", "-L"],
                        EMPTIES)


def copies(name, source, sink, blocks):
    """Reads and writes of 512 bytes: hardly anything but the calls."""
    load = loads.dd(blocks)
    load.name = name
    load.argv[-1] = load.argv[-1].replace("if=/dev/zero of=/dev/null",
                                          f"if={source} of={sink} conv=notrunc")
    return load


def measure_all(quick, show, look, progress):
    """Shows the tables as they come; returns the raw numbers."""
    things, notes = available(candidates())
    blocks = 50_000 if quick else 200_000
    source, sink = (os.path.abspath(f"{WORK}/{name}") for name in ("source", "sink"))
    with open(source, "wb") as f:
        f.truncate(blocks * 512)
    try:
        all_loads = [copies("files", source, sink, blocks),
                     copies("/dev/zero, /dev/null", "/dev/zero", "/dev/null", blocks)]
        costs, memory = measure.program_costs(things, all_loads, 3 if quick else 7, progress)
    finally:
        for path in (source, sink):
            if os.path.exists(path):
                os.unlink(path)
    show(tables.costs("system call", costs, things, all_loads))
    show(tables.memory(memory, things))
    return {"costs": costs, "memory": memory}, notes
