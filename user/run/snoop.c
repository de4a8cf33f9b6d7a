// SPDX-License-Identifier: BSD-2-Clause
#include "run/snoop.h"

#include <errno.h>
#include <string.h>

#include "host/scope.h"
#include "host/syscalls.h"
#include "host/task_state.h"
#include "out/diag.h"
#include "run/explain.h"

/*
 * --- fields ------------------------------------------------------------------------------------
 */

struct stream_field snoop_number(const char *name, s64 number)
{
	return (struct stream_field){
		.field = { .name = name, .number = number, .kind = FIELD_SIGNED },
	};
}

struct stream_field snoop_time(const char *name, u64 ns)
{
	return (struct stream_field){
		.field = { .name = name, .number = ns, .kind = FIELD_TIME },
	};
}

struct stream_field snoop_id(const char *name, u32 id)
{
	return (struct stream_field){
		.field = { .name = name, .number = id, .kind = FIELD_ID },
	};
}

struct stream_field snoop_none(const char *name)
{
	return (struct stream_field){ .field = { .name = name, .kind = FIELD_NONE } };
}

struct stream_field snoop_word(const char *name, const char *word)
{
	if (!word)
		return snoop_none(name);
	return (struct stream_field){
		.field = { .name = name, .text = (char *)word, .word = true },
	};
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

static int watch(struct run *run)
{
	struct snoop *s = run->context;

	return lines__drain(&s->lines);
}

static int report(struct run *run, struct report *r)
{
	struct snoop *s = run->context;
	int err;

	if (s->settle) {
		s->settle(s);
		err = lines__drain(&s->lines);
		if (err)
			return err;
	}
	r->value = s->value;
	r->source = s->source;
	r->caveat = s->caveat;
	err = lines__report(&s->lines, r);
	r->counters.filtered += s->filtered;
	s->filtered = 0;
	return err;
}

/* Calls that one of the two tables lacks are left out of it. */
static void pick_calls(struct snoop *s)
{
	size_t i;
	int abi, number;

	for (i = 0; i < s->ncalls; i++)
		for (abi = 0; abi < SYSCALL_ABIS; abi++) {
			number = syscall_number_in(abi, s->call[i].name);
			if (number >= 0 && number < SYSCALL_NUMBERS)
				s->calls[abi][number] = s->call[i].which;
		}
}

static int configure(struct snoop *s, struct run *run)
{
	int err;

	memcpy(s->scope, &run->scope, sizeof(run->scope));
	if (s->calls)
		pick_calls(s);
	err = scope__prepare(s->obj, &run->scope, &run->cli->scope);
	if (!err)
		err = lines__prepare(&s->lines, run, s->obj, s->wake_bytes);
	if (!err && s->state)
		err = task_state__prepare(s->obj, s->state, &run->host, s->have_task_storage);
	return err;
}

static int attach(struct snoop *s, struct run *run)
{
	int err;

	run__describe_memory(run, s->obj);
	err = scope__fill(s->obj, &run->cli->scope);
	if (!err)
		err = lines__begin(&s->lines, run, s->least, s->show, s);
	if (!err)
		err = bpf_object__attach_skeleton(s->skeleton);
	if (err) {
		diag_error("cannot attach to the tracepoints: %s", strerror(-err));
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	run->watch = watch;
	*s->armed = 1;
	return 0;
}

static int measure(struct snoop *s, struct run *run)
{
	int err = s->open(s);

	if (!err)
		err = configure(s, run);
	if (!err && run->cli->explain)
		return run__explain(run, s->obj, s->source);
	if (!err)
		err = bpf_object__load_skeleton(s->skeleton);
	if (err) {
		diag_error("this kernel cannot load the programs; -v shows why");
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	err = attach(s, run);
	return err ?: run__loop(run);
}

int snoop__main(struct snoop *s, const struct cli_spec *spec, int argc, char **argv)
{
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, spec, argc, argv))
		return EXIT_USAGE;
	if (lines__init(&s->lines, &cli, s->field, s->nfields)) {
		lines__free(&s->lines);
		cli__free(&cli);
		return EXIT_USAGE;
	}
	err = run__init(&run, s->tool, &cli);
	run.report = report;
	run.context = s;
	if (!err)
		err = measure(s, &run);
	lines__free(&s->lines);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}
