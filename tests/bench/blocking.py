# SPDX-License-Identifier: BSD-2-Clause
"""
offcputime, wakeuptime and why compared with empty programs and libbpf-tools: ns of BPF programs per context switch,
for waits below the threshold, which need no stack walk, and for all waits.
"""
import figures
import loads
import measure
import tables
from runqlat import LibbpfTool
from subjects import BUILD, Empty, Tally, available

EMPTIES = ("empty-switch", "empty-stacks", "empty-waking", "empty-why")
BELOW = 150         # ns above empty, for a switch below the threshold
WAKEUPS = 0.5       # of what libbpf-tools' wakeuptime costs
WHY = 1.3           # of what offcputime costs


class OneLink(LibbpfTool):
    links = 1


class TwoLinks(LibbpfTool):
    links = 2


def tally(name, tool, *options):
    return Tally(name, " ".join(["tally", tool, *options]), [f"{BUILD}/{tool}", *options], EMPTIES)


def candidates():
    yield lambda: Empty("empty-switch", "empty program, sched_switch", "empty_switch")
    # For user stacks, which are taken at the end of an irq_work where the kernel allows it, and for new mappings.
    yield lambda: Empty("empty-stacks", "empty programs, hooks of offcputime", "empty_switch", "empty_irq_work",
                        "empty_mapping")
    yield lambda: Empty("empty-waking", "empty programs, hooks of wakeuptime", "empty_switch", "empty_waking",
                        "empty_irq_work", "empty_mapping")
    yield lambda: Empty("empty-why", "empty programs, hooks of why", "empty_switch", "empty_wakeup", "empty_wakeup_new",
                        "empty_contention_begin", "empty_contention_end")
    yield lambda: tally("below", "offcputime", "--min", "10s").beside_peer("libbpf-below")
    yield lambda: OneLink("libbpf-below", "libbpf-tools offcputime -m 10000000",
                          ["/usr/sbin/offcputime", "-m", "10000000", "600"], EMPTIES)
    yield lambda: tally("all", "offcputime").beside_peer("libbpf-all")
    # The peer walks frame pointers, too.
    yield lambda: tally("all-fp", "offcputime", "--call-graph", "fp").beside_peer("libbpf-all")
    yield lambda: OneLink("libbpf-all", "libbpf-tools offcputime", ["/usr/sbin/offcputime", "600"], EMPTIES)
    # All blocked time, by cause, without stacks.
    yield lambda: tally("why", "why").beside_peer("all")
    yield lambda: tally("wakeups-both", "wakeuptime").beside_peer("libbpf-wakeups")
    # Kernel stacks alone: the peer has no user stacks.
    yield lambda: tally("wakeups", "wakeuptime", "-K").beside_peer("libbpf-wakeups")
    yield lambda: TwoLinks("libbpf-wakeups", "libbpf-tools wakeuptime", ["/usr/sbin/wakeuptime", "600"], EMPTIES)


def goals(costs, subjects, all_loads):
    names = {s.name: s for s in subjects}
    for load in all_loads:
        ns = figures.Spread(figures.costs(costs, names["below"], load)).median
        yield f"  goal {'met' if ns <= BELOW else 'missed'}: {load.name}: {ns:.0f} ns below the threshold, to be <= {BELOW}"
        x = figures.Spread(figures.ratios(figures.costs(costs, names["why"], load),
                                          figures.costs(costs, names["all"], load))).median
        yield f"  goal {'met' if x <= WHY else 'missed'}: {load.name}: why {x:.2f} of offcputime's, to be <= {WHY}"
        if "libbpf-wakeups" in names:
            x = figures.Spread(figures.ratios(figures.costs(costs, names["wakeups"], load),
                                              figures.costs(costs, names["libbpf-wakeups"], load))).median
            yield (f"  goal {'met' if x <= WAKEUPS else 'missed'}: {load.name}: wakeuptime -K {x:.2f} of the peer's, "
                   f"to be <= {WAKEUPS}")


def measure_all(quick, show, look, progress):
    """Shows each table once it is measured; returns the raw numbers."""
    things, notes = available(candidates())
    all_loads = loads.pipes(30_000 if quick else 100_000)
    costs, memory = measure.program_costs(things, all_loads, 2 if quick else 7, progress)
    show("\n".join([tables.costs("context switch", costs, things, all_loads), *goals(costs, things, all_loads)]))
    look()
    show(tables.memory(memory, things))
    return {"costs": costs, "memory": memory}, notes
