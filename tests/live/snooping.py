# SPDX-License-Identifier: BSD-2-Clause
"""Helpers shared by the tests of tools that print a line for each event."""

import functools
import subprocess
from pathlib import Path

import tally
from probing import told

# Since 7.0 programs on tracepoints can be preempted; the kernel then skips them for other tasks
# on that CPU, whose events are lost, and counts that: "recursion".
PREEMPTIBLE = tally.KERNEL >= (7, 0)


def exact(test):
    """Repeats a test if the kernel skipped programs and the tool reported it."""

    @functools.wraps(test)
    def judged(*args, **kwargs):
        tally.steady(lambda: test(*args, **kwargs))

    return judged


def nothing_lost(*reports):
    """Except the losses that exact() handles."""
    for report in reports:
        lost = {reason for reason, n in tally.flaws(report).items() if n}
        if PREEMPTIBLE and lost == {"recursion"}:
            raise tally.Blurred
        assert not lost, report


def events_of(result):
    """The lines of a run, in order, and its report. Nothing is lost except what exact() handles."""
    lines, (report,) = told(result)
    assert len(lines) == report["events"], result
    nothing_lost(report)
    return lines, report


def values_of(result):
    return [line["values"] for line in events_of(result)[0]]


def await_call(tid, number):
    """Waits until a thread sleeps in that system call, and has left its CPU (like tally.settle())."""
    def sleeps():
        return Path(f"/proc/{tid}/syscall").read_text().split()[0] == str(number) and tally.state(tid) == "S"

    tally.wait_until(sleeps, f"{tid} in system call {number}")


# --- stacks of lines -----------------------------------------------------------------------------

def compiled(directory, name, source):
    """Compiles a program of ours without inlined functions."""
    (directory / f"{name}.c").write_text(source)
    subprocess.run(["gcc", "-O1", "-o", directory / name, directory / f"{name}.c"], check=True)
    return directory / name


def lines_with_stacks(run, tool, directory, parts, program):
    """The lines of -g during a successful run of the program, and the report."""
    result = run("--json", "-o", directory / "lines", "-g", *parts, "--", program, tool=tool)
    result.stdout = (directory / "lines").read_bytes()
    lines, (report,) = told(result.of_command(0))
    return lines, report


def own_functions(frames, program):
    """The names of the program's own functions in a stack, the innermost first."""
    return [frame["name"] for frame in frames if frame["module"] == program.name]


def has_kernel_frames(frames):
    return any(frame["module"] == "[kernel]" for frame in frames)
