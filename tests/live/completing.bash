# SPDX-License-Identifier: BSD-2-Clause
# completing.bash FILE: prints the candidates of bash for each line of standard input: "+WORD" each, then "=". FILE is the
# completion of tally. Lines are split into words as bash does it: at blanks, = and :.

compopt() { :; }                # fails unless a line is being edited

source "$1"
while IFS= read -r COMP_LINE; do
	COMP_POINT=${#COMP_LINE} COMP_WORDS=() rest=$COMP_LINE
	while [[ $rest =~ ^[[:blank:]]*([=:]+|[^[:blank:]=:]+)(.*)$ ]]; do
		COMP_WORDS+=("${BASH_REMATCH[1]}")
		rest=${BASH_REMATCH[2]}
	done
	[[ $COMP_LINE != *[[:blank:]] ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_tally
	[[ ${#COMPREPLY[@]} == 0 ]] || printf '+%s\n' "${COMPREPLY[@]}"
	echo =
done
