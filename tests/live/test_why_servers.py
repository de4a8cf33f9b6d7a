# SPDX-License-Identifier: BSD-2-Clause
"""why: waits for file servers, where the call has no descriptor that says what it waits for."""

import os
import signal

import pytest

import fuse
import tally
from tally import GUEST

pytestmark = [
    pytest.mark.everywhere,
    pytest.mark.skipif(not GUEST, reason="what waits for such a server cannot be ended: in guests only"),
]

CALLS = {"stat": ("stat", "newfstatat", "statx"), "open": ("open", "openat"), "close": ("close",),
         "fault": ("[page fault]",)}


def act(name, mount, fd):
    """Asks the server, which does not answer."""
    if name == "stat":
        os.stat(mount.file)
    elif name == "open":
        os.open(mount.file, os.O_RDONLY)
    elif name == "close":
        os.close(fd)
    else:
        fuse.touch(fd)


@pytest.mark.parametrize("name", CALLS)
def test_waits_without_a_descriptor(tool, ends, tmp_path, name):
    """Most of the time of the process is one wait in that call."""
    (tmp_path / "source").write_bytes(b"x" * 8192)
    mount = fuse.Mount(tmp_path / "source", "file", keep_cache=False)
    it = fuse.Waiter(mount, lambda fd: act(name, mount, fd))
    ends.callback(it.close)
    ends.callback(mount.close)
    mount.hang()
    tracer = tool("--json", "-p", it.pid, tool="why")
    it.go()
    tally.wait_until(lambda: it.is_at(fuse.WAITS), it.pid)
    rows = tracer.stop(signal.SIGINT).report["rows"]
    waits = [row for row in rows if row["call"] in CALLS[name] and row["state"] == "blocked"]
    assert {(row["cause"], row["kind"]) for row in waits} == {("file system", "file")}, rows
