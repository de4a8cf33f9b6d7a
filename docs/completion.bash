# SPDX-License-Identifier: BSD-2-Clause
# bash completion for tally and its tools, which list the candidates themselves: `tally --complete`, see tally(1).

# Completes a separate command line that begins at COMP_WORDS[$1].
_tally_command()
{
	local cur=${COMP_WORDS[COMP_CWORD]}

	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif ((COMP_CWORD == $1)) && [[ $cur != */* ]]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

_tally()
{
	local line=${COMP_LINE:0:COMP_POINT} safe='-A-Za-z0-9_.,:=/%@+' words=() i word rest cur answer left= quoted= kept= value

	COMPREPLY=()
	# bash also splits words at = and : (COMP_WORDBREAKS). This joins words without a blank between them, up to the cursor.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		rest=${line#"${line%%[![:blank:]]*}"}
		word=${COMP_WORDS[i]}
		((i < COMP_CWORD)) || word=$rest
		if ((i)) && [[ $rest == "$line" ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
		line=${rest#"$word"}
		if [[ $word == -- ]] && ((i < COMP_CWORD)); then
			_tally_command $((i + 1))
			return
		fi
	done
	cur=${words[-1]}
	if [[ $cur == [\"\']* ]]; then
		quoted=1 cur=${cur:1}
	else
		# readline replaces only the part after the last of these characters.
		i=${COMP_WORDBREAKS//[!=:]/}
		[[ -z $i ]] || kept=${cur%"${cur##*[$i]}"}
	fi
	while IFS= read -r answer; do
		word=${answer%%$'\t'*}
		if [[ -z $word ]]; then
			left=${answer#$'\t'}
		elif [[ $quoted ]]; then
			[[ $word == *[!$safe\ ]* ]] || COMPREPLY+=("$word")
		else
			word=${word#"$kept"}
			[[ $word != *[!$safe]* ]] || printf -v word %q "$word"
			COMPREPLY+=("$word")
		fi
	done < <("${words[0]}" --complete "${words[@]:1:${#words[@]}-2}" "$cur" 2>/dev/null)

	value=$cur
	[[ $cur == --*=* ]] && value=${cur#*=}
	case $left in
	files)
		compopt -o filenames
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$value")
		;;
	users)
		mapfile -t COMPREPLY < <(compgen -u -- "$value")
		;;
	esac
}

# make install adds the tools that are installed under their own names.
complete -F _tally tally
