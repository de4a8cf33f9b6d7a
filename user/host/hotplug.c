// SPDX-License-Identifier: BSD-2-Clause
#include "host/hotplug.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "host/host.h"
#include "host/scope.h"
#include "report/diag.h"
#include "report/units.h"

struct online {
	u64 bits[SCOPE_MAX_CPUS / 64];
};

static int read_online(struct online *o)
{
	char line[4096];
	int err = read_line("/sys/devices/system/cpu/online", line, sizeof(line));

	*o = (struct online){};
	return err ?: parse_cpu_list(line, o->bits, ARRAY_SIZE(o->bits));
}

static bool is_online(const struct online *o, int cpu)
{
	return o->bits[cpu / 64] >> (cpu % 64) & 1;
}

/*
 * Opens a socket for the kernel's messages about devices (kobject_uevent(9)). Network namespaces owned by a user
 * namespace get none.
 */
static int open_socket(void)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

	if (fd < 0 || !bind(fd, (const struct sockaddr *)&kernel, sizeof(kernel)))
		return fd;
	close(fd);
	return -1;
}

int hotplug__begin(struct hotplug *h, const struct scope_config *scope, const char *done)
{
	struct online now;
	int cpu, err;

	*h = (struct hotplug){ .scope = scope, .done = done };
	h->cpu = calloc(SCOPE_MAX_CPUS, sizeof(*h->cpu));
	if (!h->cpu)
		return -ENOMEM;
	h->socket = open_socket() + 1;
	err = read_online(&now);
	for (cpu = 0; cpu < SCOPE_MAX_CPUS && !err; cpu++)
		if (is_online(&now, cpu))
			h->cpu[cpu].covered = true;
	return err;
}

int hotplug__fd(const struct hotplug *h)
{
	return h->socket - 1;
}

void hotplug__arm(struct hotplug *h)
{
	h->armed_ns = monotonic_ns();
}

void hotplug__disarm(struct hotplug *h)
{
	h->disarmed_ns = monotonic_ns();
}

static bool is_in_scope(const struct hotplug *h, int cpu)
{
	return scope__has_cpu(h->scope, cpu);
}

static u64 later(u64 a_ns, u64 b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static void cpu_goes(struct hotplug *h, int cpu, int (*change)(void *context, int cpu, bool online), void *context)
{
	struct hotplug_cpu *c = &h->cpu[cpu];

	c->refused = false;
	if (!c->covered)
		return;
	c->covered = false;
	c->has_changed = true;
	c->since_ns = monotonic_ns();
	diag_warn("CPU %d went offline and is no longer %s", cpu, h->done);
	change(context, cpu, false);
}

static void cpu_comes(struct hotplug *h, int cpu, int (*change)(void *context, int cpu, bool online), void *context)
{
	struct hotplug_cpu *c = &h->cpu[cpu];
	char absent[UNITS_SPACE];
	int err;
	u64 ns;

	c->has_changed = true;
	if (c->refused || h->disarmed_ns)
		return;
	err = change(context, cpu, true);
	if (err) {
		c->refused = true;
		diag_warn("CPU %d came online and cannot be %s: %s", cpu, h->done, strerror(-err));
		return;
	}
	ns = monotonic_ns() - later(c->since_ns, h->armed_ns);
	c->absent_ns += ns;
	c->covered = true;
	diag_warn("CPU %d came online and is %s from now on; it was missing for %s", cpu, h->done,
		  format_value(absent, ns, UNIT_NS, false));
}

/*
 * Reads the messages: a CPU that went offline and came back between two calls is online again, but has lost its events.
 */
static bool read_messages(struct hotplug *h, int (*change)(void *context, int cpu, bool online), void *context)
{
	struct sockaddr_nl from;
	socklen_t size = sizeof(from);
	bool news = !h->socket;
	char text[256];
	ssize_t n;
	int cpu;

	for (; h->socket; size = sizeof(from)) {
		n = recvfrom(h->socket - 1, text, sizeof(text) - 1, 0, (struct sockaddr *)&from, &size);
		if (n < 0 && errno != ENOBUFS)
			break;
		text[n < 0 ? 0 : n] = '\0';
		if (n >= 0 && (from.nl_pid || !strstr(text, "@/devices/system/cpu/cpu")))
			continue;
		news = true;
		if (sscanf(text, "offline@/devices/system/cpu/cpu%d", &cpu) == 1 && cpu >= 0 && cpu < SCOPE_MAX_CPUS &&
		    is_in_scope(h, cpu))
			cpu_goes(h, cpu, change, context);
	}
	return news;
}

int hotplug__follow(struct hotplug *h, int (*change)(void *context, int cpu, bool online), void *context)
{
	struct online now;
	int cpu, err;

	if (!h->cpu || !read_messages(h, change, context))
		return 0;
	err = read_online(&now);
	for (cpu = 0; cpu < SCOPE_MAX_CPUS && !err; cpu++) {
		if (!is_in_scope(h, cpu))
			continue;
		if (!is_online(&now, cpu))
			cpu_goes(h, cpu, change, context);
		else if (!h->cpu[cpu].covered)
			cpu_comes(h, cpu, change, context);
	}
	return err;
}

void hotplug__describe(const struct hotplug *h, char *text, size_t size)
{
	char absent[UNITS_SPACE];
	size_t n = 0;
	int cpu;

	text[0] = '\0';
	for (cpu = 0; h->cpu && cpu < SCOPE_MAX_CPUS && n < size; cpu++) {
		const struct hotplug_cpu *c = &h->cpu[cpu];
		u64 ns = c->absent_ns;

		if (!c->has_changed)
			continue;
		if (!c->covered)
			ns += later(h->disarmed_ns ?: monotonic_ns(), h->armed_ns) - later(c->since_ns, h->armed_ns);
		if (!n)
			n = snprintf(text, size, "; not %s:", h->done);
		if (n < size)
			n += snprintf(text + n, size - n, "%s CPU %d for %s (%s)", text[n - 1] == ':' ? "" : ",", cpu,
				      format_value(absent, ns, UNIT_NS, false), c->refused ? "refused" : "offline");
	}
}

void hotplug__end(struct hotplug *h)
{
	if (h->socket)
		close(h->socket - 1);
	free(h->cpu);
	*h = (struct hotplug){};
}
