// SPDX-License-Identifier: BSD-2-Clause
/*
 * opens THREADS OP...: each thread makes each OP in turn. An OP is CALL:TIMES:FLAGS:MODE:PATH with
 * CALL of open, creat, openat, openat2; a leading i makes it a 32-bit call. Numbers as in C. Opened
 * files are closed again. PATH may be @null, @unmapped, @unread (a page of a file that has not been
 * touched), or @long:N (N bytes 'x'). FLAGS may be ? (openat2: unreadable).
 * ready, done RESULT... (of each OP, the last time: 0 or -errno)
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "old_calls.h"
#include "trigger.h"

struct op {
	char call[16], flags[16];
	long times;
	unsigned long bits, mode;
	const char *path;
	long result;
};

static struct op *ops;
static int nops;

/* Below 4 GiB, for 32-bit calls. */
static char *low(size_t size, int fd)
{
	char *p = mmap(NULL, size, PROT_READ | (fd < 0 ? PROT_WRITE : 0),
		       MAP_PRIVATE | MAP_32BIT | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	if (p == MAP_FAILED)
		error(1, errno, "mmap");
	return p;
}

static const char *unread(void)
{
	FILE *f = tmpfile();

	if (!f || fputs("/nonexistent/unread", f) < 0 || fflush(f))
		error(1, errno, "tmpfile");
	return low(4096, fileno(f));
}

static const char *path_of(const char *text)
{
	size_t n = strlen(text);
	char *path;

	if (!strcmp(text, "@null"))
		return NULL;
	/* Below vm.mmap_min_addr: other unmapped addresses may be mapped again, even by the next OP. */
	if (!strcmp(text, "@unmapped"))
		return (const char *)4096;
	if (!strcmp(text, "@unread"))
		return unread();
	path = low(1 << 16, -1);
	if (sscanf(text, "@long:%zu", &n) == 1)
		memset(path, 'x', n);
	else
		memcpy(path, text, n);
	return path;
}

static long call_32(long number, const void *a, const void *b, const void *c, const void *d)
{
	return trigger__call_32(number, (long)a, (long)b, (long)c, (long)d, 0);
}

static long negative(long ret)
{
	return ret < 0 ? -errno : ret;
}

static long native(long number, const void *a, const void *b, const void *c, const void *d)
{
	return negative(syscall(number, a, b, c, d));
}

#define ARG(n) ((void *)(unsigned long)(n))

static long make(const struct op *op, const struct open_how *how)
{
	const char *name = op->call;
	bool is_32 = *name == 'i';
	long (*call)(long, const void *, const void *, const void *, const void *) =
		is_32 ? call_32 : native;
	void *here = ARG(is_32 ? (unsigned int)AT_FDCWD : (unsigned long)AT_FDCWD);

	name += is_32;
	if (!strcmp(name, "open"))
		return is_32 ? call(5, op->path, ARG(op->bits), ARG(op->mode), NULL) :
			       negative(old__open(op->path, op->bits, op->mode));
	if (!strcmp(name, "creat"))
		return is_32 ? call(8, op->path, ARG(op->mode), NULL, NULL) :
			       negative(old__creat(op->path, op->mode));
	if (!strcmp(name, "openat"))
		return call(is_32 ? 295 : SYS_openat, here, op->path, ARG(op->bits), ARG(op->mode));
	if (!strcmp(name, "openat2"))
		return call(437, here, op->path, how, ARG(sizeof(*how)));
	error(2, 0, "%s is no call", op->call);
	return 0;
}

static void work(long i)
{
	struct open_how *how = (void *)low(4096, -1);
	struct op *op;
	long k, ret;

	(void)i;
	for (op = ops; op < ops + nops; op++) {
		how->flags = op->bits;
		how->mode = op->mode;
		for (k = 0; k < op->times; k++) {
			ret = make(op, *op->flags == '?' ? NULL : how);
			if (ret >= 0)
				close(ret);
			op->result = ret < 0 ? ret : 0;
		}
	}
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1);
	struct crew crew;
	int i, at;

	trigger__prepare_32();
	nops = argc - 2;
	ops = calloc(nops + 1, sizeof(*ops));
	for (i = 0; i < nops; i++) {
		if (sscanf(argv[i + 2], "%15[^:]:%li:%15[^:]:%li:%n", ops[i].call, &ops[i].times,
			   ops[i].flags, (long *)&ops[i].mode, &at) < 4)
			error(2, 0, "%s is no OP", argv[i + 2]);
		ops[i].bits = strtoul(ops[i].flags, NULL, 0);
		ops[i].path = path_of(argv[i + 2] + at);
	}
	trigger__name();
	crew__hire(&crew, n, work);
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	printf("done");
	for (i = 0; i < nops; i++)
		printf(" %ld", ops[i].result);
	trigger__say("%s", "");
	trigger__end();
}
