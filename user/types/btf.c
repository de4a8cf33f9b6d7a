// SPDX-License-Identifier: BSD-2-Clause
#include "types/btf.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of pointers to functions that take pointers to functions ...: no kernel has 10. */
#define NESTING_MAX 32

/* Members of one type with all that lies inside; task_struct has some 2,000. */
#define MEMBERS_MAX (1 << 20)

static const char *name_of(const struct btf *btf, u32 offset)
{
	return btf__name_by_offset(btf, offset) ?: "";
}

/* --- C --------------------------------------------------------------------------------------- */

static char *declare(const struct btf *btf, u32 id, const char *name, int nesting);

/* Replaces *text with a formatted one; *text is NULL from the first failure on. */
static void PRINTF_LIKE(2, 3) rewrite(char **text, const char *fmt, ...)
{
	char *new;
	va_list args;
	int n;

	if (!*text)
		return;
	va_start(args, fmt);
	n = vasprintf(&new, fmt, args);
	va_end(args);
	free(*text);
	*text = n < 0 ? NULL : new;
}

/* "(struct sock *sk, ...)" */
static char *arguments(const struct btf *btf, const struct btf_type *proto, int nesting)
{
	const struct btf_param *p = btf_params(proto);
	char *text = strdup("(");
	u32 i;

	for (i = 0; i < btf_vlen(proto); i++) {
		const char *name = name_of(btf, p[i].name_off);
		char *one = p[i].type ? declare(btf, p[i].type, name, nesting + 1) : strdup("...");

		if (one) {
			rewrite(&text, "%s%s%s", text, i ? ", " : "", one);
		} else {
			free(text);
			text = NULL;
		}
		free(one);
	}
	rewrite(&text, "%s%s)", text, i ? "" : "void");
	return text;
}

/* "struct sock", "unsigned int"; anything that a declarator is put behind. */
static char *base_name(const struct btf *btf, const struct btf_type *t)
{
	const char *name = t ? name_of(btf, t->name_off) : "void", *kind = "";
	char *text;

	switch (t ? btf_kind(t) : BTF_KIND_UNKN) {
	case BTF_KIND_STRUCT:
		kind = "struct ";
		break;
	case BTF_KIND_UNION:
		kind = "union ";
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		kind = "enum ";
		break;
	case BTF_KIND_FWD:
		kind = btf_kflag(t) ? "union " : "struct ";
		break;
	}
	return asprintf(&text, "%s%s", kind, *name ? name : "{...}") < 0 ? NULL : text;
}

/* A declarator as C builds it, from the name outwards. */
struct declarator {
	char *text;             /* NULL: no memory */
	bool is_pointer;        /* needs parentheses in front of [] and () */
	const char *constant, *is_volatile, *is_restrict;
};

/* Puts words, each with a blank behind it, in front; the last blank stays only before a name. */
static void put_in_front(struct declarator *d, const char *star, const char *words)
{
	int n = strlen(words);

	if (n && d->text && (!*d->text || *d->text == '['))
		n--;
	rewrite(&d->text, "%s%.*s%s", star, n, words, d->text);
}

static void add_pointer(struct declarator *d)
{
	char words[32];

	snprintf(words, sizeof(words), "%s%s%s", d->constant, d->is_volatile, d->is_restrict);
	put_in_front(d, "*", words);
	d->constant = d->is_volatile = d->is_restrict = "";
	d->is_pointer = true;
}

static void add_parentheses(struct declarator *d)
{
	if (d->is_pointer)
		rewrite(&d->text, "(%s)", d->text);
	d->is_pointer = false;
}

static void add_tag(struct declarator *d, const char *tag, bool is_attribute)
{
	char *words;
	int n;

	if (is_attribute)
		n = asprintf(&words, "__attribute__((%s)) ", tag);
	else
		n = asprintf(&words, "__%s ", tag);
	if (n < 0) {
		free(d->text);
		d->text = NULL;
		return;
	}
	put_in_front(d, "", words);
	free(words);
}

/* Takes one step from the name towards the base type. false: this is the base. */
static bool step(struct declarator *d, const struct btf *btf, const struct btf_type *t, u32 *next,
		 int nesting)
{
	char *list;

	*next = t->type;
	switch (btf_kind(t)) {
	case BTF_KIND_CONST:
		d->constant = "const ";
		return true;
	case BTF_KIND_VOLATILE:
		d->is_volatile = "volatile ";
		return true;
	case BTF_KIND_RESTRICT:
		d->is_restrict = "restrict ";
		return true;
	case BTF_KIND_TYPE_TAG:
		add_tag(d, name_of(btf, t->name_off), btf_kflag(t));
		return true;
	case BTF_KIND_PTR:
		add_pointer(d);
		return true;
	case BTF_KIND_ARRAY:
		add_parentheses(d);
		if (btf_array(t)->nelems)
			rewrite(&d->text, "%s[%u]", d->text, btf_array(t)->nelems);
		else
			rewrite(&d->text, "%s[]", d->text);
		*next = btf_array(t)->type;
		return true;
	case BTF_KIND_FUNC_PROTO:
		add_parentheses(d);
		list = arguments(btf, t, nesting);
		if (list) {
			rewrite(&d->text, "%s%s", d->text, list);
		} else {
			free(d->text);
			d->text = NULL;
		}
		free(list);
		return true;
	default:
		return false;
	}
}

static char *declare(const struct btf *btf, u32 id, const char *name, int nesting)
{
	struct declarator d = { strdup(name), false, "", "", "" };
	const struct btf_type *t = NULL;
	char *base;
	int steps = 0;

	while (d.text && id) {
		t = btf__type_by_id(btf, id);
		if (!t || nesting + steps++ > NESTING_MAX) {
			free(d.text);
			return NULL;
		}
		if (!step(&d, btf, t, &id, nesting))
			break;
		t = NULL;
	}
	base = d.text ? base_name(btf, t) : NULL;
	if (base) {
		const char *blank = *d.text && *d.text != '[' ? " " : "";

		rewrite(&d.text, "%s%s%s%s%s", d.constant, d.is_volatile, base, blank, d.text);
	} else {
		free(d.text);
		d.text = NULL;
	}
	free(base);
	return d.text;
}

char *btf_declaration(const struct btf *btf, u32 id, const char *name)
{
	return declare(btf, id, name, 0);
}

const struct btf_type *btf_bare_type(const struct btf *btf, u32 id, u32 *bare_id)
{
	const struct btf_type *t;
	int steps;

	for (steps = 0; id && steps < NESTING_MAX; steps++, id = t->type) {
		t = btf__type_by_id(btf, id);
		if (!t)
			return NULL;
		if (btf_is_mod(t) || btf_is_typedef(t) || btf_kind(t) == BTF_KIND_TYPE_TAG)
			continue;
		if (bare_id)
			*bare_id = id;
		return t;
	}
	return NULL;
}

static u64 size_of(const struct btf *btf, u32 id)
{
	s64 size = btf__resolve_size(btf, id);

	return size > 0 ? size : 0;
}

/* --- layouts --------------------------------------------------------------------------------- */

/* Room for a power of two of elements, and always for one more. */
static void *grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return realloc(array, (n ? 2 * n : 1) * size);
}

static int add_member(struct type_layout *l, const struct type_member *m)
{
	struct type_member *more;

	if (l->n >= MEMBERS_MAX)
		return -E2BIG;
	more = m->type && m->name ? grow(l->member, l->n, sizeof(*m)) : NULL;
	if (!more) {
		free(m->type);
		free(m->name);
		return -ENOMEM;
	}
	l->member = more;
	l->member[l->n++] = *m;
	return 0;
}

/* What surrounds a member. */
struct place {
	const char *path;       /* "fault." or "" */
	u64 bit_offset;
	u32 depth;
	bool deep;
};

static int add_members(struct type_layout *l, const struct btf *btf, const struct btf_type *t,
		       const struct place *at);

/* The struct or union whose members are to be listed too; NULL: none. */
static const struct btf_type *inner_type(const struct btf *btf, u32 id, bool deep)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	int steps;

	if (deep)
		t = btf_bare_type(btf, id, NULL);
	/* A typedef has a name of its own to look it up by. */
	for (steps = 0; t && btf_is_mod(t) && steps < NESTING_MAX; steps++)
		t = btf__type_by_id(btf, t->type);
	if (!t || !btf_is_composite(t))
		return NULL;
	return deep || !*name_of(btf, t->name_off) ? t : NULL;
}

static int add_one(struct type_layout *l, const struct btf *btf, const struct btf_type *whole,
		   u32 i, const struct place *at)
{
	const struct btf_member *from = btf_members(whole) + i;
	const char *name = name_of(btf, from->name_off);
	struct type_member m = {
		.bit_offset = at->bit_offset + btf_member_bit_offset(whole, i),
		.bits = btf_member_bitfield_size(whole, i),
		.size = size_of(btf, from->type), .depth = at->depth,
	};
	struct place inside = { at->path, m.bit_offset, at->depth + 1, at->deep };
	const struct btf_type *t = inner_type(btf, from->type, at->deep);
	char *path = NULL;
	int err;

	m.type = btf_declaration(btf, from->type, "");
	if (asprintf(&m.name, "%s%s", *name ? at->path : "", name) < 0)
		m.name = NULL;
	err = add_member(l, &m);
	if (err || !t)
		return err;
	if (*name) {
		if (asprintf(&path, "%s%s.", at->path, name) < 0)
			return -ENOMEM;
		inside.path = path;
	}
	err = add_members(l, btf, t, &inside);
	free(path);
	return err;
}

static int add_members(struct type_layout *l, const struct btf *btf, const struct btf_type *t,
		       const struct place *at)
{
	int err = at->depth > NESTING_MAX ? -E2BIG : 0;
	u32 i;

	for (i = 0; i < btf_vlen(t) && !err; i++)
		err = add_one(l, btf, t, i, at);
	return err;
}

int type_layout__read(struct type_layout *out, const struct btf *btf, u32 id, bool deep)
{
	const struct btf_type *t = btf_bare_type(btf, id, NULL);
	const struct place top = { .path = "", .deep = deep };
	struct type_layout l = {};
	int err;

	if (!t || !btf_is_composite(t))
		return -EINVAL;
	l.size = t->size;
	err = add_members(&l, btf, t, &top);
	if (err)
		type_layout__free(&l);
	else
		*out = l;
	return err;
}

void type_layout__free(struct type_layout *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->member[i].type);
		free(l->member[i].name);
	}
	free(l->member);
	*l = (struct type_layout){};
}

/* --- enums ----------------------------------------------------------------------------------- */

int enum_values__read(struct enum_values *out, const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf_bare_type(btf, id, NULL);
	bool wide = t && btf_kind(t) == BTF_KIND_ENUM64;
	struct enum_values e = {};
	u32 i;

	if (!t || (btf_kind(t) != BTF_KIND_ENUM && !wide))
		return -EINVAL;
	e.size = t->size;
	e.value = calloc(btf_vlen(t) ?: 1, sizeof(*e.value));
	if (!e.value)
		return -ENOMEM;
	/* pahole before 1.24 (in kernels before 6.0) never says so: -1 reads 4294967295 there. */
	e.is_signed = btf_kflag(t);
	for (i = 0; i < btf_vlen(t); i++) {
		struct enum_value *v = &e.value[i];
		u32 name = wide ? btf_enum64(t)[i].name_off : btf_enum(t)[i].name_off;

		v->name = strdup(name_of(btf, name));
		if (!v->name) {
			enum_values__free(&e);
			return -ENOMEM;
		}
		e.n++;
		if (wide)
			v->value = btf_enum64_value(&btf_enum64(t)[i]);
		else
			v->value = (s64)btf_enum(t)[i].val;
		if (!wide && !e.is_signed)
			v->value = (u32)v->value;
	}
	*out = e;
	return 0;
}

void enum_values__free(struct enum_values *e)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		free(e->value[i].name);
	free(e->value);
	*e = (struct enum_values){};
}

/* --- functions ------------------------------------------------------------------------------- */

/* The prototype that a function, a typedef or a pointer leads to. */
static const struct btf_type *find_prototype(const struct btf *btf, u32 id, u32 *proto_id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	int steps;

	for (steps = 0; t && steps < NESTING_MAX; steps++) {
		if (btf_is_func_proto(t)) {
			*proto_id = id;
			return t;
		}
		if (!btf_is_func(t) && !btf_is_ptr(t) && !btf_is_typedef(t) && !btf_is_mod(t) &&
		    btf_kind(t) != BTF_KIND_TYPE_TAG)
			return NULL;
		id = t->type;
		t = btf__type_by_id(btf, id);
	}
	return NULL;
}

static int read_arguments(struct function_prototype *p, const struct btf *btf,
			  const struct btf_type *proto)
{
	u32 i;

	p->argument = calloc(btf_vlen(proto) ?: 1, sizeof(*p->argument));
	if (!p->argument)
		return -ENOMEM;
	for (i = 0; i < btf_vlen(proto); i++) {
		const struct btf_param *from = btf_params(proto) + i;
		struct function_argument *a = &p->argument[p->n];

		if (!from->type) {
			p->is_variadic = true;
			return 0;
		}
		p->n++;
		a->type = btf_declaration(btf, from->type, "");
		a->name = strdup(name_of(btf, from->name_off));
		a->size = size_of(btf, from->type);
		if (!a->type || !a->name)
			return -ENOMEM;
	}
	return 0;
}

int function_prototype__read(struct function_prototype *out, const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id), *proto;
	struct function_prototype p = {};
	u32 proto_id;
	int err;

	proto = t ? find_prototype(btf, id, &proto_id) : NULL;
	if (!proto)
		return -EINVAL;
	err = read_arguments(&p, btf, proto);
	if (!err) {
		p.returns = btf_declaration(btf, proto->type, "");
		p.text = btf_declaration(btf, proto_id, name_of(btf, t->name_off));
		if (!p.returns || !p.text)
			err = -ENOMEM;
	}
	if (err)
		function_prototype__free(&p);
	else
		*out = p;
	return err;
}

void function_prototype__free(struct function_prototype *p)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		free(p->argument[i].type);
		free(p->argument[i].name);
	}
	free(p->argument);
	free(p->text);
	free(p->returns);
	*p = (struct function_prototype){};
}

/* --- the running kernel's -------------------------------------------------------------------- */

static int add_module(struct kernel_types *t, const char *name)
{
	struct module_types *more = grow(t->module, t->nmodules, sizeof(*more));

	if (!more)
		return -ENOMEM;
	t->module = more;
	more[t->nmodules] = (struct module_types){ .name = strdup(name) };
	if (!more[t->nmodules].name)
		return -ENOMEM;
	t->nmodules++;
	return 0;
}

/* In sysfs since 5.11; before, the types of modules are not there to be had. */
static int find_modules(struct kernel_types *t)
{
	DIR *dir = opendir("/sys/kernel/btf");
	struct dirent *e;
	int err = 0;

	if (!dir)
		return 0;
	while (!err && (e = readdir(dir)))
		if (*e->d_name != '.' && strcmp(e->d_name, "vmlinux"))
			err = add_module(t, e->d_name);
	closedir(dir);
	return err;
}

int kernel_types__open(struct kernel_types *out)
{
	struct kernel_types t = { .vmlinux = btf__load_vmlinux_btf() };
	int err;

	if (!t.vmlinux) {
		switch (errno) {
		case EACCES:
		case EPERM:
			return -EPERM;
		case ENOMEM:
			return -ENOMEM;
		default:
			return -ENOENT;
		}
	}
	err = find_modules(&t);
	if (err)
		kernel_types__close(&t);
	else
		*out = t;
	return err;
}

void kernel_types__close(struct kernel_types *t)
{
	size_t i;

	for (i = 0; i < t->nmodules; i++) {
		btf__free(t->module[i].btf);
		free(t->module[i].name);
	}
	free(t->module);
	btf__free(t->vmlinux);
	*t = (struct kernel_types){};
}

/* NULL: it has none, or has gone, or its types cannot be read. */
static const struct btf *read_module(struct kernel_types *t, struct module_types *m)
{
	if (!m->btf)
		m->btf = btf__load_module_btf(m->name, t->vmlinux);
	return m->btf;
}

/* A name with its keyword taken off, and the kinds (bits) it may stand for. */
struct sought {
	const char *name;
	u64 kinds;
};

#define KIND(k) (1ULL << BTF_KIND_##k)
#define ENUMS (KIND(ENUM) | KIND(ENUM64))

static struct sought read_name(const char *name)
{
	static const struct sought keywords[] = {
		{ "struct ", KIND(STRUCT) },
		{ "union ", KIND(UNION) },
		{ "enum ", ENUMS },
		{ "typedef ", KIND(TYPEDEF) },
	};
	size_t i, n;

	name += strspn(name, " ");
	for (i = 0; i < ARRAY_SIZE(keywords); i++) {
		n = strlen(keywords[i].name);
		if (!strncmp(name, keywords[i].name, n))
			return (struct sought){ name + n + strspn(name + n, " "),
						keywords[i].kinds };
	}
	return (struct sought){
		name, KIND(STRUCT) | KIND(UNION) | ENUMS | KIND(TYPEDEF) | KIND(INT),
	};
}

/* The types of one BTF, without those of the one it is based on. */
static int find_in(const struct btf *btf, const char *module, const struct sought *s,
		   struct kernel_type_list *found)
{
	const struct btf *base = btf__base_btf(btf);
	u32 id = base ? btf__type_cnt(base) : 1, end = btf__type_cnt(btf);

	for (; id < end; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		struct kernel_type *more;

		if (!(s->kinds >> btf_kind(t) & 1) || strcmp(name_of(btf, t->name_off), s->name))
			continue;
		/* An enum without values is the declaration of one. */
		if (btf_is_any_enum(t) && !btf_vlen(t))
			continue;
		more = grow(found->type, found->n, sizeof(*more));
		if (!more)
			return -ENOMEM;
		found->type = more;
		found->type[found->n++] = (struct kernel_type){ btf, id, module };
	}
	return 0;
}

int kernel_types__find(struct kernel_types *t, const char *name, struct kernel_type_list *out)
{
	struct sought s = read_name(name);
	struct kernel_type_list found = {};
	const struct btf *btf;
	size_t i;
	int err;

	if (!*s.name)
		return -ENOENT;
	err = find_in(t->vmlinux, NULL, &s, &found);
	for (i = 0; i < t->nmodules && !err && !found.n; i++) {
		btf = read_module(t, &t->module[i]);
		if (btf)
			err = find_in(btf, t->module[i].name, &s, &found);
	}
	if (!err && !found.n)
		err = -ENOENT;
	if (err)
		kernel_type_list__free(&found);
	else
		*out = found;
	return err;
}

void kernel_type_list__free(struct kernel_type_list *l)
{
	free(l->type);
	*l = (struct kernel_type_list){};
}

int kernel_types__function(struct kernel_types *t, const char *name, const char *module,
			   struct kernel_type *found)
{
	const struct sought s = { name, KIND(FUNC) };
	struct kernel_type_list list = {};
	const struct btf *btf = module ? NULL : t->vmlinux;
	size_t i;
	int err;

	for (i = 0; module && i < t->nmodules; i++)
		if (!strcmp(t->module[i].name, module))
			btf = read_module(t, &t->module[i]);
	if (!btf)
		return -ENOENT;
	err = find_in(btf, module, &s, &list);
	if (!err && !list.n)
		err = -ENOENT;
	if (!err)
		*found = list.type[0];
	kernel_type_list__free(&list);
	return err;
}

int kernel_btf_arguments(const char *trace_typedef)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *t = NULL;
	u32 proto_id;
	int id;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, trace_typedef, BTF_KIND_TYPEDEF);
	if (id > 0)
		t = find_prototype(btf, id, &proto_id);
	id = t ? btf_vlen(t) : -ENOENT;
	btf__free(btf);
	return id;
}

int kernel_types__names(const struct kernel_types *t, const char ***names, size_t *n)
{
	const struct sought s = read_name("");
	u32 id, end = btf__type_cnt(t->vmlinux);
	const char **list = calloc(end, sizeof(*list));
	size_t count = 0;

	if (!list)
		return -ENOMEM;
	for (id = 1; id < end; id++) {
		const struct btf_type *type = btf__type_by_id(t->vmlinux, id);

		if (s.kinds >> btf_kind(type) & 1 && *name_of(t->vmlinux, type->name_off))
			list[count++] = name_of(t->vmlinux, type->name_off);
	}
	*names = list;
	*n = count;
	return 0;
}
