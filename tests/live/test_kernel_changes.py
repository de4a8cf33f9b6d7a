# SPDX-License-Identifier: BSD-2-Clause
"""Changes of the kernel during a run: a module is removed while its function is probed, the clock is set, probes are
disabled. In guests, whose kernels have modules and whose clocks are nobody else's."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from probing import nothing_lost
from tally import BUILD, GUEST, PATIENCE

pytestmark = [pytest.mark.skipif(not GUEST, reason="removes modules and sets the clock: in guests only"),
              pytest.mark.everywhere]

MODULE = "dummy"
FUNCTION = f"{MODULE}:dummy_setup"      # called once for each new device
CALLS = 5
HOUR = 3600


def do(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True, timeout=PATIENCE)


@pytest.fixture
def module():
    do("modprobe", MODULE, "numdummies=0")
    yield
    do("rmmod", MODULE, check=False)


def call_function():
    for command in ("add", "del"):
        for i in range(CALLS):
            do("ip", "link", command, f"tally{i}", *(("type", MODULE) if command == "add" else ()))


def is_loaded():
    with open("/proc/modules") as modules:
        return any(line.split()[0] == MODULE for line in modules)


def counted(report):
    """Events in a report of stat, probe or stackcount."""
    return sum(each.get("count") or each["value"] for each in report.get("rows") or report["stacks"])


@pytest.mark.parametrize("name, args", (("stat", ("-e", FUNCTION)), ("probe", (FUNCTION,)), ("stackcount", (FUNCTION,))),
                         ids=lambda value: value if isinstance(value, str) else "")
def test_a_module_is_removed(tool, module, name, args):
    """The kind of attachment decides whether the kernel allows it; nothing hangs, the report has the counts up to then,
    and says that there could be no more afterwards. A module whose removal was refused can be removed after the run."""
    tracer = tool("--json", *args, tool=name)
    call_function()
    removed = do("rmmod", MODULE, check=False)
    assert is_loaded() == bool(removed.returncode)
    report = tracer.stop().report
    assert counted(report) == report["events"] == CALLS and nothing_lost(report)
    said = f"module {MODULE} was removed" in report["source"]
    assert said == (not removed.returncode)
    assert removed.returncode == 0 or "in use" in removed.stderr
    assert not removed.returncode or not do("rmmod", MODULE, check=False).returncode


@pytest.mark.parametrize("name, args", (("runqlat", ()), ("profile", ("-a",))), ids=("runqlat", "profile"))
@pytest.mark.parametrize("hours", (1, -2))
def test_the_clock_is_set(ends, tool, name, args, hours):
    """Forward or back, durations and intervals have the length by a clock that cannot be set. An interval begins
    at the end of the one before, except for the first after the clock was set: it begins at the clock's new
    time."""
    begun = time.monotonic_ns()
    tracer = tool("--json", *args, "-I", "100", tool=name)
    tracer.await_lines(2)
    time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() + hours * HOUR * 10**9)
    ends.callback(lambda: time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() - hours * HOUR * 10**9))
    tracer.await_lines(6)
    reports = tracer.stop().reports
    elapsed = time.monotonic_ns() - begun
    assert all(0 < report["duration_ns"] <= elapsed for report in reports)
    assert sum(report["duration_ns"] for report in reports) <= elapsed
    steps = [
        next_one["start_ns"] - (one["start_ns"] + one["duration_ns"]) for one, next_one in zip(reports, reports[1:])
    ]
    (step,) = [step for step in steps if step]
    assert abs(step - hours * HOUR * 10**9) < elapsed


@pytest.mark.parametrize("hours", (1, -2))
def test_the_clock_is_set_between_lines(ends, tool, hours):
    """Lines have the time of the clock when they are written."""
    tracer = tool("--json", tool="timehist")
    tracer.await_lines(10)
    time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() + hours * HOUR * 10**9)
    ends.callback(lambda: time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() - hours * HOUR * 10**9))
    tracer.await_lines(tracer.lines() + 100)
    last = [json.loads(line) for line in tracer.stop().text.splitlines()][-2]
    assert abs(last["time_ns"] - time.time_ns()) < HOUR * 10**9 / 2


# Features of doctor, and their files: a 0 disables probes of kernel functions, which stay attached.
SWITCHES = {
    "kernel.ftrace_enabled": "/proc/sys/kernel/ftrace_enabled",
    "kprobes/enabled": "/sys/kernel/debug/kprobes/enabled",
}


@pytest.mark.parametrize("feature", SWITCHES)
def test_probes_are_switched_off(ends, run, feature):
    """An attached probe would not run: the tool refuses, and attaches nothing, since kernels warn when such a probe is
    detached. doctor says so, and attaches nothing either."""
    switch = Path(SWITCHES[feature])
    if not switch.exists():
        pytest.skip(f"no {switch} here")
    ends.callback(lambda: switch.write_text("1\n"))
    switch.write_text("0\n")
    rows = json.loads(do(BUILD / "tally", "doctor", "--json").stdout)["rows"]
    assert [row["status"] for row in rows if row["feature"] == feature] == ["missing"]
    for name, args in (("stat", ("-a", "-e", "vfs_read")), ("probe", ("vfs_read",)), ("stackcount", ("vfs_read",)),
                       ("funcgraph", ("vfs_read",)), ("dcstat", ())):
        result = run("--json", "-d", "0.3", *args, tool=name)
        said = "is 0: probes" if feature == "kernel.ftrace_enabled" else "kprobes are disabled"
        if feature == "kprobes/enabled" and result.code == 0:
            # It needs no kprobe.
            assert "kprobe (" not in result.report["source"] and said not in result.stderr, result
        else:
            assert result.code != 0 and (said in result.stderr or name == "dcstat"), result
    assert "ftrace_shutdown" not in do("dmesg").stdout
