# SPDX-License-Identifier: BSD-2-Clause
"""netlat: a queue of a known rate in front of a virtual device; frames through a pair of devices; datagrams and
connections over the loopback of a private network namespace. Device names are unique, so all figures are exact. Polls
of a CPU's queue are shared by all devices: softnet_stat counts those of others."""

import os
import socket
import subprocess
import time

import pytest

import network
import tally
from tally import flaws, once

pytestmark = pytest.mark.exclusive

RATE, PACKET = 8_000_000, 1000      # bits a second, bytes with headers: a millisecond each
ETHERTYPE = 0x88b5                  # for experiments: IEEE 802
UDP_SEGMENT = 103                   # include/uapi/linux/udp.h


def stages(result, device):
    """{stage: group} of one device."""
    report = result.report
    lost = {reason for reason, n in flaws(report).items() if n}
    if lost:
        assert lost <= {"recursion", "no_buffer"}, report
        raise tally.Blurred
    return {g["key"]["stage"]: g for g in report["groups"] if g["key"]["device"] == device}


def counts(groups):
    return {stage: g["count"] for stage, g in groups.items()}


def ip(*args):
    return subprocess.run(["ip", *args], capture_output=True, check=False).returncode == 0


def figure(device, column):
    with open("/proc/thread-self/net/dev", encoding="ascii") as file:
        for line in file:
            name, _, figures = line.partition(":")
            if name.strip() == device:
                return int(figures.split()[column])
    raise KeyError(device)


def received(device):
    return figure(device, 1)


def transmitted(device):
    return figure(device, 9)


def name_of(end):
    return f"tally{os.getpid() % 10_000_000}{end}"


@pytest.fixture
def own(ends):
    ends.enter_context(network.Own())


@pytest.fixture
def loopback(own):
    """The loopback device of a private network namespace, renamed."""
    name = name_of("lo")
    assert ip("link", "set", "lo", "down") and ip("link", "set", "lo", "name", name)
    assert ip("link", "set", name, "up")
    return name


@pytest.fixture
def pair(own):
    """A veth pair, without IPv6 addresses, which would send packets by themselves."""
    names = name_of("a"), name_of("b")
    if not ip("link", "add", names[0], "type", "veth", "peer", "name", names[1]):
        pytest.skip("no veth here")
    for each in names:
        assert ip("link", "set", each, "addrgenmode", "none")
        assert ip("link", "set", each, "up")
    return names


@pytest.fixture
def shaped(pair):
    """A veth pair with a token bucket in front of the first device."""
    assert ip("addr", "add", "10.77.0.1/24", "broadcast", "10.77.0.255", "dev", pair[0])
    if subprocess.run(["tc", "qdisc", "add", "dev", pair[0], "root", "tbf", "rate", f"{RATE}bit",
                       "burst", "2000", "limit", "1000000"], check=False).returncode:
        pytest.skip("no tbf here")
    return pair


@once
def test_queue(tool, shaped):
    device, other = shaped

    def trial():
        n = 40
        tracer = tool("--json", "--by", "device", tool="netlat")
        before, hidden = transmitted(device), tally.holes()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            for _ in range(n):
                s.sendto(b"x" * (PACKET - 42), ("10.77.0.255", 9))
        tally.wait_until(lambda: transmitted(device) == before + n, "packets stay in the queue")
        result = tracer.stop()
        found = stages(result, device)
        # The queue's timer may send packets in the context of a thread whose events are hidden.
        if tally.holes() > hidden and found["qdisc"]["count"] < n:
            raise tally.Blurred
        # This machine receives each broadcast, too.
        assert counts(found) == {"qdisc": n, "device": n, "backlog": n}, result
        assert counts(stages(result, other)) == {"backlog": n}, result
        # The bucket holds two packets; the last packet waits for all others except these two.
        longest = (n - 2) * PACKET * 8 * 1_000_000_000 // RATE
        tally.within(abs(found["qdisc"]["max"] - longest) < longest / 5, found["qdisc"]["max"])
        tally.within(found["device"]["max"] < longest / 5, found["device"]["max"])

    tally.steady(trial)


class Frames:
    """Frames from one device to another, each read twice: the first read only peeks."""

    def __init__(self, ends, pair):
        self.sender, self.reader = (
            ends.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)) for _ in pair)
        self.sender.bind((pair[0], 0))
        self.reader.bind((pair[1], ETHERTYPE))

    def send(self, n):
        for _ in range(n):
            self.sender.sendto(b"x" * 100, (self.sender.getsockname()[0], ETHERTYPE, 0, 0, b"\xff" * 6))

    def read(self, n):
        for _ in range(n):
            assert self.reader.recv(1000, socket.MSG_PEEK) == self.reader.recv(1000)


def test_frames(tool, ends, pair):
    """Stages follow each other: the times of all stages of all packets lie within the time of all packets."""
    frames = Frames(ends, pair)

    def trial():
        n, spent_ns = tally.scaled(400), 0
        tracer = tool("--json", "--by", "device", tool="netlat")
        for _ in range(n):
            began_ns = time.monotonic_ns()
            frames.send(1)
            frames.read(1)
            spent_ns += time.monotonic_ns() - began_ns
        result = tracer.stop()
        out, come = stages(result, pair[0]), stages(result, pair[1])
        assert counts(out) == {"qdisc": n, "device": n}, result
        assert counts(come) == {"backlog": n, "socket": n}, result
        assert sum(g["sum"] for g in (*out.values(), *come.values())) <= spent_ns, result

    tally.steady(trial)


def test_late_reader(tool, ends, pair):
    """Packets wait in the socket for as long as the reader stays away."""
    frames = Frames(ends, pair)
    n = 20

    def trial():
        tracer = tool("--json", "--by", "device", tool="netlat")
        before, began_ns = received(pair[1]), time.monotonic_ns()
        frames.send(n)
        tally.wait_until(lambda: received(pair[1]) == before + n, "frames stay on their way")
        time.sleep(0.2)
        frames.read(n)
        ended_ns = time.monotonic_ns()
        result = tracer.stop()
        found = stages(result, pair[1])
        assert counts(found) == {"backlog": n, "socket": n}, result
        assert found["socket"]["min"] + found["backlog"]["max"] >= 190_000_000, result
        assert found["socket"]["max"] <= ended_ns - began_ns, result

    tally.steady(trial)


def sees_datagrams(result):
    """Reads of UDP need kprobes, and the tool says so where there are none."""
    report = result.report
    assert ("without a kprobe" in report.get("note", "")) != ("kretprobe" in report["source"]), report
    return "kretprobe" in report["source"]


def test_datagrams(tool, loopback):
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
        wanted = dict.fromkeys(("qdisc", "device", "backlog"), n)
        if sees_datagrams(groups):
            wanted["socket"] = n
        assert counts(stages(groups, loopback)) == wanted, groups
        rows = [row for row in table.report["rows"] if row["device"] == loopback]
        assert {row["stage"]: row["count"] for row in rows} == wanted, table

    tally.steady(trial)


def test_connection(tool, ends, loopback):
    """Data read before the next send is one packet, even if read in parts. Data that waits in the socket is merged
    there; how much of it is up to the kernel."""
    sockets = network.Sockets(ends, socket.AF_INET, "127.0.0.1")
    sender, reader = sockets.pair(sockets.server())
    n, waiting = tally.scaled(200), 10

    def trial():
        tracer = tool("--json", "--by", "device", tool="netlat")
        before = received(loopback)
        for _ in range(n):
            sender.send(b"xy")
            assert reader.recv(1) + reader.recv(1) == b"xy"
        alone = received(loopback) - before
        for _ in range(waiting):
            sender.send(b"x")
        time.sleep(0.05)
        network.receive(reader, waiting)
        result = tracer.stop()
        found = counts(stages(result, loopback))
        came = received(loopback) - before
        assert n <= alone < came, result
        # An acknowledgement may come after the tool has ended.
        assert n + waiting <= found["backlog"] <= came, result
        assert found["backlog"] == found["device"] == found["qdisc"], result
        assert n < found["socket"] <= n + waiting, result

    tally.steady(trial)


def taken_up():
    """Packets handed to the protocols, over all devices."""
    return sum(int(line.split()[0], 16) for line in open("/proc/net/softnet_stat", encoding="ascii"))


def test_polls(tool, pair):
    """The segments of a datagram that is cut in front of the driver arrive all at once, as many as a poll may take:
    each time the poll uses up its budget, and another one follows."""
    n, segments, size = 10, 64, 100
    assert ip("link", "set", pair[0], "gso_max_segs", "1")
    assert ip("addr", "add", "10.77.0.1/24", "dev", pair[0])
    assert ip("neigh", "add", "10.77.0.2", "lladdr", "02:00:00:00:00:01", "dev", pair[0])

    def trial():
        before = taken_up()
        tracer = tool("--json", "--napi", tool="netlat")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, size)
            for _ in range(n):
                s.sendto(b"x" * segments * size, ("10.77.0.2", 9))
        tally.wait_until(lambda: taken_up() >= before + n * segments, "packets stay on their way")
        result = tracer.stop()
        if taken_up() != before + n * segments or result.report["lost"].get("recursion"):
            raise tally.Blurred
        row, = (row for row in result.report["rows"] if row["packets"])
        assert row["device"] == "(backlog)", result
        assert (row["packets"], row["full"]) == (n * segments, n), result
        assert row["polls"] > n and row["per_poll"] == row["packets"] / row["polls"], result
        # The other poll may find the next datagram already there, where the softirq was put off to ksoftirqd.
        tally.within(row["polls"] >= 2 * n, row["polls"])
        assert result.report["events"] == sum(r["polls"] for r in result.report["rows"]), result

    tally.steady(trial)


@once
@pytest.mark.parametrize("args", (("-P",), ("--by", "comm"), ("-p", "1"), ("--napi", "--table"),
                                  ("--napi", "--by", "stage")))
def test_wrong_usage(run, args):
    result = run(*args, tool="netlat")
    assert result.code == 2 and not result.stdout, result


def test_usage(run):
    result = run("-n", tool="netlat")
    assert result.code == 0 and "on_queue at tp_btf/net_dev_queue" in result.text, result
