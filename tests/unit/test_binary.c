// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares functions, symbols and USDT probes of ELF files with what the compiler was told to make,
 * and hits of uprobes on them with the number of calls.
 */
#include "unit.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "elf_fixture.h"
#include "types/binary.h"
#include "types/elf_file.h"

static const char source[] =
	"#define _SDT_HAS_SEMAPHORES 1\n"
	"#include <sys/sdt.h>\n"
	"#include <stdlib.h>\n"
	"unsigned short t_guarded_semaphore __attribute__((section(\".probes\"), used));\n"
	"unsigned short t_loud_semaphore __attribute__((section(\".probes\"), used));\n"
	"int counter = 5;\n"
	"static int hidden_counter = 6;\n"
	"#define NOINLINE __attribute__((noinline, noclone))\n"
	"NOINLINE int plain_one(int a) { counter += a; return counter; }\n"
	"NOINLINE int plain_two(int a) { counter -= a + hidden_counter++; return counter; }\n"
	"int other_one(int a) __attribute__((alias(\"plain_one\")));\n"
	"static NOINLINE void local(void) { counter *= 3; }\n"
	"static void *choose(void) { return plain_two; }\n"
	"int indirect(int a) __attribute__((ifunc(\"choose\")));\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	int n = argc > 1 ? atoi(argv[1]) : 3;\n"
	"	for (int i = 0; i < n; i++) {\n"
	"		plain_one(i);\n"
	"		other_one(i);\n"
	"		plain_two(i);\n"
	"		local();\n"
	"		if (t_guarded_semaphore) STAP_PROBE2(t, guarded, i, argv);\n"
	"		STAP_PROBE(t, loud);\n"
	"		if (i & 1) STAP_PROBE1(t, loud, i);\n"
	"	}\n"
	"	return 0;\n"
	"}\n";

static const struct binary_function *find(const struct binary_functions *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (!strcmp(f->function[i].name, name))
			return &f->function[i];
	return NULL;
}

/* A program of each kind: position independent, and at fixed addresses. */
static const char *const kinds[] = { "cc -O1 -pie -fPIE", "cc -O1 -no-pie -fno-pie" };

static void check_functions(const char *path)
{
	struct binary_functions all, some;
	const struct binary_function *f;
	u64 offset;
	size_t i;

	assert_int_equal(binary_functions__find(&all, path, NULL), 0);
	for (i = 0; i < all.n; i++) {
		f = &all.function[i];
		assert_true(!i || f[-1].address < f->address ||
			    (f[-1].address == f->address && strcmp(f[-1].name, f->name) < 0));
		assert_int_equal(binary__file_offset(path, f->address, &offset), 0);
		assert_int_equal(offset, f->file_offset);
	}
	assert_non_null(find(&all, "main"));
	assert_non_null(find(&all, "local"));
	assert_non_null(find(&all, "indirect"));
	assert_null(find(&all, "counter"));
	assert_null(find(&all, "atoi"));
	assert_null(find(&all, "strtol"));
	assert_int_equal(find(&all, "plain_one")->address, find(&all, "other_one")->address);
	assert_true(find(&all, "plain_one")->size > 0);

	assert_int_equal(binary_functions__find(&some, path, "plain_*"), 0);
	assert_int_equal(some.n, 2);
	binary_functions__free(&some);
	assert_int_equal(binary_functions__find(&some, path, "no_such"), 0);
	assert_int_equal(some.n, 0);
	binary_functions__free(&some);
	binary_functions__free(&all);
}

static void functions(void **state)
{
	struct fixture f;
	size_t i;

	(void)state;
	fixture__init(&f);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		fixture__compile(&f, "program", source, kinds[i]);
		check_functions(f.path);
	}
	fixture__free(&f);
}

/* The bytes at the file offset of a symbol are those of the variable. */
static void symbols(void **state)
{
	bool is_relative;
	struct fixture f;
	u64 address;
	size_t i;

	(void)state;
	fixture__init(&f);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct elf_file file;
		unsigned char *image;
		u64 offset;
		size_t size;

		fixture__compile(&f, "program", source, kinds[i]);
		image = read_whole(f.path, &size);
		assert_int_equal(elf_file__open(&file, f.path), 0);
		assert_int_equal(binary__symbol(f.path, "counter", &address, &is_relative), 0);
		assert_int_equal(is_relative, i == 0);
		assert_int_equal(elf_file__offset(&file, address, 4, false, &offset), 0);
		assert_true(offset + 4 <= size);
		assert_int_equal(image[offset], 5);
		assert_int_equal(binary__symbol(f.path, "hidden_counter", &address, &is_relative),
				 0);
		assert_int_equal(elf_file__offset(&file, address, 4, false, &offset), 0);
		assert_int_equal(image[offset], 6);
		assert_int_equal(binary__symbol(f.path, "nothing", &address, &is_relative),
				 -ENOENT);
		/* Data is not code, and nothing is at the end of the address space. */
		assert_int_equal(binary__file_offset(f.path, address, &offset), -ENOENT);
		assert_int_equal(binary__file_offset(f.path, UINT64_MAX, &offset), -ENOENT);
		elf_file__close(&file);
		free(image);
	}
	fixture__free(&f);
}

static void probes(void **state)
{
	struct usdt_probes p;
	struct fixture f;
	size_t i, guarded = 0, loud = 0;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O1");
	assert_int_equal(usdt_probes__find(&p, f.path, NULL, NULL), 0);
	for (i = 0; i < p.n; i++) {
		assert_string_equal(p.probe[i].provider, "t");
		assert_true(p.probe[i].semaphore != 0);
		guarded += !strcmp(p.probe[i].name, "guarded");
		loud += !strcmp(p.probe[i].name, "loud");
	}
	assert_int_equal(guarded, 1);
	assert_int_equal(loud, 2);
	usdt_probes__free(&p);
	assert_int_equal(usdt_probes__find(&p, f.path, "t", "l*d"), 0);
	assert_int_equal(p.n, 2);
	assert_true(p.probe[0].pc != p.probe[1].pc);
	assert_int_equal(p.probe[0].semaphore, p.probe[1].semaphore);
	usdt_probes__free(&p);
	assert_int_equal(usdt_probes__find(&p, f.path, "other", NULL), 0);
	assert_int_equal(p.n, 0);
	usdt_probes__free(&p);
	fixture__free(&f);
}

/* --- uprobes ---------------------------------------------------------------------------------- */

static int uprobe_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = -1;

	if (file) {
		if (fscanf(file, "%d", &type) != 1)
			type = -1;
		fclose(file);
	}
	return type;
}

/* Opens a counter of hits for a process that is about to run the program. Returns -1 if that is impossible here. */
static int count_hits(const char *path, u64 offset, u64 semaphore, pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = uprobe_type(),
		.config = semaphore << 32,
		.uprobe_path = (uintptr_t)path,
		.probe_offset = offset,
	};

	if ((int)attr.type < 0)
		return -1;
	return syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static u64 hits(int fd)
{
	u64 n = 0;

	assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	close(fd);
	return n;
}

/* Starts a process that runs the program with n after a byte is written to go. */
static pid_t start(const char *path, u32 n, int *go)
{
	char text[16], c;
	int pipes[2];
	pid_t pid;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	snprintf(text, sizeof(text), "%u", n);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (read(pipes[0], &c, 1) == 1)
			execl(path, path, text, NULL);
		_exit(127);
	}
	close(pipes[0]);
	*go = pipes[1];
	return pid;
}

static void every_hit(void **state)
{
	static const char *const names[] = { "plain_one", "plain_two", "local", "main" };
	int fd[8] = { -1, -1, -1, -1, -1, -1, -1, -1 }, go, status;
	struct binary_functions all;
	struct usdt_probes p;
	struct fixture f;
	u32 n = 1001;
	pid_t pid;
	size_t i;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O1");
	assert_int_equal(binary_functions__find(&all, f.path, NULL), 0);
	assert_int_equal(usdt_probes__find(&p, f.path, "t", NULL), 0);
	assert_int_equal(p.n, 3);
	pid = start(f.path, n, &go);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		fd[i] = count_hits(f.path, find(&all, names[i])->file_offset, 0, pid);
	for (i = 0; i < 3; i++)
		fd[4 + i] = count_hits(f.path, p.probe[i].file_offset, p.probe[i].semaphore, pid);
	assert_int_equal(write(go, "x", 1), 1);
	close(go);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	if (fd[0] >= 0) {
		assert_int_equal(hits(fd[0]), 2 * n);   /* both names */
		assert_int_equal(hits(fd[1]), n);
		assert_int_equal(hits(fd[2]), n);
		assert_int_equal(hits(fd[3]), 1);
		for (i = 0; i < 3; i++) {
			if (!strcmp(p.probe[i].name, "guarded"))
				assert_int_equal(hits(fd[4 + i]), n);
			else if (p.probe[i].arguments[0])
				assert_int_equal(hits(fd[4 + i]), n / 2);
			else
				assert_int_equal(hits(fd[4 + i]), n);
		}
	}
	usdt_probes__free(&p);
	binary_functions__free(&all);
	fixture__free(&f);
	if (fd[0] < 0)
		skip();         /* no uprobes, or no right to them */
}

/* --- stripped files --------------------------------------------------------------------------- */

static void assert_has_local(const char *path, bool has)
{
	struct binary_functions all;

	assert_int_equal(binary_functions__find(&all, path, NULL), 0);
	assert_int_equal(find(&all, "local") != NULL, has);
	binary_functions__free(&all);
}

static void stripped(void **state)
{
	struct fixture f;
	const char *d;

	(void)state;
	fixture__init(&f);
	d = f.dir;
	fixture__compile(&f, "program", source, "cc -O1 -g -Wl,--build-id=none -rdynamic");
	assert_int_equal(run_command("cd %s && strip -o bare program", d), 0);
	snprintf(f.path, sizeof(f.path), "%s/bare", d);
	assert_has_local(f.path, false);

	/* The file that .gnu_debuglink names, with its checksum, is found beside the program or in .debug. */
	assert_int_equal(run_command("cd %s && objcopy --only-keep-debug program p.debug && "
				     "objcopy --add-gnu-debuglink=p.debug bare linked", d), 0);
	snprintf(f.path, sizeof(f.path), "%s/linked", d);
	assert_has_local(f.path, true);
	assert_int_equal(run_command("cd %s && mkdir .debug && mv p.debug .debug", d), 0);
	assert_has_local(f.path, true);
	assert_int_equal(run_command("cd %s && printf x >> .debug/p.debug", d), 0);
	assert_has_local(f.path, false);
	fixture__free(&f);
}

/* A debug file with another build ID is refused, whatever its name. */
static void by_build_id(void **state)
{
	struct elf_file file, debug;
	struct build_id id;
	struct fixture f;
	char *name;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -g -Wl,--build-id=0x0123456789abcdef");
	assert_int_equal(elf_file__open(&file, f.path), 0);
	elf_file__build_id(&file, &id);
	assert_int_equal(id.n, 8);
	assert_memory_equal(id.byte, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
	assert_int_equal(elf_file__open_debug(&debug, &file, f.path, f.dir, &name), -ENOENT);
	assert_int_equal(run_command("cd %s && mkdir -p usr/lib/debug/.build-id/01 && objcopy "
				     "--only-keep-debug program usr/lib/debug/.build-id/01/"
				     "23456789abcdef.debug", f.dir), 0);
	assert_int_equal(elf_file__open_debug(&debug, &file, f.path, f.dir, &name), 0);
	assert_non_null(strstr(name, "/.build-id/01/23456789abcdef.debug"));
	elf_file__close(&debug);
	free(name);
	elf_file__close(&file);

	fixture__compile(&f, "program", source, "cc -g -Wl,--build-id=0x0123456789abcdee");
	assert_int_equal(run_command("cd %s/usr/lib/debug/.build-id/01 && mv 23456789abcdef.debug "
				     "23456789abcdee.debug", f.dir), 0);
	assert_int_equal(elf_file__open(&file, f.path), 0);
	assert_int_equal(elf_file__open_debug(&debug, &file, f.path, f.dir, &name), -ENOENT);
	elf_file__close(&file);
	fixture__free(&f);
}

static void debugdata(void **state)
{
	struct elf_file file, small;
	struct fixture f;
	int err;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O1");
	assert_int_equal(run_command("cd %s && xz -k program && strip -o bare program && objcopy "
				     "--add-section .gnu_debugdata=program.xz bare small", f.dir),
			 0);
	snprintf(f.path, sizeof(f.path), "%s/small", f.dir);
	assert_int_equal(elf_file__open(&file, f.path), 0);
	err = elf_file__open_debugdata(&small, &file);
	if (!err)
		elf_file__close(&small);
	elf_file__close(&file);
	if (err != -EOPNOTSUPP) {
		assert_int_equal(err, 0);
		assert_has_local(f.path, true);
		/* This section unpacks to more than the symbols of any program need. */
		assert_int_equal(run_command("cd %s && head -c 100M /dev/zero | xz -0 > bomb && "
					     "objcopy --add-section .gnu_debugdata=bomb bare small",
					     f.dir), 0);
		assert_int_equal(elf_file__open(&file, f.path), 0);
		assert_int_equal(elf_file__open_debugdata(&small, &file), -EBADMSG);
		elf_file__close(&file);
		assert_has_local(f.path, false);
	}
	fixture__free(&f);
	if (err)
		skip();         /* built without liblzma */
}

/* --- other files ------------------------------------------------------------------------------ */

static void no_binaries(void **state)
{
	struct binary_functions functions_found;
	struct usdt_probes probes_found;
	bool is_relative;
	struct fixture f;
	u64 number;
	size_t i;

	(void)state;
	fixture__init(&f);
	assert_int_equal(run_command("cd %s && mkfifo fifo && printf '#!/bin/sh' > script && "
				     ": > empty && echo 'int x;' > o.c && cc -c -o object o.c",
				     f.dir), 0);
	static const struct {
		const char *name;
		int err;
	} cases[] = {
		{ "missing", -ENOENT }, { "fifo", -ENOEXEC },   { "script", -ENOEXEC },
		{ "empty", -ENOEXEC },  { "object", -ENOEXEC }, { ".", -EISDIR },
	};
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(f.path, sizeof(f.path), "%s/%s", f.dir, cases[i].name);
		assert_int_equal(binary_functions__find(&functions_found, f.path, NULL),
				 cases[i].err);
		assert_int_equal(usdt_probes__find(&probes_found, f.path, NULL, NULL),
				 cases[i].err);
		assert_int_equal(binary__file_offset(f.path, 0x1000, &number), cases[i].err);
		assert_int_equal(binary__symbol(f.path, "x", &number, &is_relative), cases[i].err);
	}
	fixture__free(&f);
}

static void located(void **state)
{
	char *libc = binary__locate("libc"), *exact = binary__locate("libc.so.6"), *path;

	(void)state;
	if (libc && exact) {
		assert_string_equal(libc, exact);
		assert_int_equal(exact[0], '/');
		assert_int_equal(access(exact, R_OK), 0);
	}
	free(libc);
	free(exact);
	path = binary__locate("/no/such/../file");
	assert_string_equal(path, "/no/such/../file");
	free(path);
	path = binary__locate("cat");
	assert_non_null(path);
	assert_non_null(strstr(path, "bin/cat"));
	free(path);
	errno = 0;
	assert_null(binary__locate("no-such-program-anywhere"));
	assert_int_equal(errno, ENOENT);
	assert_null(binary__locate(""));
	assert_int_equal(errno, ENOENT);
}

static int count_note(void *arg, u32 type, const char *name, size_t name_size, const u8 *desc,
		      size_t desc_size)
{
	u64 *sum = arg;
	size_t i;

	for (i = 0; i < name_size; i++)
		*sum += name[i];
	for (i = 0; i < desc_size; i++)
		*sum += desc[i];
	return type == 99 ? 7 : 0;
}

static void notes_at_the_edge(void **state)
{
	struct {
		u32 name_size, desc_size, type;
		char name[4];
		u8 desc[4];
	} note = { 4, 3, 1, "abc", { 1, 2, 3, 0 } };
	u64 sum;
	size_t n;

	(void)state;
	for (n = 0; n <= sizeof(note); n++) {
		u8 *exact = malloc(n ?: 1);     /* lets a sanitizer see reads beyond it */

		memcpy(exact, &note, n);
		sum = 0;
		assert_int_equal(notes__each(exact, n, count_note, &sum), 0);
		assert_int_equal(sum, n < sizeof(note) - 1 ? 0 : 'a' + 'b' + 'c' + 6);
		free(exact);
	}
	note.type = 99;
	assert_int_equal(notes__each(&note, sizeof(note), count_note, &sum), 7);
	note.type = 1;
	note.name_size = UINT32_MAX;
	assert_int_equal(notes__each(&note, sizeof(note), count_note, &sum), 0);
	note.name_size = 4;
	note.desc_size = UINT32_MAX;
	assert_int_equal(notes__each(&note, sizeof(note), count_note, &sum), 0);
}

static void use_all(const char *path)
{
	struct binary_functions functions_found;
	struct usdt_probes probes_found;
	bool is_relative;
	u64 number;

	if (!binary_functions__find(&functions_found, path, NULL))
		binary_functions__free(&functions_found);
	if (!usdt_probes__find(&probes_found, path, NULL, NULL))
		usdt_probes__free(&probes_found);
	binary__symbol(path, "counter", &number, &is_relative);
	binary__file_offset(path, 0x1000, &number);
}

/* Each query starts a process, which is slow with sanitizers. */
#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 40
#else
#define ROUNDS 600
#endif

static void damaged(void **state)
{
	struct fixture f;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O1 -s -rdynamic");
	damage(&f, ROUNDS, use_all);
	fixture__compile(&f, "program", source, "cc -O1");
	damage(&f, ROUNDS, use_all);
	assert_int_equal(run_command("cd %s && strip -o bare program && xz program && objcopy "
				     "--add-section .gnu_debugdata=program.xz bare small", f.dir),
			 0);
	snprintf(f.path, sizeof(f.path), "%s/small", f.dir);
	damage(&f, ROUNDS, use_all);
	fixture__free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions),
		cmocka_unit_test(symbols),
		cmocka_unit_test(probes),
		cmocka_unit_test(every_hit),
		cmocka_unit_test(stripped),
		cmocka_unit_test(by_build_id),
		cmocka_unit_test(debugdata),
		cmocka_unit_test(no_binaries),
		cmocka_unit_test(located),
		cmocka_unit_test(notes_at_the_edge),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
