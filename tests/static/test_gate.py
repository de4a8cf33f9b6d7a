# SPDX-License-Identifier: BSD-2-Clause
"""The gate itself: what it leaves out, what it tries again, what it fails for, and what it says of that."""
import contextlib
import datetime
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import chosen
import tally
from sources import BUILD, ROOT

TODAY = datetime.date(2026, 11, 26)
LINE = "tests/live/test_x.py::test_y | fails beside others | 2026-11-20 | 2026-12-01 | scope it by pid | 3"


# --- lists -----------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def collected():
    """The names of all live tests."""
    names, said = chosen.collect("tests/live", "tests/incidents")
    if "run them as root" in said or "build first" in said:
        pytest.skip(said)
    return names


def test_quarantine(collected):
    found = list(chosen.faults(chosen.quarantine(), datetime.date.today(), collected.__contains__))
    assert not found, "\n".join(found)


def test_costs_are_of_tests_that_exist(collected):
    """Names that are gone do no harm, but if many are gone, the gate no longer knows what is dear."""
    known = chosen.costs()
    assert len(known.keys() & collected) >= 0.9 * len(collected), "make check-live-new adds to tests/costs"


def test_each_family_has_a_case_in_the_gate():
    """Each family holds a change back by some case. Only families that are dear or quarantined are left out."""
    out, known = chosen.left_out(), chosen.rules()
    held = {entry.test for entry in chosen.quarantine()}
    absent = {family: cases for family, cases in chosen.families(chosen.costs()).items() if cases.keys() <= out.keys()}
    for family, cases in absent.items():
        longest, _ = chosen.limits(family, known)
        assert all(seconds > longest or test in held for test, seconds in cases.items()), family
    assert len(absent) <= len(chosen.families(chosen.costs())) // 30, sorted(absent)


def test_rules_are_of_families_that_exist(collected):
    families = {chosen.family_of(test) for test in collected}
    known = families | {family.partition("::")[0] for family in families}
    assert not chosen.rules().keys() - known


@pytest.mark.parametrize("costs, longest, seconds, number", (
    ({"f[a]": 1, "f[b]": 1, "f[c]": 1}, 5, 2, 2),
    ({"f[a]": 4, "f[b]": 6}, 5, 1, 1),                 # one at least
    ({"f[a]": 6, "f[b]": 7}, 5, 15, 0),                # all too dear
    ({"f[a]": 60, "f[b]": 70}, chosen.ALL, chosen.ALL, 2),
))
def test_cases_of_a_family(costs, longest, seconds, number):
    kept = chosen.taken(costs, longest, seconds)
    assert len(kept) == number and kept == chosen.taken(dict(reversed(costs.items())), longest, seconds)


@pytest.mark.parametrize("line", ("f | 3", "f | few | why", "f | 3 | ", "f | 3 | a\nf | 4 | b"))
def test_a_line_that_is_no_rule(tmp_path, line):
    path = tmp_path / "gate"
    path.write_text(line + "\n")
    with pytest.raises(ValueError):
        chosen.rules(path)


def quarantine_of(tmp_path, text):
    path = tmp_path / "quarantine"
    path.write_text("# about\n" + text + "\n")
    return chosen.quarantine(path)


@pytest.mark.parametrize("line, known, wrong", (
    (LINE, True, ()),
    (LINE, False, ("there is no such test",)),
    (LINE.replace("2026-12-01", "2026-12-05"), True, ("longer than 14 days",)),
    (LINE.replace("2026-12-01", "2026-11-25"), True, ("its time ended on 2026-11-25",)),
    (LINE.replace("| 3", "| 20"), True, ("passed 20 times in a row",)),
))
def test_faults_of_the_quarantine(tmp_path, line, known, wrong):
    found = list(chosen.faults(quarantine_of(tmp_path, line), TODAY, lambda test: known))
    assert len(found) == len(wrong) and all(words in said for words, said in zip(wrong, found)), found


@pytest.mark.parametrize("line", (LINE.rpartition(" | ")[0], LINE.replace("2026-11-20", "soon"),
                                  LINE.replace("| 3", "| often")))
def test_a_line_that_is_no_entry(tmp_path, line):
    with pytest.raises(ValueError):
        quarantine_of(tmp_path, line)


# --- runs ------------------------------------------------------------------------------------------

TESTS = '''
import os, pathlib, time
import pytest

HERE = pathlib.Path(__file__).parent

def times(name):
    """How often this was called with that name."""
    with open(HERE / name, "a+") as file:
        file.write("x")
        file.seek(0)
        return len(file.read())

def test_passes():
    pass

def test_skips():
    pytest.skip("not here")

def test_fails_once():
    assert times("once") > 1, "bad luck"

@pytest.mark.exact
def test_exact():
    assert times("exact") > 1, "a count"

@pytest.mark.exclusive
def test_alone():
    assert times("alone") > 2, "twice bad luck"

{more}
'''
ALWAYS = "def test_always_fails():\n    assert times('always') < 0, 'a fault'\n"
CRASHES = "def test_crashes():\n    if times('crash') < 2: os._exit(3)\n"


@pytest.fixture
def inside():
    """A folder below the top of the tree: pytest names tests from there."""
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        yield Path(folder)


def run(inside, more, *options, **env):
    path = inside / "test_sample.py"
    path.write_text(TESTS.replace("{more}", more))
    (inside / "conftest.py").write_text("def pytest_configure(config):\n    for name in 'exact', 'exclusive':\n"
                                          "        config.addinivalue_line('markers', name)\n")
    env = {**os.environ, "TALLY_LEDGER": str(inside / "ledger"), "TALLY_GUEST": "", **env}
    result = subprocess.run([sys.executable, str(ROOT / "tests/live/run"), *options, str(path)], capture_output=True,
                            text=True, check=False, env=env)
    return result, result.stdout.splitlines()


needs_workers = pytest.mark.skipif(not importlib.util.find_spec("xdist"), reason="needs python3-pytest-xdist")


@needs_workers
def test_what_fails_and_then_passes_does_not_hold_back(inside):
    result, lines = run(inside, CRASHES, "--gate")
    assert result.returncode == 0, result.stdout
    assert re.fullmatch(r"5 passed, 1 skipped, 4 again in [\d.]+s", lines[-1]), lines[-1]
    ledger = [json.loads(line) for line in (inside / "ledger").read_text().splitlines()]
    names = [each["test"].rpartition("::")[2] for each in ledger]
    assert sorted(names) == ["test_alone", "test_crashes", "test_exact", "test_fails_once"]
    assert all(each["kernel"] == os.uname().release and each["cpu"] and each["said"] for each in ledger), ledger
    named = lines[lines.index("failed at first, then passed (build/check.flaky):") + 1:]
    assert any("test_exact: " in line and "a count" in line for line in named), named


@needs_workers
def test_what_fails_each_time_holds_back(inside):
    result, lines = run(inside, ALWAYS, "--gate")
    assert result.returncode == 1, result.stdout
    assert re.fullmatch(r"1 failed, 4 passed, 1 skipped, 4 again in [\d.]+s", lines[-1]), lines[-1]
    named = lines[lines.index("failed each time:") + 1:]
    assert "test_always_fails: " in named[0] and "a fault" in named[0], named
    assert len((inside / "always").read_text()) == 3


@needs_workers
def test_no_time_for_tries_is_a_failure(inside):
    """A hang in a second try ends with the tries' time."""
    result, lines = run(inside, "def test_slow():\n    times('slow') < 2 and [][0]\n    time.sleep(100)\n", "--gate",
                        TALLY_TRIES_SECONDS="4")
    assert result.returncode == 1 and any("test_slow: " in line for line in lines[-3:]), result.stdout


@needs_workers
def test_strict_runs_do_not_try_counts_again(inside):
    result, lines = run(inside, "")
    assert result.returncode == 1, result.stdout
    named = lines[lines.index("not run again, for their counts are exact:") + 1:]
    assert "test_exact: " in named[0] and len(named) == 2, named
    assert len((inside / "once").read_text()) == 1


@needs_workers
def test_costs_of_new_tests(inside):
    """Only tests without costs run, and costs of tests that are gone are removed."""
    costs = inside / "costs"
    path = f"{inside.relative_to(ROOT)}/test_sample.py::"
    names = "test_fails_once", "test_exact", "test_alone"
    costs.write_text(f"# a heading\n7.00 {path}test_gone\n5.00 {path}test_passes\n")
    result, lines = run(inside, "", "--new", TALLY_COSTS=str(costs))
    assert result.returncode == 1 and re.fullmatch(r"3 failed, 1 skipped in [\d.]+s", lines[-1]), result.stdout
    first, second, *others = costs.read_text().splitlines()
    assert (first, second) == ("# a heading", f"5.00 {path}test_passes")
    assert sorted(line.split()[1] for line in others) == sorted(path + name for name in (*names, "test_skips"))
    assert not run(inside, "", "--new", TALLY_COSTS=str(costs))[0].returncode
    assert [len((inside / name).read_text()) for name in ("once", "exact", "alone")] == [1, 1, 1]


def test_an_error_of_the_whole_is_a_failure(inside):
    result, _ = run(inside, "syntax error", "--gate")
    assert result.returncode not in (0, 5), result.stdout


@needs_workers
def test_a_file_that_cannot_be_collected_holds_back(inside):
    """Beside tests that fail and then pass: it is named as their like in another folder."""
    other = inside / "other"
    other.mkdir()
    (other / "test_sample.py").write_text("def test_other():\n    pass\n")
    result, lines = run(inside, "", "--gate", str(other / "test_sample.py"))
    assert result.returncode == 1, result.stdout
    named = lines[lines.index("failed each time:") + 1:]
    assert "test_sample.py: " in named[0] and "import file mismatch" in named[0], named


# --- helpers that know the machine -------------------------------------------------------------------

def test_holes_when_threads_of_process_1_come_and_go(monkeypatch):
    """The number only rises, and nobody takes it for exact when a thread has come or gone."""
    threads = {}
    monkeypatch.setattr(tally, "pvm_guest", lambda: True)
    monkeypatch.setattr(tally, "books_of_threads",
                        lambda pid: {tid: tally.Books(0, 0, n) for tid, n in threads.items()})
    monkeypatch.setattr(tally, "_holes", type("Fresh", (), {"seen": {}, "found": 0}))
    threads.update({1: 100, 20: 50})
    first = tally.holes()
    threads.update({1: 103, 20: 54})
    assert tally.holes() - first == 7
    del threads[20]
    gone = tally.holes()
    assert gone - first >= tally.MANY_HOLES
    threads[21] = 1
    assert tally.holes() - gone >= tally.MANY_HOLES


def test_a_trigger_that_somebody_kills_is_noticed():
    """Unless the test expects it, or has ended it itself."""
    tally.Trigger("yield", 1, 1, 0).close()
    for status, ends_it in ((0, False), (-signal.SIGKILL, False), (0, True)):
        load = tally.Trigger("yield", 1, 1, 0, status=status)
        os.kill(load.pid, signal.SIGKILL)
        if ends_it:
            tally.end_process(load.process)
        with contextlib.nullcontext() if status or ends_it else pytest.raises(AssertionError, match="status -9"):
            load.close()
