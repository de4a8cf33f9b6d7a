# SPDX-License-Identifier: BSD-2-Clause
"""
The figures as aligned text. Ratios are to a subject's peer, where it has one: base where that is
given, else the next line that has no ratio.
"""
import figures
from figures import Spread

NOISE = 0.03        # a slowdown below this is no base for a ratio


def grid(title, columns, rows):
    """rows: (label, cells). Cells are aligned at their right ends."""
    rows = ([("", columns)] if any(columns) else []) + rows
    labels = max(len(label) for label, _ in rows)
    widths = [max(len(row[1][i]) for row in rows) for i in range(len(columns))]
    return "\n".join([title] + [
        "  " + (f"{label:<{labels}}" + "".join(f"   {cell:>{width}}" for cell, width
                                              in zip(cells, widths))).rstrip()
        for label, cells in rows])


def spread(numbers, digits):
    s = Spread(numbers)
    return f"{s.median:.{digits}f} ({s.low:.{digits}f}..{s.high:.{digits}f})"


def times(x=None):
    """A ratio, or as much room."""
    return " " * 8 if x is None else f"{x:7.{2 if x >= 0.05 else 3}f}x"


def peer_of(subject, subjects, base):
    """The subject to which ratios are; None: no ratio is shown."""
    name = base or subject.peer
    return next((s for s in subjects if s.name == name), None)


def ratio_to(subjects, base):
    """For titles."""
    if not base:
        return ", ratio to the peer below"
    return "".join(f", ratio to {s.label}" for s in subjects if s.name == base)


def header(facts):
    versions = ", ".join(f"{k} {v}" for k, v in facts["versions"].items())
    return "\n".join([
        f"tally bench, {facts['date']}",
        f"  machine   {facts['cpus']} CPUs, {facts['cpu']}, governor {facts['governor']}",
        f"  kernel    {facts['kernel']}",
        f"  peers     {versions}"])


def quiet(facts):
    load = facts["loadavg"]
    lines = [f"took {facts['seconds']:.0f} s; load average {load[0]:.2f} before, "
             f"{min(load):.2f}..{max(load):.2f} meanwhile (our loads included); "
             f"other work took {facts['others_percent']:.1f} % of the CPUs, "
             f"the host stole {facts['steal_percent']:.1f} %"]
    lines += [f"not ours, and part of every figure: {p}" for p in facts["foreign_programs"]]
    return "\n".join(lines)


def cost_cell(rounds, subject, load, peer):
    if subject.empty:
        return f"[{Spread(figures.totals(rounds, subject, load)).median:.0f}]" + times()
    numbers = figures.costs(rounds, subject, load)
    if not peer:
        return spread(numbers, 0) + times()
    return spread(numbers, 0) + times(
        Spread(figures.ratios(numbers, figures.costs(rounds, peer, load))).median)


def costs(event, rounds, subjects, loads, base=None):
    title = (f"Cost of the programs: ns per {event} above empty programs on the same hooks; median "
             f"(lowest..highest)\nof {len(rounds)} rounds{ratio_to(subjects, base)}. "
             f"[In brackets: what the empty ones read.]")
    return grid(title, [load.name for load in loads],
                [(s.label, [cost_cell(rounds, s, load, peer_of(s, subjects, base))
                            for load in loads]) for s in subjects])


def slowdown_cells(rounds, subject, load, peer):
    """The slowdown, with the ratio of the added parts; and what is added to one operation."""
    added = figures.added(rounds, subject.name, load)
    base = figures.added(rounds, peer.name, load) if peer else 0
    x = added / base if base >= NOISE and added >= 0 else None
    return [spread(figures.slowdowns(rounds, subject.name, load), 3) + times(x),
            f"{1000 * added * figures.alone_us(rounds, load):.0f}"]


def slowdowns(rounds, subjects, load, base=None):
    title = (f"Slowdown of '{load.name}', statistics off: its CPU time / the same alone; median "
             f"(lowest..highest)\nof {len(rounds)} rounds"
             + ratio_to(subjects, base).replace("ratio", "ratio of the added parts")
             + f". Alone: {1000 * figures.alone_us(rounds, load):.0f} ns per operation.")
    return grid(title, ["slowdown" + times(), "added, ns"],
                [(s.label, slowdown_cells(rounds, s, load, peer_of(s, subjects, base)))
                 for s in subjects])


def durations(what, results, subjects, base=None):
    """results: seconds. what: from when to when."""
    most = max(map(len, results.values()))
    title = (f"{what}: ms; median (lowest..highest) of {most}{ratio_to(subjects, base)}")
    rows = []
    for s in subjects:
        peer = peer_of(s, subjects, base)
        x = peer and Spread(results[s.name]).median / Spread(results[peer.name]).median
        few = "" if len(results[s.name]) == most else f" of {len(results[s.name])}"
        rows.append((s.label + few, [spread([1000 * t for t in results[s.name]], 1) + times(x)]))
    return grid(title, [""], rows)


def size_of(results, name, kind):
    return Spread([m[kind] for m in results[name]]).median


def memory_cell(results, subject, peer, kind, unit):
    size, other = size_of(results, subject.name, kind), peer and size_of(results, peer.name, kind)
    return f"{size / unit:.1f}" + times(size / other if other else None)


def memory(results, subjects, base=None):
    title = ("Memory after the loads: the process's peak, what the kernel says its maps take; "
             f"medians{ratio_to(subjects, base)}")
    return grid(title, ["process, MB" + times(), "maps, KB" + times()],
                [(s.label, [memory_cell(results, s, peer_of(s, subjects, base), kind, unit)
                            for kind, unit in (("rss", 1e6), ("maps", 1e3))]) for s in subjects])
