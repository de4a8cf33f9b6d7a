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


def ratio(numbers, base):
    return f"{Spread(figures.ratios(numbers, base)).median:6.2f}x" if base else " " * 7


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


def slowdowns(rounds, subjects, loads):
    lines = [f"2. Slowdown of a load, statistics off: its CPU time / the same alone; median "
             f"(lowest..highest) of {len(rounds)} rounds", row("", [load.name for load in loads]),
             row("alone", [f"{figures.alone_us(rounds, load):.2f} us/op" for load in loads])]
    lines += [row(s.label, [spread(figures.slowdowns(rounds, s.name, load.name), 3)
                            for load in loads]) for s in subjects]
    return "\n".join(lines)


def starts(results, subjects):
    base = results.get("libbpf")
    count = len(next(iter(results.values())))
    lines = [f"3. Start to attached: ms; median (lowest..highest) of {count} starts, "
             f"ratio to libbpf-tools runqlat"]
    for s in subjects:
        ms = [1000 * t for t in results[s.name]]
        x = f"{Spread(ms).median / (1000 * Spread(base).median):6.2f}x" if base else ""
        lines.append(row(s.label, [spread(ms, 1) + x]))
    return "\n".join(lines)


def memory(results, subjects):
    lines = ["4. Memory after these loads: the process's peak, and what the kernel says its maps "
             "take", row("", ["process, MB", "maps, KB"])]
    for s in subjects:
        most = {k: max(m[k] for m in results[s.name]) for k in ("rss", "maps")}
        maps = f"{most['maps'] / 1e3:.0f}" if most["maps"] or s.empty else "-"
        lines.append(row(s.label, [f"{most['rss'] / 1e6:.1f}", maps]))
    return "\n".join(lines)
