# SPDX-License-Identifier: BSD-2-Clause
"""--live: the screen, the keys, and that the terminal is restored, whatever happens."""

import itertools
import os
import re
import signal
import subprocess
import time

import pytest

import tally
from screens import ENTER, HOME, LEAVE, Terminal
from test_openmetrics import GETPPID

pytestmark = tally.once

CALLS = 900


@pytest.fixture
def terminal(ends):
    def start(*args, **how):
        each = Terminal(*args, **how)
        ends.callback(each.close)
        return each

    return start


def is_report(screen):
    return any(" during " in line or ", read in " in line for line in screen)


def heading(screen, column="count"):
    return next(at for at, line in enumerate(screen) if column in line.split() and " during " not in line)


def values(screen, column):
    """The values of the rows, in their order, for a column of numbers without units that is right-aligned."""
    at = heading(screen, column)
    end = screen[at].index(f" {column}") + len(column) + 1
    rows = screen[at + 1:next(k for k, line in enumerate(screen) if k > at and not line.strip() or "not shown" in line)]
    found = [int(row[:end].split()[-1].replace(",", "")) for row in rows if not row.startswith("total")]
    assert found, screen
    return found


def wait_for_screen(each):
    return tally.wait_until(lambda: next((s for s in each.screens() if is_report(s)), None), "a report on the screen")


TOOLS = (
    ("runqlat",),
    ("runqlat", "--by", "comm"),
    ("syscount", "--latency"),
    ("softirqs",),
    ("schedlat",),
    ("filetop",),
    ("faults",),
    ("offcputime",),
    ("profile",),
    ("stackcount", "sched:sched_switch"),
    ("tcptop",),
    ("probe", "syscalls:sys_enter_read", "--sum", "count"),
)


OTHERS = (
    ("biolatency",),
    ("biopattern",),
    ("biotop",),
    ("bitesize",),
    ("bpftop",),
    ("cachestat",),
    ("cpudist", "--by", "pid"),
    ("cputhrottle",),
    ("dcstat",),
    ("fsdist", "--by", "comm"),
    ("funcgraph", "-x", str(tally.BUILD / "triggers" / "calls"), "known_function"),
    ("futexstat",),
    ("hardirqs",),
    ("kmem",),
    ("kvmstat",),
    ("lockstat",),
    ("lockstat", "-g"),
    ("memleak",),
    ("migrations",),
    ("netdrop",),
    ("netlat",),
    ("offwaketime",),
    ("profile", "--by", "comm"),
    ("reclaim",),
    ("runqlen", "-A"),
    ("snap",),
    ("stat", "-a"),
    ("tcpretrans",),
    ("dnssnoop",),
    ("tcpbacklog",),
    ("tcpstates",),
    ("tcprtt", "--by", "remote"),
    ("timers",),
    ("uringstat",),
    ("vitals",),
    ("wakeuptime",),
    ("why",),
    ("workqueues",),
)


def has_live(tool):
    return (
        "--live\t"
        in subprocess.run([tally.BUILD / tool, "--complete", "--liv"], capture_output=True, text=True).stdout
    )


def test_all_are_tried():
    tools = {each.name for each in tally.BUILD.iterdir() if each.is_symlink()} - {"run"}
    assert {tool for tool in tools if has_live(tool)} == {tool for tool, *_ in (*TOOLS, *OTHERS)}


@pytest.mark.parametrize("line, columns", [*((line, columns) for columns in (80, 120, 200) for line in TOOLS), *((line, 80) for line in OTHERS)],
                         ids=lambda each: " ".join(each) if isinstance(each, tuple) else each)
def test_every_screen_fits(terminal, line, columns):
    """At each width; q ends with a report on the restored terminal."""
    tool, *options = line
    each = terminal(tool, "--live", "-I", 200, *options, columns=columns, rows=20)
    shown = tally.wait_until(
        lambda: len([s for s in each.screens() if is_report(s)]) > 1 and each.screens() or each.process.poll(),
        "two reports",
    )
    if shown == 4:
        pytest.skip("this kernel cannot do it")
    assert each.wait(b"q") == 0, each.seen
    assert each.seen.count(ENTER) == each.seen.count(LEAVE) == 1 and each.is_as_before()
    assert all(len(screen) <= 20 for screen in shown) and all(
        len(each) <= columns for screen in shown for each in screen
    ), shown
    assert all("source: " not in text for screen in shown for text in screen)
    assert each.after().startswith(f"{tool}: ") and "source: " not in each.after(), each.after()
    assert "lost " in each.after() or tool in ("stat", "vitals"), each.after()


def test_keys(terminal):
    """Rows are ordered by the column named below, either way; a paused screen stays, and the measurement goes on."""
    each = terminal("syscount", "--live", "-I", 200)
    first = wait_for_screen(each)
    assert first[-1] == "q quits  p pauses  s sorts: as usual  r reverses  h help"
    for column in ("calls", "errors"):
        each.press(b"s")
        shown = each.screen(lambda s: f"s sorts: {column} " in s[-1], f"sorting by {column}")
        assert values(shown, column) == sorted(values(shown, column), reverse=True)
    each.press(b"sr")
    shown = each.screen(lambda s: "s sorts: calls, reversed" in s[-1] and is_report(s), "the other order")
    assert values(shown, "calls") == sorted(values(shown, "calls"))
    each.press(b"p")
    paused = each.screen(lambda s: s[-1].startswith("PAUSED"), "a paused screen")
    n = len(each.screens())
    time.sleep(1)
    assert len(each.screens()) == n
    each.press(b"h")
    shown = each.screen(lambda s: any(line.startswith("space ") for line in s), "help")
    assert shown[0] == paused[0] and shown[-1].startswith("PAUSED"), "the report is the same"
    each.press(b"?")
    each.screen(lambda s: not any(line.startswith("space ") for line in s), "no help")
    each.press(b"p")
    each.screen(lambda s: s[-1].startswith("q quits") and is_report(s), "another report")
    assert each.wait(b"q") == 0 and each.is_as_before()


SEVERAL = ("runqlat", "syscount --top 3", "schedlat")


def shown_of(screen):
    """The measurements on a screen, from the top."""
    return [found[1] for line in screen if (found := re.match(r"(\w+): .* during ", line))]


@pytest.mark.parametrize("columns, rows, panes", ((80, 24, 1), (120, 45, 3), (200, 30, 2)))
def test_several(terminal, columns, rows, panes):
    """One below the other, as many as fit; tab moves each to the top, and keys apply to that one."""
    each = terminal("run", *SEVERAL, "--live", "-I", 300, columns=columns, rows=rows)
    tools = [line.split()[0] for line in SEVERAL]
    for turn in range(4):
        wanted = [tools[(turn + i) % 3] for i in range(panes)]
        screen = each.screen(lambda s: shown_of(s) == wanted and "tab next" in s[-1], f"{wanted} on the screen")
        assert len(screen) <= rows and all(len(line) <= columns for line in screen), screen
        if wanted[0] == "syscount":
            each.press(b"s")
            screen = each.screen(
                lambda s: "s sorts: calls" in s[-1] and shown_of(s) == wanted, "its rows in another order"
            )
            assert len(values(screen, "calls")) == 3 and values(screen, "calls") == sorted(
                values(screen, "calls"), reverse=True
            )
        each.press(b"\t")
    each.press(b"h")
    each.screen(
        lambda s: any(line.startswith("tab ") for line in s) and any(line.startswith("h, ?") for line in s), "help"
    )
    assert each.wait(b"q") == 0 and each.is_as_before() and each.seen.count(ENTER) == each.seen.count(LEAVE) == 1
    after = each.after()
    # The last interval of each measurement, and the one before if it had ended when q was read.
    reports = [(name, len(list(same))) for name, same in itertools.groupby(shown_of(after.splitlines()))]
    assert [name for name, _ in reports] == tools and all(n <= 2 for _, n in reports), after


def test_lines_are_not_for_the_screen(run):
    for line in ("execsnoop", "trace", "probe 'sched:sched_switch prev_pid'"):
        result = run("runqlat", line, "--live", tool="run")
        assert (
            result.code == 2
            and ("prints lines" in result.stderr or "single events" in result.stderr)
            and not result.stdout
        )
    result = run("runqlat --live", "syscount", tool="run")
    assert result.code == 2 and "follow the lines" in result.stderr, result


def test_other_rows(terminal, trigger):
    """The screen has the first rows of the calls; n and b scroll to the others, and back."""
    calls = (39, 24, 102, 104, 107, 108, 110, 111, 186)
    load = trigger("syscalls", 1, *(f"{number}:{1000 - 10 * i}" for i, number in enumerate(calls)))
    each = terminal("syscount", "--live", "-I", 3600 * 1000, "-p", f"{load.pid},{os.getpid()}", rows=16)
    tally.wait_until(lambda: ENTER in each.read(), "the screen")
    load.go()
    load.done()
    each.press(b" ")
    wait_for_screen(each)
    each.press(b"s")
    shown = each.screen(lambda s: is_report(s) and "s sorts: calls" in s[-1], "a report sorted by calls")
    first = values(shown, "calls")
    assert first[0] == 1000 and any("rows (n next, b back)" in line for line in shown), shown
    each.press(b"n")
    shown = each.screen(lambda s: is_report(s) and values(s, "calls")[0] < 1000, "other rows")
    assert values(shown, "calls")[0] == 1000 - 10 * 8, shown
    each.press(b"nnnnb")
    each.press(b"bb")
    shown = each.screen(lambda s: is_report(s) and values(s, "calls")[0] == 1000, "the first rows")
    assert values(shown, "calls") == first
    assert each.wait(b"q") == 0


def test_space_shows_now(terminal):
    """A report of an interval that would end in an hour; the last report covers the time since then."""
    each = terminal("runqlat", "--live", "--by", "comm", "-I", 3600 * 1000)
    tally.wait_until(lambda: ENTER in each.read(), "the screen")
    each.press(b" ")
    shown = wait_for_screen(each)
    assert " count " in shown[heading(shown)]
    assert each.wait(b"q") == 0
    assert each.after().count("runqlat: wait for a CPU during") == 2, each.after()


def test_counts_add_up(terminal, trigger):
    """Whatever keys are typed, the counts on the screen and in the last report add up to all calls."""
    load = trigger("syscalls", 1, f"{GETPPID}:{CALLS}")
    each = terminal("syscount", "--live", "-I", 3600 * 1000, "-e", "getppid", "-p", load.pid, rows=50)
    tally.wait_until(lambda: ENTER in each.read(), "the screen")
    load.go()
    each.press(b"srh?rp")
    each.screen(lambda s: s[-1].startswith("PAUSED"), "a paused screen")
    each.press(b"p ")
    wait_for_screen(each)
    each.press(b"shr")
    load.done()
    load.close()
    assert each.wait() == 0         # all processes of -p have ended
    calls = [int(n) for n in re.findall(r"^getppid +(\d+)", each.after(), re.M)]
    assert sum(calls) == CALLS and each.after().count("system calls that returned during") == 2, each.after()


def test_top_is_of_each_order(terminal, trigger):
    """The first three of five system calls by number, then by errors: the fifth is the only one that
    fails."""
    load = trigger(
        "syscalls",
        1,
        *(f"{number}:{times}" for number, times in ((0, 50), (102, 200), (104, 300), (107, 400), (108, 500))),
    )
    each = terminal("syscount", "--live", "-I", 3600 * 1000, "-p", f"{load.pid},{os.getpid()}", "--top", 3, rows=50)
    tally.wait_until(lambda: ENTER in each.read(), "the screen")
    load.go()
    load.done()
    each.press(b" ")
    wait_for_screen(each)
    for column, expected in (("calls", [500, 400, 300]), ("errors", [50, 0, 0])):
        each.press(b"s")
        shown = each.screen(lambda s: is_report(s) and f"s sorts: {column}" in s[-1], f"a report sorted by {column}")
        assert values(shown, column) == expected and any("not shown: " in line for line in shown), shown
    assert each.wait(b"q") == 0


@pytest.mark.parametrize("sign", (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
def test_signals_end_with_a_report(terminal, sign):
    each = terminal("runqlat", "--live", "-I", 100)
    wait_for_screen(each)
    os.kill(each.pid, sign)
    assert each.wait() == 0 and each.is_as_before()
    assert each.seen.count(LEAVE) == 1 and each.after().startswith("runqlat: wait for a CPU during"), each.after()


@pytest.mark.parametrize("sign", (signal.SIGKILL, signal.SIGABRT))
def test_a_crash_gives_it_back(terminal, sign):
    """By a process that watches over it, and then ends."""
    each = terminal("runqlat", "--live", "-I", 100)
    wait_for_screen(each)
    assert not each.is_as_before()
    # The guard, and the process that opens files of others.
    own = open(f"/proc/{each.pid}/task/{each.pid}/children").read().split()
    assert str(*tally.children(each.pid)) in own
    os.kill(each.pid, sign)
    assert each.wait() == -sign
    tally.wait_until(lambda: LEAVE in each.read() and each.is_as_before(), "the terminal as it was")
    tally.wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in own), "the end of its processes")


def test_the_guard_holds_nothing(terminal):
    """It has only descriptors of the terminal and of its pipe: no program stays loaded because of it."""
    each = terminal("runqlat", "--live", "-I", 100)
    wait_for_screen(each)
    (guard,) = tally.children(each.pid)
    held = sorted(os.readlink(f"/proc/{guard}/fd/{fd}") for fd in os.listdir(f"/proc/{guard}/fd"))
    assert len(held) == 3 and held[0] == held[1] == os.ttyname(each.other) and held[2].startswith("pipe:"), held
    assert each.wait(b"q") == 0 and not os.path.exists(f"/proc/{guard}")


def test_stop_and_continue(terminal):
    """Ctrl-Z returns the terminal to the shell; nothing is drawn in the background; in the foreground the screen is
    back."""
    each = terminal("runqlat", "--live", "-I", 100, job="f")
    wait_for_screen(each)
    each.press(b"\x1a")
    tally.wait_until(lambda: each.state() == "T", "that it stops")
    assert LEAVE in each.read() and each.is_as_before()
    each.put("b")
    n = len(each.seen)
    os.kill(each.pid, signal.SIGCONT)
    tally.wait_until(lambda: each.state() != "T", "that it goes on")
    time.sleep(1)
    assert len(each.read()) == n and each.is_as_before() and each.state() != "T", each.seen[n:]
    each.put("f")
    each.screen(is_report, "the screen again")
    assert each.read()[n:].count(ENTER) == 1 and not each.is_as_before()
    each.press(b"\x1a")
    tally.wait_until(lambda: each.state() == "T", "that it stops again")
    n = len(each.read())
    os.kill(each.pid, signal.SIGCONT)           # still in the foreground
    tally.wait_until(lambda: ENTER in each.read()[n:] and HOME in each.seen[n:], "the screen at once")
    assert each.wait(b"q") == 0 and each.is_as_before()


def test_stopped_from_elsewhere(terminal):
    """After SIGSTOP the shell resets the terminal; after SIGCONT the tool has it again."""
    each = terminal("runqlat", "--live", "-I", 100, job="f")
    wait_for_screen(each)
    os.kill(each.pid, signal.SIGSTOP)
    tally.wait_until(lambda: each.state() == "T", "that it stops")
    each.put("b")
    os.kill(each.pid, signal.SIGCONT)
    tally.wait_until(lambda: each.state() != "T", "that it goes on")
    time.sleep(0.3)
    n = len(each.read())
    time.sleep(1)
    assert len(each.read()) == n, each.seen[n:]
    each.put("f")
    each.screen(is_report, "the screen again")
    assert each.wait(b"q") == 0


def test_in_the_background(terminal):
    """The tool is not stopped and does not touch the terminal; in the foreground, it draws. Its last report comes in
    any case."""
    each = terminal("runqlat", "--live", "-I", 100, job="b")
    time.sleep(2)
    assert each.state() != "T" and not each.read() and each.is_as_before()
    each.press(b"x")
    time.sleep(0.5)
    assert each.state() != "T" and b"q quits" not in each.read()
    each.put("f")
    each.screen(is_report, "the screen")
    assert each.wait(b"q") == 0 and each.is_as_before()
    other = terminal("runqlat", "--live", "-I", 100, "-d", 1, job="b", tostop=True)
    assert other.wait() == 0 and ENTER not in other.seen and "runqlat: wait" in other.after(), other.seen


def test_no_keys_without_a_terminal(terminal):
    each = terminal("runqlat", "--live", "-I", 100, stdin=subprocess.DEVNULL)
    shown = wait_for_screen(each)
    assert shown[-1] == "Ctrl-C ends" and each.is_as_before()
    os.kill(each.pid, signal.SIGINT)
    assert each.wait() == 0 and each.after().startswith("runqlat: ")


def test_a_command_has_the_keyboard(terminal, tmp_path):
    each = terminal("runqlat", "--live", "-I", 100, "--", "sh", "-c", f"read line; echo $line > {tmp_path}/typed")
    shown = wait_for_screen(each)
    assert shown[-1] == "Ctrl-C ends; the command has the keyboard" and each.is_as_before()
    assert each.wait(b"q s p\n") == 0
    assert (tmp_path / "typed").read_text() == "q s p\n" and each.after().startswith("runqlat: ")


def test_messages_come_after_the_screen(terminal, ends):
    """Messages that the screen would have hidden are printed after it is left."""
    load = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "status=none"])
    ends.callback(tally.end_process, load)
    each = terminal("syscount", "--live", "-I", 100, "--budget", "0.0001", stderr=None)
    assert each.wait() == 0
    assert (
        "warning: the programs took" not in each.seen.split(LEAVE)[0].decode()
        and "warning: the programs took" in each.after()
    )


OTHER_FORMATS = "--live cannot be combined with other formats, -o or --listen"


@pytest.mark.parametrize("tool, args, said", (
    ("runqlat", (), "-I 1000"), ("runqlat", ("--json",), OTHER_FORMATS), ("runqlat", ("-o", "/tmp/x"), OTHER_FORMATS),
    ("runqlat", ("--listen", "1"), OTHER_FORMATS), ("runqlat", ("--heat",), "--live and --heat cannot be combined"),
    ("offcputime", ("--format", "flame"), OTHER_FORMATS), ("lockstat", ("--format", "json"), OTHER_FORMATS),
    ("probe", ("sched:sched_switch", "--stream"), "single events"), ("run", ("runqlat", "syscount"), "-I 1000"), ("reclaim", ("--min", "1ms"), "single events"),
))
def test_refused(run, tool, args, said):
    result = run("--live", *args, tool=tool)
    assert result.code == 2 and said in result.stderr and not result.stdout, result
