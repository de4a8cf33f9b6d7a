# SPDX-License-Identifier: BSD-2-Clause
"""tcplife: sessions of this process itself, against the bytes sent and TCP_INFO."""

import os
import socket
import time

import pytest

import network
import tally
from network import exact, text
from snooping import events_of


@pytest.fixture
def tcplife(tool):
    return lambda *args: tool("--json", *args, tool="tcplife")


@pytest.fixture(params=list(network.LOOPBACK))
def sockets(request, ends):
    ends.enter_context(network.Own())
    return network.Sockets(ends, *network.LOOPBACK[request.param])


@pytest.fixture
def v4(ends):
    ends.enter_context(network.Own())
    return network.Sockets(ends, *network.LOOPBACK["IPv4"])


def told(tracer):
    """The lines by their local end, and the report."""
    lines, report = events_of(tracer.stop())
    by_end = {line["values"]["local"]: line for line in lines}
    assert len(by_end) == len(lines)
    return by_end, report


@exact
def test_bytes(tcplife, sockets):
    """Payload only, without the sequence numbers of SYN and FIN, whichever end closes first."""
    server = sockets.server()
    tracer = tcplife("-p", os.getpid())
    expected = {}
    for sent, answered, client_first in ((0, 0, True), (1, 0, False), (1000, 77777, True),
                                         (300_000, 5, False)):
        client, accepted = sockets.pair(server)
        ends = [text(s.getsockname()) for s in (client, accepted)]
        expected[ends[0]] = (answered, sent, ends[1], "connect")
        accepted_end = (text(accepted.getsockname()), text(client.getsockname()))
        expected[accepted_end] = (sent, answered, ends[0], "accept")
        client.sendall(b"x" * sent)
        network.receive(accepted, sent)
        accepted.sendall(b"y" * answered)
        network.receive(client, answered)
        first, second = (client, accepted) if client_first else (accepted, client)
        first.close()
        assert second.recv(1) == b""
        second.close()
    tracer.await_lines(len(expected), 0)
    lines, report = events_of(tracer.stop())
    found = {}
    for line in lines:
        v = line["values"]
        key = v["local"] if v["role"] == "connect" else (v["local"], v["remote"])
        found[key] = (v["received"], v["sent"], v["remote"], v["role"])
        assert v["acked"] == v["sent"] and not v["error"], line
        assert (line["pid"], v["begun"]) == (os.getpid(), None) and v["duration"] > 0, line
    assert found == expected
    assert report["note"].startswith("0 sessions"), report


@exact
def test_tcp_info(tcplife, v4):
    """All figures of a connection whose packets are held back, and some lost on the way."""
    server = v4.server()
    tracer = tcplife("-p", os.getpid())
    client, accepted = v4.pair(server)
    client.sendall(b"x" * 5000)
    network.receive(accepted, 5000)
    network.be_deaf(accepted)
    client.sendall(b"lost")
    tally.wait_until(lambda: network.tcp_info(client)["total_retrans"] >= 2, "no retransmissions")
    accepted.sendall(b"back")
    network.receive(client, 4)
    end = text(client.getsockname())
    info = network.tcp_info(client)
    network.reset(client)
    lines, _ = told(tracer)
    v = lines[end]["values"]
    # A retransmission may come between the two.
    assert v["retransmits"] - info["total_retrans"] in (0, 1), (v, info)
    assert (v["sent"], v["acked"], v["received"]) == (5004, 5000, 4), v
    assert info["bytes_acked"] == 5001
    if v["retransmits"] == info["total_retrans"]:
        assert (v["rtt"], v["min_rtt"]) == (info["rtt"] * 1000, info["min_rtt"] * 1000), (v, info)


@exact
def test_owner(tcplife, v4):
    """A session belongs to the process that opened it, not to the one that closes it; its duration is right, too."""
    server = v4.server()
    tracer = tcplife("-p", os.getpid())
    began = time.monotonic_ns()
    client, accepted = v4.pair(server)
    end = text(client.getsockname())
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(into)
        os.read(out, 1)         # until the other end is closed
        os._exit(0)
    os.close(out)
    client.close()
    accepted.close()
    assert not tracer.lines()
    os.close(into)
    os.waitpid(child, 0)
    tracer.await_lines(2, 0)
    took = time.monotonic_ns() - began
    lines, _ = told(tracer)
    assert {line["pid"] for line in lines.values()} == {os.getpid()} and len(lines) == 2
    assert 0 < lines[end]["values"]["duration"] < took


@exact
def test_mptcp(tcplife, v4, ends):
    """The session behind a socket of MPTCP belongs to the process that has accepted that socket."""
    both = network.mptcp(ends)
    tracer = tcplife("-p", os.getpid())
    client, accepted = both.pair(both.server())
    expected = {text(client.getsockname()): ("connect", 10, 1000), text(accepted.getsockname()): ("accept", 1000, 10)}
    for sender, receiver, n in ((client, accepted, 1000), (accepted, client, 10)):
        sender.sendall(b"x" * n)
        network.receive(receiver, n)
    client.close()
    accepted.close()
    tracer.await_lines(2, 0)
    lines, _ = told(tracer)
    values = {end: line["values"] for end, line in lines.items()}
    assert {end: (v["role"], v["received"], v["sent"]) for end, v in values.items()} == expected


@exact
def test_from_before(tcplife, v4):
    """No beginning, but an owner: the process that holds it. And a line for sessions open at the end."""
    server = v4.server()
    old, other = v4.pair(server), v4.pair(server)
    ends = {text(s.getsockname()) for s in old}
    tracers = tcplife("-p", os.getpid()), tcplife("-p", 1), tcplife("--lport", 1)
    old[0].sendall(b"abc")
    network.receive(old[1], 3)
    for s in old:
        s.close()
    tracers[0].await_lines(2, 0)
    mine, init, port = (tracer.stop() for tracer in tracers)
    lines, report = events_of(mine)
    assert {line["values"]["local"] for line in lines} == ends
    for line in lines:
        v = line["values"]
        assert (line["pid"], v["begun"], v["duration"]) == (os.getpid(), "before", None), line
        assert v["sent"] + v["received"] == 3, line
    assert report["note"] == "2 sessions still open" and other
    for result in (init, port):
        lines, report = events_of(result)
        assert not lines and report["filtered"] >= 2, report


@exact
def test_no_sessions(tcplife, v4):
    """A failed handshake is no session; a connection that nobody accepts is one, without an owner."""
    server = v4.server()
    tracer, everyone = tcplife("-p", os.getpid()), tcplife("--rport", server.getsockname()[1])
    with v4.new() as s:
        assert s.connect_ex((v4.host, 1)) != 0
    client = v4.new()
    client.connect(server.getsockname())
    end = text(client.getsockname())
    server.close()      # resets connections that nobody has accepted
    tally.wait_until(lambda: client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), "no reset")
    for each in (tracer, everyone):
        each.await_lines(1, 0)
    lines, _ = told(tracer)
    assert [line["values"]["error"] for line in lines.values()] == ["ECONNRESET"]
    assert list(lines) == list(told(everyone)[0]) == [end]


@exact
def test_each_is_there(tcplife, v4):
    """Sockets reuse the same memory again and again."""
    n = tally.scaled(800)
    server = v4.server()
    tracer = tcplife("-p", os.getpid(), "--rport", server.getsockname()[1])
    ends = []
    for i in range(n):
        client, accepted = v4.pair(server)
        client.sendall(b"x" * i)
        ends.append((text(client.getsockname()), i))
        network.receive(accepted, i)
        network.reset(client)
        accepted.close()
    network.await_closed()
    lines, report = events_of(tracer.stop())
    assert sorted(ends) == sorted((line["values"]["local"], line["values"]["sent"])
                                  for line in lines)
    assert report["filtered"] >= n, report     # others end sessions, too


def test_usage(run):
    result = run("-n", tool="tcplife")
    assert result.code == 0 and "on_state at tp_btf/inet_sock_set_state" in result.text, result
    for wrong in ("0", "80,x", "70000", ",".join(str(n) for n in range(1, 20))):
        result = run("--lport", wrong, tool="tcplife")
        assert result.code == 2 and "--lport" in result.stderr, result
