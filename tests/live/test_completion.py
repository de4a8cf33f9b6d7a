# SPDX-License-Identifier: BSD-2-Clause
"""Completion of command lines: --complete compared with --help, the parsers' own messages, `tally list` and the
machine; and bash, zsh and fish compared with --complete."""

import csv
import functools
import io
import os
import pty
import re
import select
import shutil
import subprocess

import pytest

import cgroups
import tally
from tally import BUILD, ROOT, once

pytestmark = once

HERE = ROOT / "tests" / "live"

# Options whose values depend on the current state of the machine: they may change between two answers.
CHANGING = {"pid", "comm", "pidns", "cgroup"}


def ask(*words):
    """The answer of `tally --complete`: [(word, help)]; completion by the shell itself has no word."""
    done = subprocess.run(
        [BUILD / "tally", "--complete", *words], capture_output=True, text=True, timeout=tally.PATIENCE
    )
    assert done.returncode == 0 and not done.stderr, (words, done)
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


def words(*line):
    return [word for word, _ in ask(*line) if word]


@functools.cache
def tools():
    """{name: the question it answers}"""
    listed = subprocess.run([BUILD / "tally", "--csv"], capture_output=True, text=True, check=True)
    return {row["tool"]: row["answers"] for row in csv.DictReader(io.StringIO(listed.stdout))}


@functools.cache
def help_of(tool):
    """The --help of a tool, without line breaks inside entries."""
    env = {**os.environ, "ARGP_HELP_FMT": "rmargin=2000"}
    return subprocess.run([BUILD / "tally", tool, "--help"], capture_output=True, text=True, check=True, env=env).stdout


@functools.cache
def heads(tool):
    """The options' names in --help: ("-p", "--pid=PID,..")."""
    return [
        re.split(r" {2,}", line.strip())[0].split(", ")
        for line in help_of(tool).splitlines()
        if re.match(" +-[^ ]", line)
    ]


@functools.cache
def options(tool):
    """{long name: the placeholder of its value, "" without one}"""
    return dict(
        re.fullmatch(r"--([a-z-]+)(.*)", name).groups()
        for head in heads(tool)
        for name in head
        if name.startswith("--")
    )


@functools.cache
def letters(tool):
    """Options that have no long name."""
    return {head[0][:2] for head in heads(tool) if not head[-1].startswith("--")}


DOCUMENTS = {"accuracy", "cookbook", "json", "recordings", "symptoms", "troubleshooting"}

# --- --complete ----------------------------------------------------------------------------------

def test_tools():
    assert dict(ask("")) == {**tools(), "help": "the manual page of a tool, or a document"}
    assert words("runq") == [name for name in words("") if name.startswith("runq")]
    pages = dict(ask("help", ""))
    assert pages.items() >= tools().items() and pages.keys() - tools() == DOCUMENTS
    assert words("help", "list", "") == words("no-such-tool", "") == []


def test_no_word_is_an_empty_one():
    asked = subprocess.run([BUILD / "tally", "--complete"], capture_output=True, text=True, check=True)
    assert [line.split("\t")[0] for line in asked.stdout.splitlines()] == words("")


def test_a_link_answers_as_its_tool():
    asked = subprocess.run([BUILD / "runqlat", "--complete", "--by", "p"], capture_output=True, text=True, check=True)
    assert asked.stdout.splitlines() == ["pid\t", "pidns\t"]


@pytest.mark.parametrize("tool", tools())
def test_options(tool):
    """The names and texts of --help."""
    assert set(words(tool, "--")) == {f"--{name}" for name in options(tool)}
    assert set(words(tool, "-")) - set(words(tool, "--")) == letters(tool)
    said = " ".join(help_of(tool).split())
    for word, text in ask(tool, "-"):
        assert text and " ".join(text.split()) in said, (word, text)


@pytest.mark.parametrize("tool", tools())
def test_each_heading_of_the_help_has_options(tool):
    """And appears only once."""
    lines = help_of(tool).splitlines()
    found = [n for n, line in enumerate(lines) if re.match(r" \S.*:$", line)]
    assert all(re.match(" +-", lines[n + 1]) for n in found), [lines[n] for n in found]
    assert len({lines[n] for n in found}) == len(found), [lines[n] for n in found]


@pytest.mark.parametrize("tool", tools())
def test_no_option_stands_twice_in_the_help(tool):
    """Not even where a tool has its own version of a common option."""
    names = [re.match("--[a-z-]+|-.", name)[0] for head in heads(tool) for name in head]
    assert sorted(names) == sorted(set(names))


def test_the_heading_of_an_option_of_probe():
    lines = help_of("probe").splitlines()

    def heading(option):
        n = next(n for n, line in enumerate(lines) if re.search(rf" --{option}\b", line))
        return re.split(r", | \(|:", [line for line in lines[:n] if re.match(r" \S.*:$", line)][-1].strip())[0]

    assert [heading(option) for option in ("hist", "from", "binary", "stacks", "pid", "csv")] == [
        "Figures", "Time between two events", "Events", "Stacks of single events", "Scope", "Output"]


def test_a_letter_that_is_typed():
    assert words("runqlat", "-p") == ["-p"] and words("trace", "-e") == ["-e"] and words("runqlat", "-Z") == []


# Arguments without which there is another message, and those that some keys require.
NEEDED = {"probe": ["sched:sched_switch"], "stackcount": ["sched:sched_switch"], "funcgraph": ["vfs_read"]}
GOES_WITH = {("kmem", "order"): ["--pages"], ("kmem", "migratetype"): ["--pages"]}


def refused(tool, option):
    """The words in the message about a wrong value, or None. Tools with the same help for an option share
    its parser, except for options with words of the tool's own."""
    told = next(line for line in help_of(tool).splitlines() if re.search(rf" --{option}\b", line))
    same = tool if option in ("by", "sort", "format") else ""
    if (same, option, told) not in REFUSED:
        REFUSED[same, option, told] = named_by(tool, option)
    return REFUSED[same, option, told]


REFUSED = {}


def named_by(tool, option):
    result = subprocess.run([BUILD / "tally", tool, *NEEDED.get(tool, []), f"--{option}=@@",
                             *(["-n"] if "explain" in options(tool) else [])],
                            capture_output=True, text=True, timeout=tally.PATIENCE, stdin=subprocess.DEVNULL)
    line = next((line for line in result.stderr.splitlines() if f"--{option}: " in line), "")
    found = (
        re.search(r"(?:expected one of|is not one of|belongs to a CPU:|is not(?= flame)) (.*)", line)
        or re.search(r": expected (only|(?:\w+, )*\w+ or \w+), got '@@'", line)
    )
    if not found:
        return None
    text = found[1].partition("; total is sum")[0].partition("; --json and")[0]
    return {word.removeprefix("--summary=") for word in each_of(text)}


def each_of(text):
    """The words of "fp, dwarf", without the parentheses after some."""
    return set(re.split(r"; for (?:stacks|tables) also |, | or ", re.sub(r" \(.*?\)", "", text)))


def offered(tool, option):
    return {word.removeprefix(f"--{option}=") for word in words(tool, f"--{option}=")}


@pytest.mark.parametrize("tool", tools())
def test_values_are_those_of_the_parser(tool):
    """If the message lists the valid words, exactly these are offered."""
    compared = 0
    for option in options(tool):
        if not options(tool)[option] or "FILE" in options(tool)[option] or (tool, option) == ("probe", "by"):
            continue
        known = refused(tool, option)
        if known is None:
            continue
        if option == "state" and tool != "offcputime":
            known = known - {"preempted"}           # nobody wakes them
        if option == "by" and (keys := re.search(r"--by=\S+ +One result per (.*)", help_of(tool))):
            known = known & set(
                re.split("; of this tool: |, ", keys[1].replace(" (always)", ""))
            )  # others are refused, with the reason
        assert offered(tool, option) == known, option
        assert options(tool)[option][0] == "[" or words(tool, f"--{option}", "") == [
            word.partition("=")[2] for word in words(tool, f"--{option}=")
        ]
        compared += 1
    assert compared or "format" not in options(tool)


def formats(tool):
    """The formats that --help lists for --format."""
    return each_of(re.search(r" --format=NAME +(.*)", help_of(tool))[1])


WITH_FORMATS = [tool for tool in tools() if "format" in options(tool)]


@pytest.mark.parametrize("tool", WITH_FORMATS)
def test_formats_of_the_help(tool):
    """The help lists the tool's own formats, and not those of all tools."""
    assert formats(tool) == offered(tool, "format")


METRICS = {"openmetrics", "prometheus"}


def suiting(tool, form):
    """The options that a format needs in a tool that has other formats, too."""
    if "frames" in options(tool) or tool == "snap":
        with_stacks = ["-g"] if "-g" in letters(tool) or "stacks" in options(tool) else []
        if form in METRICS:
            return [] if with_stacks else ["--by", "sym"]
        return [*with_stacks, *(["--leak"] if tool == "kmem" else [])]
    return ["--hist", "prev_prio"] if (tool, form) == ("probe", "svg") else []


# Tools that accept -n, and so can run their options without effect.
MEASURING = [tool for tool in WITH_FORMATS if "explain" in options(tool) and tool != "run"]
EVERY_FORMAT = {form for tool in WITH_FORMATS for form in offered(tool, "format")}


@pytest.mark.parametrize("tool", MEASURING)
def test_formats_are_taken(tool, run, directory):
    """A line with each format of the help would run; other formats are refused."""
    for form in sorted(EVERY_FORMAT):
        result = run(tool, *NEEDED.get(tool, []), *suiting(tool, form), "-n", "-o", directory / "file", "--format",
                     form, tool="tally")
        if form in formats(tool):
            assert result.code in (0, 4), (form, result)
        else:
            assert result.code == 2 and ("--format" in result.stderr or "--heat" in result.stderr), (form, result)


@pytest.mark.parametrize("tool", [tool for tool in tools() if "by" in options(tool)])
def test_keys_are_taken(tool, run):
    """A line with each key of --by alone would run."""
    keys = words(tool, "--by", "")
    assert keys
    for key in keys:
        result = run(tool, *NEEDED.get(tool, []), *GOES_WITH.get((tool, key), []), "--by", key, "-n", tool="tally")
        assert result.code in (0, 4), result
        assert result.code == 0 or "--by" not in result.stderr, result


def test_lists():
    """Only the last word of a list is completed, and no word is offered twice."""
    assert words("runqlat", "--by", "pid,") == [
        f"pid,{key}" for key in ("tid", "comm", "cgroup", "container", "unit", "cpu", "pidns", "uid")
    ]
    assert words("runqlat", "--by=comm,c") == ["--by=comm,cgroup", "--by=comm,container", "--by=comm,cpu"]
    assert words("runqlat", "--by", "nothing,pi") == ["nothing,pid", "nothing,pidns"]
    assert words("offcputime", "--state", "sleep,d") == ["sleep,disk"]
    assert words("runqlat", "--sort", "p50,") == []
    assert words("trace", "-e", "!openat,%net") == ["!openat,%network"]


@pytest.mark.parametrize("line, expected", (
    ("runqlat -m --by pi", ["pid", "pidns"]), ("runqlat -mp 1 --by pi", ["pid", "pidns"]), ("runqlat -d 5 --b", ["--by", "--budget"]),
    ("runqlat --by pid --sor", ["--sort"]), ("runqlat --b", ["--by", "--budget"]), ("runqlat --callgraph=", []),
    ("profile --call fp --call-graph d", ["dwarf"]), ("cpudist --off", ["--off"]), ("cpudist --off b", []), ("cpudist --off=b", ["--off=blocked"]),
    ("timehist --summary=", ["--summary=only"]), ("biolatency --of ", ["queue", "device", "total"]), ("signals --signal TER", ["TERM"]),
    ("signals --signal SIGTER", ["SIGTERM"]), ("opensnoop --errno ENOEN", ["ENOENT"]), ("syscount -e %cl", ["%clock"]), ("bench sched-p", ["sched-pipe"]),
    ("kmem --outst", ["--outstanding"]), ("runqlat -P", ["-P"]), ("runqlat nothing ", []), ("trace -eopenat2", ["-eopenat2"]),
))
def test_lines(line, expected):
    assert sorted(words(*line.split(" "))) == sorted(expected)


@pytest.mark.parametrize("line, left", (
    ("runqlat -o ", "files"), ("runqlat --output=x", "files"), ("funcgraph -x ", "files"), ("fsdist --mount ", "files"), ("show ", "files"),
    ("runqlat -u ", "users"), ("runqlat --uid=r", "users"), ("runqlat -- ", "command"), ("runqlat -m -- sleep 1", "command"),
))
def test_what_is_left_to_the_shell(line, left):
    assert ask(*line.split(" ")) == [("", left)]


def test_no_command_where_none_is_run():
    assert ask("list", "--", "") == []


def listed(*args):
    done = subprocess.run([BUILD / "tally", "list", "--csv", *args], capture_output=True, text=True, check=True)
    return {row["event"]: row for row in csv.DictReader(io.StringIO(done.stdout))}


def test_events():
    """The events of `tally list` that are no patterns; for --with those that are counted."""
    everything = {name: row for name, row in listed().items() if row["type"] != "breakpoint"}
    assert set(words("stat", "-e", "")) == set(words("stackcount", "")) == set(everything)
    assert words("profile", "-e", "sched:sched_swi") == ["sched:sched_switch"]
    assert words("stat", "--event=page-faults,cpu-cl") == ["--event=page-faults,cpu-clock"]
    assert words("stat", "-e", "{page-faults,cpu-cl") == ["{page-faults,cpu-clock"]
    assert set(words("probe", "--with", "")) == {
        name for name, row in everything.items() if row["type"] != "tracepoint" and "," not in name
    }


def test_tracefs_need_not_be_mounted():
    """And is not mounted for anybody else."""
    script = """
        umount -l /sys/kernel/debug/tracing 2>/dev/null; umount -l /sys/kernel/tracing 2>/dev/null
        [ ! -e /sys/kernel/tracing/events ] || exit 9
        "$0" --complete stat -e sched:sched_swi
        [ ! -e /sys/kernel/tracing/events ] || exit 8"""
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, BUILD / "tally"], capture_output=True, text=True)
    assert done.returncode == 0 and [line.split("\t")[0] for line in done.stdout.splitlines()] == [
        "sched:sched_switch"
    ], done


def test_processes(trigger):
    """By name and by number, without threads; names that a shell or a terminal would misread only by number."""
    two = [trigger("sleepers", 2, 1, 1, -1, comm="completed-two") for _ in range(2)]
    one = trigger("sleepers", 1, 1, 1, -1, comm="completed one")
    odd = trigger("sleepers", 1, 1, 1, -1, comm=b"compl\x1b[31m\t\\")
    found = dict(ask("runqlat", "-p", ""))
    assert found["completed-two"] == "2 processes" and found["completed one"] == f"process {one.pid}"
    for load in (*two, one):
        assert found[str(load.pid)] == ("completed one" if load is one else "completed-two")
    assert found[str(odd.pid)] == "compl\\x1b[31m\\x09\\x5c"
    assert [word for word in found if word.startswith("compl")] == ["completed one", "completed-two"]
    threads = {str(tid) for load in two for tid in load.tids()} - {str(load.pid) for load in two}
    assert threads and not threads & set(found)
    assert f"1,{one.pid}" in words("runqlat", "-p", f"1,{one.pid}")
    assert words("runqlat", "--comm", "completed-") == ["completed-two"]
    assert f"--pidns={one.pid}" in words("runqlat", "--pidns=")


def test_cgroups(cgroup):
    """By name, with or without the leading slash; or by their directory, which the shell completes."""
    made = cgroup(cgroups.default_hierarchy(), "completed/below")
    assert {made.name, made.name.removesuffix("/below")} <= set(words("runqlat", "-G", ""))
    assert words("runqlat", "-G", made.name[:-2]) == [made.name] and words("runqlat", "-G", made.name[1:-2]) == [
        made.name[1:]
    ]
    assert ask("runqlat", "-G", str(made.path)[:-2]) == [("", "files")]
    for hierarchy in cgroups.hierarchies():
        if hierarchy.name == "v2":
            unified = cgroup(hierarchy, "unified")
            assert words("runqlat", "-G", unified.name[:-2]) == [unified.name]
            assert ask("runqlat", "-G", str(unified.path)[:-2]) == [("", "files")]


# --- shells --------------------------------------------------------------------------------------

def each_line():
    """For each tool its options, and those of them that have a fixed set of values."""
    yield from (
        "tally ",
        "tally runq",
        "tally help ",
        "tally --",
        "tally nothing ",
        "tally stat -e sched:sched_swi",
        "tally stat -e page-faults,cpu-",
        "tally stackcount sched:sched_",
        "tally probe --from=block:block_",
        "tally trace -e %",
        "runqlat --by ",
        "runqlat -m --by=pid,",
        "runqlat -",
    )
    for tool in tools():
        yield f"tally {tool} -"
        for option in options(tool):
            if options(tool)[option] and option not in CHANGING and option != "event" and words(tool, f"--{option}="):
                yield f"tally {tool} --{option}="
                if not options(tool)[option].startswith("["):
                    yield f"tally {tool} --{option} "


@functools.cache
def lines():
    return list(each_line())


@functools.cache
def expected(line):
    command, *typed = line.split(" ")
    return dict(ask(*([] if command == "tally" else [command]), *typed))


@pytest.fixture
def completion(directory):
    """Installs the completion of a shell, also for runqlat under its own name, as make install does."""
    def installed(shell, name):
        path = directory / name
        text = (ROOT / "docs" / f"completion.{shell}").read_text()
        path.write_text(re.sub(" tally$", " tally runqlat", text, flags=re.MULTILINE))
        return path

    return installed


def driven(asked, *command, folder):
    """{line: the shell's answer}, in a folder which is also HOME: shells keep their caches there."""
    env = {
        **os.environ,
        "PATH": f"{BUILD}:{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        command,
        input="".join(f"{line}\n" for line in asked),
        capture_output=True,
        text=True,
        env=env,
        cwd=folder,
        timeout=5 * tally.PATIENCE,
    )
    assert done.returncode == 0, done
    answers = re.split(r"^=\n", done.stdout, flags=re.MULTILINE)
    assert answers.pop() == "" and len(answers) == len(asked), (
        len(answers),
        len(asked),
        done.stderr,
        done.stdout[-500:],
    )
    return {line: [word[1:] for word in answer.splitlines()] for line, answer in zip(asked, answers)}


def in_bash(asked, completion, folder):
    return driven(asked, "bash", "--norc", HERE / "completing.bash", completion("bash", "tally"), folder=folder)


def in_fish(asked, completion, folder):
    return driven(
        asked, "fish", "--no-config", HERE / "completing.fish", completion("fish", "tally.fish"), folder=folder
    )


def in_zsh(asked, completion, folder):
    return driven(asked, "zsh", "-f", HERE / "completing.zsh", completion("zsh", "_tally").parent, folder=folder)


def needs(shell):
    return pytest.mark.skipif(not shutil.which(shell), reason=f"no {shell}: make deps-test installs it")


def done_by(line):
    """The length of the part of the last word that bash takes for separate words: it replaces only the rest."""
    current = line.rpartition(" ")[2]
    return max(current.rfind("="), current.rfind(":")) + 1


# Tries per line, since another test may change its words meanwhile: events, processes, cgroups come and go.
TIMES = 5


def check(shell, completion, directory, found_is, wanted_is):
    """Each line has the words of the tool, in at least one try: some words come and go."""
    differ = lines()
    for _ in range(TIMES):
        answers = shell(differ, completion, directory)
        differ = [line for line, found in answers.items() if found_is(found) != wanted_is(line, expected(line))]
        if not differ:
            return
        expected.cache_clear()
    line = differ[0]
    assert found_is(answers[line]) == wanted_is(line, expected(line)), line


def test_bash(completion, directory):
    check(in_bash, completion, directory, sorted, lambda line, words: sorted(word[done_by(line):] for word in words))


@needs("fish")
def test_fish(completion, directory):
    """With the meaning of each word."""
    check(in_fish, completion, directory,
          lambda found: {word: text for word, _, text in (each.partition("\t") for each in found)},
          lambda _, words: words)


@needs("zsh")
def test_zsh(completion, directory):
    check(in_zsh, completion, directory, sorted, lambda _, words: sorted(words))


LEFT = ("runqlat -o a-fi", "runqlat --output=a-fi", "runqlat --uid=ro", "runqlat -u ro", "tally runqlat -- cat a-fi")


@pytest.mark.parametrize("shell", (in_bash, pytest.param(in_fish, marks=needs("fish")), pytest.param(in_zsh, marks=needs("zsh"))))
def test_files_users_and_commands_are_the_shells(shell, completion, directory):
    (directory / "a-file").touch()
    found = shell(LEFT, completion, directory)
    for line in LEFT:
        words_of = {word.partition("\t")[0].rpartition("=")[2] for word in found[line]}
        assert ({"a-file", "root"} & words_of) == {
            "root" if "u" in line.split()[-2] and line.endswith("ro") else "a-file"
        }, (line, found[line])


@pytest.mark.parametrize("shell", (in_bash, pytest.param(in_fish, marks=needs("fish")), pytest.param(in_zsh, marks=needs("zsh"))))
def test_names_are_not_run(shell, completion, directory, trigger):
    """Anybody can choose the name of a process."""
    trigger("sleepers", 1, 1, 1, -1, comm="$(touch oh)`")
    trigger("sleepers", 1, 1, 1, -1, comm="$a;touch oh")
    lines_of = ("runqlat --comm ", "runqlat --comm $", "tally runqlat -p ")
    found = shell(lines_of, completion, directory)["runqlat --comm "]
    named = {word.partition("\t")[0] for word in found}
    if shell is in_fish:
        assert {"$(touch oh)`", "$a;touch oh"} <= named, named
    else:
        assert {r"\$\(touch\ oh\)\`", r"\$a\;touch\ oh"} <= named, named
    assert not (directory / "oh").exists()


def test_typed_into_bash(completion, directory):
    """A word with a colon, one after "=", a name with a blank: as readline completes them. Each line becomes
    an argument of echo."""
    typed = {
        "tally stat -e sched:sched_swi": "tally stat -e sched:sched_switch ",
        "runqlat -m --sort=p5": "runqlat -m --sort=p50 ",
        "tally runq": "tally runq",
        "tally help sched": "tally help sched",
        "tally stat -e page-faults,cpu-cl": "tally stat -e page-faults,cpu-clock ",
        "tally stat -e 'sched:sched_swi": "tally stat -e sched:sched_switch ",
    }
    master, slave = pty.openpty()
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        cwd=directory,
        env={**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "", "HISTFILE": ""},
    )
    os.close(slave)
    said = b""
    try:
        os.write(master, f"source {completion('bash', 'tally')}\n".encode())
        for line in typed:
            os.write(master, f"{line}\t\x05]\x01echo [\n".encode())
        os.write(master, b"exit\n")
        while select.select([master], [], [], tally.PATIENCE)[0]:
            try:
                said += os.read(master, 65536)
            except OSError:         # the shell has gone
                break
    finally:
        tally.end_process(shell)
        os.close(master)
    for line, whole in typed.items():
        assert f"\r\n[{whole}]\r\n" in said.decode(), (line, said.decode())
