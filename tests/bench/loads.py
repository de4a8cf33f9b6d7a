# SPDX-License-Identifier: BSD-2-Clause
"""The loads: perf bench, which prints how long it took."""
import re
import subprocess

from processes import Failed, Process

CPU = "1"


class Load:
    def __init__(self, name, argv, pattern):
        self.name, self.argv, self.pattern = name, argv, re.compile(pattern)

    def run(self):
        """Runs the load once; the time it took, in its own unit."""
        with Process(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                     stderr=subprocess.DEVNULL, text=True) as process:
            out, _ = process.popen.communicate(timeout=120)
        found = self.pattern.search(out)
        if not found:
            raise Failed("no time from " + " ".join(self.argv))
        return float(found[1])


def pipes(operations):
    """Two tasks waking each other: on one CPU, where each switch is a real one, and anywhere."""
    pipe = ["perf", "bench", "sched", "pipe", "-l", str(operations)]
    per_op = r"([0-9.]+) usecs/op"
    return [Load("pipe, one CPU", ["taskset", "-c", CPU] + pipe, per_op),
            Load("pipe -T", pipe + ["-T"], per_op)]


def messaging(loops):
    """400 tasks sending each other messages through pipes."""
    argv = ["perf", "bench", "sched", "messaging", "-p", "-g", "10", "-l", str(loops)]
    return Load("messaging", argv, r"Total time: ([0-9.]+)")
