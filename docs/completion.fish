# SPDX-License-Identifier: BSD-2-Clause
# fish completion for tally and its tools, which list the candidates themselves: `tally --complete`, see tally(1).

# Candidates of a function of fish for the value of --OPTION=VALUE, or for the whole word.
function __tally_fish --argument-names current
    set -l front (string match --regex -- '^--[^=]*=' $current)
    set -l value (string replace --regex -- '^--[^=]*=' '' $current)
    for word in ($argv[2..] $value)
        echo -- "$front$word"
    end
end

function __tally_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l at (contains --index -- -- $words)
    if test -n "$at" # a separate command line begins after --
        set --erase words[1..$at]
        complete --do-complete (string join -- ' ' (string escape -- $words) $current)
        return
    end
    command --query $words[1]
    or return
    for answer in (command $words[1] --complete $words[2..] "$current" 2>/dev/null)
        switch $answer
            case \tfiles
                __tally_fish "$current" __fish_complete_path
            case \tusers
                __tally_fish "$current" __fish_complete_users
            case '*'
                echo -- $answer
        end
    end
end

# make install adds the tools that are installed under their own names.
for name in tally
    complete --command $name --erase
    complete --command $name --no-files --arguments '(__tally_complete)'
end
