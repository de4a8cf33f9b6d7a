// SPDX-License-Identifier: BSD-2-Clause
/* The order in which processes are seen and their files are read. */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "sym/mappings.h"
#include "unwind/sweep.h"
#include "unwind/wanted.h"

#include "bpf/lib/unwind.h"

static int any_file(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static u32 taken(struct wanted_files *w)
{
	struct wanted_file *f = wanted__take(w, UINT64_MAX, true);
	u32 token = f ? f->token : 0;

	if (f)
		close(f->fd);
	free(f);
	return token;
}

static int large_file(void)
{
	int fd = memfd_create("large", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	return fd;
}

/* Tables that walks lack go first, by how often they are missed and how soon they can be read. */
static void lacked_files(void **state)
{
	u32 lacks[UNWIND_LACKS] = { [3] = 1, [4] = 7 }, mark = 0, i;
	struct wanted_file *small;
	struct wanted_files w;

	(void)state;
	wanted__init(&w);
	w.lacks = lacks;
	for (i = 1; i <= 4; i++)
		assert_int_equal(wanted__add(&w, any_file(), &mark, false), i);
	assert_int_equal(taken(&w), 4);
	assert_int_equal(taken(&w), 3);
	lacks[2] = 1;
	assert_int_equal(wanted__add(&w, large_file(), &mark, true), 5);
	lacks[5] = 64;
	assert_int_equal(taken(&w), 2);
	small = wanted__take(&w, 1 << 20, true);
	assert_int_equal(small->token, 1);
	assert_null(wanted__take(&w, 1 << 20, true));
	close(small->fd);
	free(small);
	assert_int_equal(wanted__add(&w, any_file(), &mark, true), 6);
	lacks[6] = 1;
	lacks[5] = 66;
	assert_int_equal(taken(&w), 5);
	assert_int_equal(taken(&w), 6);
	assert_int_equal(taken(&w), 0);
	wanted__free(&w);
}

/* Files of programs that run now go first, the rest in order; and there is a bound. */
static void files(void **state)
{
	struct wanted_files w;
	u32 mark = 0, i;

	(void)state;
	wanted__init(&w);
	assert_int_equal(wanted__add(&w, any_file(), &mark, false), 1);
	assert_int_equal(wanted__add(&w, any_file(), &mark, false), 2);
	assert_int_equal(wanted__add(&w, any_file(), &mark, true), 3);
	assert_int_equal(wanted__add(&w, any_file(), &mark, false), 4);
	wanted__hasten(&w, 4);
	wanted__hasten(&w, 5);
	assert_int_equal(taken(&w), 4);
	assert_int_equal(taken(&w), 3);
	assert_int_equal(taken(&w), 1);
	assert_int_equal(taken(&w), 2);
	assert_int_equal(taken(&w), 0);
	for (i = 0; i < WANTED_MOST; i++)
		assert_int_equal(wanted__add(&w, any_file(), &mark, false), 5 + i);
	assert_int_equal(wanted__add(&w, any_file(), &mark, true), 0);
	wanted__free(&w);
	assert_int_equal(w.n, 0);
}

/* Descriptors are left for the other files that a run opens. */
static void few_descriptors(void **state)
{
	struct rlimit usual, few;
	struct wanted_files w;
	int fd = any_file(), n = 0, last;
	u32 mark = 0;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
	few = (struct rlimit){ fd + 10 + DESCRIPTORS_LEFT, usual.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	wanted__init(&w);
	while (wanted__add(&w, any_file(), &mark, false))
		n++;
	assert_true(n > 0);
	close(last = any_file());
	assert_int_equal(last, fd + 10);
	wanted__free(&w);
	/* All descriptors, or more than there are, must be left. */
	few.rlim_cur = DESCRIPTORS_LEFT;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	wanted__init(&w);
	assert_int_equal(wanted__add(&w, any_file(), &mark, true), 0);
	wanted__free(&w);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
	close(fd);
}

/* Every process comes once, this one too, by CPU time per age; kernel threads (the first is 2) do not come. */
static void processes(void **state)
{
	u64 end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 50 * NSEC_PER_MSEC;
	u32 pid, self = getpid(), seen = 0;
	struct sweep s;
	size_t i;

	(void)state;
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
		;
	assert_int_equal(sweep__begin(&s), 0);
	while (sweep__step(&s, &pid))
		seen += pid == self;
	assert_int_equal(seen, 1);
	assert_true(s.n && s.given == s.n);
	for (i = 0; i < s.n; i++) {
		assert_true(!i || s.process[i].share <= s.process[i - 1].share);
		if (s.process[i].pid == self)
			assert_true(s.process[i].share > 0);
	}
	assert_false(sweep__step(&s, &pid));
	sweep__end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(lacked_files),
		cmocka_unit_test(few_descriptors),
		cmocka_unit_test(processes),
	};

	return cmocka_run_group_tests_name("unwind order", tests, NULL, NULL);
}
