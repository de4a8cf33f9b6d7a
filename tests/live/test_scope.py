# SPDX-License-Identifier: BSD-2-Clause
"""Scope of the waits measured: each option selects exactly the right tasks.

Every test has loads inside and outside of the scope. Figures of loads inside must be those of the kernel's accounting,
to the last event; loads outside must have none.
"""

import json
import shutil
import subprocess
import sys

import pytest

import cgroups
from accounts import check, check_threads, exactly, tool_by_the_books, work  # noqa: F401
from tally import BUILD, GUEST, NOBODY, PATIENCE, by_key, once, own, scaled

pytestmark = pytest.mark.exact

# A second of work for a shell.
BUSY = "for ((i = 0; i < 400000; i++)); do :; done"

SLEEPERS = ("sleepers", 2, scaled(60), 100, -1)


def check_scope(report, w, inside):
    """A report by tid has exactly these threads, with the kernel's figures. Other tasks of the machine may be in it
    too, but no load outside of the scope."""
    check_threads(report, w, inside)
    assert not set(by_key(report, "tid")) & (set(w.grown) - set(inside))


@pytest.fixture
def scoped(tool, trigger):
    """Measures loads inside and outside of the scope, which their functions create for each trial, under one tool,
    whose options are a function of the inside loads."""

    def run(inside, outside, options):
        def trial():
            ins = [make() for make in inside]
            outs = [make() for make in outside]
            tracer = tool("--json", "--by", "tid", *options(*ins))
            w = work(*ins, *outs)
            check_scope(tracer.stop().report, w, [tid for load in ins for tid in load.tids()])
            return w

        exactly(trial)

    return run


@pytest.mark.parametrize("n", (1, 2, 5))
def test_processes(scoped, trigger, n):
    scoped([lambda: trigger(*SLEEPERS)] * n, [lambda: trigger(*SLEEPERS)],
           lambda *loads: ("-p", ",".join(str(load.pid) for load in loads)))


@pytest.mark.parametrize("n", (1, 2, 3))
def test_threads(tool, trigger, n):
    """Some threads of a process."""

    def trial():
        load = trigger("sleepers", 4, scaled(60), 100, -1)
        chosen = load.tids()[1:1 + n]
        tracer = tool("--json", "--by", "tid", "-t", ",".join(map(str, chosen)))
        w = work(load)
        check_scope(tracer.stop().report, w, chosen)
        return w

    exactly(trial)


@pytest.mark.parametrize("user", (str(NOBODY), "nobody"))
def test_user(scoped, trigger, user):
    scoped([lambda: trigger(*SLEEPERS, user=NOBODY)], [lambda: trigger(*SLEEPERS)],
           lambda load: ("-u", user))


@pytest.mark.parametrize("user", ("0", "root"))
def test_root_is_a_user_too(scoped, trigger, user):
    scoped([lambda: trigger(*SLEEPERS)], [lambda: trigger(*SLEEPERS, user=NOBODY)],
           lambda load: ("-u", user, "--max-keys", 50000))


@pytest.mark.parametrize("cpus, inside", (("0", (0,)), ("1", (1,)), ("0,1", (0, 1)),
                                          ("0-1", (0, 1))))
def test_cpus(scoped, trigger, cpus, inside):
    outside = {0, 1} - set(inside)
    scoped([lambda cpu=cpu: trigger("spin", 2, 25, cpu) for cpu in inside],
           [lambda cpu=cpu: trigger("spin", 2, 25, cpu) for cpu in outside],
           lambda *loads: ("-C", cpus, "--max-keys", 50000))


# Each kernel matches them with the same program.
GLOBS = ("spin*", "?pin[a-z]*", "*p*i*n*n*e*r*", r"s\pinner", *(() if GUEST else (
    "spinner", "*", "*ner", "s*n*r", "spinne?", "[!t]*ner", "[^t]pinner", "spi[m-o]ner",
    "[]s]pinner")))
OTHER_GLOBS = ("spinner", "*r*r", "[a-r]pinner", *(() if GUEST else (
    "spin", "pinner", "spinner?", "Spinner", r"spinner\*")))


@pytest.mark.parametrize("glob", GLOBS)
def test_names(scoped, trigger, glob):
    outside = [] if glob == "*" else [lambda: trigger(*SLEEPERS, comm="to spinne to"),
                                      lambda: trigger(*SLEEPERS, comm="spi")]
    scoped([lambda: trigger(*SLEEPERS, comm="spinner")],
           outside, lambda load: ("--comm", glob, "--max-keys", 50000))


@pytest.mark.parametrize("glob", OTHER_GLOBS)
def test_names_that_are_not_meant(scoped, trigger, glob):
    scoped([], [lambda: trigger(*SLEEPERS, comm="spinner*" if glob == "spinner" else "spinner")],
           lambda: ("--comm", glob))


def test_names_may_hold_any_character(scoped, trigger):
    scoped([lambda: trigger(*SLEEPERS, comm=b"a*[\xff]\n")],
           [lambda: trigger(*SLEEPERS, comm=b"ab[\xff]\n")],
           lambda load: ("--comm", b"a\\*\\[\xff]?"))


def test_name_of_sixteen_bytes(scoped, trigger):
    """The kernel keeps fifteen."""
    scoped([lambda: trigger(*SLEEPERS, comm="0123456789abcdef")], [],
           lambda load: ("--comm", "0123456789abcde"))


UNSHARED = {"command": ("unshare", "--pid", "--fork"), "forks": True}


def test_pid_namespace_of_a_process(scoped, trigger):
    scoped([lambda: trigger(*SLEEPERS, **UNSHARED)],
           [lambda: trigger(*SLEEPERS), lambda: trigger(*SLEEPERS, **UNSHARED)],
           lambda load: (f"--pidns={load.pid}",))


def test_own_pid_namespace(scoped, trigger):
    scoped([lambda: trigger(*SLEEPERS)], [lambda: trigger(*SLEEPERS, **UNSHARED)],
           lambda load: ("--pidns", "--max-keys", 50000))


@pytest.mark.parametrize("which", ("parent", "child", "sibling"))
@pytest.mark.parametrize("hierarchy", cgroups.hierarchies(), ids=lambda h: h.name)
def test_cgroup(tool, trigger, cgroup, hierarchy, which):
    """A group and everything below it, in every hierarchy."""
    groups = {name: cgroup(hierarchy, path) for name, path in
              (("sibling", "b"), ("parent", "a"), ("child", "a/deeper/still"))}
    inside = {"parent": ("parent", "child"), "child": ("child",), "sibling": ("sibling",)}[which]

    def trial():
        loads = {}
        for name, group in groups.items():
            loads[name] = trigger(*SLEEPERS)
            group.add(loads[name].pid)
        outside = trigger(*SLEEPERS)
        tracer = tool("--json", "--by", "tid", "-G", groups[which].path)
        w = work(*loads.values(), outside)
        check_scope(tracer.stop().report, w, [t for name in inside for t in loads[name].tids()])
        return w

    exactly(trial)


@pytest.mark.parametrize("form", ("{}", "/{}", "./{}/", "{}/../{}"))
def test_cgroup_by_name(tool, trigger, cgroup, form):
    """As in /proc/PID/cgroup, below the root of the default hierarchy."""
    group = cgroup(cgroups.default_hierarchy(), "")
    name = group.name.strip("/")

    def trial():
        loads = trigger(*SLEEPERS), trigger(*SLEEPERS)
        group.add(loads[0].pid)
        tracer = tool("--json", "--by", "tid", "-G", form.format(name, name))
        w = work(*loads)
        check_scope(tracer.stop().report, w, loads[0].tids())
        return w

    exactly(trial)


@once
@pytest.mark.parametrize("hierarchy", cgroups.hierarchies(), ids=lambda h: h.name)
def test_cgroup_by_name_in_each_hierarchy(tool, trigger, cgroup, hierarchy):
    """systemd's hybrid layout has services in v2 beside the v1 controllers. A warning names a hierarchy other than the
    default."""
    usual, name = cgroups.default_hierarchy(), f"only-{hierarchy.name}"
    group = cgroup(hierarchy, name)
    loads = trigger(*SLEEPERS), trigger(*SLEEPERS)
    group.add(loads[0].pid)
    tracer = tool("--json", "--by", "tid", "-G", group.name.strip("/"))
    work(*loads)
    result = tracer.stop()
    assert {group["key"]["tid"] for group in result.report["groups"]} == set(loads[0].tids())
    taken = f"is not in the {kernel_name(usual)} hierarchy; using {kernel_name(hierarchy)}"
    assert (taken in result.stderr) == (hierarchy != usual), result


def kernel_name(hierarchy):
    return hierarchy.name if hierarchy.name == "v2" else f"v1 {hierarchy.name}"


@pytest.mark.parametrize("hierarchy", cgroups.hierarchies(), ids=lambda h: h.name)
def test_root_cgroup_holds_everything(scoped, trigger, hierarchy):
    scoped([lambda: trigger(*SLEEPERS)], [],
           lambda load: ("-G", hierarchy.mount, "--max-keys", 50000))


def test_a_task_that_moves_out_of_its_cgroup_moves_out_of_scope(tool, trigger, cgroup):
    group = cgroup(cgroups.default_hierarchy(), "")

    def trial():
        first, second = trigger(*SLEEPERS), trigger(*SLEEPERS)
        for load in (first, second):
            group.add(load.pid)
        tracer = tool("--json", "--by", "tid", "-G", group.path)
        (group.path.parent / "cgroup.procs").write_text(str(second.pid))
        w = work(first, second)
        check_scope(tracer.stop().report, w, first.tids())
        return w

    exactly(trial)


@pytest.mark.parametrize("who", (0, 1), ids=("parent", "child"))
def test_a_cgroup_is_that_of_who_waits_not_of_who_wakes(tool, trigger, cgroup, who):
    """Two processes wake each other all the time, one inside, one outside."""
    group = cgroup(cgroups.default_hierarchy(), "")

    def trial():
        load = trigger("pingpong", scaled(500), 0)
        group.add(load.pids[who])
        tracer = tool("--json", "--by", "tid", "-G", group.path)
        w = work(load)
        check_scope(tracer.stop().report, w, [load.pids[who]])
        assert w.grown[load.pids[who]].count >= scaled(500) / 2
        return w

    exactly(trial)


def test_a_name_is_that_of_who_waits_not_of_who_wakes(tool, trigger):
    def trial():
        load = trigger("pingpong", scaled(500), 0)
        tracer = tool("--json", "--by", "tid", "--comm", "pong")
        w = work(load)
        check_scope(tracer.stop().report, w, [load.pids[1]])
        return w

    exactly(trial)


@pytest.mark.parametrize("options", (
    ("-p{pid}", "--comm", "spinner"), ("-p{pid}", "-u0"), ("-p{pid}", "-t{tid}"),
    ("-p{pid}", "-C0"), ("-u0", "--comm", "spinner", "-C0"), ("-G{group}", "--comm", "spinner"),
    ("-G{group}", "-u0"), ("-G{group}", "-p{pid}", "-C0", "--comm", "s*", "-u", "0", "--pidns"),
), ids=" ".join)
def test_together(tool, trigger, cgroup, options):
    """All conditions must hold. One load meets them all; each other load fails one."""
    group = cgroup(cgroups.default_hierarchy(), "")

    def trial():
        naps = ("sleepers", 1, scaled(60), 100)
        inside = trigger(*naps, 0, comm="spinner")
        others = {
            "--comm": trigger(*naps, 0, comm="other"), "-u": trigger(*naps, 0, comm="spinner",
                                                                   user=NOBODY),
            "-C": trigger(*naps, 1, comm="spinner"), "-G": trigger(*naps, 0, comm="spinner"),
            "-p": trigger(*naps, 0, comm="spinner"),
        }
        for which, load in others.items():
            if which != "-G":
                group.add(load.pid)
        group.add(inside.pid)
        tids = inside.tids()[1:]
        if options[1] != "-t{tid}":
            tids = inside.tids()
        text = " ".join(options)
        tracer = tool("--json", "--by", "tid", *(
            o.format(pid=inside.pid, tid=tids[0], group=group.path) for o in options))
        # Other loads that fail one of the given conditions.
        excluded = [load for which, load in others.items() if which in text]
        w = work(inside, *excluded)
        check_scope(tracer.stop().report, w, tids)
        return w

    exactly(trial)


def test_conditions_that_nothing_meets(tool, trigger):
    """A thread of one process with the number of another: no events, all filtered, and the report says so."""
    one, other = trigger(*SLEEPERS), trigger(*SLEEPERS)
    tracers = [tool("--format", form, "-p", one.pid, "-t", other.pid) for form in ("json", "text")]
    work(one, other)
    json, text = (tracer.stop() for tracer in tracers)
    assert json.report["events"] == 0
    assert json.report["filtered"] > 0
    assert "no event was in scope" in text.text


def test_threads_made_later_are_in_their_process(tool, trigger):
    load = trigger("threads", 2, 10)
    tracer = tool("--json", "-p", load.pid, "--by", "tid")
    w = work(load)
    assert len(tracer.stop().report["groups"]) >= 21 - w.holes


def test_children_are_not_in_the_process_of_their_parent(tool, trigger):
    """-p means the process; -- COMMAND means its children too."""

    def trial():
        load = trigger("storm", scaled(100), 1, 0)
        tracer = tool("--json", "-p", load.pid)
        w = work(load)
        check(tracer.stop().report, w)
        return w

    exactly(trial)


def test_a_tool_can_watch_another_tool(tool):
    """A tool leaves out only its own process, so another tool can be watched."""
    watched = tool("--json", "-a", "-I", 5)
    watcher = tool("--json", "-p", watched.pid, "--by", "pid")
    watched.await_lines(20)
    (group,) = watcher.stop().report["groups"]
    assert group["key"]["pid"] == watched.pid and group["count"] >= 10


def names_of_everything(tmp_path, *options, begin="", within=()):
    """Names in profile's report of the whole machine, and the unique name of the tool itself. A shell runs begin, and
    then executes the tool."""
    link = tmp_path / own("mine")
    link.symlink_to((BUILD / "tally").resolve())
    ran = subprocess.run([*within, "bash", "-c", f'{begin} exec -a profile "$0" "$@"', link, "-a", "--json",
                          "--by", "comm", "-F", "999", *options], stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    stacks = json.loads(ran.stdout)["stacks"]
    # The tool has read files.
    assert any(f["name"] and f["module"] and f["module"][0] != "[" for stack in stacks for f in stack["frames"])
    return {stack["key"]["comm"] for stack in stacks}, link.name


NAMESPACES = pytest.mark.parametrize("within", (
    (), ("unshare", "--pid", "--fork", "--mount-proc"),
), ids=("initial namespace", "own namespace"))


@once
@NAMESPACES
def test_children_of_the_tool_are_left_out(tmp_path, trigger, within):
    """They read the files of running programs, which takes part of the time of a short run."""
    trigger("spin", 2, 1000, -1).go()
    # Files are found by /proc/PID, so a running program must be in the namespace, too.
    names, own_name = names_of_everything(tmp_path, "-d", "1", begin=f"bash -c '{BUSY}' &", within=within)
    assert "spin" in names and own_name not in names


@once
@NAMESPACES
def test_the_command_is_a_child_that_is_not_left_out(tmp_path, within):
    shell = tmp_path / own("command")
    shutil.copy("/bin/bash", shell)
    names, own_name = names_of_everything(tmp_path, "--", shell, "-c", BUSY, within=within)
    assert shell.name in names and own_name not in names


@once
def test_children_from_before_the_tool_are_not_left_out(tmp_path):
    """A shell starts a load, and then executes the tool."""
    shell = tmp_path / own("load")
    shutil.copy("/bin/bash", shell)
    names, own_name = names_of_everything(tmp_path, "-d", "1", begin=f"{shell} -c '{BUSY}' &")
    assert shell.name in names and own_name not in names


# Runs threads that end, and then waits until they are freed.
ENDING = """
import threading, time
for _ in range(50):
    thread = threading.Thread(target=lambda: sum(range(10000)))
    thread.start()
    thread.join()
time.sleep(0.5)
"""


def ending_threads(run, *lines):
    return run("--json", *lines, "--", sys.executable, "-c", ENDING, tool="run").reports


def test_slices_of_threads_are_in_their_pid_namespace(run):
    """Also the last one, in which a thread has no number of its own any more. The process itself may have been reaped
    before its last switch, and has no namespace then."""
    whole, inside, by = ending_threads(run, "cpudist", "cpudist --pidns", "cpudist --by pidns")
    assert whole["events"] >= 50 and whole["events"] - inside["events"] in (0, 1)
    assert sum(group["count"] for group in by["groups"] if group["key"]["pidns"] == 0) <= 1


@pytest.mark.parametrize("args", ("", "--totals"))
def test_run_time_of_threads_is_in_their_pid_namespace(run, args):
    reports = ending_threads(run, f"schedlat {args}", f"schedlat {args} --pidns")
    whole, inside = ({row["tid"]: row["runtime"] for row in report["rows"]} for report in reports)
    assert len(whole) > 50
    first = max(whole, key=whole.get)
    assert {**whole, first: 0} == {**inside, first: 0}
