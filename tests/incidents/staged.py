#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""staged.py NAME [SECONDS] - makes a known problem on this machine, until Ctrl-C or for so long; --list names them

    with staged.staged("small-reads") as facts:
        ...                                         # facts.pid, facts.comm, facts.file are the guilty

Each incident is a known cause, made to happen by processes of its own (loads.py). Leaving it ends them, by their pids,
and removes the cgroups and files made for it. Missing says what the machine lacks for an incident.
"""

import argparse
import contextlib
import dataclasses
import errno
import grp
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

LOADS = Path(__file__).with_name("loads.py")
# The figures of each incident, kept by kept.py.
KEPT = Path(__file__).resolve().parents[1] / "data/triage/incidents.json"
# Not those of pyenv and the like, which start as a shell.
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
MIB = 1 << 20
# Debian leaves postgres off the path, and has scripts in place of its tools.
SERVERS = os.pathsep.join(
    (*map(str, Path("/usr/lib/postgresql").glob("*/bin")), os.environ.get("PATH", ""), "/usr/sbin")
)
PATIENCE = 60


class Missing(Exception):
    """The machine lacks a program or a feature that an incident needs."""


@dataclasses.dataclass
class Facts:
    """The known facts of an incident. comm is that of the guilty processes and of nobody else; children that come and
    go have it, too."""

    name: str
    cause: str                  # in a word; "" if it is no incident
    pid: int = None             # the guilty process, or the parent of guilty ones that come and go
    comm: str = None
    pids: list = dataclasses.field(default_factory=list)    # of other processes that belong to it
    cgroup: str = None          # below the mount of its hierarchy: /small-4711
    cgroup_folder: str = None   # its folder
    file: str = None            # of a database, its socket
    softirq: str = None
    disk: str = None            # loop1
    device: str = None          # of a network
    address: str = None         # 127.0.0.1:4711
    victim: int = None          # a process that suffers, if it is not the guilty one
    victim_comm: str = None


class Stage:
    """Starts the parts of an incident; all of them end with it."""

    def __init__(self, name, ends):
        self.name, self.ends = name, ends

    def start(self, load, comm=None, cgroup=None, **given):
        """Starts a process of loads.py and waits until it is at work: (pid, comm, the facts that it printed)."""
        comm = comm or self.name[:15]
        command = [PYTHON, str(LOADS), load, comm, json.dumps(given)]
        if cgroup:
            # The cgroup is charged for all its memory, from its first page on.
            command = ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(cgroup.folder), *command]
        # pylint: disable=consider-using-with
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.ends.callback(end, process)
        said = process.stdout.readline()
        if not said:
            raise RuntimeError(f"{load} failed: {process.stderr.read()}")
        return {"pid": process.pid, "comm": comm, **json.loads(said)}

    def program(self, comm, name, *args, user=None, first=False, cwd="/", end_by=signal.SIGKILL):
        """Starts a program of this machine under another name, which all its processes have. It ends with this one.
        first: it gets a CPU no matter what else runs."""
        path = os.path.join(self.folder(), comm)
        os.symlink(os.path.realpath(find_program(name)), path)
        rights = ["--reuid", user, "--regid", user_group(user), "--clear-groups"] if user else []
        said = self.ends.enter_context(tempfile.TemporaryFile("w+"))
        # pylint: disable=consider-using-with
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", end_by.name[3:], *rights, path, *args], stdin=subprocess.DEVNULL, stdout=said,
            stderr=said, cwd=cwd, start_new_session=first)
        self.ends.callback(end_program, process, end_by)
        if first:
            go_first(process.pid)
        return Program(process, said)

    def postgres(self, comm):
        """An empty cluster on a disk, and a server whose processes all have that name: Postgres."""
        folder = self.folder()
        shutil.chown(folder, "nobody")
        settle(self.program("initdb", "initdb", "-D", f"{folder}/data", "--no-sync", "--no-instructions", "-A", "trust",
                            "-U", "tally", "--locale", "C", "-E", "UTF8", user="nobody", cwd=folder))
        # SIGQUIT: its processes end at once, and its System V shared memory goes.
        server = self.program(comm, "postgres", "-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses=",
                              "-c", "shared_buffers=16MB", user="nobody", cwd=folder, end_by=signal.SIGQUIT)
        database = Postgres(self, server, folder)
        server.until(lambda: os.path.exists(f"{folder}/data/postmaster.pid") and database.answers())
        return database

    def folder(self):
        """A folder on a disk, if /var/tmp is on one."""
        path = tempfile.mkdtemp(prefix=f"{self.name}-", dir="/var/tmp")
        self.ends.callback(shutil.rmtree, path, ignore_errors=True)
        os.chmod(path, 0o755)
        return path

    def file_on_disk(self, size):
        """A file whose pages the page cache can drop, unlike those of tmpfs, which have no other place."""
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
        """A file of random bytes, on disk and not in memory: its first reader is charged for its pages."""
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
        """A cgroup with the settings {file: text} of its version. A text of None only requires the file."""
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


class Program:
    """A process started by Stage.program()."""

    def __init__(self, process, said):
        self.process, self.said, self.pid = process, said, process.pid

    def fail(self):
        self.said.seek(0)
        raise RuntimeError(f"{self.process.args}: {self.said.read()}")

    def until(self, holds):
        """Waits for a condition while the program runs."""
        began = time.monotonic()
        while not holds():
            if self.process.poll() is not None or time.monotonic() - began > PATIENCE:
                self.fail()
            time.sleep(0.02)


class Postgres:
    """A postgres server; file is its socket."""

    def __init__(self, stage, server, folder):
        self.stage, self.server, self.folder = stage, server, folder
        self.file = f"{folder}/.s.PGSQL.5432"

    def answers(self):
        return ask_postgres(self.file, "SELECT 1") == "1"

    def clients(self, script, *args):
        """Starts pgbench, which runs a script over and over."""
        path = os.path.join(self.folder, "script")
        Path(path).write_text(script)
        return self.stage.program(
            "pg-clients",
            "pgbench",
            "-n",
            "-h",
            self.folder,
            "-U",
            "tally",
            "-T",
            "1000000",
            "-f",
            path,
            *args,
            "postgres"
        )


def find_program(name):
    """The path of a server or of one of its tools."""
    return shutil.which(name, path=SERVERS)


def ask_postgres(file, query):
    """The output of psql; "" if there is no answer."""
    asked = subprocess.run(
        [
            find_program("psql"),
            "-X",
            "-q",
            "-A",
            "-t",
            "-h",
            os.path.dirname(file),
            "-U",
            "tally",
            "-c",
            query,
            "postgres",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip() if asked.returncode == 0 else ""


def ask_redis(file, *words):
    """Sends redis a command in the protocol's oldest form; returns the first bytes of the answer."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(PATIENCE)
        sock.connect(file)
        sock.sendall(" ".join(words).encode() + b"\r\n")
        return sock.recv(1 << 16).decode(errors="replace")


def go_first(pid):
    """Raises a process above others of its session and, where the scheduler groups sessions, above other sessions."""
    os.setpriority(os.PRIO_PROCESS, pid, -20)
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text("-20")


def settle(program):
    if program.process.wait():
        program.fail()


def user_group(user):
    return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name


def end_program(process, by):
    process.send_signal(by)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


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
    """Tries again for a while: a group stays busy for a moment after its last task has gone."""
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


# --- incidents: each starts its parts and returns the facts about them -----------------------------

def cpu_hog(stage):
    """one process computes on every CPU"""
    return stage.start("burn", threads=os.cpu_count())


def cpu_hog_kernel(stage):
    """one process is inside system calls all the time"""
    return stage.start("burn_in_kernel")


def slow_function(stage):
    """one thread takes 30 % of a CPU for a quadratic function, and the rest is idle"""
    return stage.start("find_duplicates")


def noisy_neighbour(stage):
    """one process has eight threads for each CPU; another one has requests to serve at a fixed rate"""
    return stage.start("crowd_out", threads=8 * os.cpu_count(), victim="fixed-rate")


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


def descriptors_nearly_used_up(stage):
    """one process has opened nearly as many files as it may"""
    return stage.start("hold_descriptors", comm="hoarding")


def futex_convoy(stage):
    """eight threads want one lock"""
    return stage.start("contend")


def context_switches(stage):
    """two processes send a byte to and fro"""
    facts = stage.start("ping_pong")
    facts["pids"] = [facts.pop("peer")]
    return facts


def memory_leak(stage):
    """one process grows by 24 MiB a second"""
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
    """a disk takes 100 ms for each request"""
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


def lock_over_fsync(stage):
    """one thread holds a mutex while it waits for the disk, and six others want the mutex"""
    folder = os.path.dirname(stage.file_on_disk(MIB))
    return stage.start("sync_with_lock", file=f"{folder}/log", size=32 * MIB)


def postgres_slow_fsync(stage):
    """postgres commits on a disk that another process keeps busy"""
    stage.file_on_disk(MIB)
    database = stage.postgres("pg-slow-commit")
    ask_postgres(database.file, "CREATE TABLE t AS SELECT 1 AS id, 0 AS n")
    guilty = stage.start("write_and_sync", comm="neighbour", file=f"{stage.folder()}/large", size=32 * MIB, least=0.2)
    database.clients("UPDATE t SET n = n + 1;\n")
    return {**guilty, "victim": database.server.pid, "victim_comm": "pg-slow-commit", "file": database.file}


def postgres_row_lock(stage):
    """eight clients of postgres change one row, each in a transaction that takes its time"""
    database = stage.postgres("postgres-locks")
    ask_postgres(database.file, "CREATE TABLE t AS SELECT 1 AS id, 0 AS n")
    clients = database.clients("BEGIN;\nUPDATE t SET n = n + 1;\n\\sleep 300 ms\nCOMMIT;\n", "-c", "8")
    clients.until(lambda: int(ask_postgres(database.file, WAITING) or 0) >= 4)
    return {"pid": database.server.pid, "comm": "postgres-locks", "file": database.file}


# How many clients of postgres wait for a lock.
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


def redis_keys(stage):
    """one client of redis has it look through all its keys, and every other client waits"""
    folder = stage.folder()
    file = f"{folder}/socket"
    server = stage.program(
        "redis-keys",
        "redis-server",
        "--port",
        "0",
        "--unixsocket",
        file,
        "--save",
        "",
        "--dir",
        folder,
        "--enable-debug-command",
        "yes",
        first=True,
    )
    server.until(lambda: os.path.exists(file) and ask_redis(file, "PING").startswith("+PONG"))
    ask_redis(file, "DEBUG", "POPULATE", "400000")
    stage.start("look_through_keys", comm="redis-client", file=file)
    return {"pid": server.pid, "comm": "redis-keys", "file": file}


def nginx_slow_upstream(stage):
    """the server behind nginx takes a fifth of a second for each request, one after the other"""
    upstream = stage.start("answer_slowly", comm="upstream")
    server, where = nginx(
        stage,
        "nginx-proxy",
        f"proxy_pass http://{upstream['address']}; proxy_connect_timeout 2s; proxy_next_upstream off;",
    )
    client = stage.start("request_at_once", comm="web-clients", to=where)
    return {
        "pid": server.pid,
        "comm": "nginx-proxy",
        "address": upstream["address"],
        "pids": [upstream["pid"], client["pid"]],
    }


def nginx(stage, comm, location):
    """A server of one process: Program and address."""
    folder = stage.folder()
    with socket.create_server(("127.0.0.1", 0)) as free:
        where = "{}:{}".format(*free.getsockname())
    places = "".join(
        f"{each}_temp_path {folder}/{each}; " for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    Path(folder, "conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; events {{}}\n"
        f"http {{ access_log off; {places} server {{ listen {where}; location / {{ root {folder}; {location} }} }} }}\n"
    )
    server = stage.program(comm, "nginx", "-p", folder, "-e", "stderr", "-c", f"{folder}/conf", cwd=folder)
    server.until(lambda: os.path.exists(f"{folder}/pid") and answers(where))
    return server, where


def answers(where):
    host, _, port = where.partition(":")
    with socket.socket() as sock:
        return sock.connect_ex((host, int(port))) == 0


JAVA = """
class Monitor {
    static long n;

    public static void main(String[] args) {
        for (int i = 0; i < 8; i++)
            new Thread(() -> {
                for (;;)
                    synchronized (Monitor.class) {
                        for (int k = 0; k < 20000; k++)
                            n += k ^ n;
                    }
            }).start();
    }
}
"""


def java_monitor(stage):
    """eight threads of Java want the monitor of one object"""
    folder = stage.folder()
    source = f"{folder}/Monitor.java"
    Path(source).write_text(JAVA)
    server = stage.program("java-monitor", "java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx64m", source)
    server.until(
        lambda: len(os.listdir(f"/proc/{server.pid}/task")) >= 20 and threads_named(server.pid, "Thread-") >= 8
    )
    return {"pid": server.pid, "comm": "java-monitor"}


def threads_named(pid, beginning):
    return sum(path.read_text().startswith(beginning) for path in Path(f"/proc/{pid}/task").glob("*/comm"))


def node_hog(stage):
    """a program of node computes, in code that was compiled while it runs"""
    server = stage.program(
        "node-hog", "node", "-e", "let n = 0; for (let i = 0;; i++) n = (n * 31 + i) | 0;", first=True
    )
    began = cpu_ticks(server.pid)
    server.until(lambda: cpu_ticks(server.pid) > began + 10)
    return {"pid": server.pid, "comm": "node-hog"}


def cpu_ticks(pid):
    return sum(int(field) for field in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])


def softirq_storm(stage):
    """packets come in that take the kernel long, on every CPU"""
    facts = stage.start("flood")
    return {**facts, "softirq": "NET_RX"}


def qdisc_drops(stage):
    """one process sends more than the token bucket of its network device lets through"""
    script = ("ip link add one type veth peer name other;"
              "tc qdisc add dev one root tbf rate 1mbit burst 5000 limit 10000")
    tried = subprocess.run(["unshare", "--net", "sh", "-ec", script], capture_output=True, text=True)
    if tried.returncode:
        raise Missing(f"no token bucket for a network device here: {tried.stderr.strip()}")
    return stage.start("exceed_limit", device=f"shaped-{os.getpid()}", rate=800000)


def qdisc_drops_of(facts):
    """How many packets the queue of the device has dropped, as the kernel counts them."""
    tc = ["nsenter", f"--net=/proc/{facts.pid}/ns/net", find_program("tc"), "-s", "-j", "qdisc", "show", "dev",
          facts.device]
    return json.loads(subprocess.run(tc, capture_output=True, text=True, check=True).stdout)[0]["drops"]


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


def resets(stage):
    """a server closes connections before it has read what clients send"""
    server = stage.start("reset", comm="resetting")
    client = stage.start("be_reset", comm="reset-clients", to=server["address"])
    return {**server, "victim": client["pid"], "victim_comm": client["comm"]}


def deaths_by_signal(stage):
    """one program crashes again and again"""
    return stage.start("crash", comm="crashing")


def stuck(stage):
    """four processes are in state D: load without use of a CPU"""
    return stage.start("get_stuck")


def deadlock(stage):
    """two threads of one process wait for each other's lock"""
    return stage.start("lock_each_other_out")


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
    server, where = nginx(stage, "idle-nginx", "autoindex on;")
    client = stage.start("ask", comm="slow-client", to=where)
    return {"pid": server.pid, "comm": "idle-nginx", "address": where, "pids": [client["pid"]]}


def half_loaded_worker(stage):
    """a process as long at work as at rest"""
    return stage.start("work_half", comm="half-loaded")


def half_loaded_database(stage):
    """postgres with fewer transactions than it can do"""
    database = stage.postgres("postgres-half")
    ask_postgres(database.file, "CREATE TABLE t (id int PRIMARY KEY, n int); "
                                "INSERT INTO t SELECT i, 0 FROM generate_series(1, 1000) i")
    database.clients(
        "\\set id random(1, 1000)\nSELECT n FROM t WHERE id = :id;\nUPDATE t SET n = n + 1 WHERE id = :id;\n",
        "-c",
        "4",
        "-R",
        "50",
    )
    return {"pid": database.server.pid, "comm": "postgres-half", "file": database.file}


def backup(stage):
    """files are read from the disk, at leisure"""
    path = stage.file_on_disk(64 * MIB)
    return {**stage.start("back_up", folder=os.path.dirname(path)), "file": path}


# needs: required programs other than Python and coreutils.
Incident = namedtuple("Incident", "name cause stage needs", defaults=((),))

INCIDENTS = {each.name: each for each in (
    Incident("cpu-hog", "cpu", cpu_hog),
    Incident("cpu-hog-kernel", "system", cpu_hog_kernel),
    Incident("slow-function", "quadratic", slow_function),
    Incident("noisy-neighbour", "neighbour", noisy_neighbour),
    Incident("fork-storm", "fork", fork_storm),
    Incident("run-queue", "run queue", run_queue),
    Incident("cgroup-throttled", "throttled", cgroup_throttled),
    Incident("small-reads", "read", small_reads),
    Incident("enoent-storm", "ENOENT", enoent_storm),
    Incident("descriptor-leak", "EMFILE", descriptor_leak),
    Incident("descriptors-nearly-used-up", "RLIMIT_NOFILE", descriptors_nearly_used_up),
    Incident("futex-convoy", "futex", futex_convoy),
    Incident("context-switches", "switch", context_switches),
    Incident("memory-leak", "grow", memory_leak),
    Incident("page-fault-storm", "fault", page_fault_storm),
    Incident("oom-in-cgroup", "OOM", oom_in_cgroup),
    Incident("reclaim", "reclaim", reclaim),
    Incident("slow-disk", "disk", slow_disk),
    Incident("fsync-neighbour", "fsync", fsync_neighbour),
    Incident("lock-over-fsync", "fsync", lock_over_fsync),
    Incident("postgres-slow-fsync", "fsync", postgres_slow_fsync, ("postgres", "pgbench")),
    Incident("postgres-row-lock", "row lock", postgres_row_lock, ("postgres", "pgbench")),
    Incident("redis-keys", "KEYS", redis_keys, ("redis-server",)),
    Incident("nginx-slow-upstream", "upstream", nginx_slow_upstream, ("nginx",)),
    Incident("java-monitor", "futex", java_monitor, ("java",)),
    Incident("node-hog", "cpu", node_hog, ("node",)),
    Incident("softirq-storm", "softirq", softirq_storm),
    Incident("qdisc-drops", "qdisc", qdisc_drops, ("ip", "tc")),
    Incident("full-disk", "ENOSPC", full_disk),
    Incident("tcp-drops", "retransmi", tcp_drops),
    Incident("refused-connects", "refused", refused_connects),
    Incident("black-holed-connects", "SYN", black_holed_connects),
    Incident("listen-overflow", "listen", listen_overflow),
    Incident("resets", "reset", resets),
    Incident("deaths-by-signal", "SIGSEGV", deaths_by_signal),
    Incident("stuck", "uninterruptible", stuck),
    Incident("deadlock", "deadlock", deadlock),
    Incident("zombies", "zombie", zombies),
    # Healthy loads: triage must find nothing.
    Incident("idle", "", idle),
    Incident("compile", "", compiling, ("gcc",)),
    Incident("idle-webserver", "", idle_webserver, ("nginx",)),
    Incident("half-loaded-worker", "", half_loaded_worker),
    Incident("half-loaded-database", "", half_loaded_database, ("postgres", "pgbench")),
    Incident("backup", "", backup),
)}

HEALTHY = [each.name for each in INCIDENTS.values() if not each.cause]

# The rules of triage one of which must be the first to name the guilty. On a machine with one CPU, the process that
# keeps it busy has all of it.
FIRST = {
    "cpu-hog": ("cpu-hog", "busy"),
    "cpu-hog-kernel": ("busy", "cpu-hog"),
    "noisy-neighbour": ("cpu-hog", "busy", "cpu-waits", "held-back"),
    "fork-storm": ("processes",),
    "run-queue": ("held-back", "futexes", "cpu-waits", "cpu-hog"),
    "cgroup-throttled": ("throttled",),
    "small-reads": ("calls",),
    "enoent-storm": ("not-found",),
    "descriptor-leak": ("no-descriptors",),
    "descriptors-nearly-used-up": ("process-descriptors",),
    "futex-convoy": ("futexes",),
    "context-switches": ("switches",),
    "memory-leak": ("growth",),
    "page-fault-storm": ("page-faults",),
    "oom-in-cgroup": ("oom-kill",),
    # How long tasks stall depends on the speed of the disk; how often the limit is reached does not.
    "reclaim": ("reclaim", "memory-limit", "cgroup-memory-stalls"),
    "slow-disk": ("slow-disk", "slow-requests", "slow-files"),
    "fsync-neighbour": ("slow-files",),
    "lock-over-fsync": ("locks",),
    "postgres-slow-fsync": ("slow-files",),
    "postgres-row-lock": ("database-locks",),
    "redis-keys": ("busy", "cpu-hog"),
    "nginx-slow-upstream": ("failed-connects", "retransmissions"),
    "java-monitor": ("futexes",),
    "node-hog": ("busy", "cpu-hog"),
    "softirq-storm": ("softirqs",),
    "qdisc-drops": ("drops",),
    "full-disk": ("no-space",),
    "tcp-drops": ("retransmissions",),
    "refused-connects": ("failed-connects",),
    "black-holed-connects": ("retransmissions",),
    "listen-overflow": ("failed-connects",),
    "deaths-by-signal": ("crash",),
    "stuck": ("stuck",),
    "deadlock": ("deadlock",),
}
# Incidents below all limits: the rule that comes near to its limit, with a next command that shows the cause.
NEAREST = {
    "slow-function": "busy",
}
# Triage does not look for these: zombies cost nothing but entries in a table, and many healthy programs end
# connections with a reset.
UNSEEN = {"zombies", "resets"}
# Incidents whose rates depend on sleeps, clocks or disks: a faster CPU does not raise them.
PACED = {
    "slow-function",
    "cgroup-throttled",
    "descriptor-leak",
    "descriptors-nearly-used-up",
    "futex-convoy",
    "memory-leak",
    "reclaim",
    "slow-disk",
    "fsync-neighbour",
    "lock-over-fsync",
    "postgres-slow-fsync",
    "postgres-row-lock",
    "nginx-slow-upstream",
    "qdisc-drops",
    "full-disk",
    "tcp-drops",
    "refused-connects",
    "black-holed-connects",
    "listen-overflow",
    "resets",
    "deaths-by-signal",
    "stuck",
    "deadlock",
    "zombies",
    "idle",
    "idle-webserver",
    "half-loaded-worker",
    "half-loaded-database",
    "backup",
}


def is_about(row, facts):
    """Whether a row of a report, {cell: value}, names the guilty, something of theirs, or the victim."""
    names = {
        facts.comm,
        facts.victim_comm,
        facts.disk,
        facts.device,
        facts.softirq,
        facts.address,
        facts.cgroup,
    } - {None}
    port = int(facts.address.rpartition(":")[2]) if facts.address else None
    return bool(names & {str(value) for value in row.values()} or row.get("ppid") == facts.pid or
                port and port in (row.get("lport"), row.get("rport")))


@contextlib.contextmanager
def staged(name):
    """Stages an incident until the context is left: Facts. Raises Missing if the machine lacks something for it."""
    incident = INCIDENTS[name]
    missing = [each for each in incident.needs if not find_program(each)]
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
            print(f"{each.name:28}{each.cause or '(well)':17}{each.stage.__doc__}")
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
