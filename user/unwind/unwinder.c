// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwinder.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "agg/variable.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/numbers.h"
#include "report/diag.h"

/*
 * Values of a file's mark: not read, no table, MARK_NUMBERS plus the file's number, or its token with the bit
 * MARK_WANTED set.
 */
enum { MARK_NONE, MARK_SILENT, MARK_NUMBERS };
#define MARK_WANTED (1U << 31)

/* Time slice for work, and the pause after it. */
#define PIECE_NS (2 * NSEC_PER_MSEC)
#define PAUSE_NS NSEC_PER_MSEC
/* Retry delays: for processes seen too recently, and for files that are still being read. */
#define PUT_OFF_NS (2 * NSEC_PER_MSEC)
#define LATE_NS (100 * NSEC_PER_MSEC)

/* The sweep pauses while this many files are queued. */
#define SWEEP_WAITING 32

static int open_events(struct unwinder *u)
{
	struct epoll_event event = { .events = EPOLLIN };

	u->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	u->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (u->epoll_fd < 0 || u->timer_fd < 0 ||
	    epoll_ctl(u->epoll_fd, EPOLL_CTL_ADD, u->timer_fd, &event))
		return -errno;
	return 0;
}

int unwinder__init(struct unwinder *u, const struct unwind_maps *maps, struct symbols *symbols)
{
	int err;

	memset(u, 0, sizeof(*u));
	u->symbols = symbols;
	u->began_ns = monotonic_ns();
	wanted__init(&u->wanted);
	err = open_events(u);
	if (!err)
		err = unwind_tables__init(&u->tables, maps, UNWIND_BUDGET);
	return err ?: unwind_spaces__init(&u->spaces, maps->spaces, maps->mappings);
}

int unwinder__begin(struct unwinder *u, const struct bpf_object *obj, struct symbols *symbols)
{
	const struct unwind_maps maps = {
		.rules = bpf_object__find_map_fd_by_name(obj, "unwind_rules"),
		.files = bpf_object__find_map_fd_by_name(obj, "unwind_files"),
		.slabs = bpf_object__find_map_fd_by_name(obj, "unwind_slabs"),
		.found = bpf_object__find_map_fd_by_name(obj, "unwind_found"),
		.mappings = bpf_object__find_map_fd_by_name(obj, "unwind_mappings"),
		.spaces = bpf_object__find_map_fd_by_name(obj, "unwind_spaces"),
	};
	int err;

	if (maps.rules < 0 || maps.files < 0 || maps.slabs < 0 || maps.found < 0 ||
	    maps.mappings < 0 || maps.spaces < 0)
		return -ENOENT;
	err = unwinder__init(u, &maps, symbols);
	u->wanted.lacks = object_variable(obj, ".bss", "unwind_lacks");
	return err;
}

/*
 * --- processes ---------------------------------------------------------------------------------
 */

/* Fills in a mapping of a file that has been read, at an offset in the file. */
static void place(const struct unwinder *u, struct unwind_mapping *m, u32 number, u64 offset)
{
	u64 bias;

	if (unwind_tables__bias(&u->tables, number, m->start, offset, &bias))
		return;
	m->bias = bias;
	__atomic_store_n(&m->file, number, __ATOMIC_RELEASE);
}

/* Queues the file for reading, if it can be opened. */
static u32 want(struct unwinder *u, const struct symbols_code *code)
{
	int fd = symbols__open_code(u->symbols, u->pid, code);
	u32 token = fd < 0 ? 0 : wanted__add(&u->wanted, fd, code->mark, u->soon);

	if (!token)
		return UNWIND_UNSEEN;
	*code->mark = MARK_WANTED | token;
	return token;
}

static void find_file(struct unwinder *u, const struct symbols_code *code, struct unwind_mapping *m)
{
	u32 mark = code->mark ? *code->mark : MARK_SILENT;

	if (!code->mark) {
		m->token = UNWIND_UNSEEN;
	} else if (mark & MARK_WANTED) {
		m->token = mark & ~MARK_WANTED;
		if (u->soon)
			wanted__hasten(&u->wanted, m->token);
	} else if (mark >= MARK_NUMBERS) {
		place(u, m, mark - MARK_NUMBERS, code->offset);
	} else if (mark == MARK_NONE) {
		m->token = want(u, code);
	}
	if (m->token)
		m->bias = code->offset;
}

static int add_mapping(struct unwinder *u, const struct unwind_mapping *m)
{
	if (ARRAY_RESERVE(u->mapping, u->room, u->n + 1))
		return -ENOMEM;
	u->mapping[u->n++] = *m;
	return 0;
}

/* Also adds code of files without tables: addresses outside all mappings are not accepted as callers. */
static int take_code(void *arg, const struct symbols_code *code)
{
	struct unwind_mapping m = { .start = code->start, .end = code->end, .file = UNWIND_NO_FILE };
	struct unwinder *u = arg;

	find_file(u, code, &m);
	return add_mapping(u, &m);
}

/*
 * For processes covered by records, reads only the stamp, since the records are complete. The stamp must not be that
 * of a program whose records have not arrived: walks would not find its code in the recorded mappings.
 */
static int see(struct unwinder *u, u32 pid, bool soon)
{
	struct process_stamp stamp;
	int err = symbols__see_again(u->symbols, pid, u->told_all);

	if (!err)
		err = u->told_all ? process_stamp__read(&stamp, pid) :
				    symbols__stamp(u->symbols, pid, &stamp);
	if (err || unwind_spaces__has(&u->spaces, pid, &stamp))
		return err;
	u->pid = pid;
	u->soon = soon;
	u->n = 0;
	err = symbols__each_code(u->symbols, pid, take_code, u);
	if (!err)
		err = unwind_spaces__put(&u->spaces, pid, &stamp, u->mapping, u->n);
	unwind_spaces__sweep(&u->spaces);
	return err;
}

static int see_and_note(struct unwinder *u, u32 pid, bool soon)
{
	u64 start = monotonic_ns();
	int err = see(u, pid, soon);

	unwind_spaces__note_seen(&u->spaces, pid, monotonic_ns(), monotonic_ns() - start);
	return err;
}

int unwinder__see(struct unwinder *u, u32 pid)
{
	return see_and_note(u, pid, true);
}

int unwinder__expect(struct unwinder *u, int fd, const struct stat *st)
{
	int own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	u32 *mark, token = 0;
	int err = symbols__expect(u->symbols, fd, st, &mark);

	if (own_fd < 0)
		return err;
	if (err || *mark != MARK_NONE) {
		close(own_fd);
		return err;
	}
	token = wanted__add(&u->wanted, own_fd, mark, true);
	if (token)
		*mark = MARK_WANTED | token;
	return 0;
}

bool unwinder__is_walked_by_frame_pointers(const struct unwinder *u, u32 mark, u64 address)
{
	const struct unwind_rule *r;

	if (mark == MARK_SILENT)
		return true;
	if (mark == MARK_NONE || mark & MARK_WANTED)
		return false;
	if (unwind_tables__find(&u->tables, mark - MARK_NUMBERS, address, &r))
		return false;
	if (!r || r->cfa == UNWIND_UNKNOWN)
		return true;
	return r->cfa == UNWIND_FP && r->fp == UNWIND_FP_AT_CFA && r->offset + r->fp_offset == 0 &&
	       r->ra_offset == r->fp_offset + 8;
}

bool unwinder__is_without_table(u32 mark)
{
	return mark == MARK_SILENT;
}

void unwinder__follow(struct unwinder *u, u32 pid)
{
	u->follows = true;
	u->only = pid;
}

int unwinder__changed(struct unwinder *u, u32 pid)
{
	bool known;

	if (!unwind_spaces__may_see(&u->spaces, pid, monotonic_ns(), &known)) {
		u->puts_off = true;
		return -EAGAIN;
	}
	if (u->follows && !known && pid != u->only)
		return 0;
	return unwinder__see(u, pid) == -ENOMEM ? -ENOMEM : 0;
}

int unwinder__forked(struct unwinder *u, u32 pid, u32 parent)
{
	return unwind_spaces__fork(&u->spaces, pid, parent);
}

int unwinder__see_all(struct unwinder *u)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	u64 pid;
	int err = 0;

	u->tables.shares = true;
	if (!proc)
		return errno == ENOMEM ? -ENOMEM : 0;
	while (err != -ENOMEM && (entry = readdir(proc))) {
		if (parse_u64_between(entry->d_name, 1, UINT32_MAX, &pid))
			continue;
		err = see_and_note(u, pid, false);
		if (err != -ENOMEM)
			err = unwinder__finish(u, UINT64_MAX);
	}
	closedir(proc);
	return err == -ENOMEM ? err : 0;
}

/*
 * --- work --------------------------------------------------------------------------------------
 */

struct settling {
	const struct unwinder *unwinder;
	u32 number;
};

static void settle(void *arg, struct unwind_mapping *m)
{
	const struct settling *with = arg;
	u64 offset = m->bias;

	m->bias = 0;
	if (with->number != UNWIND_NO_FILE)
		place(with->unwinder, m, with->number, offset);
	__atomic_store_n(&m->token, 0, __ATOMIC_RELEASE);
}

static void let_file_go(struct unwinder_reader *r)
{
	if (!r->file)
		return;
	confined__drop(&r->job);
	close(r->file->fd);
	free(r->file);
	r->file = NULL;
}

/*
 * Limits the number of readers of large files, so that the C library, which all processes need, does not wait for
 * all of them.
 */
#define LARGE_BYTES (8 << 20)
#define LARGE_READERS 4

static u64 most_bytes(const struct unwinder *u)
{
	int i, large = 0;

	for (i = 0; i < UNWINDER_READERS; i++)
		large += u->reader[i].file && u->reader[i].file->size > LARGE_BYTES;
	return large < LARGE_READERS ? UINT64_MAX : LARGE_BYTES;
}

/* If owners have shares, files that root does not own must not occupy all readers. */
#define USERS_READERS 4

static bool may_read_users(const struct unwinder *u)
{
	int i, users = 0;

	for (i = 0; i < UNWINDER_READERS; i++)
		users += u->reader[i].file && u->reader[i].file->uid;
	return !u->tables.shares || users < USERS_READERS;
}

static void hurry(struct unwinder *u, bool now)
{
	int before;

	now = now && monotonic_ns() - u->began_ns < UNWINDER_HURRY_NS;
	if (now == u->hurries)
		return;
	if (!now) {
		setpriority(PRIO_PROCESS, 0, u->nice_before);
		u->hurries = false;
		return;
	}
	errno = 0;
	before = getpriority(PRIO_PROCESS, 0);
	if (errno || before <= UNWINDER_NICE || setpriority(PRIO_PROCESS, 0, UNWINDER_NICE))
		return;
	u->nice_before = before;
	u->hurries = true;
}

/* The answer's descriptor is closed at the end, which also removes it from the epoll set. */
static int begin_file(struct unwinder *u, struct unwinder_reader *r)
{
	struct epoll_event event = { .events = EPOLLIN };
	int err;

	r->file = wanted__take(&u->wanted, most_bytes(u), may_read_users(u));
	if (!r->file)
		return 0;
	hurry(u, true);
	err = unwind_tables__begin(&u->tables, &r->job, r->file->fd);
	if (!err && r->job.pid)
		epoll_ctl(u->epoll_fd, EPOLL_CTL_ADD, r->job.answer_fd, &event);
	return err;
}

static int take_file(struct unwinder *u, struct unwinder_reader *r)
{
	struct settling with = { .unwinder = u };
	int err = unwind_tables__take(&u->tables, &r->job, r->file->fd, &with.number);

	if (err)
		return err == -EAGAIN ? 0 : err;
	if (with.number != UNWIND_NO_FILE)
		unwind_tables__announce(&u->tables, with.number, r->file->fd);
	*r->file->mark = with.number == UNWIND_NO_FILE ? MARK_SILENT : with.number + MARK_NUMBERS;
	unwind_spaces__settle(&u->spaces, r->file->token, settle, &with);
	let_file_go(r);
	return 0;
}

/* Takes finished files, and starts as many readers as possible. */
static int read_files(struct unwinder *u)
{
	struct unwinder_reader *r;
	int err = 0;

	for (r = u->reader; r < u->reader + UNWINDER_READERS && !err; r++) {
		if (r->file)
			err = take_file(u, r);
		if (!err && !r->file)
			err = begin_file(u, r);
	}
	return err;
}

static bool is_reading(const struct unwinder *u)
{
	int i;

	for (i = 0; i < UNWINDER_READERS; i++)
		if (u->reader[i].file)
			return true;
	return false;
}

static bool may_sweep(const struct unwinder *u)
{
	return u->sweeps && u->wanted.n < SWEEP_WAITING;
}

static int sweep(struct unwinder *u)
{
	u32 pid = 0;
	int err;

	if (u->wanted.last_token >= UNWINDER_SWEEP_FILES || u->spaces.refused ||
	    !sweep__step(&u->sweep, &pid)) {
		u->sweeps = false;
		sweep__end(&u->sweep);
	}
	err = pid ? see_and_note(u, pid, false) : 0;
	return err == -ENOMEM ? err : 0;
}

static bool has_work(const struct unwinder *u)
{
	return u->sweeps || is_reading(u) || u->wanted.n;
}

static u64 pause_ns(const struct unwinder *u)
{
	if (may_sweep(u))
		return PAUSE_NS;
	if (u->puts_off)
		return PUT_OFF_NS;
	return has_work(u) ? LATE_NS : 0;
}

static void set_timer(struct unwinder *u)
{
	const struct itimerspec at = { .it_value = { .tv_nsec = pause_ns(u) } };

	u->puts_off = false;
	/* Also clears a pending expiration. */
	timerfd_settime(u->timer_fd, 0, &at, NULL);
}

int unwinder__work(struct unwinder *u)
{
	u64 end_ns = monotonic_ns() + PIECE_NS;
	int err = read_files(u);

	while (!err && may_sweep(u) && monotonic_ns() < end_ns) {
		err = sweep(u);
		if (!err)
			err = read_files(u);
	}
	hurry(u, is_reading(u) || u->wanted.n);
	set_timer(u);
	return err;
}

int unwinder__finish(struct unwinder *u, u64 end_ns)
{
	int err = 0, ended = 0;

	while (!err && ended != -EINTR && has_work(u) && monotonic_ns() < end_ns) {
		err = unwinder__work(u);
		if (!err && has_work(u))
			ended = confined__wait(u->epoll_fd, may_sweep(u) ? 0 : end_ns);
	}
	return err;
}

int unwinder__sweep_all(struct unwinder *u)
{
	u->sweeps = true;
	u->tables.shares = true;
	return sweep__begin(&u->sweep);
}

/*
 * --- side-band records -------------------------------------------------------------------------
 */

static void tell(const struct unwinder *u)
{
	const struct unwind_counts *c = &u->tables.counts;

	diag_detail("unwind tables: %llu files (%llu without, %llu unreadable), %llu rows, %u rules, %.1f MiB of at "
		    "most %llu, read in %.0f ms; %llu rows unsupported; %llu processes",
		    c->files, c->silent, c->unread, c->rows, u->tables.rules->n,
		    c->words / (1024 * 1024 / 4.0), UNWIND_BUDGET >> 20, c->time_ns / 1e6,
		    c->unsupported, u->spaces.nknown);
	if (c->refused)
		diag_warn("no room for the unwind tables of %llu files: stacks through their code are walked by "
			  "frame pointers", c->refused);
	if (u->spaces.refused)
		diag_warn("no room for the mappings of a process %llu times: its stacks are walked by frame pointers",
			  u->spaces.refused);
}

void unwinder__end(struct unwinder *u)
{
	int i;

	hurry(u, false);
	if (u->tables.rules)
		tell(u);
	if (u->symbols && u->epoll_fd >= 0)
		close(u->epoll_fd);
	if (u->symbols && u->timer_fd >= 0)
		close(u->timer_fd);
	for (i = 0; i < UNWINDER_READERS; i++)
		let_file_go(&u->reader[i]);
	if (u->symbols)
		wanted__free(&u->wanted);
	sweep__end(&u->sweep);
	unwind_tables__free(&u->tables);
	unwind_spaces__free(&u->spaces);
	free(u->mapping);
	memset(u, 0, sizeof(*u));
}
