# SPDX-License-Identifier: BSD-2-Clause
"""list against what the kernel says of itself: tracefs, /proc/kallsyms, and BTF as bpftool reads
it."""

import csv
import functools
import io
import json
import os
import re
import shutil
import subprocess

import pytest

import tally
from tally import needs_dwarf, once
from tracefs import tracing

pytestmark = pytest.mark.exact

# --- oracles -------------------------------------------------------------------------------------

@functools.cache
def formats():
    """{"sched:sched_switch": its format file}"""
    return {f"{file.parts[-3]}:{file.parts[-2]}": file.read_text()
            for file in (tracing() / "events").glob("*/*/format")}


@functools.cache
def kallsyms():
    """[(address, type, name, module)], vmlinux being ""."""
    found = []
    with open("/proc/kallsyms") as file:
        for line in file:
            address, kind, name, *module = line.split()
            found.append((int(address, 16), kind, name, module[0][1:-1] if module else ""))
    return found


def of_one_kernel(test):
    """A test that is made again where what the kernel has has changed meanwhile: a module has come, or a tracer's
    event."""
    @functools.wraps(test)
    def judged(*args, **kwargs):
        def trial():
            before = formats(), code(kallsyms())
            try:
                test(*args, **kwargs)
            except AssertionError as error:
                formats.cache_clear()
                kallsyms.cache_clear()
                if (formats(), code(kallsyms())) == before:
                    raise
                raise tally.Blurred from error

        tally.steady(trial)

    return judged


class Btf:
    """The kernel's types, by a second reader of the format."""

    def __init__(self):
        path = shutil.which("bpftool") or "/usr/sbin/bpftool"
        if not os.path.exists(path):
            pytest.skip("no bpftool")
        dump = subprocess.run([path, "-j", "btf", "dump", "file", "/sys/kernel/btf/vmlinux",
                               "format", "raw"], check=True, stdout=subprocess.PIPE).stdout
        self.types = {t["id"]: t for t in json.loads(dump)["types"]}
        self.named = {}
        for each in self.types.values():
            self.named.setdefault((each["kind"], each.get("name")), []).append(each)

    def size(self, number):
        t = self.types.get(number)
        if not t:
            return 0
        if t["kind"] == "PTR":
            return 8
        if t["kind"] == "ARRAY":
            return t["nr_elems"] * self.size(t["type_id"])
        return t["size"] if "size" in t else self.size(t.get("type_id"))

    def declare(self, number, inner=""):
        """A type as C: the way of C's grammar, recursively."""
        t = self.types.get(number)
        if not t:
            return join("void", inner)
        kind, name = t["kind"], t.get("name")
        name = "{...}" if name in (None, "(anon)") else name
        if kind == "PTR":
            to = self.types.get(t["type_id"], {}).get("kind")
            return self.declare(t["type_id"], f"(*{inner})" if to in ("ARRAY", "FUNC_PROTO")
                                else f"*{inner}")
        if kind in ("CONST", "VOLATILE", "RESTRICT"):
            to = self.types.get(t["type_id"], {})
            word = kind.lower()
            if to.get("kind") == "PTR":
                pointed = self.types.get(to["type_id"], {}).get("kind")
                text = f"*{word} {inner}" if inner and inner[0] != "[" else f"*{word}{inner}"
                return self.declare(to["type_id"], f"({text})" if pointed in
                                    ("ARRAY", "FUNC_PROTO") else text)
            return f"{word} " + self.declare(t["type_id"], inner)
        if kind == "ARRAY":
            return self.declare(t["type_id"], f"{inner}[{t['nr_elems'] or ''}]")
        if kind == "FUNC_PROTO":
            args = [self.declare(p["type_id"], (p["name"] or "").replace("(anon)", ""))
                    if p["type_id"] else "..." for p in t["params"]] or ["void"]
            return self.declare(t["ret_type_id"], f"{inner}({', '.join(args)})")
        word = {"STRUCT": "struct ", "UNION": "union ", "ENUM": "enum ", "ENUM64": "enum "}
        if kind == "FWD":
            word = {"FWD": f"{t['fwd_kind']} "}
        return join(word.get(kind, "") + name, inner)

    def members(self, t, base=0, depth=1, path=""):
        """(depth, offset in bits, bits, size, name) of all, nameless ones entered."""
        for m in t["members"]:
            name = (m["name"] or "").replace("(anon)", "")
            at = base + m["bits_offset"]
            yield (depth, at, m.get("bitfield_size", 0), self.size(m["type_id"]),
                   path + name if name else "", self.declare(m["type_id"]))
            inner = self.types[m["type_id"]]
            while inner["kind"] in ("CONST", "VOLATILE"):
                inner = self.types[inner["type_id"]]
            if inner["kind"] in ("STRUCT", "UNION") and inner.get("name") in (None, "(anon)"):
                yield from self.members(inner, at, depth + 1, f"{path}{name}." if name else path)


def join(base, inner):
    return base + (" " if inner and inner[0] != "[" else "") + inner


@functools.cache
def btf():
    return Btf()


@pytest.fixture
def rows(run):
    """The rows that list prints, as JSON."""

    def get(*args):
        result = run("--json", *args, tool="list")
        assert result.code == 0 and result.stderr == "", result
        return json.loads(result.text)["rows"]

    return get


@pytest.fixture
def refused(run):
    """Runs list to fail: refused(code, *args) is what it says."""

    def get(code, *args, **kwargs):
        result = run(*args, tool="list", **kwargs)
        assert result.code == code and result.stdout == b"", result
        lines = result.stderr.splitlines()
        assert lines and all(line.startswith("list: ") and len(line) <= 130 for line in lines)
        return result.stderr

    return get


# --- events --------------------------------------------------------------------------------------

@of_one_kernel
def test_every_tracepoint_once(rows):
    listed = [row["event"] for row in rows() if row["type"] == "tracepoint"]
    assert len(set(listed)) == len(listed)
    assert set(listed) == set(formats())


@of_one_kernel
def test_every_event_once(rows):
    listed = [row["event"] for row in rows()]
    assert len(set(listed)) == len(listed)
    assert {"cycles", "cpu-clock", "sched:sched_switch"} <= set(listed)


@of_one_kernel
def test_patterns(rows):
    everything = {row["event"] for row in rows()}

    def found(*patterns):
        return {row["event"] for row in rows(*patterns)}

    assert found("sched:*") == {e for e in everything if e.startswith("sched:")}
    assert found("signal") == {e for e in everything if "signal" in e}
    assert found("sched_*") == {e for e in everything if e.split(":")[-1].startswith("sched_")}
    assert found("sched:sched_w*", "irq:*") == found("sched:sched_w*") | found("irq:*")
    assert found("software") >= {"cpu-clock", "page-faults"}


def test_kinds_by_the_words_of_perf(rows, run):
    """hw and sw are kinds, and no parts of names; USDT probes are in files."""
    for word, kind in (("hw", "hardware"), ("sw", "software")):
        found = rows(word)
        assert found and {row["type"] for row in found} == {kind}, found
    assert "list -x FILE" in run("sdt", tool="list").stderr


@of_one_kernel
def test_summary(rows):
    summed = rows("--summary")
    events = rows()
    assert sum(row["events"] for row in summed) == len(events)
    tracepoints = {row["subsystem"]: row["events"] for row in summed
                   if row["type"] == "tracepoint"}
    wanted = {}
    for event in formats():
        system = event.partition(":")[0]
        wanted[system] = wanted.get(system, 0) + 1
    assert tracepoints == wanted


def test_nothing_is_left_mounted(run):
    with open("/proc/self/mountinfo") as file:
        before = file.read()
    assert run(tool="list").code == 0
    with open("/proc/self/mountinfo") as file:
        assert file.read() == before


FIELD = re.compile(r"\tfield:(.*?);\s+offset:(\d+);\s+size:(\d+);\s+signed:([01]);")


@of_one_kernel
def test_fields_of_all_tracepoints(rows):
    """Names, offsets, sizes and signs of every field there is, by a plain pattern."""
    shown = {}
    for row in rows("-v"):
        if row["part"] in ("field", "common"):
            shown.setdefault(row["event"], set()).add(
                (row["name"], row["offset"], row["size"], row["signed"]))
    for event, text in formats().items():
        wanted = set()
        for declaration, offset, size, signed in FIELD.findall(text):
            name = re.search(r"(\w+)(\[.*\])?$", declaration)
            wanted.add((name[1], int(offset), int(size), "yes" if signed == "1" else "no"))
        assert shown.get(event, set()) == wanted, event


def test_details_of_a_tracepoint(rows):
    found = {row["name"]: row for row in rows("-v", "sched:sched_switch")}
    assert found["prev_comm"]["type"] == "char[16]"
    assert found["prev_comm"]["filter"] == 'prev_comm == "text"'
    assert found["next_pid"]["signed"] == "yes"
    assert found["S"]["filter"] == "prev_state & 0x1"
    softirqs = {row["name"]: row["filter"] for row in rows("-v", "irq:softirq_entry")
                if row["part"] == "value"}
    assert softirqs["TIMER"] == "vec == 1" and softirqs["RCU"] == "vec == 9"


def test_a_device_is_explained(run):
    if "block:block_rq_complete" not in formats():
        pytest.skip("this kernel has no block layer")
    text = run("-v", "block:block_rq_complete", tool="list").text
    assert "dev == 8:0" in text and "major:minor" in text


# --- kernel functions ----------------------------------------------------------------------------

FEW = ("tcp_sendmsg", "vfs_read", "schedule", "do_sys_openat2", "kfree", "ksys_write", "_printk",
       "printk", "wake_up_process", "filp_close", "sock_sendmsg", "dput", "mutex_lock",
       "register_kprobe", "vfs_getattr", "iput", "find_vma", "kmem_cache_free")


@pytest.mark.parametrize("name", FEW[::3] if tally.GUEST else FEW)
def test_arguments_of_a_function(run, rows, name):
    places = [s for s in kallsyms() if s[2] == name and s[1] in "tTwW"]
    known = btf().named.get(("FUNC", name))
    if not places or not known:
        pytest.skip(f"no function {name} here")
    found = rows("-v", name)
    arguments = [row for row in found if row["part"] == "argument"]
    proto = btf().types[known[0]["type_id"]]
    wanted = [(p["name"], btf().declare(p["type_id"]), btf().size(p["type_id"]))
              for p in proto["params"] if p["type_id"]]
    shown = [(a["name"], a["type"], a["size"]) for a in arguments if a["name"] != "..."]
    assert shown == wanted * len(places)
    function = next(row for row in found if row["part"] == "function")
    assert function["note"].startswith(btf().declare(known[0]["type_id"], name) + ";")
    assert f"{places[0][0]:#x}" in function["note"]
    assert {row["name"] for row in found if row["part"] == "probe"} == {"kprobe", "fentry"}


def code(symbols):
    return [s for s in symbols if s[1] in "tTwW" and s[3] != "bpf"
            and not s[3].startswith("__builtin__") and not s[2].startswith(("__pfx_", "__cfi_", "__SCT__"))]


@of_one_kernel
def test_functions_are_those_of_kallsyms(rows):
    wanted = {}
    for address, _, name, module in code(kallsyms()):
        wanted.setdefault((module or "vmlinux", address), []).append(name)
    shown = {}
    for row in rows("--functions"):
        names = [row["function"], *filter(None, (row["aliases"] or "").split(", "))]
        shown[row["module"], int(row["address"], 16)] = sorted(names)
    assert shown == {place: sorted(names) for place, names in wanted.items()}


@of_one_kernel
def test_functions_by_pattern(rows):
    wanted = {s[2] for s in code(kallsyms()) if s[2].startswith("vfs_")}
    found = rows("--functions", "vfs_*")
    names = {n for row in found for n in [row["function"], *(row["aliases"] or "").split(", ")]}
    assert wanted == {n for n in names if n.startswith("vfs_")}
    assert [row["function"] for row in found] == sorted(row["function"] for row in found)
    assert found == rows("--functions", "vfs_*", "--module", "vmlinux") or \
        any(row["module"] != "vmlinux" for row in found)


@of_one_kernel
def test_sizes_of_functions(rows):
    """Up to the next symbol, whatever it is."""
    starts = sorted({s[0] for s in kallsyms()})
    after = dict(zip(starts, starts[1:]))
    for row in rows("--functions", "vfs_*"):
        at = int(row["address"], 16)
        assert row["size"] is None or row["size"] == after[at] - at, row


def test_functions_without_the_right_to_addresses(run):
    """Shown by name all the same."""
    result = run("--json", "--functions", "vfs_read", tool="list", user=tally.NOBODY)
    assert result.code == 0, result
    row = next(r for r in json.loads(result.text)["rows"] if r["function"] == "vfs_read")
    assert row["address"] is None or int(row["address"], 16)


@of_one_kernel
def test_functions_of_a_module(rows, refused):
    """Found without naming the module; those of the module only if it is named."""
    have_types = set(os.listdir("/sys/kernel/btf"))
    functions = [s for s in code(kallsyms()) if s[3] in have_types]
    if not functions:
        pytest.skip("no module with types is loaded")
    module = functions[0][3]
    names = {s[2] for s in functions if s[3] == module}
    found = rows("--functions", "--module", module)
    assert {row["module"] for row in found} == {module}
    assert {n for row in found for n in [row["function"], *(row["aliases"] or "").split(", ")]
            if n} == names
    typed = [row["function"] for row in found[:8 if tally.GUEST else 60] if row["size"]]
    described = [row for name in typed for row in rows("-v", f"{module}:{name}")]
    assert {row["event"] for row in described} == {f"{module}:{name}" for name in typed}
    assert any(row["part"] == "argument" for row in described)
    assert module[:-1] in refused(1, "--functions", "--module", module[:-1] + "?")


# --- types ---------------------------------------------------------------------------------------

def some_structs():
    kinds = [t for t in btf().types.values() if t["kind"] in ("STRUCT", "UNION")
             and t.get("name") not in (None, "(anon)")
             and len(btf().named[t["kind"], t["name"]]) == 1]
    chosen = kinds[::max(1, len(kinds) // (10 if tally.GUEST else 40))]
    return chosen + [btf().named["STRUCT", n][0] for n in
                     ("task_struct", "sk_buff", "sock", "page", "tcp_sock", "request", "bio")
                     if ("STRUCT", n) in btf().named]


def test_layouts(rows):
    for t in some_structs():
        found = rows("--type", f"{t['kind'].lower()} {t['name']}")
        assert found[0]["type"] == f"{t['kind'].lower()} {t['name']}"
        assert found[0]["size"] == t["size"]
        shown = [(row["depth"], row["offset"] * 8 + (row["bit"] or 0), row["bits"] or 0,
                  row["size"], row["name"], row["type"]) for row in found[1:]]
        assert shown == list(btf().members(t)), t["name"]


def test_bit_fields_are_there():
    """The test above means something."""
    assert any(m[2] for m in btf().members(btf().named["STRUCT", "task_struct"][0]))
    assert any(m[0] > 1 for m in btf().members(btf().named["STRUCT", "sk_buff"][0]))


def test_all_that_is_inside(rows):
    """-v enters named members too: offsets are sums, and nothing lies outside of its container."""
    found = rows("-v", "--type", "struct sock")
    by_name = {row["name"]: row for row in found if row["name"]}
    common = btf().named["STRUCT", "sock_common"][0]
    family = next(m for m in btf().members(common) if m[4] == "skc_family")
    assert by_name["__sk_common.skc_family"]["offset"] == family[1] // 8
    assert all(row["offset"] + row["size"] <= found[0]["size"] for row in found[1:])


def test_enums(rows):
    name = "hrtimer_restart"
    values = btf().named["ENUM", name][0]["values"]
    found = rows("--type", f"enum {name}")
    assert [(v["name"], v["val"]) for v in values] == [(r["name"], r["value"]) for r in found[1:]]


def test_a_name_alone_may_be_any_kind(rows):
    assert rows("--type", "pid_t")[0]["type"] == "typedef __kernel_pid_t pid_t"
    assert rows("--type", "sock") == rows("--type", "struct sock")
    assert rows("--type", "atomic_t")[1]["name"] == "counter"


# --- programs ------------------------------------------------------------------------------------

@once
def test_functions_of_a_program(rows):
    """The test's own program, whose symbols nm knows."""
    program = tally.BUILD / "triggers" / "spin"
    nm = shutil.which("nm")
    if not nm:
        pytest.skip("no nm")
    said = subprocess.run([nm, "--defined-only", program], check=True, stdout=subprocess.PIPE)
    wanted = {line.split()[2] for line in said.stdout.decode().splitlines()
              if line.split()[1] in "tTwW"}
    found = rows("--functions", "-x", program)
    names = {n for row in found for n in [row["function"], *(row["aliases"] or "").split(", ")]}
    assert "main" in names and names - {""} <= wanted


@once
def test_lines_and_variables_of_a_program(run):
    program = tally.BUILD / "triggers" / "spin"
    lines = run("--json", "--lines", "main", "-x", program, tool="list")
    if "libdw" in lines.stderr or "no debug information" in lines.stderr:
        pytest.skip(lines.stderr)
    found = json.loads(lines.text)["rows"]
    source = (tally.ROOT / "tests/triggers/spin.c").read_text().splitlines()
    first = next(n for n, line in enumerate(source, 1) if re.match(r"int main\(", line))
    assert {row["file"] for row in found} == {"spin.c"}
    for row in found:
        assert row["probe"] == f"main:{row['line'] - first}" and row["places"] >= 1
    few = json.loads(run("--json", "--lines", "main:0-2", "-x", program, tool="list").text)["rows"]
    assert few == [row for row in found if row["line"] - first <= 2]
    variables = run("--json", "--vars", "main", "-x", program, tool="list").report["rows"]
    shown = {row["name"]: row for row in variables}
    assert shown["argc"]["type"] == "int" and shown["argc"]["kind"] == "parameter"
    assert shown["argv"]["type"] == "char **"


# --- forms ---------------------------------------------------------------------------------------

@once
@pytest.mark.parametrize("args", (
    (), ("--summary",), ("-v", "sched:*"), ("-v", "vfs_read"), ("--functions", "vfs_*"),
    ("--type", "struct sock"), ("--type", "enum hrtimer_restart"),
), ids=" ".join)
def test_all_formats_have_the_same_rows(run, rows, args):
    wanted = rows(*args)
    assert len({tuple(row) for row in wanted}) == 1
    table = list(csv.DictReader(io.StringIO(run("--csv", *args, tool="list").text)))
    assert len(table) == len(wanted)
    for line, row in zip(table, wanted):
        assert line == {k: "" if v is None else str(v) for k, v in row.items()}
    text = run(*args, tool="list").text
    assert len(text.splitlines()) >= len(wanted)
    assert all(line == line.rstrip() for line in text.splitlines())


@once
def test_wrong_names(refused):
    assert "did you mean 'sched_switch'?" in refused(1, "sched_swich")
    assert "did you mean 'sched:sched_switch'?" in refused(1, "-v", "sched:sched_swich")
    assert "'nosuch*'" in refused(1, "nosuch*")
    assert "did you mean 'task_struct'?" in refused(1, "--type", "struct task_strct")
    assert "did you mean 'vfs_read'?" in refused(1, "--functions", "vfs_raed")
    assert "'nosuchmodule'" in refused(1, "--functions", "--module", "nosuchmodule")
    assert "'/nonexistent'" in refused(1, "--functions", "-x", "/nonexistent")
    assert "ELF" in refused(1, "--functions", "-x", "/etc/passwd")


@once
@pytest.mark.parametrize("args, part", (
    (("--functions", "--summary"), "--functions and --summary cannot be combined"),
    (("--type", "sock", "--lines", "x"), "--type and --lines cannot be combined"),
    (("--module", "ext4"), "--module needs --functions, --lines or --vars"),
    (("--functions", "--module", "ext4", "-x", "bash"), "--module and -x cannot be combined"),
    (("--summary", "-x", "bash"), "-x"), (("--type", "sock", "more"), "'more'"),
    (("--functions=1",), "takes no value"), (("--vars", ":3"), "':3'"),
    (("--lines", "f:9-3"), "'9-3'"), (("--lines", "f:3x"), "'3x'"),
    (("--lines", "f:99999999999"), "'99999999999'"), (("-p", "1"), "-p"),
), ids=lambda v: " ".join(v) if isinstance(v, tuple) else "")
def test_wrong_usage(refused, args, part):
    assert part in refused(2, *args)


@needs_dwarf
def test_source_lines_need_debug_information(refused):
    if os.path.exists(f"/usr/lib/debug/boot/vmlinux-{os.uname().release}"):
        pytest.skip("this kernel's debug information is installed")
    for option in ("--lines", "--vars"):
        said = refused(4, option, "vfs_read")
        assert "debug information" in said and os.uname().release in said


@once
def test_hostile_names_are_escaped(refused):
    assert "\x1b" not in refused(1, "\x1b[2J*")
    assert "\\x1b" in refused(1, "--type", "\x1b[2J")
