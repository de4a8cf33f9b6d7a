# SPDX-License-Identifier: BSD-2-Clause
"""Wrong command lines of probe: the message for each, and where the caret points."""

import functools
import shlex
from platform import machine

import pytest

from probing import binary, compile_trigger, instructions
from tally import GUEST, needs_dwarf

pytestmark = [pytest.mark.skipif(bool(GUEST), reason="the same on all kernels, and many")]

NAMES = {
    "@R": "syscalls:sys_enter_pread64", "@X": "syscalls:sys_exit_pread64",
    "@A": str(binary("arguments")), "@U": str(binary("usdt")),
}

# Each: arguments, exit code, the sentence or its beginning, (column, width) of the caret.
# Filters.
FILTERS = (
    (("@R", "--filter", "count => 100"), 2,
     "--filter: unknown operator '=>', did you mean '>='?", (6, 2)),
    (("@R", "--filter", "count =< 100"), 2,
     "--filter: unknown operator '=<', did you mean '<='?", (6, 2)),
    (("@R", "--filter", "count === 1"), 2,
     "--filter: unknown operator '===', did you mean '=='?", (6, 3)),
    (("@R", "--filter", "count !== 1"), 2,
     "--filter: unknown operator '!==', did you mean '!='?", (6, 3)),
    (("@R", "--filter", "count <> 1"), 2,
     "--filter: unknown operator '<>', did you mean '!='?", (6, 2)),
    (("@R", "--filter", "count =~ 1"), 2,
     "--filter: unknown operator '=~', did you mean '~'?", (6, 2)),
    (("@R", "--filter", "count ~= 1"), 2,
     "--filter: unknown operator '~=', did you mean '~'?", (6, 2)),
    (("@R", "--filter", "count =! 1"), 2,
     "--filter: unknown operator '=!', did you mean '!='?", (6, 2)),
    (("@R", "--filter", "count = 1"), 2,
     "--filter: unknown operator '=', did you mean '=='?", (6, 1)),
    (("@R", "--filter", "count eq 1"), 2,
     "--filter: unknown operator 'eq', did you mean '=='?", (6, 2)),
    (("@R", "--filter", "count ne 1"), 2,
     "--filter: unknown operator 'ne', did you mean '!='?", (6, 2)),
    (("@R", "--filter", "count lt 1"), 2,
     "--filter: unknown operator 'lt', did you mean '<'?", (6, 2)),
    (("@R", "--filter", "count and 1"), 2,
     "--filter: unknown operator 'and', did you mean '&&'?", (6, 3)),
    (("@R", "--filter", "count or 1"), 2,
     "--filter: unknown operator 'or', did you mean '||'?", (6, 2)),
    (("@R", "--filter", "not count"), 2, "--filter: an operator is missing before this", (4, 5)),
    (("@R", "--filter", "count is 1"), 2,
     "--filter: unknown operator 'is', did you mean '=='?", (6, 2)),
    (("@R", "--filter", "count like 1"), 2,
     "--filter: unknown operator 'like', did you mean '~'?", (6, 4)),
    (("@R", "--filter", "count AND 1"), 2,
     "--filter: unknown operator 'AND', did you mean '&&'?", (6, 3)),
    (("@R", "--filter", "count == "), 2, "--filter: a value is missing at the end", (9, 1)),
    (("@R", "--filter", "count =="), 2, "--filter: a value is missing at the end", (8, 1)),
    (("@R", "--filter", "== 1"), 2, "--filter: a value is missing before '=='", (0, 2)),
    (("@R", "--filter", "count &&"), 2, "--filter: a value is missing at the end", (8, 1)),
    (("@R", "--filter", "|| count"), 2, "--filter: a value is missing before '||'", (0, 2)),
    (("@R", "--filter", "count + "), 2, "--filter: a value is missing at the end", (8, 1)),
    (("@R", "--filter", "count * "), 2, "--filter: a value is missing at the end", (8, 1)),
    (("@R", "--filter", "(count"), 2, "--filter: ')' is missing to close this", (0, 1)),
    (("@R", "--filter", "count)"), 2, "--filter: unmatched ')'", (5, 1)),
    (("@R", "--filter", "((count)"), 2, "--filter: ')' is missing to close this", (0, 1)),
    (("@R", "--filter", "(count))"), 2, "--filter: unmatched ')'", (7, 1)),
    (("@R", "--filter", "()"), 2, "--filter: a value is missing before ')'", (1, 1)),
    (("@R", "--filter", "count["), 2, "--filter: a value is missing at the end", (6, 1)),
    (("@R", "--filter", "count]"), 2, "--filter: unmatched ']'", (5, 1)),
    (("@R", "--filter", "count[1"), 2, "--filter: ']' is missing to close this", (5, 1)),
    (("@R", "--filter", "count[]"), 2, "--filter: a value is missing before ']'", (6, 1)),
    (("@R", "--filter", ""), 2, "--filter: a value is missing at the end", (0, 1)),
    (("@R", "--filter", "   "), 2, "--filter: a value is missing at the end", (3, 1)),
    (("@R", "--filter", "count count"), 2, "--filter: an operator is missing before this", (6, 5)),
    (("@R", "--filter", "count 1"), 2, "--filter: an operator is missing before this", (6, 1)),
    (("@R", "--filter", "1 2"), 2, "--filter: an operator is missing before this", (2, 1)),
    (("@R", "--filter", "count, 1"), 2, "--filter: unexpected ','", (5, 1)),
    (("@R", "--filter", "count; 1"), 2, "--filter: unexpected ';'", (5, 1)),
    (("@R", "--filter", "count ? 1 : 2"), 2, "--filter: unexpected '?'", (6, 1)),
    (("@R", "--filter", "count && && fd"), 2, "--filter: a value is missing before '&&'", (9, 2)),
    (("@R", "--filter", "count == 1 == 1"), 2, "--filter: comparisons cannot be chained", (11, 2)),
    (("@R", "--filter", "1 < count < 9"), 2, "--filter: comparisons cannot be chained", (10, 1)),
    (("@R", "--filter", "count & 1 == 1"), 2,
     "--filter: '&' and '==' together need parentheses", (6, 1)),
    (("@R", "--filter", "count | 1 != 1"), 2,
     "--filter: '|' and '!=' together need parentheses", (6, 1)),
    (("@R", "--filter", "count ^ 3 > 1"), 2,
     "--filter: '^' and '>' together need parentheses", (6, 1)),
    (("@R", "--filter", "cuont == 1"), 2, "--filter: @R has no field 'cuont'", (0, 5)),
    (("@R", "--filter", "zz"), 2, "--filter: @R has no field 'zz'", (0, 2)),
    (("@R", "--filter", "zz == 1"), 2, "--filter: @R has no field 'zz'", (0, 2)),
    (("@R", "--filter", "Count == 1"), 2, "--filter: @R has no field 'Count'", (0, 5)),
    (("@R", "--filter", "count.x == 1"), 2,
     "--filter: this is not a structure in memory; use -> for members of a pointer", (0, 5)),
    (("@R", "--filter", "count->x == 1"), 2,
     "--filter: this is not a pointer but u64, and the type behind it is unknown", (0, 5)),
    (("@R", "--filter", "count."), 2,
     "--filter: the name of a member is missing after this", (5, 1)),
    (("@R", "--filter", "count->"), 2,
     "--filter: the name of a member is missing after this", (5, 2)),
    (("@R", "--filter", "count:"), 2,
     "--filter: the name of a type is missing after this", (5, 1)),
    (("@R", "--filter", "count:x9 == 1"), 2, "--filter: unknown type 'x9'", (5, 1)),
    (("@R", "--filter", "count:u128 == 1"), 2, "--filter: 'u128' is not a numeric type", (5, 1)),
    (("@R", "--filter", "count:string == 1"), 2,
     "--filter: unknown type 'string'", (5, 1)),
    (("@R", "--filter", "(u7)count == 1"), 2,
     "--filter: unknown type 'u7'", (0, 4)),
    (("@R", "--filter", "(u8 count"), 2, "--filter: an operator is missing before this", (4, 5)),
    (("@R", "--filter", "(struct nope *)count"), 2,
     "--filter: unknown type 'struct nope *'", (0, 15)),
    (("@R", "--filter", "((struct nope *)buf)->x == 1"), 2,
     "--filter: unknown type 'struct nope *'", (1, 15)),
    (("@R", "--filter", "$retval == 1"), 2,
     "--filter: only the return of a function has a result", (0, 7)),
    (("@R", "--filter", "$arg1 == 1"), 2,
     "--filter: a tracepoint has named fields, not arguments", (0, 5)),
    (("@R", "--filter", "$arg == 1"), 2, "--filter: unknown variable $arg", (0, 4)),
    (("@R", "--filter", "$nope"), 2, "--filter: unknown variable $nope", (0, 5)),
    (("@R", "--filter", "$"), 2, "--filter: '$' has no name", (0, 1)),
    (("@R", "--filter", "$elapsed > 1"), 2,
     "--filter: $elapsed is known only between two events", (0, 8)),
    (("@R", "--filter", "$stack0 == 1"), 2, "--filter: the stack is not available here", (0, 7)),
    (("@R", "--filter", "%di == 1"), 2,
     "--filter: the record of a tracepoint has no registers", (0, 3)),
    (("@R", "--filter", "%nope"), 2,
     "--filter: the record of a tracepoint has no registers", (0, 5)),
    (("@R", "--filter", "%"), 2, "--filter: '%' has no name", (0, 1)),
    (("@R", "--filter", "@"), 2, "--filter: '@' has no name", (0, 1)),
    (("@R", "--filter", "@nope_nope == 1"), 2,
     "--filter: the kernel has no symbol 'nope_nope'", (0, 10)),
    (("@R", "--filter", "\"text"), 2, "--filter: this string is not terminated", (0, 1)),
    (("@R", "--filter", "'text"), 2, "--filter: this string is not terminated", (0, 1)),
    (("@R", "--filter", "comm == reads"), 2,
     "--filter: compare a string with a string in quotes", (0, 4)),
    (("@R", "--filter", "comm == \"an overlong name of a task\""), 2,
     "--filter: comm never holds a string this long", (8, 28)),
    (("@R", "--filter", "comm < \"a\""), 2,
     "--filter: strings have no order; use ==, !=, ~ or !~", (5, 1)),
    (("@R", "--filter", "comm == 3"), 2,
     "--filter: compare a string with a string in quotes", (0, 4)),
    (("@R", "--filter", "comm ~ comm"), 2,
     "--filter: expected a glob in quotes after this", (5, 1)),
    (("@R", "--filter", "count ~ \"a*\""), 2, "--filter: only strings can match a glob", (6, 1)),
    (("@R", "--filter", "count == \"a\""), 2,
     "--filter: a string can only be compared with a field", (9, 3)),
    (("@R", "--filter", "comm ~ \"[a\""), 2, "--filter: a '[' in this glob has no ']'", (7, 4)),
    (("@R", "--filter", "\"a\" == \"a\""), 2,
     "--filter: a string can only be compared with a field", (0, 3)),
    (("@R", "--filter", "comm"), 2, "--filter: compare a string with a string in quotes", (0, 4)),
    (("@R", "--filter", "comm + 1"), 2,
     "--filter: compare a string with a string in quotes", (0, 4)),
    (("@R", "--filter", "comm == \"\\q\""), 2,
     "--filter: unknown escape sequence", (9, 5)),
    (("@R", "--filter", "comm ~ \"" + "a" * 80 + "\""), 2,
     "--filter: this glob is too long", (7, 82)),
    (("@R", "--filter", "count == 99999999999999999999"), 2,
     "--filter: the number is too large", (9, 20)),
    (("@R", "--filter", "count == 0x"), 2, "--filter: this is not a number", (9, 2)),
    (("@R", "--filter", "count == 0xzz"), 2, "--filter: this is not a number", (9, 4)),
    (("@R", "--filter", "count == 12ab"), 2, "--filter: this is not a number", (9, 4)),
    (("@R", "--filter", "count == 1.5.2"), 2, "--filter: this is not a number", (9, 5)),
    (("@R", "--filter", "count == 10parsecs"), 2, "--filter: this is not a number", (9, 9)),
    (("@R", "--filter", "count == 1K2"), 2, "--filter: this is not a number", (9, 3)),
    (("@R", "--filter", "count == /dev/nope"), 1,
     "--filter: no device /dev/nope: No such file or directory", (9, 9)),
    (("@R", "--filter", "count == /etc"), 2, "--filter: /etc is not a device", (9, 4)),
    (("@R", "--filter", "count == /"), 2, "--filter: / is not a device", (9, 1)),
    (("@R", "--filter", "count / "), 2, "--filter: a value is missing at the end", (8, 1)),
    (("@R", "--filter", "count % "), 2, "--filter: a value is missing at the end", (8, 1)),
    (("@R", "--filter", "count << "), 2, "--filter: a value is missing at the end", (9, 1)),
    (("@R", "--filter", "count >> 1 >"), 2, "--filter: a value is missing at the end", (12, 1)),
    (("@R", "--filter", "!"), 2, "--filter: a value is missing at the end", (1, 1)),
    (("@R", "--filter", "~"), 2, "--filter: a value is missing at the end", (1, 1)),
    (("@R", "--filter", "-"), 2, "--filter: a value is missing at the end", (1, 1)),
    (("@R", "--filter", "*count"), 2,
     "--filter: this is not a pointer but u64, and the type behind it is unknown", (1, 5)),
    (("@R", "--filter", "&count"), 2, "--filter: this is not in memory", (0, 6)),
    (("@R", "--filter", "&1"), 2, "--filter: this is not in memory", (0, 2)),
    (("@R", "--filter", "*1"), 2,
     "--filter: this is not a pointer but u64, and the type behind it is unknown", (1, 1)),
    (("@R", "--filter", "+8("), 2, "--filter: a value is missing at the end", (3, 1)),
    (("@R", "--filter", "+8(count"), 2, "--filter: ')' is missing to close this", (2, 1)),
    (("@R", "--filter", "+8(count)x"), 2, "--filter: an operator is missing before this", (9, 1)),
    (("@R", "--filter", "+(count)"), 2, "--filter: a value is missing before '+'", (0, 1)),
    (("@R", "--filter", "-8()"), 2, "--filter: a value is missing before ')'", (3, 1)),
    (("@R", "--filter", "+8 count"), 2, "--filter: a value is missing before '+'", (0, 1)),
    (("@R", "--filter", "ret < 0"), 2, "--filter: @R has no field 'ret'", (0, 3)),
    (("@R", "--filter", "count == -"), 2, "--filter: a value is missing at the end", (10, 1)),
    (("@R", "--filter", "count @ 1"), 2, "--filter: '@' has no name", (6, 1)),
    (("@R", "--filter", "count # 1"), 2, "--filter: unexpected '#'", (6, 1)),
    (("@R", "--filter", "count \\ 1"), 2, "--filter: unexpected '\\x5c'", (6, 4)),
    (("@R", "--filter", "count ` 1"), 2, "--filter: unexpected '`'", (6, 1)),
    (("@R", "--filter", "count == {1}"), 2, "--filter: unexpected '{'", (9, 1)),
    (("@R", "--filter", "ret_ / 2"), 2, "--filter: @R has no field 'ret_'", (0, 4)),
    (("@R", "--filter", "fd == 1 & fd"), 2,
     "--filter: '&' and '==' together need parentheses", (8, 1)),
    (("@R", "--filter", "count == TCP_ESTABLISHD"), 2,
     "--filter: @R has no field 'TCP_ESTABLISHD'", (9, 14)),
    (("@R", "--filter", "common_pid == 1"), 4,
     "--filter: fields common to all events cannot be read here", (0, 10)),
    (("@R", "--filter", "!comm"), 2, "--filter: compare a string with a string in quotes", (1, 4)),
    (("@R", "--filter", "(count == 1"), 2, "--filter: ')' is missing to close this", (0, 1)),
    (("@R", "--filter", "count == 1)"), 2, "--filter: unmatched ')'", (10, 1)),
    (("@R", "--filter", "count == 1 || "), 2, "--filter: a value is missing at the end", (14, 1)),
    (("@R", "--filter", "((((count"), 2, "--filter: ')' is missing to close this", (3, 1)),
    (("@R", "--filter", "count == (1 +"), 2, "--filter: a value is missing at the end", (13, 1)),
    (("@R", "--filter", "count == (1 + 2"), 2, "--filter: ')' is missing to close this", (9, 1)),
    (("@R", "--filter", "filename == \"x\""), 2, "--filter: @R has no field 'filename'", (0, 8)),
    (("@R", "--filter", "count < 0"), 2, "--filter: this is never true: count is u64", (0, 9)),
    (("@R", "--filter", "fd == -1"), 2, "--filter: this is never true: fd is u32", (0, 8)),
    (("-x", "@A", "many", "--filter", "$arg4 > 255"), 2, "--filter: this is never true: $arg4 is unsigned char",
     (0, 11)),
    (("-x", "@A", "many", "--filter", "%di < 0"), 2,
     "--filter: this is never true: %di is u64 here, since its type is unknown", (0, 7)),
    (("@X", "--filter", "count < 0"), 2, "--filter: @X has no field 'count'", (0, 5)),
    (("@X", "--filter", "ret == 0 &"), 2, "--filter: a value is missing at the end", (10, 1)),
)

# Values and keys.
VALUES = (
    (("@R", "--hist", "coutn"), 2, "--hist: @R has no field 'coutn'", (0, 5)),
    (("@R", "--hist", "count +"), 2, "--hist: a value is missing at the end", (7, 1)),
    (("@R", "--hist", ""), 2, "--hist needs an expression to measure", None),
    (("@R", "--hist", "count,fd"), 2, "--hist: expected one expression, got 2", None),
    (("@R", "--hist", "comm"), 2, "--hist: 'comm' is a string, not a number", None),
    (("@R", "--hist", "\"a\""), 2, "--hist: a string can only be compared with a field", (0, 3)),
    (("@R", "--hist", "count:nope"), 2, "--hist: unknown type 'nope'", (5, 1)),
    (("@R", "--hist", "(nope *)buf"), 2, "--hist: unknown type 'nope *'", (0, 8)),
    (("@R", "--hist", "$elapsed"), 2, "--hist: $elapsed is known only between two events", (0, 8)),
    (("@R", "--hist", "%di"), 2, "--hist: the record of a tracepoint has no registers", (0, 3)),
    (("@R", "--hist", "buf->x"), 2, "--hist: this is s8 and has no members", (0, 3)),
    (("@R", "--by", "nope"), 2, "--by: @R has no field 'nope'", (0, 4)),
    (("@R", "--by", "comm,"), 2, "--by: expected an expression here", (5, 1)),
    (("@R", "--by", "count,,fd"), 2, "--by: expected an expression here", (6, 1)),
    (("@R", "--by", ",count"), 2, "--by: expected an expression here", (0, 1)),
    (("@R", "--by", "comm,zz"), 2, "--by: @R has no field 'zz'", (0, 2)),
    (("@R", "--by", "$arg1"), 2,
     "--by: a tracepoint has named fields, not arguments", (0, 5)),
    (("@R", "--by", "(count"), 2, "--by: ')' is missing to close this", (0, 1)),
    (("@R", "--by", "x="), 2, "--by: unknown operator '=', did you mean '=='?", (1, 1)),
    (("@R", "--by", "x=zz"), 2, "--by: @R has no field 'zz'", (0, 2)),
    (("@R", "--by", "count:u9"), 2, "--by: unknown type 'u9'", (5, 1)),
)

# Bounds and templates.
BOUNDS = (
    (("@R count", "--lhist", ""), 2, "--lhist: expected FROM:TO:STEP, as in 0:100:10", (0, 1)),
    (("@R count", "--lhist", "1"), 2, "--lhist: expected FROM:TO:STEP, as in 0:100:10", (0, 1)),
    (("@R count", "--lhist", "1:2"), 2, "--lhist: expected FROM:TO:STEP, as in 0:100:10", (0, 3)),
    (("@R count", "--lhist", "1:2:0"), 2,
     "--lhist: FROM must be below TO, and STEP above 0", (0, 5)),
    (("@R count", "--lhist", "9:1:1"), 2,
     "--lhist: FROM must be below TO, and STEP above 0", (0, 5)),
    (("@R count", "--lhist", "1:x:1"), 2, "--lhist: expected a number", (2, 1)),
    (("@R count", "--lhist", "0:100000:1"), 2, "--lhist: more than 900 buckets", (0, 10)),
    (("@R count", "--lhist", "1:2:-1"), 2,
     "--lhist: FROM must be below TO, and STEP above 0", (0, 6)),
    (("@R count", "--lhist", ":2:1"), 2, "--lhist: expected a number", (0, 1)),
    (("@R count", "--pow", "1"), 2, "--pow: expected a base of 2 or more", (0, 1)),
    (("@R count", "--pow", "x"), 2, "--pow: expected a number", (0, 1)),
    (("@R count", "--pow", "0"), 2, "--pow: expected a base of 2 or more", (0, 1)),
    (("@R count", "--pow", "-2"), 2, "--pow: expected a base of 2 or more", (0, 2)),
    (("@R count", "--pow", ""), 2, "--pow: expected a number", (0, 1)),
    (("@R count", "--buckets", ""), 2,
     "--buckets: expected bounds, as in \"100 1000 10000\"", (0, 1)),
    (("@R count", "--buckets", "1 1"), 2, "--buckets: each bound must be above the previous bound", (2, 1)),
    (("@R count", "--buckets", "3 2"), 2, "--buckets: each bound must be above the previous bound", (2, 1)),
    (("@R count", "--buckets", "1 x"), 2, "--buckets: expected a number", (2, 1)),
    (("@R count", "--buckets", "1,2,2"), 2,
     "--buckets: each bound must be above the previous bound", (4, 1)),
    (("@R count", "--buckets", "1 2+3"), 2, "--buckets: expected a number", (2, 3)),
    (("@R count", "--template", "{nope}"), 2, "--template: unknown value", (1, 4)),
    (("@R count", "--template", "{count"), 2, "--template: a { without a }", (0, 1)),
    (("@R count", "--template", "}"), 2, "--template: a } without a {", (0, 1)),
    (("@R", "--lhist", "0:1:1"), 2, "--lhist needs an expression to measure", None),
)

# Events and arguments.
EVENTS = (
    (("@R count +",), 2, "a value is missing before '+'", (0, 1)),
    (("@R zz",), 2, "@R has no field 'zz'", (0, 2)),
    (("@R x=",), 2, "unknown operator '=', did you mean '=='?", (1, 1)),
    (("@R x==1",), 2, "@R has no field 'x'", (0, 1)),
    (("@R count:u9",), 2, "unknown type 'u9'", (5, 1)),
    (("@R (count",), 2, "')' is missing to close this", (0, 1)),
    (("@R 'a",), 2, "this string is not terminated", (0, 1)),
    (("E=@R %di",), 2, "the record of a tracepoint has no registers", (0, 3)),
    (("E=",), 2, "-e: '=' is not allowed in function names", (1, 1)),
    (("=x",), 2, "-e: '=' is not allowed in function names", (0, 1)),
    (("@R count=count+1",), 2, "'count' is defined by an expression that contains it", None),
    (("",), 2, "expected an event", (0, 1)),
    (("   ",), 2, "expected an event", (0, 1)),
    (("nope:nope",), 1, "no tracepoint system 'nope'", (0, 4)),
    (("syscalls:nope",), 1, "no tracepoint 'nope' in syscalls", (9, 4)),
    (("sched:sched_swich",), 1, "no tracepoint 'sched_swich' in sched", (6, 11)),
    (("cs",), 4, "cs is a counter and has no values", (0, 2)),
    (("cycles",), 4, "cycles is a counter and has no values", (0, 6)),
    (("nope_function",), 1, "no event 'nope_function', and no such function", (0, 13)),
    (("nope*_function",), 1, "no kernel function matches 'nope*_function'", (0, 14)),
    (("-x", "@A", "nope"), 1, "no function named 'nope' in @A", (0, 4)),
    (("-x", "@A", "many zz"), 2, "arguments:many has no 'zz'", (0, 2)),
    (("-x", "@A", "many $arg0"), 2, "unknown variable $arg0", (0, 5)),
    (("-x", "@A", "many %nope"), 2, "unknown register %nope", (0, 5)),
    (("-x", "@A", "many a->b"), 2,
     "this is not a pointer but int, and the type behind it is unknown", (0, 1)),
    (("-x", "@A", "many *a"), 2,
     "this is not a pointer but int, and the type behind it is unknown", (1, 1)),
    (("-x", "@A", "many @sink"), 2,
     "variables of programs are named without @ and need debug information", (0, 5)),
    (("-x", "@A", "many:9999"), 1, "line 9999 of many has no code", (0, 9)),
    (("-x", "@A", "many+99999"), 2, "many has only", (0, 10)),
    (("-x", "@A", "with_locals squared"), 2,
     "squared is not known here: it is not live at this point; it is live at lines", (0, 7)),
    (("-x", "@A", "with_locals%return squared"), 2,
     "squared is not known here: variables are lost when the function returns; probe saves its arguments if all its "
     "events are returns", (0, 7)),
    (("-x", "@A", "many,many%return", "--by", "a"), 2,
     "--by: a is not known here: variables are lost when the function returns; probe saves its arguments if all its "
     "events are returns", (0, 1)),
    (("-x", "@A", "many,many%return", "--by", "$arg1"), 2,
     "--by: arguments are lost when the function returns", (0, 5)),
    (("-x", "@A", "many%return", "--by", "a,b,c,d,e,f,g,h,$arg1"), 2,
     "at most 8 arguments can be saved for a function's return", None),
    (("-x", "@A", "many%return a $elapsed"), 2, "$elapsed is known only between two events", (0, 8)),
    (("-x", "@A", "many $retval"), 2,
     "only the return of a function has a result", (0, 7)),
    (("-x", "@A", "many $elapsed"), 2, "$elapsed is known only between two events", (0, 8)),
    (("-x", "@A", "many a[1]"), 2,
     "this is not a pointer but int, and the type behind it is unknown", (0, 1)),
    (("-x", "@A", "many a.b"), 2,
     "this is not a structure in memory; use -> for members of a pointer", (0, 1)),
    (("-x", "@A", "many +0(%di):nope"), 2, "unknown type 'nope'", (7, 1)),
    (("-x", "@A", "many ((struct pear *)a)->left"), 2,
     "unknown type 'struct pear *'", (1, 15)),
    (("-x", "@A", "many%retrun"), 2, "-e: only %return can follow a '%'", (4, 7)),
    (("-x", "@A", "many", "--sum", "c"), 2, "--sum: 'c' is a string, not a number", None),
    (("-x", "@A", "with_locals+@I $arg1"), 2,
     "arguments:with_locals+0x@I has no such argument", (0, 5)),
    (("-x", "@U", "sdt_tally_test:plain arg3"), 2,
     "sdt_tally_test:plain has no such argument", (0, 4)),
    (("-x", "@U", "sdt_tally_test:plain $arg3"), 2,
     "sdt_tally_test:plain has no such argument", (0, 5)),
    (("-x", "@U", "sdt_tally_test:nope"), 1, "@U has no probe tally_test:nope", (0, 19)),
    (("-x", "/nope", "x"), 1, "/nope: No such file or directory", (0, 1)),
    (("-x", "/etc/passwd", "x"), 1,
     "/etc/passwd is not a program or library (ELF), or is damaged", (0, 1)),
)

# Spans.
SPANS = (
    (("-x", "@A", "many", "--latency", "--hist", "zz"), 2,
     "--hist: arguments:many has no 'zz'", (0, 2)),
    (("-x", "@A", "many%return", "--latency"), 2,
     "--latency is the time a function takes, from its entry to its return", (0, 11)),
    (("-x", "@A", "many:3", "--latency"), 2,
     "--latency is the time a function takes, from its entry to its return", (0, 6)),
    (("-x", "@A", "many", "--filter", "nothing == 1 || $retval == 2", "--latency"), 2,
     "--filter: 'nothing' is not known after arguments:many%return has returned", (0, 7)),
    (("@R", "--latency"), 2,
     "--latency is the time a function takes, from its entry to its return", (0, 26)),
    (("@R", "--match", "tid"), 2, "--match needs --from and --to", None),
    (("--from", "@R"), 2, "--from and --to must be given together", None),
    (("--to", "@R"), 2, "--from and --to must be given together", None),
    (("--from", "@R", "--to", "@X"), 2,
     "--from and --to need --match: the values that a begin and its end share", None),
    (("--from", "@R", "--to", "@X", "--match", "zz"), 2, "--match: @R has no field 'zz'", (0, 2)),
    (("--from", "@R", "--to", "@X", "--match", "ret"), 2, "--match: @R has no field 'ret'", (0, 3)),
    (("--from", "@R", "--to", "@X", "--match", "tid,"), 2,
     "--match: expected an expression here", (4, 1)),
    (("--from", "@R", "--to", "@X", "--match", "comm"), 2,
     "--match: compare a string with a string in quotes", (0, 4)),
    (("--from", "@R", "--to", "@X", "--match", "tid", "@R"), 2,
     "--from and --to cannot be combined with other events", None),
    (("--from", "@R", "--to", "@X", "--match", "tid", "--latency"), 2,
     "--latency cannot be combined with --from and --to", None),
    (("--from", "nope", "--to", "@X", "--match", "tid"), 1,
     "no event 'nope', and no such function", (0, 4)),
    (("--from", "@R", "--to", "@X", "--match", "a,b,c,d,e,f,g,h,i"), 2,
     "--match: at most 8 expressions", None),
    (("--from", "@R", "--to", "@X", "--match", "tid", "--filter", "zz"), 2,
     "--filter: @X has no field 'zz'", (0, 2)),
)

# Options that do not go together.
OPTIONS = (
    ((), 2, "no event given", None),
    (("@R", "--hist", "count", "--sum", "count"), 2,
     "counts and sums, a distribution, and --stream cannot be combined; run probe once for each", None),
    (("@R", "--hist", "count", "--count"), 2,
     "counts and sums, a distribution, and --stream cannot be combined; run probe once for each", None),
    (("@R", "--hist", "count", "--stream"), 2,
     "counts and sums, a distribution, and --stream cannot be combined; run probe once for each", None),
    (("@R", "--sum", "count", "--stream"), 2,
     "counts and sums, a distribution, and --stream cannot be combined; run probe once for each", None),
    (("@R", "--sum", "count", "--avg", "fd"), 2,
     "--sum and --avg measure different values; run probe twice", None),
    (("@R", "--sum"), 2, "--sum needs an expression to measure", None),
    (("@R", "--hist"), 2, "--hist needs an expression to measure", None),
    (("@R", "--lhist", "0:1:1", "--pow", "2"), 2,
     "--lhist and --pow cannot be combined", None),
    (("@R", "--template", "{count}", "--count"), 2,
     "--template cannot be combined with counts, sums, distributions or --by", None),
    (("@R count", "@X ret", "--csv"), 2,
     "--csv needs the same columns on all lines, but these events have different fields", None),
    (("@R", "--sort", "nope"), 2,
     "--sort: unknown column 'nope'; expected one of key, count, sum, min, avg, max, p50, p90, p99, p999; total is "
     "sum", None),
    (("@R", "--top", "x"), 2, "--top: 'x' is not a number of at least 1", None),
    (("@R", "--max-keys", "0"), 2, "--max-keys: '0' is not a number of keys", None),
    (("@R", "-I", "0"), 2, "-I: '0' is not a time in milliseconds, at least 1", None),
    (("@R", "-p", "1,,2"), 2, "-p: '1,,2' is not a list of numbers like 12,345", None),
    (("@R", "--nope"), 2, "unknown option '--nope'", None),
    (("@R", "1", "2", "3"), 2, "unexpected argument '3' after the interval and the count", None),
)


@functools.lru_cache
def second_instruction():
    """The offset of the second instruction of with_locals(), which has one digit: the first instructions are short."""
    return str(sorted(instructions(binary("arguments"), "with_locals")[0])[1])


def named(text):
    if "@I" in text:
        text = text.replace("@I", second_instruction())
    for short, name in NAMES.items():
        text = text.replace(short, name)
    return text


ALL = FILTERS + VALUES + BOUNDS + EVENTS + SPANS + OPTIONS


@needs_dwarf
@pytest.mark.parametrize("args, code, said, caret", ALL, ids=[" ".join(each[0]) for each in ALL])
def test_wrong(run, args, code, said, caret):
    result = run("-n", *map(named, args), tool="probe")
    lines = result.stderr.splitlines()
    assert (result.code, result.text) == (code, ""), result
    assert lines[0].startswith(f"probe: {named(said)}"), result
    marks = [line for line in lines if line.lstrip().startswith("^") and not line.strip(" ^~")]
    if caret is None:
        assert not marks, result
        return
    column, width = caret
    assert marks == [" " * (4 + column) + "^" + "~" * (width - 1)], result


def test_many_wrong_lines_are_here():
    assert len({each[0] for each in ALL}) >= 150


def test_a_scope_that_an_event_does_not_tell(run):
    """The event's record is about another task."""
    result = run("sched:sched_wakeup", "--hist", "pid", "-p", "1", tool="probe")
    assert (result.code, result.text) == (4, "") and "a task other than the current one" in result.stderr


@pytest.mark.parametrize("args, said", (
    (("@R", "--by", "kstack"), "stackcount -K @R"),
    (("@R", "--by=comm,ustack,pid", "--count", "-p", "1"), "stackcount -U --by comm,pid -p 1 @R"),
    (("n=@R size=count", "--sum", "count", "--by", "kstack,ustack", "--filter", "count > 10", "--", "ls",
      "--count"), "stackcount --sum count --filter 'count > 10' n=@R -- ls --count"),
    (("-x", "@A", "many", "--by", "stack", "-d", "1"), "stackcount -x @A -d 1 many"),
    (("@R", "--by", "kstack", "--avg", "count"), "stackcount shows no average, minimum or maximum"),
    (("@R", "--by", "kstack", "--hist", "count"), "stackcount shows no distributions and no single events"),
    (("-x", "@A", "many", "--by", "ustack", "--latency", "--count"),
     "stackcount counts single events, not the time between two events"),
))
def test_stacks_are_stackcounts(run, args, said):
    """Suggested stackcount commands are tried, and work."""
    result = run(*map(named, args), tool="probe")
    assert result.code == 2 and "stackcount to count or sum by stack" in result.stderr, result
    assert f"probe:   {named(said)}" == result.stderr.splitlines()[-1]
    if said.startswith("stackcount -"):
        _, *instead = shlex.split(named(said.replace("n=@R", "@R")))
        assert run("-n", *instead, tool="stackcount").code == 0


DECLARED = """
#include <stdarg.h>
struct big { long a, b, c; };
#define KEPT __attribute__((noinline, noclone))
KEPT long two(long a, long b) { __asm__ volatile(""); return a + b; }
KEPT long none(void) { __asm__ volatile(""); return 1; }
KEPT long more(long a, ...) { __asm__ volatile(""); return a; }
KEPT long old() { __asm__ volatile(""); return 2; }
KEPT struct big large(long a) { __asm__ volatile(""); return (struct big){ a, a, a }; }
KEPT long real(double a) { __asm__ volatile(""); return a; }
int main(int argc, char **argv)
{
	(void)argv;
	return two(argc, 1) + none() + more(1, 2L, 3L) + old() + large(argc).a + real(argc);
}
"""


@needs_dwarf
@pytest.mark.parametrize("probe, said", (
    ("two $arg2", ""), ("two $arg3", "two has 2 arguments"), ("two%return $arg3", "two has 2 arguments"),
    ("two arg5", "two has 2 arguments"), ("none $arg1", "none has no arguments"),
    ("more $arg3", ""), ("old $arg3", ""), ("main argc $arg3", "main has 2 arguments"),
    ("real $arg1", "real has 1 argument; none has a number"),
    *((("large $arg2", ""), ("large $arg3", "large has 1 argument; $arg2 is the last"))[:2 * (machine() == "x86_64")]),
))
def test_arguments_beyond_those_declared(run, tmp_path, probe, said):
    """A result in memory takes a register. Functions that may have more arguments are not limited."""
    source = tmp_path / "declared.c"
    source.write_text(DECLARED)
    path = compile_trigger(tmp_path, source, "-O1", "-g", "-Wno-old-style-definition", name="declared")
    result = run("-n", "-x", path, probe, tool="probe")
    assert result.code == (2 if said else 0), result
    assert result.stderr.startswith(f"probe: declared:{said}\n") if said else "has" not in result.stderr, result
    bare = compile_trigger(tmp_path, source, "-O1", "-Wno-old-style-definition", name="declared")
    assert run("-n", "-x", bare, "two $arg5", tool="probe").code == 0
