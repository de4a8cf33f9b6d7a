# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# Where suites of Debian are found: in the archives of the system's own apt configuration. Sourced by
# those that need others than the system's; none of them knows an archive by itself. Needs die().

# The Debian archives of the system's own apt configuration, whichever of the
# two formats its sources are in, as lines "URI SUITE SOURCE-FILE".
system_archives() {
	# shellcheck disable=SC2016 # apt's placeholders, not the shell's
	apt-get indextargets --no-release-info \
		--format '$(CREATED_BY) $(COMPONENT) $(REPO_URI) $(RELEASE) $(SOURCESENTRY)' |
		awk '$1 == "Packages" && $2 == "main" { sub(/:[0-9]+$/, "", $5); print $3, $4, $5 }'
}

# The archive in which SUITE is found, as "URI SOURCE-FILE".  An address that
# ends in "debian" wins over the first one: other vendors' archives have suites
# named after Debian's, too.
archive_of() {
	local kind=main
	case $1 in *-security) kind=security ;; esac
	system_archives | awk -v kind="$kind" '
		$2 ~ /(-security|\/updates)$/ { if (!security) security = $1 " " $3; next }
		$1 ~ /\/debian\/?$/ && !debian { debian = $1 " " $3 }
		!first { first = $1 " " $3 }
		END {
			main = debian ? debian : first
			if (kind == "security" && !security) {
				# Debian mirrors keep the two side by side.
				security = main
				sub(/\/debian\/? /, "/debian-security/ ", security)
			}
			print kind == "security" ? security : main
		}'
}

# The keyring that the system checks this source's signatures with.
keyring_of() {
	local ring
	ring=$(sed -nE 's/^[^#]*[Ss]igned-[Bb]y[:=][[:space:]]*([^] ,]+).*/\1/p' "$1" | head -n 1)
	[[ $ring = /* ]] || ring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ ! -r "$ring" ] || echo "$ring"
}

# One source line for SUITE, of ARCHITECTURE (amd64).  Without a keyring, apt uses those that the system
# trusts for every source; signatures are checked in any case.
source_line() {
	local uri file ring
	read -r uri file <<<"$(archive_of "$1")"
	[ -n "$uri" ] || die "apt has no Debian archive configured"
	ring=$(keyring_of "$file")
	echo "deb [arch=${2-amd64}${ring:+ signed-by=$ring}] $uri $1 main"
}
