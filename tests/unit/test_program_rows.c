/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several programs as rows, letter for letter and at all widths. */
#include "tests/unit/check.h"

#include "lib/base/argv.h"
#include "lib/base/terminal.h"
#include "lib/report/program_rows.h"

#include <math.h>

enum { MOST = 300 };

static struct discarding d[MOST];
static struct screen screens[MOST];
static struct comparison comparisons[MOST];
static struct program_row rows[MOST];
static char names[MOST][64];

/* As of a session of n programs of 20 samples, the second slower than the first, and so on. */
static void make_rows(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double mean_ns = 127.94e6 * (1 + (double)i / 10);

		snprintf(names[i], sizeof(names[i]), "./solver --threads=%zu mesh.vtk", i + 1);
		d[i] = (struct discarding){
			.run = {.id = (int64_t)i + 1, .cpu = 1},
			.pt = {.raw.n = 20,
				.kept = {.n = 20, .mean_ns = mean_ns, .sd_ns = 4.6e6},
				.interval = {mean_ns - 2.15e6, mean_ns + 2.15e6, NAN, 20, false}},
			.et.kept = {.n = 20, .mean_ns = mean_ns + 1e6, .sd_ns = 4.6e6},
		};
		screens[i] = (struct screen){.result = &d[i], .name = names[i]};
		comparisons[i] = (struct comparison){.rules = COMPARISON_RULES,
			.ratio = 1 + (double)i / 10,
			.ratio_low = 0.98 + (double)i / 10,
			.ratio_high = 1.02 + (double)i / 10,
			.design = DESIGN_PAIRS};
		rows[i] = (struct program_row){
			names[i], &screens[i], i > 0 && n > 2 ? &comparisons[i] : NULL, NULL};
	}
}

/* With names as they are shown there. The caller frees it. */
static char *printed_rows(size_t n, const char *columns)
{
	const char *all[MOST];
	_cleanup_(argv_freep) char **shown = NULL;
	char *text;

	setenv("COLUMNS", columns, true);
	for (size_t i = 0; i < n; i++)
		all[i] = names[i];
	shown = terminal_short_names(all, n, program_rows_name_columns(stdout, rows, n, NULL));
	terminal_names = (struct terminal_names){all, shown, n};
	text = PRINTED(file, program_rows_print(file, rows, n, NULL));
	terminal_names = (struct terminal_names){};
	unsetenv("COLUMNS");
	return text;
}

static void check_rows(size_t n, const char *columns, const char *want)
{
	_cleanup_(freep) char *text = printed_rows(n, columns);

	assert_string_equal(text, want);
}

/* So many lines, none wider than the terminal. */
static void check_size(size_t n, const char *columns, size_t want)
{
	_cleanup_(freep) char *text = printed_rows(n, columns);
	char *rest = text, *line;
	size_t lines = 0;

	for (; (line = strsep(&rest, "\n")) && rest; lines++)
		if (terminal_text_width(line) > strtoul(columns, NULL, 10))
			fail_msg("%zu columns: %s", terminal_text_width(line), line);
	if (lines != want)
		fail_msg("%zu lines, not %zu, in %s columns", lines, want, columns);
}

TEST(two_programs_are_two_rows_without_a_ratio)
{
	make_rows(2);
	check_rows(2, "80",
		"RUN  COMMAND                        PT [ms] ± σ        95 % CI   KEPT\n"
		"  1  ./solver --threads=1 mesh.vtk  127.9 ± 4.6  125.8 … 130.1  20/20\n"
		"  2  ./solver --threads=2 mesh.vtk  140.7 ± 4.6  138.6 … 142.9  20/20\n");
}

TEST(more_than_two_have_the_ratio_to_the_first_and_its_verdict)
{
	make_rows(3);
	check_rows(3, "100",
		"RUN  COMMAND                        PT [ms] ± σ        95 % CI  RATIO  VERDICT   KEPT\n"
		"  1  ./solver --threads=1 mesh.vtk  127.9 ± 4.6  125.8 … 130.1      -  -        20/20\n"
		"  2  ./solver --threads=2 mesh.vtk  140.7 ± 4.6  138.6 … 142.9   1.10  slower   20/20\n"
		"  3  ./solver --threads=3 mesh.vtk  153.5 ± 4.6  151.4 … 155.7   1.20  slower   20/20\n");
}

/* Reasons go below, then columns are left out, and the screen says which. */
TEST(a_row_is_one_line_at_every_width)
{
	uint32_t samples[] = {7, 8};
	struct screen_reason reasons[] = {{"backupd", samples, 2}};
	struct screen_reason many[] = {{"cron", samples, 1}, {"backupd", samples, 2},
		{"kworker", samples, 1}, {"kdamond.0", samples, 1}, {"sshd", samples, 1}};
	static const char *const widths[] = {"60", "64", "70", "80", "90", "100", "120", "200"};

	make_rows(4);
	for (size_t i = 0; i < ELEMENTS(widths); i++)
		check_size(4, widths[i], 5);
	screens[2].reasons = reasons;
	screens[2].n_reasons = 1;
	d[2].pt.kept.n = 18;
	check_rows(4, "80",
		"RUN COMMAND           PT [ms] ± σ       95 % CI RATIO VERDICT  KEPT DISCARDED\n"
		"  1 ./solve…1…esh.vtk 127.9 ± 4.6 125.8 … 130.1     - -       20/20 -\n"
		"  2 ./solve…2…esh.vtk 140.7 ± 4.6 138.6 … 142.9  1.10 slower  20/20 -\n"
		"  3 ./solve…3…esh.vtk 153.5 ± 4.6 151.4 … 155.7  1.20 slower  18/20 backupd in 2\n"
		"  4 ./solve…4…esh.vtk 166.3 ± 4.6 164.2 … 168.5  1.30 slower  20/20 -\n");
	check_size(4, "120", 5);

	rows[1].et = rows[2].et = rows[3].et = &comparisons[3];
	d[1].et.kept.mean_ns *= 2;
	check_rows(4, "60",
		"RUN COMMAND   PT [ms] ± σ ET [ms] ± σ PT RATIO VERDICT  KEPT\n"
		"  1 ./s…1…vtk 127.9 ± 4.6 128.9 ± 4.6        - -       20/20\n"
		"  2 ./s…2…vtk 140.7 ± 4.6 283.5 ± 4.6     1.10 slower  20/20\n"
		"  3 ./s…3…vtk 153.5 ± 4.6 154.5 ± 4.6     1.20 slower  18/20\n"
		"  4 ./s…4…vtk 166.3 ± 4.6 167.3 ± 4.6     1.30 slower  20/20\n"
		"  Discarded       backupd in 2\n"
		"  Not in 60 columns: 95 % CI, ET RATIO, ET VERDICT (-v)\n");
	screens[1].reasons = many;
	screens[1].n_reasons = ELEMENTS(many);
	check_rows(4, "60",
		"RUN COMMAND   PT [ms] ± σ ET [ms] ± σ PT RATIO VERDICT  KEPT\n"
		"  1 ./s…1…vtk 127.9 ± 4.6 128.9 ± 4.6        - -       20/20\n"
		"  2 ./s…2…vtk 140.7 ± 4.6 283.5 ± 4.6     1.10 slower  20/20\n"
		"  3 ./s…3…vtk 153.5 ± 4.6 154.5 ± 4.6     1.20 slower  18/20\n"
		"  4 ./s…4…vtk 166.3 ± 4.6 167.3 ± 4.6     1.30 slower  20/20\n"
		"  Discarded       backupd in 4, cron in 1, kdamond.0 in 1, …\n"
		"  Not in 60 columns: 95 % CI, ET RATIO, ET VERDICT (-v)\n");
}

TEST(three_hundred_programs_are_three_hundred_lines_and_the_headings)
{
	make_rows(MOST);
	check_size(MOST, "100", MOST + 1);
}
