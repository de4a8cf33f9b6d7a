# SPDX-License-Identifier: BSD-2-Clause
"""connsnoop: connects and accepts of this process, compared with its sockets."""

import errno
import os
import select
import socket
import threading

import pytest

import tally
from snooping import (
    await_call,
    compiled,
    events_of,
    exact,
    has_kernel_frames,
    lines_with_stacks,
    own_functions,
)

CONNECT = 42
IP = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


@pytest.fixture
def connsnoop(tool):
    return lambda *args: tool("--json", "-p", os.getpid(), *args, tool="connsnoop")


@pytest.fixture
def sockets(ends):
    """Makes sockets that are closed at the end of the test."""
    return lambda *args: ends.enter_context(socket.socket(*args))


def text(address):
    """An address in the form of the lines."""
    host, port, *_ = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listening(sockets, family, host, backlog=10):
    server = sockets(family, socket.SOCK_STREAM)
    try:
        server.bind((host, 0))
    except OSError:
        pytest.skip(f"no {host} here")
    server.listen(backlog)
    return server


def connect(s, address):
    """Connects without waiting, then waits. Returns the results of both."""
    s.setblocking(False)
    said = s.connect_ex(address)
    if said == errno.EINPROGRESS:
        assert select.select([], [s], [], tally.PATIENCE)[1]
    return said, s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


def told(tracer):
    """The lines as (event, values)."""
    lines, _ = events_of(tracer.stop())
    assert all(line["pid"] == os.getpid() for line in lines)
    return [(line["event"], line["values"]) for line in lines]


@pytest.mark.parametrize("scope", (("--comm", "nosuch"), ("--comm", "nosuch", "--failed")), ids=" ".join)
@exact
def test_no_connect_out_of_scope(tool, sockets, scope):
    """Connects of this process are out of scope, and a server's sockets with the same addresses are no connects."""
    server = listening(sockets, *IP[0])
    closed = listening(sockets, *IP[0])
    nobody = closed.getsockname()
    closed.close()
    tracer = tool("--json", *scope, tool="connsnoop")
    for _ in range(tally.scaled(300)):
        for address in (nobody, server.getsockname()):
            client = socket.socket()
            connect(client, address)
            client.close()
        server.accept()[0].close()
    lines, report = events_of(tracer.stop())
    assert not lines and report["events"] == 0, lines[:3]


@pytest.mark.parametrize("wait", (True, False), ids=("waiting", "not-waiting"))
@pytest.mark.parametrize("family, host", IP, ids=("IPv4", "IPv6"))
@exact
def test_tcp(connsnoop, sockets, family, host, wait):
    """Each connect once, whether the call waits or not, with both addresses."""
    server = listening(sockets, family, host)
    tracer = connsnoop()
    client = sockets(family, socket.SOCK_STREAM)
    if wait:
        client.connect(server.getsockname())
    else:
        assert connect(client, server.getsockname())[1] == 0
    accepted, _ = server.accept()
    accepted.close()
    (one, made), (two, taken) = sorted(told(tracer), reverse=True, key=lambda each: each[0])
    assert (one, two) == ("connect", "accept")
    here, there = text(client.getsockname()), text(server.getsockname())
    for values, local, remote in ((made, here, there), (taken, there, here)):
        assert (values["local"], values["remote"]) == (local, remote)
        assert values["protocol"] == "tcp" and values["error"] is None
    assert made["fd"] == client.fileno() and made["latency"] > 0 and taken["latency"] is None


@exact
def test_refused(connsnoop, sockets):
    server = listening(sockets, *IP[0])
    address = server.getsockname()
    server.close()
    tracers = connsnoop(), connsnoop("--failed")
    assert sockets().connect_ex(address) == errno.ECONNREFUSED
    # On loopback the answer may come before the call has returned.
    said, later = connect(sockets(), address)
    assert errno.ECONNREFUSED in (said, later)
    for tracer in tracers:
        found = told(tracer)
        assert [(event, v["error"], v["remote"]) for event, v in found] == [
            ("connect", "ECONNREFUSED", text(address))] * 2


@exact
def test_what_worked_is_filtered(connsnoop, sockets):
    """With --failed, each successful connect counts as filtered, whether its call waits or not, and so does each
    accept."""
    n = 20
    server = listening(sockets, *IP[0])
    tracer = connsnoop("--failed")
    for wait in (True, False):
        for _ in range(n):
            client = sockets()
            if wait:
                client.connect(server.getsockname())
            else:
                assert connect(client, server.getsockname())[1] == 0
            server.accept()[0].close()
    lines, report = events_of(tracer.stop())
    # It may include other processes' calls.
    assert not lines and report["filtered"] >= 4 * n, report


@exact
def test_no_answer(connsnoop, sockets):
    """A server with a full queue does not answer: a time-out, and a socket that is closed."""
    server = listening(sockets, *IP[0], 0)
    address = server.getsockname()
    first = sockets()
    first.connect(address)
    tracer = connsnoop()
    slow = sockets()
    slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 200)
    slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 1)
    given_up = socket.socket()
    given_up.setblocking(False)
    assert given_up.connect_ex(address) == errno.EINPROGRESS
    given_up.close()
    assert connect(slow, address) == (errno.EINPROGRESS, errno.ETIMEDOUT)
    found = told(tracer)
    assert [v["error"] for _, v in found] == ["closed", "ETIMEDOUT"]
    assert found[1][1]["latency"] >= 200_000_000


@exact
def test_each_is_there(connsnoop, sockets):
    """One after the other, and several at the same time."""
    n = tally.scaled(400)
    server = listening(sockets, *IP[0])
    tracer = connsnoop()
    ports = []
    for _ in range(n):
        some = [socket.socket() for _ in range(4)]
        for s in some:
            s.setblocking(False)
            s.connect_ex(server.getsockname())
        for s in some:
            server.accept()[0].close()
            select.select([], [s], [])
            ports.append(text(s.getsockname()))
            s.close()
    found = told(tracer)
    made = [v for event, v in found if event == "connect"]
    taken = [v for event, v in found if event == "accept"]
    assert sorted(v["local"] for v in made) == sorted(ports) == sorted(v["remote"] for v in taken)
    assert not any(v["error"] for _, v in found)


@exact
def test_tcp_alone(connsnoop, sockets, run, directory):
    """--tcp finds the same connects by their sockets' states, without a program at each system call."""
    silent = listening(sockets, *IP[0], 0)
    first = sockets()
    first.connect(silent.getsockname())
    tracers = connsnoop(), connsnoop("--tcp"), connsnoop("--tcp", "--failed")
    for family, host in IP:
        server = listening(sockets, family, host)
        closed = listening(sockets, family, host)
        nobody = closed.getsockname()
        closed.close()
        for address in (server.getsockname(), nobody):
            sockets(family).connect_ex(address)
            connect(sockets(family), address)
    given_up = socket.socket()
    given_up.setblocking(False)
    assert given_up.connect_ex(silent.getsockname()) == errno.EINPROGRESS
    given_up.close()
    assert sockets(socket.AF_UNIX).connect_ex(f"{directory}/nobody") == errno.ENOENT
    whole, alone, failed = ([v for event, v in told(each) if event == "connect"] for each in tracers)
    assert whole.pop()["protocol"] == "unix"
    keys = "fd", "error", "protocol", "remote"
    assert [[v[k] for k in keys] for v in alone] == [[v[k] for k in keys] for v in whole]
    assert [v["error"] for v in alone] == [None, None, "ECONNREFUSED", "ECONNREFUSED"] * 2 + ["closed"]
    assert [v["local"] for v in alone if not v["error"]] == [v["local"] for v in whole if not v["error"]]
    assert [v["error"] for v in failed] == [v["error"] for v in alone if v["error"]]
    assert all(v["latency"] > 0 for v in alone)
    assert b"sys_e" not in run("-n", "--tcp", tool="connsnoop").stdout


@exact
def test_unix(connsnoop, sockets, directory):
    """Paths, abstract names, and names that do not exist."""
    tracer = connsnoop()
    names = [os.fsencode(directory) + b"/a\x1b[1m\xff\n", b"\0abs\0tract-%d" % os.getpid()]
    for name in names:
        server, client = sockets(socket.AF_UNIX), sockets(socket.AF_UNIX)
        server.bind(name)
        server.listen()
        client.connect(name)
        server.accept()[0].close()
    assert sockets(socket.AF_UNIX).connect_ex("/nonexistent/socket") == errno.ENOENT
    found = told(tracer)
    shown = [f"{directory}/a\\x1b[1m\\xff\\x0a", f"@abs@tract-{os.getpid()}"]
    assert [(event, v["local"], v["remote"], v["error"]) for event, v in found] == [
        ("connect", None, shown[0], None), ("accept", shown[0], None, None),
        ("connect", None, shown[1], None), ("accept", shown[1], None, None),
        ("connect", None, "/nonexistent/socket", "ENOENT")]
    assert {v["protocol"] for _, v in found} == {"unix"}


@exact
def test_others(connsnoop, sockets, trigger, tool):
    """UDP; a descriptor that is no socket; and the calls of 32-bit programs."""
    tracer = connsnoop()
    client = sockets(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect(("127.0.0.1", 53))
    client.connect(("127.0.0.1", 0))    # as getaddrinfo(3) does to find the source address
    (event, values), (_, without_port) = told(tracer)
    assert (without_port["remote"], without_port["error"]) == ("127.0.0.1:0", None)
    assert (event, values["protocol"], values["remote"]) == ("connect", "udp", "127.0.0.1:53")
    assert values["local"] == text(client.getsockname())
    load = trigger("syscalls", 1, "42:3", "i362:4", "43:5")
    tracer = tool("--json", "-p", load.pid, tool="connsnoop")
    load.go()
    load.done()
    lines, _ = events_of(tracer.stop())
    assert all(line["values"]["error"] == "EBADF" and line["values"]["fd"] == -1 for line in lines)
    assert [line["event"] for line in lines] in (["connect"] * 7 + ["accept"] * 5,
                                                 ["connect"] * 3 + ["accept"] * 5)


@exact
def test_accept_fails(connsnoop, sockets):
    """An accept without a connection is no event."""
    server = listening(sockets, *IP[0])
    server.setblocking(False)
    tracer = connsnoop()
    for _ in range(3):
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not told(tracer)


def test_usage(run):
    result = run("-n", tool="connsnoop")
    assert result.code == 0 and "on_state at tp_btf/inet_sock_set_state" in result.text


@exact
def test_one_that_began_before(connsnoop, sockets, tmp_path):
    """A connect that waits for room in a queue at the start of the run is shown when it ends, without a time. The next
    one has a time."""
    path = tmp_path / "socket"
    path.unlink(missing_ok=True)        # from the trial before
    path = str(path)
    server = sockets(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(path)
    server.listen(0)
    clients = [sockets(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(3)]
    clients[0].connect(path)

    def connect_others():
        waiting.append(threading.get_native_id())
        for client in clients[1:]:
            client.connect(path)

    waiting = []
    thread = threading.Thread(target=connect_others)
    thread.start()
    tally.wait_until(lambda: waiting, "a thread")
    await_call(waiting[0], CONNECT)
    tracer = connsnoop()
    for _ in clients:
        server.accept()[0].close()
    thread.join()
    lines, report = events_of(tracer.stop())
    made = [line for line in lines if line["event"] == "connect"]
    assert {line["tid"] for line in made} == set(waiting)
    assert [line["values"]["latency"] is None for line in made] == [True, False]
    assert all(line["values"]["error"] is None for line in made) and report["begun_before"] == 1


# --- stacks ------------------------------------------------------------------------------------------------

DIALLING = """
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#define STEP __attribute__((noinline))

static struct sockaddr_in served = { .sin_family = AF_INET }, refused = { .sin_family = AF_INET };
static int server;

STEP int bound(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(*at);

	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bind(fd, (struct sockaddr *)at, size);
	getsockname(fd, (struct sockaddr *)at, &size);
	return fd;
}

STEP int dial(struct sockaddr_in *at, int flags)
{
	return connect(socket(AF_INET, SOCK_STREAM | flags, 0), (struct sockaddr *)at, sizeof(*at)) + 1;
}

STEP int left(void)
{
	return dial(&served, 0) + 1;
}

STEP int later(void)
{
	return dial(&served, SOCK_NONBLOCK) + 2;
}

STEP int right(void)
{
	return dial(&refused, 0) + 3;
}

STEP int receive(void)
{
	return accept(server, NULL, NULL) + 1;
}

int main(void)
{
	server = bound(&served);
	bound(&refused);
	listen(server, 8);
	return left() + later() + receive() + right() < 0;
}
"""

MAIN = "main", "_start"


@tally.once
@pytest.mark.parametrize("options", ((), ("-K",), ("--tcp",), ("--failed",)), ids=("user", "both", "tcp", "failed"))
def test_who_connects(run, directory, options):
    """The functions of the program, for calls that end at once, later, or by failing."""
    program = compiled(directory, "dialling", DIALLING)
    lines, report = lines_with_stacks(run, "connsnoop", directory, options, program)
    found = sorted((line["values"]["error"] or "", line["event"], *own_functions(line["frames"], program))
                   for line in lines)
    expected = [("", "accept", "receive", *MAIN), ("", "connect", "dial", "later", *MAIN),
                ("", "connect", "dial", "left", *MAIN), ("ECONNREFUSED", "connect", "dial", "right", *MAIN)]
    if "--failed" in options:
        expected = expected[-1:]
    if "--tcp" in options:
        expected = expected[1:]
    assert found == expected, lines
    assert all(has_kernel_frames(line["frames"]) == ("-K" in options) for line in lines), lines
    assert not any(tally.flaws(report).values()), report
