/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure: times programs, and discards samples by a saved profile. */
#include "measure/export.h"
#include "measure/export_picture.h"
#include "measure/session_run.h"
#include "measure/show.h"

#include "lib/base/terminal.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/privilege.h"

#include <sys/prctl.h>

/* STATUS_TOO_FEW with a sentence if too few samples are clean. */
static int check_clean(const struct session *session, struct error *err)
{
	const struct measure_options *o = session->options;

	for (size_t i = 0; i < session_n_shown(session); i++) {
		const struct task *t = &session->tasks[i];
		size_t clean = t->result.discarding.pt.kept.n;
		size_t least = o->runs == 1 ? 1 : 2;

		if (o->retain && clean < (size_t)o->retain)
			return error_say(err, STATUS_TOO_FEW,
				"only %zu of %zu samples of '%s' are clean, not %d (--retain); "
				"--max-runs is %d",
				clean, t->result.n_samples, t->name, o->retain, o->max_runs);
		if (clean < least && t->result.n_samples > 1)
			return error_say(err, STATUS_TOO_FEW,
				"only %zu of %zu samples of '%s' are clean", clean,
				t->result.n_samples, t->name);
	}
	return 0;
}

/* STATUS_ERROR with a sentence if outputs differ. */
static int check_work(const struct session *session, struct error *err)
{
	for (size_t i = 0; i < session_n_shown(session); i++) {
		_cleanup_(freep) char *text = session_different_work(session, i);

		if (text)
			return error_say(err, STATUS_ERROR, "different work: %s", text);
	}
	return 0;
}

/* Options that compare commands, where there is only one. */
static int check_several(const struct session *session, struct error *err)
{
	const struct measure_options *o = session->options;
	bool one = session_n_shown(session) < 2;
	const struct option_rule rules[] = {
		{one && o->rules.fail_if_slower >= 0,
			"--fail-if-slower compares commands, and there is only one"},
		{one && (o->rules.equal_within >= 0 || o->rules.strict),
			"--equal-within and --strict compare commands, and there is only one"},
		{one && o->compare, "--compare compares commands, and there is only one"},
	};

	return option_check_rules(rules, ELEMENTS(rules), err);
}

static void say_unused(const struct parameters *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->items[i].used)
			terminal_remark("parameter '%s' is not used: no command has {%s}",
				p->items[i].name, p->items[i].name);
}

/* What can be checked before a command is known. *ret_fd is standard output if a document goes
 * there. */
static int begin_measuring(struct measure_options *o, int *ret_fd, struct error *err)
{
	int r = measure_options_finish(o, err);

	if (r == 0)
		r = export_try(o, err);
	if (r == 0 && export_takes_stdout(o))
		r = output_standard_keep(ret_fd, err);
	if (r < 0)
		return r;
	r = interrupt_init();
	return r < 0 ? error_os(err, r, "cannot catch signals") : 0;
}

/* The documents that are streams. After them, text goes to standard error if one of them was on
 * standard output, which is `fd`. */
static int write_streams(const struct session *session, int fd, struct error *err)
{
	int r;

	if (fd >= 0)
		output_standard_end(fd);
	r = export_results(session, true, err);
	if (r == 0 && export_takes_stdout(session->options) &&
		(fflush(stdout) != 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0))
		r = error_os(err, -errno, "cannot write to standard output");
	return r;
}

/* The results are shown whether or not they can be drawn. */
static int show_and_draw(const struct session *session, struct error *err)
{
	int drawn = export_picture(session, err);
	int r = show_session(session, drawn < 0 ? NULL : err);

	return drawn < 0 ? drawn : r;
}

static int measure_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(commands_clear) struct commands commands = {};
	_cleanup_(session_close) struct session session = SESSION_NEW;
	_cleanup_(closep) int document_fd = -1;
	int64_t first = 0, last = 0;
	int outcome, work, r;

	r = begin_measuring(&measure_options, &document_fd, err);
	if (measure_options.study_block) /* a study that is killed measures no more */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (r == 0)
		r = commands_make(&measure_options, argc, argv, &commands, err);
	if (r < 0)
		return r;
	say_unused(&measure_options.parameters);
	measure_options_choose_order(&measure_options, commands.n + measure_options.aa);
	r = session_open(&session, &measure_options, &commands, err);
	if (r < 0)
		return r == -EINTR ? STATUS_INTERRUPTED : r;
	r = check_several(&session, err);
	if (r < 0)
		return r;

	/* also what was taken before an interruption, whose sentence stays */
	outcome = session_run(&session, err);
	r = write_streams(&session, document_fd, outcome == 0 ? err : NULL);
	work = r == 0 && outcome == 0 ? check_work(&session, err) : 0;
	outcome = outcome ?: work;
	if (r == 0)
		r = show_and_draw(&session, outcome == 0 ? err : NULL);
	if (outcome == 0 && r == 0)
		r = check_clean(&session, err);

	for (size_t i = 0; i < session.n; i++) {
		first = first ?: session.tasks[i].run.id;
		last = session.tasks[i].run.id ?: last;
	}
	return book_say_elsewhere(session.base.book, first, last, outcome ?: r, err);
}

static const struct verb emp_measure = {
	.args = "-- COMMAND [ARGUMENT...]  or  emp-measure [OPTION...] 'COMMAND LINE'...",
	.min_args = 1,
	.max_args = -1,
	.options = measure_option_rows,
	.run = measure_verb,
};

static const struct tool tool = {
	.name = "emp-measure",
	.summary =
		"Times programs, and discards samples in which an infrequent daemon ran too long.",
	.notes = "Examples:\n"
		 "  emp-measure -- sort big.txt                               one program\n"
		 "  emp-measure --profile lab1 --cpu 1 -r 20 -- ./solver input\n"
		 "  emp-measure --profile lab1 './old input' './new input'    two, compared\n",
	.verbs = (const struct verb *const[]){&emp_measure, NULL},
};

int main(int argc, char **argv)
{
	privilege_init(argv);
	return tool_main(&tool, argc, argv);
}
