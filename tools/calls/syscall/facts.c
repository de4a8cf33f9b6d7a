// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/facts.h"

#include <linux/capability.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/times.h>

#include "calls/syscall/names.h"
#include "calls/syscall/text.h"

/* include/uapi/linux/utsname.h: six members of this size. */
#define UTSNAME_SIZE 65

/* include/uapi/linux/sched/types.h, missing in some C libraries */
struct kernel_sched_attr {
	u32 size, policy;
	u64 flags;
	int nice;
	u32 priority;
	u64 runtime, deadline, period;
};

/* include/uapi/asm-generic/fcntl.h */
struct kernel_flock {
	short type, whence;
	s64 start, length;
	int pid, pad;
};

void rusage__put(FILE *f, const void *data)
{
	const struct rusage *r = data;

	fprintf(f, "{ru_utime={tv_sec=%lld, tv_usec=%lld}, ru_stime={tv_sec=%lld, tv_usec=%lld}, ...}",
		(long long)r->ru_utime.tv_sec, (long long)r->ru_utime.tv_usec,
		(long long)r->ru_stime.tv_sec, (long long)r->ru_stime.tv_usec);
}

void tms__put(FILE *f, const void *data)
{
	const struct tms *t = data;

	fprintf(f, "{tms_utime=%lld, tms_stime=%lld, tms_cutime=%lld, tms_cstime=%lld}",
		(long long)t->tms_utime, (long long)t->tms_stime, (long long)t->tms_cutime,
		(long long)t->tms_cstime);
}

void sysinfo__put(FILE *f, const void *data)
{
	const struct sysinfo *s = data;

	fprintf(f, "{uptime=%lld, loads=[%llu, %llu, %llu]", (long long)s->uptime, (u64)s->loads[0],
		(u64)s->loads[1], (u64)s->loads[2]);
	fprintf(f, ", totalram=%llu, freeram=%llu, sharedram=%llu, bufferram=%llu", (u64)s->totalram,
		(u64)s->freeram, (u64)s->sharedram, (u64)s->bufferram);
	fprintf(f, ", totalswap=%llu, freeswap=%llu, procs=%u", (u64)s->totalswap, (u64)s->freeswap,
		s->procs);
	fprintf(f, ", totalhigh=%llu, freehigh=%llu, mem_unit=%u}", (u64)s->totalhigh,
		(u64)s->freehigh, s->mem_unit);
}

void utsname__put(FILE *f, const void *data)
{
	const char *name = data;

	fputs("{sysname=", f);
	quoted__put(f, name, strnlen(name, UTSNAME_SIZE));
	fputs(", nodename=", f);
	name += UTSNAME_SIZE;
	quoted__put(f, name, strnlen(name, UTSNAME_SIZE));
	fputs(", ...}", f);
}

void statfs__put(FILE *f, const void *data)
{
	const struct statfs *s = data;
	int id[2];

	memcpy(id, &s->f_fsid, sizeof(id));
	fputs("{f_type=", f);
	value_names__put(f, &file_systems, s->f_type);
	fprintf(f, ", f_bsize=%lld, f_blocks=%llu, f_bfree=%llu, f_bavail=%llu",
		(long long)s->f_bsize, (u64)s->f_blocks, (u64)s->f_bfree, (u64)s->f_bavail);
	fprintf(f, ", f_files=%llu, f_ffree=%llu, f_fsid={val=[", (u64)s->f_files, (u64)s->f_ffree);
	fprintf(f, id[0] ? "%#x, " : "%x, ", id[0]);
	fprintf(f, id[1] ? "%#x" : "%x", id[1]);
	fprintf(f, "]}, f_namelen=%lld, f_frsize=%lld, f_flags=", (long long)s->f_namelen,
		(long long)s->f_frsize);
	value_names__put(f, &statfs_flags, s->f_flags);
	fputc('}', f);
}

void flock__put(FILE *f, const void *data, bool told)
{
	const struct kernel_flock *lock = data;

	fputs("{l_type=", f);
	value_names__put(f, &lock_types, (unsigned short)lock->type);
	fputs(", l_whence=", f);
	value_names__put(f, &whences, (unsigned short)lock->whence);
	fprintf(f, ", l_start=%lld, l_len=%lld", lock->start, lock->length);
	if (told)
		fprintf(f, ", l_pid=%d", lock->pid);
	fputc('}', f);
}

void sched_attr__put(FILE *f, const void *data)
{
	const struct kernel_sched_attr *a = data;

	fprintf(f, "{size=%u, sched_policy=", a->size);
	value_names__put(f, &schedulers, a->policy);
	fputs(", sched_flags=", f);
	value_names__put(f, &scheduling_flags, a->flags);
	fprintf(f, ", sched_nice=%d, sched_priority=%u", a->nice, a->priority);
	fprintf(f, ", sched_runtime=%llu, sched_deadline=%llu, sched_period=%llu}", a->runtime,
		a->deadline, a->period);
}

void cap_header__put(FILE *f, const void *data)
{
	const struct __user_cap_header_struct *h = data;

	fputs("{version=", f);
	value_names__put(f, &capability_versions, h->version);
	fprintf(f, ", pid=%d}", h->pid);
}

void caps__put(FILE *f, const void *data)
{
	const struct __user_cap_data_struct *low = data, *high = low + 1;

	fprintf(f, "{effective=%#llx, permitted=%#llx, inheritable=%#llx}",
		low->effective | (u64)high->effective << 32,
		low->permitted | (u64)high->permitted << 32,
		low->inheritable | (u64)high->inheritable << 32);
}
