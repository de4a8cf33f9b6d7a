# SPDX-License-Identifier: BSD-2-Clause
"""
trace beside strace: what a program takes that does nothing but system calls. The goal is a tenth of what
strace -c adds.
"""
import loads
import measure
import tables
from subjects import BUILD, Empty, Wrapper, available

CALLS = "read,write"


def candidates():
    trace = f"{BUILD}/trace"
    yield lambda: Empty("raw", "empty program, raw tracepoint", "empty_raw_enter")
    yield lambda: Wrapper("summary", "tally trace --summary --", [trace, "--summary", "--"],
                          "strace-c")
    yield lambda: Wrapper("failed", "tally trace --failed --", [trace, "--failed", "--"], "strace")
    yield lambda: Wrapper("lines", f"tally trace -e {CALLS} --",
                          [trace, "-e", CALLS, "-o", f"{BUILD}/bench/lines", "--"], "strace")
    yield lambda: Wrapper("strace-c", "strace -f -c", ["strace", "-f", "-c", "-o", "/dev/null"])
    yield lambda: Wrapper("strace", f"strace -f -e {CALLS}",
                          ["strace", "-f", "-e", CALLS, "-o", "/dev/null"])
    yield lambda: Wrapper("seccomp", "strace -f --seccomp-bpf -e openat",
                          ["strace", "-f", "--seccomp-bpf", "-e", "openat", "-o", "/dev/null"])


def dd(blocks):
    """By the clock on the wall: under strace dd waits for it, twice for each call."""
    argv = ["dd", "if=/dev/zero", "of=/dev/null", "bs=512", f"count={blocks}"]
    return loads.Load("dd bs=512, wall", argv, blocks, event="sys_enter", clock="said",
                      says=r"copied, ([0-9.]+) s")


def measure_all(quick, show, look, progress):
    things, notes = available(candidates())
    load = dd(10_000 if quick else 50_000)
    slow = measure.slowdowns(things, [load], 3 if quick else 9, progress)
    show(tables.slowdowns(slow, things, load))
    look()
    return {"slowdowns": slow}, notes
