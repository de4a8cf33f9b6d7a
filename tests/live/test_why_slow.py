# SPDX-License-Identifier: BSD-2-Clause
"""why --slow: slow calls of a function beside the others, compared with a program that knows both."""

import json
import os
import re
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

import schema
from probing import binary
from snooping import compiled
from tally import Blurred, flaws, scaled, steady, wait_until, within
from test_attach import needs_kprobes

SLOWLY, SPANS, THROWS = (binary(name) for name in ("slowly", "spans", "throws"))

POLLS = ("--from", "syscalls:sys_enter_poll", "--to", "syscalls:sys_exit_poll")
AGAIN = ("--from", "syscalls:sys_enter_poll", "--to", "syscalls:sys_enter_poll")
TURNS = ("--from", "syscalls:sys_exit_poll", "--to", "syscalls:sys_enter_poll")
HANDLE = ("-x", SLOWLY, "--from", "handle", "--to", "handle%return")

# A side as the trigger knows it: see there.
Side = namedtuple("Side", "calls inner outer naps polls")


def report_of(result):
    assert result.code == 0, result
    report = json.loads(result.text.splitlines()[-1])
    schema.check(report)
    return report


def measure(tool, load, *options):
    """The report on the calls of a program that waits for its go, and the program's own numbers."""
    tracer = tool("--json", *options, "-p", load.pid, tool="why")
    load.go()
    numbers = load.done()
    report = report_of(tracer.stop())
    if report["lost"]["missed"]:
        raise Blurred       # a switch that this kernel hid from programs
    return report, numbers


def slowly(tool, trigger, *options, calls=None, threads=1, ms=40, of=("-x", SLOWLY, "--slow", "handle")):
    load = trigger("slowly", calls or scaled(60), threads, ms)
    report, numbers = measure(tool, load, *of, *options)
    if numbers[10]:
        raise Blurred
    return report, Side(*numbers[:5]), Side(*numbers[5:10])


def time_of(report, side, *causes):
    return sum(row[f"{side}_time"] for row in report["rows"] if not causes or row["cause"] in causes)


def check_side(report, side, said):
    """
    The whole time of calls is between that by the clocks inside and around them, and so is the time of waits. A wait
    ends when the thread runs again.
    """
    calls, = {row[f"{side}_calls"] for row in report["rows"]}
    assert calls == said.calls, (side, said)
    assert said.inner <= time_of(report, side) <= said.outer, (side, said)
    assert time_of(report, side, "timer") <= said.naps, (side, said)
    assert time_of(report, side, "events") <= said.polls, (side, said)


@pytest.mark.everywhere
@pytest.mark.parametrize("of", (("-x", SLOWLY, "--slow", "handle"), HANDLE), ids=("call", "events"))
@pytest.mark.parametrize("threads", (1, 3))
def test_both_sides(tool, trigger, threads, of):
    """Naps make calls slow: all that nap, and no other has a nap. The same between the call's two events."""

    def trial():
        report, slow, rest = slowly(tool, trigger, "--above", "20ms", threads=threads, of=of)
        assert report["events"] == slow.calls + rest.calls == threads * scaled(60)
        assert not any(flaws(report).values()), flaws(report)
        check_side(report, "slow", slow)
        check_side(report, "rest", rest)
        naps, = (row for row in report["rows"] if row["cause"] == "timer")
        assert naps["slow_with"] == threads * (scaled(60) // 5) and not naps["rest_with"], naps
        assert naps["call"].endswith("nanosleep"), naps
        # The timer begins in the call, before the thread leaves its CPU.
        within(naps["slow_time"] >= 0.95 * naps["slow_with"] * 40_000_000, naps)
        # Without a nap, a call is slow if it had to wait for its CPU that long: on a busy machine.
        if slow.calls == naps["slow_with"]:
            assert naps is max(report["rows"], key=lambda row: row["difference_percent"]), report["rows"]

    steady(trial)


@pytest.mark.everywhere
def test_shares_add_up(tool, trigger):
    """To 100 % of the difference of the two means, and the means are those of the sums."""
    report, slow, rest = steady(lambda: slowly(tool, trigger, "--above", "20ms"))
    longer = time_of(report, "slow") / slow.calls - time_of(report, "rest") / rest.calls
    for row in report["rows"]:
        difference = row["slow_time"] / slow.calls - row["rest_time"] / rest.calls
        assert row["difference_percent"] == pytest.approx(100 * difference / longer, abs=0.05), row
        assert row["slow"] == row["slow_time"] // slow.calls and row["rest"] == row["rest_time"] // rest.calls
    # Each is rounded to a tenth.
    shares = [row["difference_percent"] for row in report["rows"]]
    assert sum(shares) == pytest.approx(100, abs=0.05 * len(shares))


@pytest.mark.everywhere
def test_the_slowest_tenth(tool, trigger):
    """Without a limit: 20 of 100 calls nap, and of these as many are slow as make a tenth; none of the others is."""

    def trial():
        report, slow, rest = slowly(tool, trigger, calls=100, ms=100)
        assert report["events"] == 100 == slow.calls + rest.calls
        naps, = (row for row in report["rows"] if row["cause"] == "timer")
        # All 20 are slow if they are of one class: 6 % of their length.
        within(1 <= naps["slow_calls"] <= 20, naps)
        within(naps["slow_with"] == naps["slow_calls"], naps)

    steady(trial)


def naps(pid):
    """Whether a thread of the process sleeps longer than any other call does."""
    calls = [(thread / "wchan").read_text() for thread in Path(f"/proc/{pid}/task").iterdir()]
    return "hrtimer_nanosleep" in calls


def test_calls_that_go_on(tool, trigger):
    """A call that has not ended is told: it may be the slowest of all."""
    load = trigger("slowly", 5, 1, 60_000)
    tracer = tool("--slow", "handle", "-p", load.pid, tool="why")
    load.go()
    wait_until(lambda: naps(load.pid), "the fifth call naps")
    result = tracer.stop()
    assert result.code == 0 and "1 call had not ended, the longest after " in result.text, result


@pytest.mark.everywhere
def test_calls_in_calls_are_part_of_them(tool, trigger):
    """Only the outermost call of a recursion counts, with all of its time."""
    n = scaled(50)
    report, numbers = steady(lambda: measure(tool, trigger("spans", "nested", n, 2, 5), "-x", SPANS,
                                             "--slow", "recursive"))
    assert report["events"] == 2 * n and numbers[0] == 2 * n * 6
    assert not any(flaws(report).values()), flaws(report)


@pytest.mark.everywhere
def test_calls_that_do_not_return(tool, trigger):
    """A third is left by longjmp(): none of their time is in the next call, or lost without a word."""
    n = scaled(60)
    report, numbers = steady(lambda: measure(tool, trigger("spans", "jump", n, 2), "-x", SPANS, "--slow", "jumping"))
    assert report["events"] == numbers[0] and numbers[1] <= time_of(report, "slow") + time_of(report, "rest")
    # The last call that was left has no later one that would tell.
    assert 2 * n - numbers[0] - 2 <= flaws(report)["unwound"] <= 2 * n - numbers[0], flaws(report)


@pytest.mark.everywhere
def test_calls_that_end_in_a_jump(tool, trigger):
    """first() ends by jumping to second(): its call ends with that of second()."""
    n = scaled(60)
    report, numbers = steady(lambda: measure(tool, trigger("spans", "tail", n, 2), "-x", SPANS,
                                             "--slow", "first,second"))
    assert report["events"] == 2 * n, report
    assert not any(flaws(report).values()), flaws(report)


@pytest.mark.everywhere
def test_objects(run, directory):
    """A call that waits for two pipes counts once, each pipe with its time; in others, nobody waits for them."""
    source = r"""
        #include <fcntl.h>
        #include <unistd.h>
        static int pipes[2];
        __attribute__((noinline)) void handle(int i)
        {
            char c;

            if (i % 4 == 3 && (read(pipes[0], &c, 1) != 1 || read(pipes[1], &c, 1) != 1))
                _exit(1);
        }
        int main(int argc, char **argv)
        {
            int i, other[2];

            for (i = 0; i < 2; i++)
                pipes[i] = open(argv[1 + i], O_RDWR);
            if (!fork()) {
                for (i = 0; i < 5; i++) {
                    usleep(30000);
                    write(pipes[0], "x", 1);
                    usleep(10000);
                    write(pipes[1], "x", 1);
                }
                return 0;
            }
            for (i = 0; i < 20; i++)
                handle(i);
            return 0;
        }
    """
    program, fifos = compiled(directory, "pipes", source), [directory / name for name in ("first", "second")]
    for fifo in fifos:
        os.mkfifo(fifo)

    def trial():
        result = run("--json", "-o", directory / "report", "-x", program, "--slow", "handle", "--above", "5ms", "--",
                     program, *fifos, tool="why")
        assert result.code == 0, result
        report = json.loads((directory / "report").read_text())
        if report["lost"]["missed"]:
            raise Blurred
        row, = (row for row in report["rows"] if row["cause"] == "pipe")
        within(row["slow_calls"] == 5, row)
        assert row["slow_with"] == 5 and not row["rest_with"], row
        found = dict(re.findall(r"(\S+) (\d+\.\d) %", row["object"]))
        assert set(found) == {str(fifo) for fifo in fifos}, row
        # 30 ms and 10 ms, if the other process was not late.
        within(abs(float(found[str(fifos[0])]) - 75) < 5, row)

    steady(trial)


@pytest.mark.everywhere
def test_a_row_counts_a_call_once(run, directory):
    """A call waits for a semaphore, and then for a mutex whose waiters lend their priority: two futexes, one row."""
    source = r"""
        #include <pthread.h>
        #include <semaphore.h>
        #include <unistd.h>
        static pthread_mutex_t lock;
        static sem_t ready, begun;
        __attribute__((noinline)) void handle(int i)
        {
            sem_post(&begun);
            sem_wait(&ready);
            pthread_mutex_lock(&lock);
            pthread_mutex_unlock(&lock);
        }
        static void *hold(void *unused)
        {
            int i;

            for (i = 0; i < 5; i++) {
                pthread_mutex_lock(&lock);
                sem_wait(&begun);
                usleep(20000);
                sem_post(&ready);
                usleep(20000);
                pthread_mutex_unlock(&lock);
                usleep(20000);
            }
            return unused;
        }
        int main(void)
        {
            pthread_mutexattr_t a;
            pthread_t thread;
            int i;

            pthread_mutexattr_init(&a);
            pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
            pthread_mutex_init(&lock, &a);
            sem_init(&ready, 0, 0);
            sem_init(&begun, 0, 0);
            pthread_create(&thread, NULL, hold, NULL);
            for (i = 0; i < 5; i++) {
                usleep(30000);
                handle(i);
            }
            return 0;
        }
    """
    program = compiled(directory, "twice", source)

    def trial():
        result = run("--json", "-o", directory / "report", "-x", program, "--slow", "handle", "--above", "1ms", "--",
                     program, tool="why")
        assert result.code == 0, result
        report = json.loads((directory / "report").read_text())
        if report["lost"]["missed"]:
            raise Blurred
        row, = (row for row in report["rows"] if row["cause"] == "futex")
        assert row["slow_calls"] == row["slow_with"] == 5 and not row["rest_calls"], row
        assert row["in_slow_percent"] == 100, row
        # 20 ms for each; the holder may be late, and so may the caller.
        within(len(re.findall("0x", row["object"])) == 2 and row["slow"] > 30_000_000, row)

    steady(trial)


@pytest.mark.everywhere
def test_between_system_calls(tool, trigger):
    """Every second call polls for a millisecond: from the entry of each poll to its exit."""
    n = scaled(60)

    def trial():
        report, slow, rest = slowly(tool, trigger, of=POLLS)
        assert report["events"] == n // 2 and not any(flaws(report).values()), report
        whole = time_of(report, "slow") + time_of(report, "rest")
        assert n // 2 * 1_000_000 <= whole <= slow.polls + rest.polls, report["rows"]
        waits = time_of(report, "slow", "events") + time_of(report, "rest", "events")
        within(waits > 0.5 * n // 2 * 1_000_000, report["rows"])

    steady(trial)


def naps_between(first, last):
    """The naps of slowly from the poll in one call to that in another one."""
    return sum(i % 5 == 4 for i in range(first, last))


def begun(report):
    """Spans that had not ended: joined threads may not have left their CPU for good when the run ends."""
    said = re.search(r"(\d+) spans? had not ended", report.get("note") or "")
    return int(said[1]) if said else 0


@pytest.mark.everywhere
def test_turns_of_a_loop(tool, trigger):
    """From a poll to the next one: with all naps, but not the polls. The last has no next one, which is told."""
    n, ms = scaled(60), 40

    def trial():
        report, slow, rest = slowly(tool, trigger, ms=ms, of=TURNS)
        found = flaws(report)
        assert report["events"] == n // 2 - 1, report
        assert found.pop("no_end") + begun(report) == 1 and not any(found.values()), report
        # Calls 1, 3, 5, ... poll, and then calls 4, 9, 14, ... nap.
        turns = naps_between(1, n - 1 - n % 2)
        whole = time_of(report, "slow") + time_of(report, "rest")
        assert turns * ms * 1_000_000 <= whole, report["rows"]
        # No poll is in a turn. The time between two calls is, and may be long only if another thread had the CPU.
        within(whole <= slow.outer + rest.outer - n // 2 * 1_000_000, report["rows"])

    steady(trial)


@pytest.mark.everywhere
def test_from_an_event_to_itself(tool, trigger):
    """The end of a turn is the begin of the next one: each has one poll."""
    n, ms = scaled(60), 40

    def trial():
        report, slow, rest = slowly(tool, trigger, ms=ms, of=AGAIN)
        found = flaws(report)
        assert report["events"] == n // 2 - 1, report
        assert found.pop("no_end") + begun(report) == 1 and not any(found.values()), report
        polls = sum(row["slow_with"] + row["rest_with"] for row in report["rows"] if row["cause"] == "events")
        within(polls == n // 2 - 1, report["rows"])
        turns = naps_between(1, n - 1 - n % 2)
        whole = time_of(report, "slow") + time_of(report, "rest")
        assert (n // 2 - 1 + turns * ms) * 1_000_000 <= whole, report["rows"]

    steady(trial)


@pytest.mark.everywhere
def test_the_newest_begin_counts(tool, trigger):
    """One of five calls naps. The begins of the others have no end, which is told."""
    n = scaled(60)

    def trial():
        report, slow, rest = slowly(tool, trigger, "-x", SLOWLY, of=(
            "--from", "handle", "--to", "syscalls:sys_exit_clock_nanosleep"))
        assert report["events"] == n // 5, report
        assert flaws(report)["no_end"] + begun(report) == n - n // 5, report
        assert slow.naps + rest.naps >= time_of(report, "slow", "timer") + time_of(report, "rest", "timer") > 0

    steady(trial)


@pytest.mark.everywhere
def test_usdt(tool, trigger):
    """From one USDT probe of a loop to the next one, each of which is passed n times."""
    n = scaled(500)
    report, numbers = steady(lambda: measure(tool, trigger("usdt", n), "-x", binary("usdt"), "--from",
                                             "sdt_tally_test:plain", "--to", "sdt_tally_test:twice"))
    assert report["events"] == n == numbers[0] and not any(flaws(report).values()), report


@pytest.mark.everywhere
@needs_kprobes
def test_functions_of_the_kernel(tool, trigger):
    def trial():
        report, numbers = measure(tool, trigger("slowly", 20, 1, 20), "--slow", "hrtimer_nanosleep")
        assert report["events"] == 4 and not any(flaws(report).values()), report
        # The nap includes the rest of its system call.
        assert 0 < time_of(report, "slow", "timer") + time_of(report, "rest", "timer") <= numbers[3] + numbers[8]

    steady(trial)


@pytest.mark.parametrize("options, said", (
    (("--above", "5ms"), "--above needs --slow"),
    (("-x", SLOWLY), "-x needs --slow"),
    (("--slow", "handle", "--by", "pid"), "--slow and --from cannot be combined with --by"),
    (("--slow", "handle", "-I", "100"), "--slow and --from cannot be combined with intervals"),
    (("--slow", "handle", "--sort", "count"), "sorted by their share"),
    (("--from", "syscalls:sys_enter_read"), "--from and --to must be given together"),
    (("--to", "syscalls:sys_enter_read"), "--from and --to must be given together"),
    (("--slow", "handle", *POLLS), "--slow cannot be combined with --from and --to"),
    (("-x", SLOWLY, "--from", "handle", "--to", "handle"), "cannot be both a begin and an end"),
    (("--from", "sched:sched_wakeup", "--to", "syscalls:sys_exit_read"),
     "concerns a thread other than the current one"),
    (("--from", "syscalls:sys_exit_read", "--to", "sched:sched_switch"),
     "concerns a thread other than the current one"),
))
def test_usage(run, options, said):
    result = run(*options, tool="why")
    assert result.code == 2 and said in result.stderr, result


def test_functions_that_are_not_there(run):
    result = run("-x", SLOWLY, "--slow", "handel", "-d", "1", tool="why")
    assert result.code == 1 and "handle" in result.stderr, result


def test_explain(run):
    """-n names the functions, and attaches nothing."""
    result = run("-x", SLOWLY, "--slow", "handle", "-n", tool="why")
    assert result.code == 0 and "handle" in result.text, result


def test_no_call_is_slow(run):
    """The others are shown, and that they are the others."""
    result = run("-x", SLOWLY, "--slow", "handle", "--above", "30s", "--", SLOWLY, 20, 1, 5, tool="why")
    assert result.code == 0 and "none of 20 calls took 30.0 s; the average is " in result.text, result


def test_nothing_happened(run, directory):
    own = shutil.copy(SLOWLY, directory)
    result = run("-x", own, "--slow", "handle", "-d", "0.1", tool="why")
    assert result.code == 0 and "events 0" in result.text, result
