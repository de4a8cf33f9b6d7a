# SPDX-License-Identifier: BSD-2-Clause
"""netlat: a queue of a known rate in front of a device of our own, and loopback, which has none."""

import os
import socket
import subprocess

import pytest

import network
import tally
from tally import once

RATE, PACKET = 8_000_000, 1000      # bits a second, bytes with headers: a millisecond each


def stages(result, device):
    """{stage: group} of one device."""
    report = result.report
    lost = {reason for reason, n in report["lost"].items() if n}
    if lost:
        assert lost <= {"recursion", "no_buffer"}, report
        raise tally.Blurred
    return {g["key"]["stage"]: g for g in report["groups"] if g["key"]["device"] == device}


def ip(*args):
    return subprocess.run(["ip", *args], capture_output=True, check=False).returncode == 0


def transmitted(device):
    with open("/proc/thread-self/net/dev", encoding="ascii") as file:
        for line in file:
            name, _, figures = line.partition(":")
            if name.strip() == device:
                return int(figures.split()[9])
    raise KeyError(device)


@pytest.fixture
def shaped(ends):
    """A device with a token bucket in front of it; its other end is here, too. Without an address of
    IPv6, which would send by itself."""
    ends.enter_context(network.Own())
    device = f"tally{os.getpid() % 10_000_000}"
    if not ip("link", "add", device, "type", "veth", "peer", "name", "other"):
        pytest.skip("no veth here")
    for each in (device, "other"):
        assert ip("link", "set", each, "addrgenmode", "none")
        assert ip("link", "set", each, "up")
    assert ip("addr", "add", "10.77.0.1/24", "broadcast", "10.77.0.255", "dev", device)
    if subprocess.run(["tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{RATE}bit",
                       "burst", "2000", "limit", "1000000"], check=False).returncode:
        pytest.skip("no tbf here")
    return device


@once
def test_queue(tool, shaped):
    def trial():
        n = 40
        tracer = tool("--json", "--by", "device", tool="netlat")
        before = transmitted(shaped)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            for _ in range(n):
                s.sendto(b"x" * (PACKET - 42), ("10.77.0.255", 9))
        tally.wait_until(lambda: transmitted(shaped) == before + n, "packets stay in the queue")
        found = stages(tracer.stop(), shaped)
        assert found["qdisc"]["count"] == found["device"]["count"] == n, found
        # Two packets fit into the bucket; the last waits for all the others but those.
        longest = (n - 2) * PACKET * 8 * 1_000_000_000 // RATE
        tally.within(abs(found["qdisc"]["max"] - longest) < longest / 5, found["qdisc"]["max"])
        tally.within(found["device"]["max"] < longest / 5, found["device"]["max"])

    tally.steady(trial)


def test_loopback(tool, ends):
    """Has no queue; others may use theirs."""
    ends.enter_context(network.Own())
    n = tally.scaled(400)

    def trial():
        tracers = [tool("--json", "--by", "device", *args, tool="netlat")
                   for args in ((), ("--table",))]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
            receiver.bind(("127.0.0.1", 0))
            for _ in range(n):
                receiver.sendto(b"x", receiver.getsockname())
                receiver.recv(1)
        groups, table = (tracer.stop() for tracer in tracers)
        found = stages(groups, "lo")
        assert found["qdisc"]["count"] >= n and found["device"]["count"] >= n, found
        rows = {row["stage"]: row["count"] for row in table.report["rows"] if row["device"] == "lo"}
        assert rows["qdisc"] >= n and rows["device"] >= n, rows

    tally.steady(trial)


@once
@pytest.mark.parametrize("args", (("-P",), ("--by", "comm"), ("-p", "1")))
def test_wrong_usage(run, args):
    result = run(*args, tool="netlat")
    assert result.code == 2 and not result.stdout, result


def test_usage(run):
    result = run("-n", tool="netlat")
    assert result.code == 0 and "on_queue at tp_btf/net_dev_queue" in result.text, result
