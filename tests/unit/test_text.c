/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, times and lists between text and memory. */
#include "tests/unit/check.h"

TEST(a_bare_number_is_seconds_and_units_scale)
{
	static const struct {
		const char *text;
		int64_t ns;
	} rows[] = {
		{"0.1", 100 * NS_PER_MS},
		{"128", 128 * NS_PER_S},
		{"1ms", NS_PER_MS},
		{"250us", 250000},
		{"1ns", 1},
		{"1.5h", 5400 * NS_PER_S},
		{"2min", 120 * NS_PER_S},
		{"8d", 691200 * NS_PER_S},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		struct error err = {};
		int64_t ns = 0;

		assert_int_equal(text_parse_duration(rows[i].text, "x", &ns, &err), 0);
		assert_int_equal(ns, rows[i].ns);
	}
}

TEST(a_bad_time_is_quoted_in_the_message)
{
	static const char *const bad[] = {
		"", "0", "-1", "1parsec", "nan", "inf", "1e300", "0.1ns", "ms"};

	for (size_t i = 0; i < ELEMENTS(bad); i++) {
		struct error err = {};
		int64_t ns = 77;

		assert_int_equal(text_parse_duration(bad[i], "--linger", &ns, &err), -EINVAL);
		assert_int_equal(ns, 77);
		assert_non_null(strstr(err.text, "--linger must be a time above zero"));
	}
}

TEST(bytes_that_are_not_utf8_are_spelled_out)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", ""},
		{"plain", "plain"},
		{"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
			"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"\xff\xfe", "\\xff\\xfe"},
		{"cut \xc3", "cut \\xc3"},
		{"cut \xe2\x82", "cut \\xe2\\x82"},
		{"overlong \xc0\xaf \xe0\x80\xaf", "overlong \\xc0\\xaf \\xe0\\x80\\xaf"},
		{"surrogate \xed\xa0\x80", "surrogate \\xed\\xa0\\x80"},
		{"too great \xf4\x90\x80\x80", "too great \\xf4\\x90\\x80\\x80"},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		_cleanup_(freep) char *text = text_utf8(rows[i].text);

		assert_string_equal(text, rows[i].want);
	}
	assert_null(text_utf8(NULL));
}

TEST(whole_numbers_outside_their_range_are_refused)
{
	struct error err = {};
	int64_t n = 0;

	assert_int_equal(text_parse_int("10", "-r", 1, 100, &n, &err), 0);
	assert_int_equal(n, 10);
	assert_int_equal(text_parse_int("101", "-r", 1, 100, &n, &err), -EINVAL);
	assert_string_equal(err.text, "-r must be a whole number from 1 to 100, not '101'");
	assert_int_equal(text_parse_int("10x", "-r", 1, 100, &n, &err), -EINVAL);
	assert_int_equal(text_parse_int("", "-r", 1, 100, &n, &err), -EINVAL);
}

TEST(a_size_is_in_bytes_or_has_a_unit)
{
	static const struct {
		const char *text;
		int64_t bytes;
	} rows[] = {{"4096", 4096}, {"64K", 65536}, {"16M", 16 << 20}, {"2T", INT64_C(2) << 40}};
	static const char *const bad[] = {
		"", "0", "-1", "x", "M", "5x", "5MB", "5 M", "16777216T", "9223372036854775808"};
	struct error err = {};
	int64_t bytes = 0;

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		assert_int_equal(text_parse_size(rows[i].text, "memory", &bytes, &err), 0);
		assert_int_equal(bytes, rows[i].bytes);
	}
	for (size_t i = 0; i < ELEMENTS(bad); i++)
		assert_int_equal(text_parse_size(bad[i], "memory", &bytes, &err), -EINVAL);
	assert_int_equal(text_parse_size("5x", "memory", &bytes, &err), -EINVAL);
	assert_string_equal(err.text, "memory must be a size such as 64M or 1G, not '5x'");
}

TEST(a_count_has_units_of_a_thousand)
{
	static const struct {
		const char *text;
		int64_t n;
		const char *brief;
	} rows[] = {{"1", 1, "1"}, {"250", 250, "250"}, {"100K", 100000, "100K"},
		{"3.2M", 3200000, "3.2M"}, {"1.1K", 1100, "1.1K"}, {"1.234K", 1234, "1234"},
		{"0.5K", 500, "500"}, {"1G", 1000000000, "1G"}, {"1000500", 1000500, "1000500"}};
	static const char *const bad[] = {"", "0", "-1", "K", "1k", "1KB", "1.0001K", "0.5", "1e3",
		"0x10", "inf", "2G", "1 K"};
	struct error err = {};
	int64_t n;

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		assert_int_equal(text_parse_count(rows[i].text, "SIZE", 1000000000, &n, &err), 0);
		assert_int_equal(n, rows[i].n);
		assert_string_equal(text_brief_count(n), rows[i].brief);
	}
	for (size_t i = 0; i < ELEMENTS(bad); i++)
		assert_int_equal(text_parse_count(bad[i], "SIZE", 1000000000, &n, &err), -EINVAL);
	assert_string_equal(err.text,
		"SIZE must be a whole number from 1 to 1G, such as 250, 100K or 3.2M, not '1 K'");
}

TEST(durations_read_as_a_person_writes_them)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{0, "0 ns"},
		{812, "812 ns"},
		{1234567, "1.235 ms"},
		{12345678900, "12.35 s"},
		{999960000, "1.000 s"},
		{999940, "999.9 us"},
		{999950, "1.000 ms"},
		{999990, "1.000 ms"},
		{9996, "9.996 us"},
		{999, "999 ns"},
		{-9999600, "-10.00 ms"},
		{100000000, "100.0 ms"},
		{59999 * NS_PER_MS, "60.00 s"},
		{60 * NS_PER_S, "1 min 0 s"},
		{3599 * NS_PER_S, "1 h 0 min"},
		{14374 * NS_PER_S, "4 h 0 min"},
		{86400 * 3 * NS_PER_S, "3 d 0 h"},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++)
		assert_string_equal(text_duration(rows[i].ns), rows[i].text);
}

TEST(precise_times_show_two_digits_of_their_step)
{
	static const struct {
		double ns, step_ns;
		const char *text;
	} rows[] = {
		{128250312345.0, 2600000, "128.2503 s"},
		{16416637e6, 138.6e6, "16416.64 s"},
		{100123456, 0, "100.1 ms"},
		{100123456, 1, "100.123456 ms"},
		{812, 0.001, "812 ns"},
		{0, 0, "0 ns"},
		{503.7e6, 127e6, "500 ms"},
		{127.93e6, 9.96e6, "128 ms"},
		{999857, 999857, "1.0 ms"}, /* not 1000 us */
		{-999857, 999857, "-1.0 ms"},
		{999857, 99985.7, "1.00 ms"},
		{994999, 99985.7, "990 us"},
		{999.6, 0.001, "1.000 us"},
		{999.97e6, 5e4, "999.970 ms"},
		{999.97e6, 5e6, "1.0000 s"},
		{999999.6e6, 1e9, "1000.0 s"},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++)
		assert_string_equal(text_precise(rows[i].ns, rows[i].step_ns), rows[i].text);
}

TEST(a_mean_is_rounded_to_match_its_sd)
{
	static const struct {
		double mean_ns, sd_ns;
		const char *unit, *text;
	} rows[] = {
		{127.93e6, 4.63e6, NULL, "127.9 ms ± 4.6 ms"},
		{128250312345.0, 2600000, NULL, "128.2503 s ± 0.0026 s"},
		{127.93e6, 4.63e6, "s", "0.1279 s ± 0.0046 s"},
		{127.93e6, 4.63e6, "us", "127900 us ± 4600 us"},
		{503.7e6, 127e6, NULL, "500 ms ± 130 ms"},
		{1e6, 0, NULL, "1.000 ms ± 0 ms"},
		{812.4, 0.52, NULL, "812 ns ± 1 ns"},
		{999.97e6, 5.2e6, NULL, "1.0000 s ± 0.0052 s"},
		{999.97e3, 52, NULL, "999.970 us ± 0.052 us"},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++)
		assert_string_equal(
			text_mean_sd(rows[i].mean_ns, rows[i].sd_ns, rows[i].unit), rows[i].text);
}

TEST(an_interval_is_in_one_unit)
{
	static const struct {
		double low_ns, high_ns, sd_ns;
		const char *unit, *text;
	} rows[] = {
		{125.51e6, 130.35e6, 4.63e6, NULL, "125.5 … 130.3 ms"},
		{120.2468e6, 136.5321e6, 0, NULL, "120.2 … 136.5 ms"},
		{812345, 12345678, 0, NULL, "0.8123 … 12.35 ms"},
		{812345, 999990, 0, NULL, "0.8123 … 1.000 ms"},
		{812345, 12345678, 0, "s", "0.0008123 … 0.01235 s"},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++)
		assert_string_equal(
			text_interval(rows[i].low_ns, rows[i].high_ns, rows[i].sd_ns, rows[i].unit),
			rows[i].text);
}

TEST(a_percentage_has_two_digits)
{
	static const struct {
		double ratio;
		const char *text;
	} rows[] = {
		{0.0362, "3.6 %"},
		{0.0996, "10 %"},
		{0.362, "36 %"},
		{0.00036, "0.036 %"},
		{-0.05, "-5.0 %"},
		{1, "100 %"},
		{0, "0 %"},
		{4.9e-155, "0 %"},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++)
		assert_string_equal(text_percent(rows[i].ratio), rows[i].text);
}

TEST(seconds_keep_the_digits_that_are_there)
{
	assert_string_equal(text_seconds(100 * NS_PER_MS), "0.1");
	assert_string_equal(text_seconds(16384 * NS_PER_S), "16384");
	assert_string_equal(text_seconds(1), "0.000000001");
}

TEST(a_cpu_list_opens_into_its_numbers)
{
	_cleanup_(freep) int *cpus = NULL;
	size_t n;

	assert_int_equal(text_parse_cpu_list("0-2,8", &cpus, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(cpus[3], 8);
	assert_int_equal(text_parse_cpu_list("3-1", NULL, &n), -EINVAL);
	assert_int_equal(text_parse_cpu_list("a", NULL, &n), -EINVAL);
	assert_int_equal(text_parse_cpu_list("", NULL, &n), 0);
	assert_int_equal(n, 0);
}

TEST(a_text_grows_with_separators_between)
{
	_cleanup_(freep) char *text = NULL;

	text_append(&text, ", ", "%s", "sshd");
	assert_string_equal(text, "sshd");
	text_append(&text, ", ", "%s in %d", "backupd", 7);
	text_append(&text, "", ".");
	assert_string_equal(text, "sshd, backupd in 7.");
}

TEST(a_missing_file_is_an_errno_without_a_sentence)
{
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(path_read_text(AT_FDCWD, NULL, &text, "/nonexistent/file"), -ENOENT);
	assert_null(text);
}

TEST(a_moment_for_json_is_utc_with_nanoseconds)
{
	assert_string_equal(text_rfc3339(1700000000000000001), "2023-11-14T22:13:20.000000001Z");
	assert_string_equal(text_rfc3339(0), "1970-01-01T00:00:00.000000000Z");
	assert_string_equal(text_rfc3339(-1), "1969-12-31T23:59:59.999999999Z");
	assert_string_equal(text_rfc3339(INT64_MAX), "2262-04-11T23:47:16.854775807Z");
}

TEST(a_brief_text_may_be_long_and_is_valid_until_the_100th_call_after_it)
{
	char want[2000];
	const char *made;

	memset(want, 'x', sizeof(want) - 1);
	want[sizeof(want) - 1] = '\0';
	made = text_brief("%s", want);
	for (int i = 0; i < 99; i++)
		text_brief("%s%d", i % 2 ? want : "", i);
	assert_string_equal(made, want);
	for (size_t n = 90; n < 100; n++) {
		assert_int_equal(strlen(text_brief("%.*s", (int)n, want)), n);
		assert_int_equal(strlen(text_brief("%s", text_brief("%.*s", (int)n, want))), n);
	}
}
