#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""staged.py NAME [SECONDS] - makes a known problem on this machine, until Ctrl-C or for so long; --list names them

    with staged.staged("small-reads") as facts:
        ...                                         # facts.pid, facts.comm, facts.file are the guilty

Each incident is a known cause, made to happen by processes of its own (loads.py). Leaving it ends them, by their pids,
and takes away the cgroups and files made for it. What a machine has not got for it is told by Missing.
"""

import argparse
import contextlib
import dataclasses
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

LOADS = Path(__file__).with_name("loads.py")
# Not pyenv's and the like, which are a shell first.
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
MIB = 1 << 20


class Missing(Exception):
    """What this machine has not got."""


@dataclasses.dataclass
class Facts:
    """What is known of an incident. comm is that of the guilty processes, and of nobody else; with children that come
    and go, theirs too."""

    name: str
    cause: str                  # a word for it; "" for what is no incident
    pid: int = None             # the guilty process, or the parent of those that come and go
    comm: str = None
    pids: list = dataclasses.field(default_factory=list)    # of others that belong to it
    cgroup: str = None          # below the mount of its hierarchy: /small-4711
    cgroup_folder: str = None   # its folder
    file: str = None
    disk: str = None            # loop1
    address: str = None         # 127.0.0.1:4711
    victim: int = None          # a process that suffers, where that is another one
    victim_comm: str = None


class Stage:
    """Starts what an incident is made of; all of it ends with it."""

    def __init__(self, name, ends):
        self.name, self.ends = name, ends

    def start(self, load, comm=None, cgroup=None, **given):
        """A process of loads.py, once it is at work: (pid, comm, what it said)."""
        comm = comm or self.name[:15]
        command = [PYTHON, str(LOADS), load, comm, json.dumps(given)]
        if cgroup:
            # From its first page on, what it takes is the cgroup's.
            command = ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(cgroup.folder), *command]
        # pylint: disable=consider-using-with
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.ends.callback(end, process)
        said = process.stdout.readline()
        if not said:
            raise RuntimeError(f"{load} failed: {process.stderr.read()}")
        return {"pid": process.pid, "comm": comm, **json.loads(said)}

    def folder(self):
        """On a disk, where /var/tmp is on one."""
        path = tempfile.mkdtemp(prefix=f"{self.name}-", dir="/var/tmp")
        self.ends.callback(shutil.rmtree, path, ignore_errors=True)
        os.chmod(path, 0o755)
        return path

    def file_on_disk(self, size):
        """Of which the page cache can forget what it has: a file of tmpfs has no other place."""
        path = self.file(size)
        with open(path, "rb") as file:
            for at in range(0, size, MIB):
                try:
                    os.preadv(file.fileno(), [bytearray(4096)], at, os.RWF_NOWAIT)
                except BlockingIOError:
                    return path
                except OSError:
                    break
        raise Missing("no disk below /var/tmp")

    def file(self, size):
        """Not of zeros alone; on the disk, and not in memory: who reads it first is charged for its pages."""
        path = os.path.join(self.folder(), "data")
        piece = os.urandom(min(size, MIB))
        with open(path, "wb") as file:
            for _ in range(0, size, len(piece)):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return path

    def cgroup(self, controller, v1, v2):
        """With these {file: text}, of either version. A text of None only has to be there."""
        hierarchy = find_hierarchy(controller)
        if hierarchy.version == 2:
            enable(hierarchy.mount, controller, self.ends)
        path = f"/{self.name}-{os.getpid()}"
        folder = Path(f"{hierarchy.mount}{path}")
        folder.mkdir()
        self.ends.callback(remove_cgroup, folder)
        for file, text in (v1 if hierarchy.version == 1 else v2).items():
            if not (folder / file).exists():
                raise Missing(f"no {file} in the cgroups of this kernel")
            if text is not None:
                (folder / file).write_text(text)
        return Cgroup(path, folder, hierarchy.version)


Cgroup = namedtuple("Cgroup", "path folder version")
Hierarchy = namedtuple("Hierarchy", "version mount")


def find_hierarchy(controller):
    unified = None
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, fs = line.partition(" - ")
        mount, (kind, _, options) = fields.split()[4], fs.split()[:3]
        if kind == "cgroup" and controller in options.split(","):
            return Hierarchy(1, mount)
        if kind == "cgroup2":
            unified = unified or mount
    name = "io" if controller == "blkio" else controller
    if unified and name in Path(unified, "cgroup.controllers").read_text().split():
        return Hierarchy(2, unified)
    raise Missing(f"no cgroups with the controller {controller} here")


def enable(mount, controller, ends):
    name = "io" if controller == "blkio" else controller
    switch = Path(mount, "cgroup.subtree_control")
    if name in switch.read_text().split():
        return
    try:
        switch.write_text(f"+{name}")
    except OSError as error:
        raise Missing(f"the controller {name} cannot be had here: {error.strerror}") from error
    ends.callback(switch.write_text, f"-{name}")


def remove_cgroup(folder):
    """A group is busy for a moment after its last task has gone."""
    for _ in range(1000):
        try:
            return folder.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
        time.sleep(0.01)
    raise TimeoutError(f"{folder} is not empty")


def end(process):
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()


# --- incidents: each starts what it needs, and returns what is known of it ------------------------

def cpu_hog(stage):
    """one process computes on every CPU"""
    return stage.start("burn", threads=os.cpu_count())


def cpu_hog_kernel(stage):
    """one process is inside system calls all the time"""
    return stage.start("burn_in_kernel")


def fork_storm(stage):
    """one process starts short programs, one after the other"""
    return stage.start("fork")


def run_queue(stage):
    """eight threads compute on one CPU, whatever the others do"""
    return stage.start("burn", threads=8, cpus=[min(os.sched_getaffinity(0))])


def cgroup_throttled(stage):
    """a cgroup may use a fifth of a CPU, and wants two"""
    group = stage.cgroup("cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "20000"},
                         {"cpu.max": "20000 100000"})
    return {**stage.start("burn", comm="throttled", cgroup=group, threads=2),
            "cgroup": group.path, "cgroup_folder": str(group.folder)}


def small_reads(stage):
    """one process reads a file byte by byte"""
    path = stage.file(MIB)
    return {**stage.start("read_small", file=path), "file": path}


def enoent_storm(stage):
    """one process looks for a file where it is not"""
    return stage.start("look_in_vain", folder=stage.folder())


def descriptor_leak(stage):
    """one process has opened as many files as it may, and wants more"""
    return stage.start("leak_descriptors")


def futex_convoy(stage):
    """eight threads want one lock"""
    return stage.start("contend")


def context_switches(stage):
    """two processes send a byte to and fro"""
    facts = stage.start("ping_pong")
    facts["pids"] = [facts.pop("peer")]
    return facts


def memory_leak(stage):
    """one process grows by 16 MiB a second"""
    return stage.start("leak")


def page_fault_storm(stage):
    """one process maps memory, touches it, unmaps it"""
    return stage.start("fault")


MEMORY_V1 = {"memory.limit_in_bytes": str(32 * MIB), "memory.failcnt": None}
MEMORY_V2 = {"memory.max": str(32 * MIB), "memory.events": None}


def oom_in_cgroup(stage):
    """processes grow beyond the limit of their cgroup, and are killed"""
    group = stage.cgroup("memory", MEMORY_V1, MEMORY_V2)
    for file in ("memory.swap.max", "memory.memsw.limit_in_bytes"):
        if (group.folder / file).exists():
            (group.folder / file).write_text("0" if group.version == 2 else str(32 * MIB))
    return {**stage.start("be_killed_for_memory", cgroup=group),
            "cgroup": group.path, "cgroup_folder": str(group.folder)}


def reclaim(stage):
    """a file is read over and over that is larger than the limit of the cgroup"""
    path = stage.file_on_disk(96 * MIB)
    group = stage.cgroup("memory", MEMORY_V1, MEMORY_V2)
    return {**stage.start("read_again", cgroup=group, file=path), "file": path,
            "cgroup": group.path, "cgroup_folder": str(group.folder)}


def slow_disk(stage):
    """a disk takes 50 ms for each request"""
    if not os.path.exists("/dev/loop-control") and shutil.which("modprobe"):
        subprocess.run(["modprobe", "-q", "loop"], check=False)
    if not os.path.exists("/dev/loop-control"):
        raise Missing("no loop devices here")
    path = stage.file(4 * MIB)
    v1, v2 = "blkio.throttle.write_iops_device", "io.max"
    group = stage.cgroup("blkio", {v1: None}, {v2: None})
    limit = [v1, "{disk} {requests}"] if group.version == 1 else [v2, "{disk} wiops={requests}"]
    return stage.start("write_slowly", cgroup=group, file=path, limits=[[str(group.folder / limit[0]), limit[1]]])


def fsync_neighbour(stage):
    """one process has the disk write 32 MiB at a time; another one waits for its own 4 KiB"""
    folder = os.path.dirname(stage.file_on_disk(MIB))
    guilty = stage.start("write_and_sync", file=f"{folder}/large", size=32 * MIB)
    victim = stage.start("write_and_sync", comm="small-commits", file=f"{folder}/small", size=4096)
    return {**guilty, "victim": victim["pid"], "victim_comm": victim["comm"]}


def full_disk(stage):
    """one process writes to a file system that is full"""
    return stage.start("fill", folder=stage.folder())


def tcp_drops(stage):
    """a connection loses one segment in 20"""
    return stage.start("send_with_losses")


def refused_connects(stage):
    """one process connects to a port where nobody listens"""
    return stage.start("be_refused", comm="refused")


def black_holed_connects(stage):
    """one process connects to a port that does not answer"""
    return stage.start("connect_to_silence", comm="black-holed")


def listen_overflow(stage):
    """a server accepts fewer connections than come"""
    server = stage.start("accept_slowly")
    client = stage.start("connect_often", comm="clients", to=server["address"])
    return {**server, "victim": client["pid"], "victim_comm": client["comm"]}


def deaths_by_signal(stage):
    """one program crashes again and again"""
    return stage.start("crash", comm="crashing")


def stuck(stage):
    """four processes are in state D: load without use of a CPU"""
    return stage.start("get_stuck")


def zombies(stage):
    """one process has a hundred dead children that it does not wait for"""
    return stage.start("leave_zombies")


def idle(stage):
    """a process that sleeps"""
    return stage.start("rest")


def compiling(stage):
    """gcc on a small file, again and again"""
    return stage.start("compile", folder=stage.folder())


def idle_webserver(stage):
    """a web server with a client in no hurry"""
    server = stage.start("serve", folder=stage.folder())
    client = stage.start("ask", comm="slow-client", to=server["address"])
    return {**server, "pids": [client["pid"]]}


def half_loaded_worker(stage):
    """a process as long at work as at rest"""
    return stage.start("work_half", comm="half-loaded")


def backup(stage):
    """files are read from the disk, at leisure"""
    path = stage.file_on_disk(64 * MIB)
    return {**stage.start("back_up", folder=os.path.dirname(path)), "file": path}


# needs: programs that have to be here, beside Python and coreutils.
Incident = namedtuple("Incident", "name cause stage needs", defaults=((),))

INCIDENTS = {each.name: each for each in (
    Incident("cpu-hog", "cpu", cpu_hog),
    Incident("cpu-hog-kernel", "system", cpu_hog_kernel),
    Incident("fork-storm", "fork", fork_storm),
    Incident("run-queue", "run queue", run_queue),
    Incident("cgroup-throttled", "throttled", cgroup_throttled),
    Incident("small-reads", "read", small_reads),
    Incident("enoent-storm", "ENOENT", enoent_storm),
    Incident("descriptor-leak", "EMFILE", descriptor_leak),
    Incident("futex-convoy", "futex", futex_convoy),
    Incident("context-switches", "switch", context_switches),
    Incident("memory-leak", "grow", memory_leak),
    Incident("page-fault-storm", "fault", page_fault_storm),
    Incident("oom-in-cgroup", "OOM", oom_in_cgroup),
    Incident("reclaim", "reclaim", reclaim),
    Incident("slow-disk", "disk", slow_disk),
    Incident("fsync-neighbour", "fsync", fsync_neighbour),
    Incident("full-disk", "ENOSPC", full_disk),
    Incident("tcp-drops", "retransmi", tcp_drops),
    Incident("refused-connects", "refused", refused_connects),
    Incident("black-holed-connects", "SYN", black_holed_connects),
    Incident("listen-overflow", "listen", listen_overflow),
    Incident("deaths-by-signal", "SIGSEGV", deaths_by_signal),
    Incident("stuck", "uninterruptible", stuck),
    Incident("zombies", "zombie", zombies),
    # No incidents: nothing is to be found.
    Incident("idle", "", idle),
    Incident("compile", "", compiling, ("gcc",)),
    Incident("idle-webserver", "", idle_webserver),
    Incident("half-loaded-worker", "", half_loaded_worker),
    Incident("backup", "", backup),
)}

HEALTHY = [each.name for each in INCIDENTS.values() if not each.cause]


@contextlib.contextmanager
def staged(name):
    """An incident, until it is left: Facts. Missing says what this machine has not got for it."""
    incident = INCIDENTS[name]
    missing = [each for each in incident.needs if not shutil.which(each)]
    if missing:
        raise Missing(f"no {', '.join(missing)} here")
    if os.geteuid():
        raise Missing("incidents are staged by root")
    with contextlib.ExitStack() as ends:
        yield Facts(name, incident.cause, **incident.stage(Stage(name, ends)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0].partition(" - ")[2])
    parser.add_argument("name", nargs="?", choices=INCIDENTS, metavar="NAME")
    parser.add_argument("seconds", nargs="?", type=float)
    parser.add_argument("--list", action="store_true", help="what there is")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if args.list or not args.name:
        for each in INCIDENTS.values():
            print(f"{each.name:22}{each.cause or '(well)':17}{each.stage.__doc__}")
        return 0 if args.list else 2
    try:
        with staged(args.name) as facts:
            print(INCIDENTS[args.name].stage.__doc__)
            for key, value in dataclasses.asdict(facts).items():
                if value and key not in ("name", "cause"):
                    print(f"  {key.replace('_', ' '):14}{', '.join(map(str, value)) if key == 'pids' else value}")
            sys.stdout.flush()
            time.sleep(args.seconds if args.seconds is not None else 1e9)
    except KeyboardInterrupt:
        pass
    except Missing as missing:
        print(f"{args.name}: {missing}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
