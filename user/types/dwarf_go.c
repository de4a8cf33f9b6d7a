// SPDX-License-Identifier: BSD-2-Clause
/*
 * Results of Go functions, which are declared after the parameters (cmd/internal/dwarf). In ABIInternal
 * (cmd/compile/abi-internal.md) a result is either entirely in registers or not at all, and the first result starts
 * in the first register.
 */
#ifdef HAVE_LIBDW

#include <errno.h>
#include <stdlib.h>

#include "types/dwarf_libdw.h"

#define RESULT_REGISTERS 9      /* x86-64 has the fewest */

bool dwarf_go__is_result(Dwarf_Die *parameter)
{
	Dwarf_Attribute attr;
	bool is = false;

	return dwarf_attr_integrate(parameter, DW_AT_variable_parameter, &attr) && !dwarf_formflag(&attr, &is) && is;
}

static bool find_result(struct dwarf *d, Dwarf_Die *function, Dwarf_Die *result)
{
	if (dwarf_child(function, result))
		return false;
	do {
		if (dwarf_tag(result) == DW_TAG_formal_parameter && dwarf_go__is_result(result))
			return true;
	} while (dwarf__spend(d) && !dwarf_siblingof(result, result));
	return false;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), type) && dwarf_die__peel(type);
}

/* A number or a pointer takes one register. */
static enum dwarf_passed passed_of(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0;

	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_subroutine_type:
		return DWARF_PASSED_NUMBER;
	case DW_TAG_base_type:
		dwarf_formudata(dwarf_attr_integrate(type, DW_AT_encoding, &attr), &encoding);
		return encoding == DW_ATE_float || encoding == DW_ATE_complex_float ? DWARF_PASSED_VECTOR :
										      DWARF_PASSED_NUMBER;
	default:
		return DWARF_PASSED_UNKNOWN;
	}
}

/*
 * Strings, slices, interfaces and other structures of numbers and pointers have their first member in the first
 * register.
 */
static void pass_structure(struct dwarf *d, Dwarf_Die *structure, struct dwarf_variable *out)
{
	enum dwarf_passed first = DWARF_PASSED_UNKNOWN, passed;
	Dwarf_Die member, type;
	u32 n = 0;

	out->passed = DWARF_PASSED_ADDRESS;
	if (dwarf_child(structure, &member))
		return;
	do {
		if (dwarf_tag(&member) != DW_TAG_member)
			continue;
		passed = type_of(&member, &type) ? passed_of(&type) : DWARF_PASSED_UNKNOWN;
		if (passed == DWARF_PASSED_UNKNOWN || !dwarf__spend(d))
			return;
		first = n++ ? first : passed;
	} while (!dwarf_siblingof(&member, &member));
	if (first == DWARF_PASSED_NUMBER && n <= RESULT_REGISTERS) {
		out->passed = DWARF_PASSED_REGISTERS;
		out->nslots = n;
	}
}

int dwarf_go__result(struct dwarf_variable *out, struct dwarf *d, Dwarf_Die *function)
{
	Dwarf_Die result, origin, type;
	Dwarf_Attribute attr;
	int err;

	if (!find_result(d, function, &result) &&
	    (!dwarf_formref_die(dwarf_attr(function, DW_AT_abstract_origin, &attr), &origin) ||
	     !find_result(d, &origin, &result))) {
		out->passed = DWARF_PASSED_NOWHERE;
		return dwarf_variable__set_type(out, d, function, false);
	}
	err = dwarf_variable__set_type(out, d, &result, false);
	if (err || !type_of(&result, &type))
		return err;
	out->passed = passed_of(&type);
	if (dwarf_tag(&type) == DW_TAG_structure_type)
		pass_structure(d, &type, out);
	else if (out->passed == DWARF_PASSED_UNKNOWN)
		out->passed = DWARF_PASSED_ADDRESS;
	return 0;
}

#endif /* HAVE_LIBDW */
