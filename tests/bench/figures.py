# SPDX-License-Identifier: BSD-2-Clause
"""From raw numbers to the figures in the tables."""
import statistics

SWITCH = "sched_switch"
GOAL = 0.25         # of the cost of libbpf-tools' runqlat


class Spread:
    """The median of some numbers, and the lowest and highest."""

    def __init__(self, numbers):
        self.median = statistics.median(numbers)
        self.low, self.high = min(numbers), max(numbers)


def per_run(runs, hook):
    ns, count = runs.get(hook, (0, 0))
    return ns / count if count else 0.0


def total_per_switch(runs):
    """ns per context switch of all programs of a subject together."""
    return sum(ns for ns, _ in runs.values()) / max(1, runs[SWITCH][1])


def above_empty(runs, empty):
    """The same, less what empty programs take for as many runs of the same hooks."""
    base = sum(count * per_run(empty, hook) for hook, (_, count) in runs.items())
    return total_per_switch(runs) - base / max(1, runs[SWITCH][1])


def empty_for(runs, round_costs, load):
    """The empty programs that stood on the same hooks, or on those and more."""
    return round_costs["empty-1" if set(runs) == {SWITCH} else "empty-4"][load]


def costs(rounds, name, load):
    """ns above empty per switch, one figure per round."""
    return [above_empty(r[name][load], empty_for(r[name][load], r, load)) for r in rounds]


def totals(rounds, name, load):
    return [total_per_switch(r[name][load]) for r in rounds]


def ratios(numbers, base):
    return [n / b for n, b in zip(numbers, base)]


def alone(times):
    """CPU time of a load alone: the mean of the runs before and after."""
    return (times["before"]["cpu"] + times["after"]["cpu"]) / 2


def slowdowns(rounds, name, load):
    """CPU time of the load beside the subject over that alone, one figure per round."""
    return [r[name][load]["beside"]["cpu"] / alone(r[name][load]) for r in rounds]


def added(rounds, name, load):
    """The added part of the median slowdown."""
    return statistics.median(slowdowns(rounds, name, load)) - 1


def alone_us(rounds, load):
    """CPU time of one operation alone."""
    return statistics.median(1e6 * alone(times[load.name]) / load.operations
                             for r in rounds for times in r.values())
