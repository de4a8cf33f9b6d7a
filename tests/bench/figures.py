# SPDX-License-Identifier: BSD-2-Clause
"""From raw numbers to the figures in the tables."""
import statistics

from processes import Failed


class Spread:
    """The median of some numbers, and the lowest and highest."""

    def __init__(self, numbers):
        self.median = statistics.median(numbers)
        self.low, self.high = min(numbers), max(numbers)


def per_run(runs, hook):
    ns, count = runs.get(hook, (0, 0))
    return ns / count if count else 0.0


def total_per_event(runs, event):
    """ns per run of the hook called event, of all programs of a subject together."""
    return sum(ns for ns, _ in runs.values()) / max(1, runs[event][1])


def above_empty(runs, empty, event):
    """The same, less what empty programs take for as many runs of the same hooks."""
    base = sum(count * per_run(empty, hook) for hook, (_, count) in runs.items())
    return total_per_event(runs, event) - base / max(1, runs[event][1])


def empty_for(subject, round_costs, load):
    """The first of a subject's empty programs that stood on all hooks which ran."""
    ran = {hook for hook, (_, count) in round_costs[subject.name][load.name].items() if count}
    if load.event not in ran:
        raise Failed(f"{subject.label} does not run on {load.event}")
    for name in subject.empties:
        if ran <= set(round_costs[name][load.name]):
            return round_costs[name][load.name]
    raise Failed(f"{subject.label}: no empty programs on all of {', '.join(sorted(ran))}")


def costs(rounds, subject, load):
    """ns above empty per event, one figure per round."""
    return [above_empty(r[subject.name][load.name], empty_for(subject, r, load), load.event)
            for r in rounds]


def totals(rounds, subject, load):
    return [total_per_event(r[subject.name][load.name], load.event) for r in rounds]


def ratios(numbers, base):
    return [n / b for n, b in zip(numbers, base)]


def alone(times, load):
    """Time of a load alone: the mean of the runs before and after."""
    return (times["before"][load.clock] + times["after"][load.clock]) / 2


def slowdowns(rounds, name, load):
    """Time of the load beside the subject over that alone, one figure per round."""
    return [r[name][load.name]["beside"][load.clock] / alone(r[name][load.name], load)
            for r in rounds if name in r]


def added(rounds, name, load):
    """The added part of the median slowdown."""
    return statistics.median(slowdowns(rounds, name, load)) - 1


def alone_us(rounds, load):
    """Time of one operation alone."""
    return statistics.median(1e6 * alone(times[load.name], load) / load.operations
                             for r in rounds for times in r.values())
