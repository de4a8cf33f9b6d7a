# SPDX-License-Identifier: BSD-2-Clause
"""The form of the JSON that tools print, which docs/json.md describes for people."""

from fractions import Fraction

LOSSES = {"map_full", "no_memory", "missed", "unmatched", "read_fault", "negative", "recursion", "ring_full",
          "no_buffer", "unwound", "no_result", "bad_arithmetic", "text_too_long", "no_storage", "no_end",
          "too_deep"}
INEXACT = {"no_state", "stacks_full", "truncated", "nesting", "stack_memory", "incomplete"}

MEASUREMENT = {
    "tool": str, "command": str, "kernel": str, "cpus": int, "start_ns": int, "start": str, "duration_ns": int,
    "source": str, "value": str, "unit": str, "events": int, "filtered": int, "unaccounted": int, "corrected": int,
    "lost": dict, "inexact": dict, "groups": list,
}
MEASUREMENT_OPTIONAL = {
    "columns": dict,
    "begun_before": int,
    "answered": int,
    "throttled": int,
    "hidden": int,
    "note": str,
    "measured_ns": int,
    "left_out": int,
    "overhead": dict,
}

# A table may be that of a measurement, with its header.
TABLE_OPTIONAL = {
    "command": str,
    "kernel": str,
    "cpus": int,
    "start_ns": int,
    "start": str,
    "duration_ns": int,
    "source": str,
    "note": str,
    "measured_ns": int,
    "value": str,
    "events": int,
    "filtered": int,
    "unaccounted": int,
    "corrected": int,
    "begun_before": int,
    "answered": int,
    "throttled": int,
    "lost": dict,
    "inexact": dict,
    "hidden": int,
    "overhead": dict,
    "units": dict,
    "columns": dict,
}

ROLES = {"key", "label", "counter", "gauge", "minimum", "maximum", "mean", "percent", "at", "remark"}

GROUP = {
    "key": dict, "count": int, "sum": int, "min": int, "avg": int, "max": int, "p50": int,
    "p90": int, "p99": int, "p999": int, "buckets": list,
}
GROUP_OPTIONAL = {"min_exact": bool, "max_exact": bool}

KEY = {
    "cpu": int,
    "cgroup": str,
    "container": str,
    "container_id": str,
    "systemd_unit": str,
    "pidns": int,
    "uid": int,
    "user": str,
    "pid": int,
    "tid": int,
    "comm": str,
    "waker": str,
    "state": str,
    "syscall": str,
    "errno": str,
    "op": str,
    "fs": str,
    "mount": str,
    "disk": str,
    "flags": str,
    "local": str,
    "remote": str,
    "lport": int,
    "rport": int,
    "event": str,
    "stage": str,
    "device": str,
    "irq": str,
    "name": str,
    "softirq": str,
    "function": str,
    "kind": str,
    "workqueue": str,
    "reason": str,
    "lock": str,
    "type": str,
    "caller": str,
    "result": str,
    "owner": int,
    "owner_comm": str,
    "futex": str,
}


def is_large(value):
    """Integers that do not fit into signed 64 bits are printed as reals (docs/json.md)."""
    return type(value) is float and value.is_integer() and value >= 2 ** 63


def check_members(obj, wanted, optional, what):
    assert set(wanted) <= set(obj), f"{what} lacks {set(wanted) - set(obj)}"
    assert set(obj) <= set(wanted) | set(optional), f"{what} has {set(obj) - set(wanted)} too"
    for name, value in obj.items():
        kind = wanted.get(name) or optional[name]
        assert type(value) is kind or (kind is int and is_large(value)), f"{what}: {name} is {value!r}"
        assert kind is not int or value >= 0, f"{what}: {name} is {value}"


def check_buckets(group):
    last_before = -1
    for bucket in group["buckets"]:
        assert len(bucket) == 3 and all(type(n) is int for n in bucket), bucket
        first, last, n = bucket
        assert last_before < first <= last and n > 0, group["buckets"]
        # Exact up to 31, then a sixteenth of a power of two: at most 6.25 % wide.
        assert (last + 1 - first) * 16 <= max(first, 16), bucket
        last_before = last


def check_figures(group):
    assert group["count"] == sum(n for _, _, n in group["buckets"]), group
    figures = [group[name] for name in ("min", "p50", "p90", "p99", "p999", "max")]
    assert figures == sorted(figures), figures
    if not group["count"]:
        assert not any(figures) and not group["sum"] and not group["avg"], group
        return
    first, last = group["buckets"][0], group["buckets"][-1]
    assert first[0] <= group["min"] <= first[1], group
    assert last[0] <= group["max"] <= last[1], group
    assert group["avg"] == group["sum"] // group["count"], group
    assert group["min"] <= group["avg"] <= group["max"] or "min_exact" in group \
        or "max_exact" in group, group
    # The sum is exact; buckets only bound it.
    assert sum(a * n for a, _, n in group["buckets"]) <= group["sum"], group
    assert group["sum"] <= sum(b * n for _, b, n in group["buckets"]), group


def check_columns(report, rows):
    """Each column has a role, and no two rows have the same key: numbers that distinguish rows are part of it."""
    columns = report.get("columns", {})
    for name, column in columns.items():
        assert column["role"] in ROLES and set(column) <= {"role", "of", "per"}, (name, column)
        assert ("of" in column) >= (column["role"] in ("percent", "at")), (name, column)
    assert {name for row in rows for name in row} <= set(columns), columns
    keys = [name for name, column in columns.items() if column["role"] == "key"]
    labels = {name for name, column in columns.items() if column["role"] in ("key", "label", "at", "remark")}
    seen = set()
    # stat has a row for each event on the command line, where one may appear twice.
    twice = report.get("tool") == "stat"
    for row in rows:
        assert labels >= {name for name, cell in row.items() if isinstance(cell, str)}, (row, columns)
        key = tuple(row.get(name) for name in keys)
        assert twice or key not in seen, f"{key} is there twice: {columns}"
        seen.add(key)


def check_group(group):
    check_members(group, GROUP, GROUP_OPTIONAL, "group")
    check_members(group["key"], {}, KEY, "key")
    check_buckets(group)
    check_figures(group)


def check_losses(report):
    check_members(report["lost"], dict.fromkeys(LOSSES, int), {}, "lost")
    check_members(report["inexact"], dict.fromkeys(INEXACT, int), {}, "inexact")


def check_measurement(report):
    check_members(report, MEASUREMENT, MEASUREMENT_OPTIONAL, "report")
    check_losses(report)
    assert report["unit"] in ("ns", "count", "bytes")
    for group in report["groups"]:
        check_group(group)
    check_columns(report, [group["key"] for group in report["groups"]])
    keys = [tuple(sorted(g["key"].items())) for g in report["groups"]]
    assert len(set(keys)) == len(keys), "a key is there twice"
    shown = sum(g["count"] for g in report["groups"])
    if report.get("hidden"):
        assert shown < report["events"]
    else:
        assert shown == report["events"]


def check_table(report):
    check_members(report, {"tool": str, "rows": list}, TABLE_OPTIONAL, "table")
    if "lost" in report:
        check_losses(report)
    columns = {tuple(row) for row in report["rows"]}
    assert len(columns) <= 1, columns
    assert set(report.get("units", ())) <= {name for row in columns for name in row}, report["units"]
    assert set(report.get("units", {}).values()) <= {"ns", "bytes"}, report["units"]
    assert all(type(cell) in (str, int, float, type(None)) for row in report["rows"] for cell in row.values())
    assert ("columns" in report) == bool(report["rows"] and "start_ns" in report), set(report)
    if "columns" in report:
        check_columns(report, report["rows"])


# The figures that stat has for an event, in this order, after the key or the place.
COUNT = {
    "count": (int, float), "event": str, "ratio": float, "of": str, "stderr_percent": float,
    "running_percent": float, "unit": str, "why": str,
}
COUNT_NULL = {"count", "ratio", "of", "why"}
COUNT_PLACES = (["cpu"], ["core"], ["socket"])
EXPLAINED = {"event": str, "type": str, "how": str}


def check_count(row):
    figures = [name for name in COUNT if name in row]
    key = {name: value for name, value in row.items() if name not in COUNT}
    assert list(row) == [*key, *figures], f"columns {list(row)}"
    assert set(COUNT) - set(figures) <= {"stderr_percent"}, row
    if list(key) not in COUNT_PLACES:
        check_members(key, {}, KEY, "key")
        assert list(key) == [name for name in KEY if name in key], f"key {list(key)}"
    for name in figures:
        if row[name] is not None or name not in COUNT_NULL:
            assert isinstance(row[name], COUNT[name]), row
    assert (row["count"] is None) == (row["why"] is not None), row
    assert row["count"] is None or row["count"] >= 0, row
    assert row["ratio"] is None or row["of"], row
    assert 0 <= row["running_percent"] <= 100 and row["unit"], row


def check_stat(report):
    """-n explains; everything else counts."""
    if "value" not in report:
        for row in report["rows"]:
            check_members(row, EXPLAINED, {}, "row")
        return
    header = {"command", "kernel", "cpus", "start_ns", "start", "duration_ns"}
    assert header <= set(report), f"the report lacks {header - set(report)}"
    for row in report["rows"]:
        check_count(row)
    if "events" in report and not report.get("hidden"):
        assert report["events"] <= sum(row["count"] or 0 for row in report["rows"]), report


# Stacks have the header of a measurement. All members of an unknown frame are null.
FRAME = {"name": (str, type(None)), "module": (str, type(None)), "offset": (int, type(None)),
         "addr": (str, type(None))}
FRAME_OPTIONAL = {"inlined": bool, "python": bool, "file": str, "line": int}


def check_stacks(report):
    wanted = {name: kind for name, kind in MEASUREMENT.items() if name != "groups"}
    check_members(report, {**wanted, "stacks": list}, {**MEASUREMENT_OPTIONAL, "event_totals": list}, "report")
    check_losses(report)
    totals = {each["event"]: each["total"] for each in report.get("event_totals", [])}
    for each in report.get("event_totals", []):
        check_members(each, {"event": str, "unit": str, "total": int, "missed": int}, {"left_out": int}, "event")
    seen = set()
    for stack in report["stacks"]:
        check_members(stack, {"key": dict, "frames": list, "value": int}, {}, "stack")
        check_members(stack["key"], {}, KEY, "key")
        assert stack["value"] > 0 and stack["frames"], stack
        for frame in stack["frames"]:
            assert set(FRAME) <= set(frame) <= set(FRAME) | set(FRAME_OPTIONAL), frame
            assert all(isinstance(value, FRAME.get(name) or FRAME_OPTIONAL[name])
                       for name, value in frame.items()), frame
        # Equal stacks are merged: equal by names or, for frames without a name, by places.
        names = tuple((f["name"], f["module"], None if f["name"] else f["offset"], *map(f.get, FRAME_OPTIONAL))
                      for f in stack["frames"])
        key = tuple(sorted(stack["key"].items())), names
        assert key not in seen, f"{key} is there twice"
        seen.add(key)
    values = [stack["value"] for stack in report["stacks"]]
    # The largest first; by share if there are several events.
    shares = [
        Fraction(int(stack["value"]), totals[stack["key"]["event"]] if totals else 1) for stack in report["stacks"]
    ]
    assert shares == sorted(shares, reverse=True), shares
    # With --sum the values may be times, bytes, or anything.
    if report["unit"] == "count" and "--sum" not in report["command"]:
        assert sum(values) == report["events"] or (report.get("hidden") and sum(values) < report["events"])


# Annotated functions have the header of a measurement, too.
FUNCTION = {"name": str, "module": str, "addr": str, "size": int, "value": int,
            "why": (str, type(None)), "instructions": list}
INSTRUCTION = {"offset": int, "addr": str, "size": int, "mnemonic": (str, type(None)),
               "operands": (str, type(None)), "target": (dict, type(None)), "file": (str, type(None)),
               "line": (int, type(None)), "value": int}
TARGET = {"name": (str, type(None)), "offset": int, "addr": str}


def check_kinds(obj, wanted):
    assert list(obj) == list(wanted), obj
    assert all(isinstance(obj[name], kind) for name, kind in wanted.items()), obj


def check_functions(report):
    wanted = {name: kind for name, kind in MEASUREMENT.items() if name != "groups"}
    check_members(report, {**wanted, "functions": list}, MEASUREMENT_OPTIONAL, "report")
    check_losses(report)
    values = [function["value"] for function in report["functions"]]
    assert values == sorted(values, reverse=True) and sum(values) <= report["events"], values
    for function in report["functions"]:
        check_kinds(function, FUNCTION)
        end = 0
        for line in function["instructions"]:
            check_kinds(line, INSTRUCTION)
            assert int(line["addr"], 16) == int(function["addr"], 16) + line["offset"], line
            assert (line["mnemonic"] is None) == (line["operands"] is None) == (not line["size"]), line
            if line["target"]:
                check_kinds(line["target"], TARGET)
            # Instructions are adjacent; a row for samples elsewhere has no size.
            assert line["size"] or line["value"], line
            assert not line["size"] or line["offset"] == end, line
            end += line["size"]
        assert sum(line["value"] for line in function["instructions"]) == function["value"] > 0, function
        assert end <= function["size"] and (end == 0) == (function["why"] is not None), function


def check(report):
    """Raises AssertionError if a parsed line of JSON differs from its documentation."""
    if "functions" in report:
        check_functions(report)
        return
    if "stacks" in report:
        check_stacks(report)
        return
    if "rows" in report:
        check_table(report)
        if report["tool"] == "stat":
            check_stat(report)
        return
    check_measurement(report)
