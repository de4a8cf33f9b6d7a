# SPDX-License-Identifier: BSD-2-Clause
"""
triage next to ordinary loads: how much it slows them down, the cost that it reports itself, and the CPU time of its
process from start to end. The goal is a hundredth of the machine. serving.py has a busy server.
"""
import json
import os
import subprocess
import time
from statistics import median

import figures
import loads
import measure
import tables
from processes import Failed
from subjects import BUILD, QUIET, WORK, Tally, available

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = f"{WORK}/triage.json"
SECONDS = 10
# Reads a file a thousand times a second, and sleeps the rest of the time.
PACED = (
    "import sys, time\nbegan = time.monotonic()\nfor i in range(int(sys.argv[1])):\n    open('/etc/passwd').read()\n"
    "    time.sleep(max(0, began + (i + 1) / 1000 - time.monotonic()))\n"
)


def process_seconds(pid):
    """CPU time of a process: utime and stime of /proc/PID/stat."""
    with open(f"/proc/{pid}/stat") as f:
        return sum(map(int, f.read().rpartition(")")[2].split()[11:13])) / TICKS


class Triage(Tally):
    """Runs for as long as the loads take; keeps the cost that each run reports."""

    def __init__(self):
        super().__init__("triage", "tally triage", [f"{BUILD}/triage", "--json", "-o", PAGE, "-d", "600"])
        self.said = {}

    def beside(self, loads):
        with self.running():
            times = {load.name: load.run() for load in loads}
        for load in loads:
            self.keep(load.name)
        return times

    def beside_nothing(self):
        with self.running():
            time.sleep(SECONDS)
        self.keep("no load")

    def keep(self, name):
        """Keeps the cost that the last run reported, in per cent of the machine."""
        with open(PAGE) as f:
            page = json.load(f)
        machine_ns = page["duration_ns"] * page["cpus"]
        self.said.setdefault(name, []).append(
            [100 * page["cost"][part] / machine_ns for part in ("programs_ns", "process_ns")])


def shell(name, script, *args):
    """A fixed amount of work, measured by the CPU time of all its processes."""
    return loads.Load(name, ["sh", "-c", script + " && echo 'Total time: 0'", "sh", *map(str, args)], 1)


def ordinary(quick):
    size = 1 if quick else 2
    return [
        shell(
            "cc, one after the other",
            'for i in $(seq "$1"); do ${CC:-cc} -O2 -o /dev/null tests/bench/work.c -lpthread || exit; done',
            4 * size,
        ),
        shell(
            "tar of headers, gzip",
            'for i in $(seq "$1"); do tar cf - vmlinux user tools | gzip >/dev/null || exit; done',
            10 * size,
        ),
        shell("1,000 reads of a file a second", 'python3 -c "$2" "$1"', 2000 * size, PACED),
    ]


def whole_run():
    """CPU seconds of a run of SECONDS: to its start, while it measures, and to its end."""
    read_end, write_end = os.pipe()
    command = [f"{BUILD}/triage", "-d", str(SECONDS), "--ready-fd", str(write_end)]
    with open(os.devnull, "w") as nowhere, subprocess.Popen(
        command, stdout=nowhere, pass_fds=[write_end], **QUIET
    ) as process:
        os.close(write_end)
        if not os.read(read_end, 64):
            raise Failed("triage did not start")
        begun = process_seconds(process.pid)
        os.close(read_end)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Failed(f"triage ended with {process.returncode}")
    return [begun, used.ru_utime + used.ru_stime - begun]


def percent(numbers):
    return tables.spread(numbers, 2)


def own_work(slow, triage, all_loads):
    rows = [
        (
            load.name,
            [
                f"{1000 * median(r[triage.name][load.name]['before'][load.clock] for r in slow[load.name]):.0f}",
                tables.spread(figures.slowdowns(slow[load.name], triage.name, load), 3),
            ],
        )
        for load in all_loads
    ]
    return tables.grid(
        "CPU time of loads beside triage, whose runs have the kernel's statistics on, / the same alone; median\n"
        "(lowest..highest)",
        ["alone, ms", "beside triage"],
        rows,
    )


def said_of_itself(triage):
    rows = [(name, [percent([x[part] for x in seen]) for part in range(2)]) for name, seen in triage.said.items()]
    return tables.grid(
        "What triage says of itself, beside these loads: per cent of the machine; median (lowest..highest)",
        ["programs", "process, measuring"],
        rows,
    )


def of_runs(runs):
    machine = SECONDS * os.cpu_count()
    rows = [
        (
            what,
            [
                tables.spread([1000 * run[part] for run in runs], 0),
                f"{100 * median(run[part] for run in runs) / machine:.2f}",
            ],
        )
        for part, what in enumerate(("to start", "from then to its end"))
    ]
    return tables.grid(f"CPU time of the process of triage -d {SECONDS}, ms; and per cent of the machine in that time",
                       ["CPU time, ms", "%"], rows)


def measure_all(quick, show, look, progress):
    """Shows each table once it is measured; returns the raw numbers."""
    things, notes = available([Triage])
    raw, all_loads = {"slowdowns": {}, "said": {}}, ordinary(quick)
    for load in all_loads if things else ():
        raw["slowdowns"][load.name] = measure.slowdowns(things, [load], 2 if quick else 5, progress)
        look()
    for triage in things:
        for n in range(2 if quick else 5):
            progress(f"no load, run {n + 1}")
            triage.beside_nothing()
        raw["said"] = triage.said
        show(own_work(raw["slowdowns"], triage, all_loads))
        show(said_of_itself(triage))
        progress("whole runs")
        raw["runs"] = [whole_run() for _ in range(3)]
        show(of_runs(raw["runs"]))
        look()
    return raw, notes
