# SPDX-License-Identifier: BSD-2-Clause
"""
profile compared with bpftrace and libbpf-tools: ns per sample with both stacks. Most of it is the stack walk, which is
the same in all: the kernel's unwinder over memory that the load has driven out of the caches. Samples of two runs hit
different code, so the figures spread; each ratio is that of two runs of one round, one right after the other.

With several events only the clock's samples are compared: how much more they cost while other events are sampled.
"""
import os
import shutil
import subprocess

import kernel
import loads
import probing
import tables
from figures import Spread, ratios
from processes import Failed, Process, wait_for_text
from runqlat import LibbpfTool
from subjects import BUILD, HOLD, Bpftrace, Tally, available

HZ = 997
SHALLOW, DEEP = 20, 100         # stack depths of the loads that measure the cost of a frame
EVENTS = "cpu-clock,cs,page-faults,minor-faults,major-faults,cpu-migrations,alignment-faults,emulation-faults"
# Debian's name since 13; the package in 12 leaves it out.
LIBBPF_PROFILE = shutil.which("profile-libbpf") or "/usr/sbin/profile-libbpf"


class LinkOnEachCpu(LibbpfTool):
    links = os.cpu_count()


def ours(name, *args):
    label = " ".join(("tally profile -F", str(HZ), *args))
    return Tally(name, label, [f"{BUILD}/profile", "-F", str(HZ), *args]).beside_peer("bpftrace")


def candidates():
    yield lambda: ours("tally")
    yield lambda: ours("tally-fp", "--call-graph", "fp")
    yield lambda: ours("tally-K", "-K")
    for n in (2, 8):
        yield lambda: Tally(f"tally-{n}", f"the same with {n} events", [
            f"{BUILD}/profile", "-F", str(HZ), "-e", ",".join(EVENTS.split(",")[:n])]).beside_peer("bpftrace")
    program = f'BEGIN {{ printf("Hit Ctrl-C\\n"); }} profile:hz:{HZ} {{ @[ustack, kstack, comm] = count(); }}'
    yield lambda: Bpftrace("bpftrace", "bpftrace @[ustack, kstack, comm]",
                           ["bpftrace", "-B", "line", "-e", program])
    yield lambda: LinkOnEachCpu("libbpf", f"libbpf-tools profile -F {HZ}", [LIBBPF_PROFILE, "-F", str(HZ), "600"])


def samplers(process):
    """The programs of a process that sample, except those of our other events."""
    held = {int(info["prog_id"]) for info in kernel.fd_infos(process.popen.pid) if "prog_id" in info}
    return {p["id"] for p in kernel.bpftool("prog", "show")
            if p["id"] in held and p.get("type") == "perf_event" and p.get("name") != "on_event"}


def ns_per_sample(subject, load):
    with subject.running() as process:
        mine, before = samplers(process), kernel.program_runs()
        load.run()
        after = kernel.program_runs()
    ns, runs = (sum(after[p][i] - before[p][i] for p in mine) for i in range(2))
    if not runs:
        raise Failed(f"{subject.label} took no samples")
    return ns / runs


def measure_all(quick, show, look, progress):
    """Shows the table once it is measured; returns the raw numbers."""
    probing.build()
    things, notes = available(candidates())
    # Stacks in the program alone, half user and half kernel, and mostly kernel.
    all_loads = [*(probing.work(f"two threads, {n} frames", "spin", 1 if quick else 3, n, pinned=False)
                   for n in (SHALLOW, DEEP)),
                 loads.dd(1_000_000 if quick else 4_000_000), loads.pipes(100_000 if quick else 300_000)[1]]
    rounds = 3 if quick else 9
    raw = {s.name: {load.name: [] for load in all_loads} for s in things}
    stats = Process([HOLD, "stats"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with stats:
        wait_for_text(stats, stats.popen.stdout.fileno(), "ready")
        for n in range(rounds):
            progress(f"cost of a sample, round {n + 1} of {rounds}")
            for load in all_loads:
                for subject in things:
                    raw[subject.name][load.name].append(ns_per_sample(subject, load))
    rows = [(s.label, [cell(raw, s, load) for load in all_loads]) for s in things]
    show(
        "\n".join(
            [
                tables.grid(
                    f"Cost of a sample: ns of the program, statistics included; median (lowest..highest) of "
                    f"{rounds} rounds{tables.ratio_to(things, None)}.",
                    [load.name for load in all_loads],
                    rows,
                ),
                *beside_libbpf(raw, all_loads),
                *by_frame(raw, things, all_loads[0], all_loads[1]),
            ]
        )
    )
    look()
    return raw, notes


def cell(raw, subject, load):
    numbers, peer = raw[subject.name][load.name], raw.get(subject.peer)
    return tables.spread(numbers, 0) + tables.times(
        Spread(ratios(numbers, peer[load.name])).median if peer else None)


def beside_libbpf(raw, all_loads):
    """One line per load, since a table has room for only one peer."""
    for load in all_loads:
        if "libbpf" in raw:
            x = Spread(ratios(raw["tally"][load.name], raw["libbpf"][load.name])).median
            yield f"  {load.name}: {x:.2f} of libbpf-tools' profile"


def by_frame(raw, things, shallow, deep):
    """The cost of each further frame: a round's deep stacks less its shallow ones."""
    yield f"A further frame: ns, from {SHALLOW} to {DEEP} frames; median (lowest..highest)."
    for s in things:
        each = [(d - n) / (DEEP - SHALLOW) for n, d in zip(raw[s.name][shallow.name], raw[s.name][deep.name])]
        yield f"  {s.label:40} {tables.spread(each, 0)}"
