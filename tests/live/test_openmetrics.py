# SPDX-License-Identifier: BSD-2-Clause
"""--format openmetrics: results of a strict parser against the JSON of the same load."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as families_of_older_text

import schema
import tally
from accounts import tool_by_the_books, work  # noqa: F401
from tally import Blurred, flaws, once, scaled, steady, wait_until
from test_output import HOSTILE

METRICS = ("--format", "openmetrics")
GETPPID, READ = 110, 0


def parse(text):
    """{(name, labels): value} of all samples. Each family occurs once, with a type and help."""
    families = list(text_string_to_metric_families(text))
    assert len({f.name for f in families}) == len(families)
    assert all(f.type in ("counter", "gauge", "histogram") and f.documentation for f in families)
    found = {}
    for family in families:
        for s in family.samples:
            key = s.name, frozenset(s.labels.items())
            assert key not in found, f"{key} is there twice"
            found[key] = s.value
    return found


def figures(samples, name, label=None):
    """{label's value: sample's value} for a metric."""
    return {dict(labels).get(label): value for (n, labels), value in samples.items() if n == name}


WAIT = "tally_runqlat_wait_seconds"


def check_histogram(samples, group):
    """The samples below each bound, the count and the sum are those of the group in JSON."""
    key = frozenset((name, str(value)) for name, value in group["key"].items())
    below = {float(dict(l)["le"]): value for (n, l), value in samples.items()
             if n == f"{WAIT}_bucket" and key <= l}
    assert len(below) == 27 and below[float("inf")] == group["count"]
    for bound, value in below.items():
        ns = bound * 1e9 if bound == float("inf") else round(bound * 1e9)
        assert value == sum(n for _, last, n in group["buckets"] if last <= ns), bound
    assert samples[f"{WAIT}_count", key] == group["count"]
    assert samples[f"{WAIT}_sum", key] == pytest.approx(group["sum"] / 1e9, rel=1e-15)


def test_histograms_are_those_of_json(tool, trigger):
    def trial():
        load = trigger("sleepers", 3, scaled(100), 100, -1)
        args = "-p", load.pid, "--by", "tid"
        plain, metrics = tool("--json", *args), tool(*METRICS, *args)
        work(load)
        report, samples = plain.stop().report, parse(metrics.stop().text)
        lost = figures(samples, "tally_lost_total", "reason")
        inexact = figures(samples, "tally_inexact_total", "reason")
        assert set(lost) == schema.LOSSES and set(inexact) == schema.INEXACT
        if any(lost.values()) or any(inexact.values()) or any(flaws(report).values()):
            raise Blurred
        for group in report["groups"]:
            check_histogram(samples, group)
        assert len(figures(samples, f"{WAIT}_count", "tid")) == len(report["groups"]) >= 3
        assert figures(samples, "tally_events_total", "tool") == {"runqlat": report["events"]}
        assert report["events"] > 3 * scaled(100) - 10
        assert figures(samples, "tally_hidden_groups", "tool") == {"runqlat": 0}

    steady(trial)


def test_tables_are_those_of_json(tool, trigger):
    load = trigger("syscalls", 2, f"{GETPPID}:300", f"{READ}:200")
    tracer = tool(*METRICS, "-p", load.pid, tool="syscount")
    load.go()
    load.done()
    samples = parse(tracer.stop().text)
    calls = figures(samples, "tally_syscount_calls_total", "syscall")
    lost = sum(figures(samples, "tally_lost_total", "reason").values())
    assert 600 - lost <= calls["getppid"] <= 600
    assert 400 - lost <= figures(samples, "tally_syscount_errors_total", "syscall")["read"] <= 400
    assert sum(calls.values()) == figures(samples, "tally_events_total", "tool")["syscount"]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "tally.prom"


def test_counters_never_go_back(tool, trigger, file):
    """Each reading of the file is whole; the last one has the whole run, not the last interval."""
    load = trigger("syscalls", 1, f"{GETPPID}:500")
    file.write_text("of another run\n")
    tracer = tool(*METRICS, "-o", file, "-I", "50", "-p", load.pid, tool="syscount")
    seen = []

    def count():
        samples = parse(file.read_text())
        seen.append((figures(samples, "tally_measured_seconds_total", "tool").get("syscount", 0),
                     figures(samples, "tally_syscount_calls_total", "syscall").get("getppid", 0),
                     sum(figures(samples, "tally_lost_total", "reason").values())))
        return seen[-1]

    load.go()
    load.done()
    wait_until(lambda: sum(count()[1:]) >= 500, "the calls are in the file")
    before = count()[0]
    wait_until(lambda: count()[0] > before + 0.2, "several intervals without calls")
    assert tracer.stop().code == 0
    assert count()[1] <= 500 <= sum(count()[1:])
    assert all(a <= b for former, latter in zip(seen, seen[1:]) for a, b in zip(former, latter))
    assert os.listdir(file.parent) == [file.name]
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert file.stat().st_uid == os.geteuid()


def test_hostile_names(tool, trigger):
    load = trigger("names", 5, *HOSTILE)
    tracer = tool(*METRICS, "-p", load.pid, "--by", "tid,comm")
    work(load)
    text = tracer.stop().text
    names = {dict(labels)["tid"]: dict(labels)["comm"]
             for (name, labels) in parse(text) if name == f"{WAIT}_count"}
    assert names.items() >= {str(tid): shown for tid, shown in zip(load.numbers, HOSTILE.values())}.items()


def test_top_is_of_the_whole_run(tool, trigger):
    """--top ranks groups by the whole run; a group that comes back has its full total."""
    load = trigger("syscalls", 1, f"{GETPPID}:900", f"{READ}:100")
    tracer = tool(*METRICS, "--top", "1", "-p", load.pid, tool="syscount")
    load.go()
    load.done()
    samples = parse(tracer.stop().text)
    assert set(figures(samples, "tally_syscount_calls_total", "syscall")) == {"getppid"}
    assert figures(samples, "tally_hidden_groups", "tool")["syscount"] >= 1
    assert figures(samples, "tally_events_total", "tool")["syscount"] >= 1000 - \
        sum(figures(samples, "tally_lost_total", "reason").values())


def test_what_it_cost(tool, trigger):
    load = trigger("calls", 100, 2, 1)
    tracer = tool(*METRICS, "--overhead", "-x", tally.BUILD / "triggers/calls", "known_function",
                  "--by", "comm", tool="probe")
    load.go()
    calls = load.done()[0]
    samples = parse(tracer.stop().text)
    assert figures(samples, "tally_program_runs_total", "tool") == {"probe": calls}
    assert figures(samples, "tally_program_seconds_total", "tool")["probe"] > 0
    assert figures(samples, "tally_probe_events_total", "comm") == {"calls": calls}


def test_single_events_are_counted(tool, trigger):
    load = trigger("opens", 1, "openat:30:0:0:/dev/null")
    tracer = tool(*METRICS, "-p", load.pid, tool="opensnoop")
    load.go()
    load.done()
    samples = parse(tracer.stop().text)
    lost = sum(figures(samples, "tally_lost_total", "reason").values())
    assert 30 - lost <= figures(samples, "tally_events_total", "tool")["opensnoop"] <= 30


@once
def test_the_file_is_never_written_through_a_link(run, tmp_path, file):
    target = tmp_path / "target"
    target.write_text("mine")
    file.symlink_to(target)
    assert run(*METRICS, "-o", file, "-d", "0.1").code == 1
    assert target.read_text() == "mine" and file.is_symlink()
    file.unlink()
    # Nor through a link that has the temporary name; $$ is the tool's pid.
    line = f'ln -s {target} {tmp_path}/.tally.prom.$$.tally; exec "$0" "$@"'
    assert subprocess.run(["sh", "-c", line, tally.BUILD / "runqlat", *METRICS, "-o", file, "-d", "0.1"],
                          check=False).returncode == 0
    assert target.read_text() == "mine" and not file.is_symlink()
    parse(file.read_text())
    result = run(*METRICS, "-o", tmp_path / "none" / "file", "-d", "0.1")
    assert result.code == 1 and "No such file" in result.stderr


@once
@pytest.mark.parametrize("tool_name, args", (
    ("runqlat", ("--heat",)), ("timehist", ()), ("timechart", ("-o", "x")), ("profile", ()),
    ("offcputime", ()), ("list", ()), ("tally", ("doctor",)),
))
def test_what_has_no_place_in_it(run, tool_name, args):
    result = run(*args, *METRICS, tool=tool_name)
    assert result.code == 2 and "openmetrics" in result.stderr, result
    assert not Path("x").exists()


@once
def test_explain_is_text(run):
    result = run(*METRICS, "-n")
    assert result.code == 0 and result.text.splitlines()[0].split()[0] == "source"


def test_each_column_says_whether_it_adds_up(run):
    """kmem's sums are counters and its shares gauges, whatever their names; each has a HELP."""
    text = run("--format", "openmetrics", "--", "sh", "-c", "ls -lR /etc > /dev/null", tool="kmem").text
    types = dict(line.split()[2:4] for line in text.splitlines() if line.startswith("# TYPE "))
    helped = {line.split()[2] for line in text.splitlines() if line.startswith("# HELP ")}
    assert helped == set(types)
    kmem = {name.removeprefix("tally_kmem_"): kind for name, kind in types.items() if "_kmem_" in name}
    assert kmem == {"allocs": "counter", "requested_bytes": "counter", "allocated_bytes": "counter",
                    "wasted_bytes": "counter", "wasted_ratio": "gauge", "failed": "counter",
                    "frees": "counter"}


# Dashboards use these names: a change needs a line in CHANGELOG.
HISTOGRAMS = {
    "runqlat": {"wait_seconds"}, "runqlen": {"tasks_waiting"}, "cpudist": {"on_cpu_seconds"},
    "cpudist --off": {"off_cpu_seconds"}, "fsdist": {"call_seconds"}, "syscount --hist": {"call_seconds"},
    "probe syscalls:sys_enter_read --hist count": {"value"},
}
TIMES = {"wait_avg_seconds", "wait_p50_seconds", "wait_p99_seconds", "wait_max_seconds"}
RUNS = {name.replace("wait", "run") for name in TIMES} | {"events", "run_seconds", "cpu_ratio"}
NAMES = HISTOGRAMS | {
    "futexstat": TIMES | {"events", "wait_seconds", "waiting_ratio"}, "softirqs": RUNS, "timers": RUNS,
    "uringstat": {name.replace("wait", "request") for name in TIMES} | {"events", "request_seconds"},
    "why": {"time_seconds", "events", "phase_avg_seconds", "phase_p50_seconds", "phase_p99_seconds",
            "phase_max_seconds", "share_ratio"},
    "schedlat": {"runtime_seconds", "switches", "wait_seconds", "wait_avg_seconds", "wait_max_seconds"},
    "stat -e task-clock,cs": {"events", "events_seconds", "running_ratio"},
    "migrations --matrix": {"moves"},
    "trace -c": {"calls", "errors", "running", "call_seconds", "call_avg_seconds", "call_min_seconds",
                 "call_max_seconds", "std_error_seconds", "for_seconds"},
    "bpftop": {"programs", "runs", "time_seconds", "cpu_ratio", "run_avg_seconds", "machine_ratio", "memory_bytes",
               "maps_bytes", "misses", "age_seconds", "attachments", "owners"},
    "vitals": {"value", "value_bytes", "limit", "limit_bytes", "limit_ratio", "share_ratio", "events", "events_bytes",
               "events_seconds", "whole", "whole_bytes", "whole_seconds"},
}


@once
@pytest.mark.parametrize("line", NAMES)
def test_names_of_metrics(run, line):
    """Metric names are no sentences from the text output, and contain no keys."""
    tool_name, *args = line.split()
    of_all = tool_name in ("runqlen", "softirqs", "timers", "migrations", "bpftop", "vitals")
    work = ("-d", "0.5") if of_all else ("--", "sh", "-c", "ls -R /etc > /dev/null & wait")
    if tool_name == "uringstat":
        if not tally.allows_io_uring():
            pytest.skip("this machine forbids io_uring")
        work = ("--", tally.BUILD / "triggers/uring", 2, 0)
    text = run(*args, "--format", "openmetrics", *work, tool=tool_name).text
    found = {words[2].removeprefix(f"tally_{tool_name}_") for words in map(str.split, text.splitlines())
             if words[:2] == ["#", "TYPE"] and words[2].startswith(f"tally_{tool_name}_")}
    assert found <= NAMES[line], text
    assert found == NAMES[line] or tool_name in ("migrations", "futexstat", "trace", "bpftop", "vitals"), text


def test_a_row_has_the_units_it_has(run):
    """stat counts times and events: no row is in both families."""
    text = run("--format", "openmetrics", "-d", "0.2", "-e", "task-clock,cs", tool="stat").text
    samples = [line.split("{")[1].split("}")[0] for line in text.splitlines()
               if line.startswith("tally_stat_events")]
    assert sorted(samples) == ['event="cs"', 'event="task-clock"']


def samples_of(families):
    return {(s.name, frozenset(s.labels.items())) for family in families for s in family.samples}


@once
@pytest.mark.parametrize("tool_name, args", (("syscount", ()), ("runqlat", ("--by", "comm")),
                                             ("profile", ("--by", "comm,sym")), ("funcgraph", None)))
def test_the_older_text(run, file, tool_name, args):
    """For node_exporter's textfile collector: counters have their type and help under the name of their samples."""
    if args is None:
        args = ("-x", tally.BUILD / "triggers" / "tree", "main")
    command = ("--", tally.BUILD / "triggers" / "tree", "1", "1") if tool_name == "funcgraph" else ("-d", "0.3")
    ran = run(*args, "--format", "prometheus", "-o", file, *command, tool=tool_name)
    assert ran.code == 0, ran
    text = file.read_text()
    assert "# EOF" not in text and "# UNIT" not in text
    families = list(families_of_older_text(text))
    assert not [
        f.name for f in families if f.type not in ("counter", "gauge", "histogram") or not f.documentation
    ], text
    # The parser strips _total from families and keeps it in samples.
    counters = {f.name for f in families if f.type == "counter"}
    assert {"tally_lost", "tally_measured_seconds"} <= counters, counters
    assert f'tally_up{{tool="{tool_name}"}} 1\n' in text, text


@once
def test_both_texts_have_the_same(tool, trigger, tmp_path):
    """The served text and the file of one run have the same samples."""
    from test_listen import OPENMETRICS, ask, free_port
    port, path = free_port(), tmp_path / "tally.prom"
    tool("--listen", port, "--format", "prometheus", "-o", path, "-I", 300, tool="syscount")

    def both():
        served, text = ask(port, Accept=OPENMETRICS).text, path.read_text() if path.exists() else ""
        return "tally_syscount_calls_total" in text and \
            samples_of(text_string_to_metric_families(served)) == samples_of(families_of_older_text(text))

    wait_until(both, "both of one interval")
