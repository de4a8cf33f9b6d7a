# SPDX-License-Identifier: BSD-2-Clause
"""Each tool's CSV, JSON and OpenMetrics, without rows, with one and with many, through strict parsers."""

import csv
import io
import json
import subprocess

import pytest
from prometheus_client.parser import text_string_to_metric_families as families_of_older_text

from tally import BUILD, once
from test_every_tool import MODULES, NEEDED, OPTIONS, WITHOUT_TASKS, WORK, cannot, names
from test_openmetrics import parse

pytestmark = once

FORMATS = {
    "csv": ("--csv",),
    "json": ("--json",),
    "openmetrics": ("--format", "openmetrics"),
    "prometheus": ("--format", "prometheus"),
}

SWITCH = "sched:sched_switch"

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


def pytest_generate_tests(metafunc):
    if "line" in metafunc.fixturenames:
        forms = [(name, NEEDED.get(name, ())) for name in names() if name != "triage"]
        forms += [
            (name, args if any(SWITCH in each for each in args) else (*NEEDED.get(name, ()), *args))
            for name, several in FORMS.items() for args in several
        ]
        metafunc.parametrize("line", forms, ids=lambda line: " ".join((line[0], *line[1])))


def only_once(pairs):
    found = dict(pairs)
    assert len(found) == len(pairs), f"a name is there twice: {[name for name, _ in pairs]}"
    return found


def no_constant(word):
    raise AssertionError(f"{word} is no JSON")


def check_json(text):
    assert text.endswith("\n"), text
    for line in text.splitlines():
        found = json.loads(line, object_pairs_hook=only_once, parse_constant=no_constant)
        assert isinstance(found, dict) and found, line


def check_csv(text):
    """Returns the heading and the number of rows."""
    assert text.endswith("\n") and "\r" not in text, text
    heading, *rows = csv.reader(io.StringIO(text), strict=True)
    assert heading[0] in ("start_ns", "time_ns"), heading
    assert all(heading) and len(set(heading)) == len(heading), f"a name is there twice: {heading}"
    assert {len(row) for row in rows} <= {len(heading)}, (heading, rows)
    return heading, len(rows)


def check_prometheus(text):
    families = list(families_of_older_text(text))
    assert families and "# EOF" not in text
    assert len({family.name for family in families}) == len(families)
    assert all(family.type in ("counter", "gauge", "histogram") for family in families), families


def check(name, form, result):
    if result.code == 2 and form in ("openmetrics", "prometheus") and not result.text:
        assert "openmetrics" in result.stderr, result      # what has no place in it: tests/live/test_openmetrics.py
        return None
    assert result.code == 0, (name, form, result)
    return {
        "csv": check_csv, "json": check_json, "openmetrics": parse, "prometheus": check_prometheus,
    }[form](result.text)


@pytest.mark.parametrize("formats", (("csv", "json"), ("openmetrics",)), ids="+".join)
def test_every_form_is_parsed(tool, line, formats):
    name, args = line
    if name in MODULES or cannot(name):
        pytest.skip("this kernel cannot do it")
    tops = "--top" in subprocess.run([BUILD / name, "--help"], capture_output=True, text=True, check=True).stdout
    nobody = ("-d", 0.02) if name in WITHOUT_TASKS else ("-d", 0.02, "--comm", "nobody has it")
    somebody = ("-d", 0.3) if name in WITHOUT_TASKS else ("--", "sh", "-c", WORK)
    seen = {}
    for rows, scope in (("none", nobody), ("one", ("--top", 1, *somebody)), ("many", somebody)):
        if rows == "one" and not tops:
            continue
        running = {form: tool(*args, *FORMATS[form], *scope, tool=name, ready=False) for form in formats}
        for form, tracer in running.items():
            seen[rows, form] = check(name, form, tracer.wait())
    headings = {heading for (_, form), found in seen.items() if form == "csv" for heading in [tuple(found[0])]}
    assert len(headings) <= 1, headings


@pytest.mark.parametrize("form", FORMATS)
def test_repeated_runs(run, form):
    """Means of several runs: one time is a counter, the other is not."""
    check("stat", form, run("-r", 2, "-e", "cs,task-clock", *FORMATS[form], "--", "true", tool="stat"))


def test_one_table_in_csv(run):
    """Lines and a summary have columns of their own."""
    result = run("--csv", "--summary", "-d", 0.05, tool="timehist")
    assert result.code == 2 and "--summary=only" in result.stderr and not result.text, result
