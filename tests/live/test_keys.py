# SPDX-License-Identifier: BSD-2-Clause
"""--by: each key compared with /proc of the same tasks, with one load for all of them."""

import contextlib
import os
import pwd
from pathlib import Path

import pytest

import cgroups
import tally
from accounts import check, exactly, work
from tally import NOBODY, by_key, count, flaws, scaled, total, wait_ns

pytestmark = pytest.mark.exact

KEYS = ("cpu", "cgroup", "pidns", "uid", "pid", "tid", "comm")
COLUMNS = ("count", "sum", "min", "avg", "max", "p50", "p90", "p99", "p999")

# The runs, all of them at the same time.
RUNS = {
    "total": (),
    **{key: ("--by", key) for key in KEYS},
    "cpu,uid": ("--by", "cpu,uid"),
    "pid,comm": ("--by", "pid,comm"),
    "all": ("--by", ",".join(KEYS)),
    "repeated": ("--by", "pid", "--by", "tid"),
    "-P": ("-P",),
    "-L": ("-L",),
    "-PL": ("-PL",),
    "top 2": ("--by", "tid", "--top", 2),
    "top 100": ("--by", "tid", "--top", 100),
    **{f"sort {column}": ("--by", "tid", "--sort", column, "--top", 5)
       for column in (*COLUMNS, "key")},
}


class Scene:
    """Three processes that differ in every key, the reports on them, and the truth."""

    def __init__(self, ends):
        hierarchy = cgroups.default_hierarchy()
        group = cgroups.Cgroup(hierarchy, "keys")
        ends.callback(group.remove)
        self.loads = []
        for args, kwargs in (
                (("spin", 3, 25, 0), {"comm": "alpha"}),
                (("sleepers", 4, scaled(60), 100, 1), {"comm": "beta", "user": NOBODY}),
                (("spin", 2, 25, 0), {"command": ("unshare", "--pid", "--fork"), "forks": True})):
            self.loads.append(tally.Trigger(*args, **kwargs))
            ends.callback(self.loads[-1].close)
        group.add(self.loads[1].pid)
        self.path = group.name

        scope = ("--json", "--source", "accounting", "-p", ",".join(str(load.pid) for load in self.loads))
        tracers = {}
        for name, args in RUNS.items():
            tracers[name] = tally.Tool(*scope, *args)
            ends.callback(tracers[name].close)
            tracers[name].ready()
        self.work = work(*self.loads)
        self.truth = {tid: self.describe(load, tid) for load in self.loads
                      for tid in load.tids()}
        self.reports = {name: tracer.stop().report for name, tracer in tracers.items()}
        for report in self.reports.values():
            self.work.blurred |= any(flaws(report).values())

    def describe(self, load, tid):
        """All keys of a thread, from /proc and from the way it was started."""
        status = dict(line.split(":\t", 1) for line in
                      Path(f"/proc/{tid}/status").read_text().splitlines() if ":\t" in line)
        lines = [line.strip().split(":", 2) for line in
                 Path(f"/proc/{tid}/cgroup").read_text().splitlines()]
        name = cgroups.default_hierarchy().name
        paths = [path for _, controllers, path in lines
                 if controllers == "" and name == "v2" or name in controllers.split(",")]
        return {
            "cpu": int(status["Cpus_allowed_list"]),
            "cgroup": paths[0],
            "pidns": os.stat(f"/proc/{tid}/ns/pid").st_ino,
            "uid": int(status["Uid"].split()[0]),
            "pid": int(status["Tgid"]),
            "tid": tid,
            "comm": status["Name"],
        }

    def expected(self, *keys):
        """The expected groups, {key: Books}."""
        found = {}
        for tid, truth in self.truth.items():
            if self.work.grown[tid].count:
                key = tuple(truth[k] for k in keys) if len(keys) > 1 else truth[keys[0]]
                found.setdefault(key, []).append(self.work.grown[tid])
        return {key: total(books) for key, books in found.items()}


@pytest.fixture(scope="module")
def scene():
    found = []
    with contextlib.ExitStack() as ends:

        def trial():
            ends.close()
            found[:] = [Scene(ends)]
            return found[0].work

        exactly(trial)
        yield found[0]


def check_groups(scene, run, *keys):
    groups = by_key(scene.reports[run], *keys)
    expected = scene.expected(*keys)
    assert set(groups) == set(expected)
    for key, grown in expected.items():
        check(scene.reports[run], scene.work, grown, [groups[key]])


def test_the_scene_has_different_values_for_each_key(scene):
    for key in KEYS:
        assert len({truth[key] for truth in scene.truth.values()}) > 1, key


@pytest.mark.parametrize("key", KEYS)
def test_key(scene, key):
    check_groups(scene, key, key)


@pytest.mark.parametrize("run, keys", (
    ("cpu,uid", ("cpu", "uid")), ("pid,comm", ("pid", "comm")), ("all", KEYS),
    ("repeated", ("pid", "tid")), ("-P", ("pid",)), ("-L", ("tid",)), ("-PL", ("pid", "tid")),
))
def test_keys_together(scene, run, keys):
    check_groups(scene, run, *keys)


@pytest.mark.parametrize("run", RUNS)
def test_groups_add_up_to_the_total(scene, run):
    report, whole = scene.reports[run], scene.reports["total"]
    assert report["events"] == whole["events"]
    if "hidden" not in report:
        assert wait_ns(report["groups"]) == wait_ns(whole["groups"])
        assert tally.buckets(report["groups"]) == tally.buckets(whole["groups"])
        assert min(g["min"] for g in report["groups"]) == whole["groups"][0]["min"]
        assert max(g["max"] for g in report["groups"]) == whole["groups"][0]["max"]


def test_a_run_without_keys_has_one_group_with_an_empty_key(scene):
    assert [g["key"] for g in scene.reports["total"]["groups"]] == [{}]


def test_members_of_keys(scene):
    """Each key has its members: pids and tids have a name, uids have one if they are known."""
    for run, labels in (("cpu", {"cpu"}), ("cgroup", {"cgroup"}), ("pidns", {"pidns"}),
                        ("uid", {"uid", "user"}), ("pid", {"pid", "comm"}),
                        ("tid", {"tid", "comm"}), ("comm", {"comm"}), ("all", {*KEYS, "user"})):
        for group in scene.reports[run]["groups"]:
            assert set(group["key"]) == labels, run


def test_names_of_users(scene):
    for uid, group in by_key(scene.reports["uid"], "uid").items():
        assert group["key"]["user"] == pwd.getpwuid(uid).pw_name


def test_names_of_pids_are_those_of_the_tasks(scene):
    for tid, group in by_key(scene.reports["tid"], "tid").items():
        assert group["key"]["comm"] == scene.truth[tid]["comm"]
    for pid, group in by_key(scene.reports["pid"], "pid").items():
        assert group["key"]["comm"] == scene.truth[pid]["comm"]


def test_groups_come_largest_sum_first(scene):
    """Except CPUs, which have their own order."""
    for run in ("tid", "pid", "comm", "all"):
        sums = [g["sum"] for g in scene.reports[run]["groups"]]
        assert sums == sorted(sums, reverse=True), run
    cpus = [g["key"]["cpu"] for g in scene.reports["cpu"]["groups"]]
    assert cpus == sorted(cpus)


@pytest.mark.parametrize("column", COLUMNS)
def test_sort(scene, column):
    """The largest first; if equal, the smaller key first."""
    every = scene.reports["tid"]["groups"]
    wanted = sorted(every, key=lambda g: (-g[column], g["key"]["tid"]))[:5]
    assert scene.reports[f"sort {column}"]["groups"] == wanted


def test_sort_by_key(scene):
    wanted = sorted(scene.reports["tid"]["groups"], key=lambda g: g["key"]["tid"])[:5]
    assert scene.reports["sort key"]["groups"] == wanted


def test_top(scene):
    """Groups that are not shown still count: among the events, and as hidden groups."""
    every, few = scene.reports["tid"], scene.reports["top 2"]
    assert few["groups"] == every["groups"][:2]
    assert few["hidden"] == len(every["groups"]) - 2
    assert few["events"] == every["events"] == count(every["groups"])
    assert "hidden" not in scene.reports["top 100"]


def test_names_of_threads_and_of_their_process(tool, trigger):
    """By tid a thread's own name, by pid that of the process's main thread, by comm each name
    once; and the name is that at the time of the event."""
    names = (b"first", b"second", b"second", b"third")
    load = trigger("names", scaled(20), *names)
    tids = dict(zip(load.numbers, names))
    tracers = {key: tool("--json", "-p", load.pid, "--by", key)
               for key in ("tid", "pid", "comm", "pid,comm")}
    work(load)
    reports = {key: tracer.stop().report for key, tracer in tracers.items()}
    for tid, group in by_key(reports["tid"], "tid").items():
        assert group["key"]["comm"] == (tids[tid].decode() if tid in tids else "names")
    (group,) = reports["pid"]["groups"]
    assert group["key"] == {"pid": load.pid, "comm": "names"}
    assert set(by_key(reports["comm"], "comm")) == {"names", "first", "second", "third"}
    assert set(by_key(reports["pid,comm"], "pid", "comm")) == {
        (load.pid, comm) for comm in ("names", "first", "second", "third")}
