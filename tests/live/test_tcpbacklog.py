# SPDX-License-Identifier: BSD-2-Clause
"""tcpbacklog compared with a server that lets its connections wait, by its own clock, and with what ss shows."""

import os
import re
import socket
import struct
import subprocess
import time

import pytest

import tally
from network import LOOPBACK, Own, exact

N, BACKLOG = 20, 31


class Ends:
    """A listener, and clients whose connections wait for it."""

    def __init__(self, ends, family, host, backlog=BACKLOG):
        self.ends, self.family = ends, family
        self.listener = ends.enter_context(socket.socket(family, socket.SOCK_STREAM))
        self.listener.settimeout(tally.PATIENCE)
        self.listener.bind((host, 0))
        self.listener.listen(backlog)
        self.at = self.listener.getsockname()
        self.port = self.at[1]

    def connect(self):
        """The client, and the bounds of the time at which its connection was queued."""
        client = self.ends.enter_context(socket.socket(self.family, socket.SOCK_STREAM))
        client.settimeout(tally.PATIENCE)
        began = time.monotonic_ns()
        client.connect(self.at)
        return client, began, time.monotonic_ns()

    def accept(self):
        """The bounds of the time at which the connection was accepted."""
        began = time.monotonic_ns()
        self.ends.enter_context(self.listener.accept()[0])
        return began, time.monotonic_ns()


@pytest.fixture
def server(ends):
    ends.enter_context(Own())
    return lambda family="IPv4", **rest: Ends(ends, *LOOPBACK[family], **rest)


@pytest.fixture
def tcpbacklog(tool):
    return lambda *args: tool("--json", "-p", os.getpid(), *args, tool="tcpbacklog")


def whole(report):
    flaws = {reason for reason, n in tally.flaws(report).items() if n}
    if flaws == {"no_buffer"} or (tally.KERNEL >= (7, 0) and flaws == {"recursion"}):
        raise tally.Blurred
    assert not flaws, report
    return report


@pytest.mark.everywhere
@pytest.mark.parametrize("family", ("IPv4", "IPv6", "mapped"))
def test_waits(tcpbacklog, server, family):
    """Counts, the length of the queue and its limit are exact; times lie between the bounds of both clocks."""
    @exact
    def trial():
        both = server(family)
        tracer = tcpbacklog("--lport", both.port)
        clients = [both.connect() for _ in range(N)]
        shown = subprocess.run(["ss", "-Htln", "sport", "=", f":{both.port}"], capture_output=True, text=True,
                               check=False)
        time.sleep(0.02)
        ends = [both.accept() for _ in range(N)]
        report = whole(tracer.stop().report)
        row, = report["rows"]
        assert (row["lport"], row["local"]) == (both.port, LOOPBACK[family][1]), row
        assert (row["accepted"], row["closed"], row["max_queue"], row["backlog"]) == (N, 0, N, BACKLOG), row
        if not shown.returncode:
            queue, limit = re.match(r"LISTEN +(\d+) +(\d+) ", shown.stdout).groups()
            assert (int(queue), int(limit)) == (row["max_queue"], row["backlog"]), shown
        least = [accepted[0] - queued for (_, _, queued), accepted in zip(clients, ends)]
        most = [accepted[1] - began for (_, began, _), accepted in zip(clients, ends)]
        assert sum(least) <= row["wait"] <= sum(most), (row, sum(least), sum(most))
        assert max(least) <= row["max"] <= max(most) and row["avg"] == row["wait"] // N, (row, least, most)

    trial()


@exact
def test_closed_before_accept(server, tool):
    """A reset, and a listener that is closed."""
    both = server()
    tracer = tool("--json", "--lport", both.port, tool="tcpbacklog")
    client, *_ = both.connect()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    for _ in range(3):
        both.connect()
    both.listener.close()
    report = whole(tracer.stop().report)
    row, = report["rows"]
    assert (row["accepted"], row["closed"], row["wait"], row["avg"]) == (0, 4, 0, None), row
    assert row["max"] > 0 and row["waiting"] == 0 and "note" not in report, report


@exact
def test_those_that_still_wait(tcpbacklog, tool, server):
    """A server that accepts nothing has a row, unless the scope chooses tasks: the connections belong to none yet."""
    both = server()
    tracers = [start("--lport", both.port) for start in (
        tcpbacklog, lambda *args: tool("--json", *args, tool="tcpbacklog"))]
    _, _, last = [both.connect() for _ in range(3)][0]
    time.sleep(0.01)
    least = time.monotonic_ns() - last
    of_task, report = (whole(tracer.stop().report) for tracer in tracers)
    assert (of_task["rows"], of_task["note"]) == ([], "3 connections of any task not accepted so far"), of_task
    row, = report["rows"]
    assert (row["waiting"], row["accepted"], row["max_queue"], row["backlog"]) == (3, 0, 3, BACKLOG), report
    assert row["max"] >= least and report["events"] == 0, (row, least)


@exact
def test_full_queue(tcpbacklog, server):
    """The kernel admits one connection more than the limit, and drops the last step of further handshakes."""
    both = server(backlog=2)
    tracer = tcpbacklog("--lport", both.port, "--by", "lport,pid")
    for _ in range(3):
        both.connect()
    for _ in range(3):
        both.accept()
    row, = whole(tracer.stop().report)["rows"]
    assert (row["accepted"], row["max_queue"], row["backlog"], row["pid"]) == (3, 3, 2, os.getpid()), row


@exact
def test_intervals(tcpbacklog, server):
    """Maxima are those of the interval."""
    both = server()
    tracer = tcpbacklog("--lport", both.port, "-I", 300)
    for n in (5, 1):
        for _ in range(n):
            both.connect()
        for _ in range(n):
            both.accept()
        time.sleep(0.7)
    rows = [row for report in tracer.stop().reports for row in report["rows"] if row["accepted"]]
    assert sum(row["accepted"] for row in rows) == 6 and max(row["max_queue"] for row in rows) == 5, rows
    assert (rows[-1]["accepted"], rows[-1]["max_queue"]) == (1, 1), rows
