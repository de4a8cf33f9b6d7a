# SPDX-License-Identifier: BSD-2-Clause
"""dnssnoop compared with queries and replies that the test itself sends, as client and as server."""

import os
import random
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

import tally
from network import CLONE_NEWNET, LOOPBACK, Own, exact, libc
from snooping import events_of

A, TXT, AAAA = 1, 16, 28
NAMES = {A: "A", TXT: "TXT", AAAA: "AAAA", 4711: "TYPE4711"}
RESULTS = {0: "NOERROR", 2: "SERVFAIL", 3: "NXDOMAIN", 5: "REFUSED", 14: "RCODE14"}
REPLY, TRUNCATED = 0x8180, 0x200


def question(name, kind):
    labels = b"".join(bytes([len(label)]) + label for label in name.split(b".") if label)
    return labels + b"\0" + struct.pack(">HH", kind, 1)


def query(number, asked):
    return struct.pack(">6H", number, 0x100, 1, 0, 0, 0) + asked


def reply(number, asked, flags=0, answers=0):
    return struct.pack(">6H", number, REPLY | flags, 1, answers, 0, 0) + asked


class Ends:
    """A client and a server, on port 53 of a network of their own."""

    def __init__(self, ends, family, host):
        self.client = ends.enter_context(socket.socket(family, socket.SOCK_DGRAM))
        self.server = ends.enter_context(socket.socket(family, socket.SOCK_DGRAM))
        for each in self.client, self.server:
            each.settimeout(tally.PATIENCE)
        self.server.bind((host, 53))
        self.client.bind((host, 0))
        self.to, self.home = self.server.getsockname(), self.client.getsockname()
        self.text = f"[{host}]:53" if ":" in host else f"{host}:53"

    def ask(self, message):
        self.client.sendto(message, self.to)
        return self.server.recv(4096)

    def answer(self, message):
        self.server.sendto(message, self.home)
        return self.client.recv(4096)


@pytest.fixture
def pair(ends):
    ends.enter_context(Own())
    return lambda family="IPv4": Ends(ends, *LOOPBACK[family])


@pytest.fixture
def dnssnoop(tool):
    return lambda *args: tool("--json", *(args or ("-p", os.getpid())), tool="dnssnoop")


@pytest.mark.everywhere
@pytest.mark.parametrize("family", ("IPv4", "IPv6"))
def test_queries(dnssnoop, pair, family):
    """Each query once, with its result. The latency lies between the test's own two intervals."""
    @exact
    def trial():
        both = pair(family)
        comm = Path("/proc/self/comm").read_text().strip()
        cases = [(number, f"host{number}.example.com".encode(), kind, code) for number, (kind, code) in enumerate(
            (kind, code) for kind in NAMES for code in RESULTS)]
        tracer = dnssnoop()
        bounds = []
        for number, name, kind, code in cases:
            asked = question(name, kind)
            began = time.monotonic_ns()
            both.ask(query(number, asked))
            arrived = time.monotonic_ns()
            time.sleep(0.001)
            replied = time.monotonic_ns()
            both.answer(reply(number, asked, code, code == 0))
            bounds.append((replied - arrived, time.monotonic_ns() - began))
        lines, report = events_of(tracer.stop())
        assert report["events"] == len(cases), report
        for (number, name, kind, code), (least, most), line in zip(cases, bounds, lines):
            values = line["values"]
            assert (line["pid"], line["tid"], line["comm"]) == (os.getpid(), os.getpid(), comm), line
            assert least <= values.pop("latency") <= most, (line, least, most)
            assert values == {"name": name.decode(), "type": NAMES[kind], "server": both.text, "result": RESULTS[code],
                              "answers": int(code == 0), "tries": 1}, line

    trial()


class Nets:
    """A host with one end of a veth pair, a server at the other end, and a client whose device is on the host's end."""

    def __init__(self, ends, kind):
        self.kind = kind
        self.net = {name: self.enter(ends) for name in ("host", "server", "client")}
        self.pick("host")
        peer = "type", "veth", "peer", "name", "v1", "netns", self.path("server")
        vlan = ("vlan", "id", "5") if kind != "macvlan" else ("macvlan", "mode", "bridge")
        client = "link", "v0", "name", "c0", "netns", self.path("client"), "type", *vlan
        if not self.ip("link", "add", "v0", *peer) or not self.ip("link", "add", *client):
            pytest.skip(f"no veth or {kind} here")
        self.begin("v0")
        self.pick("server")
        self.begin("v1")
        if kind == "macvlan":
            self.begin("v1", "10.78.0.1/24")
        else:
            self.ip("link", "add", "link", "v1", "name", "s0", "type", "vlan", "id", "5")
            self.begin("s0", "10.78.0.1/24")
        server = ends.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        server.bind(("10.78.0.1", 53))
        self.pick("client")
        self.begin("c0", "10.78.0.2/24")
        client = ends.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        client.bind(("10.78.0.2", 0))
        self.client, self.server = client, server
        for each in client, server:
            each.settimeout(tally.PATIENCE)
        # The first packet waits for the address of the server's device, and its sender is unknown.
        client.sendto(b"", ("10.78.0.1", 53))
        server.recv(1)

    @staticmethod
    def enter(ends):
        ends.enter_context(Own())
        net = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        ends.callback(os.close, net)
        return net

    def pick(self, name):
        assert libc.setns(self.net[name], CLONE_NEWNET) == 0

    def path(self, name):
        return f"/proc/{os.getpid()}/fd/{self.net[name]}"

    @staticmethod
    def ip(*args):
        return subprocess.run(["ip", *args], capture_output=True, check=False).returncode == 0

    def begin(self, device, address=None):
        if address:
            assert self.ip("addr", "add", address, "dev", device)
        assert self.ip("link", "set", device, "up")


@pytest.mark.everywhere
@pytest.mark.parametrize("kind", ("macvlan", "vlan"))
@exact
def test_devices_of_containers(dnssnoop, ends, kind):
    """The kernel shows each query twice, and each reply only in the host's namespace: one line for each."""
    nets = Nets(ends, kind)
    tracer = dnssnoop()
    bounds = []
    for number in range(5):
        asked = question(f"n{number}".encode(), A)
        began = time.monotonic_ns()
        nets.client.sendto(query(number, asked), ("10.78.0.1", 53))
        nets.server.recv(4096)
        arrived = time.monotonic_ns()
        time.sleep(0.002)
        replied = time.monotonic_ns()
        nets.server.sendto(reply(number, asked, answers=1), nets.client.getsockname())
        nets.client.recv(4096)
        bounds.append((replied - arrived, time.monotonic_ns() - began))
    lines, report = events_of(tracer.stop())
    assert report["note"] == "only UDP port 53" and len(lines) == len(bounds), (lines, report)
    for number, ((least, most), line) in enumerate(zip(bounds, lines)):
        values = line["values"]
        assert least <= values.pop("latency") <= most, (line, least, most)
        assert values == {"name": f"n{number}", "type": "A", "server": "10.78.0.1:53", "result": "NOERROR",
                          "answers": 1, "tries": 1}, line


@exact
def test_tag_in_the_packet(dnssnoop, ends):
    """A device without support for VLANs leaves the tag in the packet, before the IP header."""
    nets = Nets(ends, "macvlan")
    asked, port = question(b"tagged", A), nets.client.getsockname()[1]
    answer = reply(1, asked, 3)
    udp = struct.pack(">4H", 53, port, 8 + len(answer), 0) + answer
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, socket.IPPROTO_UDP, 0,
                     socket.inet_aton("10.78.0.1"), socket.inet_aton("10.78.0.2"))
    nets.pick("server")
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        raw.bind(("v1", 0))
        tracer = dnssnoop()
        nets.client.sendto(query(1, asked), ("10.78.0.1", 53))
        raw.send(b"\xff" * 6 + b"\0" * 6 + struct.pack(">3H", 0x8100, 5, 0x0800) + ip + udp)
        lines, _ = events_of(tracer.stop())
    assert [(line["values"]["name"], line["values"]["result"]) for line in lines] == [("tagged", "NXDOMAIN")], lines


@exact
def test_without_reply(dnssnoop, pair):
    """Shown once the time is over, even if nothing else happens."""
    both = pair()
    tracer = dnssnoop("-p", os.getpid(), "--timeout", "100ms")
    both.ask(query(1, question(b"lost", A)))
    time.sleep(0.5)
    (line,), _ = events_of(tracer.stop())
    values = line["values"]
    assert values.pop("latency") >= 100e6, line
    assert values == {"name": "lost", "type": "A", "server": both.text, "answers": None, "result": "no reply",
                      "tries": 1}, line


@exact
def test_note_of_those_that_wait(dnssnoop, pair):
    both = pair()
    tracer = dnssnoop()
    both.ask(query(1, question(b"late", A)))
    lines, report = events_of(tracer.stop())
    assert not lines and report["note"] == "only UDP port 53; without a reply so far: 1", report


@exact
def test_tries(dnssnoop, pair):
    """Resolvers repeat a query with its id; the latency is from the first try on."""
    both = pair()
    asked = question(b"again.example", AAAA)
    tracer = dnssnoop()
    for _ in range(3):
        both.ask(query(7, asked))
        time.sleep(0.005)
    both.answer(reply(7, asked))
    both.ask(query(8, question(b"first", A)))
    both.ask(query(8, question(b"second", A)))
    both.answer(reply(8, question(b"second", A)))
    lines, _ = events_of(tracer.stop())
    found = [(line["values"]["name"], line["values"]["result"], line["values"]["tries"]) for line in lines]
    assert found == [("again.example", "NOERROR", 3), ("first", "no reply", 1), ("second", "NOERROR", 1)], lines
    assert lines[0]["values"]["latency"] >= 15e6, lines


@exact
def test_replies_in_any_order(dnssnoop, pair):
    """200 queries wait at once, with ids that several sockets share."""
    both = pair()
    clients = [both.client]
    for _ in range(3):
        clients.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        clients[-1].bind(("127.0.0.1", 0))
    waiting = [(client, number, f"n{index}.{number}".encode()) for index, client in enumerate(clients)
               for number in range(50)]
    tracer = dnssnoop()
    for client, number, name in waiting:
        client.sendto(query(number, question(name, A)), both.to)
        both.server.recv(4096)
    random.Random(1).shuffle(waiting)
    for client, number, name in waiting:
        both.server.sendto(reply(number, question(name, A), answers=number), client.getsockname())
        client.recv(4096)
    lines, _ = events_of(tracer.stop())
    for client in clients[1:]:
        client.close()
    assert [(line["values"]["name"].encode(), line["values"]["answers"]) for line in lines] == [
        (name, number) for _, number, name in waiting]


@exact
def test_replies_that_are_none(dnssnoop, pair, ends):
    """Another id, another sender, or a query in place of a reply."""
    both = pair()
    asked = question(b"genuine", A)
    forger = ends.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    forger.bind(("127.0.0.2", 53))
    tracer = dnssnoop()
    both.ask(query(99, asked))
    both.answer(reply(98, asked))
    both.answer(query(99, asked))
    forger.sendto(reply(99, asked), both.home)
    both.client.recv(4096)
    time.sleep(0.01)
    both.answer(reply(99, asked, TRUNCATED))
    (line,), _ = events_of(tracer.stop())
    assert (line["values"]["result"], line["values"]["latency"] > 10e6) == ("truncated", True), line


HOSTILE = {
    b"\xc0\x0c\0\1\0\1": None,                          # a pointer
    b"\x40" + b"x" * 64 + b"\0\0\1\0\1": None,          # a label of another kind
    b"\x3fshort": None,                                 # a label longer than the packet
    b"\3abc": None,                                     # no end
    b"\3abc\0": None,                                   # no type
    (b"\x3f" + b"x" * 63) * 4 + b"\0\0\1\0\1": None,    # a name of more than 255 bytes
    (b"\x3f" + b"x" * 63) * 3 + b"\x3d" + b"y" * 61 + b"\0\0\1\0\1": ".".join(["x" * 63] * 3 + ["y" * 61]),
    b"\0\0\1\0\1": ".",
    b"\7a\x1b[31m\0\2.\\\0\0\1\0\1": "a\\x1b[31m\\x5c000.\\x5c046\\x5c092",
}


@exact
def test_hostile_questions(dnssnoop, pair, tool):
    both = pair()
    tracer, plain = dnssnoop(), tool("-p", os.getpid(), tool="dnssnoop")
    for number, asked in enumerate(HOSTILE):
        both.ask(query(number, asked))
        both.answer(reply(number, b""))
    both.client.sendto(b"short", both.to)
    both.server.recv(4096)
    lines, _ = events_of(tracer.stop())
    assert [line["values"]["name"] for line in lines] == list(HOSTILE.values()), lines
    text = plain.stop().stdout
    assert text.count(b"NOERROR") == len(HOSTILE) and not set(text) & {0x1b, 0xff, 0}, text


@exact
def test_options(pair, tool):
    both = pair()
    tracers = [tool("--json", "-p", os.getpid(), *args, tool="dnssnoop")
               for args in (("--failed",), ("--min", "20ms"), ("--port", "5353"))]
    other = tool("--json", "--comm", "nobody", tool="dnssnoop")
    for number, (code, delay) in enumerate(((0, 0), (3, 0), (0, 0.03))):
        asked = question(f"n{number}".encode(), A)
        both.ask(query(number, asked))
        time.sleep(delay)
        both.answer(reply(number, asked, code))
    found = [[line["values"]["name"] for line in events_of(tracer.stop())[0]] for tracer in tracers]
    assert found[0] == ["n1"] and found[1][-1:] == ["n2"] and not found[2], found
    lines, report = events_of(other.stop())
    assert not lines and report["filtered"] >= 3, report


@exact
def test_table(pair, tool):
    """Sums by name without regard to case, by server and by the other keys."""
    both = pair()
    keys = "name,server", "name,type", "result", "pid,server"
    tracers = [tool("--json", "-p", os.getpid(), "--timeout", "50ms", "--by", by, tool="dnssnoop") for by in keys]
    asked = ((b"One.example", A, 0), (b"oNE.example", AAAA, 0), (b"one.Example", A, 3), (b"two.example", A, 2),
             (b"two.example", A, 5), (b"three", TXT, TRUNCATED), (b"four", A, None))
    for number, (name, kind, code) in enumerate(asked):
        both.ask(query(number, question(name, kind)))
        if code is not None:
            both.answer(reply(number, question(name, kind), code))
    time.sleep(0.2)
    reports = [tracer.stop().report for tracer in tracers]
    for report in reports:
        assert report["events"] == len(asked) == sum(row["queries"] for row in report["rows"]), report
        assert report["note"] == "only UDP port 53", report
        assert sum(row["tries"] for row in report["rows"]) == len(asked), report
    by_name, by_type, by_result, by_pid = (report["rows"] for report in reports)
    figures = "queries", "no_reply", "nxdomain", "servfail", "other_errors", "truncated"
    assert {row["name"]: tuple(row[name] for name in figures) for row in by_name} == {
        "one.example": (3, 0, 1, 0, 0, 0), "two.example": (2, 0, 0, 1, 1, 0), "three": (1, 0, 0, 0, 0, 1),
        "four": (1, 1, 0, 0, 0, 0)}, by_name
    assert {row["server"] for row in by_name} == {both.text}
    assert {(row["name"], row["type"]): row["queries"] for row in by_type} == {
        ("one.example", "A"): 2, ("one.example", "AAAA"): 1, ("two.example", "A"): 2, ("three", "TXT"): 1,
        ("four", "A"): 1}, by_type
    assert {row["result"]: row["queries"] for row in by_result} == {
        "NOERROR": 3, "NXDOMAIN": 1, "SERVFAIL": 1, "REFUSED": 1, "no reply": 1}, by_result
    row, = by_pid
    assert (row["pid"], row["server"], row["queries"]) == (os.getpid(), both.text, len(asked)), row
    assert 50e6 <= row["max"] <= row["total"] and row["avg"] == row["total"] // len(asked), row


@exact
def test_names_without_room(pair, tool):
    """Each query of a name without room is one loss."""
    both = pair()
    tracer = tool("--json", "-p", os.getpid(), "--count", "--max-keys", "10", tool="dnssnoop")
    for number in range(30):
        asked = question(f"n{number}".encode(), A)
        both.ask(query(number, asked))
        both.answer(reply(number, asked))
    report = tracer.stop().report
    assert (report["events"], report["lost"]["map_full"], len(report["rows"])) == (10, 20, 10), report
