# SPDX-License-Identifier: BSD-2-Clause
"""System calls that the kernel does not run, because a seccomp filter answers them or a tracer skips them: they end
without having begun. Tools that see both ends show them, or say how many there were."""

import pytest

from probing import check_line, told
from snooping import PREEMPTIBLE
from tally import BUILD, settle

N = 12


@pytest.fixture
def load(trigger):
    load = trigger("answered", "filter", N)
    settle(load.pid)
    return load


def check_answered(report, times):
    """A report tells of all, apart from the task's first call, which may have begun before the run."""
    lost = dict(report["lost"])
    skipped = lost.pop("recursion")
    assert not any(lost.values()) and (PREEMPTIBLE or not skipped)
    before = report.get("begun_before", 0)
    assert before <= 1 and times - skipped <= report["answered"] + before <= times


def all_of(load, tracer):
    load.go()
    load.done()
    lines, (report,) = told(tracer.stop())
    return [check_line(line)["values"] for line in lines], report


def test_trace(tool, load):
    """With results and arguments, and without a time."""
    tracer = tool("--json", "-p", load.pid, "-e", "getppid,getpgid,connect,openat", tool="trace")
    lines, report = all_of(load, tracer)
    check_answered(report, 4 * N)
    by_filter, by_kernel = lines[:-1], lines[-1]
    assert len(by_filter) == 4 * N or report["lost"]["recursion"]
    assert by_kernel["ret"] > 0 and by_kernel["duration"] > 0 and "answered" not in by_kernel["result"]
    expected = {
        "getppid": ("", -1, "EPERM"),
        "getpgid": ("0", 7, None),
        "connect": ('{sa_family=AF_UNIX, sun_path="/answered/by/nobody"}', -13, "EACCES"),
        "openat": ('AT_FDCWD, "/dev/null", O_WRONLY', -30, "EROFS"),
    }
    for values in by_filter:
        args, ret, error = expected[values["call"]]
        assert args in values["args"] and (values["ret"], values["error"]) == (ret, error)
        assert values["duration"] is None and values["result"].endswith(" (answered by seccomp or a tracer)")


def test_trace_of_a_command(run, directory):
    """Threads are new and the filter is, too: none of the calls can have begun before the run."""
    command = BUILD / "triggers" / "answered", "filter", N
    saved = directory / "trace"
    result = run("--json", "-o", saved, "-e", "getppid,getpgid,clone3,clone,vfork", "--", *command, tool="trace")
    result.stdout = saved.read_bytes()
    lines, (report,) = told(result)
    calls = [line["values"]["call"] for line in lines if "answered" in line["values"]["result"]]
    assert calls == ["getppid", "getpgid"] * N and report["answered"] == 2 * N


@pytest.mark.parametrize("tool_name, args, times", (
    ("trace", ("--summary", "-e", "getppid,connect"), 2 * N),
    ("trace", ("-e", "getppid", "--min", "1us"), N),
    ("syscount", ("--latency", "-e", "getppid,getpgid"), 2 * N),
    ("fsdist", ("--all-kinds", "--op", "open"), N),
    ("futexstat", (), N),
    ("futexstat", ("--wakes",), N),
), ids=lambda value: value if isinstance(value, str) else "")
def test_sums(tool, load, tool_name, args, times):
    """Calls without a time are in no sum of times; the report says how many there were."""
    tracer = tool("--json", "-p", load.pid, *args, tool=tool_name)
    load.go()
    load.done()
    report = tracer.stop().report
    check_answered(report, times)
    if tool_name == "syscount":
        assert sum(row["calls"] for row in report["rows"]) == times
        assert sum(row["time"] for row in report["rows"] if row["syscall"] == "getpgid") == 0


@pytest.mark.parametrize("tool_name, args, time", (("connsnoop", (), "latency"), ("opensnoop", ("--elapsed",), None)))
def test_lines(tool, load, tool_name, args, time):
    tracer = tool("--json", "-p", load.pid, *args, tool=tool_name)
    load.go()
    load.done()
    lines, (report,) = told(tracer.stop())
    check_answered(report, N)
    refused = [line for line in lines if line["values"]["error"]]
    assert len(refused) == N or report["lost"]["recursion"]
    assert all((line["values"][time] if time else line["elapsed_ns"]) is None for line in refused)


def test_a_tracer_skips(tool, trigger):
    """PTRACE_SYSEMU, as gVisor and User-mode Linux use it."""
    load = trigger("answered", "tracer", N)
    (child,) = load.numbers
    tracer = tool("--json", "-p", child, "-e", "getppid", tool="trace")
    lines, report = all_of(load, tracer)
    check_answered(report, N)
    assert [values["ret"] for values in lines] == [42] * N or report["lost"]["recursion"]


def test_text(tool, load):
    tracer = tool("-p", load.pid, "-e", "getppid", tool="trace")
    load.go()
    load.done()
    result = tracer.stop()
    assert "getppid() = -1 EPERM (Operation not permitted) (answered by seccomp or a tracer) <->" in result.text
    told = f"  {N} answered by a seccomp filter or a tracer: the kernel did not run them"
    assert told in result.stderr or PREEMPTIBLE
