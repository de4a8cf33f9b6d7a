# SPDX-License-Identifier: BSD-2-Clause
"""snap --waits: threads that wait for file servers that do not answer, below these; the servers are not asked."""

import fcntl
import os
import re
from pathlib import Path

import pytest

import fuse
import nfs
import tally
from tally import GUEST

pytestmark = [
    pytest.mark.everywhere,
    pytest.mark.skipif(not GUEST, reason="what waits for such a server cannot be ended: in guests only"),
]


@pytest.fixture
def mounts(tmp_path):
    """Makes mounts with daemons of their own; made: those that are not closed yet."""
    (tmp_path / "source").write_bytes(b"x" * 8192)

    def make(flags=0):
        mount = fuse.Mount(tmp_path / "source", "file", flags=flags, keep_cache=False)
        make.made.append(mount)
        return mount

    make.made = []
    yield make
    for mount in make.made:
        mount.close()


@pytest.fixture
def waiter(mounts):
    """A process that waits for the server of its mount until that is closed."""
    def begin(mount, act):
        waiting.append(fuse.Waiter(mount, act))
        mount.hang()
        waiting[-1].go()
        tally.wait_until(lambda: waiting[-1].is_at(fuse.WAITS), waiting[-1].pid)
        return waiting[-1].pid

    waiting = []
    yield begin
    while mounts.made:
        mounts.made.pop().close()
    for each in waiting:
        each.close()


@pytest.fixture
def rows(run):
    def look(*args):
        result = run("--json", *args, tool="snap")
        assert result.code == 0, result
        return result.report["rows"]

    return look


def row_of(rows, pid):
    found = [row for row in rows if row["pid"] == pid and row["why"]]
    assert len(found) == 1, (pid, rows)
    return found[0]


def tells_connections(mount):
    """Whether the kernel says which connection the daemon serves."""
    return any("fuse_connection:" in path.read_text() for path in Path(f"/proc/{mount.server}/fdinfo").iterdir())


def check_reader(rows, pid, mount, daemon):
    row = row_of(rows, pid)
    assert (row["why"], row["mount"], row["mount_device"], row["mount_type"], row["mount_source"]) == (
        "fuse", str(mount.path), mount.device, "fuse", "hung"), row
    assert row["to_pid"] == daemon, row
    server = [each for each in rows if each["server"] and each["mount"] == row["mount"]]
    assert len(server) == 1 and server[0]["chain"] == row["chain"] and server[0]["depth"] == row["depth"] - 1, rows
    assert server[0]["waiters"] == 1 and server[0]["to_pid"] == daemon, server
    assert abs(server[0]["time"] - row["time"]) <= 1, (server, row)
    return server[0]


@pytest.mark.parametrize("flags", (0, fuse.ASYNC_READ), ids=("answer", "page"))
def test_two_daemons(mounts, waiter, rows, flags):
    """Each reader is below its own daemon, if the kernel tells them apart, and below its own mount in any case."""
    both = mounts(flags), mounts(flags)
    readers = []
    for mount in both:
        readers.append(waiter(mount, lambda fd: os.pread(fd, 1, 0)))
    tells = tells_connections(both[0])
    for args in ("--waits",), ("--servers",), ("--deadlocks", "--servers"):
        found = rows(*args)
        for reader, mount in zip(readers, both):
            server = check_reader(found, reader, mount, mount.server if tells else None)
            if tells:
                head = [row for row in found if row["chain"] == server["chain"] and not row["depth"]]
                assert [row["pid"] for row in head] == [mount.server] and server["depth"] == 1, found
                assert re.fullmatch(rf".* \(pid {mount.server}\)", server["server"]), server
    assert not [row for row in rows("--deadlocks") if row["server"] or row["why"] == "fuse"]


@pytest.mark.parametrize("act", (lambda mount, _: os.stat(mount.file), lambda _, fd: fuse.touch(fd)),
                         ids=("path", "fault"))
def test_one_daemon(mounts, waiter, rows, run, act):
    """Also where the kernel does not tell the connection, and by a path or an address, which do not tell the mount."""
    mount = mounts()
    reader = waiter(mount, lambda fd: act(mount, fd))
    check_reader(rows("--waits"), reader, mount, mount.server)
    text = run("--servers", tool="snap").text
    assert re.search(rf"^1 thread waits for {mount.server} \(", text, re.M), text
    assert re.search(rf"^  1 thread waits for the server of {mount.path} \(fuse, hung\)", text, re.M), text
    assert re.search(rf"^    {reader} \(", text, re.M), text


def test_a_path_with_two_mounts(mounts, waiter, rows):
    """It may be on either of them."""
    both = mounts(), mounts()
    reader = waiter(both[1], lambda _: os.stat(both[1].file))
    row = row_of(rows("--servers"), reader)
    assert (row["why"], row["mount_type"], row["mount"], row["to_pid"]) == ("fuse", "fuse", None, None), row


def test_a_lock_is_no_hung_server(mounts, waiter, rows):
    mount = mounts(fuse.FLOCK_LOCKS)
    reader = waiter(mount, lambda fd: fcntl.flock(fd, fcntl.LOCK_EX))
    assert row_of(rows("--waits"), reader)["why"] == "flock"
    assert not rows("--servers")


def test_a_daemon_that_answers(mounts, rows, run):
    """It sleeps in a function of FUSE itself, until there is a request."""
    mount = mounts()
    tally.wait_until(lambda: "fuse_dev_do_read" in Path(f"/proc/{mount.server}/stack").read_text(), mount.server)
    assert not rows("--servers")
    assert "no wait for a file server" in run("--servers", tool="snap").text


# The place, and whether the call has a descriptor of the file.
NFS = {
    "stat": ("rpc_wait_bit_killable", lambda mount, _: os.stat(mount.file)),
    "fstat": ("rpc_wait_bit_killable", lambda _, fd: os.fstat(fd)),
    "read": (fuse.WAITS, lambda _, fd: os.pread(fd, 1, 0)),
}


@pytest.mark.parametrize("name", NFS)
def test_nfs_server(ends, rows, run, name):
    place, act = NFS[name]
    mount = nfs.Mount(caches=name == "read")
    ends.callback(mount.close)
    waiter = fuse.Waiter(mount, lambda fd: act(mount, fd))
    ends.callback(waiter.close)
    mount.hang()
    waiter.go()
    tally.wait_until(lambda: waiter.is_at(place), waiter.pid)
    found = rows("--servers")
    row = row_of(found, waiter.pid)
    assert (row["why"], row["mount"], row["mount_device"], row["mount_type"], row["mount_source"], row["to_pid"]) == (
        "nfs", str(mount.path), mount.device, "nfs", mount.source, None), row
    head = [each for each in found if each["server"]]
    assert [(each["server"], each["mount"], each["depth"], each["waiters"]) for each in head] == [
        (mount.source, str(mount.path), 0, 1)], found
    text = run("--servers", tool="snap").text
    assert f"1 thread waits for the server of {mount.path} (nfs, {mount.source})" in text, text
