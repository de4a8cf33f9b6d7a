# SPDX-License-Identifier: BSD-2-Clause
"""
opensnoop beside an empty program and libbpf-tools: what a program that does nothing but open files
loses. Programs are on different hooks, so their own times say little; the load's CPU time has it
all.
"""
import os

import measure
import tables
from loads import CPU, Load
from runqlat import LibbpfTool
from subjects import BUILD, Empty, Tally, available


class Opensnoop(LibbpfTool):
    links = 4


def tally(name, *options):
    return Tally(name, " ".join(["tally opensnoop", *options]), [f"{BUILD}/opensnoop", *options])


def candidates():
    yield lambda: Empty("empty", "empty program, sys_exit", "empty_raw_exit")
    yield lambda: tally("opensnoop").beside_peer("libbpf")
    yield lambda: tally("elapsed", "--elapsed").beside_peer("libbpf")
    yield lambda: tally("failed", "--failed").beside_peer("libbpf-failed")
    yield lambda: Opensnoop("libbpf", "libbpf-tools opensnoop", ["/usr/sbin/opensnoop"])
    yield lambda: Opensnoop("libbpf-failed", "libbpf-tools opensnoop -x",
                            ["/usr/sbin/opensnoop", "-x"])


def opens(n):
    """The shell says what CPU time it took."""
    program = os.path.abspath(f"{BUILD}/triggers/opens")
    script = f"TIMEFORMAT='took %U %S'; time {program} 1 openat:{n}:0:0:/dev/null"
    return Load("openat and close", ["taskset", "-c", CPU, "bash", "-c", script], n,
                event="sys_exit", clock="said", says=r"took ([0-9.]+) ([0-9.]+)")


def measure_all(quick, show, look, progress):
    """Shows the table; returns the raw numbers."""
    things, notes = available(candidates())
    load = opens(50_000 if quick else 200_000)
    slow = measure.slowdowns(things, [load], 5 if quick else 15, progress)
    show(tables.slowdowns(slow, things, load))
    return {"slowdowns": slow}, notes
