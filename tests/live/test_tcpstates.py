# SPDX-License-Identifier: BSD-2-Clause
"""tcpstates compared with sockets whose states the test changes, by its own clock, and with /proc/net/tcp."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tally
from network import LOOPBACK, Own, Sockets, await_acknowledged, exact, reset

# include/net/tcp_states.h, as in /proc/net/tcp
NUMBERS = {"established": "01", "fin-wait-1": "04", "fin-wait-2": "05", "close-wait": "08", "last-ack": "09",
           "listening": "0A"}


@pytest.fixture(params=("IPv4", "IPv6"))
def sockets(ends, request):
    ends.enter_context(Own())
    return Sockets(ends, *LOOPBACK[request.param])


@pytest.fixture
def tcpstates(tool):
    return lambda *args: tool("--json", "-p", os.getpid(), *args, tool="tcpstates")


def whole(report):
    flaws = {reason for reason, n in tally.flaws(report).items() if n}
    if flaws == {"no_buffer"} or (tally.KERNEL >= (7, 0) and flaws == {"recursion"}):
        raise tally.Blurred
    assert not flaws, report
    return report


def by_state(report, **wanted):
    found = {}
    for row in report["rows"]:
        if all(row[name] == value for name, value in wanted.items()):
            assert row["state"] not in found, report
            found[row["state"]] = row
    return found


def states_of_kernel():
    """States of the sockets in this network namespace, with their numbers."""
    count = {}
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/thread-self/net/{name}").read_text().splitlines()[1:]:
            for state, number in NUMBERS.items():
                if line.split()[3] == number:
                    count[state] = count.get(state, 0) + 1
    return count


def port(s):
    return s.getsockname()[1]


@pytest.mark.everywhere
def test_times(tcpstates, sockets):
    """A client closes first, and the server 40 ms later. Each state lies between the bounds of the test's own clock."""
    @exact
    def trial():
        server = sockets.server()
        tracer = tcpstates("--by", "state,lport")
        began = time.monotonic_ns()
        client, accepted = sockets.pair(server)
        await_acknowledged(client, accepted)
        made, port_of_client = time.monotonic_ns(), port(client)
        time.sleep(0.02)
        closing = time.monotonic_ns()
        client.close()
        assert not accepted.recv(1)
        heard = time.monotonic_ns()
        time.sleep(0.04)
        leaving = time.monotonic_ns()
        accepted.close()
        tally.wait_until(lambda: not set(states_of_kernel()) - {"listening"}, "a socket stays")
        left = time.monotonic_ns()
        report = whole(tracer.stop().report)
        ours, theirs = by_state(report, lport=port_of_client), by_state(report, lport=port(server))
        assert {state: row["left"] for state, row in ours.items()} in (
            {"syn-sent": 1, "established": 1, "fin-wait-1": 1, "fin-wait-2": 1},
            {"syn-sent": 1, "established": 1, "fin-wait-1": 1}), ours
        assert {state: row["left"] for state, row in theirs.items() if state not in ("listening", "syn-recv")} == {
            "established": 1, "close-wait": 1, "last-ack": 1}, theirs
        assert closing - made <= ours["established"]["total"] <= heard - began, (ours, began, made, closing, heard)
        assert closing - made <= theirs["established"]["total"] <= heard - began, (theirs, began, made, closing)
        assert leaving - heard <= theirs["close-wait"]["total"] <= left - closing, (theirs, heard, closing, left)
        assert theirs["close-wait"]["max"] == theirs["close-wait"]["avg"] == theirs["close-wait"]["total"], theirs
        assert theirs["listening"]["now"] == 1 and not theirs["listening"]["left"], theirs

    trial()


@pytest.mark.everywhere
@exact
def test_sockets_that_are_never_closed(tcpstates, sockets):
    """A server that forgets its sockets: as many as in /proc/net/tcp, for longer than the test's own clock knows."""
    server = sockets.server()
    tracer = tcpstates("--by", "state,pid", "--lport", port(server))
    pairs = [sockets.pair(server) for _ in range(10)]
    for client, accepted in pairs[:7]:
        client.close()
        assert not accepted.recv(1)
    heard = time.monotonic_ns()
    time.sleep(0.01)
    least = time.monotonic_ns() - heard
    kernel = states_of_kernel()
    report = whole(tracer.stop().report)
    rows = by_state(report, pid=os.getpid())
    assert (rows["close-wait"]["now"], rows["established"]["now"]) == (7, 3), report
    assert kernel["close-wait"] == 7 and rows["close-wait"]["max"] >= least, (kernel, report)
    assert (rows["close-wait"]["left"], rows["established"]["left"]) == (0, 7), report


@pytest.mark.everywhere
@exact
def test_sockets_from_before(tcpstates, sockets):
    """They have no times, but are in a state now; each is there once, although two files and two processes have it."""
    server = sockets.server()
    pairs = [sockets.pair(server) for _ in range(4)]
    again = pairs[0][1].dup()
    reset(pairs[1][0])
    pairs[2][0].close()
    assert not pairs[2][1].recv(1)
    began = time.monotonic_ns()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False) as holder:
        tracer = tcpstates("--lport", port(server))
        reset(pairs[3][1])
        holder.communicate(b"\n")
        pairs[3][0].close()
        report = tracer.stop().report
    rows = by_state(report)
    assert {state: (row["now"], row["left"]) for state, row in rows.items()} == {
        "listening": (1, 0), "established": (1, 0), "close-wait": (1, 0)}, report
    assert report["begun_before"] == 1 and max(row["max"] for row in rows.values()) <= time.monotonic_ns() - began
    assert report["note"] == "3 sockets in their state since before the run: max is at least that long", report
    again.close()


@exact
def test_owners(tool, sockets):
    """A connection belongs to the process that accepted it, and to none before."""
    server, other = sockets.server(), sockets.server()
    tracers = [tool("--json", *args, "--by", "state,pid", "--lport", port(server), tool="tcpstates")
               for args in ((), ("-p", os.getpid()), ("--comm", "nobody"))]
    clients = [sockets.new() for _ in range(3)]
    for each in clients:
        each.connect((sockets.host, port(server)))
    elsewhere = sockets.pair(other)
    accepted = server.accept()[0]
    everything, of_us, of_nobody = (tracer.stop().report for tracer in tracers)
    assert by_state(everything, pid=os.getpid())["established"]["now"] == 1, everything
    assert by_state(everything, pid=0)["established"]["now"] == 2, everything
    assert {row["pid"] for row in of_us["rows"]} == {os.getpid()} and not of_nobody["rows"], (of_us, of_nobody)
    assert by_state(of_us)["established"]["now"] == 1, of_us
    accepted.close()
    assert elsewhere


@exact
def test_intervals(tcpstates, sockets):
    """`now` is that of the end of each interval."""
    server = sockets.server()
    tracer = tcpstates("--lport", port(server), "-I", 300)
    pairs = [sockets.pair(server) for _ in range(5)]
    time.sleep(0.7)
    for client, accepted in pairs[:4]:
        reset(accepted)
        client.close()
    time.sleep(0.7)
    rows = [by_state(report)["established"] for report in tracer.stop().reports]
    assert sum(row["left"] for row in rows) == 4 and rows[-1]["now"] == 1, rows
    assert max(row["now"] for row in rows) == 5 and max(row["max"] for row in rows) >= 1e9, rows
