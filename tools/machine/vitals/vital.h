/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vitals: figures of the machine that the kernel reports in files. A vital has an area ("memory"), a name ("used"), and
 * one reading for each of its objects (a disk, a cgroup, a file system). A gauge has a level, and often a limit. A
 * counter is reported as the difference of two readings, and as a share of a whole: of the elapsed time, or of the
 * bytes that a link could have carried.
 *
 * If a figure is missing from its file, is not a number, or went backwards, the vital has no reading. It is never
 * reported as 0.
 */
#ifndef TALLY_MACHINE_VITAL_H
#define TALLY_MACHINE_VITAL_H

#include "base/types.h"

enum vital_kind {
	VITAL_GAUGE,
	VITAL_COUNTER,
	VITAL_STATE,            /* a gauge of 0 or 1; its count is 1 if it became 1 */
};

enum vital_unit { VITAL_NUMBER, VITAL_BYTES, VITAL_NS, VITAL_HUNDREDTHS };

/* Files that describe one object each, and are read as a whole. */
enum vital_file {
	VITAL_NO_FILE,
	VITAL_STAT, VITAL_LOADAVG, VITAL_MEMINFO, VITAL_VMSTAT,
	VITAL_CPU_PRESSURE, VITAL_MEMORY_PRESSURE, VITAL_IO_PRESSURE, VITAL_IRQ_PRESSURE,
	VITAL_FILE_NR, VITAL_PID_MAX, VITAL_THREADS_MAX,
	VITAL_NETSTAT, VITAL_SNMP, VITAL_SNMP6, VITAL_SOCKSTAT, VITAL_MAX_TW, VITAL_MAX_ORPHANS, VITAL_TCP_MEM,
	VITAL_CONNTRACK_COUNT, VITAL_CONNTRACK_MAX,
	VITAL_FILES,
};

/* How to find a number in the text of such a file. */
enum vital_form {
	/*
	 * "key: 12 kB", "key 12 34": the line that begins with the key. "TCP orphan": the number after the second word
	 * in that line. "some total": total=12. Without a key: the first line. Both ':' and '/' separate words.
	 */
	VITAL_LINES,
	VITAL_PAIRS,            /* "TcpExt ListenDrops": a line of names, followed by a line of numbers */
};

struct vital_source {
	const char *path;
	enum vital_form form;
};

enum vital_scale { VITAL_ONE, VITAL_KIB, VITAL_PAGES, VITAL_TICKS, VITAL_US };

struct vital_figure {
	enum vital_file file;
	const char *key;
	u32 nth;                /* index of the number after the key, from 0 */
};

enum vital_whole { VITAL_NO_WHOLE, VITAL_ELAPSED, VITAL_CPU_TIME, VITAL_OF_FIGURE };

struct vital {
	const char *area, *name;
	enum vital_kind kind;
	enum vital_unit unit;
	bool is_main;           /* text shows it without --all */
	bool is_error;          /* any count is worth a word */
	u8 least;               /* percent of the whole: less has no row, where objects are many and most have some */
	u8 near;                /* so is a level, or a rate, of that many percent of the limit; 0: none is */
	/* The rest is of vitals without objects; value.file VITAL_NO_FILE: code reads it, as the lists of objects. */
	enum vital_scale scale; /* of value, minus and limit */
	struct vital_figure value, minus, limit;
	bool from_limit;        /* the level is limit - value: used = total - available */
	enum vital_whole whole;
	struct vital_figure of; /* for VITAL_OF_FIGURE; must be a counter */
};

/* Vitals that are read by code. They are the first in the table. */
enum vital_id {
	VITAL_FS_READ_ONLY, VITAL_FS_USED, VITAL_FS_INODES, VITAL_PROCESS_FILES,
	VITAL_CGROUP_MEMORY, VITAL_CGROUP_PIDS, VITAL_CGROUP_OOM_KILLS, VITAL_CGROUP_AT_LIMIT, VITAL_CGROUP_AT_HIGH,
	VITAL_CGROUP_NO_PIDS, VITAL_CGROUP_THROTTLED, VITAL_CGROUP_CPU_SOME, VITAL_CGROUP_CPU_FULL,
	VITAL_CGROUP_IO_SOME, VITAL_CGROUP_IO_FULL, VITAL_CGROUP_MEMORY_SOME, VITAL_CGROUP_MEMORY_FULL,
	VITAL_CGROUP_IO_RBPS, VITAL_CGROUP_IO_WBPS, VITAL_CGROUP_IO_RIOPS, VITAL_CGROUP_IO_WIOPS,
	VITAL_MESSAGES, VITAL_MESSAGES_LOST, VITAL_CLOCK_SOURCE,
	VITAL_DISK_BUSY, VITAL_DISK_IN_FLIGHT, VITAL_DISK_READ, VITAL_DISK_WRITTEN,
	VITAL_NET_RX_ERRORS, VITAL_NET_TX_ERRORS, VITAL_NET_RX_DROPS, VITAL_NET_TX_DROPS, VITAL_NET_RX, VITAL_NET_TX,
	VITAL_SOFTNET_DROPS, VITAL_SOFTNET_SQUEEZES,
	VITAL_LISTED,
};

extern const struct vital vitals[];
extern const size_t vital_count;
extern const struct vital_source vital_sources[VITAL_FILES];

/*
 * --- readings ----------------------------------------------------------------------------------
 */

struct reading {
	u32 vital;              /* index into vitals */
	u64 id;                 /* id of the object, if its name may be reused; otherwise 0 */
	char *object;           /* owned; "-" if there is only one object */
	u64 value, limit, whole;
	bool has_limit, has_whole;
	u64 at_ns;              /* CLOCK_MONOTONIC */
};

/* Initialise to all zeros. */
struct readings {
	struct reading *reading;
	size_t n;
};

/* Copies the object (NULL: "-"). Returns 0 or -ENOMEM. */
int readings__add(struct readings *r, const struct reading *reading, const char *object);
void readings__sort(struct readings *r);
/* Finds the reading of the same vital and object in sorted readings. Returns NULL if there is none. */
const struct reading *readings__find(const struct readings *r, const struct reading *like);
void readings__free(struct readings *r);

/* The difference of two readings of a vital. */
struct vital_change {
	const struct reading *now;
	bool has_level, has_count, has_whole;
	u64 count, whole, elapsed_ns;
};

/*
 * before: NULL if there is no earlier reading. With is_new, the counter then started at 0 after the earlier readings.
 */
struct vital_change vital_change(const struct reading *before, const struct reading *now, bool is_new);

/* The level in percent of the limit, and the count in percent of the whole. Negative if there is none. */
double vital_of_limit(const struct vital_change *c);
double vital_of_whole(const struct vital_change *c);
/* Percent of the limit of a level, or of the amount that a limit of a rate allowed. Negative: not near a limit. */
double vital_nearness(const struct vital_change *c);

/* True if an error was counted, or if the level is near its limit. */
bool vital_is_finding(const struct vital_change *c);

/*
 * --- texts: any of these may be cut off or be something else ------------------------------------
 */

/* Finds a number in a text of this form. Returns false if it is missing, malformed, or too large. */
bool vital_text__number(const char *text, enum vital_form form, const struct vital_figure *f, enum vital_unit unit,
			u64 *value);

/*
 * Adds all vitals that are read from files. text[], by enum vital_file: NULL if the file cannot be read. at_ns[]: times
 * of the reads. Returns 0 or -ENOMEM.
 */
int vital_texts__read(struct readings *r, char *const text[VITAL_FILES], const u64 at_ns[VITAL_FILES]);

/* Parses /proc/diskstats. is_disk() returns whether a name is that of a whole disk. */
int vital_disks__parse(struct readings *r, const char *text, u64 at_ns, bool (*is_disk)(const char *name));

/* Parses /proc/net/dev. speed() returns the speed of an interface in bytes per second, or 0 if unknown. */
int vital_interfaces__parse(struct readings *r, const char *text, u64 at_ns, u64 (*speed)(const char *name));

/* Parses /proc/net/softnet_stat. Adds up all CPUs. */
int vital_softnet__parse(struct readings *r, const char *text, u64 at_ns);

/* A cgroup of version 2 and the texts of its files. */
struct vital_io {
	u64 cgroup;
	const char *path;       /* below the root of the hierarchy */
	const char *limits;     /* io.max: "8:16 rbps=1048576 wbps=max riops=max wiops=120" */
	const char *stat;       /* io.stat: "8:16 rbytes=1 wbytes=2 rios=3 wios=4 ...", without requests held back */
	u64 at_ns;
	const char *(*name_disk)(u32 disk, char *name); /* disk__name() */
};

/* Adds a reading for each limit in io.max: object is "PATH DISK", limit is a second's. Returns 0 or -ENOMEM. */
int vital_io_limits__parse(struct readings *r, const struct vital_io *io);

/* A line of /proc/self/mountinfo of a local file system. */
struct vital_mount {
	u32 major, minor;
	const char *path;
	const char *type;
	bool is_read_only;      /* the file system itself is read-only, not just this mount */
};

/*
 * Parses a line, and modifies it. Returns false for file systems of servers, of FUSE, and of the kernel itself, and for
 * malformed lines.
 */
bool vital_mount__parse(struct vital_mount *m, char *line);

/* Kinds of kernel messages. */
enum vital_message {
	MESSAGE_OTHER, MESSAGE_OOM, MESSAGE_IO, MESSAGE_FS, MESSAGE_READ_ONLY, MESSAGE_HUNG, MESSAGE_LOCKUP,
	MESSAGE_STALL, MESSAGE_MCE, MESSAGE_BUG, MESSAGE_CLOCK, MESSAGES,
};

extern const char *const vital_message_names[MESSAGES];

/*
 * Returns the kind of a record of /dev/kmsg: "6,339,5140900,-;text\n". Messages written by processes are MESSAGE_OTHER.
 */
enum vital_message vital_message__parse(const char *record);

/*
 * --- where the machine has them -----------------------------------------------------------------
 */

#define VITAL_CGROUPS 1024      /* cgroups beyond this number are not read */
#define VITAL_PROCESSES 5       /* rows of nofile: the processes nearest to their limit of open files */

/*
 * The processes in the last rows of nofile, and the time of the last scan of all processes (CLOCK_MONOTONIC; 0: never).
 */
struct vital_processes {
	u32 pid[VITAL_PROCESSES];
	size_t n;
	u64 looked_ns;
};

struct vital_reader {
	int messages_fd;        /* -1 if it cannot be opened */
	u64 message[MESSAGES], messages_lost;   /* counts since the descriptor was opened */
	bool too_many_cgroups;
	struct vital_processes nearest;
	/* Skips the levels of processes, which are expensive. Set for the first reading, whose levels are unused. */
	bool leaves_out_levels;
	struct vital_cgroups *cgroups;  /* cgroup files that stay open; see cgroups.c */
	char *buffer;
	size_t room;
};

/* Opens the files that stay open. With -v, reports which files this machine does not have. */
void vital_reader__open(struct vital_reader *v);
/* Skips all messages written so far. */
void vital_reader__skip_messages(struct vital_reader *v);
/* Reads all vitals. If it fails (-ENOMEM), r is empty. */
int vital_reader__read(struct vital_reader *v, struct readings *r);
void vital_reader__close(struct vital_reader *v);

/* Parts of vital_reader__read() and vital_reader__close(). */
int vital_cgroups__read(struct vital_reader *v, struct readings *r);
void vital_cgroups__close(struct vital_reader *v);
int vital_file_systems__read(struct vital_reader *v, struct readings *r);
int vital_messages__read(struct vital_reader *v, struct readings *r);

/*
 * Reads the number of open files (/proc/PID/fd) and the limit (prlimit(2)) of the processes that are nearest to their
 * limit. Scans all processes at most every ten seconds; in between, reads only those found by the last scan. sizes: the
 * size of /proc/PID/fd is the number of files, as since Linux 6.2. Otherwise, files are listed, but only for processes
 * that may have opened half of their limit. Returns 0 or -ENOMEM.
 */
int vital_processes__read(struct vital_processes *nearest, struct readings *r, bool sizes);
bool vital_processes__have_sizes(void);

/* Reads a file into v's buffer, where the text is valid until the next call. Returns NULL if it cannot be read. */
char *vital_reader__text(struct vital_reader *v, const char *path);

#endif /* TALLY_MACHINE_VITAL_H */
