# SPDX-License-Identifier: BSD-2-Clause
"""The loads: programs that say how long they took; and the CPU time they took."""
import os
import re
import resource
import subprocess

from processes import Failed, Process

CPU = "1"


class Load:
    """
    event is the hook whose runs costs are divided by; clock says which time counts: "cpu", which
    leaves out what others took, or "wall", the load's own watch, which goes where a subject starts
    the load itself. says is how the load tells that time, in seconds.
    """

    def __init__(self, name, argv, operations, event="sched_switch", clock="cpu",
                 says=r"Total time: ([0-9.]+)"):
        self.name, self.argv, self.operations = name, argv, operations
        self.event, self.clock, self.says = event, clock, says

    def run(self, prefix=()):
        """Runs the load once, started by the command prefix: seconds of CPU and of wall time."""
        before = cpu_seconds()
        argv = list(prefix) + self.argv
        with Process(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                     stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C"}) as process:
            out, _ = process.popen.communicate(timeout=120)
        found = re.search(self.says, out)
        if not found:
            raise Failed("no time from " + " ".join(argv))
        return {"cpu": cpu_seconds() - before, "wall": float(found[1])}


def cpu_seconds():
    """Of all children that have ended."""
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


def dd(blocks):
    """Two of the cheapest system calls for each block, and nothing else."""
    argv = ["dd", "if=/dev/zero", "of=/dev/null", "bs=512", f"count={blocks}"]
    return Load("dd bs=512", argv, blocks, event="sys_enter", clock="wall",
                says=r"copied, ([0-9.e-]+) s")
