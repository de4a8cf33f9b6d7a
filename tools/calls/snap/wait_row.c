// SPDX-License-Identifier: BSD-2-Clause
/* A thread of a chain as a row: the edge, and a sentence for readers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/snap/wait_servers.h"

static const char *const verdicts[] = {
	[RANK_DEADLOCK] = "deadlock",
	[RANK_CYCLE] = "maybe",
	[RANK_CHAIN] = "chain",
	[RANK_UNKNOWN] = "unknown",
};

/* "the server of /data (nfs4, nas:/export)" */
static void put_server(FILE *f, const struct wait_server *server)
{
	if (server->point)
		fprintf(f, "the server of %s (%s, %s)", server->point, server->type, server->source);
	else
		fprintf(f, "the server of an unknown mount (%s)", wait_why_names[server->why]);
}

static void put_thread(FILE *f, const struct wait_thread *t)
{
	if (t->server) {
		put_server(f, t->server);
		return;
	}
	fprintf(f, "%u (%.*s)", t->of->task.tid, TASK_KEY_COMM_LEN, t->of->task.comm);
}

/* "37 threads wait for 812 (comm)" */
static void put_words(FILE *f, const struct snap_waits *w, const struct wait_row *row)
{
	const struct wait_thread *t = &w->thread[row->thread];
	char n[UNITS_SPACE];

	if (row->rank <= RANK_CYCLE && t->cycle) {
		fputs(row->rank == RANK_DEADLOCK ? "deadlock: " : "may be a deadlock: ", f);
		put_thread(f, t);
		fputs(" waits for ", f);
		put_thread(f, &w->thread[row->to]);
		return;
	}
	if (row->like > 1)
		fprintf(f, "%s threads like ", format_count(n, row->like));
	else if ((!row->depth || t->server) && t->waiters)
		fprintf(f, "%s %s for ", format_count(n, t->waiters),
			t->waiters == 1 ? "thread waits" : "threads wait");
	put_thread(f, t);
}

static int add_words(const struct snap_waits *w, const struct wait_row *row, struct report_row *out)
{
	struct field cell = { .name = "who", .role = ROLE_REMARK, .indent = 2 * row->depth, .no_metric = true };
	size_t n;
	FILE *f = open_memstream(&cell.text, &n);
	int err;

	if (!f)
		return -ENOMEM;
	put_words(f, w, row);
	if (fclose(f) || !cell.text)
		return -ENOMEM;
	err = report_row__add_field(out, &cell);
	if (err)
		free(cell.text);
	return err;
}

static int add_id(struct report_row *out, const char *name, bool known, u64 number, enum field_role role)
{
	return report_row__add_field(out, &(struct field){ .name = name,
							   .number = number,
							   .machine = true,
							   .kind = known ? FIELD_ID : FIELD_NONE,
							   .role = role });
}

static int add_comm(struct report_row *out, const char *name, const struct wait_thread *t)
{
	char comm[TASK_KEY_COMM_LEN + 1] = "";

	if (t && !t->server)
		memcpy(comm, t->of->task.comm, TASK_KEY_COMM_LEN);
	return snap_copy_cell(out, (struct field){ .name = name, .role = ROLE_LABEL, .machine = true },
			      t && !t->server ? comm : NULL);
}

/* A thread that waits for a file server waits for its daemon, if that is known. */
static const struct wait_thread *target_of(const struct snap_waits *w, const struct wait_row *row)
{
	u32 to = row->to;

	if (to != WAITS_NOBODY && w->thread[to].server)
		to = w->thread[to].next;
	return to == WAITS_NOBODY ? NULL : &w->thread[to];
}

static int add_keys(const struct snap_waits *w, const struct wait_row *row, struct report_row *out)
{
	const struct wait_thread *t = &w->thread[row->thread];
	const struct wait_thread *to = target_of(w, row);
	int err = add_id(out, "pid", !t->server, t->of->task.pid, ROLE_KEY);

	if (!err)
		err = add_id(out, "tid", !t->server, t->of->task.tid, ROLE_KEY);
	if (!err)
		err = add_comm(out, "comm", t);
	if (!err)
		err = add_id(out, "to_pid", to, to ? to->of->task.pid : 0, ROLE_KEY);
	if (!err)
		err = add_id(out, "to_tid", to, to ? to->of->task.tid : 0, ROLE_KEY);
	return err ?: add_comm(out, "to_comm", to);
}

static int add_part(const struct snap_waits *w, const struct wait_row *row, enum snap_part part, struct report_row *out)
{
	char *text = NULL;
	int err = w->thread[row->thread].server ?
			  0 :
			  snap_names__part(&w->snap->names, w->thread[row->thread].of, part, &text);

	return err ?: snap_add_cell(out, (struct field){ .name = snap_part_names[part], .role = ROLE_LABEL }, text);
}

/* The lock of the kernel, or the object of the call. */
static int add_object(const struct snap_waits *w, const struct wait_row *row, struct report_row *out)
{
	char *text;
	int err = snap_waits__lock_text(w, w->thread[row->thread].of, &text);

	if (err || !text)
		return err ?: add_part(w, row, SNAP_BY_OBJECT, out);
	return snap_add_cell(out, (struct field){ .name = snap_part_names[SNAP_BY_OBJECT], .role = ROLE_LABEL }, text);
}

static int add_figures(const struct snap_waits *w, const struct wait_row *row, struct report_row *out)
{
	const struct wait_thread *t = &w->thread[row->thread];
	u64 ns;
	bool has_time = snap_pass__time(&w->snap->pass, t->of, &ns);
	const struct field figures[] = {
		{ .name = "time", .number = ns, .kind = has_time ? FIELD_DURATION : FIELD_NONE, .role = ROLE_GAUGE },
		{ .name = "threads", .number = row->like, .role = ROLE_GAUGE, .machine = true },
		{ .name = "waiters", .number = t->waiters, .role = ROLE_GAUGE, .machine = true },
		{ .name = "targets", .number = t->n, .role = ROLE_GAUGE, .machine = true },
		{ .name = "lock_wait",
		  .number = t->lock_wait_ns,
		  .kind = t->lock_wait_ns ? FIELD_DURATION : FIELD_NONE,
		  .role = ROLE_GAUGE,
		  .machine = true },
		{ .name = "chain", .number = row->chain, .kind = FIELD_ID, .role = ROLE_REMARK, .machine = true },
		{ .name = "depth", .number = row->depth, .kind = FIELD_ID, .role = ROLE_REMARK, .machine = true },
	};

	return report_row__add_fields(out, figures, ARRAY_SIZE(figures));
}

/* The server that the row is about, or that its thread waits for; NULL: none. */
static const struct wait_server *server_of(const struct snap_waits *w, const struct wait_thread *t)
{
	if (t->server || (t->why != WAIT_FUSE && t->why != WAIT_NFS) || !t->n)
		return t->server;
	return w->thread[w->target[t->first].thread].server;
}

/* "sshfs (pid 812)", "nas:/export" */
static int name_server(const struct snap_waits *w, const struct wait_thread *t, char **name)
{
	const struct wait_thread *daemon = t->next == WAITS_NOBODY ? NULL : &w->thread[t->next];
	int n;

	if (daemon)
		n = asprintf(name, "%.*s (pid %u)", TASK_KEY_COMM_LEN, daemon->of->task.comm, daemon->of->task.pid);
	else
		n = asprintf(name, "%s", t->server->source ?: wait_why_names[t->server->why]);
	return n < 0 ? -ENOMEM : 0;
}

/* "0:45": rows of servers have no other number. */
static int name_device(const struct wait_server *server, char **name)
{
	*name = NULL;
	if (!server || !server->point)
		return 0;
	return asprintf(name, "%u:%u", server->major, server->minor) < 0 ? -ENOMEM : 0;
}

static int add_mount(const struct wait_server *server, struct report_row *out)
{
	struct field label = { .role = ROLE_LABEL, .machine = true }, key = { .role = ROLE_KEY, .machine = true };
	char *device;
	int err = name_device(server, &device);

	key.name = "mount_device";
	if (!err)
		err = snap_add_cell(out, key, device);
	key.name = "mount_type";
	if (!err)
		err = snap_copy_cell(out, key, server ? server->type ?: wait_why_names[server->why] : NULL);
	label.name = "mount";
	if (!err)
		err = snap_copy_cell(out, label, server ? server->point : NULL);
	label.name = "mount_source";
	return err ?: snap_copy_cell(out, label, server ? server->source : NULL);
}

static int add_server(const struct snap_waits *w, const struct wait_thread *t, struct report_row *out)
{
	const struct field cell = { .name = "server", .role = ROLE_LABEL, .machine = true };
	char *name = NULL;
	int err = t->server ? name_server(w, t, &name) : 0;

	return err ?: snap_add_cell(out, cell, name) ?: add_mount(server_of(w, t), out);
}

int wait_row__fill(const struct snap_waits *w, const struct wait_row *row, struct report_row *out)
{
	int err = add_words(w, row, out);

	if (!err)
		err = add_keys(w, row, out);
	if (!err)
		err = add_part(w, row, SNAP_BY_STATE, out);
	if (!err)
		err = add_part(w, row, SNAP_BY_CALL, out);
	if (!err)
		err = snap_copy_cell(out, (struct field){ .name = "why", .role = ROLE_LABEL },
				     wait_why_names[w->thread[row->thread].why]);
	if (!err)
		err = add_object(w, row, out);
	if (!err)
		err = add_figures(w, row, out);
	if (!err)
		err = add_server(w, &w->thread[row->thread], out);
	return err   ?:
		       snap_copy_cell(out, (struct field){ .name = "verdict", .role = ROLE_LABEL, .machine = true },
				      verdicts[row->rank]);
}
