# SPDX-License-Identifier: BSD-2-Clause
"""The loads: perf bench, which says how long it took; and the CPU time it took."""
import re
import resource
import subprocess

from processes import Failed, Process

CPU = "1"


class Load:
    def __init__(self, name, argv, operations):
        self.name, self.argv, self.operations = name, argv, operations

    def run(self):
        """Runs the load once: seconds of CPU time it and its tasks took, and of wall time."""
        before = cpu_seconds()
        with Process(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                     stderr=subprocess.DEVNULL, text=True) as process:
            out, _ = process.popen.communicate(timeout=120)
        found = re.search(r"Total time: ([0-9.]+)", out)
        if not found:
            raise Failed("no time from " + " ".join(self.argv))
        return {"cpu": cpu_seconds() - before, "wall": float(found[1])}


def cpu_seconds():
    """Of all children that have ended; unlike wall time it leaves out what others took."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def pipes(operations):
    """Two tasks waking each other: on one CPU, where each switch is a real one, and anywhere."""
    pipe = ["perf", "bench", "sched", "pipe", "-l", str(operations)]
    return [Load("pipe, one CPU", ["taskset", "-c", CPU] + pipe, operations),
            Load("pipe -T", pipe + ["-T"], operations)]


def messaging(loops):
    """400 tasks in ten groups: each of 20 senders writes to each of 20 receivers in each loop."""
    argv = ["perf", "bench", "sched", "messaging", "-p", "-g", "10", "-l", str(loops)]
    return Load("messaging", argv, 10 * 20 * 20 * loops)
