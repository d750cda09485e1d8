/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes on the result of one program: see task_notes.h. */
#include "measure/task_notes.h"

#include "measure/perf_counts.h"
#include "measure/shell_start.h"
#include "measure/sibling_note.h"
#include "lib/report/results.h"
#include "lib/report/run_notes.h"
#include "lib/report/screen.h"

/* A hook between two samples leaves cold caches, and the CPU in an idle state. That costs 0.06 to
 * 0.14 ms of PT, as measured with hooks from `true` to `sleep 0.2`, which is within the noise of
 * programs of 5 ms and more. */
static const double HOOKS_COST_NS = 0.1 * NS_PER_MS, HOOKS_MATTER_NS = 5.0 * NS_PER_MS;

/* NULL: nothing runs between two samples. */
static const char *hook_between_samples(const struct task *t)
{
	if (t->command->prepare)
		return "--prepare";
	if (t->command->conclude)
		return "--conclude";
	return t->session->options->check ? "--check" : NULL;
}

int task_notes_add(struct task *t, struct error *err)
{
	struct session *s = t->session;
	const struct sampling *sums = t->sampling;
	_cleanup_(freep) char *perf = perf_counts_text(s, t);
	_cleanup_(notes_clear) struct notes all = {};
	const char *hook = hook_between_samples(t);
	_cleanup_(freep) char *unlike = program_output_unlike(&t->output);
	_cleanup_(freep) char *refused = program_output_refused(&t->output);
	_cleanup_(freep) char *shell = shell_start_text(t);
	double pt_ns = t->result.discarding.pt.kept.mean_ns;
	bool named = sums->escapee[0];
	int r = mdd_text(s->base.book, &t->run, s->rules.profile, t->result.n_samples, t->mdd, err);

	if (r < 0)
		return r;
	run_notes_add(&t->notes, &t->result, s->rules.profile);
	r = sibling_note_add(t, err);
	if (r < 0)
		return r;
	if (sums->escaped > 0)
		notes_add(&t->notes, NOTE_PROGRAM,
			"Warning: %s left %s cgroup in %d of %zu samples%s",
			named ? sums->escapee : "the program", named ? "the program's" : "its",
			sums->escaped, t->result.n_samples, named ? "" : "; PT may lack some");

	if (sums->limited > 0)
		notes_add(&t->notes, NOTE_PROGRAM,
			"Warning: %s killed a process in %d of %zu samples", sums->limit,
			sums->limited, t->result.n_samples);

	/* BPF knows the end; otherwise it is computed from this. */
	if (strcmp(s->base.observer.backend, accounting_backend_names[ACCOUNTING_BPF]) &&
		sums->end_delay_ns > sums->et_ns / 100)
		notes_add(&t->notes, NOTE_OTHER,
			"emp-measure got a CPU %s after the ends on average, which is not in ET",
			text_duration(sums->end_delay_ns / sums->taken));

	if (sums->waited_ns > sums->et_ns / 20)
		notes_add(&t->notes, NOTE_OTHER,
			"Samples waited %s for neighbours to go (--neighbour off does not wait)",
			text_duration(sums->waited_ns));

	if (sums->killed > 0)
		notes_add(&t->notes, NOTE_OTHER,
			"Warning: %d process%s left behind and killed after --linger", sums->killed,
			sums->killed == 1 ? " was" : "es were");
	if (sums->again > 0)
		notes_add(&t->notes, NOTE_OTHER, "%d sample%s stopped (^Z) and taken again",
			sums->again, sums->again == 1 ? " was" : "s were");

	if (shell)
		notes_add(&t->notes, NOTE_SHELL, "%s", shell);
	if (t->command->hides_builtin)
		notes_add(&t->notes, NOTE_SHELL,
			"Ran %s, not the shell's own %s (-S default runs that)", t->command->path,
			t->command->argv[0]);
	if (hook && pt_ns > 0 && pt_ns < HOOKS_MATTER_NS)
		notes_add(&t->notes, NOTE_OTHER,
			"PT may be about 0.1 ms (%s) longer because of %s: cold caches",
			text_percent(HOOKS_COST_NS / pt_ns), hook);

	if (unlike)
		notes_add(&t->notes, NOTE_PROGRAM, "Warning: another output than usual in %s",
			unlike);
	if (refused)
		notes_add(&t->notes, NOTE_PROGRAM, "Warning: --check failed in %s", refused);
	if (perf)
		notes_add(&t->notes, NOTE_OTHER, "perf: %s", perf);

	notes_add_all(&all, &t->notes);
	notes_add_all(&all, &s->notes);
	if (*t->mdd)
		notes_add(&all, NOTE_RESOLUTION, "%s", t->mdd);
	return book_put_notes(s->base.book, t->run.id, all.items, all.n, err);
}
