/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the start of a shell takes: see shell_start.h. */
#include "measure/shell_start.h"

#include "lib/base/argv.h"

/* Of all starts so far. */
struct shell_start {
	int64_t *pt_ns, *et_ns;
	size_t n_pt, n_et;
	bool fails; /* an empty line is an error for this shell */
};

struct shell_start *shell_start_new(void)
{
	return xcalloc(1, sizeof(struct shell_start));
}

void shell_start_free(struct shell_start *start)
{
	if (!start)
		return;
	free(start->pt_ns);
	free(start->et_ns);
	free(start);
}

int shell_start_take(struct task *t, struct error *err)
{
	_cleanup_(argv_freep) char **argv = NULL;
	struct shell_start *start = t->session->shell_start;
	struct command_spec spec = t->spec;
	struct exec_result exec;
	int r;

	if (!t->command->by_shell || start->fails)
		return 0;
	argv = argv_for_shell(t->session->options->shell_words, "");
	spec.argv = argv;
	spec.stdin_fd = spec.stdout_fd = spec.stderr_fd = t->session->null;
	spec.short_stderr = spec.has_partners = false;
	spec.accounting = NULL;
	spec.prober = NULL;
	spec.slice_ns = 0;
	r = program_run(&spec, &exec, err);
	if (r < 0)
		return r;
	if (exec.end == PROGRAM_INTERRUPTED)
		return -EINTR;
	start->fails = exec.end != PROGRAM_ENDED || exec.wait_status != 0;
	if (start->fails)
		return 0;
	*array_add(start->pt_ns, start->n_pt) = exec.pt_ns;
	*array_add(start->et_ns, start->n_et) = exec.et_ns;
	return 0;
}

/* "sh -c", "bash --norc -c"; the caller frees it. */
static char *shell_name(const struct task *t)
{
	_cleanup_(argv_freep) char **words = argv_for_shell(t->session->options->shell_words, "");
	_cleanup_(freep) char *joined = NULL;
	const char *name = strrchr(words[0], '/');
	size_t n = 0;

	while (words[n + 1])
		n++;
	free(TAKE(words[n])); /* the line */
	joined = argv_join(words);
	return xstrdup(name ? joined + (name + 1 - words[0]) : joined);
}

char *shell_start_text(const struct task *t)
{
	const struct shell_start *start = t->session->shell_start;
	_cleanup_(freep) char *name = NULL;

	if (!t->command->by_shell)
		return NULL;
	name = shell_name(t);
	if (start->n_pt == 0)
		return text_format("Run by %s, whose start alone could not be measured", name);
	return text_format("Run by %s (start alone: PT %s, ET %s, not subtracted)", name,
		text_duration(llround(summary_of(start->pt_ns, start->n_pt).median_ns)),
		text_duration(llround(summary_of(start->et_ns, start->n_et).median_ns)));
}

json_t *shell_start_json(const struct task *t)
{
	const struct shell_start *start = t->session->shell_start;
	_cleanup_(freep) char *name = NULL, *shell = NULL;
	json_t *pt, *et;

	if (!t->command->by_shell)
		return NULL;
	name = shell_name(t);
	shell = text_utf8(name);
	pt = json_array();
	et = json_array();
	for (size_t i = 0; i < start->n_pt; i++) {
		json_array_append_new(pt, json_integer(start->pt_ns[i]));
		json_array_append_new(et, json_integer(start->et_ns[i]));
	}
	return JSON_OBJECT({"name", json_string(shell)}, {"pt_ns", pt}, {"et_ns", et});
}
