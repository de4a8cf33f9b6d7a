# SPDX-License-Identifier: BSD-2-Clause
"""Output of `make dist`: the static program, built from the tarball and not from the working tree, and its bill of
materials."""
import hashlib
import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def said(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return result.stdout


OTHER = "aarch64"


@pytest.fixture(scope="module")
def program(made):
    return next(path for path in made.iterdir() if path.name.endswith("-" + os.uname().machine))


@pytest.fixture(scope="module")
def other(made):
    """The cross-built program."""
    if os.uname().machine == OTHER:
        pytest.skip("this is the machine that the other one is built for")
    return next(path for path in made.iterdir() if path.name.endswith("-" + OTHER))


@pytest.fixture(scope="module")
def bill(program):
    return json.loads(program.with_name(program.name + ".spdx.json").read_text())


def test_sums(made):
    """The tarball, and three files for each machine."""
    checked = said("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=made)
    assert checked.count(": OK\n") == (4 if os.uname().machine == OTHER else 7)


def test_program_needs_nothing(program, tmp_path):
    """It measures where there are no files but the kernel's."""
    assert "INTERP" not in said("readelf", "-lW", program)
    root = tmp_path / "root"
    for folder in ("proc", "sys", "dev"):
        (root / folder).mkdir(parents=True)
    said("cp", program, root / "tally")
    mounts = 'for f in proc sys dev; do mount --rbind "/$f" "$0/$f"; done; exec chroot "$0" /tally runqlat --json 1 1'
    report = said("unshare", "--mount", "--propagation", "slave", "sh", "-euc", mounts, root)
    assert json.loads(report)["tool"] == "runqlat"
    assert said(program, "--version").strip() == "tally " + program.name.split("-")[1]


def test_no_path_of_the_machine_is_in_it(program):
    assert str(ROOT).encode() not in program.read_bytes()
    assert b"/tmp/tmp." not in program.read_bytes()


def test_bill_names_the_libraries(program, bill):
    packages = {each["name"]: each for each in bill["packages"]}
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    assert packages["tally"]["checksums"] == [{"algorithm": "SHA256", "checksumValue": digest}]
    libraries = [
        "libbpf-dev",
        "libelf-dev",
        "libdw-dev",
        "liblzma-dev",
        "libjansson-dev",
        "libcapstone-dev",
        "libiberty-dev",
        "libmicrohttpd-dev",
        "libsqlite3-dev",
        "libc6-dev",
        "zlib1g-dev",
    ]
    for name in libraries:
        assert packages[name]["versionInfo"] == said("dpkg-query", "-W", "-f", "${Version}", name)
    linked = {each["relatedSpdxElement"] for each in bill["relationships"] if each["relationshipType"] == "STATIC_LINK"}
    assert linked == {each["SPDXID"] for each in bill["packages"]} - {packages["tally"]["SPDXID"]}


def test_the_other_program_measures_on_its_kernel(other, made):
    """In a guest that has the checkout and nothing else of this machine."""
    assert "INTERP" not in said("aarch64-linux-gnu-readelf", "-lW", other)
    assert str(ROOT).encode() not in other.read_bytes() and b"/tmp/tmp." not in other.read_bytes()
    said(ROOT / "tests" / "kernels" / "fetch", "6.12-arm64")
    copy = ROOT / "build" / "arm64-static"
    copy.write_bytes(other.read_bytes())
    copy.chmod(0o755)
    try:
        report = said(ROOT / "tests" / "kernels" / "boot", "6.12-arm64", "--", "sh", "-c",
                      "build/arm64-static --version; build/arm64-static runqlat --json 1 1",
                      env={**os.environ, "TALLY_BOOT_TIMEOUT": "900", "TALLY_BOOT_QEMU": "-icount shift=2,sleep=off"})
    finally:
        copy.unlink()
    version, report = [line for line in report.splitlines() if line.startswith(("tally ", "{"))]
    assert version == "tally " + other.name.split("-")[1]
    assert json.loads(report)["kernel"].endswith("arm64") and json.loads(report)["events"] > 0


def test_bill_of_the_other_program(other):
    """Its libraries are packages for its own architecture, except for the compiler's."""
    bill = json.loads(other.with_name(other.name + ".spdx.json").read_text())
    packages = {each["name"]: each for each in bill["packages"]}
    assert {
        "libbpf-dev",
        "libelf-dev",
        "libdw-dev",
        "libcapstone-dev",
        "libsqlite3-dev",
        "libc6-dev",
    } <= packages.keys()
    for name, each in packages.items():
        if name != "tally" and not name.endswith("-cross"):
            assert "?arch=arm64" in each["externalRefs"][0]["referenceLocator"], each
    notices = other.with_name(other.name + ".notices").read_text()
    assert "No notice" not in notices and all(f"{name} " in notices for name in packages if name != "tally")


def test_bill_is_spdx(bill):
    """Members that the specification requires of a document, and of each package."""
    assert bill["spdxVersion"] == "SPDX-2.3" and bill["dataLicense"] == "CC0-1.0"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["creationInfo"]["created"])
    ids = [each["SPDXID"] for each in bill["packages"]]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", each) for each in ids)
    assert all({"name", "downloadLocation"} <= each.keys() for each in bill["packages"])
    for each in bill["relationships"]:
        assert {each["spdxElementId"], each["relatedSpdxElement"]} <= {"SPDXRef-DOCUMENT", *ids}


def test_notices_are_those_of_the_libraries(program, bill):
    """Debian's copyright file of each library, in full, and the licences for which these refer to files of the
    system."""
    notices = program.with_name(program.name + ".notices").read_text()
    for each in bill["packages"]:
        if each["name"] != "tally":
            assert f"{each['name']} {each['versionInfo']}\n" in notices
            assert pathlib.Path("/usr/share/doc", each["name"], "copyright").read_text(errors="replace") in notices
    for name in ("LGPL-2.1", "LGPL-3", "GPL-2", "GPL-3"):
        assert notices.count(pathlib.Path("/usr/share/common-licenses", name).read_text()) == 1


def test_bill_of_a_library_without_a_package(tmp_path):
    archive, program, linker_map = (tmp_path / name for name in ("libown.a", "program", "map"))
    for path in (archive, program):
        path.write_text("x")
    linker_map.write_text(f"Archive member included\n\n{archive}(own.o)\n    main.o (own)\n"
                          f"LOAD {tmp_path}/libunused.a\n")
    bill = json.loads(
        said(ROOT / "packaging" / "sbom", program, linker_map, "1", env={**os.environ, "SOURCE_DATE_EPOCH": "0"})
    )
    assert [each["name"] for each in bill["packages"]] == ["tally", "libown.a"]
    assert bill["creationInfo"]["created"] == "1970-01-01T00:00:00Z"
    bill_file = tmp_path / "bill"
    bill_file.write_text(json.dumps(bill))
    notices = said(ROOT / "packaging" / "notices", bill_file)
    assert f"libown.a {bill['packages'][1]['versionInfo']}\n" in notices and "No notice" in notices
    empty = tmp_path / "empty"
    empty.write_text("")
    refused = subprocess.run(
        [ROOT / "packaging" / "sbom", program, empty, "1"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1 and "names no archive" in refused.stderr


def test_is_the_same_again(made, tmp_path):
    """Compiled anew, with one job."""
    again = tmp_path / "again"
    said(
        ROOT / "packaging" / "dist",
        again,
        env={**os.environ, "CCACHE_DISABLE": "1", "MAKEFLAGS": "-j1", "TZ": "Asia/Tokyo"},
    )
    for path in made.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name
