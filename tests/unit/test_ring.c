// SPDX-License-Identifier: BSD-2-Clause
/*
 * A drain ends even if records take longer to show than the kernel takes to add them, and so does the last drain, which
 * counts the rest. Each record adds another one while it is shown. Skipped without the right to load programs.
 */
#include "unit.h"

#include <bpf/bpf.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "jit/code.h"
#include "report/report.h"
#include "run/ring.h"

#include "bpf/lib/loss.h"
#include "bpf/lib/scope.h"
#include "bpf/lib/stack.h"
#include "bpf/lib/uring.h"
#include "opensnoop.skel.h"

#define RECORDS 100
#define SHOWN_NS (60 * NSEC_PER_MSEC)   /* longer than a turn of a drain */

struct source {
	struct opensnoop_bpf *bpf;
	struct ring *ring;
	struct writer writer;
	int program;
	u64 taken, added;
	bool adds;
};

/* Loads a program that adds one record of 8 bytes. */
static int load_adding(int map)
{
	struct code c = {};
	int fd;

	code__set(&c, BPF_REG_0, 1);
	code__store(&c, BPF_DW, BPF_REG_10, BPF_REG_0, -8);
	code__emit(&c, (struct bpf_insn){ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
					  .src_reg = BPF_PSEUDO_MAP_FD, .imm = map });
	code__emit(&c, (struct bpf_insn){});
	code__move(&c, BPF_REG_2, BPF_REG_10);
	code__op_number(&c, BPF_ADD, BPF_REG_2, -8);
	code__set(&c, BPF_REG_3, 8);
	code__set(&c, BPF_REG_4, 0);
	code__call(&c, BPF_FUNC_ringbuf_output);
	code__set(&c, BPF_REG_0, 0);
	code__exit(&c);
	assert_int_equal(code__finish(&c), 0);
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "adding", "GPL", c.insn, c.n, NULL);
	code__free(&c);
	return fd;
}

static void add(struct source *s)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	assert_int_equal(bpf_prog_test_run_opts(s->program, &opts), 0);
	s->added++;
}

static int take(void *context, const void *record, size_t size)
{
	const struct timespec shown = { .tv_nsec = SHOWN_NS };
	struct source *s = context;

	(void)record;
	assert_int_equal(size, 8);
	s->taken++;
	if (s->adds) {
		add(s);
		nanosleep(&shown, NULL);
	}
	return 0;
}

static int set_up(void **state)
{
	static struct source s;
	struct bpf_program *program;
	int i;

	s = (struct source){ .bpf = opensnoop_bpf__open(), .writer.file = fopen("/dev/null", "w") };
	assert_non_null(s.bpf);
	assert_non_null(s.writer.file);
	bpf_object__for_each_program(program, s.bpf->obj)
		bpf_program__set_autoload(program, false);
	assert_int_equal(ring__prepare_bytes(s.bpf->obj, 1 << 16), 0);
	*state = NULL;
	if (opensnoop_bpf__load(s.bpf))
		return 0;
	s.program = load_adding(bpf_map__fd(s.bpf->maps.records));
	assert_true(s.program >= 0);
	assert_int_equal(ring__open(&s.ring, s.bpf->maps.records, 8, &s.writer, take, &s), 0);
	for (i = 0; i < RECORDS; i++)
		add(&s);
	s.adds = true;
	*state = &s;
	return 0;
}

static int take_down(void **state)
{
	struct source *s = *state;

	if (!s)
		return 0;
	ring__close(s->ring);
	close(s->program);
	opensnoop_bpf__destroy(s->bpf);
	fclose(s->writer.file);
	return 0;
}

/* One record takes the whole turn; the rest wake the loop again, although no new record comes. */
static void shown_in_turns(void **state)
{
	struct source *s = *state;
	struct pollfd p = { .events = POLLIN };

	if (!s)
		skip();
	ring__hear_signals(s->ring);
	assert_int_equal(ring__drain(s->ring), 0);
	assert_int_equal(s->taken, 1);
	assert_false(ring__is_drained(s->ring));
	p.fd = ring__fd(s->ring);
	assert_int_equal(poll(&p, 1, -1), 1);
	s->adds = false;
	/* Each turn ends by itself, or when all records are taken. */
	while (s->taken < s->added)
		assert_int_equal(ring__drain(s->ring), 0);
	assert_int_equal(ring__drain(s->ring), 0);
	assert_true(ring__is_drained(s->ring));
	assert_int_equal(ring__take_unread(s->ring), 0);
}

static void last_one(void **state)
{
	struct source *s = *state;

	if (!s)
		skip();
	ring__hear_signals(s->ring);
	ring__limit_last(s->ring, SHOWN_NS, NSEC_PER_SEC);
	s->writer.is_last = true;
	assert_int_equal(ring__drain(s->ring), 0);
	assert_int_equal(s->taken, 1);
	assert_int_equal(ring__take_unread(s->ring), s->added - 1);
	assert_int_equal(ring__take_unread(s->ring), 0);
	/* Nothing is left behind. */
	assert_int_equal(ring__drain(s->ring), 0);
	assert_int_equal(s->taken, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(shown_in_turns, set_up, take_down),
		cmocka_unit_test_setup_teardown(last_one, set_up, take_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
