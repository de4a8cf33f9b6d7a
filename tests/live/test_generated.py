# SPDX-License-Identifier: BSD-2-Clause
"""Code that a process generates and nobody names: how much it is, and what its runtime needs to name it."""
import os
import re
from pathlib import Path

import pytest

from tally import BUILD, once

HOTSPOT = BUILD / "triggers" / "hotspot"
MS = 200


def unnamed(tracer, load):
    load.go()
    load.done()
    report = tracer.stop().report
    return report, sum(s["value"] for s in report["stacks"] if any(f["module"] == "[anon]" for f in s["frames"]))


@once
@pytest.mark.parametrize("name, advice", (
    ("node", "(Node.js) has generated, without names: node --perf-basic-prof names it"),
    ("libjvm.so.7", "(Java) has generated, without names: jcmd {pid} Compiler.perfmap names it"),
    ("ruby3.1", "(Ruby) has generated, without names: ruby --yjit-perf"),
    ("qemu-system-x86_64", "(QEMU) has generated, without names: -perfmap"),
    ("nodes", "process {pid} has generated, without names: its runtime may be able to write /tmp/perf-PID.map"),
))
def test_advice(tool, trigger, directory, name, advice):
    """By the files that the process has mapped: here its own."""
    path = directory / name
    path.write_bytes(HOTSPOT.read_bytes())
    path.chmod(0o755)
    load = trigger(str(path), MS, -1, "jitted")
    os.unlink(f"/tmp/perf-{load.pid}.map")
    report, value = unnamed(tool("--json", "-F", 499, "-p", load.pid, tool="profile"), load)
    note = report["note"]
    assert advice.format(pid=load.pid) in note, note
    said = float(re.search(r"([\d.]+) % in code that process", note)[1])
    assert value and abs(said - 100 * value / report["events"]) <= 0.051, (note, value, report["events"])


@once
def test_nothing_to_say(tool, trigger):
    """Named code needs no advice, and nor does any that is in files."""
    load = trigger("hotspot", MS, -1, "jitted")
    report, value = unnamed(tool("--json", "-F", 499, "-p", load.pid, tool="profile"), load)
    assert value == 0 and any(f["name"] == "jitted" for s in report["stacks"] for f in s["frames"]), report
    assert "generated" not in str(report.get("note")), report["note"]


@once
def test_a_map_of_an_earlier_process(tool, trigger):
    """Which had the same pid: its names are not this one's."""
    load = trigger("hotspot", MS, -1, "jitted")
    os.utime(f"/tmp/perf-{load.pid}.map", (1, 1))
    report, value = unnamed(tool("--json", "-F", 499, "-p", load.pid, tool="profile"), load)
    assert value and not any(f["name"] == "jitted" for s in report["stacks"] for f in s["frames"]), report
    assert "perf-PID.map (older than the process: not used)" in report["note"], report["note"]


CUT = 4096


@once
@pytest.mark.parametrize("form", ("json", "csv", "folded", "text"))
def test_a_name_without_end(tool, trigger, form):
    """It is cut at 4,096 bytes, in every format, where a letter of several bytes begins."""
    load = trigger("hotspot", MS, -1, "jitted")
    name = Path(f"/tmp/perf-{load.pid}.map")
    name.write_text(name.read_text().replace("jitted", "x" + "\N{EURO SIGN}" * (1 << 20)))
    tracer = tool("--format", form, "-F", 499, "-p", load.pid, tool="profile")
    load.go()
    load.done()
    text = tracer.stop().text
    shown = "x" + "\N{EURO SIGN}" * ((CUT - 1) // 3) + "..."
    assert shown in text and "\N{EURO SIGN}" * ((CUT - 1) // 3 + 1) not in text, text[:8192]
