// SPDX-License-Identifier: BSD-2-Clause
/* Names in DNS questions. */
#include "unit.h"

#include "net/dns_names.h"

static size_t parse(const void *question, size_t length, char *name, __u16 *type)
{
	return dns_question__parse(question, length, name, type);
}

static void names(void **state)
{
	char name[DNS_NAME_SPACE];
	__u16 type = 0;

	(void)state;
	assert_int_equal(parse("\3www\7example\3com\0\0\1\0\1", 21, name, &type), 17);
	assert_string_equal(name, "www.example.com");
	assert_int_equal(type, 1);
	assert_int_equal(parse("\0\1\1", 3, name, &type), 1);
	assert_string_equal(name, ".");
	assert_int_equal(type, 257);
	assert_int_equal(parse("\5a.b \0\0\0\1", 9, name, &type), 7);
	assert_string_equal(name, "a\\046b\\032\\000");
}

static void malformed(void **state)
{
	char name[DNS_NAME_SPACE];
	__u16 type;

	(void)state;
	assert_int_equal(parse("", 0, name, &type), 0);
	assert_int_equal(parse("\0\0", 2, name, &type), 0);
	assert_int_equal(parse("\3ab", 3, name, &type), 0);
	assert_int_equal(parse("\3abc", 4, name, &type), 0);
	assert_int_equal(parse("\3abc\0\0", 6, name, &type), 0);
	assert_int_equal(parse("\xc0\x0c\0\1\0\1", 6, name, &type), 0);
}

/* The longest name has 255 bytes. Each byte may take four characters. */
static void longest(void **state)
{
	unsigned char question[300] = {};
	char name[DNS_NAME_SPACE];
	__u16 type;
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		question[i * 64] = i < 3 ? 63 : 61;
	assert_int_equal(parse(question, 255 + 2, name, &type), 255);
	assert_int_equal(strlen(name), 250 * 4 + 3);
	question[3 * 64] = 62;
	assert_int_equal(parse(question, 256 + 2, name, &type), 0);
}

static void words(void **state)
{
	char text[DNS_WORD_SPACE];

	(void)state;
	assert_string_equal(dns_type_name(65, text), "HTTPS");
	assert_string_equal(dns_type_name(65535, text), "TYPE65535");
	assert_string_equal(dns_result_name(0x8183, text), "NXDOMAIN");
	assert_string_equal(dns_result_name(0x818b, text), "RCODE11");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(malformed),
		cmocka_unit_test(longest),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
