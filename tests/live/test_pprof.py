# SPDX-License-Identifier: BSD-2-Clause
"""--format pprof and speedscope: a reader finds in the files the work of the trigger, and the sums that the same run
has in other formats."""

import json
import re
import shutil
import subprocess

import pytest

import tally
from pprof import Profile
from probing import binary
from stackcounting import CHAINS, observe, of
from tally import needs_dwarf, once

N, DEPTH = 7, 6
LEFT, RIGHT, BARE = ("left", "target"), ("right", "middle", "target"), ("left", "bare")
HOSTILE = b"a;\n\x1b[2J\"\xff\\"
ESCAPED = "a;\\x0a\\x1b[2J\"\\xff\\x5c"
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


class Speedscope:
    """A file that conforms to speedscope's schema: {frame names, outermost first: weight} of each profile."""

    def __init__(self, data):
        assert all(line == "" or line.isprintable() for line in data.decode("utf-8").split("\n"))
        self.raw = raw = json.loads(data)
        assert set(raw) == {"$schema", "exporter", "name", "activeProfileIndex", "shared", "profiles"}
        assert raw["$schema"] == "https://www.speedscope.app/file-format-schema.json" and raw["exporter"] == "tally"
        assert raw["profiles"] and 0 <= raw["activeProfileIndex"] < len(raw["profiles"])
        self.frames = raw["shared"]["frames"]
        for frame in self.frames:
            assert {"name"} <= set(frame) <= {"name", "file", "line"} and frame["name"], frame
            assert isinstance(frame.get("line", 1), int) and frame.get("file", "x")
        self.profiles = {p["name"]: self.sums(p) for p in raw["profiles"]}
        assert len(self.profiles) == len(raw["profiles"])
        self.units = [p["unit"] for p in raw["profiles"]]

    def sums(self, profile):
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert profile["type"] == "sampled" and profile["unit"] in UNITS and profile["startValue"] == 0
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] == sum(profile["weights"]) and all(w >= 0 for w in profile["weights"])
        found = {}
        for sample, weight in zip(profile["samples"], profile["weights"]):
            assert all(0 <= index < len(self.frames) for index in sample)
            names = tuple(self.frames[index]["name"] for index in sample)
            found[names] = found.get(names, 0) + weight
        return found


def behind_work(sums):
    """{frames behind work(): value}"""
    found = {}
    for names, value in sums.items():
        inner = names[names.index("work") + 1:]
        found[inner] = found.get(inner, 0) + value
    return found


def nonzero(sums):
    return {names: value for names, value in sums.items() if value}


def label(frame):
    """The name that both files have for a frame of JSON."""
    kernel = frame["addr"] and int(frame["addr"], 16) >= 2 ** 63
    if frame["name"]:
        return frame["name"] + "_[k]" * bool(kernel)
    return f"{frame['module']}+{frame['offset']:#x}" if frame["module"] else "[unknown]"


def go_pprof(path, *args):
    """Output of Go's own reader for the file."""
    result = subprocess.run(["go", "tool", "pprof", *args, str(path)], capture_output=True, text=True, check=True,
                            timeout=tally.PATIENCE, stdin=subprocess.DEVNULL)
    return result.stdout


# --- exact counts ----------------------------------------------------------------------------------

@pytest.mark.exact
@once
def test_counts(ends, trigger, directory):
    """Each stack has the same value in both files and in the JSON of another run at the same time."""
    load = trigger("chains", N, 0, DEPTH, comm=HOSTILE)
    path = directory / "counts.pb.gz"
    by = ("--by", "comm,pid,cpu")
    as_json, as_pprof, in_file, as_scope, summed = observe(ends, load, [
        (*CHAINS, "target", "bare", *by, "--json"),
        (*CHAINS, "target", "bare", *by, "--format", "pprof"),
        (*CHAINS, "target", "bare", "--format", "pprof", "-o", path),
        (*CHAINS, "target", "bare", *by, "--format", "speedscope"),
        (*CHAINS, "target", "--sum", "arg1", "--format", "pprof")], form=())
    report = as_json.report
    for result in (as_pprof, in_file, as_scope, summed):
        assert result.code == 0, result
    wanted = {"target": {RIGHT: 2 * N, LEFT: N}, "bare": {BARE: N}}

    def by_event(profile):
        assert profile.types == [("target", "count"), ("bare", "count")], profile.types
        return {event: nonzero(behind_work(profile.sums(i))) for i, event in enumerate(wanted)}

    profile = Profile(as_pprof.stdout)
    assert by_event(profile) == wanted, profile.samples
    assert {labels["comm"] for _, labels, _ in profile.samples} == {ESCAPED}
    assert {labels["pid"] for _, labels, _ in profile.samples} == {str(load.pid)}
    for i, event in enumerate(wanted):
        found = {
            (tuple(label(f) for f in s["frames"]), str(s["key"]["cpu"])): s["value"] for s in of(report, event=event)
        }
        assert found == {(names, labels["cpu"]): values[i] for names, labels, values in profile.samples
                         if values[i]}, (report, profile.samples)
    assert any(c.startswith("events 28 ") for c in profile.comments), profile.comments
    assert any(re.match("command: stackcount .*-x ", c) for c in profile.comments), profile.comments
    assert 0 < profile.raw["duration_nanos"] < 600e9 and profile.raw["time_nanos"] == pytest.approx(
        report["start_ns"], abs=600e9)

    scope = Speedscope(as_scope.stdout)
    assert len(scope.profiles) == 2 and scope.units == ["none", "none"], scope.raw
    for (name, sums), event in zip(scope.profiles.items(), wanted):
        assert behind_work(sums) == wanted[event] and name.startswith(event), scope.raw
        assert all(ESCAPED in names[0] and f"pid {load.pid}" in names[0] for names in sums), sums

    assert not in_file.stdout and path.stat().st_mode & 0o777 == 0o600
    assert by_event(Profile(path.read_bytes())) == wanted
    profile = Profile(summed.stdout)
    assert profile.types == [("sum", "count")]
    assert behind_work(profile.sums()) == {LEFT: N * (N + 1) // 2, RIGHT: 2000 * N}


@pytest.mark.exact
@needs_dwarf
@once
def test_inlined_functions(ends, trigger):
    """Inlined functions are lines in the location of the function that holds them, innermost first."""
    args = ("-x", binary("inlines"), "leaf", "-U", "--inline", "--lines")
    as_json, as_pprof, as_scope = observe(ends, trigger("inlines", N), [
        (*args, "--json"), (*args, "--format", "pprof"), (*args, "--format", "speedscope")], form=())
    profile = Profile(as_pprof.stdout)
    wanted = {}
    for stack in as_json.report["stacks"]:
        names = tuple(label(f) for f in stack["frames"])
        wanted[names] = wanted.get(names, 0) + stack["value"]
    assert profile.sums() == wanted and any("inner" in names for names in wanted), wanted
    lines = [[(profile.text(profile.functions[line["function_id"]]["name"]), line["line"]) for line in one["line"]]
             for one in profile.raw["location"]]
    assert max(map(len, lines)) > 1
    frames = [f for s in as_json.report["stacks"] for f in s["frames"]]
    inlined = {(f["name"], f.get("line", 0)) for f in frames if f.get("inlined")}
    assert {line for one in lines for line in one[:-1]} == inlined, (lines, inlined)
    assert {line for one in lines for line in one} == {(label(f), f.get("line", 0)) for f in frames}
    assert {profile.text(f["filename"]) for f in profile.raw["function"]} == {f.get("file", "") for f in frames}
    module, = (m for m in profile.raw["mapping"] if profile.text(m["filename"]) == "inlines")
    assert module["has_filenames"] and module["has_line_numbers"] and module["has_inline_frames"], module
    scope = Speedscope(as_scope.stdout)
    assert {(f["name"][:-4], f.get("line", 0)) for f in scope.frames if f["name"].endswith("_[i]")} == inlined


# --- values ----------------------------------------------------------------------------------------

@pytest.mark.exclusive
@once
def test_cpu_time(trigger, tool):
    """Known shares; samples and the time they represent; no frame of the kernel has a program's name."""
    load = trigger("shares", 1500, -1)
    by_pprof, by_scope = (tool("-F", 499, "-p", load.pid, "--format", form, tool="profile")
                          for form in ("pprof", "speedscope"))
    load.go()
    load.done()
    profile, scope = Profile(by_pprof.stop().stdout), Speedscope(by_scope.stop().stdout)
    period = 10 ** 9 // 499
    assert profile.types == [("samples", "count"), ("cpu", "nanoseconds")]
    assert profile.period == (("cpu", "nanoseconds"), period)
    assert all(ns == n * period for _, _, (n, ns) in profile.samples)
    kernel = next(i for i, m in profile.mappings.items() if profile.text(m["filename"]) == "[kernel]")
    for one in profile.raw["location"]:
        name = profile.text(profile.functions[one["line"][0]["function_id"]]["name"])
        assert one["mapping_id"] != kernel or name.endswith("_[k]") or name.startswith("[kernel]+"), name
    samples, cpu = scope.profiles.values()
    assert scope.units == ["none", "nanoseconds"] and scope.raw["activeProfileIndex"] == 1
    assert cpu == {names: n * period for names, n in samples.items()}
    for sums in (profile.sums(), cpu):
        shares = {name: sum(value for names, value in sums.items() if name in names) / sum(sums.values())
                  for name in ("seventy", "twenty", "ten")}
        assert (
            shares["seventy"] == pytest.approx(0.7, abs=0.1)
            and shares["twenty"] == pytest.approx(0.2, abs=0.1)
            and shares["ten"] == pytest.approx(0.1, abs=0.07)
        ), shares


@pytest.mark.exact
@once
def test_memory(trigger, tool):
    """Bytes that leaks.c keeps: the sums in JSON, which test_memleak.py compares with the trigger."""
    load = trigger("leaks", 30)
    runs = [tool("-p", load.pid, *args, tool="memleak") for args in (
        ("--format", "pprof"), ("--format", "pprof", "--count"), ("--format", "speedscope"), ("--format", "folded"))]
    load.go()
    load.done()
    space, objects, scope, folded = (run.stop() for run in runs)
    wanted = {tuple(line.rsplit(" ", 1)[0].split(";")): int(line.rsplit(" ", 1)[1])
              for line in folded.text.splitlines()}
    space, objects, scope = Profile(space.stdout), Profile(objects.stdout), Speedscope(scope.stdout)
    assert space.types == [("inuse_space", "bytes")] and space.sums() == wanted and wanted
    assert objects.types == [("inuse_objects", "count")] and set(objects.sums()) == set(wanted)
    assert next(value for names, value in objects.sums().items() if names[-1] == "leak_malloc") == 30
    assert scope.units == ["bytes"] and scope.profiles == {"inuse_space": wanted}, scope.raw


@once
@pytest.mark.parametrize("name, args, kind", (
    ("profile", ("-e", "page-faults", "-c", 1), ("page-faults", "count")), ("faults", ("-g",), ("faults", "count")),
    ("wakeuptime", (), ("blocked", "nanoseconds")), ("offwaketime", (), ("blocked", "nanoseconds")),
    ("offcputime", (), ("off-cpu", "nanoseconds")), ("migrations", ("-g",), ("migrations", "count")),
    ("lockstat", ("-g",), ("lock-wait", "nanoseconds")), ("futexstat", ("-g",), ("lock-wait", "nanoseconds")),
    ("netdrop", ("-g",), ("drops", "count")), ("kmem", ("--leak", "-g"), ("inuse_space", "bytes")),
))
def test_each_tool(run, directory, name, args, kind):
    """Each tool's values have a type. The commands cause faults and waits even on an idle machine."""
    path = directory / "all.pb.gz"
    result = run(*args, "--format", "pprof", "-o", path, "-d", "0.5", tool=name)
    assert result.code == 0, result
    profile = Profile(path.read_bytes())
    assert profile.types == [kind] and profile.raw["duration_nanos"] >= 4e8, profile.raw
    if args[:1] == ("-e",):
        assert profile.period == (kind, 1)


@once
def test_time_off_cpu(run):
    path = tally.BUILD / "triggers" / "blocks"
    result = run("--format", "speedscope", "--", path, 0, 3, 20000, tool="offcputime")
    scope = Speedscope(result.stdout[result.stdout.index(b"{"):])
    assert scope.units == ["nanoseconds"] and next(iter(scope.profiles)).startswith("off-cpu"), scope.raw
    sums, = scope.profiles.values()
    assert sum(value for names, value in sums.items() if "long_naps" in names) >= 3 * 20_000_000 * 0.9, sums


@once
def test_what_was_lost(ends, trigger):
    load = trigger("chains", 400, 0, DEPTH)
    as_pprof, as_scope = observe(ends, load, [
        (*CHAINS, "target", "--by", "pid", "--max-keys", "1", "--format", form)
        for form in ("pprof", "speedscope")], form=())
    profile, scope = Profile(as_pprof.stdout), Speedscope(as_scope.stdout)
    lost = [re.match(r"events [\d,]+ +filtered [\d,]+ +lost ([\d,]+)", c) for c in profile.comments]
    lost = [int(m[1].replace(",", "")) for m in lost if m]
    assert len(lost) == 1 and lost[0] and sum(profile.sums().values()) + lost[0] >= 3 * 400, profile.comments
    assert any(c.startswith("lost: ") and "--max-keys" in c for c in profile.comments), profile.comments
    sums, = scope.profiles.values()
    name = next(iter(scope.profiles))
    missing = re.match(r"events, lost ([\d,]+)", name)
    assert missing and sum(sums.values()) + int(missing[1].replace(",", "")) >= 3 * 400, name


@pytest.mark.exact
@once
def test_values_below_zero(ends, trigger):
    """Negative values are lost, as both formats say, and in no sum."""
    as_pprof, as_scope = observe(ends, trigger("chains", N, 0, DEPTH), [
        (*CHAINS, "target", "--sum", "5 - arg1", "--format", form) for form in ("pprof", "speedscope")], form=())
    profile, scope, lost = Profile(as_pprof.stdout), Speedscope(as_scope.stdout), 2 + 2 * N
    (sums,), (name,) = scope.profiles.values(), scope.profiles
    assert behind_work(profile.sums()) == behind_work(sums) == {LEFT: 4 + 3 + 2 + 1}, (profile.samples, scope.raw)
    assert name == f"sum, lost {lost}" and any(re.fullmatch(rf"events {3 * N - lost} .* lost {lost}", comment)
                                               for comment in profile.comments), (name, profile.comments)
    assert any(comment.startswith(f"lost: {lost} negative: ") for comment in profile.comments), profile.comments


# --- another reader --------------------------------------------------------------------------------

@pytest.mark.skipif(not shutil.which("go"), reason="there is no go")
@once
def test_go_reads_it(tool, trigger, directory):
    load = trigger("shares", 1000, -1, comm=HOSTILE)
    path = directory / "cpu.pb.gz"
    tracer = tool("-F", 499, "-p", load.pid, "--by", "comm,pid", "--format", "pprof", "-o", path, tool="profile")
    load.go()
    load.done()
    assert tracer.stop().code == 0
    profile = Profile(path.read_bytes())
    raw = go_pprof(path, "-raw")
    head = raw[raw.index("Samples:\n"):raw.index("Locations\n")].splitlines()
    assert head[1] == "samples/count cpu/nanoseconds", head
    found = sorted(tuple(map(int, line.split(":")[0].split())) for line in head[2:] if re.match(r" *\d+ +\d+: ", line))
    assert found == sorted(tuple(values) for _, _, values in profile.samples), raw
    assert f"Period: {10 ** 9 // 499}\n" in raw and all(f"Comment: {c}\n" in raw for c in profile.comments), raw
    assert f"comm:[{ESCAPED}]" in raw and f"pid:[{load.pid}]" in raw, raw
    all_nodes = "-top", "-unit=ns", "-nodecount=1000", "-nodefraction=0"
    assert ", 100% of" in go_pprof(path, *all_nodes, f"-tagfocus=pid=^{load.pid}$")
    assert ", 0% of" in go_pprof(path, *all_nodes, "-tagfocus=pid=^0$")
    top = go_pprof(path, *all_nodes)
    flat = {m[2]: float(m[1]) for m in re.finditer(r"^ *([\d.]+)ns .*% +(\S.*)$", top, re.M)}
    wanted = {}
    for names, value in profile.sums().items():
        wanted[names[-1]] = wanted.get(names[-1], 0) + value
    assert {name: flat.get(name) for name in ("seventy", "twenty", "ten")} == {
        name: wanted.get(name) for name in ("seventy", "twenty", "ten")}, top


# --- wrong usage -----------------------------------------------------------------------------------

@once
@pytest.mark.parametrize("args, said", (
    (("--format", "pprof", "-I", "1", "-d", "3"), "one profile of the whole run"),
    (("--format", "speedscope", "1", "2"), "one profile of the whole run"),
    (("--format", "pprof", "--by", "sym"), "no stacks to draw"),
    (("--format", "pprof", "--callee"), "--callee"),
    (("--format", "speedscope", "--listen", "127.0.0.1:0"), "--listen"),
    (("--format", "prof"), "pprof, speedscope"),
    (("--format", "pprof", "--", "true"), "-o stacks.pb.gz"),
))
def test_wrong_usage(run, args, said):
    result = run(*args, tool="profile")
    assert result.code == 2 and said in result.stderr and not result.stdout, result


@once
def test_not_to_a_terminal(run):
    """A profile is binary, which no terminal should get; -n prints text."""
    line = f"{tally.BUILD / 'profile'} -d 0.1 --format"
    for form, said in (("pprof", b"-o stacks.pb.gz"), ("pprof -n", b"cpu-clock"), ("speedscope", b'{"$schema"')):
        result = subprocess.run(["script", "-qec", f"{line} {form}", "/dev/null"], capture_output=True, check=False,
                                stdin=subprocess.DEVNULL, timeout=tally.PATIENCE)
        assert said in b" ".join(result.stdout.split()) and b"\x1f\x8b" not in result.stdout, result
        assert result.returncode == (2 if form == "pprof" else 0), result


@pytest.mark.exclusive
@once
def test_an_interval_is_the_time(run):
    """As for pictures, an interval is the duration: profile --format pprof 1 is one file of a second. A busy machine
    may end it later."""
    def trial():
        profile = Profile(run("--format", "pprof", "0.3", tool="profile").stdout)
        assert profile.raw["duration_nanos"] >= 3e8, profile.raw
        tally.within(profile.raw["duration_nanos"] < 4.5e8, profile.raw)

    tally.steady(trial)
