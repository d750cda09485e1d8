/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a number, a time, a list of CPUs or a size of a run; and as text for people. */
#include "calibrate/size.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "lib/host/accounting/accounting.h"
#include "tests/fuzz/fuzz.h"

static void try_time(const char *text)
{
	struct error err = {};
	int64_t ns, again;

	if (text_parse_duration(text, "it", &ns, &err) < 0) {
		FUZZ_REFUSED(&err);
		return;
	}
	FUZZ_MUST(ns > 0 && *text_duration(ns));
	text_precise((double)ns, 1e6);
	text_mean_sd((double)ns, 1e3, NULL);
	text_interval((double)ns / 2, (double)ns, 0, NULL);
	text_moment(ns);
	text_rfc3339(-ns);
	if (ns < NS_PER_S * 1000000) { /* a double has all its digits */
		FUZZ_MUST(text_parse_duration(text_seconds(ns), "it", &again, &err) == 0 &&
			  again == ns);
	}
}

static void try_numbers(const char *text)
{
	int backend;
	struct error err = {};
	struct size size;
	double percent;
	int64_t number;
	int count;

	if (text_parse_int(text, "it", -5, INT64_MAX, &number, &err) < 0)
		FUZZ_REFUSED(&err);
	else
		FUZZ_MUST(number >= -5);
	if (option_count(text, "--it", &count, &err) < 0)
		FUZZ_REFUSED(&err);
	if (option_percent(text, "--it", &percent, &err) < 0)
		FUZZ_REFUSED(&err);
	else
		FUZZ_MUST(percent >= 0);
	if (size_option(text, "--it", &size, &err) < 0)
		FUZZ_REFUSED(&err);
	else
		FUZZ_MUST(size.length_ns > 0 && size.count > 1);
	if (option_choice(text, "--it", accounting_backend_names, &backend, &err) < 0)
		FUZZ_REFUSED(&err);
}

static void try_cpus(const char *text)
{
	_cleanup_(freep) int *cpus = NULL;
	size_t n, counted;

	if (text_parse_cpu_list(text, &cpus, &n) == 0)
		FUZZ_MUST(text_parse_cpu_list(text, NULL, &counted) == 0 && counted == n);
}

static void try_text(const char *text)
{
	_cleanup_(freep) char *printable = text_utf8(text), *again = NULL;

	FUZZ_MUST(printable);
	again = text_utf8(printable);
	FUZZ_MUST(again && !strcmp(printable, again));
	terminal_text_width(text);
	FUZZ_MUST(terminal_text_fit(text, 20) <= strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	_cleanup_(freep) char *text = fuzz_text(bytes, n);

	try_time(text);
	try_numbers(text);
	try_cpus(text);
	try_text(text);
	return 0;
}
