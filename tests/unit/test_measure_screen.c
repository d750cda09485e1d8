/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first screen, letter for letter. */
#include "tests/unit/check.h"
#include "tests/unit/student.h"

#include "lib/base/terminal.h"
#include "lib/report/screen.h"

#include <math.h>

static struct summary make(size_t n, double mean_ns, double sd_ns)
{
	return (struct summary){
		.n = n,
		.mean_ns = mean_ns,
		.median_ns = mean_ns,
		.sd_ns = sd_ns,
		.min_ns = (int64_t)(mean_ns - 1.7 * sd_ns),
		.max_ns = (int64_t)(mean_ns + 1.9 * sd_ns),
		.relative_error = mean_ns > 0 ? sd_ns / mean_ns : 0,
	};
}

/* Of a pinned run of 20 samples without discards. */
static struct discarding d;
static struct screen s;
static struct daemon_statistics others[SCREEN_OTHERS];

static int usual(void **state)
{
	d = (struct discarding){
		.run = {.id = 3, .cpu = 1},
		.pt = {.raw.n = 20, .kept = make(20, 127.94e6, 4.6e6)},
		.et.kept = make(20, 129.1e6, 4.6e6),
		.others.items = others,
	};
	s = (struct screen){
		.result = &d,
		.name = "sort big.txt",
		.user_ns = 117.6e6,
		.system_ns = 10.97e6,
		.on_cpu = 0.991,
		.taken = NAN,
		.explained = NAN,
	};
	return 0;
}

static void disturbed_by(const char *name, int64_t disturbed_ns)
{
	others[s.n_others++] = (struct daemon_statistics){
		(char *)name, .disturbed_ns = disturbed_ns};
}

static int clear(void **state)
{
	notes_clear(&s.notes);
	return 0;
}

#define TEST_OF_SCREEN(name) TEST_WITH(name, usual, clear)

static void print_whole(FILE *file)
{
	screen_print_name(file, &s);
	screen_print(file, &s);
}

/* What is shown, with Student's interval. */
static char *printed(void)
{
	double half = student_half(&d.pt.kept);

	d.pt.interval = (struct interval){d.pt.kept.mean_ns - half, d.pt.kept.mean_ns + half, NAN,
		(double)d.pt.kept.n, d.pt.kept.n < 8};
	return PRINTED(file, print_whole(file));
}

static void check_text(const char *want)
{
	_cleanup_(freep) char *text = printed();

	assert_string_equal(text, want);
}

#define NAME "sort big.txt                                                        run 3, CPU 1\n"
#define KEPT_ALL "  Kept 20 of 20\n"
#define RANGE "  PT range        120.1 … 136.7 ms   CV 3.6 %   [user 118 ms, system 11.0 ms]\n"
#define ET "  ET (mean ± σ)   129.1 ms ± 4.6 ms   99 % on CPU\n"
#define PT(interval) "  PT (mean ± σ)   127.9 ms ± 4.6 ms   95 % CI " interval " ms\n"
#define TIMES(interval) RANGE ET PT(interval)
#define USUAL_PT PT("125.8 … 130.1")

TEST_OF_SCREEN(a_run_with_discards_and_disturbances_takes_five_lines)
{
	uint32_t backupd[] = {7, 8}, kdamond[] = {9};
	struct screen_reason reasons[] = {{"backupd", backupd, 2}, {"kdamond.0", kdamond, 1}};

	d.pt.kept.n = 17;
	s.reasons = reasons;
	s.n_reasons = 2;
	disturbed_by("backupd", 228000000);
	disturbed_by("kdamond.0", 4020000);
	check_text(NAME
		"  Kept 17 of 20   discarded: backupd #7 #8, kdamond.0 #9\n"
		"  Disturbed by    backupd 228 ms, kdamond.0 4.02 ms           emp-analyze show 3\n" ET
			PT("125.6 … 130.3"));
}

#define BETWEEN(interval) \
	"  Between runs    95 % CI " interval " ms   12 earlier runs vary by 2.1 %\n"

/* Of 12 earlier runs. */
static void differ_between_runs(double low_ns, double high_ns)
{
	d.run.kind = RUN_MEASURE;
	d.pt.between = (struct run_interval){low_ns, high_ns, {0.0214, 11, 12, 20}};
}

TEST_OF_SCREEN(the_interval_between_runs_is_shown_where_that_of_the_run_is_much_narrower)
{
	differ_between_runs(122e6, 134e6);
	check_text(NAME KEPT_ALL ET BETWEEN("122.0 … 134.0") USUAL_PT);
	differ_between_runs(125e6, 131e6);
	check_text(NAME KEPT_ALL TIMES("125.8 … 130.1"));
	s.verbose = true;
	s.by_all_runs = true;
	check_text(NAME KEPT_ALL RANGE ET
		"  Between runs    95 % CI 125.0 … 131.0 ms   12 other runs vary by 2.1 %\n" USUAL_PT);
}

TEST_OF_SCREEN(that_earlier_runs_would_tell_how_runs_differ_is_said_with_v_alone)
{
	d.run.kind = RUN_MEASURE;
	check_text(NAME KEPT_ALL TIMES("125.8 … 130.1"));
	s.verbose = true;
	check_text(
		NAME "  How far separate runs differ is not known: 3 earlier runs of this command\n"
		     "    would tell\n" KEPT_ALL TIMES("125.8 … 130.1"));
}

TEST_OF_SCREEN(who_disturbed_takes_the_line_of_the_interval_between_runs)
{
	notes_add(&s.notes, NOTE_FEW, "Warning: few samples kept");
	disturbed_by("backupd", 228000000);
	differ_between_runs(122e6, 134e6);
	check_text(NAME KEPT_ALL
		"  Warning: few samples kept\n"
		"  Disturbed by    backupd 228 ms                              emp-analyze show 3\n" USUAL_PT);
}

/* The papers' mean is shown where it lies outside of the interval; else only with -v. */
TEST_OF_SCREEN(samples_that_only_the_papers_discard_are_kept)
{
	static uint32_t beyond[] = {4, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
	uint32_t backupd[] = {7, 8};
	struct screen_reason reasons[] = {{"backupd", backupd, 2}};

	d.pt.by_two_sd = beyond;
	d.pt.n_by_two_sd = 1;
	d.pt.papers = make(19, 126.8e6, 3.1e6);
	check_text(NAME KEPT_ALL TIMES("125.8 … 130.1"));
	d.pt.kept.n = 18;
	d.pt.n_by_two_sd = 11;
	s.reasons = reasons;
	s.n_reasons = 1;
	d.pt.papers = make(19, 124.8e6, 3.1e6);
	check_text(NAME
		"  Kept 18 of 20   discarded: backupd #7 #8; papers' mean of 19 samples: 124.8 ms\n" TIMES(
			"125.7 … 130.2"));
	d.pt.n_by_two_sd = 1;
	check_text(NAME
		"  Kept 18 of 20   discarded: backupd #7 #8; papers' mean: 124.8 ms, without #4\n" TIMES(
			"125.7 … 130.2"));
	d.pt.kept.n = 20;
	s.n_reasons = 0;
	check_text(NAME
		"  Kept 20 of 20   papers' mean: 124.8 ms, without #4\n" TIMES("125.8 … 130.1"));
	d.pt.papers = make(19, 126.8e6, 3.1e6);
	s.verbose = true;
	check_text(NAME
		"  Kept 20 of 20   papers' mean: 126.8 ms, without #4\n" TIMES("125.8 … 130.1"));
}

/* Before the papers' mean, and however long its name is. */
TEST_OF_SCREEN(the_daemon_with_the_most_discards_is_always_named)
{
	static uint32_t beyond[] = {4};
	uint32_t many[35] = {100};
	struct screen_reason reasons[] = {
		{"a_long_family_name-* (12 names)", many, 35}, {"cron", many, 2}};

	for (uint32_t i = 0; i < ELEMENTS(many); i++)
		many[i] = 100 + i;
	d.pt.raw.n = 200;
	d.pt.kept.n = 165;
	d.pt.by_two_sd = beyond;
	d.pt.n_by_two_sd = 1;
	d.pt.papers = make(164, 126.8e6, 3.1e6);
	s.reasons = reasons;
	s.n_reasons = 2;
	check_text(NAME
		"  Kept 165 of 200  discarded: a_long_family_name-* (12 names) in 35, cron in 2\n" TIMES(
			"127.2 … 128.6"));
}

TEST_OF_SCREEN(a_name_that_fills_the_line_is_the_only_one)
{
	uint32_t many[60] = {};
	struct screen_reason reasons[] = {
		{"a_family_with_a_name_that_is_longer_than_what_is_left-*", many, 60},
		{"cron", many, 2}};

	d.pt.raw.n = 100;
	d.pt.kept.n = 40;
	s.reasons = reasons;
	s.n_reasons = 2;
	check_text(NAME
		"  Kept 40 of 100  discarded: a_family_with_a_name_that_is_longer_than_what_is_left-* in 60, "
		"…\n" TIMES("126.5 … 129.4"));
}

TEST_OF_SCREEN(a_quiet_run_that_is_not_pinned_takes_five)
{
	d.run.cpu = -1;
	check_text(
		"sort big.txt                                                               run 3\n" KEPT_ALL
			TIMES("125.8 … 130.1"));
}

TEST_OF_SCREEN(a_split_by_ticks_is_marked_and_left_out_of_short_programs)
{
	s.approximate = true;
	check_text(NAME KEPT_ALL
		"  PT range        120.1 … 136.7 ms   CV 3.6 %   [user ~120 ms, system ~11 ms]\n" ET
			USUAL_PT);
	d.pt.kept = d.et.kept = make(20, 812.4, 3.31);
	check_text(NAME KEPT_ALL "  PT range        806 … 818 ns   CV 0.41 %\n"
				 "  ET (mean ± σ)   812 ns ± 3 ns   99 % on CPU\n"
				 "  PT (mean ± σ)   812 ns ± 3 ns   95 % CI 811 … 814 ns\n");
}

/* However wide the figures are. */
TEST_OF_SCREEN(an_interval_that_assumes_independent_samples_says_so)
{
	d.pt.raw.n = 5;
	d.pt.kept = make(5, 127.94e6, 4.6e6);
	check_text(NAME "  Kept 5 of 5\n" RANGE ET
			"  PT (mean ± σ)   127.9 ms ± 4.6 ms   95 % CI if iid 122.2 … 133.7 ms\n");
	s.verbose = true;
	check_text(NAME
		"  With 5 samples and no calibration, the CI assumes independent samples (iid)\n"
		"  Kept 5 of 5\n" RANGE ET
		"  PT (mean ± σ)   127.9 ms ± 4.6 ms   95 % CI if iid 122.2 … 133.7 ms\n");
	s.verbose = false;
	for (int i = 0; i < 3; i++)
		notes_add(&s.notes, NOTE_OTHER, "Warning %d", i);
	d.pt.kept = make(5, 11520.33e9, 1.2e9);
	d.et.kept = make(5, 11522.71e9, 1.3e9);
	check_text(
		NAME "  Kept 5 of 5\n"
		     "  Warning 0\n"
		     "  2 more warnings: emp-analyze show 3\n"
		     "  PT (mean ± σ)   11520.3 s ± 1.2 s   95 % CI if iid 11518.8 … 11521.8 s\n");
}

/* The interval that does not fit into the line has one of its own, below. */
TEST_OF_SCREEN(on_a_narrow_terminal_no_line_is_wider)
{
	setenv("COLUMNS", "60", true);
	disturbed_by("backupd", 228000000);
	notes_add(&s.notes, NOTE_PROGRAM, "Warning: the program failed in %d of 20 samples", 2);
	check_text("sort big.txt                                    run 3, CPU 1\n" KEPT_ALL
		   "  Warning: the program failed in 2 of 20 samples\n"
		   "  PT (mean ± σ)   127.9 ms ± 4.6 ms\n"
		   "                  95 % CI 125.8 … 130.1 ms\n");
	unsetenv("COLUMNS");
}

/* The interval of a time, its range and its mean are in one unit, which suits ET, too. */
TEST_OF_SCREEN(all_times_of_a_program_are_in_one_unit)
{
	d.pt.kept = make(20, 0.9e6, 0.4e6);
	d.et.kept = make(20, 300.4e6, 4.6e6);
	s.user_ns = s.system_ns = NAN;
	s.on_cpu = 0.003;
	s.taken = 0;
	check_text(NAME KEPT_ALL
		"  PT range        0.2200 … 1.6600 ms   CV 44 %\n"
		"  ET (mean ± σ)   300.4 ms ± 4.6 ms   0 % on CPU, 0 % taken by others\n"
		"  PT (mean ± σ)   0.90 ms ± 0.40 ms   95 % CI 0.71 … 1.09 ms\n");
	d.et.kept = make(20, 700e3, 20e3);
	d.pt.kept = make(20, 812.4e3, 20e3);
	s.on_cpu = 1.16;
	check_text(NAME KEPT_ALL "  PT range        778.4 … 850.4 us   CV 2.5 %\n"
				 "  ET (mean ± σ)   700 us ± 20 us   100 % on CPU\n"
				 "  PT (mean ± σ)   812 us ± 20 us   95 % CI 803 … 822 us\n");
	d.run.cpu = -1;
	d.pt.kept = make(20, 127.94e6, 4.6e6);
	d.et.kept = make(20, 68e6, 2e6);
	s.on_cpu = 1.88;
	check_text(
		"sort big.txt                                                               run 3\n" KEPT_ALL
		"  PT range        120.1 … 136.7 ms   CV 3.6 %\n"
		"  ET (mean ± σ)   68.0 ms ± 2.0 ms    on 1.9 CPUs\n" USUAL_PT);
}

TEST_OF_SCREEN(hours_are_seconds_and_a_long_command_is_cut)
{
	s.name =
		"./solver --threads=64 --input=/data/meshes/very/long/path/to/a/mesh.vtk --tolerance=1e-9";
	d.run.id = 12345;
	d.pt.kept = make(20, 11520.33e9, 1.2e9);
	d.et.kept = make(20, 11522.71e9, 1.3e9);
	s.user_ns = 11000e9;
	s.system_ns = 520e9;
	check_text(
		"./solver --threads=64 --input=/…to/a/mesh.vtk --tolerance=1e-9  run 12345, CPU 1\n" KEPT_ALL
		"  PT range        11518.3 … 11522.6 s   CV 0.010 %\n"
		"  ET (mean ± σ)   11522.7 s ± 1.3 s   99 % on CPU\n"
		"  PT (mean ± σ)   11520.3 s ± 1.2 s   95 % CI 11519.8 … 11520.9 s\n");
}

TEST_OF_SCREEN(one_sample_has_no_sd)
{
	d.pt.kept = make(1, 127.94e6, 0);
	d.et.kept = make(1, 129.1e6, 0);
	d.pt.raw.n = 1;
	check_text(NAME "  Kept 1 of 1\n"
			"  ET              129.1 ms   99 % on CPU\n"
			"  PT              127.9 ms   [user 118 ms, system 11.0 ms]\n");
}

TEST_OF_SCREEN(where_all_is_discarded_there_is_no_time)
{
	uint32_t all[] = {1, 2, 3};
	struct screen_reason reasons[] = {{"cc1", all, 3}};

	d.pt.kept = d.et.kept = (struct summary){};
	d.pt.raw.n = 3;
	s.user_ns = s.system_ns = NAN;
	s.reasons = reasons;
	s.n_reasons = 1;
	check_text(NAME "  Kept 0 of 3     discarded: cc1 #1 #2 #3\n"
			"  PT              no sample is kept\n");
}

TEST_OF_SCREEN(the_waiting_time_tells_others_from_a_program_that_waits)
{
	s.on_cpu = 0.81;
	s.taken = 0.17;
	s.explained = 0.97;
	disturbed_by("backupd", 598000000);
	check_text(NAME KEPT_ALL
		"  Disturbed by    backupd 598 ms (97 % of what was taken)     emp-analyze show 3\n"
		"  ET (mean ± σ)   129.1 ms ± 4.6 ms   81 % on CPU, 17 % taken by others\n" USUAL_PT);
	s.taken = 0;
	s.n_others = 0;
	s.explained = NAN;
	check_text(NAME KEPT_ALL RANGE
		"  ET (mean ± σ)   129.1 ms ± 4.6 ms   81 % on CPU, 0 % taken by others\n" USUAL_PT);
}

TEST_OF_SCREEN(a_part_of_what_several_took_is_marked_as_an_estimate)
{
	s.on_cpu = 0.81;
	s.taken = 0.17;
	s.explained = 1;
	disturbed_by("backupd", 300000000);
	others[0].disturbed_most_ns = 598000000;
	disturbed_by("cron", 100000000);
	others[1].disturbed_most_ns = 100000000;
	check_text(NAME KEPT_ALL
		"  Disturbed by    backupd ~300 ms, cron 100 ms (100 % of what was taken)\n"
		"  ET (mean ± σ)   129.1 ms ± 4.6 ms   81 % on CPU, 17 % taken by others\n" USUAL_PT);
}

TEST_OF_SCREEN(what_took_the_rest_of_the_time_is_said)
{
	s.on_cpu = 0.81;
	s.explained = 0.97;
	disturbed_by("backupd", 598000000);
	check_text(NAME KEPT_ALL "  Disturbed by    backupd 598 ms (may explain 97 % of ET − PT)\n"
				 "  ET (mean ± σ)   129.1 ms ± 4.6 ms   81 % on CPU\n" USUAL_PT);
	s.explained = 0.2;
	check_text(NAME KEPT_ALL
		"  Disturbed by    backupd 598 ms (at most 20 % of ET − PT)    emp-analyze show 3\n"
		"  ET (mean ± σ)   129.1 ms ± 4.6 ms   81 % on CPU; it waits, or is disturbed\n" USUAL_PT);
	s.explained = 1;
	disturbed_by("a-long-name-01", 100000000);
	disturbed_by("fifteen-letters", 100000000);
	check_text(NAME KEPT_ALL
		"  Disturbed by    backupd 598 ms, a-long-name-01 100 ms, fifteen-letters 100 ms\n"
		"  ET (mean ± σ)   129.1 ms ± 4.6 ms   81 % on CPU\n" USUAL_PT);
}

TEST_OF_SCREEN(a_neighbour_and_who_disturbed_share_a_line_if_there_is_only_one)
{
	s.neighbour = (struct neighbour_time){.share = 0.02, .n_probed = 20, .n_beside = 1};
	d.et.raw = d.et.kept;
	disturbed_by("backupd", 598000000);
	check_text(NAME KEPT_ALL
		"  Neighbour on the core's other thread in 2 % of the time (1 of 20 samples)\n"
		"  Disturbed by    backupd 598 ms                              emp-analyze show 3\n" USUAL_PT);
	d.et.kept = make(20, 258e6, 4.6e6);
	s.explained = 1;
	check_text(NAME KEPT_ALL "  Disturbed by    backupd 598 ms; neighbour 2 % of the time"
				 "   emp-analyze show 3\n"
				 "  ET (mean ± σ)   258.0 ms ± 4.6 ms   99 % on CPU\n" USUAL_PT);
}

TEST(the_gravest_warning_is_the_first_in_whatever_order_they_are_added)
{
	static const enum note_kind kinds[] = {NOTE_CORRELATION, NOTE_FEW, NOTE_OTHER, NOTE_PROFILE,
		NOTE_NOISE, NOTE_FEW, NOTE_PROFILE};
	static const char *const order[] = {"3", "6", "1", "5", "4", "0", "2"};
	_cleanup_(notes_clear) struct notes notes = {}, copy = {};

	for (int i = 0; i < (int)ELEMENTS(kinds); i++)
		notes_add(&notes, kinds[i], "%d", i);
	notes_add_all(&copy, &notes);
	assert_int_equal(copy.n, ELEMENTS(kinds));
	for (size_t i = 0; i < ELEMENTS(kinds); i++) {
		assert_string_equal(copy.items[i].text, order[i]);
		assert_int_equal(copy.items[i].n, i + 1);
	}
}

TEST_OF_SCREEN(warnings_and_who_disturbed_fill_up_to_five_lines)
{
	notes_add(&s.notes, NOTE_PROGRAM, "Warning: the program failed in %d of 20 samples", 2);
	check_text(NAME KEPT_ALL "  Warning: the program failed in 2 of 20 samples\n" ET USUAL_PT);
	disturbed_by("backupd", 228000000);
	check_text(NAME KEPT_ALL
		"  Warning: the program failed in 2 of 20 samples\n"
		"  Disturbed by    backupd 228 ms                              emp-analyze show 3\n" USUAL_PT);
	notes_add(&s.notes, NOTE_OTHER, "Warning: the second");
	check_text(NAME KEPT_ALL
		"  Warning: the program failed in 2 of 20 samples; 1 more (-v)\n"
		"  Disturbed by    backupd 228 ms                              emp-analyze show 3\n" USUAL_PT);
	s.verbose = s.all_notes = true;
	strcpy(s.mdd, "10 INC samples resolve 2.4 % interleaved, 14 % between separate runs");
	check_text(NAME
		"  10 INC samples resolve 2.4 % interleaved, 14 % between separate runs\n" KEPT_ALL
		"  Warning: the program failed in 2 of 20 samples\n"
		"  Warning: the second\n"
		"  Disturbed by    backupd 228 ms                              emp-analyze show 3\n" RANGE
			ET USUAL_PT);
}

/* ET that differs is more than a detail. */
TEST_OF_SCREEN(a_grave_warning_and_an_et_that_differs_come_before_who_disturbed)
{
	d.et.kept = make(20, 300.4e6, 4.6e6);
	notes_add(&s.notes, NOTE_PROGRAM, "Warning: the first");
	disturbed_by("backupd", 228000000);
	check_text(NAME KEPT_ALL "  Warning: the first\n"
				 "  ET (mean ± σ)   300.4 ms ± 4.6 ms   99 % on CPU\n" USUAL_PT);
	notes_clear(&s.notes);
	notes_add(&s.notes, NOTE_OTHER, "Warning: the second");
	check_text(NAME
		"  Kept 20 of 20   1 warning (-v)\n"
		"  Disturbed by    backupd 228 ms                              emp-analyze show 3\n"
		"  ET (mean ± σ)   300.4 ms ± 4.6 ms   99 % on CPU\n" USUAL_PT);
}

TEST_OF_SCREEN(many_discards_become_counts)
{
	uint32_t numbers[100];
	struct screen_reason reasons[] = {{"backupd", numbers, 100}, {"cron", numbers, 4}};

	for (uint32_t i = 0; i < ELEMENTS(numbers); i++)
		numbers[i] = 3 * i + 1;
	d.pt.kept.n = 1896;
	d.pt.raw.n = 2000;
	s.reasons = reasons;
	s.n_reasons = 2;
	check_text(NAME "  Kept 1896 of 2000  discarded: backupd in 100, cron in 4\n" TIMES(
		"127.7 … 128.1"));
}

static void check_size(void)
{
	_cleanup_(freep) char *text = printed();
	char *rest = text, *line;
	size_t lines = 0;

	for (; (line = strsep(&rest, "\n")) && rest; lines++)
		if (terminal_text_width(line) > 80)
			fail_msg("%zu columns: %s", terminal_text_width(line), line);
	assert_true(lines <= SCREEN_LINES);
}

TEST_OF_SCREEN(where_only_five_lines_fit_a_warning_comes_before_who_disturbed)
{
	disturbed_by("backupd", 228000000);
	strcpy(s.inc_units, "471.2 (470.1 … 472.3)");
	strcpy(s.mdd, "20 INC samples resolve 1 % interleaved, 2 % between separate runs");
	check_size();
	notes_add(&s.notes, NOTE_PROGRAM, "Warning: the first");
	notes_add(&s.notes, NOTE_OTHER, "Warning: the second");
	check_size();
	check_text(NAME KEPT_ALL "  Warning: the first; 1 more (-v)\n"
				 "  In INC units    471.2 (470.1 … 472.3)\n" USUAL_PT);
}

TEST_OF_SCREEN(a_note_that_is_cut_says_more_than_the_name_of_its_program)
{
	static const char *const wanted[] = {
		"  wc f: it got a CPU 2.448 ms after the end on average… (-v)\n",
		"  wc f: Warning: it had to wait for a long time on eac… (-v)\n",
		"  wc f: Warning: PT contains interrupts (-v)\n"};
	static const char *const texts[] = {
		"wc f: it got a CPU 2.448 ms after the end on average, which is not in ET",
		"wc f: Warning: it had to wait for a long time on each of both CPUs",
		"wc f: Warning: PT contains interrupts: 1.5 ms a sample (1.5 %)"};
	const char *name = "wc f";
	char *shown = (char *)"wc f";

	terminal_names = (struct terminal_names){&name, &shown, 1};
	setenv("COLUMNS", "60", true);
	for (size_t i = 0; i < ELEMENTS(texts); i++) {
		_cleanup_(notes_clear) struct notes notes = {};
		_cleanup_(freep) char *text = NULL;

		notes_add(&notes, NOTE_PROGRAM, "%s", texts[i]);
		text = PRINTED(file, notes_print(file, &notes, 2, "-v"));
		assert_string_equal(text, wanted[i]);
	}
	unsetenv("COLUMNS");
	terminal_names = (struct terminal_names){};
}

TEST_OF_SCREEN(no_figures_make_it_larger_than_80_by_5)
{
	static const double times[] = {
		0, 0.4, 1, 12.5, 999.96, 1e5, 33.3333e6, 999.9999e6, 59e9, 3e12, 9e15, 9e18};
	static const char *const units[] = {NULL, "s", "ms", "us"};
	uint32_t numbers[60];
	struct screen_reason reasons[12];

	for (uint32_t i = 0; i < ELEMENTS(numbers); i++)
		numbers[i] = UINT32_MAX - i;
	for (size_t i = 0; i < ELEMENTS(reasons); i++)
		reasons[i] = (struct screen_reason){"fifteen letters", numbers, ELEMENTS(numbers)};
	for (int i = 0; i < 9; i++)
		notes_add(&s.notes, NOTE_OTHER, "Warning: %090d", i);
	s.name = "ein sehr langes Kommando mit Umlauten: äöüßäöüßäöüßäöüßäöüßäöüßäöüßäöüßäöüß";
	d.run.id = INT64_MAX;
	d.pt.raw.n = UINT32_MAX;
	s.reasons = reasons;
	s.n_reasons = ELEMENTS(reasons);
	while (s.n_others < SCREEN_OTHERS)
		disturbed_by("fifteen letters", 123456789);

	for (size_t i = 0; i < ELEMENTS(times); i++)
		for (size_t k = 0; k < ELEMENTS(times); k++)
			for (size_t u = 0; u < ELEMENTS(units); u++) {
				d.pt.kept = make(k + 1, times[i], times[k] / 10);
				d.et.kept = make(k + 1, times[k], times[i]);
				s.user_ns = s.system_ns = times[i] / 3;
				s.on_cpu = times[i] / (times[k] + 1);
				s.explained = times[k] / (times[i] + 1);
				s.unit = units[u];
				s.approximate = u % 2;
				d.pt.papers = d.pt.kept;
				d.pt.by_two_sd = numbers;
				d.pt.n_by_two_sd = k % 2 ? ELEMENTS(numbers) : 0;
				check_size();
			}
}
