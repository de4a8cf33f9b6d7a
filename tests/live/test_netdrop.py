# SPDX-License-Identifier: BSD-2-Clause
"""netdrop: packets that find no socket, or no room in it, against the kernel's own counters."""

import os
import socket
import subprocess

import pytest

import network
import tally
from network import counter
from tally import flaws, once, scaled

pytestmark = pytest.mark.exclusive

HAVE_REASONS = tally.KERNEL >= (5, 18)     # all of those here; 5.17 had the first few


@pytest.fixture(params=("IPv4", "IPv6"))
def sockets(request, ends):
    ends.enter_context(network.Own())
    return network.Sockets(ends, *network.LOOPBACK[request.param])


def unused_port(sockets, kind):
    with socket.socket(sockets.family, kind) as s:
        s.bind((sockets.host, 0))
        return s.getsockname()[1]


def drop_packets(sockets, n):
    """Returns {(protocol, reason, port): packets}."""
    six = "6" if sockets.family == socket.AF_INET6 else ""
    sender, full = (sockets.new(socket.SOCK_DGRAM) for _ in range(2))
    nowhere = unused_port(sockets, socket.SOCK_DGRAM)
    for _ in range(n):
        try:
            sender.sendto(b"x", (sockets.host, nowhere))
        except ConnectionRefusedError:
            pass
    full.bind((sockets.host, 0))
    full.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    for _ in range(n):
        sender.sendto(b"x" * 500, (sockets.host, full.getsockname()[1]))
    name = f"Udp{six}RcvbufErrors" if six else "Udp.RcvbufErrors"
    overflows = udp6_counter(name) if six else counter("snmp", name)
    server = sockets.server()
    client, accepted = sockets.pair(server)
    network.be_deaf(accepted)
    client.sendall(b"never")
    tally.wait_until(lambda: network.tcp_info(client)["total_retrans"], "no retransmission")
    closed = unused_port(sockets, socket.SOCK_STREAM)
    assert sockets.new().connect_ex((sockets.host, closed)) != 0
    return {
        (f"udp{six}", "NO_SOCKET", nowhere): n,
        (f"udp{six}", "SOCKET_RCVBUFF", full.getsockname()[1]): overflows,
        (f"tcp{six}", "NO_SOCKET", closed): 1,
    }, (f"tcp{six}", "SOCKET_FILTER", server.getsockname()[1])


def udp6_counter(name):
    with open("/proc/thread-self/net/snmp6", encoding="ascii") as file:
        return int(dict(line.split() for line in file)[name])


def rows_of(report):
    if any(flaws(report).values()):
        raise tally.Blurred
    assert sum(row["drops"] for row in report["rows"]) == report["events"]
    return report["rows"]


def test_against_counters(tool, sockets):
    def trial():
        by = "reason,protocol,port" if HAVE_REASONS else "protocol,port"
        tracers = tool("--json", "--by", by, tool="netdrop"), tool("--json", tool="netdrop")
        n = tally.scaled(200)
        expected, (protocol, reason, port) = drop_packets(sockets, n)
        table, places = (tracer.stop() for tracer in tracers)
        found = {(row["protocol"], row.get("reason"), row["port"]): row
                 for row in rows_of(table.report)}
        for (each, why, to), drops in expected.items():
            row = found[each, why if HAVE_REASONS else None, to]
            assert row["drops"] == drops, (row, drops)
            assert row["bytes"] >= drops * 9, row
        row = found[protocol, reason if HAVE_REASONS else None, port]
        assert row["drops"] >= 2, row       # the data, and all that were sent again
        check_places(rows_of(places.report), expected)

    tally.steady(trial)


def check_places(rows, expected):
    """By default, by reason and place. Others may drop packets, too."""
    for (protocol, why, _), drops in expected.items():
        mine = [row for row in rows if row["protocol"] == protocol and
                (not HAVE_REASONS or row["reason"] == why)]
        assert sum(row["drops"] for row in mine) >= drops, (rows, protocol, why)
        assert all("+0x" in row["location"] for row in mine), mine


def test_devices(tool, sockets):
    """The device that a packet came in by; none once it is in the queue of a socket, which has other data there."""
    name = f"tally{os.getpid() % 10_000_000}"
    for command in ("link set lo down", f"link set lo name {name}", f"link set {name} up"):
        if subprocess.run(["ip", *command.split()], check=False).returncode:
            pytest.skip("no ip here")

    def trial():
        tracer = tool("--json", "--by", "protocol,port,device", tool="netdrop")
        n, protocol = scaled(100), "udp6" if sockets.family == socket.AF_INET6 else "udp"
        nowhere, queued = unused_port(sockets, socket.SOCK_DGRAM), socket.socket(sockets.family, socket.SOCK_DGRAM)
        with sockets.new(socket.SOCK_DGRAM) as sender, queued:
            queued.bind((sockets.host, 0))
            port = queued.getsockname()[1]
            for _ in range(n):
                sender.sendto(b"x", (sockets.host, nowhere))
                sender.sendto(b"x", (sockets.host, port))
        # Sockets go after a grace period of RCU, and so do devices, whose end waits for all that is to go by then.
        for command in (f"link add {name}v type veth peer name {name}w", f"link del {name}v"):
            subprocess.run(["ip", *command.split()], check=True)
        found = {(row["protocol"], row["port"], row["device"]): row["drops"] for row in rows_of(tracer.stop().report)}
        assert {key: drops for key, drops in found.items() if key[1] in (nowhere, port)} == {
            (protocol, nowhere, name): n, (protocol, port, None): n,
        }, found

    tally.steady(trial)


def is_of_udp(stack):
    """A datagram for which there was no socket."""
    if HAVE_REASONS and stack["key"]["event"] != "NO_SOCKET":
        return False
    names = [frame["name"] or "" for frame in stack["frames"]]
    # The answer, which says that there was none, comes and goes below the same call.
    return any("udp" in name for name in names) and not any("icmp" in name for name in names)


def test_stacks(tool, sockets):
    def trial():
        tracer = tool("--json", "-g", tool="netdrop")
        n = tally.scaled(200)
        sender = sockets.new(socket.SOCK_DGRAM)
        nowhere = unused_port(sockets, socket.SOCK_DGRAM)
        for _ in range(n):
            sender.sendto(b"x", (sockets.host, nowhere))
        report = tracer.stop().report
        if any(flaws(report).values()):
            raise tally.Blurred
        mine = [stack for stack in report["stacks"] if is_of_udp(stack)]
        assert sum(stack["value"] for stack in mine) == n, report
        assert not any((stack["frames"][-1]["name"] or "").startswith("bpf_") for stack in mine)

    tally.steady(trial)


def test_new_ports_find_room(tool, sockets):
    """To one port after the other nobody listens at, far more of them than there is room for at a time: each third of
    the room when the one before has been reported."""
    n, room, each = scaled(600), max(21, scaled(60)), 3
    tracer = tool("--json", "--by", "port,protocol", "--max-keys", room, "-I", 50, tool="netdrop")
    ports = range(20000, 20000 + n)
    for i, port in enumerate(ports):
        if i and i % (room // 3) == 0:
            tracer.await_lines(2)
        with socket.socket(sockets.family, socket.SOCK_DGRAM) as s:
            for _ in range(each):
                s.sendto(b"x", (sockets.host, port))
    reports = tracer.stop().reports
    found = {}
    for row in (row for report in reports for row in report["rows"]):
        if row["port"] in ports and "UDP" in row["protocol"].upper():
            found[row["port"]] = found.get(row["port"], 0) + row["drops"]
    lost = {name for report in reports for name, k in flaws(report).items() if k}
    assert not lost & {"map_full", "no_memory"}, lost
    assert len(found) == n and (lost or set(found.values()) == {each}), len(found)


@once
@pytest.mark.parametrize("args", (("-P",), ("--by", "comm"), ("--max-depth", "5"), ("-p", "1"),
                                  ("-g", "--by", "reason"), ("-g", "-U"), ("--sort", "reason")))
def test_wrong_usage(run, args):
    result = run(*args, tool="netdrop")
    assert result.code == 2 and not result.stdout, result


def test_usage(run):
    result = run("-n", tool="netdrop")
    assert result.code == 0 and "on_drop at tp_btf/kfree_skb" in result.text, result


@pytest.mark.parametrize("options", (("HOPOPTS",), ("DSTOPTS",), ("HOPOPTS", "RTHDRDSTOPTS", "DSTOPTS")), ids="+".join)
def test_behind_extension_headers(tool, ends, options):
    """The protocol and its ports come after any number of other headers of IPv6."""
    ends.enter_context(network.Own())
    sockets = network.Sockets(ends, *network.LOOPBACK["IPv6"])
    sender, n = sockets.new(socket.SOCK_DGRAM), 20
    for name in options:
        # Eight bytes: two for the kernel, and six of padding (RFC 8200: PadN); the longer ones are 16.
        pad = 4 if name != "HOPOPTS" else 12
        sender.setsockopt(socket.IPPROTO_IPV6, getattr(socket, f"IPV6_{name}"),
                          bytes((0, (pad + 4) // 8 - 1, 1, pad)) + bytes(pad))
    nowhere = unused_port(sockets, socket.SOCK_DGRAM)
    tracer = tool("--json", "--by", "protocol,port", tool="netdrop")
    for _ in range(n):
        sender.sendto(b"x", (sockets.host, nowhere))
    rows = tracer.stop().report["rows"]
    assert {(row["protocol"], row["drops"]) for row in rows if row["port"] == nowhere} == {("udp6", n)}, rows
