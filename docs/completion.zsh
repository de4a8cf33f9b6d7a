#compdef tally
# SPDX-License-Identifier: BSD-2-Clause
# zsh completion for tally and its tools, which list the candidates themselves: `tally --complete`, see tally(1). make install adds
# the names of tools to the first line, and installs this file as _tally in a folder of fpath.

local -a asked found
local answer word help left
local -i ret=1 at=${words[(ie)--]}

if ((at < CURRENT)); then       # a separate command line begins after --
	words=("${(@)words[at + 1,-1]}")
	((CURRENT -= at))
	_normal
	return
fi
asked=("${(Q)words[1]}" --complete)
((CURRENT > 2)) && asked+=("${(@Q)words[2,CURRENT - 1]}")
for answer in "${(@f)$("${asked[@]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
	word=${answer%%$'\t'*} help=${answer#*$'\t'}
	if [[ -n $word ]]; then
		found+=("${word//:/\\:}${help:+:$help}")
	else
		left=$help
	fi
done
(($#found)) && _describe -t words 'word' found && ret=0
[[ -n $left && $PREFIX == --*=* ]] && compset -P '*='
case $left in
(files) _files && ret=0 ;;
(users) _users && ret=0 ;;
esac
return ret
