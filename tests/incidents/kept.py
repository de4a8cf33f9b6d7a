#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""kept.py [NAME...] - stages incidents, measures as triage does, and keeps the figures of the guilty and their victims

The figures go to tests/data/triage/incidents.json: tests/unit/test_triage_rules.c runs the rules on them as they would
be on other machines. Run it on a machine that is otherwise idle. Without names: all incidents.
"""

import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import staged

ROOT = Path(__file__).resolve().parents[2]
TALLY = ROOT / "build/tally"
SECONDS = 3
# Cells that rules look at. Single events have no pid here, since pids come and go.
CELLS = {
    "anon_growth",
    "area",
    "avg",
    "calls",
    "cgroup",
    "comm",
    "count",
    "cpu",
    "cpu_percent",
    "device",
    "disk",
    "drops",
    "errno",
    "error",
    "event",
    "irq",
    "kind",
    "limit",
    "limit_percent",
    "lport",
    "location",
    "major",
    "max",
    "minor",
    "name",
    "object",
    "op",
    "owner",
    "p50",
    "p99",
    "path",
    "periods",
    "pid",
    "ppid",
    "reason",
    "remote",
    "result",
    "retransmits",
    "rport",
    "runtime",
    "signal",
    "softirq",
    "switches",
    "syscall",
    "threads",
    "throttled",
    "throttled_time",
    "took",
    "total",
    "value",
    "verdict",
    "vital",
    "wait",
}
ADDS_UP = {"took"}
# Programs that the load starts, and that nobody else runs here at the time.
STARTED = {"compile": {"gcc", "cc1", "as", "collect2", "ld"}}
# Rows kept per tool, the largest by one of FIGURES: processes come and go by the hundred.
ROWS = 20
FIGURES = ("runtime", "minor", "calls", "count", "total", "value", "took", "times")


def rows_of(report):
    """Yields (whether it is a single event, cells) for each row."""
    if "time_ns" in report:
        yield True, {"comm": report["comm"], "event": report.get("event"), **report["values"]}
    for row in report.get("rows", ()):
        yield False, row
    for group in report.get("groups", ()):
        yield False, {**group, **group["key"]}
    for stack in report.get("stacks", ()):
        yield False, {"value": stack["value"], **stack["key"]}


def kept_of(reports, facts):
    """A row for each tool and each set of cells, with the number of rows or, for cells that add up, their sum."""
    counted, sums = collections.Counter(), collections.Counter()
    for report in reports:
        for single, row in rows_of(report):
            if not staged.is_about(row, facts) and row.get("comm") not in STARTED.get(facts.name, ()):
                continue
            cells = {
                name: value
                for name, value in row.items()
                if name in CELLS and value is not None and not (single and name == "pid")
            }
            added = {name: cells.pop(name) for name in ADDS_UP if name in cells}
            key = (
                report["tool"],
                report.get("command") if report["tool"] == "offcputime" else None,
                json.dumps(cells, sort_keys=True),
            )
            counted[key] += 1
            for name, value in added.items():
                sums[key, name] += value
    for key, times in counted.items():
        tool, command, cells = key
        more = {name: total for (of, name), total in sums.items() if of == key}
        kept = {"tool": tool, "row": {**json.loads(cells), **more}}
        if command:
            kept["command"] = command
        if times > 1 and not more:
            kept["times"] = times
        yield kept


def size(kept):
    return next((value for figure in FIGURES if (value := {**kept, **kept["row"]}.get(figure))), 0)


def largest(rows):
    by_tool = collections.defaultdict(list)
    for each in rows:
        by_tool[each["tool"]].append(each)
    return [each for tool in sorted(by_tool) for each in sorted(by_tool[tool], key=size, reverse=True)[:ROWS]]


def expected(name):
    first = {"first": staged.FIRST[name]} if name in staged.FIRST else {}
    return {"cause": staged.INCIDENTS[name].cause, **first, "paced": name in staged.PACED}


def keep(name):
    with tempfile.TemporaryDirectory() as folder, staged.staged(name) as facts:
        path = f"{folder}/recording"
        subprocess.run([TALLY, "record", "-o", path, str(SECONDS), "1"], check=True, stderr=subprocess.DEVNULL)
        shown = subprocess.run(
            [TALLY, "show", path, "all", "--json"], check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    reports = [json.loads(line) for line in shown.splitlines()]
    whole = next(report for report in reports if "cpus" in report)
    return {"incident": name, **expected(name), "cpus": whole["cpus"], "duration_ns": whole["duration_ns"],
            "rows": largest(kept_of(reports, facts))}


def main():
    lines = staged.KEPT.read_text().splitlines() if staged.KEPT.exists() else ()
    kept = {each["incident"]: {**each, **expected(each["incident"])} for each in map(json.loads, lines)}
    for name in sys.argv[1:] or staged.INCIDENTS:
        kept[name] = keep(name)
        print(f"{name}: {len(kept[name]['rows'])} rows", flush=True)
        staged.KEPT.write_text("".join(f"{json.dumps(kept[each])}\n" for each in staged.INCIDENTS if each in kept))


if __name__ == "__main__":
    main()
