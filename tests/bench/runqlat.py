# SPDX-License-Identifier: BSD-2-Clause
"""runqlat beside empty programs, libbpf-tools, bpftrace and perf sched."""
import contextlib
import os
import signal
import subprocess

import figures
import kernel
import loads
import measure
import tables
from processes import Failed, Process, wait_until
from subjects import BUILD, QUIET, WORK, Bpftrace, Empty, Perf, Subject, Tally, available

GOAL = 0.45         # of the cost of libbpf-tools' runqlat
RUNQLAT_BT = next((p for p in ("/usr/sbin/runqlat.bt", "/usr/bin/runqlat.bt",
                               "/usr/share/bpftrace/tools/runqlat.bt") if os.path.exists(p)), None)
EMPTIES = ("empty-1", "empty-4")
PEER = "libbpf-tools runqlat"


class LibbpfTool(Subject):
    """
    Its banner stays in a buffer, so its links are counted: it attaches to three hooks. An
    interrupt just before its sleep(99999999) would have no effect.
    """
    links = 3

    def process(self):
        return Process(self.argv, stop=signal.SIGTERM, stdout=subprocess.DEVNULL, **QUIET)

    def wait(self, process):
        return wait_until(process, lambda: kernel.count_links(process.pid) >= self.links)


class PerfSched(Perf):
    stop = signal.SIGKILL       # finishing its file, which is not wanted, takes a second

    @contextlib.contextmanager
    def running(self):
        try:
            with super().running() as process:
                yield process
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{WORK}/perf.data")


def bpftrace_subject():
    """Debian's script as it is where that works; else without the header it cannot read."""
    if not RUNQLAT_BT:
        raise Failed("runqlat.bt is not installed")
    subject = Bpftrace("bpftrace", "bpftrace runqlat.bt", ["bpftrace", "-B", "line", RUNQLAT_BT],
                       EMPTIES)
    try:
        with subject.running():
            return subject
    except Failed as failure:
        reason = str(failure)
    with open(RUNQLAT_BT) as f:
        script = f.read().replace("#include <linux/sched.h>", "#define TASK_RUNNING 0")
    path = f"{WORK}/runqlat.bt"
    with open(path, "w") as f:
        f.write(script)
    subject.argv[-1] = path
    subject.label += " (*)"
    subject.note = f"(*) with '#define TASK_RUNNING 0' for its #include, since: {reason}"
    return subject


def candidates():
    runqlat = f"{BUILD}/runqlat"
    yield lambda: Empty("empty-1", "empty program, sched_switch", "empty_switch")
    yield lambda: Empty("empty-4", "empty programs, all hooks", "empty_switch", "empty_wakeup",
                        "empty_wakeup_new", "empty_migrate")
    for name, options in (("tally", []), ("tally-accounting", ["--source", "accounting"]),
                          ("tally-pid", ["--by", "pid"]), ("tally-comm", ["--by", "comm"])):
        yield lambda n=name, o=options: Tally(n, " ".join(["tally runqlat"] + o), [runqlat] + o,
                                              EMPTIES)
    yield lambda: LibbpfTool("libbpf", PEER, ["/usr/sbin/runqlat"], EMPTIES)
    yield lambda: LibbpfTool("libbpf-pid", PEER + " -P", ["/usr/sbin/runqlat", "-P"], EMPTIES)
    yield bpftrace_subject
    yield lambda: PerfSched("perf", "perf sched record",
                            ["perf", "sched", "record", "-a", "-B", "-o", f"{WORK}/perf.data"])


def goal(rounds, subjects, all_loads):
    by_name = {s.name: s for s in subjects}
    if "libbpf" not in by_name:
        return f"  goal (<= {GOAL} x {PEER}): not known without libbpf-tools"
    lines = []
    for load in all_loads:
        x = figures.Spread(figures.ratios(figures.costs(rounds, by_name["tally"], load),
                                          figures.costs(rounds, by_name["libbpf"], load)))
        verdict = "met" if x.median <= GOAL else "missed"
        lines.append(f"  goal {verdict}: {load.name}: {x.median:.3f} x {PEER} "
                     f"({x.low:.3f}..{x.high:.3f}), to be <= {GOAL}")
    return "\n".join(lines)


def measure_all(quick, show, look, progress):
    """Shows the tables as they come; returns the raw numbers."""
    things, notes = available(candidates())
    programs = [s for s in things if s.has_programs]
    all_loads = loads.pipes(50_000 if quick else 150_000)
    all_loads.append(loads.messaging(100 if quick else 300))

    costs, memory = measure.program_costs(programs, all_loads, 2 if quick else 7, progress)
    show(tables.costs("context switch", costs, programs, all_loads, "libbpf")
         + "\n" + goal(costs, programs, all_loads))
    look()
    slow = measure.slowdowns(things, all_loads[:1], 3 if quick else 11, progress)
    show(tables.slowdowns(slow, things, all_loads[0], "libbpf"))
    look()
    starts = measure.starts(things, 10 if quick else 15, progress)
    show(tables.durations("Start to attached", starts, things, "libbpf"))
    show(tables.memory(memory, programs, "libbpf"))
    return {"costs": costs, "slowdowns": slow, "starts": starts, "memory": memory}, notes
