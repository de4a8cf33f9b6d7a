// SPDX-License-Identifier: BSD-2-Clause
#include "host/signal_name.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers.h"

static const struct {
	int signal;             /* 0 for any signal */
	int code;
	const char *name;
} codes[] = {
	{ 0, SI_USER, "SI_USER" }, { 0, SI_KERNEL, "SI_KERNEL" }, { 0, SI_QUEUE, "SI_QUEUE" },
	{ 0, SI_TIMER, "SI_TIMER" }, { 0, SI_MESGQ, "SI_MESGQ" }, { 0, SI_ASYNCIO, "SI_ASYNCIO" },
	{ 0, SI_SIGIO, "SI_SIGIO" }, { 0, SI_TKILL, "SI_TKILL" }, { 0, SI_ASYNCNL, "SI_ASYNCNL" },
	{ SIGCHLD, CLD_EXITED, "CLD_EXITED" }, { SIGCHLD, CLD_KILLED, "CLD_KILLED" },
	{ SIGCHLD, CLD_DUMPED, "CLD_DUMPED" }, { SIGCHLD, CLD_TRAPPED, "CLD_TRAPPED" },
	{ SIGCHLD, CLD_STOPPED, "CLD_STOPPED" }, { SIGCHLD, CLD_CONTINUED, "CLD_CONTINUED" },
	{ SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR" }, { SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR" },
	{ SIGBUS, BUS_ADRALN, "BUS_ADRALN" }, { SIGBUS, BUS_ADRERR, "BUS_ADRERR" },
	{ SIGFPE, FPE_INTDIV, "FPE_INTDIV" }, { SIGILL, ILL_ILLOPN, "ILL_ILLOPN" },
	{ SIGTRAP, TRAP_BRKPT, "TRAP_BRKPT" }, { SIGTRAP, TRAP_TRACE, "TRAP_TRACE" },
};

char *signal_name(char text[SIGNAL_NAME_SPACE], int signal)
{
	const char *name = sigabbrev_np(signal);

	if (name)
		snprintf(text, SIGNAL_NAME_SPACE, "SIG%s", name);
	else if (signal == SIGRTMIN)
		snprintf(text, SIGNAL_NAME_SPACE, "SIGRTMIN");
	else if (signal > SIGRTMIN && signal <= SIGNALS)
		snprintf(text, SIGNAL_NAME_SPACE, "SIGRTMIN+%d", signal - SIGRTMIN);
	else
		snprintf(text, SIGNAL_NAME_SPACE, "%d", signal);
	return text;
}

/* Parses SIGRTMAX or SIGRTMAX-3: kill(1) and systemd count the upper signals from the top. */
static bool from_the_top(const char *text, int *signal)
{
	u64 below = 0;

	text += strncmp(text, "SIG", 3) ? 0 : 3;
	if (strncmp(text, "RTMAX", 5))
		return false;
	text += 5;
	if (*text && (*text != '-' || parse_u64_between(text + 1, 1, SIGRTMAX - SIGRTMIN, &below)))
		return false;
	*signal = SIGRTMAX - (int)below;
	return true;
}

int signal_number(const char *text, int *signal)
{
	char name[SIGNAL_NAME_SPACE];
	u64 number;
	int i;

	if (from_the_top(text, signal))
		return 0;

	if (!parse_u64_between(text, 1, SIGNALS, &number)) {
		*signal = number;
		return 0;
	}
	for (i = 1; i <= SIGNALS; i++) {
		signal_name(name, i);
		if (!strcmp(name, text) || (!strncmp(name, "SIG", 3) && !strcmp(name + 3, text))) {
			*signal = i;
			return 0;
		}
	}
	return -EINVAL;
}

char *signal_code_name(char text[SIGNAL_NAME_SPACE], int signal, int code)
{
	size_t i;

	snprintf(text, SIGNAL_NAME_SPACE, "%d", code);
	for (i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].code == code && (!codes[i].signal || codes[i].signal == signal))
			snprintf(text, SIGNAL_NAME_SPACE, "%s", codes[i].name);
	return text;
}
