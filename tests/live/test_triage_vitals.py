# SPDX-License-Identifier: BSD-2-Clause
"""triage finds what is nearly used up, refused, or told by the kernel; and the next command that it says shows the
cause."""

import errno
import fcntl
import html
import json
import os
import re
import shlex
import socket
import struct
import subprocess
from pathlib import Path

import pytest

import disks
import levels
import network
import tally

pytestmark = pytest.mark.exclusive

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


def page_of(tracer):
    result = tracer.stop()
    assert result.code == 0, result
    return json.loads(result.text)


def found_in(page):
    return {rule["rule"]: rule for rule in page["findings"]}


def evidence(finding, obj):
    """The figure that it says of an object."""
    found = [each for each in finding["evidence"] if each["row"]["object"] == str(obj)]
    assert len(found) == 1, finding
    return found[0]["value"]


def about(finding, obj):
    """Its next command as it would be if that object were the first one: this machine may have others."""
    first = finding["evidence"][0]["row"]["object"]
    line = shlex.split(finding["next"])
    return [str(obj) if word == first else word for word in line]


@pytest.fixture
def shown(tool):
    """shown(words, action): what a command shows of what happens meanwhile, as objects."""
    def show(words, action):
        tracer = tool(*words[1:], "--json", tool=words[0])
        action()
        result = tracer.stop()
        assert result.code == 0, result
        return [json.loads(line) for line in result.text.splitlines()]
    return show


def lines_of(reports, **wanted):
    values = [{**report.get("values", {}), "comm": report.get("comm"), "event": report.get("event")}
              for report in reports if "time_ns" in report]
    return [each for each in values if all(each.get(name) == value for name, value in wanted.items())]


def rows_of(reports):
    return [row for report in reports for row in report.get("rows", ())]


# --- file systems ----------------------------------------------------------------------------------

def test_a_full_file_system(tool, ends, directory, shown):
    """The next commands show who writes there, and who cannot make a file."""
    at = levels.small_file_system(ends, directory, "-N", "32")
    levels.fill(at)
    found = found_in(page_of(tool("--json", tool="triage")))
    for name in "full-file-system", "inodes":
        assert evidence(found[name], at) == 100 and found[name]["level"] == "problem", found[name]

    def write():
        fd = os.open(at / "large", os.O_WRONLY)
        try:
            os.pwrite(fd, b"x" * 4096, 0)
        finally:
            os.close(fd)

    rows = rows_of(shown(about(found["full-file-system"], at), write))
    assert [row["write_bytes"] for row in rows if row["path"].endswith("/large")] == [4096], rows

    def make():
        with pytest.raises(OSError) as full:
            (at / "one more").touch()
        assert full.value.errno == errno.ENOSPC

    assert lines_of(shown(about(found["inodes"], at), make), error="ENOSPC", path=str(at / "one more"))


def test_a_file_system_becomes_read_only(tool, ends, directory, shown):
    """The same state is no finding later, however full it is."""
    at = levels.small_file_system(ends, directory, "-N", "32")
    levels.fill(at)
    tracer = tool("--json", tool="triage")
    disks.run("mount", "-o", "remount,ro", at)
    finding = found_in(page_of(tracer))["read-only"]
    assert evidence(finding, at) == 1 and finding["level"] == "problem"

    def write():
        with pytest.raises(OSError) as refused:
            os.open(at / "large", os.O_WRONLY)
        assert refused.value.errno == errno.EROFS

    assert lines_of(shown(about(finding, at), write), error="EROFS", path=str(at / "large"))
    found = found_in(page_of(tool("--json", tool="triage")))
    assert not [rule for rule in found.values() for each in rule["evidence"] if each["row"].get("object") == str(at)]


def test_errors_of_a_disk(tool, ends, directory, shown):
    """The file behind it has no room."""
    disks.mount(ends, directory, "tmpfs", "size=64k")
    disk = disks.loop(ends, directory)

    def write():
        disks.write_too_much(disk)

    tracer = tool("--json", tool="triage")
    write()
    finding = found_in(page_of(tracer))["disk-errors"]
    assert evidence(finding, "io_error") >= 1 and finding["level"] == "problem"
    lines = lines_of(shown(about(finding, "io_error"), write), disk=disk.name)
    assert any(line["result"] != "ok" for line in lines), lines


def test_a_recording_has_the_same(run, ends, directory, tmp_path):
    """The finding and the first lines, of a minute and of all."""
    at = levels.small_file_system(ends, directory)
    with pytest.raises(OSError), open(at / "large", "wb", buffering=0) as f:
        while True:
            f.write(b"x" * (64 << 10))
    path = tmp_path / "recording"
    assert run("-o", path, "vitals", "0.2", "3", tool="record").code == 0
    page, = [json.loads(line) for line in run(path, "--from", "-10m", "--json", tool="triage").text.splitlines()]
    assert evidence(found_in(page)["full-file-system"], at) >= 95
    assert [line["line"] for line in page["top"]["lines"]] == [
        "cpu", "memory", "pressure", "disks", "network", "files", "errors"]
    full, = [each for figure in page["top"]["figures"] if figure["figure"] == "space"
             for each in figure["evidence"] if each["row"]["object"] == str(at)]
    assert full["value"] >= 95
    text = run(path, "--from", "-10m", tool="triage").text
    assert re.search(rf"^files +.*{re.escape(str(at))} [\d.]+ %", text, re.M), text
    assert run(path, "--from", "-10m", "-o", tmp_path / "page.html", tool="triage").code == 0
    page_text = html.unescape((tmp_path / "page.html").read_text())
    assert all(f"<td>{line['text']}</td>" in page_text for line in page["top"]["lines"])
    assert re.search(r"full-file-system .*is full to", run(path, tool="triage").text)


# --- cgroups ---------------------------------------------------------------------------------------

def kill_for_memory(ends, group):
    process = levels.child(ends, "sys.stdin.readline(); kept = b'x' * (64 << 20)")
    group.add(process.pid)
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.wait(tally.PATIENCE) == -9
    return process.pid


def test_a_kill_for_want_of_memory(tool, ends, cgroup, shown):
    version, group = levels.group_of(cgroup, "memory")
    if version != "v2" and "oom_kill " not in (group.path / "memory.oom_control").read_text():
        pytest.skip("this kernel does not count kills of a cgroup")
    levels.limit_memory(version, group)
    tracer = tool("--json", tool="triage")
    kill_for_memory(ends, group)
    found = found_in(page_of(tracer))
    assert evidence(found["cgroup-oom"], group.name) == 1 and found["cgroup-oom"]["level"] == "problem"
    victims = []
    reports = shown(about(found["cgroup-oom"], group.name), lambda: victims.append(kill_for_memory(ends, group)))
    lines = lines_of(reports, kind="oom")
    assert victims and [line for line in lines if line["for_pid"] == victims[0]], lines


# Reads a file again and again that is larger than its cgroup may be.
READER = """
import os
path, = sys.argv[1:]
sys.stdin.readline()
with open(path, 'rb', buffering=0) as file:
    for _ in range(int(sys.stdin.readline())):
        file.seek(0)
        while file.read(1 << 20):
            pass"""


def read_again(ends, group, path, times):
    process = levels.child(ends, READER, path)
    group.add(process.pid)
    process.stdin.write(f"\n{times}\n")
    process.stdin.flush()
    assert process.stdout.readline() == "ready\n"


def file_on_disk(ends, directory):
    """Larger than a cgroup of 16 MiB. Pages of tmpfs cannot be reclaimed."""
    disk = disks.loop(ends, directory, 96 << 20)
    disks.run("mkfs.ext4", "-q", disk.path)
    at = directory / "disk-with-a-file"
    at.mkdir()
    disks.run("mount", disk.path, at)
    ends.callback(disks.run, "umount", at)
    path = at / "data"
    path.write_bytes(b"x" * (48 << 20))
    disks.run("sync", "-f", at)
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    return path


@pytest.mark.parametrize("limit", ("max", "high"))
def test_a_cgroup_at_its_memory_limit(tool, ends, directory, cgroup, shown, limit):
    version, group = levels.group_of(cgroup, "memory")
    rule = "cgroup-memory"
    if limit == "high":
        if version != "v2":
            pytest.skip("memory.high is of v2")
        (group.path / "memory.high").write_text(str(16 << 20))
        rule = "cgroup-memory-high"
    else:
        levels.memory_limit(version, group).write_text(str(16 << 20))
    path = file_on_disk(ends, directory)
    tracer = tool("--json", tool="triage")
    read_again(ends, group, path, 10)
    found = found_in(page_of(tracer))
    assert rule in found, sorted(found)
    assert evidence(found[rule], group.name) >= found[rule]["notice"]
    stalls = shown(about(found[rule], group.name)[:-1], lambda: read_again(ends, group, path, 2))
    assert rows_of(stalls) or lines_of(stalls, kind="memcg"), stalls


def test_a_cgroup_at_its_io_limit(tool, ends, directory, cgroup):
    group, disk, written = levels.writer_at_io_max(ends, cgroup, directory, 50)
    tracer = tool("--json", tool="triage")
    first = written()
    tally.wait_until(lambda: written() - first > 100, "two seconds of writes")
    found = found_in(page_of(tracer))
    assert "io-limit" in found, sorted(found)
    assert f"{group.name} {disk.name}" in found["io-limit"]["sentence"]
    assert evidence(found["io-limit"], f"{group.name} {disk.name}") >= found["io-limit"]["notice"]


def test_a_cgroup_that_fills_with_threads(tool, ends, cgroup):
    """Below its limit it is no finding, but among what is nearest to one."""
    _, group = levels.group_of(cgroup, "pids")
    process = levels.child(ends, """
import threading
for _ in range(88):
    threading.Thread(target=threading.Event().wait, daemon=True).start()""")
    assert process.stdout.readline() == "ready\n"
    group.add(process.pid)
    (group.path / "pids.max").write_text("100")
    page = page_of(tool("--json", tool="triage"))
    near = {each["rule"]: each for each in page["nearest"]}
    assert near["cgroup-tasks"]["share"] == pytest.approx(89 / 90) and group.name in near["cgroup-tasks"]["next"], near
    assert "cgroup-tasks" not in found_in(page)


REFUSED = """
import os
sys.stdin.readline()
for n in range(3):
    try:
        if not os.fork():
            os._exit(0)
    except BlockingIOError:
        pass"""


def test_a_cgroup_without_room_for_a_process(tool, ends, cgroup, shown, run):
    """Three times refused, at the limit of one."""
    _, group = levels.group_of(cgroup, "pids")
    (group.path / "pids.max").write_text("1")

    def fork():
        process = levels.child(ends, REFUSED)
        group.add(process.pid)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"
        return process

    tracer = tool("--json", tool="triage")
    process = fork()
    found = found_in(page_of(tracer))
    assert evidence(found["forks-refused"], group.name) == 3 and found["forks-refused"]["level"] == "problem"
    assert evidence(found["cgroup-tasks"], group.name) == 100
    words = about(found["cgroup-tasks"], group.name)
    rows = run(*words[1:], "--json", tool=words[0]).report["rows"]
    assert [row["threads"] for row in rows] == [1], rows
    tally.end_process(process)
    calls = lines_of(shown(about(found["forks-refused"], group.name), fork))
    assert len(calls) == 3, calls


# --- the network -----------------------------------------------------------------------------------

def test_a_queue_of_connections_overflows(tool, ends, shown):
    with network.Own():
        sockets = network.Sockets(ends, *network.LOOPBACK["IPv4"])
        server = sockets.server(backlog=0)

        def connect():
            before = network.counter("netstat", "ListenOverflows")
            for _ in range(12):
                one = sockets.new()
                one.setblocking(False)
                one.connect_ex(server.getsockname())
            tally.wait_until(lambda: network.counter("netstat", "ListenOverflows") > before, "an overflow")

        tracer = tool("--json", tool="triage")
        connect()
        page = page_of(tracer)
        finding = found_in(page)["listen-queues"]
        assert finding["level"] == "problem", finding
        errors, = [figure for figure in page["top"]["figures"] if figure["figure"] == "errors"]
        shown_errors, = [line["text"] for line in page["top"]["lines"] if line["line"] == "errors"]
        for each in (each for each in errors["evidence"] if each["value"]):
            assert f"{each['row']['vital']} {each['value']:.0f}" in shown_errors, page["top"]
        assert {each["row"]["vital"] for each in errors["evidence"]} >= {"listen_overflows", "listen_drops"}
        assert {each["row"]["vital"] for each in finding["evidence"]} & {"listen_overflows", "listen_drops"}
        # The next command shows the listener at once, although all of its connections came before.
        reports = shown(shlex.split(finding["next"]), lambda: None)
        rows = [row for row in rows_of(reports) if (row["local"], row["lport"]) == server.getsockname()]
        assert rows and (rows[0]["backlog"], rows[0]["accepted"]) == (0, 0), reports
        assert rows[0]["waiting"] == rows[0]["max_queue"] == 1, reports


def tunnel(ends):
    """An interface whose packets nobody reads: its name."""
    try:
        fd = os.open("/dev/net/tun", os.O_RDWR)
    except OSError as error:
        pytest.skip(f"no tunnels: {error}")
    ends.callback(os.close, fd)
    name = fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH14x", b"tally%d", IFF_TUN | IFF_NO_PI))
    name = name[:16].rstrip(b"\0").decode()
    for words in (("addr", "add", "192.0.2.1/24", "dev", name), ("link", "set", name, "up")):
        subprocess.run(["ip", *words], check=True)
    return name


def test_an_interface_drops_packets(tool, ends, shown):
    """Its queue is full; the drops are those that netdrop shows the reason of."""
    with network.Own():
        name = tunnel(ends)

        def send():
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 << 20)
                for _ in range(3000):
                    try:
                        s.sendto(b"x", ("192.0.2.2", 9))
                    except OSError as error:
                        assert error.errno == errno.ENOBUFS

        def dropped():
            line = next(each for each in Path("/proc/thread-self/net/dev").read_text().splitlines() if name in each)
            return int(line.replace(":", " ").split()[12])

        tracer = tool("--json", tool="triage")
        send()
        assert dropped() > 1000
        finding = found_in(page_of(tracer))["interface-drops"]
        assert evidence(finding, name) > finding["notice"], finding
        rows = rows_of(shown(shlex.split(finding["next"]), send))
        assert sum(row["drops"] for row in rows if row["protocol"] == "udp" or "tun" in row["location"]) > 1000, rows


@tally.once
def test_a_cgroup_that_stands_still_for_want_of_memory(tool, run, directory):
    """A recording with memory stalls in half of one interval, and none later. Stalls for disks are no finding."""
    recording, microseconds = directory / "recording", 10**6
    made = levels.MadeUp(directory, "record")
    stalled = {f"{what}.pressure": levels.pressure(microseconds // 2, microseconds // 2) for what in ("memory", "io")}
    made.say({f"beside/{name}": levels.pressure(0, 0) for name in stalled})
    tracer = tool("-o", recording, "vitals", 1, 4, tool=str(made.program))
    made.say({f"beside/{name}": text for name, text in stalled.items()})
    assert tracer.wait().code == 0
    page = json.loads(run(recording, "--from", "-10m", "--json", tool="triage").text)
    found = found_in(page)
    finding = found["cgroup-memory-stalls"]
    assert evidence(finding, "/beside") == pytest.approx(100 * 5e8 / page["duration_ns"]), finding
    assert finding["level"] == "notice" and 10 < finding["value"] < 15, finding
    assert finding["next"] == "reclaim -G /beside 1" and not [name for name in found if "disk" in name], finding


# --- processes -------------------------------------------------------------------------------------

def test_a_process_near_its_limit_of_files(tool, ends, shown):
    """Before the first call fails. The next command counts what opens files, and what closes them."""
    process = levels.with_files(ends, 194, 200)
    found = found_in(page_of(tool("--json", tool="triage")))
    finding = found["process-descriptors"]
    assert evidence(finding, f"python3 ({process.pid})") == 97 and finding["level"] == "problem", finding
    first = finding["evidence"][0]["row"]["pid"]
    words = [str(os.getpid()) if word == str(first) else word for word in shlex.split(finding["next"])]

    def leak():
        for _ in range(7):
            ends.callback(os.close, os.open("/dev/null", os.O_RDONLY))

    calls = {row["syscall"]: row["calls"] for row in rows_of(shown(words[:-2], leak))}
    assert words[-2] == "-d" and calls["openat"] - calls.get("close", 0) == 7, calls


# --- figures that this machine is not brought to -----------------------------------------------------------

STAT = "/proc/stat"


def cpu_line(path, more):
    """The text of /proc/stat with so much more of each kind of time."""
    lines = Path(path).read_text().splitlines(True)
    numbers = lines[0].split()[1:]
    lines[0] = "cpu  " + " ".join(str(int(n) + more.get(at, 0)) for at, n in enumerate(numbers)) + "\n"
    return "".join(lines)


def pressure(total):
    return f"some avg10=0 avg60=0 avg300=0 total={total}\nfull avg10=0 avg60=0 avg300=0 total={total}\n"


@tally.once
def test_figures_of_another_machine(tool, directory, run):
    """Texts in place of the kernel's: steal, stalls, open files, tasks, connections that are tracked. A figure
    below its limit is no finding."""
    if not Path("/proc/pressure/io").exists():
        pytest.skip("no pressure here")
    user, idle, steal = 0, 3, 7
    texts = {
        STAT: cpu_line(STAT, {}),
        "/proc/pressure/memory": pressure(0),
        "/proc/pressure/io": pressure(0),
        "/proc/sys/fs/file-nr": "950\t0\t1000\n",
        "/proc/sys/kernel/pid_max": "10\n",
    }
    tracked = "/proc/sys/net/netfilter/nf_conntrack_count"
    if Path(tracked).exists():
        texts[tracked] = "995\n"
        texts[tracked.replace("count", "max")] = "1000\n"

    def look(shares, stalled):
        """With so many percent of the CPUs' time in each kind, and of the time stalled for memory and disks."""
        faked = levels.Faked(directory, "triage", texts)
        tracer = tool("--json", tool=str(faked.program))
        faked.say(STAT, cpu_line(faked.files[STAT], shares))
        for name, us in stalled.items():
            faked.say(f"/proc/pressure/{name}", pressure(us))
        return page_of(tracer)

    page = look({user: 100, steal: 100}, {"memory": 10 ** 9, "io": 10 ** 9})
    found = found_in(page)
    assert found["steal"]["level"] == "problem" and found["steal"]["value"] == 50, found["steal"]
    assert found["descriptors"]["level"] == "notice" and found["descriptors"]["value"] == 95, found["descriptors"]
    assert found["tasks"]["level"] == "problem" and found["tasks"]["evidence"][0]["row"]["vital"] == "pids"
    assert {"memory-stalls", "disk-stalls"} <= set(found), found
    if tracked in texts:
        assert found["connection-tracking"]["value"] == 99.5
    for name in "steal", "descriptors", "tasks", "connection-tracking", "memory-stalls", "disk-stalls":
        if name in found:
            words = shlex.split(found[name]["next"])
            ran = run(*[word for word in words[1:] if word != "1"], "-d", "0.2", tool=words[0])
            assert ran.code == 0, ran
    texts.update({"/proc/sys/fs/file-nr": "899\t0\t1000\n", "/proc/sys/kernel/pid_max": "1000\n",
                  "/proc/loadavg": "0.10 0.10 0.10 1/890 1234\n"})
    page = look({idle: 900, steal: 100}, {})
    found = found_in(page)
    near = {each["rule"]: each["share"] for each in page["nearest"]}
    assert near["tasks"] == pytest.approx(89 / 90), near
    assert not {"steal", "descriptors", "tasks", "memory-stalls", "disk-stalls"} & set(found), found
