# SPDX-License-Identifier: BSD-2-Clause
"""The figures as aligned text."""
import figures
from figures import GOAL, Spread

WIDTH = 32


def row(label, cells):
    return f"  {label:<{WIDTH}}" + "".join(f"{cell:>26}" for cell in cells)


def spread(numbers, digits):
    s = Spread(numbers)
    return f"{s.median:.{digits}f} ({s.low:.{digits}f}..{s.high:.{digits}f})"


def times(x):
    return f"{x:6.2f}x"


def ratio(numbers, base):
    return times(Spread(figures.ratios(numbers, base)).median) if base else ""


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


def cost_cell(rounds, subject, load, base):
    if subject.empty:
        return f"[{Spread(figures.totals(rounds, subject.name, load)).median:.0f}]" + " " * 7
    numbers = figures.costs(rounds, subject.name, load)
    return spread(numbers, 0) + ratio(numbers, base)


def costs(rounds, subjects, loads):
    present = {s.name for s in subjects}
    base = {load: figures.costs(rounds, "libbpf", load) if "libbpf" in present else None
            for load in loads}
    lines = [f"1. Cost of the programs: ns per context switch above empty programs on the same "
             f"hooks; median (lowest..highest)\n   of {len(rounds)} rounds, ratio to libbpf-tools "
             f"runqlat. [In brackets: what the empty ones read.]", row("", loads)]
    lines += [row(s.label, [cost_cell(rounds, s, load, base[load]) for load in loads])
              for s in subjects]
    return "\n".join(lines + goal(rounds, present, loads, base))


def goal(rounds, present, loads, base):
    if "libbpf" not in present:
        return [f"  goal (<= {GOAL} x libbpf-tools runqlat): not known without libbpf-tools"]
    lines = []
    for load in loads:
        x = Spread(figures.ratios(figures.costs(rounds, "tally", load), base[load]))
        verdict = "met" if x.median <= GOAL else "missed"
        lines.append(f"  goal {verdict}: {load}: {x.median:.3f} x libbpf-tools runqlat "
                     f"({x.low:.3f}..{x.high:.3f}), to be <= {GOAL}")
    return lines


def slowdown_cell(rounds, subject, load, present):
    cell = spread(figures.slowdowns(rounds, subject.name, load), 3)
    if "libbpf" not in present:
        return cell
    base = figures.added(rounds, "libbpf", load)
    return cell + times(figures.added(rounds, subject.name, load) / base)


def slowdowns(rounds, subjects, load):
    present = {s.name for s in subjects}
    lines = [f"2. Slowdown of '{load.name}', statistics off: its CPU time / the same alone; median "
             f"(lowest..highest)\n   of {len(rounds)} rounds, ratio of the added part to that of "
             f"libbpf-tools runqlat",
             row("alone", [f"{figures.alone_us(rounds, load):.2f} us/op" + " " * 7])]
    lines += [row(s.label, [slowdown_cell(rounds, s, load.name, present)]) for s in subjects]
    return "\n".join(lines)


def starts(results, subjects):
    base = results.get("libbpf")
    count = len(next(iter(results.values())))
    lines = [f"3. Start to attached: ms; median (lowest..highest) of {count} starts, "
             f"ratio to libbpf-tools runqlat"]
    for s in subjects:
        seconds = results[s.name]
        x = times(Spread(seconds).median / Spread(base).median) if base else ""
        lines.append(row(s.label, [spread([1000 * t for t in seconds], 1) + x]))
    return "\n".join(lines)


def size_of(results, name, kind):
    return Spread([m[kind] for m in results[name]]).median


def memory(results, subjects):
    lines = ["4. Memory after the loads of 1: the process's peak, what the kernel says its maps "
             "take; medians,\n   ratio to libbpf-tools runqlat", row("", ["process, MB", "maps, KB"])]
    for s in subjects:
        cells = []
        for kind, unit in (("rss", 1e6), ("maps", 1e3)):
            size = size_of(results, s.name, kind)
            x = times(size / size_of(results, "libbpf", kind)) if "libbpf" in results else ""
            cells.append(f"{size / unit:.1f}{x}")
        lines.append(row(s.label, cells))
    return "\n".join(lines)
