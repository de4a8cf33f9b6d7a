# SPDX-License-Identifier: BSD-2-Clause
"""bpftop: programs that run a known number of times, compared with bpftool's figures for the same window."""

import json
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import cgroups
import tally
from filters import Filters
from probing import binary

BPFTOOL = shutil.which("bpftool") or "/usr/sbin/bpftool"
N = 1000
HOSTILE = b'\x1b[31m\xff\x9b;"'


def bpftool(*words):
    said = subprocess.run([BPFTOOL, "-j", *map(str, words)], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(said)


@pytest.fixture
def filters(ends):
    def start(*names, **kwargs):
        each = Filters(*names, **kwargs)
        ends.callback(each.close)
        return each

    return start


def rows_of(report, ids):
    return [row for row in report["rows"] if row["id"] in ids]


def row_of(report, number):
    row, = rows_of(report, (number,))
    return row


@pytest.mark.everywhere
@pytest.mark.exact
def test_runs_are_those_of_the_datagrams(tool, filters):
    """Also the time between two readings of bpftool around them, the owner of the descriptor, and the age."""
    load = filters("counts_them")
    tracer = tool("--json", tool="bpftop")
    before = bpftool("prog", "show", "id", load.ids[0])
    load.tell("send", N)
    after = bpftool("prog", "show", "id", load.ids[0])
    report = tracer.stop().report
    row = row_of(report, load.ids[0])
    assert row["runs"] == N == after["run_cnt"] - before.get("run_cnt", 0)
    assert row["time"] == after["run_time_ns"] - before.get("run_time_ns", 0) > 0
    assert (row["type"], row["name"]) == ("socket_filter", "counts_them") == (after["type"], after["name"])
    assert (row["pid"], row["owner"], row["owners"], row["held_by"]) == (load.pid, "python3", 1, "process")
    assert (row["uid"], row["state"], row["attached"], row["attachments"]) == (0, None, None, 0)
    assert row["avg"] == row["time"] // N and report["events"] >= N
    assert row["cpu_percent"] == pytest.approx(100 * row["time"] / report["duration_ns"])
    assert row["machine_percent"] == pytest.approx(row["cpu_percent"] / report["cpus"])
    assert row["per_second"] == pytest.approx(N * 1e9 / report["duration_ns"])
    assert row["misses"] == (0 if tally.KERNEL >= (5, 12) else None)
    assert row["age"] > report["duration_ns"]


@pytest.mark.everywhere
@pytest.mark.exact
def test_a_probe_and_its_owner(tool, trigger):
    """A program of another tracer, at a function that only the trigger calls."""
    load = trigger("calls", N, 1, 1)
    other = tool("-x", binary("calls"), "known_function", "--count", tool="probe")
    tracer = tool("--json", tool="bpftop")
    load.go()
    calls = load.done()[0]
    theirs = [row for row in tracer.stop().report["rows"] if row["pid"] == other.pid]
    assert sum(row["runs"] for row in theirs) == calls
    ran, = (row for row in theirs if row["runs"])
    assert ran["owner"] == "probe" and ran["held_by"] == "process"
    # Kernels before 5.15 have perf events instead of links; links name their place since 6.8.
    assert ran["attached"].startswith("uprobe") or (5, 15) <= tally.KERNEL < (6, 8), ran
    assert str(binary("calls")) in ran["attached"] or tally.KERNEL < (6, 8), ran


def test_what_bpftool_says(tool, run):
    """Names longer than 15 bytes, places, and the memory of programs and of maps, for all programs of a tracer."""
    other = tool(tool="reclaim")
    rows = {row["id"]: row for row in run("--json", "-d", 0.1, tool="bpftop").report["rows"] if row["pid"] == other.pid}
    theirs = {p["id"]: p for p in bpftool("prog", "show") if p["id"] in rows}
    assert len(theirs) == len(rows) > 3 and any(len(row["name"]) > 15 for row in rows.values())
    memory = {m["id"]: m["bytes_memlock"] for m in bpftool("map", "show")}
    for number, program in theirs.items():
        row = rows[number]
        assert (row["name"], row["type"], row["memory"]) == (program["name"], program["type"], program["bytes_memlock"])
        assert row["maps"] == sum(memory[each] for each in program.get("map_ids", ()))
    places = {link["prog_id"]: link for link in bpftool("link", "show") if link.get("prog_id") in rows}
    told = {number: f":{link['tp_name']}" for number, link in places.items() if "tp_name" in link}
    assert told and all(rows[number]["attached"] in (f"tp_btf{name}", f"raw_tp{name}") for number, name in told.items())
    attached = {number for number, row in rows.items() if row["attachments"]}
    assert attached == set(places)


@pytest.mark.exact
def test_programs_that_come_and_go(tool, filters):
    """They are shown from their load until their end; rows are marked as new and as ended."""
    tracer = tool("--json", "0.3", tool="bpftop")
    load = filters("comes_and_goes")
    load.tell("send", N)
    tracer.await_lines(2)
    load.close()
    tracer.await_lines(2)
    rows = [row for report in tracer.stop().reports for row in rows_of(report, load.ids)]
    assert sum(row["runs"] for row in rows) == N
    states = [row["state"] or "" for row in rows]
    assert "new" in states[0] and "ended" in states[-1] and len(rows) >= 2
    assert not any(states[1:-1]) and all(row["pid"] == load.pid for row in rows)


@pytest.mark.exact
def test_programs_that_nobody_saw(tool, filters):
    """Gaps in ids count them. They include programs of others that came and went between two looks."""
    load = filters("stays")
    tracer = tool("--json", tool="bpftop")
    load.tell("lose", N)
    report = tracer.stop().report
    seen = sum(row["name"] == "is_lost" for row in report["rows"])
    unseen = int(re.match(r"at least (\d+) programs were loaded and unloaded between two samples, at least",
                          report["note"])[1])
    assert unseen + seen >= N and seen < N // 2


def test_held_by_a_map(run, filters):
    """The descriptor of the program is closed: the socket keeps it, and its map belongs to the process."""
    load, bare = filters("with_a_map", maps=2), filters("without_one")
    load.tell("close")
    bare.tell("close")
    report = run("--json", "-d", 0.1, tool="bpftop").report
    row, none = row_of(report, load.ids[0]), row_of(report, bare.ids[0])
    assert (row["held_by"], row["pid"], row["owner"]) == ("map", load.pid, "python3")
    assert (none["held_by"], none["pid"], none["owner"], none["owners"]) == (None, None, None, 0)


def test_hostile_owners(run, filters, directory, ends):
    """A comm and a pin's path with blanks and bytes that steer terminals: never raw in any output, but distinct."""
    pins = directory / "the pins"
    pins.mkdir()
    subprocess.run(["mount", "-t", "bpf", "bpf", pins], check=True)
    ends.callback(subprocess.run, ["umount", pins], check=True)
    load, pinned = filters("of_hostile", comm=HOSTILE), filters("of_hostile")
    pinned.tell("pin", pins / "\x1b[31mred")
    pinned.tell("close")
    pinned.close()
    text = run("-d", 0.1, "--top", 10000, tool="bpftop")
    assert text.code == 0 and not any(byte in text.stdout for byte in (b"\x1b", b"\xff", b"\x9b")), text.stdout
    report = run("--json", "-d", 0.1, tool="bpftop").report
    row, pin = row_of(report, load.ids[0]), row_of(report, pinned.ids[0])
    assert (row["owner"], row["held_by"], row["pid"]) == (r'\x1b[31m\xff\x9b;"', "process", load.pid)
    assert (pin["owner"], pin["held_by"], pin["pid"]) == (rf"{pins}/\x1b[31mred", "pin", None)


def test_rows_of_several_programs(tool, filters):
    """Sums by owner and by type; maps that programs share count once."""
    load = filters("one", "another", maps=2, comm=b"owns_two")
    tracers = [tool("--json", *by, tool="bpftop") for by in ((), ("--by", "owner"), ("--by", "type"))]
    load.tell("send", N)
    apart, by_owner, by_type = (tracer.stop().report for tracer in tracers)
    rows = rows_of(apart, load.ids)
    row, = (row for row in by_owner["rows"] if row["owner"] == "owns_two")
    assert [each["runs"] for each in rows] == [N, N] and (row["runs"], row["programs"]) == (2 * N, 2)
    assert row["memory"] == sum(each["memory"] for each in rows)
    assert rows[0]["maps"] == rows[1]["maps"] == row["maps"] == sum(
        bpftool("map", "show", "id", number)["bytes_memlock"] for number in load.maps)
    row, = (row for row in by_type["rows"] if row["type"] == "socket_filter")
    assert row["runs"] >= 2 * N and row["programs"] >= 2


def test_others(run):
    """One of two measurements in a run leaves out the programs of a third."""
    result = run("--json", "-d", 0.2, "bpftop", "bpftop --others", "syscount", tool="run")
    reports = {report["command"]: report for report in result.reports if "command" in report}
    everyone, others = ({row["id"]: row for row in reports[line]["rows"]} for line in ("bpftop", "bpftop --others"))
    ours = {number for number, row in everyone.items() if row["name"] == "count_exit" and row["owner"] == "run"}
    assert ours and not ours & set(others), (everyone, others)


def test_a_cgroup_without_a_link(run, filters, cgroup):
    found = [each for each in cgroups.hierarchies() if each.name == "v2"]
    if not found:
        pytest.skip("no hierarchy of v2")
    group, load = cgroup(found[0], "filtered"), filters()
    number = int(load.tell("attach", group.path))
    row = row_of(run("--json", "-d", 0.1, tool="bpftop").report, number)
    if tally.KERNEL >= (6, 1):          # before, bpftool fails at kinds that the kernel does not know
        assert [each["id"] for each in bpftool("cgroup", "show", group.path)] == [number]
    assert row["attached"].endswith(f"ingress:{group.name}") and row["attachments"] == 1, row


def is_counted(load):
    """Whether statistics count its program now."""
    before = bpftool("prog", "show", "id", load.ids[0]).get("run_cnt", 0)
    load.tell("send", 10)
    return bpftool("prog", "show", "id", load.ids[0]).get("run_cnt", 0) != before


def test_statistics_end_with_it(tool, filters):
    """Somebody else on this machine may have statistics enabled, too, for a while."""
    load = filters("is_counted")
    switch = Path("/proc/sys/kernel/bpf_stats_enabled")
    was = switch.read_text()
    tally.wait_until(lambda: not is_counted(load), "runs are counted before")
    tracer = tool(tool="bpftop")
    assert is_counted(load) and switch.read_text() == was
    tracer.stop()
    tally.wait_until(lambda: not is_counted(load), "runs are counted afterwards")
    assert switch.read_text() == was


def test_statistics_end_with_the_slice(tool, filters):
    """The run goes on, but the kernel no longer counts."""
    load = filters("is_counted")
    tracer = tool("--slices", tool="bpftop")
    tally.wait_until(lambda: not is_counted(load), "runs are counted behind the slice")
    assert tracer.process.poll() is None


@pytest.mark.exact
def test_the_whole_is_estimated_from_the_slice(tool, filters):
    def trial():
        load = filters("in_the_slice")
        tracer, began = tool("--json", "--slices", tool="bpftop"), time.monotonic()
        load.tell("send", N)
        if time.monotonic() - began > 0.8:
            raise tally.Blurred
        time.sleep(1.5)
        load.tell("send", N)                    # not seen: the slice is a second long
        report = tracer.stop().report
        row, part = row_of(report, load.ids[0]), report["measured_ns"] / report["duration_ns"]
        assert 1e9 <= report["measured_ns"] < report["duration_ns"]
        assert row["runs"] == pytest.approx(N / part, abs=1)
        assert row["avg"] == pytest.approx(row["time"] / row["runs"], abs=1)

    tally.steady(trial)
