# SPDX-License-Identifier: BSD-2-Clause
"""--slices: exact while looking is cheap, else estimated from a tenth of the time, and the report says which."""

import json
import os
import subprocess
import sys
import time

import pytest

import tally
from test_overhead import kernel_runs
from test_record import query

# Calls of the whole machine decide whether looking is cheap.
pytestmark = pytest.mark.exclusive

@pytest.fixture
def load(ends):
    """Starts a program that makes calls until the test ends."""

    def start(*command):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        ends.callback(process.wait)
        ends.callback(process.kill)
        return process

    return start


def both(tool, name, *options):
    """The reports with and without --slices over the same time."""
    tracers = [tool("--json", *options, *more, tool=name) for more in ((), ("--slices",))]
    # Whole slices, and what lies between them.
    time.sleep(4)
    return [tracer.stop().report for tracer in tracers]


def is_estimate(report):
    """Looked at for about a tenth: longer on a busy machine, where the thread that ends slices waits for a CPU."""
    part = report.get("measured_ns", 0) / report["duration_ns"]
    assert part < 1
    return 0.05 < part < 0.6


def test_calls(tool, load):
    """dd does nothing but call: too dear to look at all the time. The estimate is near to what another run counts."""
    dd = load("dd", "if=/dev/zero", "of=/dev/null", "bs=1")

    def trial():
        exact, estimate = both(tool, "syscount", "--by", "pid,syscall", "-p", dd.pid)
        assert "measured_ns" not in exact and "note" not in exact
        rows = [{row["syscall"]: row["calls"] for row in each["rows"]} for each in (exact, estimate)]
        ratios = [rows[1][call] / rows[0][call] for call in ("read", "write")]
        # The load runs evenly only as far as the machine lets it: without scaling, the ratio would be about a tenth.
        tally.within(is_estimate(estimate) and all(0.5 < ratio < 2 for ratio in ratios), ratios, estimate)
        assert estimate["note"].startswith("estimated: events were observed for ")
        assert estimate["events"] == sum(row["calls"] for row in estimate["rows"])

    tally.steady(trial)


def test_statistics_are_rare(tool, load):
    """Turning the kernel's BPF statistics on and off takes more CPU time than what is measured with them: beside a load
    that is too dear, each third slice has them, if the run is long. Another tool's programs are counted meanwhile."""
    load("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    other = tool(tool="syscount")

    def windows(*args):
        tracer, found, was_on = tool("--slices", *args, tool="syscount"), 0, False
        before, end = None, time.monotonic() + 8
        while time.monotonic() < end:
            now = sum(kernel_runs(other.pid).values())
            is_on = before is not None and now > before
            found += is_on and not was_on
            before, was_on = now, is_on
            time.sleep(0.005)
        tracer.stop()
        return found

    def trial():
        often, rarely = windows("-d", "9"), windows("-d", "100")
        tally.within(often >= 6 and 2 <= rarely <= 4, often, rarely)

    tally.steady(trial)


PACKETS = """
import socket
here, there = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
there.bind(("127.0.0.1", 0))
here.connect(there.getsockname())
while True:
    here.send(b"x")
    there.recv(1)
"""


def test_softirqs(tool, load):
    """Packets on loopback are softirqs, too many to look at all the time."""
    for _ in range(2):
        load(sys.executable, "-c", PACKETS)

    def trial():
        exact, estimate = both(tool, "softirqs")
        rows = [{row["softirq"]: row for row in each["rows"]}["NET_RX"] for each in (exact, estimate)]
        ratios = [rows[1][column] / rows[0][column] for column in ("count", "total")]
        tally.within(is_estimate(estimate) and all(0.5 < ratio < 2 for ratio in ratios), ratios, estimate)
        # A begin and an end of different slices, 900 ms apart, are not a pair, and nothing is lost at the edges.
        assert rows[1]["max"] < 900e6 and not sum(estimate["lost"].values()), (exact, estimate)

    tally.steady(trial)


def test_hardirqs(tool, load):
    """Beside calls that are too many, interrupts are looked at in slices, too. Ticks come evenly to a busy CPU."""
    load("dd", "if=/dev/zero", "of=/dev/null", "bs=1")

    def ticks(report):
        row, = (row for row in report["rows"] if row["name"] == "local_timer")
        return [row["count"], row["total"]]

    def trial():
        exact = tool("--json", "--by", "name", tool="hardirqs")
        sliced = tool("hardirqs --by name --slices", "syscount --slices", "--json", tool="run")
        time.sleep(4)
        estimate, = (r for r in map(json.loads, sliced.stop().text.splitlines()) if r["tool"] == "hardirqs")
        exact = exact.stop().report
        ratios = [one / other for one, other in zip(ticks(estimate), ticks(exact))]
        tally.within(is_estimate(estimate) and all(0.5 < ratio < 2 for ratio in ratios), ratios, estimate)
        assert estimate["note"].startswith("estimated: ") and "note" not in exact
        assert not sum(estimate["lost"].values()), estimate

    tally.steady(trial)


def test_recorded(run, load, tmp_path):
    """A recording keeps how long each interval was looked at. Shown together, they are estimated from the sum."""
    dd = load("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    path = tmp_path / "recording"
    line = f"syscount --by pid,syscall -p {dd.pid} --slices"

    def trial():
        path.unlink(missing_ok=True)
        assert run("-o", path, line, "2", "2", tool="record").code == 0
        whole, = run(path, line, "--json", tool="show").reports
        apart = run(path, line, "--each", "--json", tool="show").reports
        tally.within(len(apart) == 2 and all(is_estimate(each) for each in apart), apart)
        assert whole["measured_ns"] == sum(each["measured_ns"] for each in apart)
        assert whole["note"].startswith("estimated: ")
        assert whole["note"].endswith(f" of {whole['duration_ns'] / 1e9:.2f} s"), whole
        heads = query(path, "SELECT count(*) FROM head")
        assert heads == [(1,)], "the same in every interval"

    tally.steady(trial)


def test_exact_while_cheap(tool, trigger):
    """A machine that makes few calls is looked at all the time: nothing is estimated."""

    def trial():
        work = trigger("futexes", 20, 2000)
        tracer = tool("--json", "--by", "pid,syscall", "-p", work.pid, "--slices", tool="syscount")
        other = tool("--json", "--by", "pid,syscall", "-p", work.pid, tool="syscount")
        time.sleep(0.5)
        work.go()
        work.done()
        sliced, whole = (each.stop().report for each in (tracer, other))
        tally.within("measured_ns" not in sliced, sliced)
        assert sliced["events"] > 0
        found, known = ([(row["syscall"], row["calls"]) for row in each["rows"]] for each in (sliced, whole))
        assert found == known

    tally.steady(trial)


@pytest.mark.parametrize("command", (
    "syscount --latency", "syscount --hist", "softirqs --latency",
))
def test_refused(run, command):
    """Times need both ends of a call."""
    name, *options = command.split()
    result = run(*options, "--slices", "-d", "0.1", tool=name)
    assert result.code == 2 and "--slices" in result.stderr, result


def test_short_intervals_are_exact(tool, load):
    """An interval of a second would have one slice or none."""
    dd = load("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    tracer = tool("--json", "--by", "syscall,pid", "-p", dd.pid, "--slices", "1", "2", tool="syscount")
    reports = [json.loads(line) for line in tracer.wait().text.splitlines()]
    assert len(reports) == 2 and not any("measured_ns" in report for report in reports), reports


def idle_share(seconds):
    """How much of the CPUs nobody used in that time."""
    def idle():
        with open("/proc/uptime") as f:
            return float(f.read().split()[1])

    before = idle()
    time.sleep(seconds)
    return (idle() - before) / (seconds * os.cpu_count())


def test_a_load_that_begins_is_noticed(tool, load):
    """Between slices of an idle machine programs stay attached: a load that begins there waits no second for relief."""
    if idle_share(1) < 0.5:
        pytest.skip("a load that begins does not show on a machine that is busy")

    def trial():
        tracer = tool("--json", "--slices", tool="syscount")
        time.sleep(0.15)
        dd = load("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
        time.sleep(1.5)
        report = tracer.stop().report
        dd.kill()
        # The next slice of before began after a second.
        tally.within(report.get("measured_ns", report["duration_ns"]) < 800e6, report)

    tally.steady(trial)
