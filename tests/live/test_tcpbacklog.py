# SPDX-License-Identifier: BSD-2-Clause
"""tcpbacklog compared with a server that lets its connections wait, by its own clock, and with what ss shows."""

import os
import re
import socket
import subprocess
import time

import pytest

import tally
from network import LOOPBACK, Own, exact, reset, tcp_info

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

    def queue(self):
        """tcpi_unacked of a listener is the length of its queue (tcp_get_info())."""
        return tcp_info(self.listener)["unacked"]

    def connect(self):
        """The client, and the bounds of the time at which its connection was queued: maybe after connect(2), if the
        last packet of the handshake waits for ksoftirqd."""
        before = self.queue()
        client = self.ends.enter_context(socket.socket(self.family, socket.SOCK_STREAM))
        client.settimeout(tally.PATIENCE)
        began = time.monotonic_ns()
        client.connect(self.at)
        tally.wait_until(lambda: self.queue() > before, "the connection is not in the queue")
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
    reset(client)
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


@pytest.mark.everywhere
@exact
def test_queues_from_before(tool, server):
    """A server that is stuck: its connections wait since before the run, and their peers have closed two of them. The
    kernel keeps one that was reset in the queue. Only the connection that arrives later has a known time."""
    both = server()
    second = both.ends.enter_context(both.listener.dup())
    clients = [both.connect()[0] for _ in range(4)]
    clients[0].close()
    reset(clients[1])
    began = time.monotonic_ns()
    tracer, of_task = (tool("--json", "--lport", second.getsockname()[1], *args, tool="tcpbacklog")
                       for args in ((), ("-p", os.getpid())))
    _, queued, known = both.connect()
    late = tool("--json", "--lport", both.port, tool="tcpbacklog")
    report = late.stop().report
    row, = report["rows"]
    assert (row["waiting"], row["accepted"], row["max_queue"], row["backlog"]) == (4, 0, 5, BACKLOG), report
    assert report["note"] == "4 waiting since before the run: max is at least that long", report
    ends = [both.accept() for _ in range(2)]
    report = tracer.stop().report
    row, = report["rows"]
    assert (row["waiting"], row["accepted"], row["closed"], row["max_queue"]) == (3, 0, 0, 5), report
    assert row["max"] <= time.monotonic_ns() - began and report["begun_before"] == 1, (report, began)
    assert report["note"] == "2 waiting since before the run: max is at least that long", report
    ends = [both.accept() for _ in range(3)]
    report = of_task.stop().report
    row, = report["rows"]
    assert (row["waiting"], row["accepted"], row["max_queue"]) == (0, 1, 5), report
    assert ends[-1][0] - known <= row["wait"] == row["max"] <= ends[-1][1] - queued, (report, known, queued, ends)
    assert report["begun_before"] == 3 and "note" not in report, report


@pytest.mark.skipif(tally.KERNEL < (5, 19), reason="multishot accept came with 5.19")
@exact
def test_accepted_in_another_way(tool, trigger):
    """io_uring accepts without accept(2): such connections neither wait nor were they closed."""
    if not tally.allows_io_uring():
        pytest.skip("this machine forbids io_uring")
    load = trigger("uring", "accepts", N)
    tracer = tool("--json", "-I", 100, tool="tcpbacklog")
    tally.let_work([load])
    reports = tracer.stop().reports
    notes = re.findall(r"(\d+) accepted by io_uring or the kernel", " ".join(each.get("note", "") for each in reports))
    assert sum(map(int, notes)) == N, reports
    assert not [row for each in reports for row in each["rows"] if row["backlog"] == N], reports


@pytest.mark.everywhere
@exact
def test_long_queue_from_before(tool, server):
    """Queues from before the run are read in steps."""
    both = server(backlog=255)
    for _ in range(200):
        both.connect()
    report = tool("--json", "--lport", both.port, tool="tcpbacklog").stop().report
    row, = report["rows"]
    assert (row["waiting"], row["max_queue"], row["backlog"]) == (200, 200, 255), report
