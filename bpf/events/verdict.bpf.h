/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the event as lost, by the reason why a compiled function (event.h) had no result. */
#ifndef TALLY_VERDICT_BPF_H
#define TALLY_VERDICT_BPF_H

#include "event.h"
#include "loss.bpf.h"

static __noinline int count_undecided(int verdict)
{
	if (verdict == EVENT_BAD_ARITHMETIC)
		count_lost(LOSS_BAD_ARITHMETIC);
	else if (verdict == EVENT_TEXT_TOO_LONG)
		count_lost(LOSS_TEXT_TOO_LONG);
	else if (verdict == EVENT_NO_RESULT)
		count_lost(LOSS_NO_RESULT);
	else
		count_lost(LOSS_READ_FAULT);
	return 0;
}

#endif /* TALLY_VERDICT_BPF_H */
