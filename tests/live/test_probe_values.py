# SPDX-License-Identifier: BSD-2-Clause
"""Structures and arrays, printed by their members, and casts to types of the traced program: against a program with
known contents (tests/triggers/values.cpp)."""

import csv
import os
import re
import shutil
import subprocess
from collections import Counter

import pytest

import tracefs
from probing import alike, compile_trigger, nothing_lost, report_of, stream_of
from tally import ROOT, needs_dwarf

pytestmark = [pytest.mark.exact, needs_dwarf]

SOURCE = ROOT / "tests/triggers/values.cpp"
N = 6
INNER = "{.x=-7, .bytes=[1, 2, 255]}"
VALUE = ('{.a=-1, .b=1099511627776, .name="x""y", .low=5, .high=-3, .self=0x1234, .nothing=0x0, .color=GREEN, '
         '.sign=MINUS, .in=[%s, {.x=8, .bytes=[0, 0, 0]}], .real=2.5, .small=-0.5, .yes=true, '
         '{.u=131073, .halves=[1, 2]}, .last={.c=-128}}') % INNER
END = "{.port=8080, .address=[127, 0, 0, 1]}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    directory = tmp_path_factory.mktemp("values")
    found = {"c": compile_trigger(directory, SOURCE, "-x", "c", "-g", "-O1", name="values")}
    if shutil.which("g++"):
        found["c++"] = compile_trigger(directory, SOURCE, "-g", "-O1", name="values_cc", compiler="g++")
    return found


def run(tool, path, *args):
    return tool("--json", "-x", path, *args, "--", path, str(N), tool="probe", ready=False).wait()


def each(tool, path, probe):
    """The fields of N events, which are all the same."""
    got, report = stream_of(run(tool, path, probe))
    assert nothing_lost(report) and len(got) == N and all(line == got[0] for line in got), got
    return got[0]


# --- casts ----------------------------------------------------------------------------------------

CASTS = (
    ("((struct value *)any)->b", 1 << 40),
    ("((struct value *)$arg1)->in[1].x", 8),
    ("((value *)arg1)->last.c", -128),
    ("((const struct value *)any)->name", 'x"y'),
    ("((struct value *)%di)->high", -3),
    ("((endpoint *)any)->port", 0xffff),
    ("(unsigned char)n", 255),
    ("(endpoint *)n", "0xffffffffffffffff"),
    ("*(int *)any", -1),
)


@pytest.mark.parametrize("typed, wanted", CASTS)
def test_casts_to_types_of_the_program(tool, made, typed, wanted):
    assert each(tool, made["c"], f"take v={typed}")["v"] == wanted


def test_casts_in_filters_and_values(tool, made):
    path = made["c"]
    report = report_of(run(tool, path, "take", "--filter", '((struct value *)any)->color == GREEN', "--sum",
                           "((struct value *)any)->a"))
    assert report["rows"][0]["sum"] == -N and report["events"] == N
    report = report_of(run(tool, path, "take", "--filter", '((struct value *)any)->name == "x"'))
    assert report["events"] == 0 and report["filtered"] == N


def test_classes_are_named_with_their_scopes(tool, made):
    if "c++" not in made:
        pytest.skip("there is no g++")
    for typed, wanted in (("((ns::box<int> *)numbers)->what", -8), ("((struct box<int> *)numbers)->id", 7),
                          ("((ns::box< int > *)numbers)->what", -8), ("box->what", -10),
                          ("*(ns::box<int> *)numbers", "{{.id=7}, .what=-8}"), ("*box", "{{.id=9}, .what=-10}")):
        assert each(tool, made["c++"], f"take_boxes v={typed}")["v"] == wanted, typed


@alike
def test_types_that_are_not_known(run, made):
    path = made["c"]
    for typed, said in (("((struct other *)any)->b", "unknown type 'struct other *'"),
                        ("((struct color *)any)->b", "unknown type"),
                        ("((struct value *)any)->c", "has no member 'c'"),
                        ("(struct value)any", "is not a numeric type"),
                        ("((ns::value *)any)->a", "unknown type")):
        result = run("-n", "-x", path, f"take v={typed}", tool="probe")
        assert result.code == 2 and said in result.stderr, result
    result = run("-n", "-x", path, "take", "--filter", "(any) or n", tool="probe")
    assert result.code == 2 and "did you mean '||'?" in result.stderr, result


@alike
def test_a_name_that_two_files_have_for_different_types(run, tool, tmp_path):
    """In each file's functions the name means that file's type; elsewhere it is ambiguous."""
    parts = {"one": "struct own { int before; int mark; };", "two": "struct own { long mark; };", "three": ""}
    objects = []
    for name, kind in parts.items():
        main = "int main(void) { extern void one(void), two(void); one(); two(); three(0); return 0; }"
        body = (
            (
                f'{kind} static struct own own = {{ .mark = {len(name)} }};\n'
                f'void __attribute__((noinline)) take_{name}(void *p) {{ __asm__ volatile("" : "+r"(p) :: "memory"); }}\n'
                f"void {name}(void) {{ take_{name}(&own); }}\n"
            )
            if kind
            else (f'void __attribute__((noinline)) three(void *p) {{ __asm__ volatile("" : "+r"(p)); }}\n{main}')
        )
        (tmp_path / f"{name}.c").write_text(body)
        objects.append(str(tmp_path / f"{name}.c"))
    path = tmp_path / "two_files"
    subprocess.run(["gcc", "-g", "-O1", *objects, "-o", path], check=True)
    for name in ("one", "two"):
        result = tool("--json", "-x", path, f"take_{name} v=((struct own *)p)->mark", "--", path, tool="probe",
                      ready=False).wait()
        assert stream_of(result)[0] == [{"v": 3}], result
    result = run("-n", "-x", path, "three v=((struct own *)p)->mark", tool="probe")
    assert result.code == 2 and "have different types named 'struct own *'" in result.stderr, result


# --- names ----------------------------------------------------------------------------------------

NAMESAKES = """
struct pair { int n; long pair; };
void __attribute__((noinline)) take(int n, struct pair *pair)
{
	__asm__ volatile("" : : "r"(n), "r"(pair) : "memory");
}
int main(void)
{
	for (int i = 1; i <= 6; i++) {
		struct pair pair = { 100 * i, 1000 * i };
		take(i, &pair);
	}
	return 0;
}
"""


@pytest.fixture(scope="module")
def namesakes(tmp_path_factory):
    directory = tmp_path_factory.mktemp("namesakes")
    source = directory / "namesakes.c"
    source.write_text(NAMESAKES)
    return compile_trigger(directory, source, "-g", "-O1", name="namesakes")


@pytest.mark.parametrize("probe, wanted", (
    ("take pair->n n", {"pair->n": 100, "n": 1}),
    ("take n pair->n", {"n": 1, "pair->n": 100}),
    ("take pair->pair pair->n", {"pair": 1000, "n": 100}),
    ("take n=pair->n m=n+1", {"n": 100, "m": 101}),
    ("take pair->n m=n+1", {"n": 100, "m": 2}),
))
def test_members_named_as_an_argument(tool, namesakes, probe, wanted):
    """A name of the function's own is not taken for a member that is another column; a given name is."""
    got, report = stream_of(run(tool, namesakes, probe))
    assert nothing_lost(report) and got[0] == wanted
    assert [line["n"] for line in got] == [(i + 1) * wanted["n"] for i in range(N)]


@pytest.mark.parametrize("probe, said", (
    ("take x=n n=pair->n", "'x=n': namesakes:take has its own 'n'"),
    ("take%return x=n+1 n=pair->n", "'x=n+1': namesakes:take%return has its own 'n'"),
    ("take n=pair->n x=n", None), ("take x=n m=pair->n", None), ("take x=q q=pair->n", None),
))
def test_a_name_of_its_own_that_is_given_later(run, namesakes, probe, said):
    """Both columns showed the member."""
    result = run("-n", "-x", namesakes, probe, tool="probe")
    assert result.code == (2 if said else 0), result
    if said:
        assert f"probe: {said}, and the name is also given to something else\n" in result.stderr, result
        assert "as in n_=..." in result.stderr.splitlines()[-1]
        instead = probe.replace("n=pair", "n_=pair")
        assert run("-n", "-x", namesakes, instead, tool="probe").code == 0


@pytest.mark.parametrize("probe", ("take pair->n", "take%return pair->n"))
def test_a_filter_on_an_argument_beside_such_a_member(tool, namesakes, probe):
    for args, wanted in ((("--filter", "n > 2", "--count"), N - 2), (("--filter", "n > 50", "--count"), 0)):
        assert report_of(run(tool, namesakes, probe, *args))["events"] == wanted, args
    assert report_of(run(tool, namesakes, probe, "--sum", "n"))["rows"][0]["sum"] == N * (N + 1) // 2
    assert report_of(run(tool, namesakes, probe.replace(" ", " n="), "--sum", "n"))["rows"][0]["sum"] == 2100


def test_a_filter_on_an_argument_beside_such_a_member_by_latency(tool, namesakes):
    filtered = ("--latency", "--filter", "n > 2 && $elapsed > 0", "--count")
    assert report_of(run(tool, namesakes, "take pair->n", *filtered))["events"] == N - 2


SECOND_NAMES = """
static volatile long sink;
static inline __attribute__((always_inline)) void bump(int by) { sink += by; }
#ifdef __cplusplus
struct base { long kept; base() { kept = 7; } };
struct derived : base { int own; derived(int x, long y); };
__attribute__((noinline)) derived::derived(int x, long y) : own(x) { sink += y; }
#endif
int __attribute__((noinline)) first(int x, long y)
{
	bump(x);
	__asm__ volatile("" : : "r"(y));
	return -x;
}
#ifdef __cplusplus
int second(int x, long y) __attribute__((alias("_Z5firstil")));
#else
int second(int x, long y) __attribute__((alias("first")));
#endif
int main(void)
{
	for (int i = -3; i < 3; i++) {
		second(i, i * 10000000000);
#ifdef __cplusplus
		derived object(i, i * 10000000000);
		sink += object.own;
#endif
	}
	return 0;
}
"""


@pytest.mark.parametrize("language", ("c", "c++"))
def test_second_names_of_functions_that_begin_with_inlined_code(tool, tmp_path, language):
    """
    An alias, and a constructor, whose code is described under another name. The first instruction belongs to a function
    that is inlined there, too.
    """
    compiler = {"c": "gcc", "c++": "g++"}[language]
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    source = tmp_path / "second_names.source"
    source.write_text(SECOND_NAMES)
    path = compile_trigger(tmp_path, source, "-x", language, "-g", "-O2", name="second_names", compiler=compiler)
    wanted = [{"x": i, "y": i * 10000000000} for i in range(-3, 3)]
    for function in ("second", "first") + (("derived::derived",) if language == "c++" else ()):
        got, report = stream_of(run(tool, path, f"{function} x y"))
        assert nothing_lost(report) and got == wanted, function
    got, _ = stream_of(run(tool, path, "second%return $retval y"))
    assert got == [{"retval": -i, "y": i * 10000000000} for i in range(-3, 3)]
    assert report_of(run(tool, path, "second", "--filter", "x < 0"))["events"] == 3


# --- names of numbers ---------------------------------------------------------------------------

def test_enumerators_by_name(tool, made):
    """Enumerators of members, arguments and casts; a number without a name stays a number."""
    path = made["c"]
    assert each(tool, path, "take_value v->color c=v->color:enum s=v->sign:enum") == {
        "color": 5, "c": "GREEN", "s": "MINUS"}
    assert each(tool, path, "take c=((enum color)((struct value *)any)->a):enum") == {"c": "4294967295"}
    report = report_of(run(tool, path, "take_value", "--by", "v->color:enum", "--sum", "v->sign:enum"))
    assert [(row["color"], row["count"], row["sum"]) for row in report["rows"]] == [("GREEN", N, -3 * N)]
    report = report_of(run(tool, path, "take_value", "--latency", "--by", "v->sign:enum", "--count"))
    assert [(row["sign"], row["count"]) for row in report["rows"]] == [("MINUS", N)]
    if "c++" in made:
        assert each(tool, made["c++"], "take_boxes k=*kind n=(*kind):enum") == {"k": 200, "n": "large"}


ENUMERATIONS = r"""
#define MADE(name, base, ...) enum name base { __VA_ARGS__ }
#ifdef __cplusplus
MADE(level, : int, LOW = 1, HIGH = 2);
MADE(mark, : unsigned long, TOP = 0xffffffffffffffff, HALF = 0x8000000000000000, ONE = 1);
#else
MADE(level, , BELOW = -9, LOW = 1, HIGH = 2);
MADE(mark, , TOP = 0xffffffffffffffff, HALF = 0x8000000000000000, ONE = 1);
#endif
MADE(mixed, , NEGATIVE = -5, WIDE = 0xffffffff);
MADE(wide, , LARGE = 0x100000000, THREE = 3);
struct all { enum level level; enum mark mark; enum mixed mixed; enum wide wide; };
static volatile long sink;
void __attribute__((noinline)) take(enum level level, enum mark mark, enum mixed mixed, enum wide wide, struct all *all)
{
	sink = (long)level + (long)mark + (long)mixed + (long)wide;
	__asm__ volatile("" : : "r"(all) : "memory");
}
int main(void)
{
	static struct all minus = { (enum level)-2, TOP, NEGATIVE, LARGE }, plus = { HIGH, ONE, WIDE, THREE };
	take(minus.level, minus.mark, minus.mixed, minus.wide, &minus);
	take(plus.level, plus.mark, plus.mixed, plus.wide, &plus);
	return 0;
}
"""


@pytest.mark.parametrize("language", ("c", "c++"))
def test_enumerators_of_every_size_and_sign(tool, tmp_path, language):
    """Negative ones, ones of 64 bits, and negative numbers of a signed type without negative enumerators."""
    compiler = {"c": "gcc", "c++": "g++"}[language]
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    source = tmp_path / "enumerations.source"
    source.write_text(ENUMERATIONS)
    path = compile_trigger(tmp_path, source, "-x", language, "-g", "-O1", name="enumerations", compiler=compiler)

    def go(*args):
        return tool("--json", "-x", path, *args, "--", path, tool="probe", ready=False).wait()

    names = ("level", "mark", "mixed", "wide")
    both = [name for name in names] + [f"n_{name}={name}:enum" for name in names]
    got, report = stream_of(go("take " + " ".join(both)))
    assert nothing_lost(report)
    assert got == [
        {"level": -2, "mark": float(2**64), "mixed": -5, "wide": 2**32,
         "n_level": "-2", "n_mark": "TOP", "n_mixed": "NEGATIVE", "n_wide": "LARGE"},
        {"level": 2, "mark": 1, "mixed": 2**32 - 1, "wide": 3,
         "n_level": "HIGH", "n_mark": "ONE", "n_mixed": "WIDE", "n_wide": "THREE"}]
    assert [line["*all"] for line in stream_of(go("take *all"))[0]] == [
        "{.level=-2, .mark=TOP, .mixed=NEGATIVE, .wide=LARGE}", "{.level=HIGH, .mark=ONE, .mixed=WIDE, .wide=THREE}"]
    for chosen in ("mixed == NEGATIVE", "mixed != WIDE", "level < LOW", "all->mixed < WIDE", "mark == TOP",
                   "mark >= HALF", "wide == LARGE", "wide > THREE"):
        assert report_of(go("take", "--filter", chosen))["events"] == 1, chosen


def test_a_tracepoint_has_a_name_for_a_negative_number(run):
    """RPM_INVALID is -1 (enum rpm_status of the kernel), in a field of int."""
    result = run("-n", "rpm:rpm_status", "--filter", "status == RPM_INVALID", tool="probe")
    if "no event" in result.stderr or "no such" in result.stderr:
        pytest.skip("this kernel has no rpm:rpm_status")
    assert result.code == 0, result


def test_names_that_a_tracepoint_has_for_its_numbers(tool):
    """Names are those of the kernel's own output: irq_vector.h and trace/events/irq.h."""
    known = {0: "HI", 1: "TIMER", 2: "NET_TX", 3: "NET_RX", 4: "BLOCK", 5: "IRQ_POLL", 6: "TASKLET", 7: "SCHED",
             8: "HRTIMER", 9: "RCU"}
    probe = tool(
        "--json", "irq:softirq_raise", "--by", "number=vec,name=vec:enum", "-d", "1", tool="probe", ready=False
    )
    rows = report_of(probe.wait())["rows"]
    assert rows and all(known[row["number"]] == row["name"] for row in rows)


def test_flags_that_a_tracepoint_has_names_for(tool, trigger):
    """Flags of the pages that a program gets, compared with the kernel's own trace."""
    load = trigger("faults", 200, 1, 0)
    tracers = [tool("--json", "-p", load.pid, *args, tool="probe")
               for args in (("kmem:mm_page_alloc", "--by", "gfp_flags:enum"), ("kmem:mm_page_alloc", "--stream"))]
    ring = tracefs.Instance()
    try:
        threads = os.listdir(f"/proc/{load.pid}/task")
        ring.enable("kmem/mm_page_alloc", " || ".join(f"common_pid == {tid}" for tid in threads))
        load.go()
        load.done()
        counted, streamed = (tracer.stop() for tracer in tracers)
        wanted = Counter(re.findall(r"mm_page_alloc: .* gfp_flags=(\S+)", ring.stop()))
    finally:
        ring.close()
    rows, (lines, _) = report_of(counted)["rows"], stream_of(streamed)
    assert sum(wanted.values()) >= 200 and any("|" in name for name in wanted)
    assert (
        Counter({row["gfp_flags"]: row["count"] for row in rows})
        == Counter(line["gfp_flags"] for line in lines)
        == wanted
    )


@alike
def test_numbers_without_names(run, made):
    for args in (("-x", made["c"], "take_value v->a:enum"), ("syscalls:sys_enter_read", "--by", "count:enum")):
        result = run("-n", *args, tool="probe")
        assert result.code == 2 and "its values have no names" in result.stderr, result
    assert run("-n", "irq:softirq_raise", "--filter", "vec:enum == TIMER", tool="probe").code == 0


# --- structures and arrays ------------------------------------------------------------------------

VALUES = (
    ("take_value *v", {"*v": VALUE}),
    ("take_value whole=*v end=*e v->in", {"whole": VALUE, "end": END, "in": f"[{INNER}, {{.x=8, .bytes=[0, 0, 0]}}]"}),
    ("take_value v->in[0] e->address v->name", {"in[0]": INNER, "address": "[127, 0, 0, 1]", "name": 'x"y'}),
    ("take v=*(struct value *)any", {"v": VALUE}),
    ("take_numbers *grid grid[1]", {"*grid": "[1, -2, 3]", "grid[1]": "[4, 5, -6]"}),
)


@pytest.mark.parametrize("language", ("c", "c++"))
@pytest.mark.parametrize("probe, wanted", VALUES)
def test_values_by_their_members(tool, made, language, probe, wanted):
    if language not in made:
        pytest.skip("there is no g++")
    got = each(tool, made[language], probe)
    assert list(got.values()) == list(wanted.values())


@pytest.mark.parametrize("key, wanted", (("*v", VALUE), ("v->in[0]", INNER), ("*e", END)))
def test_values_as_keys(tool, made, key, wanted):
    report = report_of(run(tool, made["c"], "take_value", "--by", key))
    (row,) = report["rows"]
    assert wanted in row.values() and row["count"] == N and nothing_lost(report)


def test_what_is_not_shown_makes_no_other_key(tool, made):
    """Padding, neighbours of a bit-field, and bytes after the end of a text make no keys of their own."""
    report = report_of(run(tool, made["c"], "take_padded", "--by", "k=*p"))
    rest = ", .bits=2, .number=-4, .wide=1}"
    assert {row["k"]: row["count"] for row in report["rows"]} == {
        '{.text="ab"' + rest: N - N // 3, '{.text=""' + rest: N // 3}
    assert nothing_lost(report)


def test_from_entries_to_returns(tool, made):
    report = report_of(run(tool, made["c"], "take_value", "--latency", "--by", "e=*e", "--sum", "$retval"))
    (row,) = report["rows"]
    assert row["e"] == END and row["sum"] == N * ((1 << 40) + 8080) and nothing_lost(report)


def test_what_is_too_large_says_so(tool, made):
    got = each(tool, made["c"], "take_vast vast=*v endless=*e")
    assert got["vast"].startswith("{.first=1, .many=[{.a=0, ") and got["vast"].endswith(", ...}")
    assert ".behind" not in got["vast"] and len(got["vast"]) <= 4096 + 3
    assert got["endless"] == '{.next=[0x0, 0x0], ...}'


def test_csv_and_text_have_the_same(tool, made):
    path = made["c"]
    lines = tool("--csv", "-x", path, "take_value", "--by", "k=*e", "--", path, str(N), tool="probe",
                 ready=False).wait().text.splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert (rows[0]["k"], rows[0]["count"]) == (END, str(N))
    text = tool("-x", path, "take_value end=*e", "--", path, "1", tool="probe", ready=False).wait().text
    assert f"end={END}\n" in text


@alike
def test_values_where_numbers_are_wanted(run, made):
    for args, said in ((("--sum", "*v"), "is a structure or an array, not a number"),
                       (("--hist", "v->in"), "is a structure or an array, not a number"),
                       (("--filter", "*v == 1"), "this is struct value, not a number")):
        result = run("-n", "-x", made["c"], "take_value", *args, tool="probe")
        assert result.code == 2 and said in result.stderr, result
    result = run("-n", "-x", made["c"], "take_value,take_padded", "--by", "*$arg1", tool="probe")
    assert result.code == 2 and "has different types in different events" in result.stderr


def test_of_the_kernel(tool):
    """A structure shows the values that its members have when they are named one by one."""
    lines, report = stream_of(
        tool(
            "--json",
            "syscalls:sys_enter_exit_group u=$task->cred->euid a=$task->cred->euid.val " "c=$task->tasks",
            "--",
            "/bin/true",
            tool="probe",
            ready=False,
        ).wait()
    )
    assert nothing_lost(report)
    for line in lines:
        assert line["u"] == "{.val=%d}" % line["a"]
        assert line["c"].startswith("{.next=0x") and ", .prev=0x" in line["c"]
    assert lines
