/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --order duet: what the programs of a session need to alternate on one CPU, and what came of it. */
#include "measure/session.h"

#include "lib/base/xalloc.h"


#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int make_cgroups(struct session *s, struct error *err)
{
	int r = 0;

	if (!s->observer.cgroup)
		return 0;
	s->duet.cgroups = xcalloc(s->n, sizeof(struct cgroup *));
	for (size_t i = 0; r == 0 && i < s->n; i++)
		r = cgroup_new_in(&s->duet.cgroups[i], s->observer.cgroup, err);
	return r;
}

/* Several programs that read one file at the same time must not share their place in it. */
static int open_input(struct session *s, struct task *t, struct error *err)
{
	const char *file = s->options->input;

	if (!file || !strcmp(file, "null"))
		return 0;
	t->in = open(file, O_RDONLY | O_CLOEXEC);
	if (t->in < 0)
		return error_os(err, -errno, "cannot open '%s' for the programs to read", file);
	t->spawn.stdin_fd = t->in;
	return 0;
}

static int prepare_task(struct session *s, size_t i, struct error *err)
{
	struct spawn *spawn = &s->tasks[i].spawn;
	int r;

	spawn->cgroup = s->duet.cgroups ? s->duet.cgroups[i] : NULL;
	spawn->keeps_orphans = !spawn->cgroup;
	if (spawn->stderr_fd >= 0) {
		r = session_open_errors(&s->tasks[i].errors, err);
		if (r < 0)
			return r;
		spawn->stderr_fd = s->tasks[i].errors;
	}
	return open_input(s, &s->tasks[i], err);
}

/* In the guard: a frozen process does not notice that its parent has died. */
static void thaw_below(int parent_fd, const void *data)
{
	_cleanup_(closedirp) DIR *dir = fdopendir(parent_fd);
	struct dirent *entry;
	char path[320];

	while (dir && (entry = readdir(dir))) {
		_cleanup_(closep) int fd = -1;

		snprintf(path, sizeof(path), "%s/cgroup.freeze", entry->d_name);
		fd = strcmp(entry->d_name, "..") ? openat(dirfd(dir), path, O_WRONLY | O_CLOEXEC) : -1;
		if (fd >= 0 && write(fd, "0", 1) < 0)
			continue;
	}
}

static int set_slice(struct session *s, int64_t slice_ns, struct error *err)
{
	const struct measure_options *o = s->options;
	enum slicing slicing;
	int r;

	r = duet_choose(
		o->slicing, slice_ns, o->cpu, s->duet.cgroups ? s->duet.cgroups[0] : NULL, &slicing, err);
	if (r < 0)
		return error_prefix(err, r, "--slices-by");
	s->duet.plan = (struct duet_plan){
		.slicing = slicing, .slice_ns = slice_ns, .cpu = o->cpu, .repeat = o->repeat};
	s->duet.all = (struct spawn){
		.cpu = o->cpu, .cgroup = s->observer.cgroup, .accounting = s->observer.accounting};
	for (size_t i = 0; i < s->n; i++) {
		s->tasks[i].spawn.frozen_at_times = slicing == SLICING_FREEZER;
		s->tasks[i].spawn.slice_ns = slicing == SLICING_SCHEDULER ? slice_ns : 0;
	}
	if (slicing != SLICING_FREEZER || s->duet.guard)
		return 0;
	return guard_new(&s->duet.guard, thaw_below, cgroup_fd(s->observer.cgroup), NULL, err);
}

int session_choose_slice(struct sampling *first, struct error *err)
{
	struct session *s = ((struct task *)first->data)->session;
	int64_t shortest_ns = INT64_MAX, slice_ns;

	for (size_t i = 0; i < session_n_shown(s); i++)
		if (s->samplings[i].last_pt_ns < shortest_ns)
			shortest_ns = s->samplings[i].last_pt_ns;
	slice_ns = duet_slice_for(shortest_ns);
	if (s->options->slice_ns || shortest_ns <= 0 ||
		!duet_has_slices(slice_ns, s->options->cpu, s->duet.cgroups ? s->duet.cgroups[0] : NULL))
		return 0;
	return set_slice(s, slice_ns, err);
}

int session_make_duet(struct session *s, struct error *err)
{
	int r;

	if (s->n < 2)
		return error_say(err, -EINVAL,
			"--order duet needs two commands or more: give each as one operand, or --aa");
	r = make_cgroups(s, err);
	if (r == 0)
		r = set_slice(s, s->options->slice_ns ?: DEFAULT_SLICE_NS, err);
	for (size_t i = 0; r == 0 && i < s->n; i++)
		r = prepare_task(s, i, err);
	return r;
}

void session_clear_duet(struct session *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->duet.cgroups)
			cgroup_free(s->duet.cgroups[i]);
		closep(&s->tasks[i].in);
		closep(&s->tasks[i].errors);
	}
	free(s->duet.cgroups);
	guard_free(s->duet.guard);
	if (!s->in_turn)
		return;
	session_clear_tasks(s->in_turn);
	free((struct measure_options *)s->in_turn->options);
	free(s->in_turn);
}

/* The first doubt about any of the programs. */
static int find_doubt(struct session *s, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report report = {};
	const struct discard_rules rules = session_rules(s);
	struct comparison c;
	int r = duet_report_load(s->book, s->tasks[0].run.id, &rules, &report, err);

	for (size_t i = 1; r >= 0 && s->doubt == DUET_SOUND && i < report.n; i++)
		r = duet_report_compare(&report, 0, i, &c, &s->doubt, err);
	return r < 0 ? r : 0;
}

/* It shares everything with the duet but its order and its tasks. */
static int take_in_turn(struct session *s, const struct commands *commands, struct error *err)
{
	struct measure_options *options = xmalloc(sizeof(*options));
	struct session *turn = xmalloc(sizeof(*turn));

	if (!options || !turn) {
		free(options);
		free(turn);
		return error_oom(err);
	}
	*options = *s->options;
	options->order = ORDER_INTERLEAVE;
	*turn = *s;
	turn->options = options;
	turn->tasks = NULL;
	turn->samplings = NULL;
	turn->n = 0;
	turn->duet = (struct duet_session){};
	turn->command_done = NULL;
	s->in_turn = turn;
	return session_fill_tasks(turn, commands, err) ?: session_run(turn, err);
}

int session_settle_duet(struct session *s, const struct commands *commands, struct error *err)
{
	int r = s->options->order == ORDER_DUET && session_n_shown(s) > 1 ? find_doubt(s, err) : 0;

	if (r < 0 || s->doubt == DUET_SOUND)
		return r;
	r = take_in_turn(s, commands, err);
	return r == 0 && s->command_done ? s->command_done(s, err) : r;
}

int session_duet(const struct session *s, struct duet_report *ret, const char ***ret_names, struct error *err)
{
	const struct discard_rules rules = session_rules(s);
	_cleanup_(freep) const char **names = session_names(s);
	int r = names ? duet_report_load(s->book, s->tasks[0].run.id, &rules, ret, err) : error_oom(err);

	if (r > 0)
		*ret_names = TAKE(names);
	return r;
}
