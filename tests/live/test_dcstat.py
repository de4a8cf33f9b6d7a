# SPDX-License-Identifier: BSD-2-Clause
"""dcstat: names that this process looks up, on a file system with a known dentry cache."""

import os
import subprocess

import pytest

import disks
import tally
from tally import BUILD

ASKED = subprocess.run([BUILD / "dcstat", "-n"], capture_output=True, text=True)

NAMES = 50


def test_refusal():
    """If the kernel lacks the functions, a sentence says so."""
    assert ASKED.returncode == 0 or (
        ASKED.returncode == 4
        and ("this kernel has no fentry" in ASKED.stderr or "this kernel has no lookup_fast()" in ASKED.stderr)
    ), ASKED


@pytest.fixture
def place(ends, directory):
    """A file system with an empty dentry cache."""
    disks.load("ext4")
    disk = disks.loop(ends, directory, 16 << 20)
    disks.run("mkfs.ext4", "-q", "-F", disk.path)
    on = directory / "on"
    on.mkdir()
    disks.run("mount", "-t", "ext4", disk.path, str(on))
    ends.callback(disks.run, "umount", str(on))
    (on / "sub").mkdir()
    for i in range(NAMES):
        (on / "sub" / f"there-{i}").touch()
    (on / "sub" / ("long" * 20)).touch()
    disks.run("umount", str(on))
    disks.run("mount", "-t", "ext4", disk.path, str(on))
    return on


@pytest.mark.skipif(ASKED.returncode == 4, reason="this kernel attaches no programs to functions")
@pytest.mark.everywhere
@pytest.mark.exact
def test_lookups(tool, place):
    """The first lookup of a name misses, later ones are hits or negative. By open() and by stat()."""
    tracers = [tool("--json", "-p", os.getpid(), *by, tool="dcstat") for by in (["--by", "name"], ["--by", "pid"], [])]
    here = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(3):
        for i in range(NAMES):
            os.stat(f"sub/there-{i}", dir_fd=here)
            os.close(os.open(f"sub/there-{i}", os.O_RDONLY, dir_fd=here))
            for ask in (os.stat, lambda name, dir_fd: os.open(name, os.O_RDONLY, dir_fd=dir_fd)):
                with pytest.raises(FileNotFoundError):
                    ask(f"sub/gone-{i}", dir_fd=here)
    os.stat("sub/" + "long" * 20, dir_fd=here)
    os.close(here)
    reports = [tracer.stop().report for tracer in tracers]
    assert not any(n for report in reports for n in tally.flaws(report).values()), reports
    found = {row["name"]: (row["lookups"], row["hits"], row["negative"], row["misses"]) for row in reports[0]["rows"]}
    for i in range(NAMES):
        assert found[f"there-{i}"] == (6, 5, 0, 1)
        assert found[f"gone-{i}"] == (6, 0, 5, 1)
    asked = 12 * NAMES + 1
    assert found["sub"] == (asked, asked - 1, 0, 1)
    assert found[("long" * 20)[:47]] == (1, 0, 0, 1)
    # Each of the three began before all of this and ended after it.
    (mine,), (whole,) = reports[1]["rows"], reports[2]["rows"]
    assert mine["misses"] >= 2 * NAMES + 2 and whole["misses"] >= 2 * NAMES + 2
    assert mine["pid"] == os.getpid() and min(mine["lookups"], whole["lookups"]) >= 2 * asked
    for row in (mine, whole):
        assert row["lookups"] == row["hits"] + row["negative"] + row["misses"]
