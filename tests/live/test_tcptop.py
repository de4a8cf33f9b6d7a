# SPDX-License-Identifier: BSD-2-Clause
"""tcptop: bytes of connections of this process and its children, against those sent and received."""

import os
import socket
import subprocess
import sys
import threading

import pytest

import network
import tally
from network import exact
from tally import flaws, once

MOVED = "received", "sent"


@pytest.fixture
def tcptop(tool):
    return lambda *args: tool("--json", *args, tool="tcptop")


@pytest.fixture(params=list(network.LOOPBACK))
def sockets(request, ends):
    ends.enter_context(network.Own())
    return network.Sockets(ends, *network.LOOPBACK[request.param])


@pytest.fixture
def v4(ends):
    ends.enter_context(network.Own())
    return network.Sockets(ends, *network.LOOPBACK["IPv4"])


def intact(report):
    """From 7.0 on the kernel may skip a program, and counts that: the figures prove nothing then."""
    lost = {reason for reason, n in flaws(report).items() if n}
    if lost == {"recursion"}:
        raise tally.Blurred
    assert not lost, report
    assert sum(row["connections"] for row in report["rows"]) == report["events"], report
    for row in report["rows"]:
        assert row["bytes"] == row["received"] + row["sent"] > 0, row
    return report


def rows_of(tracer):
    return intact(tracer.stop().report)["rows"]


def end_of(s):
    """One end, in the form of a row's keys."""
    (local, lport, *_), (remote, rport, *_) = s.getsockname(), s.getpeername()
    return local, lport, remote, rport


def by_end(rows):
    found = {tuple(row[name] for name in ("local", "lport", "remote", "rport")): row for row in rows}
    assert len(found) == len(rows)
    return found


def figures(rows):
    """{end: (received, sent)}"""
    return {end: tuple(row[name] for name in MOVED) for end, row in by_end(rows).items()}


def move(sender, receiver, n):
    """Moves n bytes from one end to the other, both of which this process holds."""
    feed = threading.Thread(target=sender.sendall, args=(b"x" * n,))
    feed.start()
    network.receive(receiver, n)
    feed.join()


@exact
def test_bytes(tcptop, sockets):
    """Connections from before the run and within it, open and closed, whichever end closes first."""
    server = sockets.server()
    old, older = sockets.pair(server), sockets.pair(server)
    for client, accepted in (old, older):
        move(client, accepted, 5000)
        move(accepted, client, 300)
    tracer = tcptop("-p", os.getpid())
    expected = {}
    for sent, answered, client_first in ((0, 0, True), (1, 0, False), (1000, 77777, True), (300_000, 5, None),
                                         (3_000_000, 2_000_000, False), (9, 9, None)):
        client, accepted = sockets.pair(server)
        if sent or answered:
            expected[end_of(client)] = answered, sent
            expected[end_of(accepted)] = sent, answered
        move(client, accepted, sent)
        move(accepted, client, answered)
        if client_first is not None:
            first, second = (client, accepted) if client_first else (accepted, client)
            first.close()
            assert second.recv(1) == b""
            second.close()
    expected[end_of(old[0])], expected[end_of(old[1])] = (0, 11), (11, 0)
    move(*old, 11)
    rows = rows_of(tracer)
    assert figures(rows) == expected and older
    assert {(row["pid"], row["connections"]) for row in rows} == {(os.getpid(), 1)}


@exact
def test_each_way_to_move_bytes(tcptop, v4, directory):
    """Bytes that the kernel moves by itself pass through no send or recv."""
    path = directory / "a"
    path.write_bytes(b"x" * 50_000)
    server = v4.server()
    tracer = tcptop("-p", os.getpid(), "--rport", server.getsockname()[1])
    client, accepted = v4.pair(server)
    with open(path, "rb") as file:
        assert os.sendfile(client.fileno(), file.fileno(), 0, 50_000) == 50_000
    network.receive(accepted, 50_000)
    out, into = os.pipe()
    os.write(into, b"y" * 3000)
    assert os.splice(out, client.fileno(), 3000) == 3000
    network.receive(accepted, 3000)
    client.sendmsg([b"z" * 10, b"z" * 20])
    os.write(client.fileno(), b"w" * 7)
    network.receive(accepted, 37)
    accepted.sendall(b"v" * 900)
    assert client.recv(900, socket.MSG_PEEK | socket.MSG_WAITALL) == b"v" * 900
    assert os.splice(client.fileno(), into, 900) == 900
    os.close(out)
    os.close(into)
    assert figures(rows_of(tracer)) == {end_of(client): (900, 53_037)}


@exact
def test_tcp_info(tcptop, v4):
    """Retransmitted payload counts once; payload never sent does not count."""
    server = v4.server()
    tracer = tcptop("-p", os.getpid())
    client, accepted = v4.pair(server)
    move(client, accepted, 5000)
    network.be_deaf(accepted)
    client.sendall(b"lost")
    tally.wait_until(lambda: network.tcp_info(client)["total_retrans"] >= 2, "no retransmissions")
    info, end, other = network.tcp_info(client), end_of(client), end_of(accepted)
    assert info["bytes_sent"] > 5004 and info["bytes_retrans"] >= 8
    network.reset(client)
    assert figures(rows_of(tracer)) == {end: (0, 5004), other: (5000, 0)}


@exact
def test_intervals(tcptop, v4):
    """Each byte is in one interval; a connection that moves nothing is in none."""
    server = v4.server()
    pairs = [v4.pair(server) for _ in range(3)]
    ends = [end_of(client) for client, _ in pairs]
    tracer = tcptop("-I", "40", "--rport", server.getsockname()[1])
    for n in (10, 200, 3000):
        for i, pair in enumerate(pairs):
            move(*pair, n + i)
        tracer.await_lines(2)
    pairs[0][0].close()
    move(*pairs[1], 7)
    pairs[1][1].close()
    tracer.await_lines(2)
    result = tracer.stop()
    found, several = {}, 0
    for report in result.reports:
        rows = figures(intact(report)["rows"])
        several += bool(rows)
        for end, (received, sent) in rows.items():
            assert received == 0
            found[end] = found.get(end, 0) + sent
    assert found == {ends[0]: 3210, ends[1]: 3213 + 7, ends[2]: 3216} and several >= 4, result


@once
def test_connections_of_a_recording(run, v4, directory):
    """The bytes of its intervals add up. A connection is in several intervals, so the largest number of one counts."""
    path, server = directory / "recording", v4.server()
    pairs = [v4.pair(server) for _ in range(3)]
    recorder = tally.Tool("-o", str(path), f"tcptop --by rport --rport {server.getsockname()[1]}", "0.1", tool="record")

    def apart():
        result = run(str(path), "tcptop", "--each", "--json", tool="show")
        return [row for report in result.reports for row in intact(report)["rows"]]

    try:
        recorder.ready()
        for round, some in enumerate((pairs[:1], pairs, pairs[:2])):
            for pair in some:
                move(*pair, 10)
            tally.wait_until(lambda: path.exists() and sum(row["sent"] for row in apart()) ==
                             10 * sum((1, 3, 2)[:round + 1]), "the bytes of a round")
        assert recorder.stop().code == 0
    finally:
        recorder.close()
    rows = apart()
    result = run(str(path), "tcptop", "--json", tool="show")
    (row,) = result.report["rows"]
    assert row["sent"] == 60 and result.report["columns"]["connections"] == {"role": "maximum"}, result
    assert row["connections"] == max(each["connections"] for each in rows) and len(rows) >= 3, (row, rows)


# --- whose they are ------------------------------------------------------------------------------

CHILD = """
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(b"x" * int(sys.argv[2]))
s.shutdown(socket.SHUT_WR)
while s.recv(1 << 16):
    pass
"""


@exact
def test_processes_that_end(tcptop, v4):
    """They have exited long before the report. --by comm adds them up, apart from this process."""
    server = v4.server()
    port = server.getsockname()[1]
    tracers = [tcptop("--rport", port, "--by", by) for by in ("pid", "comm,rport", "uid")]
    expected = {}
    for n in (1000, 250_000):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(port), str(n)])
        accepted = server.accept()[0]
        network.receive(accepted, n)
        accepted.sendall(b"y" * 2 * n)
        accepted.close()
        assert child.wait() == 0
        expected[child.pid] = 2 * n, n
    pids, comms, users = (rows_of(tracer) for tracer in tracers)
    assert {row["pid"]: (row["received"], row["sent"]) for row in pids} == expected
    assert all(row["comm"] and "lport" not in row for row in pids), pids
    (row,), (user,) = comms, users
    assert (row["received"], row["sent"], row["connections"]) == (502_000, 251_000, 2), row
    assert (row["comm"], row["rport"]) == (pids[0]["comm"], port), (row, pids)
    assert (user["uid"], user["bytes"]) == (os.getuid(), 753_000), user


@exact
@pytest.mark.parametrize("ends_first", (True, False))
def test_a_server_that_forks(tcptop, v4, ends_first):
    """The child that got the connection has its bytes, whether it has exited or still holds it."""
    server = v4.server()
    tracer = tcptop("--lport", server.getsockname()[1])
    client, accepted = v4.pair(server)
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(into)
        network.receive(accepted, 4000)
        accepted.sendall(b"y" * 50)
        if not ends_first:
            os.read(out, 1)
        os._exit(0)
    end = end_of(accepted)
    accepted.close()
    client.sendall(b"x" * 4000)
    network.receive(client, 50)
    if ends_first:
        os.waitpid(child, 0)
    rows = rows_of(tracer)
    os.close(into)
    os.close(out)
    if not ends_first:
        os.waitpid(child, 0)
    (row,) = rows
    assert row["pid"] == child and figures(rows) == {end: (4000, 50)}


@exact
def test_nobody_has_accepted(tcptop, v4):
    """It has no owner, but its bytes have arrived."""
    server = v4.server()
    tracers = tcptop("--lport", server.getsockname()[1]), tcptop("-p", os.getpid())
    client = v4.new()
    client.connect(server.getsockname())
    client.sendall(b"abc")
    network.await_acknowledged(client)
    end = end_of(client)
    all_rows, mine = (rows_of(tracer) for tracer in tracers)
    (row,) = all_rows
    assert (row["pid"], row["comm"], row["received"], row["lport"]) == (0, "-", 3, end[3]), row
    assert figures(mine) == {end: (0, 3)}


@exact
def test_mptcp(tcptop, v4, ends):
    """The TCP connection behind a socket of MPTCP belongs to the process that has accepted that socket."""
    both = network.mptcp(ends)
    server = both.server()
    old = both.pair(server)
    tracer = tcptop("-p", os.getpid())
    new = both.pair(server)
    expected = {}
    for n, (client, accepted) in ((99, old), (77, new)):
        move(client, accepted, n)
        expected |= {end_of(client): (0, n), end_of(accepted): (n, 0)}
    rows = rows_of(tracer)
    assert figures(rows) == expected
    assert {row["pid"] for row in rows} == {os.getpid()}


@exact
def test_scope(tcptop, ends):
    """Processes, names, ports; all network namespaces are in scope."""
    tracers = [tcptop(*args) for args in
               (("-p", 1), ("--comm", "nobody*"), ("--comm", "nobody*", "-p", os.getpid()), ("-p", os.getpid()))]
    ends.enter_context(network.Own())
    v4 = network.Sockets(ends, *network.LOOPBACK["IPv4"])
    server = v4.server()
    by_port = tcptop("--rport", server.getsockname()[1], "--lport", "1,2")
    client, accepted = v4.pair(server)
    move(client, accepted, 99)
    *others, mine = tracers
    expected = {end_of(client): (0, 99), end_of(accepted): (99, 0)}
    for s in (client, accepted):
        network.reset(s)
    assert figures(rows_of(mine)) == expected
    for tracer in (*others, by_port):
        report = intact(tracer.stop().report)
        assert not report["rows"] and report["filtered"] >= 2, report


# --- many ----------------------------------------------------------------------------------------

@exact
def test_many(tcptop, v4):
    """Sockets reuse the same memory again and again; rows are sorted by size."""
    n = tally.scaled(800)
    server = v4.server()
    port = server.getsockname()[1]
    tracers = [tcptop("-p", os.getpid(), "--rport", port, *args) for args in
               ((), ("--by", "comm", "-I", "30"), ("--by", "rport", "--sort", "connections"))]
    expected, kept = {}, []
    for i in range(n):
        client, accepted = v4.pair(server)
        client.sendall(b"x" * i)
        network.receive(accepted, i)
        if i:
            expected[end_of(client)] = 0, i
        if i % 8:
            network.reset(client)
            accepted.close()
        else:
            kept.append((client, accepted))
    each, intervals, one = (tracer.stop() for tracer in tracers)
    rows = intact(each.report)["rows"]
    assert figures(rows) == expected
    assert [row["sent"] for row in rows] == list(range(n - 1, 0, -1))
    reports = [intact(report) for report in intervals.reports]
    assert sum(row["sent"] for report in reports for row in report["rows"]) == n * (n - 1) // 2
    assert sum(report["events"] for report in reports) == n - 1
    (row,) = intact(one.report)["rows"]
    assert (row["connections"], row["sent"], row["rport"]) == (n - 1, n * (n - 1) // 2, port), row


@exact
def test_many_at_once(tcptop, v4):
    """Connections are read in batches of 64: one report has all, with open ones from before the run."""
    n = 3 * 64 // 2 + 5
    server = v4.server()
    pairs = [v4.pair(server) for _ in range(n)]
    tracer = tcptop("-p", os.getpid())
    expected = {}
    for i, (client, accepted) in enumerate(pairs, 1):
        move(client, accepted, i)
        expected[end_of(client)], expected[end_of(accepted)] = (0, i), (i, 0)
    assert figures(rows_of(tracer)) == expected


# The kernel interrupts the iterator of files after so many without output.
VISITED_AT_ONCE = 1_000_000

# Holds that many descriptors of one file in all, in children that are far from their limit (vitals has the nearest).
HOLD_FILES = f"""
import os, resource, sys
most = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 20_000)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
null = os.open("/dev/null", os.O_RDONLY)
for fd in range(10, most // 2):
    os.dup2(null, fd)
for _ in range({VISITED_AT_ONCE} // (most // 2 - 10) + 2):
    if not os.fork():
        sys.stdin.read()
        os._exit(0)
print("ready", flush=True)
sys.stdin.read()
"""

# A connection to itself, over which bytes go once there is a line to read.
HOLD_CONNECTION = """
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
accepted, _ = server.accept()
print("ready", flush=True)
sys.stdin.readline()
client.sendall(b"x" * 4321)
accepted.recv(4321, socket.MSG_WAITALL)
print("done", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def script(ends):
    def start(text):
        load = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ends.callback(load.wait)
        ends.callback(load.stdin.close)
        assert load.stdout.readline() == "ready\n"
        return load
    return start


@exact
def test_behind_a_million_files(tcptop, v4, script):
    """Connections from before the run belong to their process, however many files others have open."""
    script(HOLD_FILES)
    load = script(HOLD_CONNECTION)
    tracer = tcptop("-p", load.pid)
    load.stdin.write("\n")
    load.stdin.flush()
    assert load.stdout.readline() == "done\n"
    rows = rows_of(tracer)
    assert sorted((row["received"], row["sent"]) for row in rows) == [(0, 4321), (4321, 0)], rows
    assert {row["pid"] for row in rows} == {load.pid}, rows


@once
def test_no_room(tool, v4):
    """Connections and keys beyond --max-keys are lost, and counted."""
    server = v4.server()
    args = "--json", "-p", os.getpid(), "--rport", server.getsockname()[1]
    tracers = tool(*args, "--max-keys", 4, tool="tcptop"), tool(*args, "--max-keys", 8, tool="tcptop")
    pairs = [v4.pair(server) for _ in range(4)]
    for pair in pairs:
        move(*pair, 5)
    for pair in [v4.pair(server) for _ in range(4)]:
        move(*pair, 5)
    few, enough = (tracer.stop().report for tracer in tracers)
    assert sum(few["lost"].values()) == few["lost"]["map_full"] > 0 and len(few["rows"]) <= 4, few
    assert len(enough["rows"]) <= 8, enough


@exact
def test_a_connection_without_room_is_lost_once(tcptop, v4):
    """
    There is room for one connection of this machine, whichever that is. Each other one counts as lost once, although it
    is seen again when it is accepted, when each interval ends, and for each descriptor that refers to it.
    """
    server = v4.server()
    old = v4.pair(server)
    tracer = tcptop("-p", os.getpid(), "-I", "40", "--max-keys", 1)
    pairs = [old, *(v4.pair(server) for _ in range(5))]
    copies = [s.dup() for pair in pairs for s in pair]
    tracer.await_lines(3)
    for pair in pairs:
        move(*pair, 5)
        move(*pair[::-1], 5)
    tracer.await_lines(3)
    for s in copies:
        s.close()
    reports = tracer.stop().reports
    lost = sum(report["lost"].pop("map_full") for report in reports)
    kept = {end for report in reports for end in by_end(intact(report)["rows"])}
    # A connection of another program may have had the room, and left it to one of these that was lost before.
    assert lost in (12 - len(kept), 12) and len(kept) <= 1, reports


@once
@pytest.mark.parametrize("args", (("--by", "cpu"), ("-C", "0"), ("--by", "nonsense"), ("--rport", "http"),
                                  ("--sort", "age")))
def test_wrong_usage(run, args):
    result = run(*args, tool="tcptop")
    assert result.code == 2 and not result.stdout, result


def test_usage(run):
    result = run("-n", tool="tcptop")
    assert result.code == 0 and "on_state at tp_btf/inet_sock_set_state" in result.text, result
