# SPDX-License-Identifier: BSD-2-Clause
# Manual pages as plain text (build/man/NAME.1.txt) and documents (docs/NAME.md) -> a C file with manual_page().

BEGIN {
	print "/* Made by docs/man/embed.awk from docs; do not edit. */"
	print "#include <string.h>\n\n#include \"manual.h\"\n"
	print "static const struct {\n\tconst char *name, *text;\n} pages[] = {"
}

FNR == 1 {
	if (NR > 1)
		print "\t},"
	name = FILENAME
	sub(".*/", "", name)
	sub("\\.1\\.txt$|\\.md$", "", name)
	sub("^tally-", "", name)	# tally help doctor shows tally-doctor(1)
	printf "\t{ \"%s\",\n", name
}

FNR == 1 && /SPDX-License-Identifier/ {
	next
}

{
	gsub(/\\/, "\\\\")
	gsub(/"/, "\\\"")
	printf "\t  \"%s\\n\"\n", $0
}

END {
	print "\t},\n};\n"
	print "const char *manual_page(const char *name)\n{"
	print "\tsize_t i;\n"
	print "\tfor (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)"
	print "\t\tif (!strcmp(pages[i].name, name))"
	print "\t\t\treturn pages[i].text;"
	print "\treturn NULL;\n}"
}
