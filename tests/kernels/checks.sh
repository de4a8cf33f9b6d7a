# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# checks.sh - sourced by the scripts of checks that run in guests: "failed" is 1 when one has failed

failed=0

# check NAME COMMAND PATTERN: does the command end well, and is there such a line in what it prints?
check() {
	local output
	if output=$(bash -c "$2" 2>&1) && grep -qE "$3" <<<"$output"; then
		echo "passed: $1"
	else
		echo "FAILED: $1: no /$3/ in what '$2' printed:"
		echo "${output:0:3000}"
		# shellcheck disable=SC2034 # the script's exit status
		failed=1
	fi
}
