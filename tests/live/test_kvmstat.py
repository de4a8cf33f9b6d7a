# SPDX-License-Identifier: BSD-2-Clause
"""kvmstat compared with a virtual machine that exits a known number of times for known reasons,
and with KVM's own counts (debugfs). QEMU emulates AMD's virtualization, so this
runs in guests, whose kernels have the module."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import tally
from snooping import PREEMPTIBLE, exact
from tracefs import tracing

OUTS, CPUIDS, US = 40, 25, 2000
DEBUGFS = Path("/sys/kernel/debug")


def modules(do, *names):
    return subprocess.run([do, *names], capture_output=True, text=True)


@pytest.fixture(scope="module")
def kvm():
    """Makes sure that virtual machines can be created."""
    if not tally.GUEST:
        pytest.skip("loads the module kvm_amd: in guests only")
    loaded = modules("modprobe", "kvm_amd")
    assert not loaded.returncode and Path("/dev/kvm").exists(), loaded
    if not (DEBUGFS / "kvm").exists():
        assert not modules("mount", "-t", "debugfs", "none", str(DEBUGFS)).returncode
    yield
    modules("rmmod", "kvm_amd", "kvm")


@pytest.fixture
def kvmstat(kvm, tool):
    def start(*args, **kwargs):
        return tool("--json", *args, tool="kvmstat", **kwargs)

    return start


class Machine:
    """The trigger: a virtual machine, at rest. After its work, began is a time before it, and
    vcpus is {tid: (ns of the return of the first write, ns of the halt)}."""

    def __init__(self, trigger, vcpus=1, us=US):
        self.load = trigger("vcpu", OUTS, CPUIDS, us, vcpus)
        self.pid = self.load.pid
        self.books = next((DEBUGFS / "kvm").glob(f"*-{self.load.numbers[0]}"))

    def counted(self, name="exits"):
        """KVM's own count, over all CPUs of the virtual machine."""
        return int((self.books / name).read_text())

    def go(self):
        self.began = time.monotonic_ns()
        self.load.go()

    def done(self):
        said = self.load.done()
        self.load.settle()
        self.vcpus = {}
        for i in range(0, len(said), 5):
            tid, writes, halts, first, last = said[i:i + 5]
            assert (writes, halts) == (OUTS, 1)
            self.vcpus[tid] = first, last

    def work(self):
        self.go()
        self.done()


def whole(report):
    """Nothing was lost, except what exact() handles."""
    lost = {reason for reason, n in tally.flaws(report).items() if n}
    if PREEMPTIBLE and lost and lost <= {"recursion", "missed"}:
        raise tally.Blurred
    assert not lost, report
    return report


def rows(report, **wanted):
    return [row for row in report["rows"] if all(row[name] == value for name, value in wanted.items())]


def count(found):
    return sum(row["count"] for row in found)


def total(found):
    return sum(row["total"] for row in found)


def test_refused(run):
    """Without KVM, the message says what to do. (Where it is built in, there are just no machines.)"""
    if tally.GUEST:
        modules("rmmod", "kvm_amd", "kvm")
    ran = run("-d", "0.1", tool="kvmstat")
    if (tracing() / "events/kvm/kvm_exit").exists():
        assert not tally.GUEST and ran.code == 0, ran
        return
    assert ran.code == 4 and not ran.text, ran
    assert "KVM is not loaded" in ran.stderr and "modprobe" in ran.stderr


@exact
def test_reasons(kvmstat, trigger):
    """Each exit counts once, by its reason, including the one in progress; their number is KVM's."""
    machine = Machine(trigger)
    tool = kvmstat("-p", machine.pid)
    machine.work()
    report = whole(tool.stop().report)
    by_reason = {row["reason"]: row for row in report["rows"]}
    assert by_reason["io"]["count"] == OUTS == machine.counted("io_exits")
    assert by_reason["cpuid"]["count"] == CPUIDS
    assert (by_reason["hlt"]["count"], by_reason["hlt"]["state"]) == (1, "halted")
    assert count(rows(report, state="host")) + 1 == machine.counted()
    # Each stretch in the guest is ended by an exit.
    assert by_reason["-"]["state"] == "guest"
    assert by_reason["-"]["count"] == machine.counted()
    assert report["events"] == 2 * machine.counted()
    # Older kernels report AMD's exits later than they happen.
    assert ("note" in report) == (tally.KERNEL < (6, 5))
    # A write returned to a thread that slept before it entered again.
    assert by_reason["io"]["total"] >= OUTS * US * 1000


@exact
def test_times_are_whole(kvmstat, trigger):
    """The times of a thread have no gaps and no overlaps, from its first entry to the end."""
    machine = Machine(trigger, vcpus=2)
    tool = kvmstat("-p", machine.pid, "--by", "tid,reason")
    machine.work()
    asked = time.monotonic_ns()
    report = whole(tool.stop().report)
    ended = time.monotonic_ns()
    assert {row["tid"] for row in report["rows"]} == set(machine.vcpus)
    assert {row["comm"] for row in report["rows"]} == {"vcpu"}
    for tid, (first, last) in machine.vcpus.items():
        assert count(rows(report, tid=tid, reason="io")) == OUTS
        assert count(rows(report, tid=tid, reason="cpuid")) == CPUIDS
        halt, = rows(report, tid=tid, reason="hlt")
        whole_ns = total(rows(report, tid=tid))
        assert asked - first <= whole_ns <= ended - machine.began
        assert whole_ns - halt["total"] <= last - machine.began
        assert halt["total"] >= asked - last
    assert count(report["rows"]) == 2 * machine.counted()


@exact
def test_by_machine(kvmstat, trigger):
    """--by pid has a row for each state of a machine; -p selects one."""
    first, second = Machine(trigger), Machine(trigger, us=0)
    tool = kvmstat("--by", "pid")
    scoped = kvmstat("-p", second.pid, "--by", "state")
    first.work()
    second.work()
    report, of_second = whole(tool.stop().report), whole(scoped.stop().report)
    for machine in (first, second):
        states = {row["state"]: row["count"] for row in rows(report, pid=machine.pid)}
        exits = machine.counted()
        assert states == {"guest": exits, "host": exits - 1, "halted": 1}
    assert {row["state"]: row["count"] for row in of_second["rows"]} == states
    # All except the halt, which had not ended.
    assert of_second["filtered"] == 2 * first.counted()


@exact
def test_thread_end(kvmstat, trigger):
    """The last exit of a thread ends with it."""
    machine = Machine(trigger)
    tool = kvmstat("-p", machine.pid)
    machine.work()
    exits, (_, last) = machine.counted(), *machine.vcpus.values()
    closed = time.monotonic_ns()
    machine.load.close()
    ended = time.monotonic_ns()
    time.sleep(0.2)       # not part of its time
    report = whole(tool.stop().report)
    halt, = rows(report, reason="hlt")
    assert halt["count"] == 1 and count(report["rows"]) == 2 * exits
    assert halt["total"] >= closed - last
    assert total(report["rows"]) <= ended - machine.began


@exact
def test_begun_before(kvmstat, trigger):
    """Exits that began before the run are mentioned, and all later ones are counted."""
    machine = Machine(trigger, us=20_000)
    machine.go()
    tally.wait_until(lambda: machine.counted("io_exits"), "a first write")
    os.kill(machine.pid, signal.SIGSTOP)
    tally.wait_until(lambda: {tally.state(machine.pid, tid) for tid in tally.threads(machine.pid)} == {"T"},
                     "stopped")
    tally.settle(machine.pid)
    before = machine.counted()
    tool = kvmstat("-p", machine.pid)
    os.kill(machine.pid, signal.SIGCONT)
    machine.done()
    report = whole(tool.stop().report)
    assert report["begun_before"] == 1
    assert count(rows(report, state="guest")) == machine.counted() - before
    assert count(report["rows"]) == 2 * (machine.counted() - before)


@exact
def test_histograms(kvmstat, trigger):
    machine = Machine(trigger)
    tool = kvmstat("-p", machine.pid, "--hist")
    machine.work()
    report = whole(tool.stop().report)
    groups = {(group["key"]["state"], group["key"]["reason"]): group for group in report["groups"]}
    assert groups["host", "io"]["count"] == OUTS
    assert groups["host", "io"]["min"] >= US * 1000
    assert groups["host", "cpuid"]["count"] == CPUIDS
    assert groups["halted", "hlt"]["count"] == 1


def test_text(kvm, tool, trigger):
    """For people: a subtotal if a state has several reasons, and the total."""
    machine = Machine(trigger)
    started = tool("-p", machine.pid, tool="kvmstat")
    machine.work()
    lines = [line.split() for line in started.stop().text.splitlines()]
    assert sum(line[:3] == ["state", "reason", "count"] for line in lines) == 1
    assert [line[0] for line in lines if "total" in line[:2]] == ["host", "total"]
