# SPDX-License-Identifier: BSD-2-Clause
"""The cgroup hierarchies of this machine, v1 and v2, and cgroups made in them."""

import errno
import os
from collections import namedtuple
from pathlib import Path

import tally

# name: as in the mount options ("cpu", "memory"), or "v2" for the unified hierarchy.
Hierarchy = namedtuple("Hierarchy", "name mount")

# Controllers that need no set-up before a task may enter a new group (cpuset does).
V1_CONTROLLERS = ("cpu", "cpuacct", "memory", "pids", "freezer", "blkio", "devices")


def hierarchies():
    """All mounted hierarchies, each once."""
    found = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, fs = line.partition(" - ")
        mount, (kind, _, options) = Path(fields.split()[4]), fs.split()
        if kind == "cgroup2":
            found.setdefault(mount, "v2")
        elif kind == "cgroup":
            for name in V1_CONTROLLERS:
                if name in options.split(","):
                    found.setdefault(mount, name)
    return [Hierarchy(name, mount) for mount, name in found.items()]


def default_hierarchy():
    """The hierarchy that tally uses by default: v1's cpu if that is mounted."""
    found = {h.name: h for h in hierarchies()}
    return found.get("cpu") or found.get("v2")


class Cgroup:
    def __init__(self, hierarchy, name):
        self.name = f"/tally-test-{os.getpid()}/{name}".rstrip("/")
        self.path = Path(f"{hierarchy.mount}{self.name}")
        self.made = []
        path = self.path
        while not path.exists():
            self.made.append(path)
            path = path.parent
        for path in reversed(self.made):
            path.mkdir()

    def add(self, pid):
        """Moves a process here. Its threads stay on the CPUs they are pinned to: before 6.2 a
        cpuset made them forget (commit 8f9ea86fdf99)."""
        tids = [int(tid) for tid in os.listdir(f"/proc/{pid}/task")]
        pinned = {tid: os.sched_getaffinity(tid) for tid in tids}
        (self.path / "cgroup.procs").write_text(str(pid))
        for tid, cpus in pinned.items():
            os.sched_setaffinity(tid, cpus)

    def remove(self):
        """Tries again for a while: a group stays busy for a moment after its last task has gone."""

        def is_gone(path):
            try:
                path.rmdir()
                return True
            except OSError as error:
                if error.errno != errno.EBUSY:
                    raise
                return False

        for path in self.made:
            tally.wait_until(lambda: is_gone(path), f"{path} to be empty")
