# SPDX-License-Identifier: BSD-2-Clause
"""profile where the kernel throttles samples: how often, against its records for another reader of the same clock."""

import contextlib
import ctypes
import mmap
import os
import re
import struct

import pytest

from tally import end_process, once, steady, within

pytestmark = [once, pytest.mark.exclusive]

LIMIT = "/proc/sys/kernel/perf_event_max_sample_rate"
LOW = 4000                      # per second: no other test asks for more
PERIOD = 100_000                # ns
CPUS = range(2)
PERF_EVENT_OPEN = 298
PERF_RECORD_THROTTLE = 5
RING = 1024 * mmap.PAGESIZE     # a tick takes some 200 bytes: at 1,000 ticks a second it has room for 20 s


def limit():
    with open(LIMIT) as f:
        return int(f.read())


def set_limit(rate):
    try:
        with open(LIMIT, "w") as f:
            f.write(str(rate))
    except OSError as e:
        pytest.skip(f"{LIMIT} cannot be changed here: {e}")


@pytest.fixture
def low():
    """The limit applies to the whole machine, so it is lowered for a short time only."""
    before = limit()
    set_limit(LOW)
    yield before
    set_limit(before)


class Reader:
    """Samples the clock on a CPU like profile -e cpu-clock -c PERIOD, and counts the kernel's throttle records."""

    def __init__(self, cpu):
        # type, size, config, sample_period; the rest (no samples are read, nothing is left out) is 0
        attr = struct.pack("IIQQ", 1, 128, 0, PERIOD).ljust(128, b"\0")
        self.fd = ctypes.CDLL(None, use_errno=True).syscall(PERF_EVENT_OPEN, attr, -1, cpu, -1, 0)
        assert self.fd >= 0, os.strerror(ctypes.get_errno())
        self.ring = mmap.mmap(self.fd, mmap.PAGESIZE + RING)

    def close(self):
        self.ring.close()
        os.close(self.fd)

    def throttled(self):
        """The number of throttle records so far. Empty samples are records of 8 bytes."""
        head, = struct.unpack_from("Q", self.ring, 1024)
        at, found = 0, 0
        assert head < RING - mmap.PAGESIZE, "the ring is full: it does not have all"
        while at < head:
            kind, _, size = struct.unpack_from("IHH", self.ring, mmap.PAGESIZE + at)
            found += kind == PERF_RECORD_THROTTLE
            at += size
        return found


@contextlib.contextmanager
def readers():
    found = [Reader(cpu) for cpu in CPUS]
    try:
        yield found
    finally:
        for reader in found:
            reader.close()


def told(result):
    """{CPU: how often profile says it was throttled}. On a busy machine this may be a lower bound."""
    return {int(m[2]): int(m[1])
            for m in re.finditer(r"throttled sampling (?:at least )?(\d+) times? on CPU (\d+):", result.stderr)}


def is_exact(result):
    return "throttled sampling at least" not in result.stderr


def test_throttled(tool, trigger, low):
    """Each reader of the clock is stopped in each tick: one that began before profile and ended after it was stopped at
    least as often, one that began and ended within its run at most as often."""
    loads = [trigger("spin", 1, 600, cpu) for cpu in CPUS]
    with readers() as outer:
        tracer = tool("--json", "-e", "cpu-clock", "-c", PERIOD, tool="profile")
        with readers() as inner:
            for load in loads:
                load.go()
            for load in loads:
                load.done()
            least = [reader.throttled() for reader in inner]
        result = tracer.stop()
        most = [reader.throttled() for reader in outer]
    found = told(result)
    for cpu in CPUS:
        assert 10 < least[cpu] and 0 < found[cpu] <= most[cpu], (least, found, most)
        assert least[cpu] <= found[cpu] or not is_exact(result), (least, found, most)
    assert f"kernel.perf_event_max_sample_rate is {LOW} per second" in result.stderr, result
    report = result.report
    assert report["lost"]["missed"] > report["events"] > 0, report
    # Throttling that profile reads after the report was made is in the warnings only.
    assert 0 < report["throttled"] <= sum(found.values()), (least, found, report)
    assert sum(least) <= report["throttled"] or not is_exact(result), (least, found, report)


def test_each_interval_has_its_own(tool, trigger, low):
    """Each interval has the number since the last one; they add up to the number at the end."""
    def trial():
        loads = [trigger("spin", 1, 400, cpu) for cpu in CPUS]
        tracer = tool("--json", "-e", "cpu-clock", "-c", PERIOD, "-I", 100, tool="profile")
        for load in loads:
            load.go()
        for load in loads:
            load.done()
        result = tracer.stop()
        found, each = told(result), [report.get("throttled", 0) for report in result.reports]
        within(max(each) < sum(each), each)
        assert 0 < sum(each) <= sum(found.values()), (each, found)

    steady(trial)


def test_text(tool, trigger, low):
    load = trigger("spin", 1, 400, 0)
    tracer = tool("-e", "cpu-clock", "-c", PERIOD, "-K", tool="profile")
    load.go()
    load.done()
    assert re.search(r"^  throttled [\d,]+ times by the kernel: ", tracer.stop().text, re.M)


def test_each_period_is_a_sample_or_missed(tool, trigger, low):
    """On CPUs that are never idle the elapsed time gives the number of periods. Samples of the tool itself are
    filtered."""
    def trial():
        loads = [trigger("spin", 1, 600_000, cpu) for cpu in CPUS]      # they are ended after the tool
        for load in loads:
            load.go()
        tracer = tool("--json", "-e", "cpu-clock", "-c", PERIOD, "-d", 0.4, tool="profile")
        report = tracer.wait().report
        for load in loads:
            end_process(load.process)
        due = len(CPUS) * report["duration_ns"] / PERIOD
        found = report["events"] + report["filtered"] + report["lost"]["missed"]
        within(abs(found - due) <= 0.03 * due, due, report["events"], report["filtered"], report["lost"])

    steady(trial)


@pytest.mark.parametrize("tool, args, rate", (
    ("profile", (), 50), ("profile", ("-e", "cpu-clock"), 50), ("profile", ("-e", "page-faults"), 50),
    ("runqlen", (), 50), ("profile", ("-e", "sched:sched_switch"), None), ("profile", ("-e", "cs", "-c", "1"), None),
))
def test_the_usual_rate_is_lowered(run, low, tool, args, rate):
    """A rate that nobody typed is lowered, not refused. Events without a rate are not affected."""
    set_limit(50)
    result = run("--json", *args, "-d", 0.1, tool=tool)
    said = f"taking {rate} samples per second, not 99: limited by kernel.perf_event_max_sample_rate"
    assert result.code == 0 and (said in result.stderr) == bool(rate), result
    assert not rate or re.search(rf"\b{rate} (times|samples) a second", result.report["source"]), result
    typed = run(*args, "-F", 99, "-d", 0.1, tool=tool)
    assert typed.code == 2 or not rate, typed


def test_not_throttled(run):
    result = run("-F", 99, "-d", 0.3, tool="profile")
    assert result.code == 0 and "throttled" not in result.text + result.stderr, result
    assert "went down" not in result.stderr, result


def test_a_limit_that_goes_down(tool):
    before = limit()
    tracer = tool("-F", 99, tool="profile")
    try:
        set_limit(before - 1000)
        result = tracer.stop()
    finally:
        set_limit(before)
    assert f"perf_event_max_sample_rate went down from {before} to {before - 1000}" in result.stderr, result
