/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-load: how fast a machine does the work of many users at once. */
#include "lib/load/verification.h"

#include "lib/host/process/privilege.h"
#include "lib/load/worker.h"

static struct load_options options = {.warm_ups = 1, .coordination = -1};

static int export(const struct load_report *report, const char *path, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file output = {};
	int r = output_file_open(&output, path, err);

	if (r == 0)
		r = json_print(load_report_as_json(report), output.file, err);
	return r == 0 ? output_file_commit(&output, err) : r;
}

/* Before a long measurement, so that a wrong name is known at once; a stream is not opened
 * twice. */
static int try_export(const char *path, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file output = {};
	int r = paths_check_apart(path, -1, err);

	return r == 0 && !output_file_is_stream(path) ? output_file_open(&output, path, err) : r;
}

static const struct option_row run_options[] = {
	{'r', "runs", "N", "runs of the load (the file's, or 5)", option_count, &options.runs},
	{'w', "warmup", "N", "runs before these that are not recorded (1)", option_count0,
		&options.warm_ups},
	{0, "coordination", "NAME", "in place of the file's:", NULL, &options.coordination,
		.choices = coordination_names},
	{0, "profile", "NAME", "discard runs in which a daemon exceeded its cutoff", NULL,
		&options.profile},
	{0, "accounting", "BACKEND", "observe other processes by:", NULL, &options.backend,
		.choices = accounting_backend_names},
	{0, "page-wait-bin", "TIME", "width of the bins in which page waits are shown",
		page_wait_width_parse, &options.page_wait_bin_ns},
	{0, "show-output", NULL, "show the output of the commands", NULL, &options.show_output},
	{0, "export-json", "FILE", "write the result as JSON; - is standard output", NULL,
		&options.export_json},
	{0, "json", NULL, "print the result as JSON", NULL, &options.json, .dash = true},
	{0, "ignore-lock", NULL, "run although another tool measures or calibrates", NULL,
		&options.ignore_lock},
	{},
};

static int run_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(load_session_close) struct load_session session = {.base = RUN_SESSION_NEW};
	const struct load_report *report = &session.report;
	const char *file = options.export_json;
	const char *const documents[] = {options.json ? "-" : NULL, file};
	const bool on_stdout = options.json || (file && output_file_is_stream(file));
	const struct option_rule rules[] = {
		{options.profile && options.backend == ACCOUNTING_NONE,
			"without accounting no daemon is seen, so --profile cannot discard "
			"anything: omit one of them"},
	};
	_cleanup_(closep) int document_fd = -1;
	struct error *of_export;
	int outcome, r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r == 0)
		r = output_files_apart(documents, ELEMENTS(documents), err);
	if (r == 0)
		r = load_session_open(&session, &options, argv[0], err);
	if (r == 0 && file)
		r = try_export(file, err);
	if (r == 0 && on_stdout)
		r = output_standard_keep(&document_fd, err);
	if (r < 0)
		return r == -EINTR ? STATUS_INTERRUPTED : r;

	outcome = load_session_run(&session, err);
	of_export = outcome ? NULL : err;
	if (report->work.n_programs > 0) {
		load_report_print(on_stdout ? stderr : stdout, report, options.page_wait_bin_ns);
		if (on_stdout)
			output_standard_end(document_fd);
		if (options.json)
			r = export(report, "-", of_export);
		if (r == 0 && file)
			r = export(report, file, of_export);
	}

	if (outcome == -EINTR && session.run.n_samples == 0)
		r = error_say(
			err, STATUS_INTERRUPTED, "interrupted before the first run had ended");
	else if (outcome == -EINTR)
		r = error_say(err, STATUS_INTERRUPTED,
			"interrupted: run %lld keeps the %s taken so far",
			(long long)session.run.id, text_count(session.run.n_samples, "run"));
	else if (outcome != 0)
		r = outcome == -ETIMEDOUT ? STATUS_TIME_OUT : outcome;
	else if (r == 0 && report->n_kept < 2 && session.load.runs > 1)
		r = error_say(err, STATUS_TOO_FEW, "only %zu of %zu runs are clean", report->n_kept,
			report->result.n_samples);
	return book_say_elsewhere(session.base.book, session.run.id, session.run.id, r, err);
}

static const struct verb emp_load_run = {
	.name = "run",
	.args = "FILE",
	.summary = "run the load, several times",
	.min_args = 1,
	.max_args = 1,
	.options = run_options,
	.run = run_verb,
};

static const struct option_row verify_options[] = {
	{'r', "rounds", "N", "rounds of one run under each handicap (5)", option_count,
		&options.runs},
	{0, "coordination", "NAME", "in place of the file's:", NULL, &options.coordination,
		.choices = coordination_names},
	{0, "show-output", NULL, "show the output of the commands", NULL, &options.show_output},
	{0, "ignore-lock", NULL, "run although another tool measures or calibrates", NULL,
		&options.ignore_lock},
	{},
};

static int verify_load_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(load_session_close) struct load_session session = {.base = RUN_SESSION_NEW};
	struct load_verification verification;
	int r = load_session_open(&session, &options, argv[0], err);

	if (r == 0)
		r = load_verify(&verification, &session, options.runs ?: 5, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted; nothing was stored");
	if (r == 0)
		load_verification_print(stdout, &verification, &session.load);
	return r;
}

static const struct verb emp_load_verify = {
	.name = "verify",
	.args = "FILE",
	.summary = "show how accurately the load detects a loss of 2, 5 and 10 % of the CPUs",
	.min_args = 1,
	.max_args = 1,
	.options = verify_options,
	.run = verify_load_verb,
};

static int check_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(load_clear) struct load load = {};
	_cleanup_(freep) char *text = NULL;
	int r = load_read(&load, &text, argv[0], err);

	if (r == 0)
		load_print(stdout, &load);
	return r;
}

static const struct verb emp_load_check = {
	.name = "check",
	.args = "FILE",
	.summary = "show what the load would do, or the line of a mistake",
	.min_args = 1,
	.max_args = 1,
	.run = check_verb,
};

static const char example[] =
	"; A small office on one machine: four users who edit and one who compresses.\n"
	"[load]\n"
	"runs = 5\n"
	"\n"
	"[edit]\n"
	"slaves = 4\n"
	"repetitions = 5\n"
	"setup = seq 1 20000 >text\n"
	"think = exponential 20ms\n"
	"command = sed -i s/7/seven/ text\n"
	"command = sort -R text -o text\n"
	"\n"
	"[compress]\n"
	"repetitions = 2\n"
	"setup = seq 1 200000 >data\n"
	"shell = gzip -c data | gunzip >copy\n"
	"command = cmp data copy\n";

static int example_verb(int argc, char **argv, struct error *err)
{
	fputs(example, stdout);
	return 0;
}

static const struct verb emp_load_example = {
	.name = "example",
	.args = "",
	.summary = "print an example file",
	.run = example_verb,
};

/* How emp-load runs itself for a slave. */
static const struct verb emp_load_slave = {
	.name = "slave",
	.args = "NUMBER DIRECTORY",
	.summary = "",
	.min_args = 2,
	.max_args = 2,
	.run = worker_verb,
};

static const struct option_row common_options[] = {
	{0, "db", "FILE", "the lab book (default: EMP_DB, otherwise the user's own)", NULL,
		&options.db},
	{'q', "quiet", NULL, "no progress", NULL, &options.quiet},
	{},
};

/* In the order of help. */
static const struct verb *const verbs[] = {
	&emp_load_run, &emp_load_verify, &emp_load_check, &emp_load_example, NULL};

static const struct tool tool = {
	.name = "emp-load",
	.summary = "Measures how fast a machine does the work of many users at once.",
	.notes = "Examples:\n"
		 "  emp-load example > office.ini\n"
		 "  emp-load run office.ini\n",
	.options = common_options,
	.verbs = verbs,
};

static const struct tool worker_tool = {
	.name = "emp-load", .verbs = (const struct verb *const[]){&emp_load_slave, NULL}};

int main(int argc, char **argv)
{
	bool worker = argc == 4 && !strcmp(argv[1], "slave");

	privilege_init(argv);
	return tool_main(worker ? &worker_tool : &tool, argc, argv);
}
