# SPDX-License-Identifier: BSD-2-Clause
"""`tally triage` names a file server that does not answer before the threads that are stuck because of it."""

import contextlib
import json
import os
import subprocess
import time

import pytest

import fuse
from tally import BUILD, GUEST, wait_until

pytestmark = [
    pytest.mark.everywhere,
    pytest.mark.skipif(not GUEST, reason="what waits for such a server cannot be ended: in guests only"),
]

READERS = 3
SECONDS = 5


@contextlib.contextmanager
def hung_readers(tmp_path):
    """Also the time when the last one began to wait."""
    (tmp_path / "source").write_bytes(b"x" * 8192)
    mount = fuse.Mount(tmp_path / "source", "file", flags=fuse.ASYNC_READ, keep_cache=False)
    readers = []
    try:
        readers += [fuse.Waiter(mount, lambda fd: os.pread(fd, 1, 0)) for _ in range(READERS)]
        mount.hang()
        for each in readers:
            each.go()
        for each in readers:
            wait_until(lambda each=each: each.is_at(fuse.WAITS), each.pid)
        yield mount, time.monotonic()
    finally:
        mount.close()
        for each in readers:
            each.close()


def triage(seconds):
    ran = subprocess.run(
        [BUILD / "tally", "triage", "--json", "-d", str(seconds)], capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout)["findings"]


def test_hung_server_is_first(tmp_path):
    with hung_readers(tmp_path) as (mount, began):
        found = triage(SECONDS)
        waited = time.monotonic() - began
    assert waited > SECONDS
    first = found[0]
    assert (first["rule"], first["level"]) == ("hung-server", "problem"), found
    assert f"the file server of {mount.path} does not answer: " in first["sentence"], first
    assert f"(pid {mount.server}); threads that wait for it: {READERS}, the longest for " in first["sentence"], first
    assert first["next"] == "snap --waits", first
    # It began when the readers did, and has not ended; the clock of the scheduler is another one.
    assert SECONDS * 0.9 < first["evidence"][0]["row"]["time"] / 1e9 < waited + 1, (first, waited)
