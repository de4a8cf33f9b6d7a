# SPDX-License-Identifier: BSD-2-Clause
"""The RPM package, built from the tarball of `make dist`: its metadata as rpm reads it, and its files once it is
unpacked or installed, in separate folders. On this Debian: nothing in the program is from another distribution."""
import gzip
import json
import os
import pathlib
import re
import subprocess
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MACHINE = os.uname().machine
# Commands of tally itself, which have no link of their own.
NO_LINKS = {"bench", "diff", "doctor", "peers"}

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounts what tools read into the unpacked package")


def said(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return result.stdout


def build(tarball, folder, *prefix, **environment):
    """Without git, and with a user's own macros."""
    folder.mkdir(parents=True)
    (folder / ".rpmmacros").write_text("%packager somebody\n%dist .own\n%_binary_payload w1.gzdio\n")
    said(*prefix, ROOT / "packaging" / "rpm", tarball, folder / "out", cwd=folder,
         env={**os.environ, "HOME": str(folder), **environment})
    package, = (folder / "out").iterdir()
    return package


@pytest.fixture(scope="module")
def tarball(made):
    return next(made.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def package(tarball, tmp_path_factory):
    return build(tarball, tmp_path_factory.mktemp("rpm") / "first", MAKEFLAGS=f"-j{os.cpu_count()}")


def ask(package, *options):
    return said("rpm", "-qp", *options, package)


def tag(package, name):
    return ask(package, "--qf", f"%{{{name}}}")


@pytest.fixture(scope="module")
def unpacked(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    said("sh", "-euc", 'rpm2cpio "$0" | cpio -idm --quiet', package, cwd=folder)
    return folder


def names(folder):
    return {path.name for path in folder.iterdir()}


def run_in(root, *command):
    """With no files but those of the package and the kernel's."""
    for folder in ("proc", "sys", "dev"):
        (root / folder).mkdir(exist_ok=True)
    mounts = 'root=$0; for f in proc sys dev; do mount --rbind "/$f" "$root/$f"; done; exec chroot "$root" "$@"'
    return said("unshare", "--mount", "--propagation", "slave", "sh", "-euc", mounts, root, *command)


def test_name(package, tarball):
    version = tarball.name.removesuffix(".tar.gz").removeprefix("tally-")
    assert package.name == f"tally-{version}-1.{MACHINE}.rpm"
    assert ask(package).strip() == package.name.removesuffix(".rpm")
    assert (tag(package, "OS"), tag(package, "ARCH")) == ("linux", MACHINE)
    assert "BTF" in tag(package, "DESCRIPTION") and tag(package, "SUMMARY")


def test_asks_for_nothing_and_runs_nothing(package):
    """It requires features of rpm itself, and its own file in /etc."""
    needed = [line.split()[0] for line in ask(package, "--requires").splitlines()]
    assert "config(tally)" in needed
    assert [name for name in needed if not name.startswith("rpmlib(")] == ["config(tally)"]
    # RHEL 8 and SUSE 15 have rpm 4.14.
    assert set(needed) - {"config(tally)"} <= {f"rpmlib({name})" for name in (
        "CompressedFileNames", "FileDigests", "PayloadFilesHavePrefix", "PayloadIsXz", "TildeInVersions")}
    for kind in ("--scripts", "--triggers", "--filetriggers", "--conflicts", "--obsoletes"):
        assert ask(package, kind) == ""


def test_nothing_of_this_machine(package, tarball):
    with tarfile.open(tarball) as tar:
        epoch = tar.next().mtime
    assert tag(package, "BUILDHOST") == "localhost"
    assert int(tag(package, "BUILDTIME")) == epoch
    assert {int(time) for time in ask(package, "--qf", r"[%{FILEMTIMES}\n]").split()} == {epoch}
    assert set(ask(package, "--qf", r"[%{FILEUSERNAME}:%{FILEGROUPNAME}\n]").split()) == {"root:root"}
    for name in ("PACKAGER", "VENDOR", "DISTRIBUTION"):
        assert tag(package, name) == "(none)"
    assert tag(package, "PAYLOADCOMPRESSOR") == "xz"
    said("rpm", "-K", "--nosignature", package)


def test_files(package, unpacked):
    """Its own files only, in folders of its own or of the system."""
    paths = ask(package, "-l").split()
    own = ("/etc/tally", "/usr/libexec/tally", "/usr/share/tally", "/usr/share/doc/tally", "/usr/share/licenses/tally")
    shared = ("/usr/bin", "/usr/lib/systemd/system", "/usr/share/bash-completion/completions",
              "/usr/share/fish/vendor_completions.d", "/usr/share/zsh/site-functions", "/usr/share/man/man1")
    for path in paths:
        assert path.startswith(tuple(f"{folder}/" for folder in own + shared)) or path in own
    assert set(own) <= set(paths)
    assert ask(package, "-c").split() == ["/etc/tally/export.conf"]
    assert {f"/usr/lib/systemd/system/tally-{name}.service" for name in ("export", "record")} <= set(paths)
    for path in unpacked.rglob("*"):
        if path.is_symlink():
            assert path.resolve() == unpacked / "usr/bin/tally" or path.parent.name in (
                "completions",
                "vendor_completions.d",
            )
        elif path.is_file():
            assert path.stat().st_mode & 0o7777 == (0o755 if path == unpacked / "usr/bin/tally" else 0o644), path


def test_no_command_is_shadowed(unpacked):
    lines = (ROOT / "tests/data/debian-commands").read_text().splitlines()
    found = names(unpacked / "usr/bin")
    assert "runqlat" in found and not found & {line for line in lines if not line.startswith("#")}
    assert names(unpacked / "usr/share/bash-completion/completions") == found
    assert names(unpacked / "usr/share/fish/vendor_completions.d") == {f"{name}.fish" for name in found}
    assert names(unpacked / "usr/share/zsh/site-functions") == {"_tally"}


def test_every_tool_runs_and_has_its_page(unpacked):
    listed = run_in(unpacked, "/usr/bin/tally", "--csv").splitlines()[1:]
    tools = {line.split(",")[1] for line in listed}
    assert names(unpacked / "usr/libexec/tally") == tools - NO_LINKS
    here = names(unpacked / "usr/bin")
    pages = here | {f"tally-{name}" for name in tools - here}
    assert names(unpacked / "usr/share/man/man1") == {f"{name}.1.gz" for name in pages}
    found = said("man", "-M", unpacked / "usr/share/man", "-w", *sorted(pages)).split()
    assert found == [str(unpacked / f"usr/share/man/man1/{name}.1.gz") for name in sorted(pages)]
    for path in found:
        assert ".TH " in gzip.decompress(pathlib.Path(path).read_bytes()).decode()


def test_measures(unpacked, tarball):
    assert run_in(unpacked, "/usr/bin/tally", "--version").strip() == \
        "tally " + tarball.name.removesuffix(".tar.gz").removeprefix("tally-")
    report = run_in(unpacked, "/usr/bin/runqlat", "1", "1")
    assert int(re.search(r"^events ([\d,]+)", report, re.MULTILINE)[1].replace(",", "")) > 0


def test_program_is_the_static_one(unpacked, made):
    """Byte for byte, and so the package has the bill of materials and the notices of `make dist`."""
    static, = made.glob(f"*-{MACHINE}")
    assert (unpacked / "usr/bin/tally").read_bytes() == static.read_bytes()
    assert (unpacked / "usr/share/doc/tally/tally.spdx.json").read_bytes() == \
        static.with_name(static.name + ".spdx.json").read_bytes()
    assert (unpacked / "usr/share/licenses/tally/NOTICES").read_bytes() == static.with_name(
        static.name + ".notices"
    ).read_bytes()


def test_licence_has_those_of_the_libraries(package, unpacked):
    said_ones = re.sub(r"[()]", "", tag(package, "LICENSE"))
    bill = json.loads((unpacked / "usr/share/doc/tally/tally.spdx.json").read_text())
    for each in bill["packages"]:
        if each["licenseDeclared"] != "NOASSERTION":
            assert re.sub(r"[()]", "", each["licenseDeclared"]) in said_ones, each["name"]
    assert (unpacked / "usr/share/licenses/tally/LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_installs_where_nothing_is_and_leaves_nothing(package, tmp_path):
    """By rpm, into a root without any other package: it resolves the package's requirements."""
    root = tmp_path / "root"
    root.mkdir()
    # Debian's rpm refuses without --force-debian.
    rpm = ("rpm", "--root", root, "--dbpath", "/var/lib/rpm")
    said(*rpm, "-i", "--force-debian", "--nosignature", package)
    assert said(*rpm, "-V", "--nosignature", "tally") == ""
    assert json.loads(run_in(root, "/usr/libexec/tally/runqlat", "--json", "1", "1"))["tool"] == "runqlat"
    said(*rpm, "-e", "--force-debian", "tally")
    left = {path.relative_to(root) for path in root.rglob("*") if not path.is_dir()}
    assert not [path for path in left if path.parts[:3] != ("var", "lib", "rpm")]
    assert not list(root.rglob("*tally*"))


def test_rpmlint(package):
    checked = subprocess.run(["rpmlint", "--config", ROOT / "tests/packages/rpmlint.toml", package],
                             capture_output=True, text=True, check=False)
    assert re.search(r"\b0 errors, 0 warnings", checked.stdout), checked.stdout


def test_is_the_same_again(package, tarball, tmp_path):
    """In another folder, on another host, in another time zone, with one job, for another user."""
    again = build(
        tarball,
        tmp_path / "second",
        "unshare",
        "--uts",
        "sh",
        "-c",
        'umask 077; hostname elsewhere; exec "$0" "$@"',
        CCACHE_DISABLE="1",
        MAKEFLAGS="-j1",
        TZ="Asia/Tokyo",
        LANG="C.UTF-8",
        USER="somebody",
    )
    assert again.name == package.name and again.read_bytes() == package.read_bytes()
