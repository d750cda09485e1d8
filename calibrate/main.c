/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate: runs INC, observes what else runs, and makes the cutoff profile. What its verbs
 * have in common, and 'constant'. */
#include "calibrate/calibrate.h"

#include "lib/base/argv.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/signals.h"

#include <stdarg.h>

struct calibrate_options calibrate_options = {.cpu = -1};

const char *const calibrate_backends[] = {"auto", "bpf", "taskstats", NULL};

static const struct option_row common_options[] = {
	{0, "db", "FILE", "the lab book (default: EMP_DB, else the user's own)", NULL,
		&calibrate_options.db},
	{0, "json", NULL, "print the result as JSON", NULL, &calibrate_options.json, .dash = true},
	{'q', "quiet", NULL, "no progress", NULL, &calibrate_options.quiet},
	{'v', "verbose", NULL, "list each warning, the causes of each daemon and how to stop it",
		NULL, &calibrate_options.verbose},
	{},
};

/* emp-calibrate constant: how many increments INC makes in a second here. */

static const struct option_row constant_options[] = {
	{0, "cpu", "N", "measure it on this CPU", pinning_option, &calibrate_options.cpu},
	{},
};

static int verb_constant(int argc, char **argv, struct error *err)
{
	_cleanup_(calibration_clear) struct calibration calibration = CALIBRATION_NEW;
	struct run_session *session = &calibration.base;
	struct inc *inc = &calibration.inc;
	int r = calibration_open(&calibration, RUN_LOCK_IGNORED, err);

	inc->cpu = calibrate_options.cpu;
	if (r == 0)
		r = run_session_environment(session, err);
	if (r == 0)
		r = observer_open(&session->observer, ACCOUNTING_NONE, -1, err);
	if (r == 0)
		r = inc_find_constant(inc, session, session->environment, err);
	if (r < 0)
		return r == -EINTR ? STATUS_INTERRUPTED : r;
	if (inc->found_now && session->beside)
		terminal_remark(
			"measured beside %s, so that each disturbed the other", session->beside);
	if (calibrate_options.json)
		return json_print_document("emp-constant",
			json_pack("{s:f, s:s, s:b, s:s?}", "iterations_per_second", inc->per_second,
				"environment", session->environment_digest, "found_now",
				inc->found_now, "inc_digest", session->inc_digest),
			err);
	terminal_say(stdout, 2, "INC: %.0f increments/s (%s), environment %.16s", inc->per_second,
		inc->found_now ? "measured now" : "measured before", session->environment_digest);
	return 0;
}

static const struct verb verbs[] = {
	{"run", NULL, "run INC, short and long, and make a profile of cutoffs", 0, 0, run_options,
		verb_run},
	{"resume", "[RUN|PROFILE]", "resume a calibration that was interrupted", 0, 1,
		resume_options, verb_resume},
	{"status", "[RUN|PROFILE]", "show the progress, from another terminal", 0, 1, NULL,
		verb_status, .without = "quiet verbose"},
	{"revalidate", "PROFILE", "check in minutes whether a profile still holds", 1, 1,
		revalidate_options, verb_revalidate},
	{"constant", NULL, "measure and store INC's increments per second", 0, 0, constant_options,
		verb_constant, .without = "verbose"},
	{"jitter", NULL, "measure every interruption of a CPU, and name its source", 0, 0,
		jitter_options, verb_jitter},
	{"clocks", NULL, "measure what reading each clock costs, and how precise it is", 0, 0,
		clocks_options, verb_clocks, .without = "verbose"},
	{"profile", "ACTION [NAME|FILE]", "list, show, export, import or remove a profile", 1, 2,
		profile_options, verb_profile},
	{},
};

static const struct tool tool = {
	.name = "emp-calibrate",
	.summary =
		"Learns which daemons disturb timings, and makes the profile that emp-measure uses.",
	.notes = "Examples:\n"
		 "  emp-calibrate run --preset quick --cpu 1 --save quick   half a minute\n"
		 "  emp-calibrate run --cpu 1 --save lab1                   paper sizes: 9 days\n"
		 "  emp-calibrate profile show lab1\n"
		 "  emp-calibrate jitter --cpu 1 --for 10min                what interrupts CPU 1\n"
		 "\n"
		 "On a machine that is not fit (emp-setup audit), run and revalidate end with\n"
		 "status 2: add --ignore-audit to take it as it is.\n",
	.options = common_options,
	.verbs = verbs,
};

const char *calibrate_db(void)
{
	static char option[4096];
	char *argv[] = {(char *)calibrate_options.db, NULL};
	_cleanup_(freep) char *quoted = calibrate_options.db ? argv_join(argv) : NULL;

	if (quoted)
		snprintf(option, sizeof(option), " --db %s", quoted);
	return option;
}

const char *calibrate_quoted(const char *name)
{
	static char word[4096];
	char *argv[] = {(char *)name, NULL};
	_cleanup_(freep) char *quoted = argv_join(argv);

	snprintf(word, sizeof(word), "%s", terminal_text(quoted) ?: "");
	return word;
}

int calibrate_operand(
	const char *operand, int64_t *ret_run, const char **ret_profile, struct error *err)
{
	*ret_run = 0;
	*ret_profile = NULL;
	if (!operand || !strcmp(operand, "last"))
		return 0;
	if (!operand[strspn(operand, "0123456789")])
		return text_parse_int(operand, "RUN", 1, INT64_MAX, ret_run, err);
	*ret_profile = operand;
	return 0;
}

FILE *calibrate_screen(void)
{
	return calibrate_options.json ? stderr : stdout;
}

/* A command to copy is not wrapped. */
static bool is_command(const char *line)
{
	static const char *const starts[] = {"  emp-", "Causes: emp-", "Next: emp-"};

	for (size_t i = 0; i < ELEMENTS(starts); i++)
		if (!strncmp(line, starts[i], strlen(starts[i])))
			return true;
	return false;
}

void calibrate_print(const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list args;

	va_start(args, format);
	text = text_vformat(format, args);
	va_end(args);
	for (char *line = text, *end; *line; line = end) {
		bool whole = (end = strchr(line, '\n')) != NULL;

		end = whole ? end : line + strlen(line);
		if (whole)
			*end++ = '\0';
		if (whole && !is_command(line))
			terminal_say(calibrate_screen(), 2, "%s", line);
		else
			fprintf(calibrate_screen(), "%s%s", line, whole ? "\n" : "");
	}
	fflush(calibrate_screen()); /* the next line may come much later */
}

int main(int argc, char **argv)
{
	tool_start();
	interrupt_init();
	return tool_main(&tool, argc, argv);
}
