// SPDX-License-Identifier: BSD-2-Clause
#include "event/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/attach_copy.h"
#include "event/attach_many.h"
#include "event/attach_site.h"
#include "event/attach_template.h"
#include "event/attach_way.h"
#include "event/user_binary.h"
#include "files/closing.h"
#include "host/host.h"
#include "host/probing.h"

/* Must be called before the run. A module that is already unloaded cannot have been probed. */
static int note_modules(struct attachments *a, const struct event_sites *sites)
{
	int err = 0;
	size_t i;

	for (i = 0; i < sites->n && err != -ENOMEM; i++)
		if (sites->site[i].module)
			err = attach_modules__add(&a->modules, sites->site[i].module);
	return err == -ENOMEM ? err : 0;
}

static bool needs_ftrace(enum attach_way way, const struct event_site *s)
{
	return way == ATTACH_FENTRY || way == ATTACH_FEXIT || way == ATTACH_KPROBE_MULTI ||
	       (way == ATTACH_KPROBE && !s->offset);
}

/* Checks for kernel settings that keep attached programs from running. Sets *which to the first affected site. */
static int check_setting(const struct attachments *a, const struct event_sites *sites, struct complaint *c,
			 size_t *which)
{
	size_t traced = sites->n, kprobe = sites->n, i;
	struct probing_refusal refusal;

	for (i = sites->n; i-- > 0;) {
		if (!attach_is_place(&sites->site[i]))
			continue;
		if (needs_ftrace(a->way[i], &sites->site[i]))
			traced = i;
		if (a->way[i] == ATTACH_KPROBE)
			kprobe = i;
	}
	refusal = probing__refusal(traced < sites->n, kprobe < sites->n);
	if (!refusal.why)
		return 0;
	*which = refusal.is_kprobe ? kprobe : traced;
	complain(c, 0, sites->site[*which].event->at, sites->site[*which].event->len, "%s", refusal.why);
	return complain_hint(c, -EOPNOTSUPP, "%s", refusal.hint);
}

int attach__sites(struct attachments *a, const struct event_sites *sites, const u32 *slot,
		  const struct attach_programs *p, struct complaint *c, size_t *which)
{
	struct attach_course k = { a, sites, slot, p, c, which };
	bool *done = calloc(sites->n ?: 1, sizeof(*done));
	bool syscalls = false;
	int err = check_setting(a, sites, c, which);
	size_t i;

	if (err || !done) {
		free(done);
		return err ?: -ENOMEM;
	}
	host__allow_files(sites->n + 64);
	for (i = 0; i < sites->n && !err; i++) {
		if (done[i] || !attach_is_place(&sites->site[i]))
			continue;
		switch (a->way[i]) {
		case ATTACH_SYSCALL:
			if (attach_is_by_record(a, i)) {
				err = attach_course__syscalls(&k, i, done);
				break;
			}
			if (!syscalls)
				err = attach_course__all_syscalls(a, p);
			if (err)
				err = attach_course__refuse(&k, i, err);
			syscalls = true;
			a->attached[ATTACH_SYSCALL]++;
			break;
		case ATTACH_KPROBE_MULTI:
		case ATTACH_UPROBE_MULTI:
			err = attach_course__multi(&k, i, done);
			break;
		default:
			err = attach_course__site(&k, i);
		}
	}
	free(done);
	attach__forget_copy(a);
	return err ?: note_modules(a, sites);
}

void attach__describe(const struct attachments *a, char *text, size_t size)
{
	size_t n = 0;
	int way;

	text[0] = 0;
	for (way = 0; way < ATTACH_WAYS && n < size; way++)
		if (a->attached[way])
			n += snprintf(text + n, size - n, "%s%s (%zu)", n ? ", " : "",
				      attach_way_name(way), a->attached[way]);
	if (a->refused && n < size)
		n += snprintf(text + n, size - n, "; %zu left out: the kernel refuses them", a->refused);
	if (a->left_out && n < size)
		n += snprintf(text + n, size - n, "; %zu left out: their returns cannot be traced", a->left_out);
	if (a->untold && n < size)
		n += snprintf(text + n, size - n, "; %zu inlined: copies in unrolled loops may not be counted",
			      a->untold);
	if (a->several && n < size)
		n += snprintf(text + n, size - n, "; of %s", a->several);
	if (n < size)
		event_binaries__describe_others(a->elsewhere, text + n, size - n);
	n = strlen(text);
	attach_modules__describe_removed(&a->modules, text + n, size - n);
}

void attach__release(struct attachments *a)
{
	attach__forget_copy(a);
	attach_template__forget(a);
	close_together(a->fd, a->nfds);
	free(a->fd);
	free(a->program);
	free(a->way);
	attach_modules__free(&a->modules);
	*a = (struct attachments){};
}

void attach__release_both(struct attachments *a, struct attachments *b)
{
	size_t i;

	for (i = 0; i < b->nfds; i++)
		attach__keep(a, b->fd[i]);
	b->nfds = 0;
	attach__release(a);
	attach__release(b);
}
