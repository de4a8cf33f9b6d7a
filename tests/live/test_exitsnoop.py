# SPDX-License-Identifier: BSD-2-Clause
"""exitsnoop: how processes end, compared with the results of wait4(2)."""

import os
import signal
import subprocess
import time

import pytest

import tally
from snooping import events_of, exact
from tally import scaled, within


@pytest.fixture
def exitsnoop(tool):
    return lambda *args, **kwargs: tool("--json", *args, tool="exitsnoop", **kwargs)


def wait(load):
    """The result of wait4(): status and CPU time in ns."""
    load.go()
    _, status, usage = os.wait4(load.pid, 0)
    return status, round((usage.ru_utime + usage.ru_stime) * 1e9)


HOW = (
    ("status", 0), ("status", 3), ("status", 255), ("signal", signal.SIGKILL),
    ("signal", signal.SIGSEGV), ("signal", signal.SIGRTMIN + 3), ("leader", 1), ("leader", 4),
    ("group", 4),
)


@pytest.mark.parametrize("how", HOW, ids=lambda how: f"{how[0]}-{int(how[1])}")
@exact
def test_how(exitsnoop, trigger, how, directory, monkeypatch):
    """One line for each process, however many threads end at once."""
    monkeypatch.chdir(directory)        # for a core
    born = time.monotonic_ns()
    load = trigger("exits", how[0], int(how[1]))
    tracer = exitsnoop("-p", load.pid)
    status, used = wait(load)
    result = tracer.wait()      # the last process of -p has ended
    lived = time.monotonic_ns() - born
    (line,), _ = events_of(result)
    values = line["values"]
    code = os.waitstatus_to_exitcode(status)
    assert values["status"] == (code if code >= 0 else None)
    assert values["core"] == ("yes" if os.WCOREDUMP(status) else None)
    if code < 0:
        rt = -code - signal.SIGRTMIN
        assert values["signal"] == (f"SIGRTMIN+{rt}" if rt > 0 else signal.Signals(-code).name)
    else:
        assert values["signal"] is None
    assert (line["pid"], line["tid"], line["comm"]) == (load.pid, load.pid, "exits")
    assert values["ppid"] == os.getpid() and values["uid"] == 0
    assert 20_000_000 < values["age"] < lived
    # wait4() rounds both parts down to us. It may return before the process has left its CPU,
    # and a thread that ends at the same moment may not have been added up yet.
    within(-5_000 <= values["cpu_time"] - used <= 2_000_000, values["cpu_time"], used)


@exact
def test_threads(exitsnoop, trigger):
    """Each thread, with its own time."""
    load = trigger("exits", "leader", 3)
    tracer = exitsnoop("--threads", "-p", load.pid)
    wait(load)
    lines, _ = events_of(tracer.wait())
    assert len(lines) == len({line["tid"] for line in lines}) == 4
    assert all(line["values"]["cpu_time"] >= 20_000_000 for line in lines)
    assert load.pid in {line["tid"] for line in lines}


@exact
def test_many(exitsnoop):
    """Each of many processes, while others also end."""
    tracer = exitsnoop("--comm", "python3*")
    expected = {}
    for i in range(tally.scaled(400)):
        pid = os.fork()
        if not pid:
            os._exit(i % 200)
        expected[pid] = i % 200
    for pid in expected:
        os.waitpid(pid, 0)
    lines, _ = events_of(tracer.stop())
    found = [(line["pid"], line["values"]["status"]) for line in lines if line["pid"] in expected]
    assert sorted(found) == sorted(expected.items())


@exact
def test_command(run):
    """The end of the command itself is reported, too."""
    result = run("--json", "--", "sh", "-c", "true; exit 4", tool="exitsnoop")
    lines, _ = events_of(result.of_command(4))
    assert [line["values"]["status"] for line in lines][-1] == 4


@exact
def test_failed(run):
    """A status other than 0, and a signal."""
    result = run(
        "--json",
        "--failed",
        "--",
        "sh",
        "-c",
        "/bin/true; /bin/false; (kill -9 $(exec sh -c 'echo $PPID')); exit 0",
        tool="exitsnoop",
    )
    lines, _ = events_of(result)
    assert [(line["values"]["status"], line["values"]["signal"]) for line in lines] == [(1, None), (None, "SIGKILL")]


def test_none_runs_for_longer_than_it_lives(exitsnoop):
    """The CPU time of a single thread ends at the last moment of its age, which is after the line's time."""
    tracer = exitsnoop("--comm", "true")
    for _ in range(100):
        subprocess.run(["true"], check=True)
    lines, _ = events_of(tracer.stop())
    assert len(lines) >= 100
    longer = [line["values"] for line in lines if line["values"]["cpu_time"] > line["values"]["age"]]
    assert not longer, longer


def test_time_counts_once(exitsnoop):
    """A parent adds the time of a child to its process when it waits for it, maybe before the child has left its CPU:
    cpu_time once counted it twice then. The oracle is wait4(2); the child runs for some us after that."""
    tracer, used, told = exitsnoop("--comm", "true"), {}, {}
    for _ in range(scaled(1500)):
        pid, _, usage = os.wait4(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
        used.setdefault(pid, []).append(usage.ru_utime + usage.ru_stime)
    for line in events_of(tracer.stop())[0]:
        told.setdefault(line["pid"], []).append(line["values"]["cpu_time"] / 1e9)
    once_each = [pid for pid in used if len(used[pid]) == len(told.get(pid, ())) == 1]
    assert len(once_each) > len(used) / 2
    assert not [(pid, told[pid], used[pid]) for pid in once_each if told[pid][0] > 1.9 * used[pid][0]]


def test_usage(run):
    result = run("-n", tool="exitsnoop")
    assert result.code == 0 and "on_process_exit at tp_btf/sched_process_exit" in result.text
