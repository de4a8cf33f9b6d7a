# SPDX-License-Identifier: BSD-2-Clause
"""Each tool's CSV, JSON, metrics and stacks, without rows, with one and with many, through strict parsers. The traced
program's name has what each of these formats uses itself."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as families_of_older_text

from pprof import Profile
from tally import BUILD, once
from test_every_tool import MODULES, NEEDED, OPTIONS, WITHOUT_COMMAND, WITHOUT_TASKS, WORK, cannot, names
from test_openmetrics import parse

pytestmark = once

FORMATS = {
    "csv": ("--csv",),
    "json": ("--json",),
    "openmetrics": ("--format", "openmetrics"),
    "prometheus": ("--format", "prometheus"),
}

SWITCH = "sched:sched_switch"

HOSTILE, SHOWN = b'a",\n\x1b[1m;{}=x', r'a",\x0a\x1b[1m;{}=x'

# Options that change what rows there are, besides what is usual.
FORMS = {
    **OPTIONS,
    "biolatency": (("--by", "disk"),),
    "migrations": (("--matrix",),),
    "probe": (
        (SWITCH, "--by", "comm", "--sum", "prev_prio"),
        (SWITCH, "--by", "prev_comm", "--hist", "prev_prio"),
        (f"{SWITCH} prev_comm prev_prio",),
    ),
    "profile": (("--by", "comm,sym"), ("--by", "pid,dso", "-e", "cpu-clock", "-e", "page-faults")),
    "offcputime": (("--by", "cgroup,state"), ("--by", "sym")),
    "runqlat": (("--by", "comm"), ("--by", "container,unit", "--table")),
    "stackcount": ((SWITCH, "--by", "comm"), (SWITCH, "--by", "sym")),
    "stat": (("-e", "sched:sched_switch,page-faults", "--by", "comm"),),
    "syscount": (("-L",), ("--by", "pid"), ("--by", "errno,comm")),
    "timehist": (("--summary=only",), ("--worst", "3")),
    "trace": (("--summary",), ("-e", "openat,read", "-g")),
    "tcpretrans": (("--count",),),
}


STACKS = {
    "profile": ("-F", 499),
    "offcputime": (),
    "wakeuptime": (),
    "offwaketime": ("--by", "comm"),
    "stackcount": (SWITCH, "--by", "comm"),
    "memleak": (),
    "funcgraph": ("-x", "libc", "getpriority,setpriority"),
}


def pytest_generate_tests(metafunc):
    if "line" in metafunc.fixturenames:
        forms = [(name, NEEDED.get(name, ())) for name in names() if name != "triage"]
        forms += [
            (name, args if any(SWITCH in each for each in args) else (*NEEDED.get(name, ()), *args))
            for name, several in FORMS.items() for args in several
        ]
        metafunc.parametrize("line", forms, ids=lambda line: " ".join((line[0], *line[1])))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A shell of that name."""
    path = bytes(tmp_path_factory.mktemp("formats")) + b"/" + HOSTILE
    Path(os.fsdecode(path)).symlink_to(shutil.which("sh"))
    return path


def check_text(text):
    """Nothing of a name steers whoever reads it."""
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text), text


def only_once(pairs):
    found = dict(pairs)
    assert len(found) == len(pairs), f"a name is there twice: {[name for name, _ in pairs]}"
    return found


def no_constant(word):
    raise AssertionError(f"{word} is no JSON")


def check_json(text):
    assert text.endswith("\n"), text
    check_text(text)
    for line in text.split("\n")[:-1]:
        found = json.loads(line, object_pairs_hook=only_once, parse_constant=no_constant)
        assert isinstance(found, dict) and found, line


def check_csv(text):
    """Returns the heading and the number of rows."""
    assert text.endswith("\n"), text
    check_text(text)
    heading, *rows = csv.reader(io.StringIO(text), strict=True)
    assert heading[0] in ("start_ns", "time_ns"), heading
    assert all(heading) and len(set(heading)) == len(heading), f"a name is there twice: {heading}"
    assert {len(row) for row in rows} <= {len(heading)}, (heading, rows)
    assert len(rows) == text.count("\n") - 1, "a row is of several lines"
    return heading, len(rows)


def check_prometheus(text):
    families = list(families_of_older_text(text))
    assert families and "# EOF" not in text
    assert len({family.name for family in families}) == len(families)
    assert all(family.type in ("counter", "gauge", "histogram") for family in families), families
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr + text


def check_folded(data):
    text = data.decode()
    check_text(text)
    lines = text.split("\n")
    assert lines.pop() == "" and len(set(lines)) == len(lines)
    assert all(re.fullmatch(r".*[^;] [1-9]\d*", line) for line in lines), text


def check_speedscope(data):
    found = json.loads(data, object_pairs_hook=only_once, parse_constant=no_constant)
    assert found["$schema"].endswith("file-format-schema.json")
    for profile in found["profiles"]:
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= i < len(found["shared"]["frames"]) for sample in profile["samples"] for i in sample)


CHECK_STACKS = {"folded": check_folded, "pprof": Profile, "speedscope": check_speedscope}


def check(name, form, result):
    if result.code == 2 and form in ("openmetrics", "prometheus") and not result.text:
        assert "openmetrics" in result.stderr, result      # what has no place in it: tests/live/test_openmetrics.py
        return None
    assert result.code == 0, (name, form, result)
    return {
        "csv": check_csv, "json": check_json, "openmetrics": parse, "prometheus": check_prometheus,
    }[form](result.text)


def named(form, text):
    """The program's name arrives as it is to be shown."""
    if form == "csv":
        return any(row["comm"] == SHOWN for row in csv.DictReader(io.StringIO(text), strict=True))
    if form == "json":
        return any(row["comm"] == SHOWN for row in json.loads(text)["rows"])
    families = text_string_to_metric_families(text) if form == "openmetrics" else families_of_older_text(text)
    return any(s.labels.get("comm") == SHOWN for family in families for s in family.samples)


@pytest.mark.parametrize("formats", (("csv", "json"), ("openmetrics", "prometheus")), ids="+".join)
def test_every_form_is_parsed(tool, hostile, line, formats):
    name, args = line
    if name in MODULES or cannot(name):
        pytest.skip("this kernel cannot do it")
    tops = "--top" in subprocess.run([BUILD / name, "--help"], capture_output=True, text=True, check=True).stdout
    tops = tops and "--worst" not in args       # a number of rows of its own
    nobody = ("-d", 0.02) if name in WITHOUT_TASKS else ("-d", 0.02, "--comm", "nobody has it")
    somebody = ("-d", 0.3) if name in WITHOUT_COMMAND else ("--", hostile, "-c", WORK)
    seen = {}
    for rows, scope in (("none", nobody), ("one", ("--top", 1, *somebody)), ("many", somebody)):
        if rows == "one" and not tops:
            continue
        running = {form: tool(*args, *FORMATS[form], *scope, tool=name, ready=False) for form in formats}
        for form, tracer in running.items():
            result = tracer.wait()
            seen[rows, form] = check(name, form, result)
            if rows == "many" and args == ("--by", "errno,comm"):
                assert named(form, result.text), result
    headings = {heading for (_, form), found in seen.items() if form == "csv" for heading in [tuple(found[0])]}
    assert len(headings) <= 1, headings


@pytest.mark.parametrize("name", STACKS)
def test_stacks_are_parsed(tool, tmp_path, hostile, name):
    for scope in (("-d", 0.02, "--comm", "nobody has it"), ("--", hostile, "-c", WORK)):
        running = {
            form: tool(*STACKS[name], "--format", form, "-o", tmp_path / form, *scope, tool=name, ready=False)
            for form in CHECK_STACKS
        }
        for form, tracer in running.items():
            result = tracer.wait()
            assert result.code == 0 and not result.text, (form, result)
            CHECK_STACKS[form]((tmp_path / form).read_bytes())


@pytest.mark.parametrize("form", FORMATS)
def test_repeated_runs(run, form):
    """Means of several runs: one time is a counter, the other is not."""
    check("stat", form, run("-r", 2, "-e", "cs,task-clock", *FORMATS[form], "--", "true", tool="stat"))


def test_one_table_in_csv(run):
    """Lines and a summary have columns of their own."""
    result = run("--csv", "--summary", "-d", 0.05, tool="timehist")
    assert result.code == 2 and "--summary=only" in result.stderr and not result.text, result
