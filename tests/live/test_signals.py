# SPDX-License-Identifier: BSD-2-Clause
"""signals: each signal sent, against a program that counts those that it sends and catches."""

import os
import signal
import subprocess
from collections import Counter

import pytest

import tally
from probing import told
from snooping import compiled, events_of, exact, has_kernel_frames, lines_with_stacks, own_functions

pytestmark = pytest.mark.exact

N = tally.scaled(400)


@pytest.fixture
def signals(tool):
    return lambda *args, **kwargs: tool("--json", *args, tool="signals", **kwargs)


@exact
def test_each_is_there(signals, trigger):
    """By signal, code, result, and target."""
    load = trigger("signalling", N)
    tracer = signals("-p", load.pid)
    load.go()
    (caught,) = load.done()
    lines, _ = events_of(tracer.stop())
    found = Counter(tuple(line["values"][name] for name in ("signal", "code", "result", "to"))
                    for line in lines)
    real_time = "SIGRTMIN+1"
    assert found == {
        ("SIGUSR1", "SI_USER", "delivered", "process"): N,
        ("SIGUSR1", "SI_TKILL", "delivered", "thread"): N,
        (real_time, "SI_QUEUE", "delivered", "process"): N,
        ("SIGWINCH", "SI_USER", "ignored", "process"): N,
        ("SIGUSR2", "SI_USER", "delivered", "process"): 1,
        ("SIGUSR2", "SI_USER", "already-pending", "process"): N - 1,
        ("SIGALRM", "SI_KERNEL", "delivered", "process"): 1,
    }
    assert caught == 3 * N + 1
    for line in lines:
        values, sent = line["values"], line["values"]["signal"] != "SIGALRM"
        assert (line["pid"], line["comm"]) == (load.pid, "signalling")
        assert values["sender_pid"] == (load.pid if sent else None)
        assert values["sender_comm"] == ("signalling" if sent else None)


@exact
def test_whose(signals, trigger):
    """The scope selects targets; with --sender, senders."""
    load = trigger("sleepers", 1, 1, 1, -1)
    ours = "-p", os.getpid(), "--sender", "--signal", "CONT,SIGURG"
    tracers = [signals(*args) for args in (("-p", load.pid), ("-p", load.pid, "--sender"), ours,
                                           ("-p", load.pid, "--signal", "TERM"))]
    for _ in range(5):
        os.kill(load.pid, signal.SIGCONT)
        os.kill(load.pid, signal.SIGURG)
    found = [events_of(tracer.stop()) for tracer in tracers]
    assert [len(lines) for lines, _ in found] == [10, 0, 10, 0]
    assert found[3][1]["filtered"] >= 10
    for line in found[0][0] + found[2][0]:
        assert line["pid"] == load.pid and line["values"]["sender_pid"] == os.getpid()


@exact
def test_children_and_faults(run):
    """A signal from the kernel has no sender, whoever was on the CPU."""
    result = run("--json", "--", "sh", "-c", "sh -c 'kill -9 $$'; sh -c 'kill -SEGV $$'; true",
                 tool="signals")
    lines, _ = events_of(result)
    values = [line["values"] for line in lines]
    assert [v["signal"] for v in values if v["code"].startswith("CLD_")] == ["SIGCHLD"] * 2
    assert {v["code"] for v in values if v["signal"] == "SIGCHLD"} <= {"CLD_KILLED", "CLD_DUMPED"}
    assert all(v["sender_pid"] is None for v in values if v["signal"] == "SIGCHLD")
    assert [v["code"] for v in values if v["signal"] in ("SIGKILL", "SIGSEGV")] == ["SI_USER"] * 2


@exact
def test_hostile_names(signals, tool, trigger):
    load = trigger("signalling", 1, comm=b"\x1b[2J\xff\n\"")
    tracers = signals("-p", load.pid), tool("-p", load.pid, tool="signals")
    load.go()
    load.done()
    lines, _ = events_of(tracers[0].stop())
    assert {line["comm"] for line in lines} == {'\\x1b[2J\\xff\\x0a"'}
    text = tracers[1].stop().stdout
    assert b"\x1b" not in text and b'sender_comm="\\x1b[2J\\xff\\x0a\\x22"' in text


def test_usage(run):
    result = run("--signal", "SIGNOSUCH", tool="signals")
    assert result.code == 2 and "SIGKILL" in result.stderr
    result = run("-n", tool="signals")
    assert result.code == 0 and "on_signal at tp_btf/signal_generate" in result.text


# --- stacks ------------------------------------------------------------------------------------------------

POKING = """
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define STEP __attribute__((noinline))

STEP void leave(int number)
{
	_exit(number != SIGSEGV);
}

STEP int poke(int number)
{
	return kill(getpid(), number) + 1;
}

STEP int left(void)
{
	return poke(SIGURG) + 1;
}

STEP int right(void)
{
	return poke(SIGWINCH) + 2;
}

STEP int wild(volatile int *p)
{
	return *p + 1;
}

int main(void)
{
	int sum = left() + right();

	signal(SIGSEGV, leave);
	return sum + wild(NULL);
}
"""


@tally.once
@pytest.mark.parametrize("parts", ((), ("-K",)), ids=("user", "both"))
def test_who_sends(run, directory, parts):
    """The functions of a program that send it signals, and the function of a fault."""
    program = compiled(directory, "poking", POKING)
    lines, report = lines_with_stacks(run, "signals", directory, parts, program)
    frames = {line["values"]["signal"]: line["frames"] for line in lines}
    for name, expected in (("SIGURG", ["poke", "left", "main"]), ("SIGWINCH", ["poke", "right", "main"]),
                           ("SIGSEGV", ["wild", "main"])):
        assert own_functions(frames[name], program)[:len(expected)] == expected, (name, frames[name])
        assert has_kernel_frames(frames[name]) == bool(parts), (name, frames[name])
    assert not any(tally.flaws(report).values()), report


@tally.once
def test_who_has_nothing_to_do_with_it(tool):
    """A timer interrupts any running task while its process sleeps: no stack is shown."""
    tracer = tool("--json", "-g", "-K", "--signal", "ALRM", tool="signals")
    with subprocess.Popen(("timeout", "1", "sleep", "1000")) as waits:
        pass
    lines, _ = told(tracer.stop())
    (line,) = (line for line in lines if line["pid"] == waits.pid)
    assert line["frames"] == [], line
