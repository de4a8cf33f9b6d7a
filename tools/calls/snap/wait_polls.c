// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls of poll(2) with a single descriptor: how libraries wait for a reply with a timeout, and many without one. The
 * process itself writes this memory, which may contain anything.
 */
#include <poll.h>

#include "calls/snap/waits.h"

#define READS (POLLIN | POLLRDNORM | POLLRDBAND | POLLPRI | POLLRDHUP)
#define WRITES (POLLOUT | POLLWRNORM | POLLWRBAND)

bool snap_waits__poll(struct snap_waits *w, const struct wait_thread *t, struct wait_poll *poll)
{
	const u64 *value = t->of->value;
	bool is_ppoll = snap_thread__is_call(t->of, "ppoll");
	struct pollfd one;

	if ((!is_ppoll && !snap_thread__is_call(t->of, "poll")) || value[1] != 1)
		return false;
	if (!snap_waits__read(w, t, value[0], &one, sizeof(one)) || one.fd < 0)
		return false;
	*poll = (struct wait_poll){
		.fd = one.fd,
		.reads = one.events & READS,
		.writes = one.events & WRITES,
		.has_timeout = is_ppoll ? value[2] != 0 : (int)value[2] >= 0,
	};
	return poll->reads || poll->writes;
}
