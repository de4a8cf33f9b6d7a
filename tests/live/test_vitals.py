# SPDX-License-Identifier: BSD-2-Clause
"""vitals: each figure against the same file before and after, and staged incidents."""

import json
import os
import re
import resource
import subprocess
import threading
from pathlib import Path

import pytest

import cgroups
import disks
import levels
import network
import tally

pytestmark = pytest.mark.everywhere

PAGE = os.sysconf("SC_PAGESIZE")
TICK = 10**9 // os.sysconf("SC_CLK_TCK")


def rows_of(report):
    """{(area, vital, object): row}"""
    found = {(row["area"], row["vital"], row["object"]): row for row in report["rows"]}
    assert len(found) == len(report["rows"])
    return found


def read(path):
    try:
        return Path(path).read_text()
    except OSError:
        return None


def keyed(path, unit=1):
    """{first word: first number} of the lines of a file."""
    lines = (line.replace(":", " ").split() for line in (read(path) or "").splitlines())
    return {words[0]: int(words[1]) * unit for words in lines if len(words) > 1 and words[1].isdigit()}


def pairs(path):
    """{"Tcp RetransSegs": number}"""
    lines = [line.split() for line in (read(path) or "").splitlines()]
    return {f"{names[0][:-1]} {name}": int(value) for names, values in zip(lines[::2], lines[1::2])
            for name, value in zip(names[1:], values[1:])}


def counters():
    """Counters with a single value, by area and vital; each in the unit of its row."""
    found, stat = {}, {line.split()[0]: line.split()[1:] for line in read("/proc/stat").splitlines()}
    for name, ticks in zip(("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"), stat["cpu"]):
        found["cpu", name] = int(ticks) * TICK
    for area, name in (("cpu", "cpu"), ("io", "io"), ("memory", "memory"), ("irq", "irq")):
        for how, total in re.findall(r"^(\w+).* total=(\d+)", read(f"/proc/pressure/{name}") or "", re.M):
            if how == "some" or area != "cpu":
                found[area, f"pressure_{how}"] = int(total) * 1000
    vmstat, netstat, snmp = keyed("/proc/vmstat"), pairs("/proc/net/netstat"), pairs("/proc/net/snmp")
    for name, key, unit in (("oom_kills", "oom_kill", 1), ("major_faults", "pgmajfault", 1),
                            ("swapped_in", "pswpin", PAGE), ("swapped_out", "pswpout", PAGE)):
        found["memory", name] = vmstat[key] * unit
    found["net", "listen_overflows"] = netstat["TcpExt ListenOverflows"]
    found["net", "listen_drops"] = netstat["TcpExt ListenDrops"]
    found["net", "syncookies"] = netstat["TcpExt SyncookiesSent"]
    found["net", "retransmits"] = snmp["Tcp RetransSegs"]
    found["net", "udp_full"] = snmp["Udp RcvbufErrors"]
    if (udp6 := keyed("/proc/net/snmp6").get("Udp6RcvbufErrors")) is not None:
        found["net", "udp6_full"] = udp6
    softnet = [[int(word, 16) for word in line.split()] for line in read("/proc/net/softnet_stat").splitlines()]
    found["net", "softnet_drops"] = sum(line[1] for line in softnet)
    found["net", "softnet_squeezes"] = sum(line[2] for line in softnet)
    return {(*key, "-"): value for key, value in found.items()}


def lists():
    """Counters of disks and interfaces."""
    found = {}
    for line in read("/proc/diskstats").splitlines():
        _, _, name, *numbers = line.split()
        if Path(f"/sys/block/{name.replace('/', '!')}").exists():
            numbers = [int(number) for number in numbers]
            found["disk", "read", name] = numbers[2] * 512
            found["disk", "written", name] = numbers[6] * 512
            found["disk", "busy", name] = numbers[9] * 10**6
    for line in read("/proc/net/dev").splitlines()[2:]:
        name, _, rest = line.strip().rpartition(":")
        n = [int(word) for word in rest.split()]
        for vital, at in (("received", 0), ("rx_errors", 2), ("rx_drops", 3), ("sent", 8), ("tx_errors", 10),
                          ("tx_drops", 11)):
            found["net", vital, name] = n[at]
    return found


def test_counters_are_those_of_the_files(tool, directory):
    """Each lies between the difference of two readings inside the interval and the difference of two around it."""
    outer = counters() | lists()
    tracer = tool("--json", tool="vitals")
    inner = counters() | lists()
    for n in range(5):
        (directory / f"{n}").write_bytes(b"x" * (1 << 20))
        os.sync()
        subprocess.run(["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done"], check=True)
    inner_end = counters() | lists()
    rows = rows_of(tracer.stop().report)
    outer_end = counters() | lists()
    assert {key for key in counters() if key not in rows} == set(), "a counter is missing"
    compared = 0
    for key, row in rows.items():
        # A counter that went backwards (iowait) has no value then.
        if key not in inner or key not in outer or row["count"] is None:
            continue
        least, most = inner_end[key] - inner[key], outer_end[key] - outer[key]
        # A disk's busy time includes only finished requests and ticks; other counters are exact.
        assert least <= row["count"] <= most or key[1] == "iowait", (key, least, row, most)
        compared += 1
    assert compared >= 25, rows


def test_shares(run):
    """The CPUs' time is complete: its shares add up. Pressure is a share of the elapsed time."""
    rows = rows_of(run("--json", "-d", "0.5", tool="vitals").report)
    cpu = [rows["cpu", name, "-"] for name in ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")]
    known = [row for row in cpu if row["count"] is not None]
    assert len({row["whole"] for row in known}) == 1
    if known == cpu:
        assert sum(row["count"] for row in cpu) == cpu[0]["whole"]
        assert sum(row["share_percent"] for row in cpu) == pytest.approx(100)
    for row in rows.values():
        if row["share_percent"] is not None:
            assert row["share_percent"] == pytest.approx(100 * row["count"] / row["whole"])
        if row["limit_percent"] is not None:
            assert row["limit_percent"] == pytest.approx(100 * row["value"] / row["limit"])
        if row["per_second"] is not None and row["unit"] == "number":
            assert row["per_second"] == pytest.approx(row["count"] / row["seconds"])
    some = rows.get(("io", "pressure_some", "-"))
    assert some is None or 0.4e9 < some["whole"] < 60e9


def gauges():
    memory, stat = keyed("/proc/meminfo", 1024), keyed("/proc/stat")
    files = [int(word) for word in read("/proc/sys/fs/file-nr").split()]
    load, *_, tasks, _ = read("/proc/loadavg").split()
    sockets = dict(re.findall(r"(\w+) (\d+)", next(
        line for line in read("/proc/net/sockstat").splitlines() if line.startswith("TCP"))))
    threads = int(tasks.split("/")[1])
    found = {
        ("memory", "used"): memory["MemTotal"] - memory["MemAvailable"],
        ("memory", "swap_used"): memory["SwapTotal"] - memory["SwapFree"],
        ("memory", "committed"): memory["Committed_AS"],
        ("memory", "dirty"): memory["Dirty"],
        ("memory", "writeback"): memory["Writeback"],
        ("cpu", "load"): float(load),
        ("cpu", "runnable"): stat["procs_running"],
        ("cpu", "blocked"): stat["procs_blocked"],
        ("files", "descriptors"): files[0] - files[1],
        ("tasks", "threads"): threads,
        ("tasks", "pids"): threads,
        ("net", "time_wait"): int(sockets["tw"]),
        ("net", "orphans"): int(sockets["orphan"]),
        ("net", "tcp_memory"): int(sockets["mem"]) * PAGE,
    }
    if (count := read("/proc/sys/net/netfilter/nf_conntrack_count")) is not None:
        found["net", "conntrack"] = int(count)
    return {(*key, "-"): value for key, value in found.items()}


def limits():
    memory, ipv4 = keyed("/proc/meminfo", 1024), "/proc/sys/net/ipv4/"
    found = {
        ("memory", "used"): memory["MemTotal"],
        ("memory", "swap_used"): memory["SwapTotal"],
        ("memory", "committed"): memory["CommitLimit"],
        ("files", "descriptors"): int(read("/proc/sys/fs/file-nr").split()[2]),
        ("tasks", "threads"): int(read("/proc/sys/kernel/threads-max")),
        ("tasks", "pids"): int(read("/proc/sys/kernel/pid_max")),
        ("net", "time_wait"): int(read(ipv4 + "tcp_max_tw_buckets")),
        ("net", "orphans"): int(read(ipv4 + "tcp_max_orphans")),
        ("net", "tcp_memory"): int(read(ipv4 + "tcp_mem").split()[2]) * PAGE,
    }
    return {(*key, "-"): value for key, value in found.items()}


class Watch:
    """Reads the gauges all the time."""

    def __init__(self):
        self.seen, self.end = [], threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.end.is_set():
            self.seen.append(gauges())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()


def test_gauges_are_those_of_the_files(run):
    """Limits do not change. A level lies in the range of the readings meanwhile; a level that moved between two
    readings does so in another try."""
    outside = None
    for _ in range(10):
        with Watch() as watch:
            rows = rows_of(run("--json", "-d", "0.1", tool="vitals").report)
        for key, limit in limits().items():
            assert rows[key]["limit"] == limit, key
        assert {key for key in gauges() if key not in rows} == set()
        ranges = {key: [seen[key] for seen in watch.seen] for key in watch.seen[0]}
        still = {key: rows[key]["value"] for key in ranges
                 if not min(ranges[key]) <= rows[key]["value"] <= max(ranges[key])}
        # Runnable and blocked tasks are of another instant: the tool itself runs then, and has memory and descriptors.
        now = set(still) - {("cpu", "runnable", "-"), ("cpu", "blocked", "-")}
        outside = now if outside is None else outside & now
        if not outside:
            return
    assert not outside, (still, ranges)


# --- file systems ----------------------------------------------------------------------------------

def test_a_full_file_system(run, ends, directory):
    """Its space and its inodes are those of statvfs, and it comes first."""
    at = levels.small_file_system(ends, directory, "-N", "32")
    levels.fill(at)
    rows = rows_of(run("--json", "-d", "0.1", tool="vitals").report)
    of_bytes, of_inodes = levels.space(at)
    for vital, expected in ("used", of_bytes), ("inodes", of_inodes):
        row = rows["files", vital, str(at)]
        assert (row["value"], row["limit"]) == expected
        assert row["limit_percent"] >= 95
    assert rows["files", "inodes", str(at)]["limit_percent"] == 100
    text = run("-d", "0.1", tool="vitals").text
    table = text[text.index("\narea "):]
    mine = [at_line for at_line, line in enumerate(table.splitlines()) if str(at) in line]
    first = next(n for n, line in enumerate(table.splitlines()) if line.startswith("memory  used "))
    assert len(mine) == 2 and max(mine) < first, text


def test_an_empty_file_system(run, ends, directory):
    """It is listed with the values of statvfs, and --all shows it; text leaves its inodes out."""
    at = levels.small_file_system(ends, directory)
    rows = rows_of(run("--json", "-d", "0.1", tool="vitals").report)
    assert tuple(rows["files", "used", str(at)][name] for name in ("value", "limit")) == levels.space(at)[0]
    assert rows["files", "read_only", str(at)]["value"] == 0
    shown = [line for line in run("-d", "0.1", tool="vitals").text.splitlines() if str(at) in line]
    assert not [line for line in shown if "inodes" in line]
    every = [line for line in run("--all", "-d", "0.1", tool="vitals").text.splitlines() if str(at) in line]
    assert len(every) == 3, every


def test_a_file_system_becomes_read_only(tool, ends, directory):
    at = levels.small_file_system(ends, directory)
    tracer = tool("--json", tool="vitals")
    disks.run("mount", "-o", "remount,ro", at)
    row = rows_of(tracer.stop().report)["files", "read_only", str(at)]
    assert (row["value"], row["count"]) == (1, 1)
    tracer = tool("--json", tool="vitals")
    row = rows_of(tracer.stop().report)["files", "read_only", str(at)]
    assert (row["value"], row["count"]) == (1, 0)


def test_errors_of_a_disk_are_messages(tool, ends, directory):
    """Messages of the kernel count, and those of processes do not. The file behind the disk has no room for the data
    written."""
    disks.mount(ends, directory, "tmpfs", "size=64k")
    disk = disks.loop(ends, directory)
    log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    ends.callback(os.close, log)
    os.lseek(log, 0, os.SEEK_END)

    def has_error():
        try:
            return f"error, dev {disk.name}," in os.read(log, 8192).decode("utf-8", "replace")
        except BlockingIOError:
            return False

    tracer = tool("--json", tool="vitals")
    with open("/dev/kmsg", "w") as f:
        f.write("Out of memory: Killed process 1 (tally-test)\n")
    disks.write_too_much(disk)
    tally.wait_until(has_error, "the kernel's message")
    rows = rows_of(tracer.stop().report)
    assert rows["kernel", "messages", "io_error"]["count"] >= 1
    assert rows["kernel", "messages", "oom"]["count"] == 0


# --- cgroups ---------------------------------------------------------------------------------------

def test_a_cgroup_near_its_memory_limit(run, ends, cgroup):
    version, group = levels.group_of(cgroup, "memory")
    now, limit = (group.path / name for name in (
        ("memory.current", "memory.max") if version == "v2" else ("memory.usage_in_bytes", "memory.limit_in_bytes")))
    process = levels.child(ends, "sys.stdin.readline(); kept = bytearray(32 << 20)")
    group.add(process.pid)
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "ready\n"
    rows = rows_of(run("--json", "-d", "0.1", tool="vitals").report)
    assert ("cgroup", "memory", group.name) not in rows, "there is no limit yet"
    limit.write_text(str(int(now.read_text()) + (1 << 20)))
    before = int(now.read_text())
    row = rows_of(run("--json", "-d", "0.1", tool="vitals").report)["cgroup", "memory", group.name]
    assert row["limit"] == int(limit.read_text())
    assert row["value"] == before == int(now.read_text())
    assert row["limit_percent"] > 95
    text = run("-d", "0.1", tool="vitals").text
    assert re.search(rf"^cgroup +memory +{group.name} ", text, re.M), text


def test_a_kill_for_want_of_memory(tool, ends, cgroup):
    """The cgroup's count, the machine's, and the kernel's message."""
    version, group = levels.group_of(cgroup, "memory")
    levels.limit_memory(version, group)
    process = levels.child(ends, "sys.stdin.readline(); kept = b'x' * (64 << 20)")
    group.add(process.pid)
    tracer = tool("--json", tool="vitals")
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.wait(tally.PATIENCE) == -9
    rows = rows_of(tracer.stop().report)
    if ("cgroup", "oom_kills", group.name) in rows or version == "v2":
        assert rows["cgroup", "oom_kills", group.name]["count"] == 1
    assert rows["memory", "oom_kills", "-"]["count"] >= 1
    assert rows["kernel", "messages", "oom"]["count"] >= 1


def test_a_cgroup_without_room_for_a_process(tool, ends, cgroup):
    _, group = levels.group_of(cgroup, "pids")
    (group.path / "pids.max").write_text("1")
    process = levels.child(ends, """
import os
sys.stdin.readline()
for n in range(3):
    try:
        if not os.fork():
            os._exit(0)
    except BlockingIOError:
        pass""")
    group.add(process.pid)
    refused = group.path / "pids.events"

    def books():
        return int(refused.read_text().split()[1])

    before = books()
    tracer = tool("--json", tool="vitals")
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "ready\n"
    rows = rows_of(tracer.stop().report)
    row = rows["cgroup", "pids", group.name]
    assert (row["value"], row["limit"], row["limit_percent"]) == (1, 1, 100)
    assert rows["cgroup", "forks_refused", group.name]["count"] == books() - before == 3


def test_a_limit_that_changes(tool, cgroup, directory):
    """Files stay open between readings, and are those of the cgroup that has the name now."""
    _, group = levels.group_of(cgroup, "pids")
    out = directory / "reports"
    tracer = tool("--json", "-I", 50, "-o", out, tool="vitals")

    def reports():
        return out.read_text().split("\n")[:-1] if out.exists() else []

    def shown():
        row = rows_of(json.loads(reports()[-1])).get(("cgroup", "pids", group.name))
        return row and row["limit"]

    for limit in "10", "20", "max", "30", "anew", "40":
        if limit == "anew":
            group.path.rmdir()
            group.path.mkdir()
        else:
            (group.path / "pids.max").write_text(limit)
        wanted = int(limit) if limit.isdigit() else None
        before = len(reports())
        tally.wait_until(lambda: len(reports()) > before and shown() == wanted, f"a limit of {limit}")
    tracer.stop()


def test_files_of_cgroups_stay_open(tool, run, cgroup, ends):
    """A file that is there in each reading is opened once."""
    version, group = levels.group_of(cgroup, "pids")
    if version == "v2":
        (group.path / "cgroup.subtree_control").write_text("+pids")
    for n in range(300):
        below = group.path / str(n)
        below.mkdir()
        ends.callback(below.rmdir)
    tracer = tool("--json", "-I", 50, tool="vitals")
    tracer.await_lines(2)
    report = run("--json", "-p", tracer.pid, "-e", "openat,pread64", "-d", "0.5", tool="syscount").report
    calls = {row["syscall"]: row["calls"] for row in report["rows"]}
    tracer.stop()
    assert calls.get("pread64", 0) > 3 * calls["openat"] > 0, calls


def in_v2(ends, cgroup, name, program):
    """A process that works once it is told to, in a cgroup of v2 of its own."""
    found = [h for h in cgroups.hierarchies() if h.name == "v2"]
    if not found:
        pytest.skip("no cgroups of v2")
    group = cgroup(found[0], name)
    if not (group.path / "cpu.pressure").exists():
        pytest.skip("no pressure of cgroups")
    process = levels.child(ends, "sys.stdin.readline()\n" + program)
    group.add(process.pid)
    tally.settle(process.pid)
    return group, process


def stalled_ns(group):
    """{vital: total} of a cgroup."""
    return {f"{what}_pressure_{how}": int(total) * 1000 for what in ("cpu", "io", "memory") for how, total in
            re.findall(r"^(\w+).* total=(\d+)", (group.path / f"{what}.pressure").read_text(), re.M)}


def test_cgroups_that_wait(tool, run, cgroup, ends):
    """Two tasks for one CPU, in a cgroup: its totals, and the share of the time. One at rest has no row, nor has the
    cgroup above both."""
    group, process = in_v2(ends, cgroup, "waits", """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
if not os.fork():
    import ctypes, signal
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
while True: pass""")
    in_v2(ends, cgroup, "rests", "")
    process.stdin.write("\n")
    process.stdin.flush()
    tally.wait_until(lambda: stalled_ns(group)["cpu_pressure_some"], "a task that waits")
    before = stalled_ns(group)
    tracer = tool("--json", tool="vitals")
    first = stalled_ns(group)
    tally.wait_until(lambda: stalled_ns(group)["cpu_pressure_some"] - first["cpu_pressure_some"] > 3e8, "a wait")
    last = stalled_ns(group)
    rows = {key: row for key, row in rows_of(tracer.stop().report).items() if key[0] == "cgroup" and
            "pressure" in key[1] and str(Path(group.name).parent) in key[2]}
    after = stalled_ns(group)
    assert {key[2] for key in rows} == {group.name}, rows
    row = rows["cgroup", "cpu_pressure_some", group.name]
    assert last["cpu_pressure_some"] - first["cpu_pressure_some"] <= row["count"]
    assert row["count"] <= after["cpu_pressure_some"] - before["cpu_pressure_some"]
    assert row["share_percent"] == pytest.approx(100 * row["count"] / row["whole"])
    text = run("-d", "0.3", tool="vitals").text
    assert re.search(rf"^cgroup +cpu_pressure_some +{group.name} ", text, re.M), text


def test_what_made_up_cgroups_have(tool, directory):
    """Pressure of those with tasks; since 6.12 a refused fork counts in the cgroups above, too, but not in their local
    events; no text, no row."""
    made = levels.MadeUp(directory, "vitals")
    names = "above", "above/below", "beside"
    made.say({f"{name}/{what}.pressure": levels.pressure(10**9, 10**6) for name in names for what in ("cpu", "io", "memory")})
    made.say({f"{name}/pids.events": "max 10\n" for name in names})
    made.say({f"{name}/pids.events.local": "max 4\n" for name in names[:2]})
    made.say({"above/below/io.pressure": "", "beside/cpu.pressure": "some avg10=0.00 total=5"})
    tracer = tool("--json", tool=str(made.program))
    made.say({f"{name}/memory.pressure": levels.pressure(2 * 10**9, 10**6 + n) for n, name in enumerate(names)})
    made.say({"above/pids.events": "max 13\n", "above/below/pids.events": "max 13\n",
              "above/below/pids.events.local": "max 7\n", "beside/pids.events": "max 12\n"})
    rows = {key[1:]: row for key, row in rows_of(tracer.stop().report).items() if key[0] == "cgroup"}
    counts = {key: row["count"] for key, row in rows.items()}
    assert counts == {
        ("memory_pressure_some", "/above/below"): 10**12,
        ("memory_pressure_some", "/beside"): 10**12,
        ("forks_refused", "/above"): 0,
        ("forks_refused", "/above/below"): 3,
        ("forks_refused", "/beside"): 2,
    }, rows


def test_io_limits_of_made_up_cgroups(tool, directory):
    """A limit that is set during the run, or that changes, has no share; 'max' has no row."""
    made = levels.MadeUp(directory, "vitals")
    limits = "rbps=max wbps=max riops={} wiops=max\n"
    made.say({f"{name}/io.stat": "259:7 rbytes=5 wbytes=0 rios=70 wios=0 dbytes=0 dios=0\n"
              for name in ("above", "above/below", "beside")})
    made.say({"above/io.max": "259:7 " + limits.format(10**6), "beside/io.max": "259:7 " + limits.format(10**6)})
    tracer = tool("--json", tool=str(made.program))
    made.say({f"{name}/io.stat": "259:7 rbytes=9 wbytes=0 rios=80 wios=0 dbytes=0 dios=0\n"
              for name in ("above", "above/below", "beside")})
    made.say({"above/below/io.max": "259:7 " + limits.format(5), "beside/io.max": "259:7 " + limits.format(2 * 10**6)})
    rows = {key[1:]: row for key, row in rows_of(tracer.stop().report).items() if key[:2] == ("cgroup", "io_max_riops")}
    assert {key: row["count"] for key, row in rows.items()} == {
        ("io_max_riops", "/above 259:7"): 10, ("io_max_riops", "/beside 259:7"): 10}, rows
    row, changed = rows["io_max_riops", "/above 259:7"], rows["io_max_riops", "/beside 259:7"]
    assert row["limit"] == 10**6 and row["share_percent"] == pytest.approx(100 * 10 / row["whole"])
    assert row["whole"] == pytest.approx(10**6 * row["seconds"], abs=1)
    assert changed["limit"] == 2 * 10**6 and changed.get("share_percent") is None


def test_io_limit(tool, run, ends, cgroup, directory):
    """The count is the growth of io.stat; a writer without pauses uses the limit, as the kernel keeps it."""
    group, disk, written = levels.writer_at_io_max(ends, cgroup, directory, 50)
    before = written()
    tracer = tool("--json", tool="vitals")
    first = written()
    tally.wait_until(lambda: written() - first > 100, "two seconds of writes")
    last = written()
    report = tracer.stop().report
    row = rows_of(report)["cgroup", "io_max_wiops", f"{group.name} {disk.name}"]
    assert last - first <= row["count"] <= written() - before
    assert row["limit"] == 50 and row["share_percent"] == pytest.approx(100 * row["count"] / row["whole"])
    # The kernel lets requests through in slices of 100 ms, and keeps one slice as credit.
    assert row["count"] <= 50 * row["seconds"] + 2 * 5 + 1
    text = run("-d", "1", tool="vitals").text
    assert re.search(rf"^cgroup +io_max_wiops +{group.name} {disk.name} ", text, re.M), text


def test_a_controller_that_is_enabled_later(tool, run, directory):
    """Files that are not there are not looked for each time, but again after a while."""
    made, out = levels.MadeUp(directory, "vitals"), directory / "reports"
    made.say({f"{group}/{name}": "max 1\n" for group in ("above", "above/below", "beside")
              for name in ("memory.events.local", "memory.max", "pids.events")})
    tracer = tool("--json", "-I", 50, "-o", out, tool=str(made.program))
    tally.wait_until(lambda: out.exists() and out.read_text().count("\n") > 1, "two reports")
    report = run("--json", "-p", tracer.pid, "-e", "openat,pread64", "-d", "0.5", tool="syscount").report
    calls = {row["syscall"]: row for row in report["rows"]}
    assert not calls["pread64"]["errors"] and calls["pread64"]["calls"] > calls["openat"]["errors"], calls
    made.say({"beside/pids.max": "10\n", "beside/pids.current": "7\n"})

    def shown():
        row = rows_of(json.loads(out.read_text().split("\n")[-2])).get(("cgroup", "pids", "/beside"))
        return row and (row["value"], row["limit"]) == (7, 10)

    tally.wait_until(shown, "the cgroup's tasks")
    tracer.stop()


# --- limits of a process ---------------------------------------------------------------------------

@pytest.mark.parametrize("n, limit, close_every, user", [
    (180, 200, 0, 0), (180, 200, 0, 65534), (400, 320, 4, 0), (100_000, 100_100, 0, 0),
], ids=["few", "user", "holes", "many"])
def test_a_process_near_its_limit_of_files(run, ends, n, limit, close_every, user):
    """Open files are counted, not their numbers; the limit is the soft one."""
    most = levels.most_files() - 100
    if n > most:
        n, limit = most, most + 100
    pid = levels.with_files(ends, n, limit, close_every, user).pid
    row = rows_of(run("--json", "-d", "0.1", tool="vitals").report)["files", "nofile", f"python3 ({pid})"]
    assert row["value"] == len(os.listdir(f"/proc/{pid}/fd")) >= 0.9 * limit
    assert row["limit"] == limit and (user or resource.prlimit(pid, resource.RLIMIT_NOFILE)[0] == limit)
    assert row["limit_percent"] == pytest.approx(100 * row["value"] / limit)
    assert (row["comm"], row["pid"]) == ("python3", pid)
    text = run("-d", "0.1", tool="vitals").text
    assert re.search(rf"^files +nofile +python3 \({pid}\) +{row['value']:,} +{limit:,} ", text, re.M), text


def test_a_process_that_may_open_no_more_on_purpose(run, ends):
    """Its limit is below what it has, as that of a sandbox."""
    pid = levels.with_files(ends, 100, 50).pid
    assert not [key for key in rows_of(run("--json", "-d", "0.1", tool="vitals").report) if f"({pid})" in key[2]]


def test_the_processes_nearest_to_their_limits(run, ends):
    """Five, the nearest ones."""
    pids = [levels.with_files(ends, n, 200).pid for n in (140, 190, 150, 180, 160, 170)]
    rows = [row for row in run("--json", "-d", "0.1", tool="vitals").report["rows"] if row["vital"] == "nofile"]
    assert len(rows) == 5 and min(row["limit_percent"] for row in rows) >= 75, rows
    assert pids[0] not in [row["pid"] for row in rows]


# --- the network -----------------------------------------------------------------------------------

def test_a_queue_of_connections_overflows(tool, ends):
    """In a network namespace, whose counters nobody else changes."""
    with network.Own():
        sockets = network.Sockets(ends, *network.LOOPBACK["IPv4"])
        server = sockets.server(backlog=0)
        address = server.getsockname()
        tracer = tool("--json", tool="vitals")
        before = network.counter("netstat", "ListenOverflows"), network.counter("netstat", "ListenDrops")
        for _ in range(5):
            one = sockets.new()
            one.setblocking(False)
            one.connect_ex(address)
        tally.wait_until(lambda: network.counter("netstat", "ListenOverflows") > before[0], "an overflow")
        after = network.counter("netstat", "ListenOverflows"), network.counter("netstat", "ListenDrops")
        rows = rows_of(tracer.stop().report)
        now = network.counter("netstat", "ListenOverflows"), network.counter("netstat", "ListenDrops")
        for vital, n in ("listen_overflows", 0), ("listen_drops", 1):
            assert after[n] - before[n] <= rows["net", vital, "-"]["count"] <= now[n] - before[n]
        assert rows["net", "received", "lo"]["count"] > 0


# --- what is missing -------------------------------------------------------------------------------

def test_what_is_missing_is_not_zero(tmp_path):
    """Without pressure, messages and /proc/vmstat there are no rows, and -v says so."""
    (tmp_path / "empty").touch()
    covers = ((path, tmp_path if Path(path).is_dir() else tmp_path / "empty")
              for path in ("/proc/pressure", "/proc/vmstat", "/dev/kmsg") if Path(path).exists())
    mounts = "; ".join(f"mount --bind {cover} {path}" for path, cover in covers)
    ran = subprocess.run(["unshare", "-m", "sh", "-c", f'{mounts}; exec "$@"', "sh", tally.BUILD / "vitals", "-v",
                          "--json", "-d", "0.1"], capture_output=True, text=True, timeout=tally.PATIENCE, check=False)
    assert ran.returncode == 0, ran
    rows = rows_of(tally.Result(0, ran.stdout.encode(), b"").report)
    assert not [key for key in rows if key[1].startswith("pressure")]
    assert ("memory", "oom_kills", "-") not in rows and ("memory", "used", "-") in rows
    assert "no /proc/pressure/io" in ran.stderr and "no /proc/vmstat" in ran.stderr, ran.stderr


def test_the_default_fits_a_screen(run):
    """--all and machine formats have everything."""
    text = run("-d", "0.1", tool="vitals").text
    assert len(text.splitlines()) <= 24, text
    every = run("--all", "-d", "0.1", tool="vitals").text.splitlines()
    rows = run("--json", "-d", "0.1", tool="vitals").report["rows"]
    assert abs(len(every) - 4 - len(rows)) <= 3, every


def test_intervals(run):
    """A counter of each interval begins where the last one ended."""
    first = counters()
    reports = run("--json", "0.2", "4", tool="vitals").reports
    last = counters()
    key = "cpu", "idle", "-"
    total = sum(rows_of(report)[key]["count"] for report in reports)
    assert len(reports) == 4 and 0 <= total <= last[key] - first[key]
    wholes = sum(rows_of(report)[key]["whole"] for report in reports)
    assert total <= wholes
