# SPDX-License-Identifier: BSD-2-Clause
"""--by container and --by unit, compared with --by cgroup in the same run, in each kind of tool, with cgroups that
are named like those of container runtimes and systemd."""

import contextlib
import csv
import io
import json
import os
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path

import pytest

import cgroups
import schema
import tally
from tally import once

pytestmark = pytest.mark.exact

WEB = "4f2a9c0d1e3b5f67a8091b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60"
DB = "b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecf"
POD = "3c2f1e90_7a64_4f0e_9d0c_5b8a1f2e3d4c"
GETPPID = 110

# Each cgroup, its container and its unit.
GROUPS = {
    f"docker/{WEB}/init": (WEB[:12], "-"),
    f"docker/{WEB}/worker": (WEB[:12], "-"),
    f"system.slice/docker-{WEB}.scope": (WEB[:12], f"docker-{WEB}.scope"),
    f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{POD}.slice/cri-containerd-{DB}.scope":
        (DB[:12], f"cri-containerd-{DB}.scope"),
    f"user.slice/user-4123456789.slice/user@4123456789.service/user.slice/libpod-{WEB}.scope/container":
        (f"4123456789/{WEB[:12]}", f"libpod-{WEB}.scope"),
    "lxc.payload.box/system.slice/nginx.service": ("box", "nginx.service"),
    "machine.slice/machine-my\\x2dbox.scope": ("my-box", r"machine-my\x5cx2dbox.scope"),
    "system.slice/nginx.service": ("-", "nginx.service"),
    "system.slice/nginx.service/workers": ("-", "nginx.service"),
    "plain": ("-", "-"),
}


def calls(i):
    """A number of calls that no other process makes."""
    return "syscalls", 2, f"{GETPPID}:{200 + 10 * i}"


def naps(i):
    return "sleepers", 2, 30 + i, 100, -1


def writes(i):
    return "files", "open", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, "/tmp/tally-test-containers", "write", 20 + i, 100


class Scene:
    """A process in each of those cgroups, each with its own amount of work."""

    def __init__(self, ends, names=GROUPS, does=calls):
        self.loads, self.container, self.unit = [], {}, {}
        for i, name in enumerate(names):
            group = cgroups.Cgroup(cgroups.default_hierarchy(), name)
            ends.callback(group.remove)
            load = tally.Trigger(*does(i))
            ends.callback(load.close)
            group.add(load.pid)
            load.settle()
            self.loads.append(load)
            shown = group.name.replace("\\", r"\x5c")
            self.container[shown], self.unit[shown] = GROUPS[name]
        self.pids = ",".join(str(load.pid) for load in self.loads)

    def work(self):
        for load in self.loads:
            load.go()
        for load in self.loads:
            load.done()
        for load in self.loads:
            load.settle()


def parts(report):
    """(key, figures that add up) of each part of a report, whatever its kind."""
    for group in report.get("groups", ()):
        yield group["key"], {"count": group["count"], "sum": group["sum"]}
    for row in report.get("rows", ()):
        yield row, {name: value for name, value in row.items() if type(value) is int}
    for stack in report.get("stacks", ()):
        yield stack["key"], {"value": stack["value"]}


def sums(report, of, columns):
    """{of(key): Counter of columns} of a report, without keys whose figures are all 0."""
    found = {}
    for key, figures in parts(report):
        found.setdefault(of(key), Counter()).update({name: figures[name] for name in columns})
    return {name: each for name, each in found.items() if any(each.values())}


# A line for each kind of tool, with the figures that add up and in which two measurements of one run agree.
TOOLS = {
    "runqlat --source accounting": (naps, "count", "sum"),
    "cpudist": (naps, "count", "sum"),
    "schedlat --source accounting": (naps, "switches", "runtime", "wait"),
    "syscount -e getppid": (calls, "calls", "errors"),
    "syscount --latency -e getppid": (calls, "calls"),
    "syscount --hist -e getppid": (calls, "count"),
    "stat -e syscalls:sys_enter_getppid": (calls, "count"),
    "stackcount -K syscalls:sys_enter_getppid": (calls, "value"),
    "faults": (lambda i: ("pages", 0, 0, 50 + i, 0, 0, 0, 0), "faults", "minor"),
    "kmem": (writes, "allocs", "requested"),
    "fsdist": (writes, "count"),
    "filetop": (writes, "writes", "write_bytes"),
    "migrations": (lambda i: ("migrate", 1, 5 + i), "count"),
    "probe syscalls:sys_enter_getppid": (calls, "count"),
    "probe syscalls:sys_enter_getppid --sum tid": (calls, "count", "sum"),
    "probe syscalls:sys_enter_getppid --hist tid": (calls, "count", "sum"),
}


def run_lines(tool, scene, line, keys):
    """The reports of one run, which measures the line by each of those keys."""
    tracer = tool("--json", "-p", scene.pids, *(f"{line} --by {key}" for key in keys), tool="run")
    scene.work()
    result = tracer.stop()
    assert result.code == 0, result
    for report in result.reports:
        schema.check(report)
    return dict(zip(keys, result.reports))


@once
@pytest.mark.parametrize("line", TOOLS)
def test_sums_are_those_of_cgroups(tool, ends, line):
    """Rows of cgroups with the same name are added up, and the total does not change."""
    tally.steady(lambda: check_sums(tool, ends, line))


def check_sums(tool, ends, line):
    does, *columns = TOOLS[line]
    with contextlib.ExitStack() as trial:
        scene = Scene(trial, does=does)
        reports = run_lines(tool, scene, line, ("cgroup", "container", "unit", "container,unit", "cgroup,unit"))
    by_cgroup = reports["cgroup"]
    lost = {reason for report in reports.values() for reason, n in tally.flaws(report).items() if n}
    # The kernel has skipped a program of one of them, in an interrupt, or since 7.0 in another task.
    if lost == {"recursion"}:
        raise tally.Blurred
    # In the scheduler the kernel takes memory for a key from a reserve, which others may have used up.
    tally.within("no_memory" not in lost, lost)
    assert not lost, reports
    names = {
        "cgroup": lambda key: key["cgroup"],
        "container": lambda key: scene.container[key["cgroup"]],
        "unit": lambda key: scene.unit[key["cgroup"]],
        "container,unit": lambda key: (scene.container[key["cgroup"]], scene.unit[key["cgroup"]]),
        "cgroup,unit": lambda key: (key["cgroup"], scene.unit[key["cgroup"]]),
    }
    shown = {
        "cgroup": lambda key: key["cgroup"],
        "container": lambda key: key["container"],
        "unit": lambda key: key["systemd_unit"],
        "container,unit": lambda key: (key["container"], key["systemd_unit"]),
        "cgroup,unit": lambda key: (key["cgroup"], key["systemd_unit"]),
    }
    for by, report in reports.items():
        found = sums(report, shown[by], columns)
        assert found == sums(by_cgroup, names[by], columns), by
        assert report.get("events") == by_cgroup.get("events")
    # A name has one row, or one for each of the tool's own keys.
        seen = [(shown[by](key), key.get("op"), key.get("from"), key.get("to")) for key, _ in parts(report)]
        assert "stacks" in report or len(seen) == len(set(seen)), by
    for by, wanted in (("container", scene.container), ("unit", scene.unit)):
        assert set(sums(reports[by], shown[by], columns)) == set(wanted.values())


@once
def test_members_of_keys(tool, ends):
    """The id is next to the name."""
    scene = Scene(ends)
    report = run_lines(tool, scene, "syscount -e getppid", ("container",))["container"]
    ids = {row["container"]: row["container_id"] for row in report["rows"]}
    assert ids == {WEB[:12]: WEB[:12], DB[:12]: DB[:12], f"4123456789/{WEB[:12]}": WEB[:12], "box": "box",
                   "my-box": "my-box", "-": "-"}


@once
def test_formats(tool, ends):
    """--top, and formats for people, spreadsheets and monitoring: only programs get the id."""
    scene = Scene(ends)
    formats = {"text": ("--format", "text"), "csv": ("--csv",), "metrics": ("--format", "openmetrics"),
               "top": ("--json", "--top", 1)}
    tracers = {name: tool("-p", scene.pids, "-e", "getppid", "--by", "container,unit", *args, tool="syscount")
               for name, args in formats.items()}
    scene.work()
    results = {name: tracer.stop() for name, tracer in tracers.items()}
    assert all(result.code == 0 for result in results.values()), results
    text = results["text"].text
    assert WEB[:12] in text and "nginx.service" in text and "container_id" not in text
    rows = list(csv.DictReader(io.StringIO(results["csv"].text)))
    assert {(row["container"], row["systemd_unit"]) for row in rows} >= {
        ("box", "nginx.service"),
        ("-", "nginx.service"),
        ("-", "-"),
    }
    assert all(row["container_id"] in row["container"] for row in rows)
    metrics = results["metrics"].text
    assert re.search(r'\{container="box",container_id="box",systemd_unit="nginx.service"[,}]', metrics), metrics
    top = results["top"].report
    assert len(top["rows"]) == 1 and top["hidden"] == len(set(GROUPS.values())) - 1


@once
def test_stacks_of_a_unit_are_one(tool, ends):
    """In trees and folded lines the key is the unit, and nothing else."""
    scene = Scene(ends, ("system.slice/nginx.service", "system.slice/nginx.service/workers", "plain"))
    tracer = tool(
        "-p", scene.pids, "--by", "unit", "-K", "--format", "folded", "syscalls:sys_enter_getppid", tool="stackcount"
    )
    scene.work()
    found = Counter()
    for line in tracer.stop().text.splitlines():
        stack, _, value = line.rpartition(" ")
        found[stack.split(";")[0]] += int(value)
    assert found == {"nginx.service": 2 * (200 + 210), "-": 2 * 220}


class Short:
    """A cgroup that may go before the run ends. It has one process for each time that it works."""

    def __init__(self, ends, name, times=1):
        self.group = cgroups.Cgroup(cgroups.default_hierarchy(), name)
        self.loads = []
        ends.callback(self.remove)
        for _ in range(times):
            self.loads.append(tally.Trigger("syscalls", 1, f"{GETPPID}:100"))
            self.group.add(self.loads[-1].pid)
        self.pids = ",".join(str(load.pid) for load in self.loads)
        self.waiting = list(self.loads)

    def work(self):
        load = self.waiting.pop()
        load.go()
        load.done()
        load.settle()

    def remove(self):
        for load in self.loads:
            load.close()
        self.group.remove()
        self.group.made = []


def by_container(report):
    return {row["container"]: row["calls"] for row in report["rows"]}


@once
def test_what_is_gone_before_the_report_has_no_name(tool, ends):
    """Neither a container's nor the host's."""
    stays, gone = Short(ends, "plain"), Short(ends, f"docker/{WEB}")       # the run does not end with it
    tracer = tool(
        "--json", "-e", "getppid", "--by", "container,unit", "-p", f"{gone.pids},{stays.pids}", tool="syscount"
    )
    gone.work()
    gone.remove()
    (row,) = tracer.stop().report["rows"]
    assert re.fullmatch(r"\(removed, id \d+\)", row["container"]) and row["systemd_unit"] == row["container"]
    assert row["container_id"] == "-" and row["calls"] == 100


@once
def test_what_was_in_a_report_keeps_its_name(tool, ends):
    """A container that ends during an interval still has its name in it."""
    stays, gone = Short(ends, "lxc.payload.box", 3), Short(ends, f"docker/{WEB}", 2)
    tracer = tool(
        "--json", "-I", 300, "-e", "getppid", "--by", "container", "-p", f"{gone.pids},{stays.pids}", tool="syscount"
    )
    gone.work()
    stays.work()
    tracer.await_lines(2)
    gone.work()
    stays.work()
    gone.remove()
    tracer.await_lines(2)
    found = Counter()
    for report in tracer.stop().reports:
        found.update(by_container(report))
    assert found == {WEB[:12]: 200, "box": 200}


@pytest.fixture
def docker(ends):
    """Docker's own files of a container: docker(id, name). Not where there is a Docker that could read them."""
    folder = Path("/var/lib/docker")
    if folder.exists():
        pytest.skip("there is a Docker here")
    ends.callback(shutil.rmtree, folder)

    def name(container, text):
        path = folder / "containers" / container
        path.mkdir(parents=True)
        (path / "config.v2.json").write_text(json.dumps({"ID": container, "Name": text, "State": {"Running": True}}))

    return name


@once
def test_names_of_docker(tool, ends, docker):
    """By name if there is one; a name that Docker would refuse is not used."""
    docker(WEB, "/tally-web")
    docker(DB, "/\x1b[31mred")
    scene = Scene(ends, (f"docker/{WEB}/init", f"system.slice/docker-{WEB}.scope"))
    other = Short(ends, f"docker/{DB}")
    tracer = tool("--json", "-e", "getppid", "--by", "container", "-p", f"{scene.pids},{other.pids}", tool="syscount")
    scene.work()
    other.work()
    found = {(row["container"], row["container_id"]): row["calls"] for row in tracer.stop().report["rows"]}
    assert found == {("tally-web", WEB[:12]): 2 * (200 + 210), (DB[:12], DB[:12]): 100}


@once
@pytest.mark.parametrize("line, why", (
    ("netdrop", "keys"), ("hardirqs", "keys are cpu, "), ("runqlen", "unknown key 'KEY'"),
    ("tcprtt", "keys are local, "),
    ("probe sched:sched_wakeup", "describes a task other than the current one and does not give its KEY"),
))
def test_refused_where_there_is_no_cgroup(run, line, why):
    """As for cgroup; in probe, at events that concern another task."""
    name, *args = shlex.split(line)
    for key in ("container", "unit"):
        refused = run("-d", "0.1", *args, "--by", key, tool=name)
        assert refused.code == 2 and why.replace("KEY", key) in refused.stderr, refused
