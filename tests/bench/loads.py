# SPDX-License-Identifier: BSD-2-Clause
"""The loads: programs that print how long they took, and the CPU time that they used."""
import os
import re
import resource
import subprocess

from processes import Failed, Process

CPU = "1"


class Load:
    """
    event is the hook by whose runs costs are divided. clock names the time that counts: "cpu" is
    the CPU time of everything that was started; "said" is the load's own figure, for loads that a
    subject starts itself. says matches that figure in the output, in seconds; groups are added up.
    """

    def __init__(self, name, argv, operations, event="sched_switch", clock="cpu",
                 says=r"Total time: ([0-9.]+)"):
        self.name, self.argv, self.operations = name, argv, operations
        self.event, self.clock, self.says = event, clock, says

    def run(self, prefix=()):
        """Runs the load once, under the command prefix; returns seconds by both clocks."""
        before = cpu_seconds()
        argv = list(prefix) + self.argv
        with Process(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                     stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C"}) as process:
            out, _ = process.popen.communicate(timeout=120)
        found = re.search(self.says, out)
        if not found:
            raise Failed("no time from " + " ".join(argv))
        return {"cpu": cpu_seconds() - before, "said": sum(map(float, found.groups()))}


def cpu_seconds():
    """CPU time of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def pipes(operations):
    """Two tasks that wake each other: on one CPU, where each switch is a real one, and on any CPU."""
    pipe = ["perf", "bench", "sched", "pipe", "-l", str(operations)]
    return [Load("pipe, one CPU", ["taskset", "-c", CPU] + pipe, operations),
            Load("pipe -T", pipe + ["-T"], operations)]


def messaging(loops):
    """400 tasks in ten groups: each of 20 senders writes to each of 20 receivers in each loop."""
    argv = ["perf", "bench", "sched", "messaging", "-p", "-g", "10", "-l", str(loops)]
    return Load("messaging", argv, 10 * 20 * 20 * loops)


def dd(blocks):
    """
    Two of the cheapest system calls for each block, and nothing else. The CPU time is the shell's
    figure; dd itself prints wall time, which includes the work of others.
    """
    script = ("TIMEFORMAT='took %U %S'; "
              f"time dd if=/dev/zero of=/dev/null bs=512 count={blocks}")
    return Load("dd bs=512", ["bash", "-c", script], blocks, event="sys_enter", clock="said",
                says=r"took ([0-9.]+) ([0-9.]+)")
