// SPDX-License-Identifier: BSD-2-Clause
/*
 * Source places of addresses: in programs with known lines, built by several compilers; of every
 * instruction of one program, compared with addr2line; and in damaged files.
 */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf_fixture.h"
#include "sym/source_file.h"
#include "sym/symbols.h"
#include "types/dwarf_source.h"

/* Prints where leaf() returns to: inner() inlined in middle() inlined in outer(); then inner() inlined in outer(). */
static const char source[] =
	"#include <stdio.h>\n"
	"static void *at[2];\n"
	"static int n;\n"
	"__attribute__((noinline)) void leaf(void)\n"
	"{ at[n++] = __builtin_return_address(0); asm volatile(\"\"); }\n"
	"#line 10 \"inner.h\"\n"
	"static inline __attribute__((always_inline)) void inner(void) {\n"
	"	leaf();\n"
	"	asm volatile(\"\"); }\n"
	"#line 20 \"middle.h\"\n"
	"static inline __attribute__((always_inline)) void middle(void) {\n"
	"	inner();\n"
	"	asm volatile(\"\"); }\n"
	"#line 30 \"/dir/outer.c\"\n"
	"__attribute__((noinline)) void outer(void) {\n"
	"	middle();\n"
	"	inner();\n"
	"	asm volatile(\"\"); }\n"
	"int main(void)\n"
	"{\n"
	"	outer();\n"
	"	printf(\"%p %p\\n\", at[0], at[1]);\n"
	"	fflush(stdout);\n"
	"	return getchar();\n"
	"}\n";

static const char by_middle[] = "inner inner.h:11, middle middle.h:21, outer outer.c:31";
static const char by_inner[] = "inner inner.h:11, outer outer.c:32";

/* --- programs that run ------------------------------------------------------------------------ */

struct child {
	pid_t pid;
	int in;
	u64 at[2];
};

static void start(struct child *c, const char *path)
{
	int in[2], out[2];
	char text[64] = "", *next;
	size_t n = 0;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (!c->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, NULL);
		_exit(3);
	}
	close(in[0]);
	close(out[1]);
	c->in = in[1];
	while (!strchr(text, '\n') && read(out[0], text + n, 1) == 1)
		n++;
	close(out[0]);
	c->at[0] = strtoull(text, &next, 16);
	c->at[1] = strtoull(next, NULL, 16);
	assert_true(c->at[0] && c->at[1]);
}

static void end(struct child *c)
{
	close(c->in);
	kill(c->pid, SIGKILL);
	assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ?: "?";
}

/* Formats places as "inner inner.h:11, outer outer.c:32". */
static const char *text_of(const struct source_place *place, size_t n)
{
	static char text[4096];
	size_t at = 0, i;

	text[0] = 0;
	for (i = 0; i < n && at < sizeof(text); i++)
		at += snprintf(text + at, sizeof(text) - at, "%s%s %s:%u", i ? ", " : "",
			       place[i].function ?: "?", base_name(place[i].file), place[i].line);
	return text;
}

static const char *source_of(struct symbols *s, u32 pid, u64 address)
{
	const struct source_place *place;
	size_t n;

	assert_int_equal(symbols__user_source(s, pid, UINT64_MAX, address, &place, &n), 0);
	return text_of(place, n);
}

static struct symbols *new_symbols(void)
{
	struct symbols *s;

	assert_int_equal(symbols__new(&s), 0);
	assert_int_equal(symbols__want_source(s), 0);
	return s;
}

/* Runs the program, which has exited before its places are looked up; its file may be gone by then, too. */
static void check_program(const struct fixture *f, const char *first, const char *second)
{
	struct symbols *s = new_symbols();
	const struct source_place *place;
	struct child c;
	size_t n;
	int i;

	start(&c, f->path);
	assert_int_equal(symbols__see(s, c.pid), 0);
	end(&c);
	for (i = 0; i < 2; i++) {       /* the second time, the answers are known */
		assert_string_equal(source_of(s, c.pid, c.at[0] - 1), first);
		assert_string_equal(source_of(s, c.pid, c.at[1] - 1), second);
	}
	assert_int_equal(symbols__user_source(s, c.pid, UINT64_MAX, c.at[0] - 1, &place, &n), 0);
	if (n == 3 && place[0].function) {
		/* A relative path starts where the compiler ran. */
		assert_int_equal(place[0].file[0], '/');
		assert_string_equal(place[2].file, "/dir/outer.c");
	}
	symbols__free(s);
}

static const char *const compilers[] = {
	"cc -O2 -gdwarf-4",
	"cc -O2 -gdwarf-5",
	"cc -O2 -g -no-pie",
	"cc -O2 -g -static",
	"cc -O2 -g -gz",
	"cc -O2 -g1",
	"cc -O2 -g -flto",
	"clang -O2 -gdwarf-4",
	"clang -O2 -gdwarf-5",
	"clang -O2 -g1",
};

static void programs(void **state)
{
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(compilers); i++) {
		fixture__init(&f);
		fixture__compile(&f, "program", source, compilers[i]);
		check_program(&f, by_middle, by_inner);
		fixture__free(&f);
	}
}

/* --- separate files --------------------------------------------------------------------------- */

static const char *why_nothing(const struct fixture *f)
{
	struct symbols *s = new_symbols();
	static char said[128];
	struct child c;
	const char *name;
	size_t at = 0;
	int why = 0;

	start(&c, f->path);
	assert_int_equal(symbols__see(s, c.pid), 0);
	end(&c);
	assert_string_equal(source_of(s, c.pid, c.at[0] - 1), "");
	assert_string_equal(source_of(s, c.pid, c.at[1] - 1), "");
	name = symbols__sourceless(s, &at, &why);
	assert_non_null(name);
	snprintf(said, sizeof(said), "%s %d", base_name(name), -why);
	assert_null(symbols__sourceless(s, &at, &why));
	symbols__free(s);
	return said;
}

/* strip removes the symbols, too, or keeps them; the debug link finds the debug file if it is the right one. */
static void separate(void **state)
{
	static const char *const strips[] = { "strip", "strip -g" };
	struct fixture f;
	char nothing[32];
	size_t i;

	(void)state;
	snprintf(nothing, sizeof(nothing), "program %d", ENODATA);
	for (i = 0; i < ARRAY_SIZE(strips); i++) {
		fixture__init(&f);
		fixture__compile(&f, "program", source, "cc -O2 -g -Wl,--build-id=none");
		assert_int_equal(run_command("cd %s && objcopy --only-keep-debug program program.debug && "
					     "%s program && objcopy --add-gnu-debuglink=program.debug "
					     "program", f.dir, strips[i]), 0);
		check_program(&f, by_middle, by_inner);
		assert_int_equal(run_command("echo >> %s/program.debug", f.dir), 0);
		assert_string_equal(why_nothing(&f), nothing);
		assert_int_equal(run_command("rm %s/program.debug", f.dir), 0);
		assert_string_equal(why_nothing(&f), nothing);
		fixture__free(&f);
	}
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O2");
	assert_string_equal(why_nothing(&f), nothing);
	fixture__free(&f);
}

/* dwz moves common parts to a file of their own; without it, or with another one, functions lose their names. */
static void shared_parts(void **state)
{
	struct fixture f;

	(void)state;
	if (run_command("command -v dwz >/dev/null"))
		skip();
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O2 -gdwarf-4");
	assert_int_equal(run_command("cd %s && cp program other && dwz -m common -r program other "
				     "&& readelf -S program | grep -q gnu_debugaltlink", f.dir), 0);
	check_program(&f, by_middle, by_inner);
	assert_int_equal(run_command("cd %s && cp other common", f.dir), 0);
	check_program(&f, "? inner.h:11, ? middle.h:21, ? outer.c:31", "? inner.h:11, ? outer.c:32");
	fixture__free(&f);
}

/* --- every instruction ------------------------------------------------------------------------ */

/* Writes places like addr2line -i -f -s. */
static void put_like_addr2line(FILE *out, const struct dwarf_source_place *place, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		fprintf(out, "%s\n%s:%u\n", place[i].name ?: "??", base_name(place[i].file),
			place[i].line);
}

/* Where the debug information ends, addr2line goes on with symbols, so these addresses are left out. */
static void addr2line(void **state)
{
	struct dwarf_source_place place[DWARF_SOURCE_PLACES];
	struct dwarf_source *s;
	struct fixture f;
	struct dwarf *d;
	char path[80];
	FILE *asked, *said;
	u64 address;
	size_t n, known = 0;

	(void)state;
	fixture__init(&f);
	/* For addr2line's sake: DWARF 4, and no address with several line numbers. */
	fixture__compile(&f, "program", source, "cc -O2 -gdwarf-4 -gno-statement-frontiers");
	assert_int_equal(dwarf__open_fd(&d, open(f.path, O_RDONLY | O_CLOEXEC), -1), 0);
	assert_int_equal(dwarf_source__new(&s, d), 0);
	snprintf(path, sizeof(path), "%s/addresses", f.dir);
	asked = fopen(path, "we");
	snprintf(path, sizeof(path), "%s/ours", f.dir);
	said = fopen(path, "we");
	assert_true(asked && said);
	for (address = 0; address < 0x10000; address++) {
		assert_int_equal(dwarf_source__at(s, address, place, &n), 0);
		if (!n || !place[n - 1].name)
			continue;
		known++;
		fprintf(asked, "%llx\n", address);
		put_like_addr2line(said, place, n);
	}
	fclose(asked);
	fclose(said);
	assert_true(known > 100);
	assert_int_equal(run_command("cd %s && addr2line -i -f -s -e program < addresses | "
				     "sed 's/ (discriminator [0-9]*)//' | cmp - ours", f.dir), 0);
	dwarf_source__free(s);
	dwarf__close(d);
	fixture__free(&f);
}

/* --- readers ---------------------------------------------------------------------------------- */

static u64 address_of(const struct fixture *f, const char *symbol)
{
	char command[160];
	u64 address = 0;
	FILE *nm;

	snprintf(command, sizeof(command), "nm %s | grep ' %s$'", f->path, symbol);
	nm = popen(command, "re");
	assert_non_null(nm);
	assert_int_equal(fscanf(nm, "%llx", &address), 1);
	pclose(nm);
	return address;
}

static const char *ask(struct sources *s, struct source_file *f, u64 address)
{
	const struct source_place *place;
	size_t n;

	assert_int_equal(sources__ask(s, f, "program", address, &place, &n), 0);
	return text_of(place, n);
}

/* C++ names are shown as their authors wrote them, with parameters. */
static void cxx(void **state)
{
	static const char text[] =
		"namespace space { struct Class { int value;\n"
		"#line 10 \"method.h\"\n"
		"__attribute__((always_inline)) int method(int a) const\n"
		"{ asm volatile(\"\" : \"+r\"(a)); return value + a; } }; }\n"
		"#line 20 \"outer.cc\"\n"
		"extern \"C\" __attribute__((noinline)) int outer(const space::Class *c, int a)\n"
		"{ return c->method(a); }\n"
		"int main(int argc, char **) { space::Class c = { argc }; return outer(&c, argc); }\n";
#ifdef HAVE_LIBIBERTY
	static const char wanted[] = "space::Class::method(int) const method.h:11, outer outer.cc:21";
#else
	static const char wanted[] = "_ZNK5space5Class6methodEi method.h:11, outer outer.cc:21";
#endif
	struct source_file file;
	struct fixture f;
	struct sources s;
	u64 outer, i;

	(void)state;
	if (run_command("command -v g++ >/dev/null"))
		skip();
	fixture__init(&f);
	fixture__compile(&f, "program", text, "g++ -xc++ -O2 -g");
	outer = address_of(&f, "outer");
	sources__init(&s);
	source_file__init(&file);
	file.fd = open(f.path, O_RDONLY | O_CLOEXEC);
	sources__admit(&s, &file);
	for (i = 0; i < 16 && strcmp(ask(&s, &file, outer + i), wanted); i++)
		;
	assert_string_equal(ask(&s, &file, outer + i), wanted);
	sources__free(&s);
	source_file__free(&file);
	fixture__free(&f);
}

/* More files than readers are asked in turn; a killed reader costs one answer. */
static void readers(void **state)
{
	enum { FILES = 40 };
	struct source_file file[FILES];
	struct sources s;
	struct fixture f;
	char at[3][128];
	u64 outer;
	int i;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O2 -g");
	outer = address_of(&f, "outer");
	sources__init(&s);
	for (i = 0; i < FILES; i++) {
		source_file__init(&file[i]);
		file[i].fd = open(f.path, O_RDONLY | O_CLOEXEC);
		sources__admit(&s, &file[i]);
		strcpy(at[2], ask(&s, &file[i], outer));
		assert_non_null(strstr(at[2], "outer outer.c:"));
	}
	for (i = 0; i < 3; i++)
		strcpy(at[i], ask(&s, &file[0], outer + i));
	assert_true(s.nreaders < FILES);
	for (i = 0; i < FILES; i++)
		assert_string_equal(ask(&s, &file[i], outer + 1), at[1]);
	kill(file[FILES - 1].pid, SIGKILL);
	assert_string_equal(ask(&s, &file[FILES - 1], outer + 3), "");
	assert_string_equal(ask(&s, &file[FILES - 1], outer + 2), at[2]);
	sources__free(&s);
	for (i = 0; i < FILES; i++)
		source_file__free(&file[i]);
	fixture__free(&f);
}

/* SOURCE_MAX_FILES files stay open; the others are not asked, and the reason is recorded. */
static void many_files(void **state)
{
	enum { FILES = SOURCE_MAX_FILES + 10 };
	static struct source_file file[FILES];
	struct sources s;
	struct fixture f;
	size_t at = 0, n = 0;
	int i, why;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O2 -g");
	sources__init(&s);
	for (i = 0; i < FILES; i++) {
		source_file__init(&file[i]);
		file[i].fd = open(f.path, O_RDONLY | O_CLOEXEC);
		sources__admit(&s, &file[i]);
	}
	for (i = FILES - 11; i < FILES; i++)
		assert_int_equal(ask(&s, &file[i], address_of(&f, "leaf"))[0], i < SOURCE_MAX_FILES ? 'l' : 0);
	while (sources__sourceless(&s, &at, &why)) {
		assert_int_equal(why, -EMFILE);
		n++;
	}
	assert_int_equal(n, 10);
	sources__free(&s);
	for (i = 0; i < FILES; i++)
		source_file__free(&file[i]);
	fixture__free(&f);
}

/* Checks only that the questions come to an end, and that answers are texts. */
static void probe(const char *path)
{
	struct source_file file;
	struct sources s;
	u64 address;

	sources__init(&s);
	source_file__init(&file);
	file.fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(file.fd >= 0);
	sources__admit(&s, &file);
	for (address = 0x1000; address < 0x1300; address += 7)
		ask(&s, &file, address);
	sources__free(&s);
	source_file__free(&file);
}

static void damaged_files(void **state)
{
	static const char *const kinds[] = { "cc -O2 -gdwarf-4", "cc -O2 -gdwarf-5 -gz" };
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		fixture__init(&f);
		fixture__compile(&f, "program", source, kinds[i]);
		/* Keep only the parts that are read, so that most of the damage is there. */
		assert_int_equal(run_command("cd %s && objcopy --only-keep-debug program", f.dir), 0);
		damage(&f, 300, probe);
		fixture__free(&f);
	}
}

static void damaged_answers(void **state)
{
	static const char whole[] = "=\1\0\0\0outer\0/dir/outer.c\0\2\0\0\0\0";
	struct source_place place[SOURCE_MAX_PLACES];
	char answer[512];
	struct sources s;
	struct random r = { 7 };
	size_t n, size, i;

	(void)state;
	sources__init(&s);
	assert_int_equal(sources__take(&s, whole, sizeof(whole), place, &n), 0);
	assert_string_equal(text_of(place, n), "outer outer.c:1, ? ?:2");
	for (size = 0; size < sizeof(whole); size++) {
		/* An answer has whole places, or none. */
		int err = sources__take(&s, whole, size, place, &n);

		assert_int_equal(err, size == 1 || size == 24 ? 0 : -EBADMSG);
	}
	assert_int_equal(sources__take(&s, "!", 1, place, &n), -EBADMSG);
	memset(answer, 0, sizeof(answer));
	answer[0] = '=';
	assert_int_equal(sources__take(&s, answer, 1 + 6 * SOURCE_MAX_PLACES, place, &n), 0);
	assert_int_equal(n, SOURCE_MAX_PLACES);
	assert_int_equal(sources__take(&s, answer, 1 + 6 * (SOURCE_MAX_PLACES + 1), place, &n), -EBADMSG);
	for (i = 0; i < 10000; i++) {
		for (size = 1; size < 40; size++)
			answer[size] = random__below(&r, 3) ? random__next(&r) : 0;
		if (!sources__take(&s, answer, size, place, &n))
			text_of(place, n);
	}
	sources__free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs),
		cmocka_unit_test(separate),
		cmocka_unit_test(shared_parts),
		cmocka_unit_test(addr2line),
		cmocka_unit_test(cxx),
		cmocka_unit_test(readers),
		cmocka_unit_test(many_files),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(damaged_answers),
	};

#ifndef HAVE_LIBDW
	return 0;
#endif
	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
