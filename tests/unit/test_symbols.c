// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of addresses in processes of all kinds, compared with the names that these processes report:
 * the test itself, programs compiled from source given here, and copies of the test that make their
 * own code.
 */
#include "unit.h"

#include "base/clock.h"
#include "base/opener.h"

#include <dirent.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf_fixture.h"
#include "sym/elf_symbols.h"
#include "sym/kallsyms.h"
#include "sym/mappings.h"
#include "sym/symbols.h"

/* Prints where its functions are, waits, and calls exec on request. */
static const char source[] =
	"#include <stdio.h>\n"
	"#include <unistd.h>\n"
	"#define NOINLINE __attribute__((noinline, noclone))\n"
	"NOINLINE int global(int a) { asm volatile(\"\"); return a * 3; }\n"
	"static NOINLINE int hidden(int a) { asm volatile(\"\"); return a * 5; }\n"
	"NOINLINE int __plain(int a) { asm volatile(\"\"); return a * 7; }\n"
	"int plain(int a) __attribute__((weak, alias(\"__plain\")));\n"
	"int sizeless(void);\n"
	"asm(\".text\\n.globl sizeless\\n.type sizeless,@function\\n\"\n"
	"    \"sizeless: nop\\nnop\\nnop\\nret\\n.globl sized\\n.type sized,@function\\n\"\n"
	"    \"sized: ret\\n.size sized, . - sized\\n.skip 64, 0x90\\n\");\n"
	"static void *choose(void) { asm volatile(\"\"); return global; }\n"
	"int indirect(int a) __attribute__((ifunc(\"choose\")));\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	char c;\n"
	"	printf(\"%p %p %p %p %p\\n\", global, hidden, plain, sizeless, choose);\n"
	"	fflush(stdout);\n"
	"	if (read(0, &c, 1) == 1 && c == 'x')\n"
	"		execl(argv[1], argv[1], NULL);\n"
	"	return global(argc) + hidden(argc) + plain(argc) + indirect(argc);\n"
	"}\n";

enum { GLOBAL, HIDDEN, PLAIN, SIZELESS, CHOOSE, PLACES };

struct child {
	pid_t pid;
	int in, out;
	u64 at[PLACES];
};

/* Runs path in root ("": ours), or body in a copy of this process. The child prints PLACES addresses. */
static void start(struct child *c, const char *root, const char *path, const char *arg,
		  void (*body)(void))
{
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		if (body)
			body();
		if (!path || (*root && (chroot(root) || chdir("/"))))
			_exit(2);
		execl(path, path, arg, NULL);
		_exit(3);
	}
	close(in[0]);
	close(out[1]);
	c->in = in[1];
	c->out = out[0];
}

static void listen_to(struct child *c)
{
	char text[256] = "", *at = text;
	ssize_t n;
	int i;

	for (n = 0; !strchr(text, '\n'); n = strlen(text)) {
		ssize_t more = read(c->out, text + n, sizeof(text) - 1 - n);

		assert_true(more > 0);
		text[n + more] = 0;
	}
	for (i = 0; i < PLACES; i++)
		c->at[i] = strtoull(at, &at, 16);
}

static void end(struct child *c)
{
	close(c->in);
	close(c->out);
	kill(c->pid, SIGKILL);
	assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
}

static struct symbols *new_symbols(void)
{
	struct symbols *s;

	assert_int_equal(symbols__new(&s), 0);
	return s;
}

static struct symbol user(struct symbols *s, u32 pid, u64 address)
{
	struct symbol found;

	assert_int_equal(symbols__user(s, pid, address, &found), 0);
	return found;
}

/* Returns "NAME+OFFSET", or "(none)". */
static const char *name_at(struct symbols *s, u32 pid, u64 address)
{
	static char text[512];
	struct symbol found = user(s, pid, address);

	snprintf(text, sizeof(text), found.name ? "%s+%llu" : "(none)", found.name,
		 found.offset);
	return text;
}

/* Checks the symbols of the program above, with its symbol table or only its dynamic one. */
static void check_program(struct symbols *s, const struct child *c, const char *module,
			  bool has_local)
{
	struct symbol found;

	assert_string_equal(name_at(s, c->pid, c->at[GLOBAL]), "global+0");
	assert_string_equal(name_at(s, c->pid, c->at[GLOBAL] + 2), "global+2");
	assert_string_equal(name_at(s, c->pid, c->at[HIDDEN]), has_local ? "hidden+0" : "(none)");
	assert_string_equal(name_at(s, c->pid, c->at[PLAIN] + 1), "plain+1");
	assert_string_equal(name_at(s, c->pid, c->at[SIZELESS]), "sizeless+0");
	assert_string_equal(name_at(s, c->pid, c->at[SIZELESS] + 3), has_local ? "sizeless+3" : "near sizeless+3");
	assert_string_equal(name_at(s, c->pid, c->at[SIZELESS] + 4), "sized+0");
	assert_string_equal(name_at(s, c->pid, c->at[SIZELESS] + 5), "(none)");
	if (has_local)
		assert_string_equal(name_at(s, c->pid, c->at[CHOOSE]), "indirect+0");
	found = user(s, c->pid, c->at[GLOBAL]);
	assert_int_equal(found.kind, SYMBOL_USER);
	assert_string_equal(found.module, module);
	/* The address of main depends on the compiler; the address that nm prints for global does not. */
	assert_int_equal(user(s, c->pid, c->at[HIDDEN]).module_offset - found.module_offset,
			 c->at[HIDDEN] - c->at[GLOBAL]);
}

static u64 nm(const char *path, const char *name)
{
	char command[256], line[256];
	u64 address = 0;
	FILE *file;

	snprintf(command, sizeof(command), "nm %s | grep ' %s$'", path, name);
	file = popen(command, "re");
	assert_non_null(file);
	if (fgets(line, sizeof(line), file))
		address = strtoull(line, NULL, 16);
	pclose(file);
	assert_true(address);
	return address;
}

static const char *const kinds[] = {
	"cc -O1 -pie -fPIE",
	"cc -O1 -no-pie -fno-pie",
	"cc -O1 -static -no-pie",
	"cc -O1 -static-pie -fPIE",
	"cc -O1 -no-pie -fno-pie -Wl,-z,noseparate-code",
	"cc -O1 -pie -fPIE -Wl,-z,max-page-size=0x200000",
};

static void programs(void **state)
{
	struct symbols *s = new_symbols();
	struct fixture f;
	struct child c;
	size_t i;
	u64 address;

	(void)state;
	fixture__init(&f);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		fixture__compile(&f, "program", source, kinds[i]);
		address = nm(f.path, "global");
		start(&c, "", f.path, NULL, NULL);
		listen_to(&c);
		assert_int_equal(symbols__see(s, c.pid), 0);
		check_program(s, &c, "program", true);
		assert_string_equal(user(s, c.pid, c.at[GLOBAL]).path, f.path);
		assert_int_equal(user(s, c.pid, c.at[GLOBAL]).module_offset, address);
		end(&c);
		/* The process is gone, but its mappings stay known. */
		assert_int_equal(symbols__see(s, c.pid), -ESRCH);
		check_program(s, &c, "program", true);
		assert_int_equal(unlink(f.path), 0);
	}
	fixture__free(&f);
	symbols__free(s);
}

/* A process was seen, and is gone before the first lookup: its files are open already. */
static void gone(void **state)
{
	struct symbols *s = new_symbols();
	struct fixture f;
	struct child c;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, kinds[0]);
	start(&c, "", f.path, NULL, NULL);
	listen_to(&c);
	assert_int_equal(symbols__see(s, c.pid), 0);
	end(&c);
	fixture__free(&f);
	check_program(s, &c, "program", true);
	symbols__free(s);
}

/* A deleted program, and one whose name now belongs to another file. */
static void deleted(void **state)
{
	struct symbols *s = new_symbols();
	struct fixture f;
	struct child c;
	struct symbol found;

	(void)state;
	if (access("/proc/self/map_files", X_OK) || geteuid())
		skip();
	fixture__init(&f);
	fixture__compile(&f, "program", source, kinds[0]);
	start(&c, "", f.path, NULL, NULL);
	listen_to(&c);
	assert_int_equal(unlink(f.path), 0);
	write_file(f.path, "#!/bin/sh\n", 10);
	assert_int_equal(symbols__see(s, c.pid), 0);
	check_program(s, &c, "program", true);
	found = user(s, c.pid, c.at[GLOBAL]);
	assert_string_equal(found.path, f.path);
	end(&c);
	fixture__free(&f);
	symbols__free(s);
}

static void strip(const struct fixture *f, const char *debug)
{
	assert_int_equal(run_command("cd %s && objcopy --only-keep-debug program %s && "
				     "strip -s program && "
				     "objcopy --add-gnu-debuglink=%s program",
				     f->dir, debug, debug), 0);
}

static void check_stripped(const struct fixture *f, bool has_local)
{
	struct symbols *s = new_symbols();
	struct child c;

	start(&c, "", f->path, NULL, NULL);
	listen_to(&c);
	assert_int_equal(symbols__see(s, c.pid), 0);
	check_program(s, &c, "program", has_local);
	end(&c);
	symbols__free(s);
}

/* A debug file beside the program is found by CRC or build ID; a file with another CRC is refused. */
static void debug_links(void **state)
{
	static const char *const flags[] = { "-Wl,--build-id=none", "-Wl,--build-id" };
	struct fixture f;
	char command[128];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		fixture__init(&f);
		snprintf(command, sizeof(command), "cc -g -O1 -pie -fPIE -rdynamic %s", flags[i]);
		fixture__compile(&f, "program", source, command);
		strip(&f, "program.debug");
		check_stripped(&f, true);
		assert_int_equal(run_command("cd %s && mkdir .debug && mv *.debug .debug", f.dir),
				 0);
		check_stripped(&f, true);
		if (!i) {
			assert_int_equal(run_command("cd %s/.debug && echo >> program.debug",
						     f.dir), 0);
			check_stripped(&f, false);
		}
		assert_int_equal(run_command("rm %s/.debug/program.debug && mkfifo "
					     "%s/.debug/program.debug", f.dir, f.dir), 0);
		check_stripped(&f, false);
		fixture__free(&f);
	}
}

/* A program in a root of its own, with its debug file below that root, found by build ID. */
static void containers(void **state)
{
	struct symbols *s = new_symbols();
	struct fixture f;
	struct child c;

	(void)state;
	if (geteuid())
		skip();
	fixture__init(&f);
	fixture__compile(&f, "program", source,
			 "cc -g -O1 -static -no-pie -Wl,--build-id=0xabcdef");
	strip(&f, "elsewhere");
	assert_int_equal(run_command("cd %s && mkdir -p bin usr/lib/debug/.build-id/ab && "
				     "mv program bin && "
				     "mv elsewhere usr/lib/debug/.build-id/ab/cdef.debug", f.dir),
			 0);
	start(&c, f.dir, "/bin/program", NULL, NULL);
	listen_to(&c);
	assert_int_equal(symbols__see(s, c.pid), 0);
	check_program(s, &c, "program", true);
	assert_string_equal(user(s, c.pid, c.at[GLOBAL]).path, "/bin/program");
	end(&c);
	symbols__free(s);

	/* Links are resolved within the same root. */
	s = new_symbols();
	assert_int_equal(run_command("cd %s && mv usr/lib/debug/.build-id/ab/cdef.debug linked && "
				     "ln -s /linked usr/lib/debug/.build-id/ab/cdef.debug",
				     f.dir), 0);
	start(&c, f.dir, "/bin/program", NULL, NULL);
	listen_to(&c);
	assert_int_equal(symbols__see(s, c.pid), 0);
	check_program(s, &c, "program", true);
	end(&c);
	symbols__free(s);
	fixture__free(&f);
}

static void executed(void **state)
{
	struct symbols *s = new_symbols();
	struct fixture f;
	struct child c;
	u64 before;
	char other[80];

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, kinds[1]);
	snprintf(other, sizeof(other), "%s/other", f.dir);
	assert_int_equal(run_command("cc -w -O1 -pie -fPIE -o %s %s.c", other, f.path), 0);
	start(&c, "", f.path, other, NULL);
	listen_to(&c);
	assert_int_equal(symbols__see(s, c.pid), 0);
	check_program(s, &c, "program", true);
	before = c.at[GLOBAL];
	assert_int_equal(write(c.in, "x", 1), 1);
	listen_to(&c);
	assert_int_equal(symbols__see(s, c.pid), 0);
	check_program(s, &c, "other", true);
	assert_int_equal(user(s, c.pid, before).kind, SYMBOL_UNKNOWN);
	end(&c);
	fixture__free(&f);
	symbols__free(s);
}

static void cxx(void **state)
{
	static const char text[] =
		"#include <cstdio>\n"
		"#include <unistd.h>\n"
		"namespace space { struct Class { int method(const char *a) const; }; }\n"
		"__attribute__((noinline)) int space::Class::method(const char *a) const\n"
		"{ asm volatile(\"\"); return *a; }\n"
		"int main() { char c = 0; space::Class o;\n"
		"	auto p = &space::Class::method;\n"
		"	printf(\"%p 0 0 0 0\\n\", *(void **)&p); fflush(stdout);\n"
		"	return read(0, &c, 1) + o.method(&c); }\n";
	struct symbols *s = new_symbols();
	struct fixture f;
	struct child c;

	(void)state;
	if (run_command("command -v g++ >/dev/null"))
		skip();
	fixture__init(&f);
	fixture__compile(&f, "program", text, "g++ -xc++ -O1");
	start(&c, "", f.path, NULL, NULL);
	listen_to(&c);
	assert_int_equal(symbols__see(s, c.pid), 0);
#ifdef HAVE_LIBIBERTY
	assert_string_equal(name_at(s, c.pid, c.at[0] + 1),
			    "space::Class::method(char const*) const+1");
#else
	assert_string_equal(name_at(s, c.pid, c.at[0] + 1), "_ZNK5space5Class6methodEPKc+1");
#endif
	end(&c);
	fixture__free(&f);
	symbols__free(s);
}

/* --- this process ----------------------------------------------------------------------------- */

static void own(void **state)
{
	struct symbols *s = new_symbols();
	u32 pid = getpid();
	char on_stack, *on_heap = malloc(100);
	struct symbol found;

	(void)state;
	assert_int_equal(user(s, pid, (u64)own).kind, SYMBOL_UNKNOWN);
	assert_null(user(s, pid, (u64)own).module);
	assert_int_equal(symbols__see(s, pid), 0);
	assert_int_equal(symbols__see(s, pid), 0);
	assert_string_equal(name_at(s, pid, (u64)own), "own+0");
	assert_string_equal(name_at(s, pid, (u64)fixture__init + 1), "fixture__init+1");
	assert_string_equal(name_at(s, pid, (u64)symbols__new), "symbols__new+0");
	assert_int_equal(user(s, pid, 0).kind, SYMBOL_UNKNOWN);
	assert_int_equal(user(s, pid, UINT64_MAX).kind, SYMBOL_UNKNOWN);
	found = user(s, pid, (u64)&on_stack);
	assert_string_equal(found.module, "[stack]");
	assert_null(found.path);
#ifndef __SANITIZE_ADDRESS__
	assert_string_equal(user(s, pid, (u64)on_heap).module, "[heap]");
#endif
	free(on_heap);
	symbols__free(s);
}

/* The first and the last byte of each mapping of libc belong to it, and qsort() has its name. */
static void libc(void **state)
{
	struct symbols *s = new_symbols();
	char line[512], last[512];
	u32 pid = getpid();
	u64 from, to;
	FILE *file;
	size_t n = 0;

	(void)state;
	assert_int_equal(symbols__see(s, pid), 0);
	file = fopen("/proc/self/maps", "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx-%llx", &from, &to) != 2 || !strstr(line, "/libc"))
			continue;
		snprintf(last, sizeof(last), "%s", strrchr(line, '/') + 1);
		last[strcspn(last, "\n")] = 0;
		assert_string_equal(user(s, pid, from).module, last);
		assert_string_equal(user(s, pid, to - 1).module, last);
		n++;
	}
	fclose(file);
	if (n) {
		struct symbol found = user(s, pid, (u64)dlsym(RTLD_DEFAULT, "qsort"));

		assert_string_equal(found.name, "qsort");
		assert_int_equal(found.offset, 0);
	}
	symbols__free(s);
}

static void vdso(void **state)
{
	struct symbols *s = new_symbols();
	u64 start_of = getauxval(AT_SYSINFO_EHDR), address;
	struct symbol found;
	void *image;

	(void)state;
	image = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!image)
		skip();
	address = (u64)dlsym(image, "__vdso_clock_gettime");
	dlclose(image);
	assert_int_equal(symbols__see(s, getpid()), 0);
	found = user(s, getpid(), address + 1);
	assert_int_equal(found.kind, SYMBOL_VDSO);
	assert_string_equal(found.module, "[vdso]");
	assert_null(found.path);
	assert_string_equal(found.name, "clock_gettime");
	assert_int_equal(found.offset, 1);
	assert_int_equal(found.module_offset, address + 1 - start_of);
	symbols__free(s);
}

/* A library is loaded and unloaded while the process is observed. */
static void libraries(void **state)
{
	struct symbols *s = new_symbols();
	u32 pid = getpid();
	struct fixture f;
	u64 address;
	void *library;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "library.so", "int in_library(int a) { return a + 1; }\n",
			 "cc -shared -fPIC");
	assert_int_equal(symbols__see(s, pid), 0);
	library = dlopen(f.path, RTLD_NOW);
	if (!library)
		skip();                 /* a static build */
	address = (u64)dlsym(library, "in_library");
	assert_string_equal(name_at(s, pid, address), "(none)");
	assert_int_equal(symbols__see(s, pid), 0);
	assert_string_equal(name_at(s, pid, address), "in_library+0");
	dlclose(library);
	assert_int_equal(symbols__see(s, pid), 0);
	assert_string_equal(name_at(s, pid, address), "in_library+0");
	fixture__free(&f);
	symbols__free(s);
}

/* --- the kernel ------------------------------------------------------------------------------- */

static void kernel(void **state)
{
	struct kernel_functions all;
	struct symbols *s = new_symbols();
	struct symbol found;
	size_t i, named = 0;

	(void)state;
	assert_int_equal(symbols__kernel(s, 0, &found), 0);
	assert_int_equal(found.kind, SYMBOL_UNKNOWN);
	assert_int_equal(symbols__kernel(s, 0xffff000000001234, &found), 0);
	assert_int_equal(found.kind, SYMBOL_KERNEL);
	assert_null(found.name);
	assert_string_equal(found.module, "[kernel]");
	assert_int_equal(kernel_functions__find(&all, NULL, NULL), 0);
	for (i = 0; i < all.n; i += 7) {
		const struct kernel_function *k = &all.function[i];
		/* A function that seems longer has no successor, and its size has a limit. */
		u64 inside = k->size && k->size <= 64 << 10 ? k->size - 1 : 0;

		if (!k->address)
			continue;
		assert_int_equal(symbols__kernel(s, k->address + inside, &found), 0);
		assert_int_equal(found.kind, SYMBOL_KERNEL);
		assert_non_null(found.name);
		assert_int_equal(found.offset, inside);
		assert_string_equal(found.module, k->module ?: "[kernel]");
		named += !strcmp(found.name, k->name);
	}
	/* The rest are aliases. */
	assert_true(!all.n || !all.function[all.n / 2].address || named > all.n / 7 * 8 / 10);
	kernel_functions__free(&all);
	symbols__free(s);
}

/* --- code made by the process ----------------------------------------------------------------- */

static u64 made_code;           /* mapped before the fork: at the same address in the copies */

static void say_made_code(void)
{
	char c;

	dprintf(1, "%llx 0 0 0 0\n", made_code);
	while (read(0, &c, 1) == 1)
		;
	_exit(0);
}

static void write_map(pid_t pid, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	write_file(path, text, strlen(text));
}

/* Looks up one address of a process that is seen for the first time. */
static void check_map(const struct child *c, const char *want)
{
	struct symbols *s = new_symbols();
	struct symbol found;

	assert_int_equal(symbols__see(s, c->pid), 0);
	assert_string_equal(name_at(s, c->pid, made_code + 0x104), want);
	found = user(s, c->pid, made_code + 0x104);
	assert_int_equal(found.kind, found.name ? SYMBOL_JIT : SYMBOL_USER);
	assert_string_equal(found.module, found.name ? "[JIT]" : "[anon]");
	assert_int_equal(found.module_offset, 0x104);
	symbols__free(s);
}

static void jit_maps(void **state)
{
	static const struct timespec long_ago[] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1, .tv_nsec = 1 } };
	char path[64], other[80], text[128];
	struct symbols *s = new_symbols();
	struct child c;

	(void)state;
	start(&c, "", NULL, NULL, say_made_code);
	listen_to(&c);
	assert_int_equal(c.at[0], made_code);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", c.pid);
	snprintf(other, sizeof(other), "%s.other", path);
	snprintf(text, sizeof(text), "%llx 20 made up\n", made_code + 0x100);
	check_map(&c, "(none)");
	assert_int_equal(symbols__see(s, c.pid), 0);
	assert_string_equal(name_at(s, c.pid, made_code + 0x104), "(none)");

	/* The map appears after the process has been seen, and grows. */
	write_map(c.pid, text);
	check_map(&c, "made up+4");
	assert_int_equal(symbols__see(s, c.pid), 0);
	assert_string_equal(name_at(s, c.pid, made_code + 0x104), "made up+4");
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "%llx 30 and more\n",
		 made_code + 0x200);
	write_map(c.pid, text);
	assert_string_equal(name_at(s, c.pid, made_code + 0x204), "(none)");
	assert_int_equal(symbols__see(s, c.pid), 0);
	assert_string_equal(name_at(s, c.pid, made_code + 0x204), "and more+4");

	/* A map written before the process began belongs to another one that had its pid. */
	assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	check_map(&c, "(none)");
	assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
	check_map(&c, "made up+4");

	/* Maps that are links are not read, nor are another user's. */
	assert_int_equal(link(path, other), 0);
	check_map(&c, "(none)");
	assert_int_equal(unlink(path), 0);
	check_map(&c, "(none)");
	assert_int_equal(symlink(other, path), 0);
	check_map(&c, "(none)");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0666), 0);
	check_map(&c, "(none)");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rename(other, path), 0);
	check_map(&c, "made up+4");
	if (!geteuid()) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		check_map(&c, "(none)");
	}
	unlink(path);
	end(&c);
	/* A map that was open when the process ended can still be read. */
	assert_string_equal(name_at(s, c.pid, made_code + 0x104), "made up+4");
	symbols__free(s);
}

/* The first process of a pid namespace, with a /tmp of its own. */
static void contained(void)
{
	char text[64];

	if (unshare(CLONE_NEWNS | CLONE_NEWPID) || fork())
		_exit(wait(NULL) > 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL))
		_exit(1);
	snprintf(text, sizeof(text), "%llx 20 contained\n", made_code + 0x100);
	write_map(getpid(), text);
	say_made_code();
}

static pid_t only_child(pid_t pid)
{
	char path[64], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return atoi(text);
}

static void contained_jit_map(void **state)
{
	struct child c, inner;

	(void)state;
	if (geteuid() || access("/proc/self/ns/pid", F_OK))
		skip();
	start(&c, "", NULL, NULL, contained);
	listen_to(&c);
	inner = c;
	inner.pid = only_child(c.pid);
	check_map(&inner, "contained+4");
	assert_int_equal(kill(inner.pid, SIGKILL), 0);
	close(c.in);
	close(c.out);
	assert_int_equal(waitpid(c.pid, NULL, 0), c.pid);
}

static int map_code(void **state)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	made_code = (u64)p;
	return p == MAP_FAILED;
}

/* --- many, and hostile ------------------------------------------------------------------------ */

static size_t open_files(void)
{
	size_t n = 0;
	int fd;

	for (fd = 0; fd < 1000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Hundreds of processes run one program, and nothing stays open or running in the end. */
static void many(void **state)
{
	struct symbols *s = new_symbols();
	size_t before = open_files(), after, i;
	u32 pid[200];
	struct child c;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(pid); i++) {
		start(&c, "", NULL, NULL, say_made_code);
		listen_to(&c);
		assert_int_equal(symbols__see(s, c.pid), 0);
		pid[i] = c.pid;
		end(&c);
	}
	after = open_files();
	assert_in_range(after, before, before + 60);
	for (i = 0; i < ARRAY_SIZE(pid); i++)
		assert_string_equal(name_at(s, pid[i], (u64)say_made_code), "say_made_code+0");
	symbols__free(s);
	assert_int_equal(open_files(), before);
	opener__end();
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

#define LONG_NAMES 1300
#define LONG_NAME 250
#define LONG_DEPTH 15
#define OTHER_USER 65534

static char long_directory[] = "/tmp/tally-unit-XXXXXX";
static uid_t long_user;

/* Maps files that no other process maps, with names that take almost 5 MB in all. */
static void map_long_names(void)
{
	char name[LONG_NAME + 1] = "";
	int i, fd;

	if (chdir(long_directory) || (long_user && setresuid(long_user, long_user, long_user)))
		_exit(4);
	snprintf(name, sizeof(name), "%d", getpid());
	memset(name + strlen(name), 'x', LONG_NAME - strlen(name));
	for (i = 0; i < LONG_DEPTH; i++)
		if (mkdir(name, 0755) || chdir(name))
			_exit(5);
	fd = open("0", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 4096))
		_exit(6);
	for (i = 1; i <= LONG_NAMES; i++) {
		snprintf(name, sizeof(name), "%d", i);
		if (link("0", name) || close(fd))
			_exit(7);
		fd = open(name, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(8);
	}
	say_made_code();
}

/* Runs such a process as that user, and returns how many of its mappings get no names. */
static u64 unnamed_of(struct symbols *s, uid_t uid)
{
	u64 before = symbols__bounds(s).unnamed;
	u64 begin_ns = monotonic_ns();
	struct child c;

	long_user = uid;
	start(&c, "", NULL, NULL, map_long_names);
	listen_to(&c);
	assert_int_equal(symbols__see(s, c.pid), 0);
	end(&c);
	symbols__exited(s, c.pid, begin_ns);
	return symbols__bounds(s).unnamed - before;
}

/* A process has 4 MiB for new names, and a user other than root 8 MiB. Mappings of others still get names. */
static void long_names(void **state)
{
	struct symbols *s = new_symbols();
	char command[64];
	int i;

	(void)state;
	assert_non_null(mkdtemp(long_directory));
	assert_int_equal(chmod(long_directory, 0777), 0);
	assert_in_range(unnamed_of(s, 0), 1, LONG_NAMES / 2);
	for (i = 0; i < 2; i++)
		assert_in_range(unnamed_of(s, OTHER_USER), 1, LONG_NAMES / 2);
	assert_true(unnamed_of(s, OTHER_USER) > LONG_NAMES);
	assert_int_equal(symbols__see(s, getpid()), 0);
	assert_string_equal(user(s, getpid(), (u64)long_names).module, "test_symbols");
	/* Now the names of libraries are known, and cost nothing. */
	assert_int_equal(unnamed_of(s, OTHER_USER), LONG_NAMES);
	/* The processes have ended. Their room is free once nobody uses the names. */
	symbols__forget_over(s, UINT64_MAX);
	assert_int_equal(unnamed_of(s, OTHER_USER), LONG_NAMES);
	symbols__forget_over(s, UINT64_MAX);
	symbols__forget_names(s);
	assert_in_range(unnamed_of(s, OTHER_USER), 1, LONG_NAMES / 2);
	assert_string_equal(user(s, getpid(), (u64)long_names).module, "test_symbols");
	symbols__free(s);
	snprintf(command, sizeof(command), "rm -rf %s", long_directory);
	assert_int_equal(system(command), 0);
}

/* The process maps more files than are held open. */
static void many_files(void **state)
{
	struct symbols *s = new_symbols();
	size_t before, i;
	void *library[300];
	char path[96];
	struct fixture f;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "library.so", "int in_library(int a) { return a + 1; }\n",
			 "cc -shared -fPIC");
	for (i = 0; i < ARRAY_SIZE(library); i++) {
		snprintf(path, sizeof(path), "%s.%zu", f.path, i);
		assert_int_equal(run_command("cp %s %s", f.path, path), 0);
		library[i] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!library[i])
			skip();         /* a static build */
	}
	before = open_files();
	assert_int_equal(symbols__see(s, getpid()), 0);
	assert_in_range(open_files(), before + 200, before + 260);
	for (i = 0; i < ARRAY_SIZE(library); i++) {
		assert_string_equal(name_at(s, getpid(), (u64)dlsym(library[i], "in_library")),
				    "in_library+0");
		dlclose(library[i]);
	}
	symbols__free(s);
	fixture__free(&f);
}

/* The data kept about processes has a limit: when there is too much, the process seen first is dropped. */
static void forgotten(void **state)
{
	struct symbols *s = new_symbols();
	struct child first, second;
	char path[64];
	FILE *file;
	u64 i;

	(void)state;
	start(&first, "", NULL, NULL, say_made_code);
	listen_to(&first);
	start(&second, "", NULL, NULL, say_made_code);
	listen_to(&second);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", first.pid);
	file = fopen(path, "we");
	assert_non_null(file);
	for (i = 0; i < 1100000; i++)
		fprintf(file, "%llx 1 x\n", made_code + i);
	fclose(file);
	assert_int_equal(symbols__see(s, first.pid), 0);
	unlink(path);
	assert_string_equal(name_at(s, first.pid, made_code), "x+0");
	assert_int_equal(user(s, second.pid, made_code).kind, SYMBOL_UNKNOWN);
	assert_int_equal(symbols__see(s, second.pid), 0);
	assert_int_equal(user(s, first.pid, made_code).kind, SYMBOL_UNKNOWN);
	assert_int_equal(user(s, second.pid, made_code).kind, SYMBOL_USER);
	end(&first);
	end(&second);
	symbols__free(s);
}

static void read_damaged(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct elf_symbols s;
	u64 address, i;

	assert_true(fd >= 0);
	err = elf_symbols__read(&s, fd, fd, NULL);
	if (err == -ESTALE)             /* the build ID is gone */
		err = elf_symbols__read(&s, fd, -1, NULL);
	close(fd);
	/* -EBADMSG would be a crash. */
	if (err != -ENOEXEC)
		assert_int_equal(err, 0);
	if (err)
		return;
	for (i = 0; i < 64; i++)
		if (!elf_symbols__address(&s, i << 8, &address))
			symbol_table__find(&s.table, address);
	elf_symbols__free(&s);
}

/* A mapping may begin with pages that it shares with the segment before it: code gets the addresses of its own
 * segment. */
static void mappings_begin_with_pages(void **state)
{
	/* Layouts of lld and GNU ld, and a mapping in the middle of a segment. */
	static struct elf_segment lld[] = { { 0, 0, 0x12dcc, false },
					    { 0x13dd0, 0x12dd0, 0x3d580, true },
					    { 0x52350, 0x50350, 0x2748, false },
					    { 0x65000, 0x53000, 0x1000, true } },
				  gnu[] = { { 0, 0, 0x618, false },
					    { 0x1000, 0x1000, 0x2bd, true },
					    { 0x2000, 0x2000, 0x10, false } };
	const struct elf_symbols of_lld = { .segment = lld, .nsegments = ARRAY_SIZE(lld) },
				 of_gnu = { .segment = gnu, .nsegments = ARRAY_SIZE(gnu) };
	u64 address;

	(void)state;
	assert_int_equal(elf_symbols__mapped_address(&of_lld, 0x12000, &address), 0);
	assert_int_equal(address, 0x13000);
	assert_int_equal(elf_symbols__mapped_address(&of_lld, 0x20000, &address), 0);
	assert_int_equal(address, 0x21000);
	assert_int_equal(elf_symbols__mapped_address(&of_lld, 0x53000, &address), 0);
	assert_int_equal(address, 0x65000);
	assert_int_equal(elf_symbols__mapped_address(&of_gnu, 0x1000, &address), 0);
	assert_int_equal(address, 0x1000);
	assert_int_equal(elf_symbols__mapped_address(&of_gnu, 0x40000000, &address), -ENOENT);
}

/* Like musl's functions in assembly: no sizes, and no symbols of hidden functions once the file is stripped. */
#define UNSIZED(name, begin, end) \
	"asm(\".globl " name "\\n.type " name ",@function\\n.balign 16\\n" name ":\\n" begin "\\n.skip 16,0x90\\n" end \
	"\");\n"
#define HIDDEN(name) \
	"asm(\".type " name ",@function\\n.balign 16\\n" name ":\\n.skip 16,0x90\\n.size " name ",.-" name "\");\n"

struct unsized_want {
	u64 offset;             /* from the first function */
	const char *name;       /* NULL: none */
	bool is_near;
};

static void check_unsized(const struct fixture *f, const struct unsized_want *want, size_t n)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);
	struct elf_symbols s;
	u64 first = 0;
	size_t i;
	u32 k;

	assert_true(fd >= 0);
	assert_int_equal(elf_symbols__read(&s, fd, -1, NULL), 0);
	close(fd);
	for (k = 0; k < s.table.n; k++)
		if (!strcmp(symbol_table__name(&s.table, k), "with_frame"))
			first = s.table.entry[k].start;
	assert_true(first);
	for (i = 0; i < n; i++) {
		k = symbol_table__find(&s.table, first + want[i].offset);
		assert_int_equal(k == SYMBOL_NONE, !want[i].name);
		if (k == SYMBOL_NONE)
			continue;
		assert_string_equal(symbol_table__name(&s.table, k), want[i].name);
		assert_int_equal(s.table.entry[k].is_near, want[i].is_near);
	}
	elf_symbols__free(&s);
}

/* A symbol without a size ends where .eh_frame ends its function; without that, later addresses are only near it. */
static void without_sizes(void **state)
{
	static const char text[] = UNSIZED("with_frame", ".cfi_startproc", ".cfi_endproc") HIDDEN("hidden")
		UNSIZED("without_frame", "", "") HIDDEN("hidden_too") "int last(void) { return 1; }\n";
	static const struct unsized_want whole[] = {
		{ 0, "with_frame", false },     { 15, "with_frame", false },    { 16, "hidden", false },
		{ 32, "without_frame", false }, { 47, "without_frame", false }, { 48, "hidden_too", false },
	}, stripped[] = {
		{ 0, "with_frame", false },    { 15, "with_frame", false },   { 16, NULL, false },
		{ 32, "without_frame", true }, { 47, "without_frame", true }, { 48, "without_frame", true },
	};
	struct fixture f;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "library.so", text, "cc -O1 -fno-toplevel-reorder -shared -fPIC");
	check_unsized(&f, whole, ARRAY_SIZE(whole));
	assert_int_equal(run_command("strip %s", f.path), 0);
	check_unsized(&f, stripped, ARRAY_SIZE(stripped));
	fixture__free(&f);
}

static void damaged_files(void **state)
{
	struct fixture f;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -g -O1 -Wl,--build-id");
	damage(&f, 500, read_damaged);
	fixture__free(&f);
}

/* The child process without rights may have been taken over, and may answer anything. */
static void damaged_answers(void **state)
{
	struct random r = { 11 };
	struct elf_symbols s;
	struct fixture f;
	void *answer;
	size_t size, n, i;
	u64 address;
	char *copy;
	int fd;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -g -O1 -Wl,--build-id");
	fd = open(f.path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_symbols__ask(fd, -1, NULL, &answer, &size), 0);
	close(fd);
	fixture__free(&f);
	for (i = 0; i < 20000; i++) {
		n = i % 4 ? size : random__below(&r, size + 1);
		copy = malloc(n ?: 1);
		memcpy(copy, answer, n);
		while (n && random__below(&r, 4))
			copy[random__below(&r, i % 2 && n > 500 ? 500 : n)] = random__next(&r);
		if (!elf_symbols__take(&s, copy, n)) {
			if (!elf_symbols__address(&s, 0x1100, &address))
				symbol_table__find(&s.table, address);
			elf_symbols__free(&s);
		}
		free(copy);
	}
	free(answer);
}

static enum symbol_kind kind_at(struct symbols *s, const struct child *c, u64 at_ns, u64 address)
{
	struct symbol found;

	assert_int_equal(symbols__user_at(s, c->pid, at_ns, address, &found), 0);
	return found.kind;
}

/* Records are read later than /proc: mappings seen there belong to the program from its exec on, and not earlier. */
static void told_of_an_exec_after_it_was_seen(void **state)
{
	struct symbols *s = new_symbols();
	u64 first, begun, second;
	struct fixture f;
	struct child c;
	char other[80];

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, kinds[1]);
	snprintf(other, sizeof(other), "%s/other", f.dir);
	assert_int_equal(run_command("cc -w -O1 -pie -fPIE -o %s %s.c", other, f.path), 0);
	start(&c, "", f.path, other, NULL);
	listen_to(&c);
	begun = monotonic_ns();
	assert_int_equal(symbols__see(s, c.pid), 0);
	assert_int_equal(kind_at(s, &c, begun - 1, c.at[GLOBAL]), SYMBOL_USER);
	assert_int_equal(symbols__execed(s, c.pid, begun), 0);
	check_program(s, &c, "program", true);
	assert_int_equal(kind_at(s, &c, begun, c.at[GLOBAL]), SYMBOL_USER);
	assert_int_equal(kind_at(s, &c, begun - 1, c.at[GLOBAL]), SYMBOL_UNKNOWN);
	first = c.at[GLOBAL];
	second = monotonic_ns();
	assert_int_equal(write(c.in, "x", 1), 1);
	listen_to(&c);
	assert_int_equal(symbols__see(s, c.pid), 0);
	assert_int_equal(kind_at(s, &c, second, first), SYMBOL_USER);
	assert_int_equal(symbols__execed(s, c.pid, second), 0);
	check_program(s, &c, "other", true);
	assert_int_equal(kind_at(s, &c, second, c.at[GLOBAL]), SYMBOL_USER);
	assert_int_equal(kind_at(s, &c, second, first), SYMBOL_UNKNOWN);
	assert_int_equal(kind_at(s, &c, second - 1, first), SYMBOL_USER);
	assert_int_equal(kind_at(s, &c, second - 1, c.at[GLOBAL]), SYMBOL_UNKNOWN);
	end(&c);
	fixture__free(&f);
	symbols__free(s);
}

/* --- side-band records ------------------------------------------------------------------------ */

/* A process that cannot exist: no pid is that large. */
#define NOBODY 5000000

/* Copies the line of /proc/self/maps for the code of this program. */
static int copy_line(void *arg, const struct mapping_line *line)
{
	u64 here = (uintptr_t)copy_line;

	if (here < line->start || here >= line->end)
		return 0;
	*(struct mapping_line *)arg = *line;
	((struct mapping_line *)arg)->name = strdup(line->name);
	return 1;
}

static void assert_told_at(struct symbols *s, u32 pid, u64 at_ns, const char *name)
{
	struct symbol found;

	assert_int_equal(symbols__user_at(s, pid, at_ns, (uintptr_t)copy_line + 1, &found), 0);
	if (!name) {
		assert_int_equal(found.kind, SYMBOL_UNKNOWN);
		return;
	}
	assert_int_equal(found.kind, SYMBOL_USER);
	assert_non_null(found.name);
	assert_string_equal(found.name, name);
	assert_int_equal(found.offset, 1);
}

static void assert_told(struct symbols *s, u32 pid, const char *name)
{
	assert_told_at(s, pid, UINT64_MAX, name);
}

/* Returns since when the replaced mapping was there; 0: it replaces no mapping that has a name. */
static u64 map(struct symbols *s, u32 pid, const struct mapping_line *line, u64 at_ns)
{
	u64 replaced_ns = 0;

	assert_int_equal(symbols__mapped(s, pid, line, at_ns, &replaced_ns), 0);
	return replaced_ns;
}

static struct symbols *new_told(struct mapping_line *line)
{
	struct symbols *s;

	*line = (struct mapping_line){};
	assert_int_equal(mappings__each(getpid(), copy_line, line), 1);
	assert_int_equal(symbols__new(&s), 0);
	return s;
}

static void free_told(struct symbols *s, struct mapping_line *line)
{
	symbols__free(s);
	free((char *)line->name);
}

static void told(void **state)
{
	struct mapping_line line, other;
	struct symbols *s = new_told(&line);
	struct symbol found;

	(void)state;
	assert_int_equal(map(s, NOBODY, &line, 10), 0);
	assert_told(s, NOBODY, "copy_line");
	assert_told_at(s, NOBODY, 10, "copy_line");
	assert_told_at(s, NOBODY, 9, NULL);
	/* A child has its parent's mappings until it calls exec. */
	assert_int_equal(symbols__forked(s, NOBODY + 1, NOBODY, 20), 0);
	assert_told(s, NOBODY + 1, "copy_line");
	assert_int_equal(symbols__execed(s, NOBODY + 1, 30), 0);
	assert_told(s, NOBODY + 1, NULL);
	assert_told_at(s, NOBODY + 1, 29, "copy_line");
	assert_told_at(s, NOBODY + 1, 19, NULL);
	assert_told(s, NOBODY, "copy_line");
	assert_int_equal(symbols__forked(s, NOBODY + 3, NOBODY + 2, 40), 0);
	assert_told(s, NOBODY + 3, NULL);
	/* A mapping over the end of another one leaves the beginning of that one. */
	other = line;
	other.start = ((uintptr_t)copy_line & ~4095ULL) + 0x100000;
	other.end = other.start + 4096;
	other.name = "";
	map(s, NOBODY, &other, 50);
	assert_told(s, NOBODY, "copy_line");
	other.start = line.start;
	other.end = line.end;
	other.inode++;
	assert_int_equal(map(s, NOBODY, &other, 60), 10);
	assert_int_equal(symbols__user(s, NOBODY, (uintptr_t)copy_line, &found), 0);
	assert_null(found.name);
	assert_told_at(s, NOBODY, 59, "copy_line");
	/* The first mapping once more: the latest one counts, at any time. */
	assert_int_equal(map(s, NOBODY, &line, 70), 60);
	assert_told(s, NOBODY, "copy_line");
	assert_int_equal(symbols__user_at(s, NOBODY, 69, (uintptr_t)copy_line, &found), 0);
	assert_null(found.name);
	free_told(s, &line);
}

/* A mapping in a child replaces one that is in code shared with its parent. */
static void told_in_child(void **state)
{
	struct mapping_line line, other;
	struct symbols *s = new_told(&line);

	(void)state;
	map(s, NOBODY, &line, 10);
	assert_int_equal(symbols__forked(s, NOBODY + 1, NOBODY, 20), 0);
	other = line;
	other.name = "/nowhere";
	other.inode++;
	assert_int_equal(map(s, NOBODY + 1, &other, 30), 10);
	assert_told(s, NOBODY, "copy_line");
	assert_told_at(s, NOBODY + 1, 29, "copy_line");
	free_told(s, &line);
}

/* A reused pid is another process; an ended process is forgotten when nobody needs it. */
static void told_again(void **state)
{
	struct mapping_line line;
	struct symbols *s = new_told(&line);

	(void)state;
	map(s, NOBODY, &line, 10);
	symbols__exited(s, NOBODY, 20);
	assert_told(s, NOBODY, "copy_line");
	assert_int_equal(symbols__forked(s, NOBODY, NOBODY + 1, 30), 0);
	assert_told(s, NOBODY, NULL);
	assert_told_at(s, NOBODY, 29, "copy_line");
	assert_false(symbols__is_over(s, NOBODY, 15, 30));
	assert_true(symbols__is_over(s, NOBODY, 15, 31));
	assert_false(symbols__is_over(s, NOBODY, 35, 100));
	symbols__forget_over(s, 30);
	assert_told_at(s, NOBODY, 29, "copy_line");
	symbols__forget_over(s, 31);
	assert_told_at(s, NOBODY, 29, NULL);
	assert_told(s, NOBODY, NULL);
	free_told(s, &line);
}

/* Other threads may outlive the first one: a process is over once its pid is found gone, not before. */
static void told_end(void **state)
{
	struct mapping_line line;
	struct symbols *s = new_told(&line);
	u64 before_ns = monotonic_ns();

	(void)state;
	map(s, NOBODY, &line, 10);
	map(s, getpid(), &line, 10);
	symbols__exited(s, NOBODY, 20);
	symbols__exited(s, getpid(), 20);
	symbols__forget_over(s, before_ns);
	assert_told(s, NOBODY, "copy_line");
	assert_false(symbols__is_over(s, NOBODY, 15, before_ns));
	assert_true(symbols__is_over(s, NOBODY, 15, UINT64_MAX));
	assert_false(symbols__is_over(s, getpid(), 15, UINT64_MAX));
	symbols__forget_over(s, UINT64_MAX);
	assert_told(s, NOBODY, NULL);
	assert_told(s, getpid(), "copy_line");
	free_told(s, &line);
}

/* The same holds without any record, and with the records of another process that has the pid now. */
static void end_of_unknown(void **state)
{
	struct mapping_line line;
	struct symbols *s = new_told(&line);
	u64 before_ns = monotonic_ns();

	(void)state;
	assert_false(symbols__is_over(s, NOBODY, 15, before_ns));
	assert_false(symbols__is_over(s, NOBODY, 15, before_ns));
	assert_true(symbols__is_over(s, NOBODY, 15, UINT64_MAX));
	assert_int_equal(symbols__forked(s, NOBODY + 1, NOBODY, 30), 0);
	assert_false(symbols__is_over(s, NOBODY + 1, 15, 30));
	assert_true(symbols__is_over(s, NOBODY + 1, 15, 31));
	assert_false(symbols__is_over(s, getpid(), 15, UINT64_MAX));
	free_told(s, &line);
}

static size_t count_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

#define FILES 50

/* Files that were never looked up are closed with the last program that had them mapped. */
static void told_files_are_closed(void **state)
{
	char directory[] = "/tmp/tally-unit-XXXXXX", path[FILES][64];
	struct mapping_line line, other;
	struct symbols *s = new_told(&line);
	size_t i, before = count_open();
	struct stat st;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(directory));
	other = line;
	for (i = 0; i < FILES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%zu", directory, i);
		fd = open(path[i], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		assert_true(fd >= 0 && !fstat(fd, &st));
		close(fd);
		other.name = path[i];
		other.inode = st.st_ino;
		other.device = st.st_dev;
		other.start = 0x1000000 + i * 0x10000;
		other.end = other.start + 0x1000;
		map(s, NOBODY, &other, 10);
		if (!i)
			map(s, NOBODY + 1, &other, 10);
	}
	assert_int_equal(count_open(), before + FILES);
	symbols__exited(s, NOBODY, 20);
	symbols__forget_over(s, monotonic_ns());
	assert_int_equal(count_open(), before + FILES);
	symbols__forget_over(s, UINT64_MAX);
	assert_int_equal(count_open(), before + 1);
	map(s, NOBODY, &other, 30);
	assert_int_equal(count_open(), before + 2);
	for (i = 0; i < FILES; i++)
		unlink(path[i]);
	rmdir(directory);
	free_told(s, &line);
}

/* A program that maps code a million times a second loses only its own names. */
static void told_too_much(void **state)
{
	struct mapping_line line, other;
	struct symbols *s = new_told(&line);
	u64 i, start = 1000 * NSEC_PER_SEC;

	(void)state;
	other = line;
	other.name = "/nowhere";
	for (i = 0; i < 100000; i++) {
		other.start = 0x1000000 + i * 8192;
		other.end = other.start + 4096;
		other.inode = i + 1;
		map(s, NOBODY, &other, start);
	}
	assert_int_equal(symbols__bounds(s).skipped, 100000 - 4096);
	map(s, NOBODY, &line, start);
	assert_told(s, NOBODY, NULL);
	map(s, NOBODY + 1, &line, start);
	assert_told(s, NOBODY + 1, "copy_line");
	/* After a second, some more of its mappings are accepted. */
	map(s, NOBODY, &line, start + 2 * NSEC_PER_SEC);
	assert_told(s, NOBODY, "copy_line");
	free_told(s, &line);
}

#define TOLD_FILES 300

static int count_marks(void *arg, const struct symbols_code *code)
{
	*(u32 *)arg += code->mark != NULL;
	return 0;
}

/* A caller that needs the files of code gets all of them, though more than are held open were mapped at once. */
static void code_of_many_files(void **state)
{
	char directory[] = "/tmp/tally-unit-XXXXXX", path[64];
	struct symbols *s;
	u32 i, marks = 0;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(symbols__new(&s), 0);
	for (i = 0; i < TOLD_FILES; i++) {
		struct mapping_line line = { .start = (1ULL + i) << 20, .executable = true };
		struct stat st;
		int fd;

		snprintf(path, sizeof(path), "%s/%u", directory, i);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &st), 0);
		close(fd);
		line.end = line.start + 4096;
		line.inode = st.st_ino;
		line.device = st.st_dev;
		line.name = path;
		map(s, NOBODY, &line, 1);
	}
	assert_int_equal(symbols__each_code(s, NOBODY, count_marks, &marks), 0);
	assert_int_equal(marks, TOLD_FILES);
	symbols__free(s);
	for (i = 0; i < TOLD_FILES; i++) {
		snprintf(path, sizeof(path), "%s/%u", directory, i);
		unlink(path);
	}
	rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs),
		cmocka_unit_test(gone),
		cmocka_unit_test(deleted),
		cmocka_unit_test(debug_links),
		cmocka_unit_test(containers),
		cmocka_unit_test(executed),
		cmocka_unit_test(told_of_an_exec_after_it_was_seen),
		cmocka_unit_test(cxx),
		cmocka_unit_test(own),
		cmocka_unit_test(libc),
		cmocka_unit_test(vdso),
		cmocka_unit_test(libraries),
		cmocka_unit_test(kernel),
		cmocka_unit_test(jit_maps),
		cmocka_unit_test(contained_jit_map),
		cmocka_unit_test(many),
		cmocka_unit_test(long_names),
		cmocka_unit_test(many_files),
		cmocka_unit_test(forgotten),
		cmocka_unit_test(told),
		cmocka_unit_test(told_in_child),
		cmocka_unit_test(told_again),
		cmocka_unit_test(told_end),
		cmocka_unit_test(end_of_unknown),
		cmocka_unit_test(told_files_are_closed),
		cmocka_unit_test(told_too_much),
		cmocka_unit_test(code_of_many_files),
		cmocka_unit_test(mappings_begin_with_pages),
		cmocka_unit_test(without_sizes),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(damaged_answers),
	};

	return cmocka_run_group_tests_name("symbols", tests, map_code, NULL);
}
