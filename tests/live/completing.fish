# SPDX-License-Identifier: BSD-2-Clause
# completing.fish FILE: prints the candidates of fish for each line of standard input: "+WORD<tab>HELP" each, then "=". FILE is the
# completion of tally.

source $argv[1]
while read --local line
    for answer in (complete --do-complete "$line")
        echo -- "+$answer"
    end
    echo =
end
