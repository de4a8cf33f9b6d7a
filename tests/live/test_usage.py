# SPDX-License-Identifier: BSD-2-Clause
"""Wrong command lines, missing rights, and the front door."""

import json
import os
import pty
import re
import resource
import subprocess

import pytest

import tally
from tally import NOBODY, once

BAD = (
    # arguments, exit code, part of the message
    ("-p abc", 2, "'abc'"),
    ("-p 1,", 2, "'1,'"),
    ("-p ,1", 2, "',1'"),
    ("-p 1,,2", 2, "'1,,2'"),
    ("-p 0", 2, "'0'"),
    ("-p -1", 2, "'-1'"),
    ("-p +1", 2, "'+1'"),
    ("-p 0x1", 2, "'0x1'"),
    ("-p 1.5", 2, "'1.5'"),
    ("-p=1", 2, "'=1'"),
    ("-p 99999999", 2, "'99999999'"),
    ("-p 4194304", 1, "no process 4194304"),
    ("-p", 2, "'-p' needs a value"),
    ("--pid", 2, "'--pid' needs a value"),
    ("-t x", 2, "'x'"),
    ("-t 4194304", 1, "no thread 4194304"),
    ("--pidd 1", 2, "did you mean '--pid'?"),
    ("--durration=1", 2, "did you mean '--duration'?"),
    ("--Json", 2, "did you mean '--json'?"),
    ("--nothing-like-it", 2, "unknown option '--nothing-like-it'"),
    ("--p 1", 2, "could be"),
    ("--c 1", 2, "could be"),
    ("-Z", 2, "unknown option '-Z'"),
    ("-mZ", 2, "unknown option '-Z'"),
    ("-a -p 1", 2, "-a"),
    ("-a -u 0", 2, "-a"),
    ("-a --comm x", 2, "-a"),
    ("-d 0", 2, "'0'"),
    ("-d x", 2, "'x'"),
    ("-d -1", 2, "'-1'"),
    ("-d 1x", 2, "'1x'"),
    ("-d 99999999999999999999", 2, "'99999999999999999999'"),
    ("-d 1 1 1", 2, "-d and a count of reports cannot be combined"),
    ("-I 0", 2, "'0'"),
    ("-I 0.5", 2, "'0.5'"),
    ("-I x", 2, "'x'"),
    ("0", 2, "'0'"),
    ("1 0", 2, "'0'"),
    ("1 x", 2, "'x'"),
    ("1 2 3", 2, "'3'"),
    ("nosuchprogram 1", 2, "-- nosuchprogram"),
    ("1 sleep", 2, "'sleep'"),
    ("--", 2, "a command is missing after --"),
    ("--by foo", 2, "'foo'"),
    ("--by pid,", 2, "''"),
    ("--by pid,foo", 2, "'foo'"),
    ("--by=", 2, "''"),
    ("--max-keys 0", 2, "'0'"),
    ("--max-keys x", 2, "'x'"),
    ("--top 0", 2, "'0'"),
    ("--top x", 2, "'x'"),
    ("--sort foo", 2, "'foo'"),
    ("--csv=ab", 2, "'ab'"),
    ("--csv=", 2, "''"),
    ('--csv="', 2, "'\"'"),
    ("--format yaml", 2, "'yaml'"),
    ("--json=1", 2, "takes no value"),
    ("-o", 2, "'-o' needs a value"),
    ("-C 99999", 2, "99999"),
    ("-C 4095", 1, "no CPU 4095"),
    ("-C 3-1", 2, "'3-1'"),
    ("-C x", 2, "'x'"),
    ("-C 0,", 2, "'0,'"),
    ("-C -1", 2, "'-1'"),
    ("-u nosuchuser", 1, "nosuchuser"),
    ("-u -1", 1, "-1"),
    ("-G /nonexistent", 1, "/nonexistent"),
    ("-G /etc/passwd", 1, "/etc/passwd"),
    ("--comm [", 2, "'['"),
    ("--comm a[b", 2, "']'"),
    ("--comm abcdefghijklmnopqrstuvwxyzabcdefghi", 2, "too long"),
    ("--pidns=x", 2, "'x'"),
    ("--pidns=4194304", 1, "no process 4194304"),
    ("--ready-fd 99", 2, "'99'"),
    ("--ready-fd x", 2, "'x'"),
    ("--source foo", 2, "'foo'"),
    ("--strict=1", 2, "takes no value"),
    # given twice: values that contradict each other are refused
    ("--comm a --comm b", 2, "--comm is given twice: 'a' and 'b'"),
    ("-G /a -G /b", 2, "-G is given twice"),
    ("-u 0 -u 1", 2, "-u is given twice"),
    ("-C 0 -C 1", 2, "-C is given twice"),
    ("-d 1 -d 2", 2, "-d is given twice"),
    ("-I 100 -I 200", 2, "-I is given twice"),
    ("-I 100 5", 2, "given twice, by -I and as '5'"),
    ("5 -I 100", 2, "given twice"),
    ("--top 1 --top=2", 2, "--top is given twice"),
    ("-o a -o b", 2, "-o is given twice"),
    ("--sort max --sort avg", 2, "--sort is given twice"),
    ("--source auto --source=wakeup", 2, "--source is given twice"),
    ("--max-keys 10 --max-k 20", 2, "--max-keys is given twice"),
)


def check_said(result, code, part, tool="runqlat"):
    """The exit code, and on stderr one or two short lines that begin with the tool's name."""
    assert result.code == code, result
    assert result.stdout == b"", result
    lines = result.stderr.splitlines()
    assert 1 <= len(lines) <= 2, result
    for line in lines:
        assert line.startswith(f"{tool}: ") and len(line) <= 120, result
    assert part in result.stderr, result


@once
@pytest.mark.parametrize("line, code, part", BAD, ids=lambda v: v if isinstance(v, str) else "")
def test_wrong_command_line(run, line, code, part):
    check_said(run(*line.split(" ")), code, part)


@once
def test_given_twice_and_the_same(run):
    assert run("-n", "-d", 1, "-d", "1s", "--sort", "max", "--sort=max", "--top", 3, "--top", 3).code == 0


def test_processes_add_up(run, trigger):
    """Each of several -p counts, and names are as good as numbers."""
    loads = [trigger("sleepers", 1, 1, 1, -1, comm=name) for name in ("one-of-them", "another-one")]
    pids = sorted(load.pid for load in loads)
    result = run("-n", "-p", pids[0], "-p", pids[1])
    assert result.code == 0 and f"process {pids[0]}" in result.text and str(pids[1]) in result.text, result
    named = run("-n", "-p", "one-of-them,another-one")
    assert named.text == result.text or sorted(named.text) == sorted(result.text), named
    assert named.stderr == "".join(
        f"runqlat:   -p {name}: process {load.pid}\n"
        for name, load in zip(("one-of-them", "another-one"), loads)), named
    mixed = run("-n", "-p", f"{loads[0].pid},another-one")
    assert mixed.code == 0 and sorted(mixed.text) == sorted(result.text), mixed


def test_several_processes_of_a_name(run, trigger):
    loads = [trigger("sleepers", 1, 1, 1, -1, comm="several") for _ in range(3)]
    result = run("-n", "-p", "several")
    assert result.code == 0, result
    said = result.stderr.partition("process ")[2]
    assert sorted(map(int, said.split(","))) == sorted(load.pid for load in loads)


@once
def test_a_name_beyond_ascii(run, trigger):
    load = trigger("sleepers", 1, 1, 1, -1, comm="äpfel")
    result = run("-n", "-p", "äpfel")
    assert result.code == 0 and result.stderr == f"runqlat:   -p äpfel: process {load.pid}\n", result


@once
@pytest.mark.parametrize("name", ("no-such-process", "1,no-such-process", "no-such-process,1"))
def test_no_process_of_a_name(run, name):
    check_said(run("-p", name), 2, "no process is called 'no-such-process'")


def test_a_thread_is_not_a_process(run, trigger):
    load = trigger("sleepers", 1, 1, 1, -1)
    thread = next(tid for tid in load.tids() if tid != load.pid)
    result = run("-p", thread)
    check_said(result, 1, f"no process {thread}")
    assert "-t" in result.stderr


@once
@pytest.mark.parametrize("args, part", (
    (("nosuchtool",), "no tool 'nosuchtool'"), (("runqlt",), "did you mean 'runqlat'?"),
    (("help", "nosuchtool"), "nosuchtool"), (("help", "runqlat", "more"), "help"),
    (("--nosuch",), "--nosuch"), (("-p", "1"), "-p"),
))
def test_front_door_wrong(run, args, part):
    check_said(run(*args, tool="tally"), 2, part, "tally")


@once
def test_the_tool_behind_the_front_door_speaks_under_its_own_name(run):
    check_said(run("runqlat", "-p", "abc", tool="tally"), 2, "'abc'")


@once
def test_front_door(run):
    """tally NAME is NAME; tally alone lists the tools; help shows their pages."""
    assert run("runqlat", "--json", "-d", 0.05, tool="tally").report["tool"] == "runqlat"
    listed = run(tool="tally")
    assert listed.code == 0 and "runqlat" in listed.text
    rows = json.loads(run("--json", tool="tally").text)["rows"]
    assert "runqlat" in {row["tool"] for row in rows}
    for row in rows:
        page = run("help", row["tool"], tool="tally")
        assert page.code == 0 and page.text.count("\n") > 20, page
        # Tables are rendered, and no word or option is hyphenated.
        assert "T{" not in page.text and not re.search(r"[a-z]-$", page.text, re.M), page
        assert run(row["tool"], "--help", tool="tally").text.startswith("Usage: " + row["tool"])


def on_a_terminal(*args, **environment):
    """(exit status, text on the terminal)"""
    end, other = pty.openpty()
    with subprocess.Popen([tally.BUILD / "tally", *args], stdin=other, stdout=other, stderr=other,
                          env={**os.environ, **environment}) as process:
        os.close(other)
        text = b""
        try:
            while piece := os.read(end, 65536):
                text += piece
        except OSError:
            pass        # EIO: nobody has the terminal open any more
    os.close(end)
    return process.returncode, text.decode().replace("\r\n", "\n")


@once
def test_pages_have_a_pager(run):
    """On a terminal: PAGER, unless it is empty. To quit it early is no error."""
    page = run("help", "runqlat", tool="tally").text
    assert on_a_terminal("help", "runqlat", PAGER="sed s/^/P:/") == \
        (0, "".join(f"P:{line}\n" for line in page.splitlines()))
    assert on_a_terminal("help", "runqlat", PAGER="") == (0, page)
    assert on_a_terminal("help", "cookbook", PAGER="head -n 1") == (0, "# Cookbook: from what you type today\n")


@once
def test_documents(run):
    """Documents that manual pages refer to are shown unchanged, and no page refers to a file that is not installed."""
    pages = {each: each.read_text() for each in (tally.ROOT / "docs/man").glob("*.scd")}
    named = {name for text in pages.values() for name in re.findall(r"\*tally help ([a-z]+)\*", text)}
    documents = {each.stem: each.read_text() for each in (tally.ROOT / "docs").glob("*.md")}
    assert {"json", "accuracy", "recordings"} <= named <= documents.keys(), named
    for name in named:
        _, _, rest = documents[name].partition("\n")
        assert run("help", name, tool="tally").text == rest, name
    assert not [str(path) for path, text in pages.items() if "docs/" in text]


@once
@pytest.mark.parametrize("option", ("--help", "-?", "--usage", "--version", "-V"))
def test_questions_about_the_tool_itself(run, option):
    result = run(option)
    assert result.code == 0 and result.stderr == "" and result.text.endswith("\n"), result


@once
def test_short_forms_of_long_options(run):
    assert run("--js", "--dur", "0.05").report["tool"] == "runqlat"
    assert run("--js", "--du=50ms").report["tool"] == "runqlat"


def test_explaining_does_nothing(run):
    """-n needs no rights, starts nothing, and prints a plan."""
    result = run("-n", "-p", "1", "--by", "pid", "--", "false", user=NOBODY)
    assert result.code == 0, result
    for part in ("process 1", "false", "sched_switch"):
        assert part in result.text
    rows = json.loads(run("-n", "--json", user=NOBODY).text)["rows"]
    assert rows


def test_the_first_screen(run):
    """Without arguments: the tools, and below them, where a terminal still shows them, the first commands to type."""
    shown = run(tool="tally")
    assert shown.code == 0, shown
    lines = shown.text.splitlines()
    assert lines[0].startswith("tally TOOL [OPTION...]") and not lines[1]
    for line in lines[-5:]:
        assert line.startswith("tally "), line
    assert lines[-5].startswith("tally triage ")
    listed = run("--csv", tool="tally").text.splitlines()
    assert listed[0] == "area,tool,answers" and len(listed) == len(lines) - 7
    for line in lines[-5:]:
        words = line.split("  ")[0].replace("TOOL", "runqlat").split()[1:]
        assert run(*words, *(() if words[0] == "help" else ("--help",)), tool="tally").code == 0, line


def test_doctor(run):
    """Always an answer, with and without rights."""
    for user in (None, NOBODY):
        result = run("doctor", "--json", tool="tally", user=user)
        assert result.code == 0, result
        assert len(json.loads(result.text)["rows"]) > 10


# --- rights --------------------------------------------------------------------------------------

def test_without_rights(run):
    result = run("-d", 0.05, user=NOBODY)
    check_said(result, 4, "CAP_BPF")
    assert "CAP_PERFMON" in result.stderr


def with_capabilities(capabilities, *args):
    """runqlat as nobody, with only these capabilities."""
    names = ",".join(f"+{name}" for name in capabilities)
    fd = os.open(tally.BUILD / "runqlat", os.O_RDONLY)
    try:
        done = subprocess.run(
            ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
             "--inh-caps", names, "--ambient-caps", names, f"/proc/self/fd/{fd}", "runqlat",
             *map(str, args)],
            pass_fds=(fd,), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=tally.PATIENCE)
    finally:
        os.close(fd)
    return tally.Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("held, missing", (("bpf", "CAP_PERFMON"), ("perfmon", "CAP_BPF")))
def test_the_missing_capability_is_named(held, missing):
    result = with_capabilities([held], "-d", "0.05")
    assert result.code == 4, result
    assert missing in result.stderr
    assert {"bpf": "CAP_BPF", "perfmon": "CAP_PERFMON"}[held] not in result.stderr


def test_two_capabilities_are_enough():
    """Before 5.11 maps are locked memory, which needs a third one."""
    needed = ["bpf", "perfmon"] + (["sys_resource"] if tally.KERNEL < (5, 11) else [])
    result = with_capabilities(needed, "--json", "--by", "pid", "--", "true")
    assert result.code == 0, result
    assert result.report["events"] > 0


def test_few_descriptors_are_enough(run):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    result = run("--json", "-d", 0.05, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_NOFILE, (32, limit)))
    assert result.code == 0, result


def test_too_few_descriptors_are_said(run):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    result = run("--json", "-d", 0.05, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_NOFILE, (8, limit)))
    assert result.code in (1, 4) and result.stderr.startswith("runqlat: "), result
