# SPDX-License-Identifier: BSD-2-Clause
"""Selects and orders live tests, and records their outcomes: a pytest plugin that tests/live/run loads.

As a program it prints which tests the gate leaves out, and why.

The gate (make check) leaves out tests that are quarantined or expensive and, of each family (the cases of one
function), the cases beyond the family's seconds. check-live-all runs them all.

tests/costs         SECONDS TEST, the most expensive first: the last run of each. `make check-live-all` rewrites it,
                    `make check-live-new` adds the tests that it lacks.
tests/gate          families that get more or fewer seconds than the others. Fields are separated by " | ":
                    FAMILY | SECONDS | WHY; see there.
tests/quarantine    tests that the gate does not trust at present. Fields are separated by " | ":
                    TEST | REASON | SINCE | UNTIL | MEND | PASSED
                    SINCE and UNTIL are dates (2026-11-26), 14 days apart at most; MEND says what would mend the test;
                    PASSED is the number of passes in a row in check-live-all, which updates it.

Environment, set by tests/live/run:
TALLY_GATE          not empty: run the gate's tests only
TALLY_COSTS         a file to use in place of tests/costs
TALLY_OUTCOMES      a file: one line of JSON for each test that ran (see Outcome)
"""
import datetime
import json
import os
import subprocess
import sys
import zlib
from collections import namedtuple
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
COSTS = Path(os.environ.get("TALLY_COSTS") or TESTS / "costs")
QUARANTINE, RULES = TESTS / "quarantine", TESTS / "gate"

# A test that takes longer is not in the gate: it costs more than a hundred others.
DEAR_SECONDS = 10

# For a family without a rule: the longest case to run, and the seconds of all cases together.
CASE_SECONDS, FAMILY_SECONDS = 5, 4
ALL = float("inf")

# Quarantine is not a place to stay.
LONGEST_DAYS, ENOUGH_PASSES = 14, 20

Entry = namedtuple("Entry", "test reason since until mend passed")
Rule = namedtuple("Rule", "family seconds why")


def data_lines(path):
    if not path.exists():
        return []
    return [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def costs(path=COSTS):
    """{test: seconds}"""
    found = (line.split(None, 1) for line in data_lines(path))
    return {test: float(seconds) for seconds, test in found}


def collect(*folders):
    """(The names of the tests in folders, what pytest complained of)"""
    asked = subprocess.run([sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider",
                            "--rootdir", str(TESTS.parent), *folders], cwd=TESTS.parent, capture_output=True, text=True,
                           check=False)
    return {line for line in asked.stdout.splitlines() if "::" in line}, asked.stderr.strip()


def quarantine(path=QUARANTINE):
    """The entries. A line without six fields, or with a wrong date or number, raises ValueError."""
    entries = []
    for line in data_lines(path):
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) != len(Entry._fields) or not all(fields):
            raise ValueError(f"{path.name}: expected {len(Entry._fields)} fields: {line}")
        entry = Entry(*fields)
        entries.append(entry._replace(since=datetime.date.fromisoformat(entry.since),
                                      until=datetime.date.fromisoformat(entry.until), passed=int(entry.passed)))
    return entries


def faults(entries, today, known):
    """Faults in the entries of the quarantine. known(test): whether such a test exists."""
    for entry in entries:
        if not known(entry.test):
            yield f"{entry.test}: there is no such test"
        if not 0 <= (entry.until - entry.since).days <= LONGEST_DAYS:
            yield f"{entry.test}: {entry.since} to {entry.until} is longer than {LONGEST_DAYS} days"
        if entry.until < today:
            yield f"{entry.test}: its time ended on {entry.until}: mend or remove the test"
        if entry.passed >= ENOUGH_PASSES:
            yield f"{entry.test}: passed {entry.passed} times in a row: take it out of quarantine"


def rules(path=RULES):
    """{family: Rule}. A line without three fields, or with a wrong number, raises ValueError."""
    found = {}
    for line in data_lines(path):
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) != len(Rule._fields) or not all(fields) or fields[0] in found:
            raise ValueError(f"{path.name}: expected {len(Rule._fields)} fields, once for a family: {line}")
        family, seconds, why = fields
        found[family] = Rule(family, ALL if seconds == "all" else float(seconds), why)
    return found


def family_of(test):
    return test.partition("[")[0]


def limits(family, known):
    """The seconds that a case of the family may take, and that all of them together may take."""
    rule = known.get(family) or known.get(family.partition("::")[0])
    if rule is None:
        return CASE_SECONDS, FAMILY_SECONDS
    return ALL if rule.seconds == ALL else DEAR_SECONDS, rule.seconds


def taken(cases, longest, seconds):
    """The cases of a family, {test: seconds}, that the gate runs: in the order of a hash, so that a change of costs
    changes little, and neighbours are not chosen together. A case that does not fit is skipped for one that does. At
    least one case runs, unless all are too expensive."""
    found = []
    for test in sorted(cases, key=lambda test: zlib.crc32(test.encode())):
        if cases[test] <= longest and (cases[test] <= seconds or not found):
            found.append(test)
            seconds -= cases[test]
    return found


def families(known):
    """{family: {test: seconds}}"""
    found = {}
    for test, seconds in known.items():
        found.setdefault(family_of(test), {})[test] = seconds
    return found


def quarantined():
    """{test: why the gate does not run it}"""
    return {entry.test: f"in quarantine until {entry.until}: {entry.reason}" for entry in quarantine()}


def left_out():
    """{test: why the gate does not run it on this kernel}. Its guests run what tests/kernels/gate names."""
    out, known = {}, rules()
    for family, cases in families(costs()).items():
        longest, seconds = limits(family, known)
        kept = taken(cases, longest, seconds)
        for test in cases.keys() - kept:
            dear = cases[test] > longest
            out[test] = f"takes {cases[test]:.0f} s" if dear else f"its family takes {sum(cases.values()):.0f} s"
    return {**out, **quarantined()}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    if os.environ.get("TALLY_GATE"):
        out = quarantined() if os.environ.get("TALLY_GUEST") else left_out()
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in out])
        items[:] = [item for item in items if item.nodeid not in out]
    dearest_files_first(items)


def dearest_files_first(items):
    """Workers take whole files, one after the other: an expensive file that begins last would end last."""
    known, files = costs(), {}
    for item in items:
        files[item.path] = files.get(item.path, 0) + known.get(item.nodeid, 0.2)
    items.sort(key=lambda item: -files[item.path])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Marks failures of exact counts. A hang, or a machine without room, is not one of these."""
    outcome = yield
    report = outcome.get_result()
    if report.failed and item.get_closest_marker("exact") and call.excinfo.errisinstance(AssertionError):
        report.user_properties.append(("exact", True))


class Outcomes:
    """Writes the outcome of each test: {"test", "outcome", "seconds", "said", "exact"}, "outcome" is passed, failed or
    skipped. A test that fails may fail again in its teardown: the first failure is reported."""

    def __init__(self, path):
        self.path = path
        self.seen = {}

    def pytest_runtest_logreport(self, report):
        each = self.seen.setdefault(report.nodeid, {"test": report.nodeid, "outcome": "passed", "seconds": 0,
                                                    "said": "", "exact": False})
        each["seconds"] += report.duration
        if report.failed and each["outcome"] != "failed":
            each.update(outcome="failed", said=first_words(report), exact=("exact", True) in report.user_properties)
        elif report.skipped and each["outcome"] == "passed":
            each["outcome"] = "skipped"
        # A crashed worker's test has no teardown: the last line of a test counts.
        if report.when == "teardown" or report.failed:
            with open(self.path, "a") as file:
                file.write(json.dumps(each) + "\n")

    def pytest_collectreport(self, report):
        """A file that fails to be collected has no tests that could fail, or pass in a second try."""
        if report.failed:
            with open(self.path, "a") as file:
                file.write(json.dumps({"test": report.nodeid, "outcome": "failed", "seconds": 0,
                                       "said": first_words(report), "exact": True}) + "\n")


def first_words(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    said = (crash.message if crash else str(report.longrepr)).splitlines()[:3]
    return " ".join(" ".join(said).split())[:200]


def pytest_configure(config):
    # Under xdist the process that starts the workers sees the reports of all tests, even of crashed workers.
    if "TALLY_OUTCOMES" in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(os.environ["TALLY_OUTCOMES"]))


def main():
    """Prints one line per family for cases that the family's seconds leave out."""
    out, known = left_out(), costs()
    print(f"{len(known) - len(out):,} of {len(known):,} live tests; {len(out)} are left out here, "
          "make check-live-all runs them:")
    for family, cases in families(known).items():
        mine = {test: out[test] for test in cases if test in out}
        if len(mine) > 3:
            print(f"  {family}: {len(mine)} of {len(cases)} cases, of {sum(cases.values()):.0f} s")
            continue
        for test, why in mine.items():
            print(f"  {test}: {why}")


if __name__ == "__main__":
    main()
