// SPDX-License-Identifier: BSD-2-Clause
#include "stack/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "unwind/unwinder.h"

int stack_names__init(struct stack_names *names)
{
	memset(names, 0, sizeof(*names));
	return symbols__new(&names->symbols);
}

void stack_names__forget_frames(struct stack_names *names)
{
	free(names->frame);
	table__free(&names->by_name);
	names->frame = NULL;
	names->by_name = (struct table){};
	names->n = 0;
	if (names->symbols)
		symbols__forget_names(names->symbols);
}

void stack_names__free(struct stack_names *names)
{
	stack_names__forget_frames(names);
	if (names->symbols)
		symbols__free(names->symbols);
	memset(names, 0, sizeof(*names));
}

void stack_path__free(struct stack_path *path)
{
	free(path->frame);
	free(path->place);
	memset(path, 0, sizeof(*path));
}

/*
 * --- frames ------------------------------------------------------------------------------------
 */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_frame(const void *array, u32 index, const void *key)
{
	const struct report_frame *a = &((const struct report_frame *)array)[index], *b = key;

	return a->kind == b->kind && a->offset == b->offset && a->line == b->line &&
	       same_text(a->name, b->name) && same_text(a->module, b->module) &&
	       same_text(a->file, b->file);
}

static u64 frame_hash(const struct report_frame *f)
{
	u64 hash = table_hash(f->kind, &f->offset, sizeof(f->offset));

	if (f->name)
		hash = table_hash(hash, f->name, strlen(f->name));
	if (f->file)
		hash = table_hash(hash ^ f->line, f->file, strlen(f->file));
	return f->module ? table_hash(hash, f->module, strlen(f->module)) : hash;
}

static int find_frame(struct stack_names *names, const struct report_frame *f, u32 *index)
{
	u64 hash = frame_hash(f);
	s64 known = table__find(&names->by_name, hash, same_frame, names->frame, f);
	size_t n = names->n;

	if (known >= 0) {
		*index = known;
		return 0;
	}
	if (ARRAY_ROOM(names->frame, n))
		return -ENOMEM;
	if (table__add(&names->by_name, hash, n))
		return -ENOMEM;
	names->frame[n] = *f;
	names->n++;
	*index = n;
	return 0;
}

static enum frame_kind kind_of(const struct symbol *s)
{
	switch (s->kind) {
	case SYMBOL_KERNEL:
		return FRAME_KERNEL;
	case SYMBOL_JIT:
		return FRAME_JIT;
	default:
		return FRAME_USER;
	}
}

static int make_room(struct stack_path *path)
{
	return ARRAY_ROOM(path->frame, path->n) ?: ARRAY_ROOM(path->place, path->n);
}

static int add_frame(struct stack_names *names, struct stack_path *path,
		     const struct report_frame *f, u64 address, u64 offset)
{
	int err = make_room(path);

	if (!err)
		err = find_frame(names, f, &path->frame[path->n]);
	if (!err)
		path->place[path->n++] = (struct report_place){ address, offset };
	return err;
}

static int add_note(struct stack_names *names, struct stack_path *path, const char *text)
{
	const struct report_frame f = { .name = text, .kind = FRAME_NOTE };

	return add_frame(names, path, &f, FRAME_PLACES, FRAME_PLACES);
}

/* Debug information at an address; n is 0 if there is none, or if it was not requested. */
struct places {
	const struct source_place *place;
	size_t n;
};

static int find_places(struct stack_names *names, const struct symbol *s, const struct stack *of, u64 code,
		       struct places *p)
{
	*p = (struct places){};
	if (!names->lines && !names->inlined)
		return 0;
	if (s->kind == SYMBOL_KERNEL)
		return symbols__kernel_source(names->symbols, code, &p->place, &p->n);
	if (s->kind == SYMBOL_USER)
		return symbols__user_source(names->symbols, of->pid, of->first_ns, code, &p->place,
					    &p->n);
	return 0;
}

static void set_line(const struct stack_names *names, struct report_frame *f,
		     const struct source_place *place)
{
	if (!names->lines || !place->file)
		return;
	f->file = place->file;
	f->line = place->line;
}

/* Adds the functions inlined at an address, after the one that contains them. */
static int add_inlined(struct stack_names *names, struct stack_path *path, const char *module,
		       u64 address, const struct places *p)
{
	size_t i = names->inlined && p->n ? p->n - 1 : 0;
	int err = 0;

	while (i-- && !err) {
		struct report_frame f = {
			.name = p->place[i].function ?: "[inlined]",
			.module = module,
			.kind = FRAME_INLINED,
		};

		set_line(names, &f, &p->place[i]);
		err = add_frame(names, path, &f, address, FRAME_PLACES);
	}
	return err;
}

/* code is an address inside the running instruction, or inside the call. */
static int add_symbol(struct stack_names *names, struct stack_path *path, const struct symbol *s,
		      const struct stack *of, u64 address, u64 code)
{
	struct report_frame f = { .name = s->name, .module = s->module, .kind = kind_of(s) };
	u64 offset = s->name ? s->offset : s->module ? s->module_offset : FRAME_PLACES;
	struct places p;
	int err = find_places(names, s, of, code, &p);

	if (err)
		return err;
	if (p.n)
		set_line(names, &f, &p.place[p.n - 1]);
	if (p.n && !f.name) {
		f.name = p.place[p.n - 1].function;
		offset = f.name ? FRAME_PLACES : offset;
	}
	if (!f.name && f.module)
		f.offset = s->module_offset;
	err = add_frame(names, path, &f, address, offset);
	return err ?: add_inlined(names, path, s->module, address, &p);
}

/*
 * --- parts -------------------------------------------------------------------------------------
 */

/* True if name is the function, a version of its symbol, or Go assembly, whose names end in .abi0. */
static bool is_function(const char *name, const char *function)
{
	size_t len = strlen(function);
	const char *end = name + len;

	if (strncmp(name, function, len))
		return false;
	return !*end || *end == '@' || (!strncmp(name, "runtime.", 8) && !strcmp(end, ".abi0"));
}

/* True for the functions in which C libraries and runtimes start a thread. */
static bool is_start_name(const char *name)
{
	static const char *const names[] = {
		/* glibc, musl, and musl's loader, before main() */
		"_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
		"_start_c", "libc_start_main_stage2", "_dl_start", "_dl_start_user", "_dlstart",
		"start_thread", "clone", "__clone", "clone3", "__clone3", "__thread_start",
		/* Go: goroutine, a thread's own stack, program start */
		"runtime.goexit", "runtime.mstart", "runtime.rt0_go", "runtime.mcall",
		"runtime.systemstack",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (is_function(name, names[i]))
			return true;
	return false;
}

bool is_other_thread(const struct symbol *frame, const struct symbol *inner)
{
	static const char *const callers[] = { "runtime.rt0_go", "crosscall1", "crosscall_amd64", "crosscall_arm64" };
	size_t i;

	if (!inner->name || !is_function(inner->name, "runtime.mstart"))
		return false;
	for (i = 0; frame->name && i < ARRAY_SIZE(callers); i++)
		if (is_function(frame->name, callers[i]))
			return false;
	return true;
}

bool is_first_function(const struct symbol *s, u32 nuser)
{
	static const char *const libraries[] = { "libc.so", "libc-2", "libpthread", "ld-" };
	size_t i;

	if (s->name && is_start_name(s->name))
		return true;
	/* Stripped C libraries lack the name. At the outer end, only thread starts call from there. */
	for (i = 0; nuser > 1 && !s->name && s->module && i < ARRAY_SIZE(libraries); i++)
		if (!strncmp(s->module, libraries[i], strlen(libraries[i])))
			return true;
	return false;
}

/*
 * Outer frames hold return addresses: the call is before them. The innermost frame is the current
 * instruction. In a user part below a kernel part, it follows the instruction that entered the
 * kernel, which never ends a function.
 */
static u64 code_address(const u64 *frame, u32 i)
{
	return i && frame[i] ? frame[i] - 1 : frame[i];
}

/*
 * The kernel calls a signal handler with the address of another function to return to; no call precedes that address.
 * Tables of C libraries begin a byte earlier; Go has none.
 */
static u64 user_code_address(const u64 *frame, const struct symbol *symbol, u32 i)
{
	bool is_called_by_kernel = i && symbol[i - 1].name && is_function(symbol[i - 1].name, "runtime.sigtramp");

	return is_called_by_kernel ? frame[i] : code_address(frame, i);
}

/* Code without frame pointers leads the walk to addresses outside code. */
static bool is_no_code(const struct symbol *s)
{
	return s->kind == SYMBOL_UNKNOWN ||
	       (s->module && (!strcmp(s->module, "[heap]") || !strcmp(s->module, "[stack]")));
}

/* --- frames of Python -------------------------------------------------------------------------- */

/*
 * Python frames replace the interpreter's: each run of Python frames replaces the C function that
 * ran it. Other frames of the interpreter's file between and around the runs are hidden. Frames of
 * other files are shown, as are calls made by the innermost Python frame.
 */
struct python_part {
	const u64 *word;                /* innermost first */
	u64 *placed;                    /* copy of the words, see place_objects() */
	u64 runs, runs_end;             /* address range of the function that runs the frames */
	u32 left;                       /* frames not shown yet */
	u32 innermost;                  /* the innermost frame that a run replaces */
	u32 outermost;                  /* nothing beyond this frame is hidden */
	const char *module, *path;      /* name and path of the interpreter */
};

/* Returns the native frame replaced by the run that contains word i, or n if it is unknown or beyond the stack. */
static u32 native_of(const struct stack *stack, const u64 *word, u32 i, u32 n)
{
	u32 native;

	while (i < stack->python && python_native_of(word[i]) == PYTHON_IN_RUN)
		i++;
	native = i < stack->python ? python_native_of(word[i]) : n;
	return native < n ? native : n;
}

static bool is_call(const struct python_part *part, const u64 *frame, u32 i)
{
	return code_address(frame, i) >= part->runs && code_address(frame, i) < part->runs_end;
}

/*
 * Up to Python 3.10, a call of a C function runs each frame, and nothing records which call runs which frame: we pair
 * them in order from the inner end. Excess calls have not entered their frame yet, or have left it. Excess frames,
 * run by a part of the function that is located elsewhere, belong to the outermost call, or to the missing part of
 * the stack.
 */
static void place_objects(const struct stack *stack, const u64 *frame, u32 n, struct python_part *part)
{
	u64 *word = part->placed;
	u32 calls = 0, placed = 0, last = n, extra, i;

	for (i = 0; i < n; i++)
		calls += is_call(part, frame, i);
	extra = stack->python_end == PYTHON_WHOLE && calls > stack->python ? calls - stack->python : 0;
	for (i = 0; i < n && placed < stack->python; i++) {
		if (!is_call(part, frame, i) || (extra && extra--))
			continue;
		last = i;
		word[placed] = (word[placed] & ~(u64)PYTHON_IN_RUN) | i;
		placed++;
	}
	if (!placed || placed == stack->python || n < stack->user || stack->user_end != STACK_ROOT || stack->guessed)
		return;
	word[placed - 1] |= PYTHON_IN_RUN;
	word[stack->python - 1] = (word[stack->python - 1] & ~(u64)PYTHON_IN_RUN) | last;
}

/* Sets the words and their places. The caller frees part->placed. */
static int place_words(struct stack_names *names, const struct stack *stack, u32 n, struct python_part *part)
{
	const u64 *word = stack->frame + stack->kernel + stack->user;
	u32 i;

	*part = (struct python_part){ .word = word, .left = stack->python, .innermost = n, .outermost = n };
	for (i = 0; i < stack->python; i++)
		if (python__is_object(names->python, word[i], &part->runs, &part->runs_end))
			break;
	if (i == stack->python)
		return 0;
	part->placed = malloc(stack->python * sizeof(*word));
	if (!part->placed)
		return -ENOMEM;
	memcpy(part->placed, word, stack->python * sizeof(*word));
	part->word = part->placed;
	place_objects(stack, stack->frame + stack->kernel, n, part);
	return 0;
}

static void bound_part(const struct stack *stack, const struct symbol *symbol, u32 n, struct python_part *part)
{
	u32 i, native;

	for (i = 0; i < stack->python; i++) {
		native = native_of(stack, part->word, i, n);
		if (native == n)
			break;
		if (part->innermost == n)
			part->innermost = native;
		part->outermost = native;
	}
	if (stack->python_end == PYTHON_WHOLE)
		part->outermost = n;
	if (part->innermost < n) {
		part->module = symbol[part->innermost].module;
		part->path = symbol[part->innermost].path;
	}
}

static bool is_left_out(const struct python_part *part, const struct symbol *symbol, u32 i)
{
	return i > part->innermost && i < part->outermost && symbol->module == part->module &&
	       symbol->path == part->path;
}

static int add_python_frame(struct stack_names *names, struct stack_path *path, u64 word)
{
	struct report_frame f = { .kind = FRAME_PYTHON };
	struct python_frame found;

	python__find(names->python, word, &found);
	if (!found.name) {
		path->lacks_python = true;
		return add_note(names, path, "[python]");
	}
	f.name = found.name;
	f.module = found.module;
	f.file = found.file;
	f.line = names->lines && found.line ? found.line : found.first_line;
	return add_frame(names, path, &f, FRAME_PLACES, FRAME_PLACES);
}

/* Adds the run that replaces frame i, outermost first. With i == n, adds all runs without a known frame. */
static int add_run(struct stack_names *names, struct stack_path *path, const struct stack *stack,
		   struct python_part *part, u32 i, u32 n)
{
	int err = 0;

	while (!err && part->left && native_of(stack, part->word, part->left - 1, n) == i)
		err = add_python_frame(names, path, part->word[--part->left]);
	return err;
}

/* Adds a note for Python frames missing at the outer end. */
static int add_python_note(struct stack_names *names, struct stack_path *path, const struct stack *stack)
{
	switch (stack->python_end) {
	case PYTHON_DEEPER:
		return add_note(names, path, "[deeper]");
	case PYTHON_UNREADABLE:
	case PYTHON_CROWDED:
	case PYTHON_AMBIGUOUS:
		path->lacks_python = true;
		return add_note(names, path, "[python]");
	}
	return 0;
}

static int add_user_frames(struct stack_names *names, struct stack_path *path, const struct stack *stack,
			   const struct symbol *symbol, u32 n)
{
	const u64 *frame = stack->frame + stack->kernel;
	struct python_part part;
	u32 i = n, outer, outermost;
	int err = place_words(names, stack, n, &part);

	if (err)
		return err;
	bound_part(stack, symbol, n, &part);
	/* The position of the outermost run: missing frames are beyond it. */
	outermost = stack->python ? native_of(stack, part.word, stack->python - 1, n) : n;
	err = outermost == n ? add_python_note(names, path, stack) : 0;
	err = err ?: add_run(names, path, stack, &part, n, n);
	while (i-- && !err) {
		outer = part.left;
		if (i == outermost)
			err = add_python_note(names, path, stack);
		if (!err)
			err = add_run(names, path, stack, &part, i, n);
		if (!err && outer == part.left && !is_left_out(&part, &symbol[i], i))
			err = add_symbol(names, path, &symbol[i], stack, frame[i], user_code_address(frame, symbol, i));
	}
	free(part.placed);
	return err;
}

/* Returns why the walk had to guess a step. */
static enum stack_break break_of_guess(const struct symbol *symbol)
{
	if (!symbol->path)
		return STACK_GENERATED;
	return symbol->mark && !unwinder__is_without_table(*symbol->mark) ? STACK_LATE_TABLE : STACK_NO_TABLE;
}

/* Returns why a walk by unwind tables broke. */
static enum stack_break break_of(const struct stack *stack, const struct symbol *outermost)
{
	switch (stack->user_end) {
	case STACK_GUESSED:
		return break_of_guess(outermost);
	case STACK_STUCK:
		return STACK_NOT_FOLLOWED;
	default:
		return STACK_NO_CALLER;
	}
}

static int add_incomplete(struct stack_names *names, struct stack_path *path, enum stack_break why,
			  const struct symbol *where)
{
	path->breaks = why;
	path->breaks_in = where->module ?: "[unknown]";
	return add_note(names, path, "[incomplete]");
}

static bool is_guess(const struct stack *stack, u32 i)
{
	return stack->guessed >> (i < STACK_GUESSES ? i : STACK_GUESSES - 1) & 1;
}

static bool is_wrong_guess(const struct stack_names *names, const struct symbol *symbol)
{
	if (!symbol->mark)
		return symbol->path != NULL;
	return !unwinder__is_walked_by_frame_pointers(names->unwinder, *symbol->mark, symbol->module_offset);
}

/*
 * Returns the first frame whose caller may not be the next frame, or n if there is none: the caller was found by a
 * frame pointer, and the unwind table of the code, read later or still missing, does not confirm it.
 */
static u32 wrong_guess(const struct stack_names *names, const struct stack *stack, const struct symbol *symbol, u32 n)
{
	u32 i;

	if (!stack->guessed || !names->unwinder)
		return n;
	for (i = 0; i + 1 < n; i++)
		if (is_guess(stack, i) && is_wrong_guess(names, &symbol[i]))
			return i;
	return n;
}

/* Adds a note if user frames are missing. */
static int add_user_note(struct stack_names *names, struct stack_path *path, const struct stack *stack,
			 const struct symbol *symbol, u32 n)
{
	u32 guess = path->is_unknown ? n : wrong_guess(names, stack, symbol, n);

	if (guess < n)
		return add_incomplete(names, path, break_of_guess(&symbol[guess]), &symbol[guess]);
	if (stack->user_end == STACK_DEEPER && n == stack->user)
		return add_note(names, path, "[deeper]");
	if (stack->user_end == STACK_GONE)
		return add_note(names, path, "[exiting]");
	if (stack->user_end == STACK_ROOT || path->is_unknown || is_first_function(&symbol[n - 1], n))
		return 0;
	return add_incomplete(names, path, break_of(stack, &symbol[n - 1]), &symbol[n - 1]);
}

static int add_user(struct stack_names *names, struct stack_path *path, const struct stack *stack)
{
	const u64 *frame = stack->frame + stack->kernel;
	struct symbol *symbol = calloc(stack->user ?: 1, sizeof(*symbol));
	u32 n = stack->user, i;
	int err = symbol ? 0 : -ENOMEM;

	for (i = 0; i < n && !err; i++) {
		err = symbols__user_at(names->symbols, stack->pid, stack->first_ns,
				       user_code_address(frame, symbol, i), &symbol[i]);
		path->is_mixed |= symbol[i].is_mixed;
		/* An unseen process has no known code. Otherwise, frames beyond a non-code address are meaningless. */
		if (i && is_no_code(&symbol[i]) && !is_no_code(&symbol[0]))
			n = i;
		if (i && is_other_thread(&symbol[i], &symbol[i - 1]))
			n = i;
	}
	if (!err && !n && stack->user_end == STACK_RAN)
		err = add_note(names, path, "[ran meanwhile]");
	if (err || !n)
		goto out;
	for (i = 0; i < n; i++)
		if (symbol[i].is_generated)
			path->generated_by = stack->pid;
	path->is_unknown = symbol[0].kind == SYMBOL_UNKNOWN;
	err = add_user_note(names, path, stack, symbol, n);
	if (!err)
		err = add_user_frames(names, path, stack, symbol, n);
out:
	free(symbol);
	return err;
}

bool is_tracers_own(const char *name)
{
	static const char *const begin[] = {
		"__traceiter_",         /* calls all tracers of the tracepoint (since 5.10) */
		"perf_trace_",          /* perf events of the tracepoint, with their programs */
		"perf_syscall_enter", "perf_syscall_exit",
		"perf_call_bpf_enter", "perf_call_bpf_exit", "trace_call_bpf",
		"__bpf_trace_", "bpf_trace_run", "bpf_prog_",   /* tp_btf programs */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(begin); i++)
		if (!strncmp(name, begin[i], strlen(begin[i])))
			return true;
	return false;
}

/* Counts the innermost frames that belong to the tracer; never counts all frames. */
static int count_own(struct stack_names *names, const struct stack *stack, u32 *n)
{
	struct symbol symbol;
	int err;

	for (*n = 0; names->at_tracepoints && *n + 1 < stack->kernel; ++*n) {
		err = symbols__kernel(names->symbols, code_address(stack->frame, *n), &symbol);
		if (err)
			return err;
		if (!symbol.name || !is_tracers_own(symbol.name))
			break;
	}
	return 0;
}

static int add_kernel(struct stack_names *names, struct stack_path *path, const struct stack *stack)
{
	struct symbol symbol;
	u32 i, own;
	int err = count_own(names, stack, &own);

	if (!err && stack->kernel && stack->kernel_end == STACK_DEEPER)
		err = add_note(names, path, "[deeper]");
	for (i = stack->kernel; i-- > own && !err;) {
		err = symbols__kernel(names->symbols, code_address(stack->frame, i), &symbol);
		if (!err && symbol.kind == SYMBOL_UNKNOWN) {
			symbol.module = "[kernel]";     /* hidden, or code that has been unloaded */
			symbol.kind = SYMBOL_KERNEL;
		}
		if (!err)
			err = add_symbol(names, path, &symbol, stack, stack->frame[i],
					 code_address(stack->frame, i));
	}
	return err;
}

int stack_names__resolve(struct stack_names *names, const struct stack *stack, bool kernel,
			 struct stack_path *path)
{
	int err = 0;

	*path = (struct stack_path){};
	if (!stack)
		err = add_note(names, path, "[stack lost]");
	else if (!stack->kernel && !stack->user && stack->user_end != STACK_RAN)
		err = add_note(names, path, kernel ? "[user mode]" : "[no user stack]");
	if (!err && stack)
		err = add_user(names, path, stack);
	if (!err && stack)
		err = add_kernel(names, path, stack);
	if (err)
		stack_path__free(path);
	return err;
}
