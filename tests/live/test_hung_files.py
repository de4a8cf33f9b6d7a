# SPDX-License-Identifier: BSD-2-Clause
"""File systems whose server never answers: the tools ask them in processes that can be abandoned, and go on."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

import pytest

import fuse
import hostile
import tally
from tally import GUEST
from test_under_attack import refuses

O_PATH = 0o10000000
SHARES = tally.BUILD / "triggers" / "shares"


def test_only_found(tool, trigger):
    """The tool holds the files of others, but cannot read them, and closing them asks no server (FUSE_FLUSH)."""
    load = trigger("shares", 500, 0)
    tracer = tool("-p", load.pid, "--call-graph", "fp", tool="profile")
    flags, mapped = {}, Path(f"/proc/{load.pid}/maps").read_text()
    for entry in Path(f"/proc/{tracer.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):        # closed meanwhile
            if os.readlink(entry) in mapped:
                info = Path(f"/proc/{tracer.pid}/fdinfo/{entry.name}").read_text().split()
                flags[os.readlink(entry)] = int(info[info.index("flags:") + 1], 8)
    assert str(SHARES) in flags
    assert all(flag & O_PATH for flag in flags.values()), flags
    load.go()
    load.done()
    assert "seventy" in tracer.stop().text


@contextlib.contextmanager
def running(mount, program, **env):
    """A program that runs from a file on the mount. A process that asks for the file hangs."""
    load = None
    try:
        load = subprocess.Popen([program, "3600000", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                env={**os.environ, **env})
        assert load.stdout.readline() == b"ready\n"
        load.stdin.write(b"\n")
        load.stdin.flush()
        mount.hang()
        yield load
    finally:
        mount.close()
        if load:
            tally.end_process(load)


@pytest.fixture
def hung():
    mount = fuse.Mount(SHARES)
    with running(mount, mount.file) as load:
        yield load, mount


in_guests = pytest.mark.skipif(not GUEST, reason="what waits for such a server cannot be ended: in guests only")


@in_guests
def test_hung_server(tool, hung):
    load, mount = hung
    tracer = tool("-p", load.pid, tool="profile")
    result = tracer.stop(signal.SIGINT)
    assert result.code == 0, result
    assert "names missing from" in result.text and "program (took too long)" in result.text

    result = tool("-x", mount.file, "seventy", "-p", load.pid, tool="probe", ready=False).wait()
    assert result.code == 1 and "took too long" in result.stderr

    result = tool("-p", load.pid, tool="memleak").stop(signal.SIGINT)
    assert result.code == 0, result         # the C library is not there


@in_guests
@pytest.mark.parametrize("command", (("true", "{}"), ("sh", "-c", "true {}")), ids=("argument", "script"))
def test_hung_word_of_a_command(tool, hung, command):
    """The words of a command may name programs, whose tables are read before it begins."""
    _, mount = hung
    result = tool("--", *(word.format(mount.file) for word in command), tool="profile", ready=False).wait()
    assert result.code == 0, result


@in_guests
def test_hung_library(tool):
    """It has the malloc() that is looked for."""
    libraries = [line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/libc.so.6" in line]
    mount = fuse.Mount(libraries[0], "libc.so.6")
    with running(mount, SHARES, LD_LIBRARY_PATH=str(mount.path)) as load:
        result = tool("-p", load.pid, tool="memleak", ready=False).wait()
    assert result.code == 1, result
    assert f"cannot look for malloc() in {mount.file}: took too long" in result.stderr


@in_guests
@pytest.mark.exclusive
def test_rules_on_fuse_are_not_of_root(trigger, ends, tmp_path):
    """The server, which may be anybody's, says that root owns the program: it has the share of a user."""
    mount = fuse.Mount(hostile.many_rules(tmp_path, "claimed", 6000), "claimed")
    ends.callback(mount.close)
    assert not mount.file.stat().st_uid
    refuses(trigger, ends, mount.file, "files on FUSE")
