# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's accounting shows each incident of staged.py while it is staged, and no trace of it afterwards."""

import collections
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import staged
import tracefs
from tally import ROOT, asleep, children, once, state, wait_until

pytestmark = once

CPUS = os.cpu_count()
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1 << 20

ORACLES = {}


def oracle(name):
    def keep(function):
        ORACLES[name] = function
        return function
    return keep


# --- what the kernel counts ----------------------------------------------------------------------

def pairs(path):
    """Parses lines of a name and a number."""
    return {name: int(n) for name, n in re.findall(r"^(\w+):?[ \t]+(\d+)", Path(path).read_text(), re.MULTILINE)}



def stat(pid):
    """The fields of /proc/PID/stat by their numbers in proc(5): 14 is utime."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return {n: text for n, text in enumerate(fields, 3)}


def ticks(pid):
    """CPU time in user and kernel mode."""
    fields = stat(pid)
    return int(fields[14]), int(fields[15])


def schedstat(pid):
    """ns that all threads ran on a CPU and waited for one."""
    return [sum(each) for each in zip(*((int(n) for n in path.read_text().split())
                                        for path in Path(f"/proc/{pid}/task").glob("*/schedstat")))]


def network(file, name):
    protocol, _, name = name.partition(".")
    lines = (line.split() for line in Path(f"/proc/net/{file}").read_text().splitlines())
    return int(dict(zip(*(fields for fields in lines if fields[0] == f"{protocol}:")))[name])


def cpu_line():
    return [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]


def grows(read, by, what):
    """A counter soon grows by at least this much."""
    before = read()
    wait_until(lambda: read() - before >= by, f"{what} to grow by {by} from {before}")


def in_a_while(read, holds, seconds=0.5):
    """The growth of figures meets a condition in one of several intervals: others may have work in the first ones."""
    def once_more():
        before, began = read(), time.monotonic()
        time.sleep(seconds)
        grown.append([b - a for a, b in zip(before, read())])
        return holds(time.monotonic() - began, *grown[-1])

    grown = []
    wait_until(once_more, f"growth in {seconds} s: {grown}")


# --- the oracles ---------------------------------------------------------------------------------

@oracle("cpu-hog")
def no_cpu_is_idle(facts):
    in_a_while(lambda: [sum(ticks(facts.pid)), cpu_line()[3], sum(cpu_line()[:8])],
               lambda seconds, ours, idle, total: idle < total / 10 and ours > CPUS * seconds * TICKS / 4)


@oracle("cpu-hog-kernel")
def time_is_the_kernels(facts):
    in_a_while(lambda: ticks(facts.pid),
               lambda seconds, user, system: system > seconds * TICKS / 4 and user < system / 5)


@oracle("slow-function")
def one_thread_of_four_works(facts):
    """It takes a third of a CPU in user mode, and the other three threads sleep."""
    def read():
        ran = [int((path / "schedstat").read_text().split()[0]) for path in Path(f"/proc/{facts.pid}/task").iterdir()]
        assert len(ran) == 4
        return max(ran), sum(ran), ticks(facts.pid)[1]

    in_a_while(
        read, lambda seconds, one, all_, system: 0.1 < one / seconds / 1e9 < 0.45 and one == all_ and system < 3, 1
    )


@oracle("noisy-neighbour")
def the_victim_waits_as_long_as_it_likes_to_run(facts):
    """It needs a fifth of a CPU, and waits for longer than it runs; the neighbour runs all the time."""
    def read():
        return *schedstat(facts.victim)[:2], *schedstat(facts.pid)[:2]

    in_a_while(
        read,
        lambda seconds, ran, waited, other_ran, other_waited: ran / seconds / 1e9 < 0.3
        and waited > max(ran, seconds * 0.3e9)
        and other_waited > other_ran > ran,
        1,
    )


@oracle("fork-storm")
def there_are_new_processes(facts):
    grows(lambda: pairs("/proc/stat")["processes"], 300, "processes")
    grows(lambda: int(stat(facts.pid)[11]), 1000, "faults of its children")


@oracle("run-queue")
def threads_wait(facts):
    assert len(os.sched_getaffinity(facts.pid)) == 1
    in_a_while(lambda: schedstat(facts.pid)[:2], lambda _, ran, waited: waited > 4 * ran > 0, 1)


@oracle("cgroup-throttled")
def the_cgroup_is_throttled(facts):
    grows(lambda: pairs(f"{facts.cgroup_folder}/cpu.stat")["nr_throttled"], 3, "nr_throttled")
    assert str(facts.pid) in Path(facts.cgroup_folder, "cgroup.procs").read_text().split()


@oracle("small-reads")
def reads_are_small(facts):
    def read():
        io = pairs(f"/proc/{facts.pid}/io")
        return io["syscr"], io["rchar"]

    in_a_while(read, lambda seconds, calls, size: calls > 10000 * seconds and size <= calls)
    assert facts.file in [os.readlink(path) for path in Path(f"/proc/{facts.pid}/fd").iterdir()]


@oracle("enoent-storm")
def opening_fails(facts):
    assert not os.path.exists(facts.file)
    instance = tracefs.Instance()
    try:
        instance.enable("syscalls/sys_exit_openat", f"common_pid == {facts.pid} && ret == -2")
        wait_until(lambda: instance.text().count("sys_openat -> 0xfffffffffffffffe") > 1000, "a thousand in vain")
    finally:
        instance.close()


@oracle("descriptor-leak")
def there_are_no_more_descriptors(facts):
    limit = int(re.search(r"^Max open files +(\d+)", Path(f"/proc/{facts.pid}/limits").read_text(), re.MULTILINE)[1])
    wait_until(lambda: len(os.listdir(f"/proc/{facts.pid}/fd")) == limit, f"{limit} descriptors")


@oracle("descriptors-nearly-used-up")
def eight_descriptors_are_left(facts):
    soft = resource.prlimit(facts.pid, resource.RLIMIT_NOFILE)[0]
    wait_until(lambda: soft - len(os.listdir(f"/proc/{facts.pid}/fd")) == 8, "eight more descriptors")


@oracle("futex-convoy")
def threads_wait_in_futex(facts):
    """The threads are in a system call, and /proc tells how many of them are in futex()."""
    call = {"x86_64": "202", "aarch64": "98"}[os.uname().machine]

    def waiting():
        paths = Path(f"/proc/{facts.pid}/task").glob("*/syscall")
        return sum(path.read_text().split()[0] == call for path in paths) >= 6

    for _ in range(20):
        wait_until(waiting, "six of eight threads in futex()")
    grows(lambda: sum(schedstat(facts.pid)[:1]), 10**8, "time of whoever has the lock")


@oracle("context-switches")
def both_switch(facts):
    for pid in (facts.pid, *facts.pids):
        in_a_while(lambda: [pairs(f"/proc/{pid}/status")["voluntary_ctxt_switches"]],
                   lambda seconds, switches: switches > 2000 * seconds)


@oracle("memory-leak")
def it_grows(facts):
    grows(lambda: pairs(f"/proc/{facts.pid}/status")["VmRSS"], 16 << 10, "KiB resident")


@oracle("page-fault-storm")
def it_faults_and_does_not_grow(facts):
    grows(lambda: int(stat(facts.pid)[10]), 10 * 16 * MIB // PAGE, "minor faults")
    assert pairs(f"/proc/{facts.pid}/status")["VmRSS"] < 64 << 10


def memory_events(facts, v2, v1_file, v1):
    folder = Path(facts.cgroup_folder)
    if (folder / "memory.events").exists():
        return pairs(folder / "memory.events")[v2]
    return pairs(folder / v1_file)[v1] if v1 else int((folder / v1_file).read_text())


@oracle("oom-in-cgroup")
def the_kernel_kills(facts):
    grows(lambda: memory_events(facts, "oom_kill", "memory.oom_control", "oom_kill"), 3, "oom_kill of the cgroup")
    grows(lambda: pairs("/proc/vmstat")["oom_kill"], 1, "oom_kill of the machine")


@oracle("reclaim")
def pages_are_taken_and_read_again(facts):
    """More is read from the disk than the file's size: the cgroup could not keep its pages."""
    grows(lambda: memory_events(facts, "max", "memory.failcnt", None), 100, "how often the limit was reached")
    grows(lambda: pairs(f"/proc/{facts.pid}/io")["read_bytes"], os.path.getsize(facts.file) * 3 // 2, "bytes read")


@oracle("slow-disk")
def requests_take_long(facts):
    def read():
        fields = Path(f"/sys/block/{facts.disk}/stat").read_text().split()
        return int(fields[4]), int(fields[7])

    in_a_while(read, lambda _, requests, ms: requests > 5 and ms / requests > 25, 1)


@oracle("fsync-neighbour")
def the_small_one_is_faster_alone(facts):
    """The small writer commits twice as often while the large one is stopped."""
    def commits():
        return [pairs(f"/proc/{facts.victim}/io")["syscw"]]

    beside, alone = [], []
    grows(lambda: pairs(f"/proc/{facts.pid}/io")["write_bytes"], 64 * MIB, "bytes written")
    for _ in range(3):
        in_a_while(commits, lambda seconds, n: beside.append(n / seconds) or True, 1)
        os.kill(facts.pid, signal.SIGSTOP)
        wait_until(lambda: state(facts.pid) == "T", "it is stopped")
        in_a_while(commits, lambda seconds, n: alone.append(n / seconds) or True)
        os.kill(facts.pid, signal.SIGCONT)
    assert sum(alone) > 2 * sum(beside), (alone, beside)


@oracle("lock-over-fsync")
def all_stand_while_one_writes(facts):
    """Threads are in futex() for as long as the one that has the mutex is in fsync()."""
    call = {"x86_64": ("202", "74"), "aarch64": ("98", "82")}[os.uname().machine]

    def calls():
        lines = [path.read_text().split() for path in Path(f"/proc/{facts.pid}/task").glob("*/syscall")]
        return collections.Counter(line[0] for line in lines)

    for _ in range(10):
        wait_until(lambda: (now := calls())[call[0]] >= 5 and now[call[1]] == 1, "five wait, one writes")
    grows(lambda: pairs(f"/proc/{facts.pid}/io")["write_bytes"], 64 * MIB, "bytes written")


@oracle("postgres-slow-fsync")
def it_commits_beside_it(facts):
    """Commits are on the disk: postgres waits for it."""
    assert (
        staged.ask_postgres(facts.file, "SHOW fsync")
        == staged.ask_postgres(facts.file, "SHOW synchronous_commit")
        == "on"
    )
    grows(lambda: pairs(f"/proc/{facts.pid}/io")["write_bytes"], 64 * MIB, "bytes written")
    grows(lambda: int(staged.ask_postgres(facts.file, "SELECT n FROM t")), 3, "commits")


@oracle("postgres-row-lock")
def clients_wait_for_a_row(facts):
    wait_until(
        lambda: int(staged.ask_postgres(facts.file, staged.WAITING)) >= 6, "six of eight clients wait for a lock"
    )
    grows(lambda: int(staged.ask_postgres(facts.file, "SELECT n FROM t")), 3, "transactions")


@oracle("redis-keys")
def keys_takes_long(facts):
    """KEYS takes long, and nobody gets an answer meanwhile."""
    def calls():
        stats = re.search(r"cmdstat_keys:calls=(\d+),usec=(\d+)", staged.ask_redis(facts.file, "INFO", "commandstats"))
        return [int(n) for n in stats.groups()] if stats else [0, 0]

    in_a_while(calls, lambda seconds, n, us: n and us / n > 10000)


@oracle("nginx-slow-upstream")
def its_upstream_is_slow(facts):
    grows(lambda: network("netstat", "TcpExt.ListenOverflows"), 10, "ListenOverflows")
    wait_until(lambda: sockets_to(facts.address, 1) + sockets_to(facts.address, 2) > 2, "nginx waits for its upstream")


@oracle("java-monitor")
def threads_of_java_wait(facts):
    in_a_while(
        lambda: [
            sum(pairs(path)["voluntary_ctxt_switches"] for path in Path(f"/proc/{facts.pid}/task").glob("*/status"))
        ],
        lambda seconds, switches: switches > 500 * seconds,
    )
    assert staged.threads_named(facts.pid, "Thread-") == 8


@oracle("node-hog")
def node_computes(facts):
    in_a_while(lambda: ticks(facts.pid), lambda seconds, user, system: user > seconds * TICKS / 2)
    assert re.search(r"^[0-9a-f-]+ rwx[ps] ", Path(f"/proc/{facts.pid}/maps").read_text(), re.MULTILINE)


@oracle("softirq-storm")
def softirqs_take_the_time(_):
    in_a_while(lambda: [cpu_line()[6], sum(cpu_line()[:8])], lambda _, softirq, total: softirq > total / 4)


@oracle("qdisc-drops")
def the_bucket_drops(facts):
    """The queue lets less through than it drops, and what it lets through arrives."""
    in_a_while(
        lambda: [staged.qdisc_drops_of(facts), received(facts.pids[0])],
        lambda seconds, drops, arrived: drops > 100 * seconds and 50 * seconds < arrived < 2 * drops,
        1,
    )
    assert facts.device not in Path("/proc/net/dev").read_text()


def received(pid):
    """Packets on eth0 of a process's network namespace."""
    return int(re.search(r"eth0: +\d+ +(\d+)", Path(f"/proc/{pid}/net/dev").read_text())[1])


@oracle("full-disk")
def no_block_is_free(facts):
    seen = os.statvfs(f"/proc/{facts.pid}/root{os.path.dirname(facts.file)}")
    assert seen.f_blocks and not seen.f_bavail
    grows(lambda: pairs(f"/proc/{facts.pid}/io")["syscw"], 100, "write()")
    assert pairs(f"/proc/{facts.pid}/io")["wchar"] <= seen.f_blocks * seen.f_bsize + 8192


@oracle("tcp-drops")
def segments_are_sent_again(facts):
    grows(lambda: network("snmp", "Tcp.RetransSegs"), 20, "RetransSegs")


@oracle("refused-connects")
def connects_are_refused(_):
    grows(lambda: network("snmp", "Tcp.AttemptFails"), 200, "AttemptFails")
    grows(lambda: network("snmp", "Tcp.OutRsts"), 200, "OutRsts")


def sockets_to(address, state_number):
    """The number of sockets in a state (include/net/tcp_states.h) that are connected to a port of this machine."""
    port = int(address.rpartition(":")[2])
    lines = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return sum(fields[2].endswith(f":{port:04X}") and fields[3] == f"{state_number:02X}" for fields in lines)


@oracle("black-holed-connects")
def nobody_answers(facts):
    wait_until(lambda: sockets_to(facts.address, 2) >= 20, "20 sockets in SYN_SENT")
    grows(lambda: network("netstat", "TcpExt.TCPTimeouts"), 20, "TCPTimeouts")


@oracle("listen-overflow")
def the_queue_overflows(_):
    grows(lambda: network("netstat", "TcpExt.ListenOverflows"), 10, "ListenOverflows")


@oracle("resets")
def connections_are_reset(_):
    grows(lambda: network("snmp", "Tcp.EstabResets"), 50, "EstabResets")
    grows(lambda: network("snmp", "Tcp.OutRsts"), 50, "OutRsts")


@oracle("deaths-by-signal")
def children_die_of_sigsegv(facts):
    died = set()

    def look():
        for pid in children(facts.pid):
            with contextlib.suppress(OSError):
                if stat(pid)[3] == "Z" and int(stat(pid)[52]) & 0x7f == signal.SIGSEGV:
                    died.add(pid)
        return len(died) >= 3

    wait_until(look, "three that died")


@oracle("stuck")
def they_do_not_move(facts):
    assert len(facts.pids) == 4
    before = [schedstat(pid) for pid in facts.pids]
    time.sleep(0.3)
    assert [state(pid) for pid in facts.pids] == 4 * ["D"]
    assert [schedstat(pid) for pid in facts.pids] == before


@oracle("deadlock")
def each_waits_for_what_the_other_has(facts):
    owners = {}
    with open(f"/proc/{facts.pid}/mem", "rb") as memory:
        for task in Path(f"/proc/{facts.pid}/task").iterdir():
            call = (task / "syscall").read_text().split()
            if call[0] == {"x86_64": "202", "aarch64": "98"}[os.uname().machine]:
                # glibc's mutex: the lock, its recursion count, its owner.
                memory.seek(int(call[1], 16) + 8)
                owners[int(task.name)] = int.from_bytes(memory.read(4), sys.byteorder)
    assert len(owners) == 2 and owners[owners[min(owners)]] == min(owners) != owners[min(owners)], owners


@oracle("zombies")
def they_are_dead(facts):
    assert len(facts.pids) == 100
    assert collections.Counter((stat(pid)[3], int(stat(pid)[4])) for pid in facts.pids) == {("Z", facts.pid): 100}


@oracle("idle")
def it_does_not_run(facts):
    before = asleep(facts.pid)
    time.sleep(0.3)
    assert asleep(facts.pid) == before


@oracle("compile")
def compilers_come_and_go(facts):
    grows(lambda: int(stat(facts.pid)[11]), 1000, "faults of its children")


@oracle("idle-webserver")
def it_answers_and_is_idle(facts):
    in_a_while(lambda: [network("snmp", "Tcp.PassiveOpens"), sum(ticks(facts.pid))],
               lambda seconds, opened, used: opened >= 2 and used < TICKS * seconds / 5, 1)


@oracle("half-loaded-worker")
def it_works_half_of_the_time(facts):
    in_a_while(lambda: schedstat(facts.pid)[:1], lambda seconds, ran: 0.15 < ran / seconds / 1e9 < 0.7)


@oracle("half-loaded-database")
def it_commits_as_often_as_asked(facts):
    in_a_while(
        lambda: [int(staged.ask_postgres(facts.file, "SELECT sum(n) FROM t"))],
        lambda seconds, n: 10 < n / seconds < 100,
        1,
    )


@oracle("backup")
def it_reads_the_disk(facts):
    grows(lambda: pairs(f"/proc/{facts.pid}/io")["read_bytes"], 32 * MIB, "bytes read")


# --- the tests -----------------------------------------------------------------------------------

def test_each_has_an_oracle():
    assert list(ORACLES) == list(staged.INCIDENTS)


def is_gone(pid):
    return state(pid) in ("", "Z", "X")


@pytest.mark.parametrize("name", staged.INCIDENTS)
def test_is_there_and_then_gone(name):
    try:
        with staged.staged(name) as facts:
            assert Path(f"/proc/{facts.pid}/comm").read_text().strip() == facts.comm
            ORACLES[name](facts)
            offspring = children(facts.pid)
    except staged.Missing as missing:
        pytest.skip(str(missing))
    for pid in filter(None, (facts.pid, facts.victim, *facts.pids, *offspring)):
        wait_until(lambda: is_gone(pid), f"{pid} to end")
    assert not (facts.cgroup_folder and os.path.exists(facts.cgroup_folder))
    assert not (facts.file and facts.file != "/dev/null" and os.path.exists(os.path.dirname(facts.file)))
    if facts.disk:
        wait_until(lambda: not os.path.exists(f"/sys/block/{facts.disk}/loop"), f"{facts.disk} to be free")


def test_as_a_program():
    program = [sys.executable, str(ROOT / "tests/incidents/staged.py")]
    listed = subprocess.run([*program, "--list"], capture_output=True, text=True, check=True).stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(staged.INCIDENTS)
    said = subprocess.run([*program, "idle", "0.1"], capture_output=True, text=True, check=True).stdout
    assert is_gone(int(re.search(r"^  pid +(\d+)$", said, re.MULTILINE)[1]))


def test_what_is_missing_is_told():
    wanted = staged.Incident("needs-more", "", staged.idle, ("no-such-program",))
    staged.INCIDENTS["needs-more"] = wanted
    try:
        with pytest.raises(staged.Missing, match="no no-such-program here"):
            with staged.staged("needs-more"):
                pass
    finally:
        del staged.INCIDENTS["needs-more"]
