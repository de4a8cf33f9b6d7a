// SPDX-License-Identifier: BSD-2-Clause
#include "probe/calls.h"

#include "base/arch.h"

#include "bpf/lib/call_site.h"

/* Must be called when the ends have the numbers of their entries. */
void probe_calls__number(struct probe_plan *p)
{
	struct probe_side *begin = &p->side[PROBE_BEGIN], *end = &p->side[PROBE_END];
	size_t i;

	for (i = 0; i < end->sites.n; i++) {
		const struct event_site *site = &end->sites.site[i];
		u32 function = end->slot[i], popped = site->is_exit ? 0 : site->return_bytes ?: ARCH_CALL_BYTES;

		if (site->is_shared || !site->is_exit)
			begin->slot[function] |= CALL_JUMPS;
		end->slot[i] |= popped << CALL_POPPED_SHIFT | (site->is_shared ? CALL_IS_SHARED : 0) |
				(site->has_goroutine ? CALL_IS_GO : 0);
	}
	for (i = 0; i < begin->sites.n; i++)
		begin->slot[i] |= begin->sites.site[i].has_goroutine ? CALL_IS_GO : 0;
}

u64 probe_calls__misses(const struct probe_plan *p)
{
	return attach__misses(&p->side[PROBE_BEGIN].attachments) + attach__misses(&p->side[PROBE_END].attachments);
}
