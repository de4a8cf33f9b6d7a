/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tools in this executable. A tool is one file that ends in
 *
 *   TOOL(runqlat, AREA_SCHEDULER, "how long tasks wait for a CPU");
 *
 * which adds it to the list that tally.c shows and searches. The function of that name is its
 * main(): it returns the exit status.
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
	int (*main)(int argc, char **argv);     /* NULL for a tool that measures: */
	const struct tool_spec *spec;           /* run/measurement.h */
};

/* Returns NULL if there is none of that name. */
const struct tool *find_tool(const char *name);

/* The tools by number; NULL: there are no more. */
const struct tool *tool_at(size_t i);

/* The same for tools that measure; for run/several.h. */
const struct tool_spec *find_tool_spec(const char *name);

/* Pointers to all tools, collected by the linker. */
#define TOOL(fn, where, what) TOOL_NAMED(fn, fn, where, what)

/* For a tool with another name in C: stat(2). */
#define TOOL_NAMED(name, fn, where, what)                                                          \
	static const struct tool tool_##name = { #name, what, where, fn, NULL };                    \
	static const struct tool *const tool_pointer_##name                                        \
		__attribute__((section("tally_tools"), used)) = &tool_##name

/* A tool that is a declaration (run/measurement.h): its struct tool_spec. */
#define TOOL_MEASURING(name, tool_spec, where, what)                                               \
	static const struct tool tool_##name = { #name, what, where, NULL, &(tool_spec) };         \
	static const struct tool *const tool_pointer_##name                                        \
		__attribute__((section("tally_tools"), used)) = &tool_##name

#endif /* TALLY_TOOLS_H */
