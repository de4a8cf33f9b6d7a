// SPDX-License-Identifier: BSD-2-Clause
/*
 * Locates arguments at a function's entry by the calling convention: the System V ABI for x86-64 (chapter 3.2.3), and
 * the Itanium C++ ABI for classes with their own copy constructor or destructor (3.1.2.3). The compiler may deviate
 * for functions without outside callers, but then it emits locations. On arm64, numbers and pointers are located
 * (AAPCS64, 6.8.2); structures, two-register values, and the arguments after them are not.
 */
#ifdef HAVE_LIBDW

#include <errno.h>
#include <string.h>

#include "base/arch.h"
#include "types/dwarf_libdw.h"

#define INTEGER_REGISTERS ARCH_ARGUMENT_REGISTERS
#define VECTOR_REGISTERS 8
#define MOST_MEMBERS 64         /* of types with at most 16 bytes */

enum abi_class {
	ABI_NONE,
	ABI_SSE,
	ABI_INTEGER,
	ABI_X87,                /* long double: a result is in st0, an argument in memory */
	ABI_MEMORY,
};

/* A value to pass: up to two words, in registers or on the stack. */
struct value {
	enum abi_class word[2];
	u64 size, align;
	bool by_address;        /* C++: its address is passed */
	bool unknown;           /* no later argument can be located */
};

/* --- types -------------------------------------------------------------------------------------- */

static Dwarf_Die *bare_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	u32 depth;

	for (depth = 0; depth < DWARF_MAX_DEPTH; depth++) {
		if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), type))
			return NULL;
		die = type;
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			continue;
		default:
			return type;
		}
	}
	return NULL;
}

static bool is_record(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static u64 number_at(Dwarf_Die *die, int name, u64 otherwise)
{
	Dwarf_Attribute attr;
	Dwarf_Word number;

	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &number))
		return otherwise;
	return number;
}

static bool has_flag(Dwarf_Die *die, int name)
{
	Dwarf_Attribute attr;
	bool flag;

	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formflag(&attr, &flag) && flag;
}

/* --- C++: types passed by address -------------------------------------------------------------- */

static bool is_nontrivial(struct dwarf *d, Dwarf_Die *record, u32 depth);

/* True for a copy or move constructor: its only argument besides the object is a reference to its own type. */
static bool copies(Dwarf_Die *constructor, Dwarf_Die *record)
{
	Dwarf_Die child, type;
	u32 n = 0;
	bool own = false;

	if (dwarf_child(constructor, &child))
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || has_flag(&child, DW_AT_artificial))
			continue;
		if (n++ || !bare_type(&child, &type))
			continue;
		if (dwarf_tag(&type) != DW_TAG_reference_type &&
		    dwarf_tag(&type) != DW_TAG_rvalue_reference_type)
			continue;
		own = bare_type(&type, &type) && type.addr == record->addr;
	} while (!dwarf_siblingof(&child, &child));
	return own && n == 1;
}

/* True if the function is user-provided: neither added by the compiler nor "= default" in the class. */
static bool is_own_special(struct dwarf *d, Dwarf_Die *function, Dwarf_Die *record)
{
	const char *name = dwarf_die__name(d, function), *of = dwarf_die__name(d, record);

	if (!name || has_flag(function, DW_AT_artificial) ||
	    number_at(function, DW_AT_defaulted, 0) == DW_DEFAULTED_in_class ||
	    has_flag(function, DW_AT_deleted))
		return false;
	if (*name == '~')
		return true;
	/* A template's constructors have no template arguments in their names. */
	return of && !strncmp(of, name, strlen(name)) &&
	       (!of[strlen(name)] || of[strlen(name)] == '<') && copies(function, record);
}

static bool makes_nontrivial(struct dwarf *d, Dwarf_Die *child, Dwarf_Die *record, u32 depth)
{
	Dwarf_Die type;

	switch (dwarf_tag(child)) {
	case DW_TAG_subprogram:
		return number_at(child, DW_AT_virtuality, 0) ||
		       is_own_special(d, child, record);
	case DW_TAG_inheritance:
		if (number_at(child, DW_AT_virtuality, 0))
			return true;
		break;
	case DW_TAG_member:
		if (has_flag(child, DW_AT_external))
			return false;   /* static */
		break;
	default:
		return false;
	}
	if (!bare_type(child, &type))
		return false;
	while (dwarf_tag(&type) == DW_TAG_array_type)
		if (!bare_type(&type, &type))
			return false;
	return is_record(dwarf_tag(&type)) && is_nontrivial(d, &type, depth + 1);
}

static bool is_nontrivial(struct dwarf *d, Dwarf_Die *record, u32 depth)
{
	u64 convention = number_at(record, DW_AT_calling_convention, 0);
	Dwarf_Die child;

	/* clang records the convention. */
	if (convention == DW_CC_pass_by_reference || convention == DW_CC_pass_by_value)
		return convention == DW_CC_pass_by_reference;
	if (depth > 16 || dwarf_child(record, &child))
		return false;
	do {
		if (!dwarf__spend(d))
			return false;
		if (makes_nontrivial(d, &child, record, depth))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/* --- classes ------------------------------------------------------------------------------------ */

static enum abi_class joined(enum abi_class a, enum abi_class b)
{
	return a > b ? a : b;   /* in the order of the ABI's rules for two classes in one word */
}

static void classify(struct dwarf *d, struct value *v, Dwarf_Die *type, u64 at, u32 *budget);

static void put_word(struct value *v, u64 at, u64 size, enum abi_class class)
{
	if (at + size > 16 || (size && at % (size < 16 ? size : 16))) {
		v->word[0] = ABI_MEMORY;        /* unaligned: packed */
		return;
	}
	v->word[at / 8] = joined(v->word[at / 8], class);
	if (size > 8)
		v->word[1] = joined(v->word[1], class == ABI_SSE ? ABI_NONE : class);
}

static void classify_float(struct value *v, u64 at, u64 size, const char *name)
{
	if (size != 16)
		put_word(v, at, size, ABI_SSE);
	else
		put_word(v, at, size, name && !strcmp(name, "long double") ? ABI_X87 : ABI_SSE);
}

static void classify_base(struct dwarf *d, struct value *v, Dwarf_Die *type, u64 at)
{
	u64 size = number_at(type, DW_AT_byte_size, 0);

	switch (number_at(type, DW_AT_encoding, 0)) {
	case DW_ATE_float:
	case DW_ATE_decimal_float:
	case DW_ATE_imaginary_float:
		return classify_float(v, at, size, dwarf_die__name(d, type));
	case DW_ATE_complex_float:
		if (size > 16) {
			v->word[0] = ABI_MEMORY;
			return;
		}
		put_word(v, at, size / 2, ABI_SSE);
		return put_word(v, at + size / 2, size / 2, ABI_SSE);
	default:
		put_word(v, at, size, ABI_INTEGER);
	}
}

static void classify_members(struct dwarf *d, struct value *v, Dwarf_Die *record, u64 at, u32 *budget)
{
	Dwarf_Die child, type;
	int tag;
	u64 bits;

	if (dwarf_child(record, &child))
		return;
	do {
		tag = dwarf_tag(&child);
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    has_flag(&child, DW_AT_external) || !bare_type(&child, &type))
			continue;
		if (!*budget || !dwarf__spend(d)) {
			v->unknown = true;
			return;
		}
		--*budget;
		bits = number_at(&child, DW_AT_data_bit_offset, UINT64_MAX);
		if (number_at(&child, DW_AT_bit_size, 0))
			put_word(v, at + (bits == UINT64_MAX ?
					  number_at(&child, DW_AT_data_member_location, 0) : bits / 8),
				 1, ABI_INTEGER);
		else
			classify(d, v, &type,
				 at + number_at(&child, DW_AT_data_member_location, 0), budget);
	} while (!dwarf_siblingof(&child, &child));
}

static void classify_array(struct dwarf *d, struct value *v, Dwarf_Die *array, u64 at, u32 *budget)
{
	Dwarf_Word size, each;
	Dwarf_Die element;
	u64 i;

	if (dwarf_aggregate_size(array, &size) || !bare_type(array, &element)) {
		v->unknown = true;
		return;
	}
	if (has_flag(array, DW_AT_GNU_vector)) {
		/* Compiler options determine how 32 bytes and more are passed. */
		v->unknown |= size > 16;
		return put_word(v, at, size, ABI_SSE);
	}
	if (dwarf_aggregate_size(&element, &each) || !each)
		return;
	for (i = 0; i + each <= size && i <= 16 && *budget; i += each, --*budget)
		classify(d, v, &element, at + i, budget);
}

static void classify(struct dwarf *d, struct value *v, Dwarf_Die *type, u64 at, u32 *budget)
{
	Dwarf_Die target;

	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		return classify_base(d, v, type, at);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return classify_members(d, v, type, at, budget);
	case DW_TAG_array_type:
		return classify_array(d, v, type, at, budget);
	case DW_TAG_enumeration_type:
		return put_word(v, at, number_at(type, DW_AT_byte_size, 4), ABI_INTEGER);
	case DW_TAG_ptr_to_member_type:
		put_word(v, at, 8, ABI_INTEGER);
		if (bare_type(type, &target) && dwarf_tag(&target) == DW_TAG_subroutine_type)
			put_word(v, at + 8, 8, ABI_INTEGER);
		return;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type:   /* nullptr_t */
		return put_word(v, at, 8, ABI_INTEGER);
	default:
		v->unknown = true;
	}
}

/* Alignment matters only above 8: for types that contain 16-byte numbers. */
static u64 align_of(Dwarf_Die *type, const struct value *v)
{
	u64 said = number_at(type, DW_AT_alignment, 0);

	if (said > 8)
		return said;
	return dwarf_tag(type) == DW_TAG_base_type && v->size == 16 ? 16 : 8;
}

/* True if the type contains a 16-byte number. */
static bool contains_wide(struct dwarf *d, Dwarf_Die *type, u32 depth)
{
	Dwarf_Die child, member;

	if (dwarf_tag(type) == DW_TAG_base_type)
		return number_at(type, DW_AT_byte_size, 0) >= 16 &&
		       number_at(type, DW_AT_encoding, 0) != DW_ATE_complex_float;
	if (dwarf_tag(type) == DW_TAG_array_type)
		return has_flag(type, DW_AT_GNU_vector) ||
		       (depth < 16 && bare_type(type, &member) && contains_wide(d, &member, depth + 1));
	if (!is_record(dwarf_tag(type)) || depth > 16 || dwarf_child(type, &child))
		return false;
	do {
		if (!dwarf__spend(d))
			return false;
		if ((dwarf_tag(&child) == DW_TAG_member || dwarf_tag(&child) == DW_TAG_inheritance) &&
		    (number_at(&child, DW_AT_alignment, 0) > 8 ||
		     (bare_type(&child, &member) &&
		      (number_at(&member, DW_AT_alignment, 0) > 8 ||
		       contains_wide(d, &member, depth + 1)))))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static const struct value address = { { ABI_INTEGER, ABI_NONE }, 8, 8, true, false };

static struct value value_by_copy(struct dwarf *d, Dwarf_Die *type)
{
	struct value v = { .align = 8 };
	u32 budget = MOST_MEMBERS;
	Dwarf_Word size = 0;

	if (dwarf_aggregate_size(type, &size))
		size = number_at(type, DW_AT_byte_size, 8);
	v.size = size;
	if (size > 16 && (is_record(dwarf_tag(type)) || dwarf_tag(type) == DW_TAG_base_type))
		v.word[0] = ABI_MEMORY;
	else
		classify(d, &v, type, 0, &budget);
	v.align = align_of(type, &v);
	if (contains_wide(d, type, 0))
		v.align = v.align > 16 ? v.align : 16;
	return v;
}

static struct value value_of(struct dwarf *d, Dwarf_Die *type)
{
	if (is_record(dwarf_tag(type)) && is_nontrivial(d, type, 0))
		return address;
	return value_by_copy(d, type);
}

/* True for one number in one register, which can be located on every machine. */
static bool is_plain(Dwarf_Die *type, const struct value *v)
{
	return v->by_address || (!is_record(dwarf_tag(type)) && v->word[0] != ABI_MEMORY && v->size <= 8);
}

/* --- arguments ---------------------------------------------------------------------------------- */

struct convention {
	struct dwarf *d;
	u32 integers, vectors;
	u64 stack;              /* bytes above the return address */
	bool unknown;
};

/*
 * gcc does not record which classes are passed by address, but the location of such an argument starts by reading
 * the address.
 */
static struct value argument_of(struct dwarf *d, Dwarf_Die *type, Dwarf_Die *parameter)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!is_record(dwarf_tag(type)) ||
	    !dwarf_attr_integrate(parameter, DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &n) || n < 1 || n > 2 || ops[0].atom != DW_OP_fbreg)
		return value_of(d, type);
	return n == 2 && ops[1].atom == DW_OP_deref ? address : value_by_copy(d, type);
}

static bool is_in_memory(const struct value *v)
{
	return v->word[0] >= ABI_X87 || v->word[1] >= ABI_X87;
}

static void put_on_stack(struct convention *c, const struct value *v, struct dwarf_variable *out)
{
	c->stack = (c->stack + v->align - 1) / v->align * v->align;
	out->slot = INTEGER_REGISTERS + c->stack / 8;
	out->passed = v->by_address ? DWARF_PASSED_ADDRESS : DWARF_PASSED_STACK;
	if (v->word[0] == ABI_INTEGER && v->size <= 8 && out->passed == DWARF_PASSED_STACK &&
	    out->kind != DWARF_STRUCT)
		out->passed = DWARF_PASSED_NUMBER;
	c->stack += (v->size + 7) / 8 * 8;
}

static void put_in_registers(struct convention *c, const struct value *v, u32 integers, u32 vectors,
			     struct dwarf_variable *out)
{
	out->slot = c->integers;
	if (v->by_address)
		out->passed = DWARF_PASSED_ADDRESS;
	else if (vectors)
		out->passed = DWARF_PASSED_VECTOR;
	else if (integers > 1 || out->kind == DWARF_STRUCT)
		out->passed = DWARF_PASSED_REGISTERS;
	else
		out->passed = DWARF_PASSED_NUMBER;
	out->nslots = integers;
	c->integers += integers;
	c->vectors += vectors;
}

static void pass(struct convention *c, Dwarf_Die *parameter, struct dwarf_variable *out)
{
	u32 integers, vectors;
	struct value v;
	Dwarf_Die type;

	out->passed = DWARF_PASSED_UNKNOWN;
	if (!bare_type(parameter, &type))
		c->unknown = true;
	if (c->unknown)
		return;
	v = argument_of(c->d, &type, parameter);
	if (v.unknown || (!ARCH_PASSES_SYSV && !is_plain(&type, &v))) {
		c->unknown = true;
		return;
	}
	integers = (v.word[0] == ABI_INTEGER) + (v.word[1] == ABI_INTEGER);
	vectors = (v.word[0] == ABI_SSE) + (v.word[1] == ABI_SSE);
	if (!is_in_memory(&v) && !integers && !vectors)
		out->passed = DWARF_PASSED_NOWHERE;     /* empty */
	else if (is_in_memory(&v) || c->integers + integers > INTEGER_REGISTERS ||
		 c->vectors + vectors > VECTOR_REGISTERS)
		put_on_stack(c, &v, out);
	else
		put_in_registers(c, &v, integers, vectors, out);
}

/* Locates the result in *out. Returns true if the first argument register holds the result's address. */
static bool return_value(struct convention *c, Dwarf_Die *function, struct dwarf_variable *out)
{
	struct value v;
	Dwarf_Die type;

	out->passed = DWARF_PASSED_NOWHERE;
	if (!bare_type(function, &type))
		return false;
	v = value_of(c->d, &type);
	out->passed = DWARF_PASSED_UNKNOWN;
	if (v.unknown || (!ARCH_PASSES_SYSV && !is_plain(&type, &v)))
		return false;
	out->passed = DWARF_PASSED_VECTOR;
	/* A complex long double is returned in st0 and st1, but never passed there. */
	if (dwarf_tag(&type) == DW_TAG_base_type && v.word[0] == ABI_MEMORY)
		return false;
	if (v.by_address || v.word[0] == ABI_MEMORY || (v.word[0] == ABI_X87 && v.word[1] != ABI_X87)) {
		out->passed = DWARF_PASSED_ADDRESS;
		return true;
	}
	if (v.word[0] == ABI_INTEGER)
		out->passed = v.word[1] != ABI_NONE || out->kind == DWARF_STRUCT ?
				      DWARF_PASSED_REGISTERS : DWARF_PASSED_NUMBER;
	return false;
}

static struct dwarf_variable *variable_of(struct dwarf_variables *found, const char *name)
{
	size_t i;

	for (i = 0; i < found->n && name; i++)
		if (found->variable[i].is_parameter && !strcmp(found->variable[i].name, name))
			return &found->variable[i];
	return NULL;
}

static bool has_unspecified(struct dwarf *d, Dwarf_Die *function)
{
	Dwarf_Die child;
	int end = dwarf_child(function, &child);

	for (; !end && dwarf__spend(d); end = dwarf_siblingof(&child, &child))
		if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
			return true;
	return false;
}

/* Only the declaration in the source has the "...", not every out-of-line copy. */
static bool is_variadic(struct dwarf *d, Dwarf_Die *function)
{
	static const unsigned int links[] = { DW_AT_abstract_origin, DW_AT_specification };
	Dwarf_Die at = *function, next;
	Dwarf_Attribute attr;
	size_t i;

	if (has_unspecified(d, function))
		return true;
	for (i = 0; i < ARRAY_SIZE(links); i++) {
		if (!dwarf_attr(&at, links[i], &attr) || !dwarf_formref_die(&attr, &next))
			continue;
		at = next;
		if (has_unspecified(d, &at))
			return true;
	}
	return false;
}

/*
 * True if the debug information lists all arguments: for prototyped C, and for C++. Other languages pass arguments that
 * it does not list.
 */
static bool says_all_parameters(struct dwarf *d, Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit;

	if (!dwarf_diecu(function, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
		if (!dwarf_attr_integrate(function, DW_AT_prototyped, &attr))
			return false;
		break;
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		break;
	default:
		return false;
	}
	return !is_variadic(d, function);
}

void dwarf_abi__pass(struct dwarf_variables *found, struct dwarf *d, Dwarf_Die *function)
{
	struct convention c = { .d = d };
	struct dwarf_variable nameless, *v;
	u32 parameters = 0;
	Dwarf_Die child;
	int end;

	c.integers = return_value(&c, function, &found->result) && ARCH_RESULT_BY_ARGUMENT;
	c.unknown = ARCH_RESULT_BY_ARGUMENT && found->result.passed == DWARF_PASSED_UNKNOWN;
	end = dwarf_child(function, &child);
	for (; !end && dwarf__spend(d); end = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		v = variable_of(found, dwarf_die__name(d, &child));
		nameless = (struct dwarf_variable){};
		pass(&c, &child, v ?: &nameless);
		parameters++;
	}
	found->declared = (struct dwarf_declared){
		.is_known = end > 0 && !c.unknown && says_all_parameters(d, function), .parameters = parameters,
		.registers = c.integers, .stack = (c.stack + 7) / 8,
	};
}

#endif /* HAVE_LIBDW */
