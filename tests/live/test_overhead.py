# SPDX-License-Identifier: BSD-2-Clause
"""--overhead and --budget: the cost of a measurement, against the kernel's own figures."""

import os
import re
import signal
from pathlib import Path

import pytest

import tally
from probing import binary
from tally import once, wait_until

pytestmark = pytest.mark.exclusive


def kernel_runs(pid):
    """{id: runs} of the BPF programs that a process holds, as the kernel counts them."""
    found = {}
    for each in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            text = each.read_text()
        except FileNotFoundError:       # closed just now
            continue
        if "prog_type:" in text:
            value = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
            found[int(value["prog_id"])] = int(value["run_cnt"])
    return found


def test_runs_are_those_of_the_events(tool, trigger):
    """A program on a function that only the trigger calls runs once per call."""
    load = trigger("calls", 200, 2, 1)
    tracer = tool("--json", "--overhead", "-x", binary("calls"), "known_function", tool="probe")
    load.go()
    calls = load.done()[0]
    report = tally.Result(0, tracer.stop().stdout.splitlines()[-1] + b"\n", b"").report
    cost = report["overhead"]
    assert cost["runs"] == sum(p["runs"] for p in cost["programs"]) == calls
    assert cost["ns"] == sum(p["ns"] for p in cost["programs"]) > 0
    assert cost["cpu_percent"] == pytest.approx(100 * cost["ns"] / report["duration_ns"])
    assert cost["own_ns"] >= 0 and cost["map_bytes"] > 4096
    assert "budget_percent" not in cost and "over_budget_percent" not in cost


def test_intervals_add_up(tool, trigger):
    load = trigger("calls", 200, 2, 1)
    tracer = tool("--json", "--overhead", "-I", "100", "--hist", "$arg1", "-x", binary("calls"),
                  "known_function", tool="probe")
    load.go()
    calls = load.done()[0]
    tracer.await_lines(3)
    reports = tracer.stop().reports
    assert len(reports) >= 3
    assert sum(r["overhead"]["runs"] for r in reports) == calls == sum(r["events"] for r in reports)


@pytest.mark.parametrize("how", (signal.SIGINT, signal.SIGKILL))
def test_statistics_end_with_the_tool(tool, how):
    """The kernel counts runs of another tool's programs while this one lives, and not afterwards. Somebody else on this
    machine may have statistics on for a while, too."""
    other = tool(tool="syscount")

    def runs():
        return sum(kernel_runs(other.pid).values())

    def are_off():
        before = runs()
        for _ in range(1000):
            os.getppid()
        return runs() == before

    wait_until(are_off, "runs are not counted yet")
    tracer = tool("--overhead")
    assert not are_off()
    tracer.stop(how)
    wait_until(are_off, "runs are no longer counted")
    assert Path("/proc/sys/kernel/bpf_stats_enabled").read_text() == "0\n"


def test_what_the_start_took(tool):
    """CPU time of the process when it begins to count, against the two figures in /proc, each cut to a tick."""
    tick_ns = 10**9 // os.sysconf("SC_CLK_TCK")
    tracer = tool("--json", "--overhead")
    ticks = sum(map(int, Path(f"/proc/{tracer.pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    cost = tracer.stop().report["overhead"]
    assert cost["start_ns"] <= (ticks + 2) * tick_ns, (cost, ticks)
    # Only one write per measurement comes between the two readings.
    assert cost["start_ns"] >= ticks * tick_ns // 2 and cost["start_ns"] > 1_000_000, (cost, ticks)


def test_text(tool, trigger):
    load = trigger("calls", 100, 1, 1)
    tracer = tool("--overhead", "--hist", "$arg1", "-x", binary("calls"), "known_function", tool="probe")
    load.go()
    load.done()
    text = tracer.stop().text
    line = re.search(r"^overhead: programs \S+% of a CPU.* \((\S+) runs, (\d\S*) \S?s each\), hooks not included; "
                     r"this process .* of CPU, \d\S* \S?s more to start, maps .*B$", text, re.M)
    assert line and line[1] == "100", text
    assert re.search(r"^  \S+ +100 runs +\d\S* \S?s each +\d\S* \S?s in all$", text, re.M), text


@once
@pytest.mark.parametrize("args, code", ((("--csv",), 0), (("--format", "svg", "--heat"), 0)))
def test_where_reports_have_no_place_for_it(run, args, code):
    result = run("--overhead", "-d", "0.2", *args)
    assert result.code == code and "overhead: programs" in result.stderr
    assert "overhead:" not in result.text


def test_verbose_tells_own_cpu_time(run):
    assert re.search(r"this process used \S+ \S?s of CPU time", run("-v", "-d", "0.1").stderr)


# --- the budget ----------------------------------------------------------------------------------

LEAST = "0.0000001"


def test_budget_ends_the_run(run):
    """The window that exceeds the budget is the last one; all events in it are reported."""
    result = run("--json", "--budget", LEAST, "-d", "200", tool="syscount")
    cost = result.report["overhead"]
    assert result.code == 0 and "stopped" in result.stderr
    assert cost["budget_percent"] == float(LEAST) < cost["over_budget_percent"] <= 100
    assert result.report["events"] > 0
    assert result.report["duration_ns"] < 200e9


def test_budget_is_a_loss(run):
    result = run("--budget", LEAST, "--strict", "-d", "200", tool="syscount")
    assert result.code == 3
    assert f"--budget is {float(LEAST):g}%" in result.text


@once
def test_within_budget(run):
    result = run("--json", "--budget", "100", "--strict", "-d", "1.5", "-p", os.getpid())
    cost = result.report["overhead"]
    assert result.code in (0, 3) and "stopped" not in result.stderr
    assert cost["budget_percent"] == 100 and "over_budget_percent" not in cost
    assert result.report["duration_ns"] >= 1.4e9


@once
def test_the_dearest_of_several_ends_first(run, trigger):
    """Its name is reported. Its last report covers exactly the time until then; the other one goes on until it ends the
    run."""
    dear, cheap = "syscount -e getppid", "runqlat --comm nobody"
    load = trigger("syscalls", 1, "110:1000000000")
    load.go()
    result = run("--json", "--budget", LEAST, dear, cheap, "-d", "200", tool="run")
    tally.end_process(load.process)
    reports = {report["command"]: report for report in result.reports if "command" in report}
    left_out = [line for line in result.stderr.splitlines() if "is left out from now on" in line]
    assert result.code == 0 and len(left_out) == 1 and f"'{dear}'" in left_out[0] and "stopped" in result.stderr, result
    assert reports[dear]["events"] > 0 and reports[dear]["duration_ns"] < reports[cheap]["duration_ns"] - 0.5e9 < 200e9


def test_the_command_goes_on(run, tmp_path):
    """The command is no longer measured, but goes on."""
    done = tmp_path / "done"
    result = run("--json", "--budget", LEAST, "-a", "--", "sh", "-c", f"sleep 4; echo > {done}",
                 tool="syscount")
    assert result.code == 0 and done.exists()
    assert result.report["overhead"]["over_budget_percent"] > 0
    assert result.report["duration_ns"] < 4e9 or tally.GUEST


@once
@pytest.mark.parametrize("value", ("0", "101", "-1", "x", "1e1", "", "1%%", "nan"))
def test_wrong_budgets(run, value):
    result = run(f"--budget={value}", "-d", "0.1")
    assert result.code == 2 and "percent" in result.stderr


@once
@pytest.mark.parametrize("name", ("probe", "stackcount", "stat"))
def test_tools_that_cannot_stop_early(run, name):
    event = ("-e", "sched:sched_switch") if name == "stat" else ("sched:sched_switch",)
    result = run("--budget", "1%", *event, "--", "true", tool=name)
    assert result.code == 2 and "before the command ends" in result.stderr
