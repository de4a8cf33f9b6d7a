# SPDX-License-Identifier: BSD-2-Clause
"""This kernel loads every tool with its usual options: one kernel's verifier may refuse what another's accepts.

Other tests check the figures of tools, some of them not on each kernel; this runs on all.
"""

import functools
import json
import os
import re
import subprocess

import pytest

import schema
import tally
from tally import BUILD, KERNEL

# Tools that load no programs, or only those of other tools.
IDLE = {"bench", "diff", "doctor", "export", "list", "peers", "record", "replay", "run", "show"}

# Arguments without which a tool does not start.
NEEDED = {"probe": ("sched:sched_switch",), "stackcount": ("sched:sched_switch",),
          "funcgraph": ("-x", "libc", "getpriority,setpriority")}

# Options with programs of their own, or with programs that fill the 512 bytes of stack that a program and its callees
# share. The gate runs the first line of a tool.
OPTIONS = {
    "biolatency": (("--of", "queue"), ("--by", "comm")),
    "cpudist": (("--off",),),
    "faults": (("-g",),),
    "futexstat": (("-g",), ("--waits", "-g"), ("--waits", "--by", "futex,owner")),
    "kmem": (("--pages",), ("--leak", "-g")),
    "lockstat": (("-g",),),
    "migrations": (("-g",),),
    "offcputime": (("--call-graph", "dwarf"), ("--call-graph", "dwarf", "--by", "cgroup"), ("-K",), ("-U",)),
    "offwaketime": (("--call-graph", "dwarf"),),
    "probe": (("--by", "comm", "--filter", "prev_pid > 1", "--sum", "prev_prio"), ("--stream", "-g")),
    "profile": (("--call-graph", "dwarf"), ("-K", "--by", "comm,sym"), ("-U",), ("--wall",), ("-e", "cs"),
                ("-e", "cpu-clock", "-e", "page-faults")),
    "snap": (("-g",), ("--each",), ("--waits",), ("--waits", "--each")),
    "stackcount": (("--call-graph", "dwarf"), ("-K",), ("-U", "--sum", "prev_prio")),
    "stat": (("-e", "sched:sched_switch,page-faults", "--by", "comm"),),
    "syscount": (("-L",), ("--by", "pid")),
    "timehist": (("-g",),),
    "wakeuptime": (("--call-graph", "dwarf"),),
    "trace": (("--summary",), ("-e", "openat,read", "-y"), ("--faults",)),
}

# Tools whose events belong to no task, or are counted per CPU: their only scope is CPUs, or they have none.
WITHOUT_TASKS = {
    "bpftop",
    "cputhrottle",
    "hardirqs",
    "netdrop",
    "netlat",
    "runqlen",
    "softirqs",
    "tcpretrans",
    "tcprtt",
    "timers",
    "triage",
    "vitals",
    "workqueues",
}

# Snapshots, too: a command is measured from its start to its end.
WITHOUT_COMMAND = WITHOUT_TASKS | {"snap"}

SINCE = {"lockstat": (5, 19), "cachestat": (6, 12)}

# Tools that trace functions of the kernel: some kernels allow no attachment to them.
FUNCTIONS = {"dcstat", "filelife"}

# Tools that trace a module.
MODULES = {"kvmstat": "kvm"}


def names():
    listed = subprocess.run([BUILD / "tally", "--json"], stdout=subprocess.PIPE, check=True)
    return [row["tool"] for row in json.loads(listed.stdout)["rows"] if row["tool"] not in IDLE]


def cannot(name):
    """Whether this kernel is one of those that the tool cannot run on."""
    return KERNEL < SINCE.get(name, (0, 0)) or (name in FUNCTIONS and not attaches_to_functions())


@functools.cache
def attaches_to_functions():
    listed = subprocess.run([BUILD / "tally", "doctor", "--json"], stdout=subprocess.PIPE, check=False)
    (row,) = (row for row in json.loads(listed.stdout)["rows"] if row["feature"] == "fentry")
    return row["status"] == "ok"


def lines(name):
    """The command lines of a tool: the usual one, one with a full scope, and its own. The gate has two: the usual
    one, and the full scope with the first of its own. The verifier of 5.10 takes half a minute in a guest for a
    program that walks stacks, and most lines have the same program: there, the gate starts tools of stacks once."""
    needed, own = NEEDED.get(name, ()), OPTIONS.get(name, ())
    scope = () if name in WITHOUT_TASKS else ("-p", os.getpid(), "-u", 0, "--comm", "python*")
    yield needed
    if os.environ.get("TALLY_GATE"):
        again = not (tally.GUEST and own and own[0][0] == "--call-graph")
        if again and (scope or own):
            yield (*needed, *(own[0] if own else ()), *scope)
        return
    if scope:
        yield (*needed, *scope)
    for each in own:
        yield (*needed, *each)


def pytest_generate_tests(metafunc):
    metafunc.parametrize("name", names())


@pytest.mark.everywhere
def test_loads(run, name):
    if name in MODULES:
        subprocess.run(["modprobe", "-q", MODULES[name]], check=tally.GUEST is not None)
    for args in lines(name):
        ran = run("--json", "-d", "0.1", *args, tool=name)
        if cannot(name):
            assert ran.code == 4 and "kernel" in ran.stderr, ran
            continue
        assert ran.code == 0, (args, ran)
        assert "libbpf" not in ran.stderr
        for line in ran.text.splitlines():
            found = json.loads(line)
            if "lost" in found:
                schema.check(found)


def test_keys_of_the_help_are_taken(run, name):
    """Each key in the help of --by is accepted, and -P and -L exist if there are tasks to distinguish."""
    text = run("--help", tool=name).text
    said = re.search(r"--by=KEY,\.\.\s+One result per (.*(?:\n {20,}\S.*)*)", text)
    words = set(re.findall(r"\w+", said[1])) if said else set()
    keys = words & {"pid", "tid", "comm", "cgroup", "container", "unit", "cpu", "pidns", "uid"}
    if said:
        assert ("-P     " in text) == ("pid" in keys) and ("-L     " in text) == ("tid" in keys)
    for key in sorted(keys):
        result = run("-n", "--by", key, *NEEDED.get(name, ()), tool=name)
        assert result.code == 0 or (result.code == 4 and cannot(name)), (key, result)


def test_the_default_of_max_keys_is_the_one_of_the_help(run, name):
    """Except reclaim, which has no fixed number: it takes memory for the elements that keys on all CPUs share."""
    said = re.search(r"about N keys \(default\s+(\d+)\)", run("--help", tool=name).text)
    if not said or name in ("run", "reclaim") or name in MODULES or cannot(name) or KERNEL < (6, 1):
        return      # before 6.1 stack maps preallocate, and are smaller

    def rooms(*more):
        counted = ("-a", "--by", "comm") if name == "stat" else ()
        result = run("-v", "-d", "0.02", *more, *NEEDED.get(name, ()), *counted, tool=name)
        assert result.code == 0, result
        return re.findall(r"map (\w+): (\d+) elements", result.stderr)

    assert rooms() == rooms("--max-keys", said[1])


# Files, programs, signals, a disk, a connection: events for most tools.
WORK = """
d=$(mktemp -d); for n in 1 2 3; do ls -l / > $d/$n; cat /etc/hosts > /dev/null; sleep .01; done; kill -URG $$
dd if=/dev/zero of=$d/file bs=4k count=16 conv=fsync 2> /dev/null; rm -r $d
/usr/bin/python3 -c 'import socket; l = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(l.getsockname())
o, _ = l.accept(); c.send(b"x"); o.recv(1)'
"""


@tally.once
def test_the_first_report_fits_80_columns(name):
    """Its bold line says what was measured, for how long, and how many events there were, or that there were none."""
    if name in MODULES or cannot(name):
        pytest.skip("this kernel cannot do it")
    scope = ("-d", 0.3) if name in WITHOUT_COMMAND else ("--", "sh", "-c", WORK)
    styled = tally.at_terminal(*NEEDED.get(name, ()), *scope, rows=24, tool=name)
    text = tally.without_styles(styled)
    assert not [line for line in text.splitlines() if len(line) > 80], text
    if name == "triage":
        assert text.startswith("triage: 0.3 s from ") and re.search(
            r"^\x1b\[1m(no rule fired|\d+ problem)", styled, re.M
        ), text
        return
    assert styled.count(f"\x1b[1m{name}: ") == 1, styled
    _, _, report = text.partition(f"{name}: ")
    assert re.match(r"[^:]* (during|read in) [\d.]+ [mu]?s, \d+ CPUs ", " ".join(report.split())), text
    seen = re.findall(r"^events ([\d,]+)", report, re.M)
    assert seen or name in ("stat", "timechart", "vitals"), text
    assert seen != ["0"] or re.search(r"^(no|not|nothing|none|all) .*(\n {4}.*)*\w$", report, re.M | re.I), text
