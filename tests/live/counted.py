# SPDX-License-Identifier: BSD-2-Clause
"""Counts the same thing in several ways: with stat, perf stat, and the kernel's own books.

    load = trigger("faults", 100, 2, 0)                 # ready, and asleep
    tracer = stat(tool, "-e", "page-faults", "-p", load.pid)
    before = usage(load.pid)
    work(load)
    assert counts(tracer.stop().report)["page-faults"] == ...
"""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections import namedtuple
from pathlib import Path

import tally

# System calls that do nothing when their first argument is -1 and the others are 0: name, number.
SYSCALLS = {
    "read": 0, "write": 1, "close": 3, "newstat": 4, "newfstat": 5, "newlstat": 6, "lseek": 8,
    "pread64": 17, "pwrite64": 18, "sched_yield": 24, "dup": 32, "getpid": 39, "sendfile64": 40,
    "newuname": 63, "ftruncate": 77, "getdents": 78, "fchdir": 81, "fchmod": 91, "getuid": 102,
    "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "getpgrp": 111, "getpgid": 121,
    "getsid": 124, "sched_getscheduler": 145, "umount": 166, "gettid": 186, "readahead": 187,
    "fadvise64": 221,
}
GETPPID = SYSCALLS["getppid"]


def stat(tool, *args, **kwargs):
    """Starts stat in the background, with JSON."""
    return tool("--json", *args, tool="stat", **kwargs)


def work(*loads, between=None):
    """tally.let_work() until the loads are at rest. Returns the output of each."""
    said = tally.let_work(loads, between)
    for load in loads:
        load.settle()
    return said


def counts(report, *key):
    """{event: count}, or {(key..., event): count} for a report by keys. Checks that none appears twice."""
    found = {}
    lost(report)
    for row in report["rows"]:
        name = tuple(row[part] for part in (*key, "event"))
        name = name if key else name[0]
        assert name not in found, f"{name} is there twice"
        found[name] = row["count"]
    return found


skipped = []


def lost(report):
    found = {reason: n for reason, n in (tally.flaws(report) if "lost" in report else {}).items() if n}
    if "recursion" in found:
        skipped.append(found)
    return found


def again_when_skipped(module):
    """Has the tests of a module repeated if the kernel skipped programs and the tool reported it.

    Since 7.0 a program on a system call can be preempted, and until it ends, the kernel runs it for
    no other task on that CPU. The tool counts these events as lost ("recursion"), but then counts are
    not equal. Earlier kernels have no excuse.
    """
    def repeated(test):
        @functools.wraps(test)
        def run(*args, **kwargs):
            def trial():
                skipped.clear()
                try:
                    test(*args, **kwargs)
                except AssertionError as error:
                    if skipped and tally.KERNEL >= (7, 0):
                        raise tally.Blurred from error
                    raise

            tally.steady(trial)

        return run

    for name in [name for name in module if name.startswith("test_")]:
        module[name] = repeated(module[name])


def exactly(trial):
    """Repeats a trial, which returns a function that checks, until no switch was hidden from the
    tracers (tally.holes()): the events of a hidden task are charged to the next one."""

    def judged():
        before = tally.holes()
        check = trial()
        if tally.holes() != before:
            raise tally.Blurred
        check()

    tally.steady(judged)


# --- the kernel's books of faults and switches -----------------------------------------------------

Usage = namedtuple("Usage", "minor major voluntary involuntary run_ns")


def usage(pid, tid=None):
    """The usage of a thread so far, or, without a tid, of a process with all its dead threads; but
    switches are those of its live threads only."""
    place = f"/proc/{pid}/task/{tid}" if tid else f"/proc/{pid}"
    fields = Path(f"{place}/stat").read_text().rpartition(")")[2].split()
    switches = [0, 0]
    for each in [tid] if tid else tally.threads(pid):
        status = Path(f"/proc/{pid}/task/{each}/status").read_text()
        for i, kind in enumerate(("", "non")):
            switches[i] += int(re.search(rf"^{kind}voluntary_ctxt_switches:\s*(\d+)", status,
                                         re.M)[1])
    run = sum(tally.books(pid, each).run_ns for each in ([tid] if tid else tally.threads(pid)))
    return Usage(int(fields[7]), int(fields[9]), *switches, run)


def since(before, pid, tid=None):
    return Usage(*(b - a for a, b in zip(before, usage(pid, tid))))


# --- perf ------------------------------------------------------------------------------------------

def why_no_perf():
    """None, or the reason why there is no perf to compare with."""
    if not shutil.which("perf"):
        return "perf is not installed"
    tried = subprocess.run([*tally.PERF, "stat", "-x,", "-e", "task-clock", "true"], check=False,
                           capture_output=True)
    return None if tried.returncode == 0 else "perf stat does not run here"


class Perf:
    """perf stat in the background, which counts from its creation until stop(); with a path perf record, until
    end()."""

    def __init__(self, *args, record=None):
        self.out = tempfile.NamedTemporaryFile()
        control, self.control = os.pipe()
        self.acknowledged, acknowledge = os.pipe()
        self.process = subprocess.Popen(
            [
                *tally.PERF,
                *(("record", "-q", "-N", "-B", "-o", record) if record else ("stat", "-x", ";", "-o", self.out.name)),
                "-D",
                "-1",
                "--control",
                f"fd:{control},{acknowledge}",
                *map(str, args),
            ],
            pass_fds=(control, acknowledge),
            stdin=subprocess.DEVNULL,
        )
        os.close(control)
        os.close(acknowledge)
        self.tell("enable")

    def tell(self, command):
        os.write(self.control, command.encode() + b"\n")
        said = os.read(self.acknowledged, 100)
        assert said.startswith(b"ack\n"), f"perf says {said}"

    def end(self):
        self.tell("disable")
        self.process.send_signal(2)
        self.process.wait(tally.PATIENCE)

    def stop(self, per_cpu=False):
        """Returns {event: count}, or {(cpu, event): count}: whole numbers unchanged, clocks in
        milliseconds."""
        self.end()
        found = {}
        for line in Path(self.out.name).read_text().splitlines():
            fields = line.split(";")
            if len(fields) < 4 or line.startswith("#"):
                continue
            cpu = int(fields.pop(0)[3:]) if per_cpu else None
            n = float(fields[0]) if "." in fields[0] else int(fields[0])
            found[(cpu, fields[2]) if per_cpu else fields[2]] = n
        return found

    def close(self):
        tally.end_process(self.process)
        os.close(self.control)
        os.close(self.acknowledged)
        self.out.close()
