/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry of the tools in this executable. The file of a tool declares its struct tool with one of the TOOL
 * macros, and the linker collects the declarations for tally.c.
 */
#ifndef TALLY_TOOLS_H
#define TALLY_TOOLS_H

enum area {
	AREA_SCHEDULER,
	AREA_EVENTS,
	AREA_CALLS,
	AREA_FILES,
	AREA_DISKS,
	AREA_PROCESSES,
	AREA_MEMORY,
	AREA_LOCKS,
	AREA_NETWORK,
	AREA_INTERRUPTS,
	AREA_MACHINE,
	AREAS,
};

struct tool_spec;

struct tool {
	const char *name;
	const char *summary;
	enum area area;
	int (*main)(int argc, char **argv);     /* NULL for tools that measure */
	const struct tool_spec *spec;           /* for tools that measure (run/measurement.h) */
};

/* Returns NULL if no tool has this name. */
const struct tool *find_tool(const char *name);

/* Returns a tool by its number, or NULL beyond the last. */
const struct tool *tool_at(size_t i);

/*
 * Like find_tool(), but returns the declaration of a tool that measures; NULL for other tools. Used by run/several.h.
 */
const struct tool_spec *find_tool_spec(const char *name);

/* Declares a tool whose main() is fn, and adds a pointer to it to the section that tally.c lists. */
#define TOOL(fn, where, what) TOOL_NAMED(fn, fn, where, what)

/* For a tool whose name is not that of its function: stat, whose function cannot be named like stat(2). */
#define TOOL_NAMED(name, fn, where, what)                                                          \
	static const struct tool tool_##name = { #name, what, where, fn, NULL };                    \
	static const struct tool *const tool_pointer_##name                                        \
		__attribute__((section("tally_tools"), used)) = &tool_##name

/* A tool that is declared by its struct tool_spec (run/measurement.h). */
#define TOOL_MEASURING(name, tool_spec, where, what)                                               \
	static const struct tool tool_##name = { #name, what, where, NULL, &(tool_spec) };         \
	static const struct tool *const tool_pointer_##name                                        \
		__attribute__((section("tally_tools"), used)) = &tool_##name

#endif /* TALLY_TOOLS_H */
