// SPDX-License-Identifier: BSD-2-Clause
/* Texts of the kernel's files as vitals read them: correct, hostile and truncated ones. */
#include "unit.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "host/disk_name.h"
#include "machine/vitals/vital.h"

static bool number_is(const char *text, enum vital_form form, const char *key, u32 nth, u64 expected)
{
	const struct vital_figure f = { .key = key, .nth = nth };
	u64 value = 12345;

	return vital_text__number(text, form, &f, VITAL_NUMBER, &value) && value == expected;
}

static bool is_absent(const char *text, enum vital_form form, const char *key, u32 nth)
{
	const struct vital_figure f = { .key = key, .nth = nth };
	u64 value = 12345;

	return !vital_text__number(text, form, &f, VITAL_NUMBER, &value) && value == 12345;
}

static void lines(void **state)
{
	static const char meminfo[] = "MemTotal:       24684092 kB\nMemFree:  7 kB\nDirtyX: 5 kB\nDirty:  0 kB\n";

	(void)state;
	assert_true(number_is(meminfo, VITAL_LINES, "MemTotal", 0, 24684092));
	assert_true(number_is(meminfo, VITAL_LINES, "Dirty", 0, 0));
	assert_true(is_absent(meminfo, VITAL_LINES, "Mem", 0));
	assert_true(number_is("cpu  1 2 3\ncpu0 4 5 6\n", VITAL_LINES, "cpu", 2, 3));
	assert_true(is_absent("cpu  1 2 3\ncpu0 4 5 6\n", VITAL_LINES, "cpu", 3));
	assert_true(number_is("636\t0\t2466177\n", VITAL_LINES, NULL, 2, 2466177));
	assert_true(number_is("0.51 0.2 0.1 3/118 9001\n", VITAL_LINES, NULL, 4, 118));
	assert_true(number_is("sockets: used 9\nTCP: inuse 1 orphan 2 tw 3 mem 5\n", VITAL_LINES, "TCP tw", 0, 3));
	assert_true(number_is("some avg10=0.00 total=7\nfull avg10=0.00 total=8\n", VITAL_LINES, "full total", 0, 8));
	assert_true(is_absent("some avg10=0.00 total=7\n", VITAL_LINES, "full total", 0));
	assert_true(is_absent("TCP: inuse 1\n", VITAL_LINES, "TCP tw", 0));
}

static void pairs(void **state)
{
	static const char snmp[] =
		"Ip: A B\nIp: 1 2\nTcp: MaxConn RetransSegs OutSegs\nTcp: -1 5 6\nTcpX: A\nTcpX: 9\n";

	(void)state;
	assert_true(number_is(snmp, VITAL_PAIRS, "Tcp RetransSegs", 0, 5));
	assert_true(number_is(snmp, VITAL_PAIRS, "Tcp OutSegs", 0, 6));
	assert_true(is_absent(snmp, VITAL_PAIRS, "Tcp MaxConn", 0));
	assert_true(is_absent(snmp, VITAL_PAIRS, "Tcp A", 0));
	assert_true(is_absent("Tcp: A B\n", VITAL_PAIRS, "Tcp A", 0));
	assert_true(is_absent("Tcp: A B\nTcp: 1\n", VITAL_PAIRS, "Tcp B", 0));
}

/* A number that is not complete is none. */
static void wrong_numbers(void **state)
{
	static const char *const wrong[] = {
		"", "\n", "key", "key\n", "key:", "key: \n", "key: -1\n", "key: 1x\n", "key: 0x10\n", "key: +1\n",
		"key: 12",
		"key: 18446744073709551616\n", "key: 99999999999999999999999999\n", "xkey 1\n", "key\n1\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_true(is_absent(wrong[i], VITAL_LINES, "key", 0));
		assert_true(is_absent(wrong[i], VITAL_PAIRS, "key a", 0));
	}
	assert_true(number_is("key: 18446744073709551615\n", VITAL_LINES, "key", 0, UINT64_MAX));
}

static const char *text_of[VITAL_FILES];

/* The value of a vital in the texts above; -1: no reading. */
static s64 value_of(const char *area, const char *name, u64 *limit, u64 *whole)
{
	char *text[VITAL_FILES];
	u64 at_ns[VITAL_FILES] = {};
	struct readings r = {};
	s64 value = -1;
	size_t i;

	for (i = 0; i < VITAL_FILES; i++)
		text[i] = (char *)text_of[i];
	assert_int_equal(vital_texts__read(&r, text, at_ns), 0);
	for (i = 0; i < r.n; i++) {
		const struct reading *one = &r.reading[i];

		if (strcmp(vitals[one->vital].area, area) || strcmp(vitals[one->vital].name, name))
			continue;
		assert_string_equal(one->object, "-");
		value = one->value;
		*limit = one->has_limit ? one->limit : 0;
		*whole = one->has_whole ? one->whole : 0;
	}
	readings__free(&r);
	return value;
}

static void of_files(void **state)
{
	u64 limit, whole;

	(void)state;
	memset(text_of, 0, sizeof(text_of));
	assert_int_equal(value_of("memory", "used", &limit, &whole), -1);
	text_of[VITAL_MEMINFO] = "MemTotal: 100 kB\nMemAvailable: 60 kB\nSwapTotal: 5 kB\nSwapFree: 6 kB\n";
	assert_int_equal(value_of("memory", "used", &limit, &whole), 40 << 10);
	assert_int_equal(limit, 100 << 10);
	/* If more is free than there is, there is no reading, and no huge number. */
	assert_int_equal(value_of("memory", "swap_used", &limit, &whole), -1);
	assert_int_equal(value_of("memory", "dirty", &limit, &whole), -1);
	text_of[VITAL_FILE_NR] = "640 40 2000\n";
	assert_int_equal(value_of("files", "descriptors", &limit, &whole), 600);
	assert_int_equal(limit, 2000);
	text_of[VITAL_STAT] = "cpu  1 2 3 4 5 6 7 8 9 10\nprocs_running 2\n";
	assert_int_equal(value_of("cpu", "steal", &limit, &whole), 80000000);
	assert_int_equal(whole, 360000000);
	text_of[VITAL_LOADAVG] = "1.25 0.20 0.10 3/118 9001\n";
	assert_int_equal(value_of("cpu", "load", &limit, &whole), 125);
	text_of[VITAL_LOADAVG] = "1.2 0.20 0.10 3/118 9001\n";
	assert_int_equal(value_of("cpu", "load", &limit, &whole), -1);
}

/*
 * --- lists --------------------------------------------------------------------------------------
 */

static bool any_disk(const char *name)
{
	return strcmp(name, "vda1") != 0;
}

static u64 speed(const char *name)
{
	return strcmp(name, "eth0") ? 0 : 125000000;
}

static const struct reading *find(const struct readings *r, u32 vital, const char *object)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->reading[i].vital == vital && !strcmp(r->reading[i].object, object))
			return &r->reading[i];
	return NULL;
}

static void disks(void **state)
{
	static const char text[] =
		" 254 0 vda 5 1 80 7 3 2 16 9 4 50 60 0 0 0 0 0 0\n"
		" 254 1 vda1 5 1 80 7 3 2 16 9 4 50 60 0 0 0 0 0 0\n"
		" 7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n"
		" 104 0 cciss/c0d0 1 0 8 1 0 0 0 0 0 1 1\n"
		" 8 0 short 1 2 3\n x y z\n\n 8 16 cut 5 1 80 7 3 2 16 9 4 50 6";
	struct readings r = {};

	(void)state;
	assert_int_equal(vital_disks__parse(&r, text, 7, any_disk), 0);
	assert_int_equal(r.n, 8);
	assert_int_equal(find(&r, VITAL_DISK_BUSY, "vda")->value, 50000000);
	assert_int_equal(find(&r, VITAL_DISK_IN_FLIGHT, "vda")->value, 4);
	assert_int_equal(find(&r, VITAL_DISK_READ, "vda")->value, 80 * 512);
	assert_int_equal(find(&r, VITAL_DISK_WRITTEN, "vda")->value, 16 * 512);
	assert_int_equal(find(&r, VITAL_DISK_READ, "cciss/c0d0")->value, 8 * 512);
	readings__free(&r);
}

static void interfaces(void **state)
{
	static const char text[] =
		"Inter-|   Receive                |  Transmit\n face |bytes    packets errs drop fifo frame\n"
		"  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n eth0:1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
		"  bad: 1 2 3\n  :\n  cut: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 1";
	struct readings r = {};

	(void)state;
	assert_int_equal(vital_interfaces__parse(&r, text, NSEC_PER_SEC, speed), 0);
	assert_int_equal(r.n, 12);
	assert_int_equal(find(&r, VITAL_NET_RX, "eth0")->value, 1);
	assert_int_equal(find(&r, VITAL_NET_RX, "eth0")->whole, 125000000);
	assert_int_equal(find(&r, VITAL_NET_RX_ERRORS, "eth0")->value, 3);
	assert_int_equal(find(&r, VITAL_NET_RX_DROPS, "eth0")->value, 4);
	assert_int_equal(find(&r, VITAL_NET_TX, "eth0")->value, 9);
	assert_int_equal(find(&r, VITAL_NET_TX_ERRORS, "eth0")->value, 11);
	assert_int_equal(find(&r, VITAL_NET_TX_DROPS, "eth0")->value, 12);
	assert_false(find(&r, VITAL_NET_RX, "eth0:1")->has_whole);
	readings__free(&r);
}

static const char *name_disk(u32 disk, char *name)
{
	snprintf(name, DISK_NAME_SPACE, "d%u.%u", disk >> DISK_MINOR_BITS, disk & ((1 << DISK_MINOR_BITS) - 1));
	return name;
}

/* io.max and io.stat name devices in any order; "max" is no limit; a truncated number is none. */
static void io_limits(void **state)
{
	struct vital_io io = {
		.cgroup = 7, .path = "/a b", .at_ns = 3 * NSEC_PER_SEC, .name_disk = name_disk,
		.limits = "8:16 rbps=max wbps=1000 riops=max wiops=120\n8:0 rbps=500 wbps=0 riops=x wiops=\n"
			  "9:9 rbps=5 wbps=5 riops=5 wiops=5\nnonsense\n8:1 rbps=7",
		.stat = "8:1 rbytes=9\n8:0 rbytes=11 wbytes=12 rios=13 wios=14 dbytes=0 dios=0\n"
			"8:16 cost.usage=1 rbytes=21 wbytes=22 rios=23 wios=24",
	};
	struct readings r = {};

	(void)state;
	assert_int_equal(vital_io_limits__parse(&r, &io), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(find(&r, VITAL_CGROUP_IO_WBPS, "/a b d8.16")->value, 22);
	assert_int_equal(find(&r, VITAL_CGROUP_IO_WBPS, "/a b d8.16")->limit, 1000);
	assert_int_equal(find(&r, VITAL_CGROUP_IO_WBPS, "/a b d8.16")->whole, 3000);
	assert_int_equal(find(&r, VITAL_CGROUP_IO_RBPS, "/a b d8.0")->value, 11);
	assert_int_equal(find(&r, VITAL_CGROUP_IO_RBPS, "/a b d8.0")->whole, 1500);
	readings__free(&r);
	io.stat = "";
	assert_int_equal(vital_io_limits__parse(&r, &io), 0);
	assert_int_equal(r.n, 0);
}

static void softnet(void **state)
{
	struct readings r = {};

	(void)state;
	assert_int_equal(vital_softnet__parse(&r, "00000001 00000002 00000010 0\n1 1 00000001 0\nff", 7), 0);
	assert_int_equal(find(&r, VITAL_SOFTNET_DROPS, "-")->value, 3);
	assert_int_equal(find(&r, VITAL_SOFTNET_SQUEEZES, "-")->value, 17);
	readings__free(&r);
	assert_int_equal(vital_softnet__parse(&r, "nonsense\n", 7), 0);
	assert_int_equal(r.n, 0);
}

static bool mount_is(const char *line, const char *path, bool is_read_only)
{
	char *copy = strdup(line);
	struct vital_mount m;
	bool is = vital_mount__parse(&m, copy) && path && !strcmp(m.path, path) && m.is_read_only == is_read_only;

	free(copy);
	return is;
}

static void mounts(void **state)
{
	(void)state;
	assert_true(mount_is("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard", "/", false));
	assert_true(mount_is("27 1 254:0 / /a\\040b\\134 rw shared:1 master:2 - xfs /dev/vda ro", "/a b\\", true));
	/* This mount is read-only, the file system is not. */
	assert_true(mount_is("27 1 254:0 / /x ro - ext4 /dev/vda rw", "/x", false));
	assert_true(mount_is("27 1 254:0 / /x rw - ext4 /dev/vda errors=remount-ro,rw", "/x", false));
	assert_true(mount_is("25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw,size=1k", "/dev/shm", false));
	/* File systems of servers, and others that are not on a disk. */
	assert_false(mount_is("27 1 0:50 / /nfs rw - nfs4 host:/x rw", "/nfs", false));
	assert_false(mount_is("27 1 0:50 / /f rw - fuse.sshfs host:/x rw", "/f", false));
	assert_false(mount_is("27 1 8:1 / /f rw - fuseblk /dev/sda1 rw", "/f", false));
	assert_false(mount_is("22 27 0:21 / /proc rw - proc proc rw", "/proc", false));
	/* Truncated lines, and other text. */
	assert_false(mount_is("27 1 254:0 / /x rw - ext4 /dev/vda", "/x", false));
	assert_false(mount_is("27 1 254:0 / rw - ext4", "/x", false));
	assert_false(mount_is("27 1 254:0", "/x", false));
	assert_false(mount_is(" - ", "/x", false));
	assert_false(mount_is("", "/x", false));
}

static void messages(void **state)
{
	static const struct {
		enum vital_message kind;
		const char *record;
	} known[] = {
		{ MESSAGE_OOM, "3,1,2,-;Memory cgroup out of memory: Killed process 7 (x) total-vm:1kB\n" },
		{ MESSAGE_OOM, "3,1,2,-,caller=T1;Out of memory: Killed process 7 (x)\n SUBSYSTEM=a\n" },
		{ MESSAGE_IO, "3,1,2,-;I/O error, dev loop0, sector 8 op 0x0:(READ) flags 0x0\n" },
		{ MESSAGE_IO, "3,1,2,-;blk_update_request: I/O error, dev loop0, sector 8\n" },
		{ MESSAGE_READ_ONLY, "2,1,2,-;EXT4-fs (loop0): Remounting filesystem read-only\n" },
		{ MESSAGE_FS, "2,1,2,-;EXT4-fs error (device loop0): ext4_find_entry:1: inode #2\n" },
		{ MESSAGE_HUNG, "3,1,2,-;INFO: task x:7 blocked for more than 120 seconds.\n" },
		{ MESSAGE_LOCKUP, "0,1,2,-;watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [x:7]\n" },
		{ MESSAGE_CLOCK, "4,1,2,-;clocksource: watchdog on CPU0: Marking clocksource 'tsc' as unstable\n" },
		/* A process wrote this one, so it has another facility. */
		{ MESSAGE_OTHER, "11,1,2,-;Out of memory: Killed process 7 (x)\n" },
		/* A line about a process whose name is chosen to deceive. */
		{ MESSAGE_OTHER, "6,1,2,-;x[7]: segfault I/O error, dev sda\n" },
		{ MESSAGE_OTHER, "6,1,2,-;anything\n Out of memory: Killed process 7\n" },
		{ MESSAGE_OTHER, "Out of memory: Killed process 7\n" },
		{ MESSAGE_OTHER, "x;Out of memory: Killed process 7\n" },
		{ MESSAGE_OTHER, ";" },
		{ MESSAGE_OTHER, "" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(known); i++)
		assert_int_equal(vital_message__parse(known[i].record), known[i].kind);
}

/*
 * --- changes ------------------------------------------------------------------------------------
 */

static void changes(void **state)
{
	struct reading before = { .vital = VITAL_NET_RX, .value = 100, .whole = 1000, .has_whole = true, .limit = 5,
				  .at_ns = 1 };
	struct reading now = { .vital = VITAL_NET_RX, .value = 150, .whole = 1200, .has_whole = true, .limit = 5,
			       .at_ns = 11 };
	struct vital_change c = vital_change(&before, &now, false);

	(void)state;
	assert_true(c.has_count && !c.has_level && c.has_whole);
	assert_int_equal(c.count, 50);
	assert_int_equal(c.elapsed_ns, 10);
	assert_true(vital_of_whole(&c) == 25);
	/* The speed of the link has changed. */
	now.limit = 6;
	c = vital_change(&before, &now, false);
	assert_true(c.has_count && !c.has_whole && vital_of_whole(&c) < 0);
	/* The change of a figure that went backwards or was not there is unknown; a new figure began at 0. */
	now.value = 99;
	assert_false(vital_change(&before, &now, false).has_count);
	assert_false(vital_change(NULL, &now, false).has_count);
	assert_int_equal(vital_change(NULL, &now, true).count, 99);
}

static void findings(void **state)
{
	struct reading was = { .vital = VITAL_FS_READ_ONLY }, is = { .vital = VITAL_FS_READ_ONLY, .value = 1 };
	struct reading full = { .vital = VITAL_FS_USED, .value = 95, .limit = 100, .has_limit = true };
	struct vital_change c = vital_change(&was, &is, false);

	(void)state;
	assert_true(vital_is_finding(&c));
	assert_int_equal(c.count, 1);
	c = vital_change(&is, &is, false);
	assert_false(vital_is_finding(&c));
	c = vital_change(&is, &was, false);
	assert_false(vital_is_finding(&c));
	c = vital_change(NULL, &is, false);
	assert_false(vital_is_finding(&c));
	c = vital_change(NULL, &full, false);
	assert_true(vital_is_finding(&c));
	full.value = 94;
	c = vital_change(NULL, &full, false);
	assert_false(vital_is_finding(&c));
	full.limit = 0;
	c = vital_change(NULL, &full, false);
	assert_true(vital_of_limit(&c) < 0 && !vital_is_finding(&c));
}

/* A file of many megabytes, and one line without an end. */
static void huge(void **state)
{
	size_t n = 8 << 20, i;
	char *text = malloc(n + 1);
	struct readings r = {};

	(void)state;
	for (i = 0; i < n; i++)
		text[i] = i % 16 == 15 ? '\n' : i % 16 == 7 ? ' ' : '1';
	text[n] = 0;
	assert_true(is_absent(text, VITAL_LINES, "cpu", 0));
	assert_true(is_absent(text, VITAL_PAIRS, "Tcp OutSegs", 0));
	assert_int_equal(vital_disks__parse(&r, text, 7, any_disk), 0);
	assert_int_equal(vital_interfaces__parse(&r, text, 7, speed), 0);
	memset(text, '1', n);
	assert_true(is_absent(text, VITAL_LINES, NULL, 0));
	assert_int_equal(vital_disks__parse(&r, text, 7, any_disk), 0);
	assert_int_equal(vital_interfaces__parse(&r, text, 7, speed), 0);
	assert_int_equal(r.n, 0);
	free(text);
}

/*
 * --- processes ----------------------------------------------------------------------------------
 */

#define LIMIT 512

/* Starts a process that opens all the files it may, closes some among them, and waits for the end of a pipe. */
static pid_t open_files(int *hold, u64 *open_now)
{
	const struct rlimit limit = { LIMIT, LIMIT };
	int ready[2], stay[2], fd;
	pid_t pid;

	assert_false(pipe(ready) || pipe(stay));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		u64 n = LIMIT;

		close(stay[1]);
		setrlimit(RLIMIT_NOFILE, &limit);
		while (dup(0) >= 0)
			;
		for (fd = 64; fd < LIMIT; fd += 16, n--)
			close(fd);
		_exit(write(ready[1], &n, sizeof(n)) < 0 || read(stay[0], &n, 1) < 0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], open_now, sizeof(*open_now)), sizeof(*open_now));
	close(ready[0]);
	close(stay[0]);
	*hold = stay[1];
	return pid;
}

static u64 files_of(struct vital_processes *nearest, pid_t pid, bool sizes, u64 *limit)
{
	struct readings r = {};
	u64 value = 0;
	size_t i;

	assert_int_equal(vital_processes__read(nearest, &r, sizes), 0);
	assert_true(r.n <= VITAL_PROCESSES);
	for (i = 0; i < r.n; i++) {
		if (r.reading[i].id != (u64)pid)
			continue;
		value = r.reading[i].value;
		*limit = r.reading[i].limit;
	}
	readings__free(&r);
	return value;
}

/* Kernels before 6.2 do not say how many files a process has open, so the files are listed. */
static void processes(void **state)
{
	struct vital_processes nearest = {}, none = {};
	u64 open_now, limit = 0;
	int hold, status;
	pid_t pid;

	(void)state;
	/* All processes are looked at now, and not again for ten seconds. */
	files_of(&none, 1, false, &limit);
	pid = open_files(&hold, &open_now);
	assert_int_equal(open_now, LIMIT - (LIMIT - 64) / 16);
	assert_int_equal(files_of(&none, pid, false, &limit), 0);
	assert_int_equal(files_of(&nearest, pid, false, &limit), open_now);
	assert_int_equal(limit, LIMIT);
	assert_int_equal(files_of(&nearest, pid, false, &limit), open_now);
	if (vital_processes__have_sizes())
		assert_int_equal(files_of(&(struct vital_processes){}, pid, true, &limit), open_now);
	close(hold);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Each vital has names, and one of the ways to read it. */
static void table(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < vital_count; i++) {
		const struct vital *v = &vitals[i];

		assert_non_null(v->area);
		assert_non_null(v->name);
		assert_int_equal(v->value.file != VITAL_NO_FILE, i >= VITAL_LISTED);
		for (k = 0; k < i; k++)
			assert_false(!strcmp(v->area, vitals[k].area) && !strcmp(v->name, vitals[k].name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(pairs),
		cmocka_unit_test(wrong_numbers),
		cmocka_unit_test(of_files),
		cmocka_unit_test(disks),
		cmocka_unit_test(interfaces),
		cmocka_unit_test(io_limits),
		cmocka_unit_test(softnet),
		cmocka_unit_test(mounts),
		cmocka_unit_test(messages),
		cmocka_unit_test(changes),
		cmocka_unit_test(findings),
		cmocka_unit_test(huge),
		cmocka_unit_test(processes),
		cmocka_unit_test(table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
