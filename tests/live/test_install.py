# SPDX-License-Identifier: BSD-2-Clause
"""make install: what it puts where, that no command of the system is shadowed, and that make uninstall takes it
away."""

import json
import os
import shutil
import subprocess

import pytest

from tally import BUILD, ROOT, SANITIZED, once

pytestmark = [once, pytest.mark.skipif(SANITIZED, reason="programs with sanitizers are not installed")]

# Answers of tally itself, which have no link of their own.
NO_LINKS = {"bench", "diff", "doctor", "peers"}


def make(target, directory):
    done = subprocess.run(["make", "-s", "--no-print-directory", target, f"BUILD={os.path.relpath(BUILD, ROOT)}",
                           f"DESTDIR={directory}", "PREFIX=/usr"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def commands():
    lines = (ROOT / "tests/data/debian-commands").read_text().splitlines()
    return {line for line in lines if not line.startswith("#")}


def tools():
    listed = subprocess.run([BUILD / "tally", "--csv"], capture_output=True, text=True, check=True)
    return {line.split(",")[1] for line in listed.stdout.splitlines()[1:]}


@pytest.fixture
def installed(directory):
    make("install", directory)
    return directory


def names(directory):
    return {path.name for path in directory.iterdir()}


def test_no_command_is_shadowed(installed):
    found = names(installed / "usr/bin")
    assert "tally" in found and "runqlat" in found and "biolatency" in found
    assert not found & commands()
    assert not found & {"stat", "trace", "list", "profile", "timers", "signals", "run", "probe"}


def test_completion_is_for_nobody_elses_commands(installed):
    """Neither the files, which are loaded by name, nor what they say."""
    completions = installed / "usr/share/bash-completion/completions"
    said = subprocess.run(["bash", "-c", f"source {completions}/tally; complete -p"], capture_output=True, text=True,
                          check=True)
    completed = {line.split()[-1] for line in said.stdout.splitlines() if "_tally" in line}
    assert completed == names(installed / "usr/bin") == names(completions)
    zsh = (installed / "usr/share/zsh/site-functions/_tally").read_text().splitlines()[0]
    assert zsh.split()[0] == "#compdef" and set(zsh.split()[1:]) == completed
    fish = installed / "usr/share/fish/vendor_completions.d"
    assert {name.removesuffix(".fish") for name in names(fish)} == completed
    assert {os.readlink(path) for path in fish.iterdir() if path.is_symlink()} == {"tally.fish"}
    loop, = (line for line in (fish / "tally.fish").read_text().splitlines() if line.startswith("for name in "))
    assert set(loop.split()[3:]) == completed


def test_every_tool_is_a_link_that_runs(installed):
    links = installed / "usr/libexec/tally"
    assert names(links) == tools() - NO_LINKS
    for name in ("stat", "runqlat"):
        asked = subprocess.run([links / name, "--help"], capture_output=True, text=True, check=True)
        assert asked.stdout.startswith(f"Usage: {name} ")
    for name in names(installed / "usr/bin"):
        assert os.path.samefile(installed / "usr/bin" / name, installed / "usr/bin/tally")


OTHERS = " (2 tool names start other programs)"


def test_doctor_names_what_is_shadowed(installed):
    """A command of another suite that stands before ours in PATH, as libbpf-tools' do in /usr/sbin."""
    here, sbin = installed / "usr/bin", installed / "usr/sbin"
    sbin.mkdir()

    def row(path):
        done = subprocess.run([here / "tally", "doctor", "--json"], capture_output=True, text=True, check=True,
                              env=os.environ | {"PATH": path})
        rows = [row for row in json.loads(done.stdout)["rows"] if row["feature"] == "names of tools in PATH"]
        return (rows[0]["status"], rows[0]["note"]) if rows else None

    assert row(f"{sbin}:{here}") == ("ok", "")
    for name, others in (("runqlat", ""), ("biolatency", OTHERS)):
        (sbin / name).write_text("#!/bin/sh\n")
        (sbin / name).chmod(0o755)
        status, said = row(f"{sbin}:{here}")
        assert status == "missing"
        assert said == f"lost: {name} starts {sbin}/{name}{others}. To do: type tally {name}"
    (sbin / "stat").symlink_to("/bin/true")
    assert OTHERS in row(f"{sbin}:{here}")[1], "`stat` is no name that we put into PATH"
    assert row(f"{here}:{sbin}") == ("ok", "")
    assert row(str(sbin)) is None, "tally was not found by PATH"


def test_every_tool_has_a_page(installed):
    pages = names(installed / "usr/share/man/man1")
    here = names(installed / "usr/bin")
    assert pages == {f"{name}.1" for name in here} | {f"tally-{name}.1" for name in tools() - here}


def test_links_of_earlier_versions_go(directory):
    """And what is of others stays."""
    bin_directory = directory / "usr/bin"
    bin_directory.mkdir(parents=True)
    (bin_directory / "trace").symlink_to("tally")
    (bin_directory / "list").symlink_to("elsewhere")
    (bin_directory / "stat").write_text("another's")
    make("install", directory)
    assert not (bin_directory / "trace").is_symlink()
    assert os.readlink(bin_directory / "list") == "elsewhere"
    assert (bin_directory / "stat").read_text() == "another's"


def test_uninstall_leaves_nothing(installed):
    (installed / "usr/bin/other").write_text("another's")
    unit = (installed / "usr/lib/systemd/system/tally-export.service").read_text()
    assert "ExecStart=/usr/bin/tally export /etc/tally/export.conf\n" in unit
    unit = (installed / "usr/lib/systemd/system/tally-record.service").read_text()
    assert "ExecStart=/usr/bin/tally record -o /var/lib/tally/" in unit
    assert {path.name for path in (installed / "usr/share/tally/export").iterdir()} == {"alerts.yml", "dashboard.json"}
    assert (installed / "etc/tally/export.conf").exists()
    make("uninstall", installed)
    left = [path for path in installed.rglob("*") if not path.is_dir()]
    assert left == [installed / "usr/bin/other"]
    assert not (installed / "usr/libexec/tally").exists() and not (installed / "etc/tally").exists()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_units_are_valid(installed):
    units = sorted((installed / "usr/lib/systemd/system").iterdir())
    assert [unit.name for unit in units] == ["tally-export.service", "tally-record.service"]
    for unit in units:
        assert oct(unit.stat().st_mode & 0o777) == "0o644"
        unit.write_text(unit.read_text().replace("/usr/bin/tally ", f"{installed}/usr/bin/tally "))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done


def test_lines_of_the_service_that_were_changed_are_kept(installed):
    lines = installed / "etc/tally/export.conf"
    lines.write_text("runqlat\n")
    make("install", installed)
    make("uninstall", installed)
    assert lines.read_text() == "runqlat\n"
