// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/guess.h"

#include <stdio.h>
#include <string.h>

#include "types/tracefs.h"

/*
 * All fields of syscall tracepoints have 64 bits, but their types are those of the call's
 * parameters.
 */
bool syscall_type_is_narrow(const char *type)
{
	static const char *const narrow[] = {
		"int",
		"unsigned int",
		"unsigned",
		"u32",
		"__u32",
		"s32",
		"__s32",
		"umode_t",
		"mode_t",
		"unsigned short",
		"u16",
		"pid_t",
		"uid_t",
		"gid_t",
		"qid_t",
		"key_t",
		"clockid_t",
		"timer_t",
		"mqd_t",
		"key_serial_t",
		"rwf_t",
		"enum landlock_rule_type",
		"const enum landlock_rule_type",
		"const int",
		"const unsigned int",
		"const clockid_t",
		"const __u32",
		"const pid_t",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(narrow); i++)
		if (!strcmp(type, narrow[i]))
			return true;
	return false;
}

static u8 guess_kind(const struct tracepoint_field *field)
{
	if (!strcmp(field->name, "fd"))
		return ARG_FD;
	if (!strcmp(field->name, "dfd"))
		return ARG_DIRFD;
	if (strstr(field->type, "char *") &&
	    (strstr(field->name, "path") || strstr(field->name, "name")))
		return ARG_STRING;
	if (strchr(field->type, '*'))
		return ARG_POINTER;
	if (!strcmp(field->type, "int") || strstr(field->type, "id_t"))
		return ARG_INT;
	if (!strcmp(field->type, "size_t"))
		return ARG_SIZE;
	return syscall_type_is_narrow(field->type) ? ARG_HEX32 : ARG_HEX;
}

void syscall_signature__guess(struct signature *s, int tracefs, const char *name)
{
	struct tracepoint_format format = {};
	char event[64];
	size_t i, n = 0;

	*s = (struct signature){.name = name, .native = 1};
	snprintf(event, sizeof(event), "sys_enter_%s", name);
	if (tracefs >= 0 && !tracepoint_format__read(&format, tracefs, "syscalls", event)) {
		for (i = 0; i < format.nfields && n < TRACE_ARGUMENTS; i++)
			if (!format.field[i].is_common &&
			    strcmp(format.field[i].name, "__syscall_nr"))
				s->arg[n++].kind = guess_kind(&format.field[i]);
		tracepoint_format__free(&format);
		return;
	}
	for (n = 0; n < TRACE_ARGUMENTS; n++)
		s->arg[n].kind = ARG_HEX;
}
