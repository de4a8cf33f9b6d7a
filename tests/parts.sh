# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by check and check-all: runs parts, times them, and says what was there if one takes too long.

# A caller may ignore signals that tests send (nohup and background shells do),
# and may have closed what tests take for open.
[ -n "${TALLY_CHECK-}" ] ||
	exec env --default-signal=INT,QUIT,PIPE,TERM,CHLD TALLY_CHECK=1 "$0" "$@"
[ -e /dev/fd/0 ] || exec </dev/null
unset TALLY_CHECK

began=$SECONDS
passed=0 failed=0 skipped=0 background='' rows=()

# shellcheck disable=SC2317 # called by trap
cleanup() {
	local pid
	for pid in $background; do
		kill -TERM -- "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null || true
	done
	wait
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

build() {
	make --no-print-directory "-j$(nproc)" "$@"
}

# What is still there when a part's time is up: processes and where they sleep, BPF programs, the kernel's log.
last_words() {
	local pid
	echo "== $1 has not ended after $2 seconds; the processes:"
	ps -e --forest -o pid,stat,etimes,wchan:20,args --width 150 | grep -v '\[.*\]$' || true
	for pid in $(ps -e -o pid=,stat= | awk '$2 ~ /^D/ { print $1 }'); do
		echo "-- $pid is in D state:"
		cat "/proc/$pid/stack" 2>/dev/null || true
	done
	echo "== BPF programs:"
	"$(command -v bpftool || echo /usr/sbin/bpftool)" prog 2>/dev/null | grep -v '^	' | tail -n 40 || true
	echo "== the kernel's log:"
	dmesg 2>/dev/null | tail -n 40 || true
}

# finish PID: waits for what was started here, and forgets it: its number may soon be another's.
finish() {
	local status=0
	wait "$1" || status=$?
	background=${background/ $1/}
	return "$status"
}

# start COMMAND...: in the background, in a process group of its own, as which it can be ended. Sets "started".
start() {
	set -m
	"$@" &
	set +m
	started=$!
	background+=" $started"
}

# limited SECONDS NAME COMMAND...: ends the command after that time, with last words.
limited() {
	local seconds=$1 name=$2 pid watch status=0
	shift 2
	start "$@"
	pid=$started
	(
		sleep "$seconds" &
		trap 'kill $! 2>/dev/null; exit' TERM
		wait $!
		last_words "$name" "$seconds"
		kill -INT -- "-$pid"
		sleep 20
		kill -KILL -- "-$pid"
	) &
	watch=$!
	background+=" $watch"
	finish "$pid" || status=$?
	kill "$watch" 2>/dev/null || true
	finish "$watch" 2>/dev/null || true
	return "$status"
}

# record NAME SECONDS STATUS: a row of the closing table. Status 77 is a part that was skipped.
record() {
	local word
	case $3 in
	0) word=passed passed=$((passed + 1)) ;;
	77) word=skipped skipped=$((skipped + 1)) ;;
	*) word=FAILED failed=$((failed + 1)) ;;
	esac
	rows+=("$(printf '%-14s %6d s  %s' "$1" "$2" "$word")")
	echo "== $1: $word, $2 s"
}

# part SECONDS NAME COMMAND...: at most so many seconds. A part that fails does not keep the others from running.
part() {
	local limit=$1 name=$2 start=$SECONDS status=0
	shift 2
	echo "== $name"
	limited "$limit" "$name" "$@" || status=$?
	record "$name" $((SECONDS - start)) "$status"
}

# The closing lines: seconds by part, and the figures, which are the last line.
close() {
	echo
	printf '%s\n' "${rows[@]}"
	printf '%-14s %6d s\n' all $((SECONDS - began))
	echo "parts: $passed passed, $failed failed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
	[ "$failed" -eq 0 ]
}
