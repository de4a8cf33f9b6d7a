# SPDX-License-Identifier: BSD-2-Clause
# completing.zsh FOLDER: prints the candidates of zsh for each line of standard input: "+WORD" each, then "=". FOLDER has the
# completion of tally, _tally. The lines are typed into an interactive shell on a pseudo-terminal (zsh/zpty), which asks compsys.

if [[ $1 == inside ]]; then     # that shell: source completing.zsh inside FOLDER PIPE
	fpath=($2 $fpath)
	answers=$3
	autoload -Uz compinit && compinit -D -u
	# Calls with -O, -A or -D only fill arrays: they add no candidates.
	compadd() {
		local -a hits
		if (( ! ${@[(I)-[OAD]]} )); then
			builtin compadd -A hits "$@"
			(( $#hits )) && print -r -l -- +$^hits >>$answers
		fi
		builtin compadd "$@"
	}
	answer() {
		_main_complete
		compstate[insert]= compstate[list]=
		print -r -- = >>$answers
	}
	zle -C answer complete-word answer
	bindkey '^I' answer
	print -r -- = >>$answers
	return
fi

zmodload zsh/zpty || exit
pipe=$(mktemp -u)
mkfifo -m 600 $pipe || exit
exec 3<>$pipe
trap 'zpty -d asked; rm -f $pipe' EXIT
TERM=dumb zpty -b asked zsh -f -i

# Copies one answer. The echo on the terminal is read meanwhile, or the shell would block when it is full.
await() {
	local line echoed
	while IFS= read -r -u 3 line; do
		while zpty -r -t asked echoed; do :; done
		[[ $line == = ]] && return
		print -r -- $line
	done
}

zpty -w asked "source ${(q)0:A} inside ${(q)1} ${(q)pipe}"
await
while IFS= read -r line; do
	zpty -w -n asked $'\C-u'$line$'\t'
	await
	print -r -- =
done
