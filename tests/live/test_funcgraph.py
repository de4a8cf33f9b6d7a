# SPDX-License-Identifier: BSD-2-Clause
"""funcgraph: the number and time of calls on each path, compared with programs that know both."""

import json
import platform

import pytest

import schema
from probing import alike, binary
from snooping import await_call
from tally import end_process, flaws, scaled
from test_attach import needs_kprobes

PREAD = {"x86_64": "__x64_sys_pread64", "aarch64": "__arm64_sys_pread64"}[platform.machine()]
SPANS, TREE, THROWS = (binary(name) for name in ("spans", "tree", "throws"))


def graph_of(result):
    """The report, and its rows by path."""
    assert result.code == 0, result
    report = json.loads(result.text.splitlines()[-1])
    schema.check(report)
    rows = {row["path"]: row for row in report["rows"]}
    assert len(rows) == len(report["rows"]), "a path is there twice"
    assert report.get("hidden") or report["events"] == sum(row["calls"] for row in rows.values())
    return report, rows


def measure(tool, load, *args):
    """The report on the work of a program, its rows by path, and the program's own numbers."""
    tracer = tool("--json", *args, "-p", load.pid, tool="funcgraph")
    load.go()
    numbers = load.done()
    return *graph_of(tracer.stop()), numbers


def calls(rows):
    return {path: row["calls"] for path, row in rows.items()}


def children(rows, path):
    return [row for other, row in rows.items() if other.rpartition(";")[0] == path]


def times_add_up(rows):
    """A path's time is its own and that of the paths that it calls, to the ns, if all of these have returned."""
    for path, row in rows.items():
        assert row["total"] == row["self"] + sum(child["total"] for child in children(rows, path)), path
        assert row["total"] >= row["max"] >= row["avg"], path
    outermost = sum(row["total"] for path, row in rows.items() if ";" not in path)
    assert outermost == sum(row["self"] for row in rows.values())


@pytest.mark.everywhere
@pytest.mark.parametrize("threads", (1, 3))
def test_paths_and_times(tool, trigger, threads):
    """Exact calls of each path; times between those that the functions measure inside and those that their callers
    measure around them."""
    n = scaled(300)
    report, rows, numbers = measure(tool, trigger("tree", n, threads), "-x", TREE, "outer,left,right", "leaf")
    times = dict(zip(("outer", "left", "right", "leaf"), zip(numbers[::2], numbers[1::2])))
    all_calls = n * threads
    assert calls(rows) == {"outer": all_calls, "outer;left": all_calls, "outer;right": all_calls,
                           "outer;left;leaf": 2 * all_calls, "outer;right;leaf": all_calls}
    assert not any(flaws(report).values())
    times_add_up(rows)
    for name, (inside, around) in times.items():
        total = sum(row["total"] for row in rows.values() if row["function"] == name)
        assert inside <= total <= around, name


@alike
def test_functions_that_are_not_traced_are_left_out_of_paths(tool, trigger):
    n = scaled(100)
    _, rows, _ = measure(tool, trigger("tree", n, 1), "-x", TREE, "outer", "lea*")
    assert calls(rows) == {"outer": n, "outer;leaf": 3 * n}
    times_add_up(rows)


@pytest.mark.everywhere
def test_recursion(tool, trigger):
    """Each depth is a separate path, up to the limit; deeper calls are counted as such."""
    n = scaled(20)
    report, rows, _ = measure(tool, trigger("spans", "nested", n, 2, 99), "-x", SPANS, "recursive")
    assert calls(rows) == {";".join(["recursive"] * depth): 2 * n for depth in range(1, 65)}
    lost = flaws(report)
    assert lost.pop("too_deep") == 2 * n * 36 and not any(lost.values())
    times_add_up(rows)


@alike
def test_max_depth(tool, trigger):
    """Deeper calls are filtered, and their time is that of their callers."""
    n = scaled(50)
    report, rows, _ = measure(tool, trigger("spans", "nested", n, 1, 9), "-x", SPANS, "recursive",
                              "--max-depth", 3)
    assert calls(rows) == {";".join(["recursive"] * depth): n for depth in range(1, 4)}
    assert report["filtered"] == 7 * n and not any(flaws(report).values())
    times_add_up(rows)


@pytest.mark.everywhere
def test_tail_calls(tool, trigger):
    """first() jumps to second(), which returns for both: second() counts as called by first()."""
    n = scaled(200)
    report, rows, (_, inner, around) = measure(tool, trigger("spans", "tail", n, 2), "-x", SPANS, "first,second")
    assert calls(rows) == {"first": 2 * n, "first;second": 2 * n}
    assert not any(flaws(report).values())
    times_add_up(rows)
    assert inner <= rows["first;second"]["total"] <= rows["first"]["total"] <= around


@pytest.mark.everywhere
def test_longjmp(tool, trigger):
    """A third of the calls is left without a return: counted as such, and in no path."""
    n, threads = scaled(300), 2
    report, rows, _ = measure(tool, trigger("spans", "jump", n, threads), "-x", SPANS, "work,jumping")
    left = len(range(2, n, 3)) * threads
    assert calls(rows) == {"work": threads, "work;jumping": n * threads - left}
    lost = flaws(report)
    assert lost.pop("unwound") == left and not any(lost.values())


@alike
def test_exceptions(tool, trigger):
    """cleaner() is left by the exceptions of thrower(), which only main() catches: on every third call."""
    load = trigger("throws", 60)
    report, rows, (caught, jumped, _) = measure(
        tool, load, "-x", THROWS, "middle,thrower,cleaner,jumper,handing,handed"
    )
    assert caught and jumped == 30
    threw = caught // 2
    # middle(i) and cleaner(i) call thrower() once each, with the same i.
    assert calls(rows)["middle"] == calls(rows)["middle;thrower"] == 60 - threw
    assert calls(rows)["cleaner"] == calls(rows)["cleaner;thrower"] == 60 - threw
    assert calls(rows)["jumper"] == 30
    lost = flaws(report)
    assert lost.pop("unwound") == 2 * caught + jumped and not any(lost.values())
    assert calls(rows)["handing"] == calls(rows)["handing;handed"] == 60
    assert "middle;thrower;cleaner" not in rows and "jumper;jumper" not in rows


@pytest.mark.everywhere
def test_threads_that_exit_inside(tool, trigger):
    """Their calls never finished; their time is reported."""
    n = scaled(40)
    report, rows, _ = measure(tool, trigger("spans", "exit", n, 1), "-x", SPANS, "leaving")
    assert calls(rows) == {"leaving": len(range(0, n, 2))}
    assert rows["leaving"]["unfinished"] == len(range(1, n, 2)) and rows["leaving"]["unfinished_ns"] > 0
    assert not any(flaws(report).values())


@alike
def test_a_command_that_exits_in_main(run):
    """main() calls exit(): it has not returned, and was open for no longer than the run."""
    n = 50
    result = run("--json", "-x", TREE, "main,work,outer", "--", TREE, n, 1, tool="funcgraph")
    report, rows = graph_of(result)
    assert calls(rows) == {"main": 0, "work": 1, "work;outer": n}
    main = rows["main"]
    assert (main["unfinished"], main["avg"], main["max"]) == (1, None, None)
    assert 0 < main["unfinished_self_ns"] == main["unfinished_ns"] <= report["duration_ns"]
    assert not any(flaws(report).values())


@alike
def test_calls_that_go_on_when_the_run_ends(tool, trigger):
    """An outer call's own time is its time less that of the inner one."""
    load = trigger("sleepers", 1, 1, 3600 * 1_000_000, -1)
    tracer = tool("--json", "-x", "libc", "nanosleep,clock_nanosleep", "-p", load.pid, tool="funcgraph")
    load.go()
    sleeper = max(load.tids())
    await_call(sleeper, {"x86_64": 230, "aarch64": 115}[platform.machine()])
    report, rows = graph_of(tracer.stop())
    end_process(load.process)
    outermost, = (row for path, row in rows.items() if ";" not in path)
    assert outermost["unfinished"] == 1 and 0 < outermost["unfinished_ns"] <= report["duration_ns"]
    assert sum(row["unfinished_self_ns"] for row in rows.values()) == outermost["unfinished_ns"]


@alike
def test_intervals(tool, trigger):
    """A call is in the interval in which it ended, and in no other one."""
    n = scaled(300)
    load = trigger("tree", n, 1)
    tracer = tool("--json", "-x", TREE, "outer,left,right,leaf", "-p", load.pid, "0.05", tool="funcgraph")
    load.go()
    load.done()
    result = tracer.stop()
    assert result.code == 0, result
    reports = [json.loads(line) for line in result.text.splitlines()]
    found = {}
    for report in reports:
        schema.check(report)
        assert not any(flaws(report).values())
        for row in report["rows"]:
            found[row["path"]] = found.get(row["path"], 0) + row["calls"]
    assert found == {"outer": n, "outer;left": n, "outer;right": n, "outer;left;leaf": 2 * n, "outer;right;leaf": n}


@alike
def test_folded(tool, trigger):
    """Folded stacks are the paths with the time of each itself."""
    n = scaled(50)
    load = trigger("tree", n, 1)
    tracer = tool("--format", "folded", "-x", TREE, "outer,left,right,leaf", "-p", load.pid, tool="funcgraph")
    load.go()
    numbers = load.done()
    result = tracer.stop()
    assert result.code == 0, result
    folded = dict(line.rsplit(" ", 1) for line in result.text.splitlines())
    assert set(folded) == {"outer", "outer;left", "outer;right", "outer;left;leaf", "outer;right;leaf"}
    inside, around = numbers[:2]
    assert inside <= sum(map(int, folded.values())) <= around


@alike
def test_top_keeps_callers(tool, trigger):
    """The longest paths and their callers; others are counted."""
    load = trigger("spans", "nested", scaled(20), 1, 9)
    report, rows, _ = measure(tool, load, "-x", SPANS, "recursive", "--top", 4)
    assert list(rows) == [";".join(["recursive"] * depth) for depth in range(1, 5)] and report["hidden"] == 6


@alike
@pytest.mark.parametrize("args, said", (
    ((), "no function given"), (("sched:sched_switch",), "the time a function takes"),
    (("-x", SPANS, "recursive left"), "expected only the name of a function"),
    (("-x", SPANS, "recursive", "--max-depth", "65"), "--max-depth"),
    (("-x", SPANS, "recursive", "--sort", "min"), "unknown column 'min'"),
    (("-x", SPANS, "recursive", "--format", "tabel"), "--format"),
))
def test_wrong_usage(run, args, said):
    result = run(*args, "-d", "0.1", tool="funcgraph")
    assert result.code in (1, 2) and said in result.stderr, result


@pytest.mark.everywhere
@needs_kprobes
def test_functions_of_the_kernel(tool, trigger):
    """vfs_read() below the program's system call, as often as the program makes it; and no other one."""
    n = scaled(400)
    load = trigger("reads", n, 50)
    report, rows, _ = measure(tool, load, f"{PREAD},vfs_read")
    outer, inner = rows[PREAD], rows[f"{PREAD};vfs_read"]
    assert outer["calls"] == inner["calls"] == n
    assert not any(flaws(report).values())
    assert outer["total"] == outer["self"] + inner["total"]


@pytest.mark.everywhere
@needs_kprobes
def test_functions_of_a_program_and_of_the_kernel(tool, trigger):
    """A kernel function's caller is the program's function that makes the system call."""
    n = scaled(100)
    load = trigger("tree", n, 1)
    report, rows, _ = measure(tool, load, f"{TREE}:outer,{TREE}:leaf", "ksys_write")
    assert rows["outer"]["calls"] == n and rows["outer;leaf"]["calls"] == 3 * n
    assert rows["ksys_write"]["calls"] == 1         # done
    assert not any(flaws(report).values())
