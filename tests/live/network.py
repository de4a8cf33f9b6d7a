# SPDX-License-Identifier: BSD-2-Clause
"""Helpers shared by the tests of network tools: a network of one's own, sockets in it, packets
that are lost on purpose, and the kernel's counters."""

import ctypes
import fcntl
import functools
import os
import re
import socket
import struct
from pathlib import Path

import pytest

import snooping
import tally

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP = 1
SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27

libc = ctypes.CDLL(None, use_errno=True)

LOOPBACK = {"IPv4": (socket.AF_INET, "127.0.0.1"), "IPv6": (socket.AF_INET6, "::1"),
            "mapped": (socket.AF_INET6, "::ffff:127.0.0.1")}


def exact(test):
    """Like snooping.exact(), for events in softirqs: arrivals, timers, retransmissions.

    In a PVM guest the threads of process 1 do not pass some tracepoints (tally.holes()), and neither do softirqs that
    interrupt them: all programs there miss these events, and the kernel counts no skipped run. The kernel's own trace
    has them. So a trial in which such a thread ran, and whose counts differ, is set apart: five of these in a row
    fail.
    """

    @functools.wraps(test)
    def judged(*args, **kwargs):
        before = tally.holes()
        try:
            return test(*args, **kwargs)
        except AssertionError as error:
            if tally.holes() != before:
                raise tally.Apart(str(error)) from error
            raise

    return snooping.exact(judged)


class Own:
    """A network namespace for this thread, with nothing but a loopback device: no packets of others
    are in its counters."""

    def __enter__(self):
        self.before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        if libc.unshare(CLONE_NEWNET):
            os.close(self.before)
            pytest.skip("no network namespaces here")
        with socket.socket() as s:
            fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
        return self

    def __exit__(self, *_):
        assert libc.setns(self.before, CLONE_NEWNET) == 0
        os.close(self.before)


def counter(file, name):
    """A counter of /proc/net/snmp or netstat, with its protocol if several have it: Udp.NoPorts."""
    protocol, _, name = name.rpartition(".")
    lines = Path(f"/proc/thread-self/net/{file}").read_text().splitlines()
    for names, values in zip(lines[::2], lines[1::2]):
        found = dict(zip(names.split(), values.split()))
        if name in found and names.startswith(protocol):
            return int(found[name])
    raise KeyError(name)


def text(address):
    """An address in the form of the tools."""
    host, port, *_ = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


IPPROTO_MPTCP = 262


class Sockets:
    """Sockets of one local address, which are closed at the end of the test."""

    def __init__(self, ends, family, host, protocol=0):
        self.ends, self.family, self.host, self.protocol = ends, family, host, protocol

    def new(self, kind=socket.SOCK_STREAM):
        return self.ends.enter_context(socket.socket(self.family, kind, self.protocol))

    def server(self, backlog=64):
        s = self.new()
        if self.family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        s.bind(("::" if "ffff" in self.host else self.host, 0))
        s.listen(backlog)
        return s

    def pair(self, server):
        """A connection: the client's socket, the server's socket."""
        client = self.new()
        client.connect((self.host, server.getsockname()[1]))
        accepted = self.ends.enter_context(server.accept()[0])
        for s in (client, accepted):
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client, accepted


def mptcp(ends):
    """Sockets of MPTCP, whose connections have one TCP connection each."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP).close()
    except OSError:
        pytest.skip("no MPTCP here")
    return Sockets(ends, *LOOPBACK["IPv4"], IPPROTO_MPTCP)


NOTHING = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))   # return 0: drop the packet


def be_deaf(s):
    """From now on the kernel drops all packets at a socket."""
    s.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                 struct.pack("HxxxxxxP", 1, ctypes.addressof(NOTHING)))


def hear(s):
    s.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)


def receive(s, n):
    got = 0
    while got < n:
        part = s.recv(1 << 20)
        assert part, f"{got} of {n} bytes"
        got += len(part)


def tcp_info(s):
    """Some fields of struct tcp_info (include/uapi/linux/tcp.h), by name."""
    raw = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    found = {"unacked": 24, "rtt": 68, "total_retrans": 100}
    info = {name: struct.unpack_from("I", raw, at)[0] for name, at in found.items()}
    info["bytes_acked"], info["bytes_received"] = struct.unpack_from("QQ", raw, 120)
    info["min_rtt"], info["data_segs_in"] = struct.unpack_from("II", raw, 148)
    info["bytes_sent"], info["bytes_retrans"] = struct.unpack_from("QQ", raw, 200)
    return info


def await_acknowledged(*sockets):
    """Waits until all that they sent is acknowledged: nothing is retransmitted from then on."""
    tally.wait_until(lambda: not any(tcp_info(s)["unacked"] for s in sockets), "no acknowledgement")


def await_closed():
    """Waits for the last connection of this network to go: a FIN or RST may still be on its way to the other end."""
    listening, time_wait = "0A", "06"

    def none_left():
        lines = [
            line.split()
            for name in ("tcp", "tcp6")
            for line in Path(f"/proc/thread-self/net/{name}").read_text().splitlines()[1:]
        ]
        return {line[3] for line in lines} <= {listening, time_wait}

    tally.wait_until(none_left, "a connection does not go")


def reset(s):
    """Closes a connection at once: no packet changes its figures afterwards."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()
