/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a command line and as parameters of one. What is split and joined splits into the
 * same words again. */
#include "lib/base/argv.h"
#include "measure/options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/parameters.h"

static void same_words(char *const *a, char *const *b)
{
	for (; *a && *b; a++, b++)
		FUZZ_MUST(!strcmp(*a, *b));
	FUZZ_MUST(!*a && !*b);
}

static void try_split(const char *text)
{
	_cleanup_(argv_freep) char **words = NULL, **again = NULL, **shell = NULL;
	_cleanup_(freep) char *joined = NULL;
	struct error err = {};

	if (argv_split(text, &words, &err) < 0) {
		FUZZ_REFUSED(&err);
		return;
	}
	FUZZ_MUST(words[0]);
	joined = argv_join(words);
	FUZZ_MUST(joined && argv_split(joined, &again, &err) == 0);
	same_words(words, again);
	shell = argv_for_shell(words, text);
	FUZZ_MUST(shell);
}

/* "NAME\0VALUES", or "NAME\0MIN\0MAX\0STEP" */
static void try_parameters(char *text, size_t n)
{
	struct parameters parameters = {};
	struct error err = {};
	const char *part[4] = {"", "", "", ""};
	int n_parts = 0;

	for (char *at = text; at <= text + n && n_parts < 4; at += strlen(at) + 1)
		part[n_parts++] = at;
	if (parameters_add_list(&parameters, part[0], part[1], &err) < 0)
		FUZZ_REFUSED(&err);
	if (parameters_add_scan(&parameters, "scan", part[1], part[2], part[3], &err) < 0)
		FUZZ_REFUSED(&err);
	for (size_t k = 0, all = parameters_count(&parameters); k < all && k < 8; k++) {
		_cleanup_(argv_freep) char **values = parameters_values(&parameters, k);
		_cleanup_(freep) char *text_of = values ? parameters_replace(
								  &parameters, values, part[0])
							: NULL;

		FUZZ_MUST(text_of);
	}
	parameters_clear(&parameters);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	_cleanup_(freep) char *text = fuzz_text(bytes, n);

	try_split(text);
	try_parameters(text, n);
	return 0;
}
