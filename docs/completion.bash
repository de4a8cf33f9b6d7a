# SPDX-License-Identifier: BSD-2-Clause
# bash completion for tally and its tools: options come from --help, so they are never out of date.

_tally_options()
{
	"$@" --help 2>/dev/null | grep -oE '(^|[ ,])--[a-z][a-z-]*' | tr -d ' ,'
}

_tally()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local command=(${COMP_WORDS[0]}) tools

	COMPREPLY=()
	if [[ ${COMP_WORDS[0]##*/} == tally ]]; then
		tools=$("${COMP_WORDS[0]}" --csv 2>/dev/null | tail -n +2 | cut -d, -f2)
		if ((COMP_CWORD == 1)) || [[ $prev == help && $COMP_CWORD == 2 ]]; then
			COMPREPLY=($(compgen -W "$tools help" -- "$cur"))
			return
		fi
		command+=("${COMP_WORDS[1]}")
	fi
	case $prev in
	--by)
		COMPREPLY=($(compgen -W 'pid tid comm cgroup cpu pidns uid' -- "$cur"))
		return
		;;
	--sort)
		COMPREPLY=($(compgen -W 'key count sum min avg max p50 p90 p99 p999' -- "$cur"))
		return
		;;
	--format)
		COMPREPLY=($(compgen -W 'text json csv openmetrics tree folded flame pprof speedscope table svg' -- "$cur"))
		return
		;;
	--call-graph)
		COMPREPLY=($(compgen -W 'fp dwarf' -- "$cur"))
		return
		;;
	--source)
		COMPREPLY=($(compgen -W 'auto accounting wakeup' -- "$cur"))
		return
		;;
	-u | --uid)
		COMPREPLY=($(compgen -u -- "$cur"))
		return
		;;
	-o | --output | -G | --cgroup)
		COMPREPLY=($(compgen -f -- "$cur"))
		return
		;;
	esac
	[[ $cur == -* ]] && COMPREPLY=($(compgen -W "$(_tally_options "${command[@]}")" -- "$cur"))
}

# Not those that are plain words: `stat` is another's command.
complete -F _tally tally runqlat runqlen schedlat cpudist runqslower timehist schedmap timechart offcputime wakeuptime offwaketime stackcount syscount opensnoop fsdist fileslower filetop filelife biolatency biosnoop biotop bitesize biopattern execsnoop exitsnoop connsnoop kmem memleak lockstat futexstat tcplife tcprtt tcpretrans tcptop netdrop netlat hardirqs softirqs kvmstat triage
