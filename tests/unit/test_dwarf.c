// SPDX-License-Identifier: BSD-2-Clause
/*
 * Debug information of programs that the compiler makes from known source, optimized and not.
 * Locations of variables are checked by the compiler's own rules: arguments are in registers at the
 * entry (System V ABI), and in the frame after the prologue.
 */
#include "unit.h"

#include <sys/utsname.h>

#include "elf_fixture.h"
#include "types/binary.h"
#include "types/c_type.h"
#include "types/dwarf.h"
#include "types/dwarf_libdw.h"
#include "types/elf_file.h"

static const char source[] =
	"#define NOINLINE __attribute__((noinline, noclone))\n"         /* line 1 */
	"struct pair { int first; unsigned char rest[3][5]; };\n"
	"typedef unsigned long size;\n"
	"enum color { RED, GREEN = -1 };\n"
	"volatile long sink;\n"
	"static inline __attribute__((always_inline)) long inlined(long value)\n"
	"{\n"
	"	long twice = value * 2;\n"
	"	sink = twice;\n"
	"	return twice + 1;\n"                                    /* 10 */
	"}\n"
	"NOINLINE long known(int a, const char *text, struct pair *p, size n,\n"
	"		     enum color c, unsigned char f, long on_stack, double d)\n"
	"{\n"
	"	sink = a;\n"
	"	for (size i = 0; i < n; i++)\n"
	"		sink += text[i];\n"
	"	return p->first + c + on_stack + f + d;\n"
	"}\n"
	"NOINLINE long first(long x)\n"                                 /* 20 */
	"{\n"
	"	sink = x;\n"
	"	return inlined(x + 3);\n"
	"}\n"
	"NOINLINE long second(long x)\n"
	"{\n"
	"	static int calls = 4;\n"
	"	char buffer[16];\n"
	"	buffer[x & 15] = 1;\n"
	"	calls++;\n"                                             /* 30 */
	"	{\n"
	"		int x = calls + 2;\n"
	"		sink = x;\n"
	"	}\n"
	"	return inlined(x) + buffer[3];\n"
	"}\n"
	"int main(int argc, char *const *argv)\n"
	"{\n"
	"	struct pair p = { 1 };\n"
	"	return known(argc, argv[0], &p, 1, RED, 1, 2, 0.5) + first(argc) + second(argc);\n"
	"}\n";

/* libelf (0.188) leaks the data of a section if it fails to unpack it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libelf.so";
}

/* The fixture and its debug information. */
struct known {
	struct fixture fixture;
	struct dwarf *d;
};

static bool have_dwarf(void)
{
	struct dwarf *d;

	return dwarf__open(&d, "/nothing") != -EOPNOTSUPP;
}

static void known__open(struct known *k, const char *command)
{
	fixture__init(&k->fixture);
	fixture__compile(&k->fixture, "program", source, command);
	assert_int_equal(dwarf__open(&k->d, k->fixture.path), 0);
	assert_string_equal(dwarf__path(k->d), k->fixture.path);
}

static void known__close(struct known *k)
{
	dwarf__close(k->d);
	fixture__free(&k->fixture);
}

static struct dwarf_functions find(struct known *k, const char *name, size_t n)
{
	struct dwarf_functions found;

	assert_int_equal(dwarf_functions__find(&found, k->d, name), 0);
	assert_int_equal(found.n, n);
	return found;
}

static const struct dwarf_variable *variable(const struct dwarf_variables *v, const char *name)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (!strcmp(v->variable[i].name, name))
			return &v->variable[i];
	fail_msg("no variable '%s'", name);
	return NULL;
}

static const struct dwarf_line *line_of(const struct dwarf_lines *lines, u32 line)
{
	size_t i;

	for (i = 0; i < lines->n; i++)
		if (lines->line[i].line == line)
			return &lines->line[i];
	return NULL;
}

/* Every kind of debug information that compilers make or have made. */
static const char *const kinds[] = {
	"cc -g -O2",
	"cc -g -O0",
	"cc -gdwarf-4 -O2",
	"cc -gdwarf-2 -O1 -no-pie",
	"cc -gdwarf-5 -O2 -gz",
	"cc -gdwarf-4 -O2 -gz=zlib-gnu",
	"cc -g -O2 -fno-asynchronous-unwind-tables",
	"cc -g -O2 -flto",
	"clang -g -O2",
	"clang -gdwarf-4 -O1",
	"clang -g -O2",
};

static void functions(void **state)
{
	struct dwarf_functions found;
	struct binary_functions symbols;
	struct known k;
	size_t i;

	(void)state;
	if (!have_dwarf())
		skip();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		known__open(&k, kinds[i]);
		found = find(&k, "known", 1);
		assert_string_equal(found.function[0].name, "known");
		assert_null(found.function[0].linkage);
		assert_int_equal(found.function[0].line, 12);
		assert_non_null(strstr(found.function[0].file, "program.c"));
		assert_int_equal(found.function[0].nplaces, 1);
		assert_false(found.function[0].place[0].is_inlined);
		assert_int_equal(found.function[0].place[0].offset, 0);
		assert_string_equal(found.function[0].place[0].function, "known");
		assert_int_equal(binary_functions__find(&symbols, k.fixture.path, "known"), 0);
		assert_int_equal(symbols.n, 1);
		assert_int_equal(found.function[0].place[0].address, symbols.function[0].address);
		binary_functions__free(&symbols);
		dwarf_functions__free(&found);

		found = find(&k, "no_such", 0);
		dwarf_functions__free(&found);
		found = find(&k, "[ks]*n*", 2);
		assert_string_equal(found.function[0].name, "known");
		assert_string_equal(found.function[1].name, "second");
		dwarf_functions__free(&found);
		found = find(&k, NULL, 5);
		dwarf_functions__free(&found);
		known__close(&k);
	}
}

static void inlined_places(void **state)
{
	const struct dwarf_place *p;
	struct dwarf_functions found;
	struct known k;
	size_t i;

	(void)state;
	if (!have_dwarf())
		skip();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		known__open(&k, kinds[i]);
		found = find(&k, "inlined", 1);
		p = found.function[0].place;
		assert_int_equal(found.function[0].line, 6);
		assert_int_equal(found.function[0].nplaces, 2);
		assert_true(p[0].is_inlined && p[1].is_inlined);
		assert_true(p[0].address < p[1].address);
		assert_true(p[0].offset > 0 && p[1].offset > 0);
		assert_true((!strcmp(p[0].function, "first") && !strcmp(p[1].function, "second")) ||
			    (!strcmp(p[0].function, "second") && !strcmp(p[1].function, "first")));
		dwarf_functions__free(&found);
		known__close(&k);
	}
}

static void lines(void **state)
{
	const struct dwarf_line *l;
	struct dwarf_functions found;
	struct dwarf_lines all;
	struct known k;
	size_t i, n;

	(void)state;
	if (!have_dwarf())
		skip();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		known__open(&k, kinds[i]);
		found = find(&k, "second", 1);
		assert_int_equal(dwarf_lines__of(&all, k.d, &found.function[0]), 0);
		for (n = 0; n < all.n; n++) {
			l = &all.line[n];
			assert_true(l->line >= 25 && l->line <= 36);
			assert_int_equal(l->relative, l->line - 25);
			assert_true(l->naddresses > 0);
			assert_true(!n || l->line > l[-1].line);
			assert_true(dwarf__has_row(k.d, l->address[0]));
		}
		assert_false(dwarf__has_row(k.d, 1));
		assert_non_null(line_of(&all, 29));
		assert_non_null(line_of(&all, 30));
		assert_non_null(line_of(&all, 35));
		assert_null(line_of(&all, 34));
		dwarf_lines__free(&all);
		dwarf_functions__free(&found);

		/* A line of an inlined function has an address in each of its places. */
		found = find(&k, "inlined", 1);
		assert_int_equal(dwarf_lines__of(&all, k.d, &found.function[0]), 0);
		for (n = 0; n < all.n; n++)
			assert_true(all.line[n].line >= 6 && all.line[n].line <= 11);
		l = line_of(&all, 9);
		assert_non_null(l);
		assert_int_equal(l->relative, 3);
		assert_int_equal(l->naddresses, 2);
		assert_true(l->address[0] < l->address[1]);
		dwarf_lines__free(&all);
		dwarf_functions__free(&found);
		known__close(&k);
	}
}

/* "i = 0; i < n; i++" is entered from above and from the loop, but not once per expression. */
static void line_of_a_loop(void **state)
{
	struct dwarf_functions found;
	struct dwarf_lines all;
	struct known k;

	(void)state;
	if (!have_dwarf())
		skip();
	known__open(&k, "cc -g -O0");
	found = find(&k, "known", 1);
	assert_int_equal(dwarf_lines__of(&all, k.d, &found.function[0]), 0);
	assert_int_equal(line_of(&all, 16)->naddresses, 2);
	assert_int_equal(line_of(&all, 17)->naddresses, 1);
	assert_int_equal(line_of(&all, 18)->naddresses, 1);
	dwarf_lines__free(&all);
	dwarf_functions__free(&found);

	assert_int_equal(dwarf_lines__of_file(&all, k.d, "program.c"), 0);
	assert_non_null(line_of(&all, 9));
	assert_int_equal(line_of(&all, 9)->naddresses, 2);
	assert_int_equal(line_of(&all, 15)->naddresses, 1);
	dwarf_lines__free(&all);
	assert_int_equal(dwarf_lines__of_file(&all, k.d, "other.c"), -ENOENT);
	assert_int_equal(dwarf_lines__of_file(&all, k.d, "ogram.c"), -ENOENT);
	known__close(&k);
}

static void types(void **state)
{
	static const struct {
		const char *name, *type;
		enum dwarf_kind kind;
		u32 size;
		bool string;
	} cases[] = {
		{ "a", "int", DWARF_SIGNED, 4, false },
		{ "text", "const char *", DWARF_POINTER, 8, true },
		{ "p", "struct pair *", DWARF_POINTER, 8, false },
		{ "n", "size", DWARF_UNSIGNED, 8, false },
		{ "c", "enum color", DWARF_SIGNED, 4, false },
		{ "f", "unsigned char", DWARF_UNSIGNED, 1, false },
		{ "d", "double", DWARF_OTHER, 8, false },
	};
	const struct dwarf_variable *v;
	struct dwarf_functions found;
	struct dwarf_variables all;
	struct known k;
	size_t i, n;

	(void)state;
	if (!have_dwarf())
		skip();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		known__open(&k, kinds[i]);
		found = find(&k, "known", 1);
		assert_int_equal(dwarf_variables__of(&all, k.d, &found.function[0].place[0],
						     found.function[0].place[0].body, false), 0);
		for (n = 0; n < ARRAY_SIZE(cases); n++) {
			v = variable(&all, cases[n].name);
			assert_string_equal(v->type, cases[n].type);
			assert_int_equal(v->kind, cases[n].kind);
			assert_int_equal(v->size, cases[n].size);
			assert_int_equal(v->is_string, cases[n].string);
			assert_true(v->is_parameter);
		}
		assert_string_equal(all.variable[0].name, "a");
		assert_string_equal(all.variable[7].name, "d");
		dwarf_variables__free(&all);
		dwarf_functions__free(&found);
		known__close(&k);
	}
	known__open(&k, "cc -g -O0");
	found = find(&k, "main", 1);
	assert_int_equal(dwarf_variables__at(&all, k.d, found.function[0].place[0].body, true), 0);
	assert_string_equal(variable(&all, "argv")->type, "char *const *");
	assert_string_equal(variable(&all, "p")->type, "struct pair");
	assert_int_equal(variable(&all, "p")->kind, DWARF_STRUCT);
	assert_int_equal(variable(&all, "p")->size, 20);
	assert_string_equal(variable(&all, "sink")->type, "volatile long int");
	assert_int_equal(variable(&all, "sink")->where, DWARF_STATIC);
	dwarf_variables__free(&all);
	dwarf_functions__free(&found);
	known__close(&k);
}

#ifdef __x86_64__

/* At the entry, arguments are where the ABI puts them. 7 is rsp; the return address is at 0. */
static void arguments_at_the_entry(void **state)
{
	static const struct {
		const char *name;
		u32 reg;
	} registers[] = {
		{ "a", 5 }, { "text", 4 }, { "p", 1 }, { "n", 2 }, { "c", 8 }, { "f", 9 },
	};
	struct dwarf_functions found;
	struct dwarf_variables all;
	const struct dwarf_variable *v;
	struct known k;
	size_t i, n;
	u64 entry;

	(void)state;
	if (!have_dwarf())
		skip();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		known__open(&k, kinds[i]);
		found = find(&k, "known", 1);
		entry = found.function[0].place[0].address;
		assert_int_equal(dwarf_variables__at(&all, k.d, entry, false), 0);
		for (n = 0; n < ARRAY_SIZE(registers); n++) {
			v = variable(&all, registers[n].name);
			if (strstr(kinds[i], "-O0")) {
				/* It is not in the frame yet. */
				assert_int_equal(v->where, DWARF_NOWHERE);
				assert_int_equal(v->nlive, 1);
				assert_int_equal(v->live[0].start,
						 found.function[0].place[0].body);
				continue;
			}
			assert_int_equal(v->where, DWARF_REGISTER);
			assert_int_equal(v->reg, registers[n].reg);
			assert_int_equal(v->live[0].start, entry);
		}
		v = variable(&all, "on_stack");
		assert_int_equal(v->where, DWARF_MEMORY);
		assert_int_equal(v->reg, 7);
		assert_int_equal(v->offset, 8);
		dwarf_variables__free(&all);
		dwarf_functions__free(&found);
		known__close(&k);
	}
}

static void behind_the_prologue(void **state)
{
	const struct dwarf_variable *v;
	struct dwarf_functions found;
	struct dwarf_variables all;
	struct known k;
	size_t i;

	(void)state;
	if (!have_dwarf())
		skip();
	known__open(&k, "cc -g -O0");
	found = find(&k, "known", 1);
	assert_true(found.function[0].place[0].body > found.function[0].place[0].address);
	assert_int_equal(dwarf_variables__at(&all, k.d, found.function[0].place[0].body, false), 0);
	v = variable(&all, "a");
	assert_int_equal(v->where, DWARF_MEMORY);
	assert_int_equal(v->reg, 6);            /* rbp, which the prologue has set */
	assert_true(v->offset < 0);
	assert_true(v->nlive_lines >= 3);
	for (i = 0; i < v->nlive_lines; i++)
		assert_true(v->live_line[i] >= 3);      /* not the line of the name itself */
	dwarf_variables__free(&all);
	dwarf_functions__free(&found);
	known__close(&k);
}

#endif /* __x86_64__ */

/* An inner block's x hides the parameter; a static variable is at a fixed address. */
static void blocks(void **state)
{
	const struct dwarf_variable *v;
	struct dwarf_functions found;
	struct dwarf_variables all;
	struct dwarf_lines l;
	bool is_relative;
	struct known k;
	u64 address;

	(void)state;
	if (!have_dwarf())
		skip();
	known__open(&k, "cc -g -O0");
	found = find(&k, "second", 1);
	assert_int_equal(dwarf_lines__of(&l, k.d, &found.function[0]), 0);
	assert_int_equal(dwarf_variables__at(&all, k.d, line_of(&l, 33)->address[0], false), 0);
	assert_string_equal(variable(&all, "x")->type, "int");
	assert_false(variable(&all, "x")->is_parameter);
	assert_int_equal(all.n, 3);
	dwarf_variables__free(&all);

	assert_int_equal(dwarf_variables__at(&all, k.d, line_of(&l, 30)->address[0], false), 0);
	assert_int_equal(all.n, 3);
	assert_string_equal(all.variable[0].name, "x");
	assert_true(all.variable[0].is_parameter);
	v = variable(&all, "calls");
	assert_int_equal(v->where, DWARF_STATIC);
	v = variable(&all, "buffer");
	assert_string_equal(v->type, "char [16]");
	assert_int_equal(v->kind, DWARF_ARRAY);
	assert_int_equal(v->size, 16);
	assert_true(v->is_string);
	dwarf_variables__free(&all);

	assert_int_equal(dwarf_variables__at(&all, k.d, found.function[0].place[0].address, true),
			 0);
	assert_int_equal(binary__symbol(k.fixture.path, "sink", &address, &is_relative), 0);
	assert_int_equal(variable(&all, "sink")->offset, address);
	dwarf_variables__free(&all);
	assert_int_equal(dwarf_variables__at(&all, k.d, 0, false), -ENOENT);
	dwarf_lines__free(&l);
	dwarf_functions__free(&found);
	known__close(&k);
}

/* At an inlined place, the variables of the inlined function are visible, but not those around it. */
static void variables_of_inlined(void **state)
{
	struct dwarf_functions found;
	struct dwarf_variables all;
	struct known k;
	size_t i, n;

	(void)state;
	if (!have_dwarf())
		skip();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		known__open(&k, kinds[i]);
		found = find(&k, "inlined", 1);
		for (n = 0; n < 2; n++) {
			const struct dwarf_place *p = &found.function[0].place[n];

			assert_int_equal(dwarf_variables__of(&all, k.d, p, p->address, false), 0);
			assert_int_equal(all.n, 2);
			assert_string_equal(all.variable[0].name, "value");
			assert_true(all.variable[0].is_parameter);
			assert_string_equal(all.variable[1].name, "twice");
			dwarf_variables__free(&all);
		}
		dwarf_functions__free(&found);
		known__close(&k);
	}
}

/* --- other files ------------------------------------------------------------------------------ */

static void without(void **state)
{
	struct fixture f;
	struct dwarf *d;

	(void)state;
	if (!have_dwarf())
		skip();
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O1");
	assert_int_equal(dwarf__open(&d, f.path), -ENODATA);
	assert_int_equal(dwarf__open(&d, "/etc/passwd"), -ENOEXEC);
	assert_int_equal(dwarf__open(&d, "/nothing"), -ENOENT);
	fixture__free(&f);
}

static void separate(void **state)
{
	struct dwarf_functions found;
	struct dwarf_variables all;
	struct fixture f;
	struct dwarf *d;

	(void)state;
	if (!have_dwarf())
		skip();
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O2 -g");
	assert_int_equal(run_command("cd %s && objcopy --only-keep-debug program p.debug && strip "
				     "program && objcopy --add-gnu-debuglink=p.debug program",
				     f.dir), 0);
	assert_int_equal(dwarf__open(&d, f.path), 0);
	assert_non_null(strstr(dwarf__path(d), "p.debug"));
	assert_int_equal(dwarf_functions__find(&found, d, "known"), 0);
	assert_int_equal(found.n, 1);
	assert_int_equal(dwarf_variables__at(&all, d, found.function[0].place[0].address, false),
			 0);
	/* Its place in the frame comes from the unwind tables of the stripped file. */
	assert_int_equal(variable(&all, "on_stack")->where, DWARF_MEMORY);
	dwarf_variables__free(&all);
	dwarf_functions__free(&found);
	dwarf__close(d);
	fixture__free(&f);
}

/* A kernel in its own directory: any program whose build ID is the one in sys/kernel/notes. */
static void of_the_kernel(void **state)
{
	struct dwarf_functions found;
	struct utsname name;
	struct fixture f;
	struct dwarf *d;

	(void)state;
	if (!have_dwarf())
		skip();
	assert_int_equal(uname(&name), 0);
	fixture__init(&f);
	assert_int_equal(dwarf__open_kernel(&d, f.dir, NULL), -ENODATA);
	assert_int_equal(dwarf__open_kernel(&d, f.dir, "some_module"), -ENODATA);
	fixture__compile(&f, "program", source,
			 "cc -O2 -g -Wl,--build-id=0x0102030405060708");
	assert_int_equal(run_command("cd %s && mkdir -p sys/kernel boot && objcopy -O binary "
				     "--only-section=.note.gnu.build-id program sys/kernel/notes "
				     "&& cp program boot/vmlinux-%s", f.dir, name.release), 0);
	assert_int_equal(dwarf__open_kernel(&d, f.dir, NULL), 0);
	assert_int_equal(dwarf_functions__find(&found, d, "known"), 0);
	assert_int_equal(found.n, 1);
	dwarf_functions__free(&found);
	dwarf__close(d);

	/* A kernel from another build is refused. */
	fixture__compile(&f, "program", source,
			 "cc -O2 -g -Wl,--build-id=0x0102030405060709");
	assert_int_equal(run_command("cp %s %s/boot/vmlinux-%s", f.path, f.dir, name.release), 0);
	assert_int_equal(dwarf__open_kernel(&d, f.dir, NULL), -ENODATA);
	fixture__free(&f);
}

/* Modules are object files, which make no sense before relocation. */
static void of_a_module(void **state)
{
	struct dwarf_functions found;
	struct dwarf_variables all;
	struct dwarf_lines l;
	struct utsname name;
	struct fixture f;
	struct dwarf *d;

	(void)state;
	if (!have_dwarf())
		skip();
	assert_int_equal(uname(&name), 0);
	fixture__init(&f);
	/* Compiled like the kernel: the unwind tables are debug information. */
	fixture__compile(&f, "some-module.ko", source,
			 "cc -O2 -g -c -fno-asynchronous-unwind-tables");
	assert_int_equal(run_command("cd %s && mkdir -p lib/modules/%s/kernel && mv some-module.ko "
				     "lib/modules/%s/kernel", f.dir, name.release, name.release),
			 0);
	assert_int_equal(dwarf__open_kernel(&d, f.dir, "some"), -ENODATA);
	assert_int_equal(dwarf__open_kernel(&d, f.dir, "../module"), -ENODATA);
	assert_int_equal(dwarf__open_kernel(&d, f.dir, "some_module"), 0);
	assert_int_equal(dwarf_functions__find(&found, d, "inlined"), 0);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.function[0].nplaces, 2);
	assert_true(found.function[0].place[0].offset > 0);
	assert_int_equal(dwarf_lines__of(&l, d, &found.function[0]), 0);
	assert_int_equal(line_of(&l, 9)->naddresses, 2);
	dwarf_lines__free(&l);
	dwarf_functions__free(&found);
	assert_int_equal(dwarf_functions__find(&found, d, "known"), 0);
	assert_int_equal(dwarf_variables__at(&all, d, found.function[0].place[0].address, false),
			 0);
	assert_int_equal(variable(&all, "a")->where, DWARF_REGISTER);
	assert_int_equal(variable(&all, "on_stack")->where, DWARF_MEMORY);
	dwarf_variables__free(&all);
	dwarf_functions__free(&found);
	dwarf__close(d);
	fixture__free(&f);
}

static void see_member(void *arg, const char *name)
{
	struct c_member m;

	c_type__member(arg, name, &m);
}

static void use_types(struct dwarf *d, const struct dwarf_variables *all)
{
	struct dwarf_types *types;
	struct c_type t;
	size_t i;
	u32 id;

	if (dwarf_types__new(&types, d))
		return;
	for (i = 0; i < all->n; i++) {
		if (!all->variable[i].type_entry ||
		    dwarf_types__add(types, all->variable[i].type_entry, &id))
			continue;
		t = c_type__of(dwarf_types__btf(types), id);
		free(c_type__text(&t));
		c_type__size(&t);
		if (c_type__pointee(&t, &t) && c_type__is_struct(&t))
			c_type__members(&t, see_member, &t);
	}
	dwarf_types__free(types);
}

static void use_function(struct dwarf *d, const struct dwarf_function *f)
{
	struct dwarf_variables all;
	struct dwarf_lines l;
	size_t i;

	if (!dwarf_lines__of(&l, d, f))
		dwarf_lines__free(&l);
	for (i = 0; i < f->nplaces; i++) {
		if (!dwarf_variables__of(&all, d, &f->place[i], f->place[i].address, true)) {
			use_types(d, &all);
			dwarf_variables__free(&all);
		}
		if (!dwarf_variables__at(&all, d, f->place[i].body, false))
			dwarf_variables__free(&all);
	}
}

/*
 * Opens the file in this process if sanitizers are to see errors, and otherwise in the unprivileged
 * process, which errors may kill.
 */
static int open_damaged(struct dwarf **d, const char *path)
{
#ifdef __SANITIZE_ADDRESS__
	return dwarf_direct__open_path(d, path);
#else
	return dwarf__open(d, path);
#endif
}

static void use_all(const char *path)
{
	struct dwarf_functions found;
	struct dwarf_lines l;
	struct dwarf *d;
	size_t i;

	if (open_damaged(&d, path))
		return;
	if (!dwarf_functions__find(&found, d, NULL)) {
		for (i = 0; i < found.n; i++)
			use_function(d, &found.function[i]);
		dwarf_functions__free(&found);
	}
	if (!dwarf_lines__of_file(&l, d, "program.c"))
		dwarf_lines__free(&l);
	dwarf__close(d);
}

/* The program is almost only debug information, so most of the damage is in it. */
static void damaged(void **state)
{
	static const char *const how[] = {
		"cc -g -O2", "cc -gdwarf-4 -O1", "cc -gdwarf-5 -O0 -gz", "clang -g -O2",
	};
	struct fixture f;
	size_t i;

	(void)state;
	if (!have_dwarf())
		skip();
	fixture__init(&f);
	for (i = 0; i < ARRAY_SIZE(how); i++) {
		fixture__compile(&f, "program", source, how[i]);
		damage(&f, 600, use_all);
	}
	fixture__free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions),
		cmocka_unit_test(inlined_places),
		cmocka_unit_test(lines),
		cmocka_unit_test(line_of_a_loop),
		cmocka_unit_test(types),
#ifdef __x86_64__
		cmocka_unit_test(arguments_at_the_entry),
		cmocka_unit_test(behind_the_prologue),
#endif
		cmocka_unit_test(blocks),
		cmocka_unit_test(variables_of_inlined),
		cmocka_unit_test(without),
		cmocka_unit_test(separate),
		cmocka_unit_test(of_the_kernel),
		cmocka_unit_test(of_a_module),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
