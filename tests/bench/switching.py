# SPDX-License-Identifier: BSD-2-Clause
"""
timechart and timehist, which handle each switch. No other tool draws such a chart from sums made in the kernel, so
their programs are compared with those of libbpf-tools' runqlat, which are on the same hooks. The whole, including the
writing, is compared with `perf sched record`, the source of perf's charts and lines; timehist -g, with the kernel
stack of each switch, with `perf sched record -g`.
"""
import loads
import measure
import tables
from runqlat import PEER, LibbpfTool, PerfSched
from subjects import BUILD, WORK, Empty, Tally, available

EMPTIES = ("empty-1", "empty-4", "empty-5")


def tally(name, tool, *options):
    return Tally(name, " ".join(["tally", tool, *options]), [f"{BUILD}/{tool}", *options], EMPTIES)


def record(name, peer, *options):
    path = f"{WORK}/switches"
    return Tally(name, " ".join(["tally timehist", *options, "--record"]),
                 [f"{BUILD}/timehist", *options, "--record", path], EMPTIES).beside_peer(peer)


def perf(name, *options):
    return PerfSched(name, " ".join(["perf sched record", *options]),
                     ["perf", "sched", "record", *options, "-a", "-B", "-o", f"{WORK}/perf.data"])


def candidates():
    yield lambda: Empty("empty-1", "empty program, sched_switch", "empty_switch")
    yield lambda: Empty("empty-4", "empty programs, all hooks", "empty_switch", "empty_wakeup",
                        "empty_wakeup_new", "empty_migrate")
    # A recording adds wakeups, in the context of the waker.
    yield lambda: Empty("empty-5", "the same and sched_waking", "empty_switch", "empty_wakeup",
                        "empty_wakeup_new", "empty_migrate", "empty_waking")
    yield lambda: tally("timechart", "timechart", "--format", "json").beside_peer("libbpf")
    yield lambda: tally("lines", "timehist").beside_peer("libbpf")
    yield lambda: tally("lines-g", "timehist", "-g").beside_peer("lines")
    yield lambda: tally("worst", "timehist", "--worst", "20").beside_peer("libbpf")
    yield lambda: tally("worst-g", "timehist", "--worst", "20", "-g").beside_peer("worst")
    yield lambda: LibbpfTool("libbpf", PEER, ["/usr/sbin/runqlat"], EMPTIES)
    yield lambda: record("record", "perf")
    yield lambda: perf("perf")
    yield lambda: record("record-g", "perf-g", "-g")
    yield lambda: perf("perf-g", "-g")


def measure_all(quick, show, look, progress):
    """Shows each table once it is measured; returns the raw numbers."""
    things, notes = available(candidates())
    programs = [s for s in things if s.has_programs]
    all_loads = loads.pipes(30_000 if quick else 100_000)
    costs, memory = measure.program_costs(programs, all_loads, 2 if quick else 7, progress)
    show(tables.costs("context switch", costs, programs, all_loads))
    look()
    slow = measure.slowdowns(things, all_loads[:1], 3 if quick else 9, progress)
    show(tables.slowdowns(slow, things, all_loads[0]))
    look()
    show(tables.memory(memory, programs))
    return {"costs": costs, "slowdowns": slow, "memory": memory}, notes
