# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # shared variables
#
# What fetch, initramfs, boot and run share.  Sourced by each of them, with
# $here set to this folder.

me=${0##*/}
cache=$(realpath -m "${TALLY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tally}/kernels")

say() {
	printf '%s: %s\n' "$me" "$*" >&2
}

die() {
	say "$@"
	exit 1
}

# The names of all kernels, in the order of the list.
kernel_names() {
	awk '!/^#/ && NF { print $1 }' "$here/list"
}

# Of those for arm64, likewise.
arm64_names() {
	awk '!/^#/ && NF { print $1 }' "$here/list-arm64"
}

# The suites of the kernel NAME; fails when no list has such a kernel.
kernel_suites() {
	awk -v name="$1" '$1 == name { $1 = ""; print; found = 1 } END { exit !found }' \
		"$here/list" "$here/list-arm64"
}

# Debian's name of the machine that the kernel NAME is for.
kernel_architecture() {
	case $1 in *-arm64) echo arm64 ;; *) echo amd64 ;; esac
}

# Fails, naming the Debian package, when one of the programs is missing.
# Arguments are PROGRAM=PACKAGE.
need() {
	local pair
	for pair; do
		command -v "${pair%%=*}" >/dev/null ||
			die "${pair%%=*} is missing: apt-get install ${pair#*=}"
	done
}
