# SPDX-License-Identifier: BSD-2-Clause
"""Names of other tracers' tools are answered with a line that does the same here, and these lines work."""

import json
import shlex
import subprocess

import pytest

from tally import BUILD, once

pytestmark = once

# Tools without -n check their options before they answer --help.
NOT_MEASURING = {"list", "replay", "diff", "doctor", "run", "--version"}


def rows(*args):
    listed = subprocess.run([BUILD / "tally", *args, "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(listed.stdout)["rows"]


def pytest_generate_tests(metafunc):
    if "peer" in metafunc.fixturenames:
        peers = rows("peers")
        metafunc.parametrize("peer", peers, ids=[row["name"] for row in peers])


def test_names_are_in_order_and_nobodys_here():
    """Names are sorted and unique. A peer leaves the table when a tool here has its name."""
    names = [row["name"] for row in rows("peers")]
    assert names == sorted(set(names)) and len(names) >= 120
    assert not set(names) & {row["tool"] for row in rows()}


def test_a_line_is_parsed_by_its_tool(run, peer, directory):
    """-n shows that options, events and keys exist. Functions and files that this machine lacks do not matter.

    PID and COMMAND stand for what the user has."""
    how, _, line = peer["here"].partition(" ")
    if how == "none:":
        return
    tool, *args = shlex.split(line.replace("COMMAND", "true").replace("PID", "1"))
    last = "--help" if tool in NOT_MEASURING else "-n"
    args = [last if arg == "--live" else arg for arg in args] + [last]
    result = run(tool, *args, tool="tally", cwd=directory)
    if "no event" not in result.stderr:
        assert ("fentry" in result.stderr) == bool(peer["lacks"]), result
    missing = ("no event", "has no file system type")
    assert result.code in (0, 1, 4) or any(part in result.stderr for part in missing), result


def test_it_is_said_in_one_line(run, peer):
    result = run(*peer["name"].split(), tool="tally")
    assert result.code == 2 and result.stdout == b"", result
    first, *hint = result.stderr.splitlines()
    assert f"'{peer['name']}' ({peer['suite']})" in first and peer["here"].removeprefix("none: ") in first
    assert len(first) <= 120, result
    assert len(hint) == bool(peer["lacks"]) and all("its functions" in line for line in hint), result


@pytest.mark.parametrize("typed, said", (
    ("tcpconnect", "tally connsnoop"), ("tcpconnect -p 1", "tally connsnoop"),
    ("help oomkill", "tally reclaim --min 0"), ("ext4slower 10", "tally fileslower --fs ext4"),
    ("sched map", "tally schedmap"), ("sched", "tally timehist"), ("sched nothing", "tally timehist"),
    ("kmem stat --caller", "tally kmem"),
    ("iostat -x 1 5", "tally biotop --by disk,op 1"), ("vmstat 1", "tally vitals 1"),
    ("sar -n DEV 1", "tally vitals --all 1"),
    ("pidstat -u -p 1 1", "tally stat -e task-clock --by pid,comm 1"),
    ("pidstat -p 1 -d 1", "tally biotop --by pid,comm 1"), ("pidstat -lr 1", "tally faults --by pid,comm 1"),
    ("iotop -oPa", "tally biotop"), ("iotop -o", "tally biotop 1"), ("ss -ti", "tally tcprtt --by local,remote"),
    ("pstack 1", "tally snap -g --by tid -p PID"), ("killsnoop -p 1", "tally signals --sender"),
    ("stat record -- ls", "tally stat --json -o stat.json -- COMMAND"),
    ("top -p 1", "tally stat -e task-clock --by pid,comm --live"), ("perf top -p 1", "tally profile --live"),
))
def test_with_what_stands_behind(run, typed, said):
    result = run(*typed.split(), tool="tally")
    assert result.code == 2 and result.stderr.endswith(f"is available as: {said}\n"), result


@pytest.mark.parametrize("typed, said", (
    ("opensnoop-bpfcc -p 1", "no tool 'opensnoop-bpfcc'\ntally:   did you mean 'opensnoop'?\n"),
    ("tcplife.bt", "no tool 'tcplife.bt'\ntally:   did you mean 'tcplife'?\n"),
    ("perf record -a", "'perf record' (perf) is available as: tally profile -d 10 -o profile.svg\n"),
    ("perf stat ls", "no tool 'perf'\ntally:   did you mean 'stat'?\n"),
    ("perf diff", "'perf diff' (perf) is available as: tally diff BEFORE.json AFTER.json\n"),
    ("perf bench mem", "no 'perf bench' (perf): no benchmarks of the kernel; `tally bench` measures the cost of "
                       "tracing\n"),
    ("perf", "no tool 'perf'\ntally:   `tally` lists the tools\n"),
    ("tcpconnect-bpfcc", "'tcpconnect' (bcc) is available as: tally connsnoop\n"),
    ("perf sched latency", "'sched latency' (perf) is available as: tally schedlat\n"),
    ("perf report --sort comm", "'report' (perf) is available as: tally profile --by comm,dso,sym -d 10\n"),
))
def test_as_the_suite_names_it(run, typed, said):
    """With perf in front, or with the suffix that the suite or Debian gives the file."""
    result = run(*typed.split(), tool="tally")
    assert result.code == 2 and result.stderr == f"tally: {said}", result


@pytest.mark.parametrize("programs", [(
    ('tracepoint:syscalls:sys_enter_openat { printf("%s %s\\n", comm, str(args.filename)); }', "opensnoop"),
    ("tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }", "syscount --by comm"),
    ("tracepoint:syscalls:sys_exit_read /args.ret/ { @[comm] = sum(args.ret); }",
     "probe 'syscalls:sys_exit_read' --sum ret --by comm"),
    ("tracepoint:syscalls:sys_exit_read /pid == 1/ { @bytes = hist(args->ret); }",
     "probe 'syscalls:sys_exit_read' --hist ret -p 1"),
    ("kprobe:vfs_read { @s[tid] = nsecs; } kretprobe:vfs_read /@s[tid]/ { @ = hist(nsecs - @s[tid]); }",
     "probe 'vfs_read' --latency"),
    ("kprobe:vfs_* { @[func] = count(); }", "probe 'vfs_*' --by func"),
    ("tracepoint:sched:sched* { @[probe] = count(); } interval:s:5 { exit(); }", "stat -e 'sched:sched*'"),
    ("profile:hz:99 { @[kstack] = count(); }", "profile -F 99"),
    ("profile:hz:99 { @[comm] = count(); }", "profile -F 99 --by comm"),
    ("tracepoint:sched:sched_switch { @[kstack] = count(); }", "stackcount 'sched:sched_switch'"),
    ("tracepoint:block:block_rq_issue { @ = hist(args.bytes); }", "bitesize"),
    ("software:faults:1 { @[comm] = count(); }", "faults --by comm"),
    ("hardware:cache-misses:1000000 { @[comm, pid] = count(); }", "stat -e 'cache-misses' --by comm,pid"),
    ("software:context-switches:1 { @[comm] = count(); }", "stat -e 'context-switches' --by comm"),
    ("uprobe:/lib64/ld-linux-x86-64.so.2:_dl_exception_create { @ = hist(arg0); }",
     "probe -x /lib64/ld-linux-x86-64.so.2 '_dl_exception_create' --hist arg1"),
    ('BEGIN { printf("x"); } uprobe:/bin/bash:readline /comm == "bash"/ { @[ustack] = count(); }',
     "stackcount -x /bin/bash 'readline' --comm 'bash'"),
    ("BEGIN { exit(); }", "probe 'syscalls:sys_enter_openat filename'"),
)], ids=["all"])
def test_programs_of_bpftrace(run, programs):
    """One-liners are answered with a line that does the same, and that runs."""
    for program, line in programs:
        result = run("bpftrace", "-e", program, tool="tally")
        first = result.stderr.splitlines()[0]
        assert result.code == 2 and first == f"tally: 'bpftrace' (bpftrace) is available as: tally {line}", result
        assert ("lacks the program's filter" in result.stderr) == ("/args.ret/" in program), result
        tool, *args = shlex.split(line)
        taken = run(*args, "-n", tool=tool)
        assert taken.code in (0, 1, 4), taken


@pytest.mark.parametrize("program, drops", (
    ('tracepoint:raw_syscalls:sys_enter /comm == "x"/ { @[comm] = count(); }', True),
    ('kprobe:vfs_read /comm == "x" && pid == 1/ { @[comm] = count(); }', True),
    ('kprobe:vfs_read\n/comm == "x"/\n{ @[comm] = count(); }', False),
    ("kprobe:vfs_read /pid == 12/ { @[comm] = count(); }", False),
    ("kprobe:vfs_read /pid == 12 || uid == 0/ { @[comm] = count(); }", True),
    ("kprobe:vfs_read { @ = hist(arg2 / 1024 / 2); }", False),
    ("uprobe:/bin/bash:readline { @[comm] = count(); }", False),
    ("kprobe:vfs_read /uid == 0", True),
))
def test_a_filter_that_is_lost_is_said(run, program, drops):
    result = run("bpftrace", "-e", program, tool="tally")
    assert result.code == 2 and ("lacks the program's filter" in result.stderr) == drops, result
