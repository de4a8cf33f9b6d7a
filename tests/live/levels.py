# SPDX-License-Identifier: BSD-2-Clause
"""File systems, cgroups and figures of the kernel that a test brings near to a limit."""

import errno
import os
import re
import resource
import subprocess
from pathlib import Path

import pytest

import cgroups
import disks
import tally

CAP_SYS_RESOURCE = 24


def small_file_system(ends, directory, *options):
    disk = disks.loop(ends, directory, 8 << 20)
    disks.run("mkfs.ext4", "-q", "-m", "5", *options, disk.path)
    at = directory / "a mount"
    at.mkdir()
    disks.run("mount", disk.path, at)
    ends.callback(disks.run, "umount", at)
    return at


def space(at):
    s = os.statvfs(at)
    used = s.f_blocks - s.f_bfree
    return (used * s.f_frsize, (used + s.f_bavail) * s.f_frsize), (s.f_files - s.f_ffree, s.f_files)


def fill(at):
    """A file system, until it has no bytes and no inodes."""
    with open(at / "large", "wb", buffering=0) as f:
        for size in 64 << 10, 1 << 10:
            with pytest.raises(OSError) as full:
                while True:
                    f.write(b"x" * size)
                    os.fdatasync(f.fileno())
            assert full.value.errno == errno.ENOSPC
    with pytest.raises(OSError) as full:
        for n in range(100):
            (at / f"{n}").touch()
    assert full.value.errno == errno.ENOSPC
    disks.run("sync", "-f", at)


def group_of(cgroup, controller):
    """A cgroup with it, in v1 where that is mounted."""
    found = {h.name: h for h in cgroups.hierarchies()}
    hierarchy = found.get(controller) or found.get("v2")
    if hierarchy is None:
        pytest.skip("no cgroups")
    if hierarchy.name == "v2":
        if controller not in (hierarchy.mount / "cgroup.controllers").read_text().split():
            pytest.skip(f"no {controller} controller")
        (hierarchy.mount / "cgroup.subtree_control").write_text(f"+{controller}")
        above = cgroup(hierarchy, "")
        (above.path / "cgroup.subtree_control").write_text(f"+{controller}")
    return hierarchy.name, cgroup(hierarchy, "vitals")


def child(ends, program, *args):
    """A process that has said that it is ready, and waits."""
    process = subprocess.Popen(["/usr/bin/python3", "-c", "import sys\n" + program + "\nprint('ready', flush=True)\n"
                                "sys.stdin.readline()", *map(str, args)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    ends.callback(tally.end_process, process)
    return process


def most_files():
    """A process may have at most."""
    capabilities = re.search(r"^CapEff:\s*(\w+)", Path("/proc/self/status").read_text(), re.M)[1]
    may_raise = int(capabilities, 16) >> CAP_SYS_RESOURCE & 1
    return int(Path("/proc/sys/fs/nr_open").read_text()) if may_raise else resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def with_files(ends, n, limit, close_every=0, user=0):
    """A process of a user that has opened so many files, and closed each of a number of them; then that limit is
    set."""
    process = child(ends, """
import os, resource
n, limit, close_every, user = map(int, sys.argv[1:])
hard = max(n + 64, limit, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (max(n + 64, limit), hard))
for _ in range(n - 3):
    last = os.dup(0)
for fd in range(8, last, close_every) if close_every else ():
    os.close(fd)
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
os.setresuid(user, user, user)""", n, limit, close_every, user)
    assert process.stdout.readline() == "ready\n"
    return process


def memory_limit(version, group):
    return group.path / ("memory.max" if version == "v2" else "memory.limit_in_bytes")


def limit_memory(version, group, size=16 << 20):
    """So much, without swap."""
    memory_limit(version, group).write_text(str(size))
    for swap in "memory.swap.max", "memory.memsw.limit_in_bytes":
        if (group.path / swap).exists():
            (group.path / swap).write_text(str(0 if version == "v2" else size))


class Faked:
    """A tool that sees other texts in place of files of the kernel: figures that this machine cannot be brought to."""

    def __init__(self, directory, tool, texts):
        self.files = {path: directory / f"text-{n}" for n, path in enumerate(texts)}
        for path, text in texts.items():
            self.files[path].write_text(text)
        self.program = directory / "faked"
        mounts = "".join(f"    mount --bind '{file}' \"{path}\"\n" for path, file in self.files.items())
        self.program.write_text(f"""#!/bin/sh
set -e
if [ "$1" = inside ]; then
    shift
{mounts}    exec '{tally.BUILD / tool}' "$@"
fi
exec unshare -m "$0" inside "$@"
""")
        self.program.chmod(0o755)

    def say(self, path, text):
        """In place, where it is mounted."""
        with open(self.files[path], "r+", encoding="ascii") as f:
            f.write(text)
            f.truncate()


class MadeUp:
    """A tree of files in place of cgroups of v2, and the tool that sees it: a chain of two, and one beside."""

    def __init__(self, directory, tool):
        self.root = directory / "cgroups"
        for name in "above/below", "beside":
            (self.root / name).mkdir(parents=True)
        mounts = f"30 20 0:27 / {self.root} rw - cgroup2 cgroup2 rw\n"
        self.program = Faked(directory, tool, {"/proc/$$/mountinfo": mounts}).program

    def say(self, texts):
        """In place: the tool keeps files open."""
        for path, text in texts.items():
            with open(self.root / path, "a+", encoding="ascii") as f:
                f.truncate(0)
                f.write(text)


WRITE = """
import mmap, os
sys.stdin.readline()
fd, memory = os.open({path!r}, os.O_RDWR | os.O_DIRECT), mmap.mmap(-1, 4096)
while True:
    os.pwrite(fd, memory, 0)
"""


def writer_at_io_max(ends, cgroup, directory, requests):
    """A cgroup of v2 with that many writes a second to a disk, the disk, and a function that reads the writes so far
    from io.stat; a process in the cgroup writes all the time."""
    found = [h for h in cgroups.hierarchies() if h.name == "v2" and
             "io" in (h.mount / "cgroup.controllers").read_text().split()]
    if not found:
        pytest.skip("no io controller of v2")
    for folder in found[0].mount, cgroup(found[0], "").path:
        (folder / "cgroup.subtree_control").write_text("+io")
    group, disk = cgroup(found[0], "limited"), disks.loop(ends, directory)
    number = Path(f"/sys/block/{disk.name}/dev").read_text().strip()
    (group.path / "io.max").write_text(f"{number} wiops={requests}")
    process = child(ends, WRITE.format(path=disk.path))
    group.add(process.pid)
    process.stdin.write("\n")
    process.stdin.flush()

    def written():
        return int((re.findall(rf"^{number} .*wios=(\d+)", (group.path / "io.stat").read_text(), re.M) or ["0"])[0])

    tally.wait_until(lambda: written() > requests // 5, "writes")
    return group, disk, written


def pressure(some, full):
    return f"some avg10=0.00 avg60=0.00 avg300=0.00 total={some}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={full}\n"
