/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The accounting's front: picks a backend, joins its images, tells what the processes are and which belong to
 * the program under test. See accounting.h. */
#include "lib/host/accounting/accounting.h"

#include "lib/base/clock.h"
#include "lib/host/accounting/accounting_backend.h"
#include "lib/host/accounting/accounting_support.h"
#include "lib/host/accounting/keymap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { MAX_DESCENT = 64 };

struct accounting {
	struct backend *backend;
	struct identity *identity;
	struct snapshot_diff *diff;
	struct keymap parents; /* of processes that ended, and of those asked for */
	struct usage *items;
	size_t capacity;
	bool by_descent;
	int64_t cost_ns;
	struct error why;
};

static int new_bpf(struct backend **ret, struct identity *identity, const struct accounting_options *options,
	const struct accounting_support *support, struct error *err)
{
	int r = accounting_support_has_bpf(support, err);

	if (r == 0)
		r = accounting_bpf_new(ret, identity, options, err);
	return r < 0 ? error_prefix(err, r, "bpf") : 0;
}

static int new_taskstats(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, const struct accounting_support *support, struct error *err)
{
	int r = accounting_support_has_taskstats(support, err);

	if (r == 0)
		r = accounting_taskstats_new(ret, identity, options, err);
	return r < 0 ? error_prefix(err, r, "taskstats") : 0;
}

static int new_auto(struct backend **ret, struct identity *identity, const struct accounting_options *options,
	const struct accounting_support *support, struct error *ret_why, struct error *err)
{
	struct error no_bpf = {};
	int r = new_bpf(ret, identity, options, support, &no_bpf);

	if (r == 0)
		return 0;
	r = new_taskstats(ret, identity, options, support, err);
	if (r < 0) {
		struct error no_taskstats = *err;

		return error_say(err, r, "%s. %s", no_bpf.text, no_taskstats.text);
	}
	*ret_why = no_bpf;
	return 0;
}

static int new_backend(struct accounting *a, const struct accounting_options *options, struct error *err)
{
	struct accounting_support support;
	int r;

	accounting_support_read(&support, AT_FDCWD);
	if (options->backend == ACCOUNTING_BPF)
		r = new_bpf(&a->backend, a->identity, options, &support, err);
	else if (options->backend == ACCOUNTING_TASKSTATS)
		r = new_taskstats(&a->backend, a->identity, options, &support, err);
	else
		r = new_auto(&a->backend, a->identity, options, &support, &a->why, err);
	if (r < 0) {
		struct error reason = *err;

		return error_say(err, r,
			"what other processes take cannot be seen (the program's own times still can): %s",
			reason.text);
	}
	return 0;
}

int accounting_new_with(struct accounting **ret, const struct accounting_options *options, struct error *err)
{
	_cleanup_(accounting_freep) struct accounting *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return error_os(err, -ENOMEM, "cannot account for processes");
	r = identity_new(&a->identity, err);
	if (r == 0)
		r = snapshot_diff_new(&a->diff, err);
	if (r == 0)
		r = new_backend(a, options, err);
	if (r < 0)
		return r;
	*ret = TAKE(a);
	return 0;
}

int accounting_new(struct accounting **ret, enum accounting_backend backend, struct error *err)
{
	return accounting_new_with(ret, &(struct accounting_options){.backend = backend}, err);
}

void accounting_free(struct accounting *a)
{
	if (!a)
		return;
	if (a->backend)
		a->backend->operations->free(a->backend);
	snapshot_diff_free(a->diff);
	identity_free(a->identity);
	keymap_free(&a->parents);
	free(a->items);
	free(a);
}

const char *accounting_name(const struct accounting *a)
{
	return a->backend->operations->name;
}

const char *accounting_why(const struct accounting *a)
{
	return a->why.text[0] ? a->why.text : NULL;
}

int64_t accounting_cost_ns(const struct accounting *a)
{
	return a->cost_ns;
}

int accounting_before(struct accounting *a, uint64_t cgroup_id, struct error *err)
{
	int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int r = a->backend->operations->before(a->backend, cgroup_id, err);

	a->by_descent = cgroup_id == 0 || !a->backend->operations->sees_cgroups;
	a->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return r;
}

int accounting_poll_fd(const struct accounting *a)
{
	return a->backend->operations->poll_fd(a->backend);
}

int accounting_poll_ms(const struct accounting *a)
{
	return a->backend->operations->poll_ms;
}

int accounting_drain(struct accounting *a, struct error *err)
{
	int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int r = a->backend->operations->drain(a->backend, err);

	a->cost_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return r;
}

static int learn_parents(struct accounting *a, const struct snapshots *snapshots)
{
	int r = keymap_reset(&a->parents, snapshots->n_exits);

	for (size_t i = 0; r == 0 && i < snapshots->n_exits; i++)
		if (snapshots->exits[i].pid == snapshots->exits[i].tgid)
			r = keymap_set(&a->parents, snapshots->exits[i].tgid, snapshots->exits[i].ppid);
	return r;
}

static pid_t parent_of(struct accounting *a, pid_t pid)
{
	uint32_t *known = keymap_find(&a->parents, (uint64_t)pid);
	pid_t parent;

	if (known)
		return (pid_t)*known;
	parent = a->backend->operations->parent(a->backend, pid);
	keymap_set(&a->parents, (uint64_t)pid, (uint32_t)parent); /* forgetting only costs another question */
	return parent;
}

static bool descends(struct accounting *a, pid_t parent, pid_t ancestor)
{
	for (int i = 0; parent > 1 && i < MAX_DESCENT; i++) {
		if (parent == ancestor)
			return true;
		parent = parent_of(a, parent);
	}
	return false;
}

static void identify(struct accounting *a, const struct execution *e, struct identified *known)
{
	struct identified asked = {};

	if (e->flags & RECORD_KERNEL)
		return;
	if (e->ended)
		asked = identity_remembered(a->identity, e->pid, e->start_ns);
	else
		asked = identity_of(a->identity, e->pid, e->start_ns, e->name);
	if (asked.exe)
		known->exe = asked.exe;
	if (asked.unit)
		known->unit = asked.unit;
	if (asked.unit && e->cgroup > 1)
		identity_learn_cgroup(a->identity, e->cgroup, asked.unit);
	if (!known->unit && e->cgroup > 1)
		known->unit = identity_cgroup_unit(a->identity, e->cgroup);
}

static void fill_usage(struct accounting *a, struct execution *e, struct usage *usage)
{
	struct identified known = {};

	a->backend->operations->describe(a->backend, e, &known);
	identify(a, e, &known);
	*usage = (struct usage){
		.pid = e->pid,
		.exe = known.exe,
		.unit = known.unit,
		.pt_ns = e->pt_ns,
		.tick_ns = e->tick_ns,
		.kernel = e->flags & RECORD_KERNEL,
		.started = e->started,
		.ended = e->ended,
		.program = e->flags & RECORD_PROGRAM,
	};
	memcpy(usage->name, e->name, sizeof(usage->name));
	usage->name[sizeof(usage->name) - 1] = '\0';
	if (a->by_descent)
		usage->program = descends(a, e->ppid, getpid());
}

static int compare_pid(const void *key, const void *item)
{
	pid_t pid = *(const pid_t *)key, other = ((const struct execution *)item)->pid;

	return pid < other ? -1 : pid > other;
}

/* A process that was forked and did not execute anything runs what its parent runs, which forked in this
 * sample, and so is among the executions too. The name shows that the parent still is what it was. */
static const char *inherited_exe(const struct accounting *a, const struct executions *all, size_t i)
{
	for (int depth = 0; depth < MAX_DESCENT; depth++) {
		const struct execution *e = &all->items[i], *parent;

		if (a->items[i].exe || !(e->flags & RECORD_FORKED))
			return a->items[i].exe;
		parent = bsearch(&e->ppid, all->items, all->n, sizeof(*all->items), compare_pid);
		if (!parent || strncmp(parent->name, e->name, sizeof(e->name)))
			return NULL;
		i = (size_t)(parent - all->items);
	}
	return NULL;
}

static int make_room(struct accounting *a, size_t n, struct error *err)
{
	struct usage *items;

	if (n <= a->capacity)
		return 0;
	items = realloc(a->items, 2 * n * sizeof(*items));
	if (!items)
		return error_os(err, -ENOMEM, "cannot list %zu processes", n);
	a->items = items;
	a->capacity = 2 * n;
	return 0;
}

static int collect(struct accounting *a, struct usages *ret, struct error *err)
{
	struct executions all;
	struct snapshots snapshots;
	int r = a->backend->operations->after(a->backend, &snapshots, ret, err);

	if (r == 0)
		r = snapshot_diff_run(a->diff, &snapshots, &all, err);
	if (r == 0)
		r = make_room(a, all.n, err);
	if (r < 0)
		return r;
	if (a->by_descent && learn_parents(a, &snapshots) < 0)
		return error_os(err, -ENOMEM, "cannot tell which processes belong to the program");
	for (size_t i = 0; i < all.n; i++)
		fill_usage(a, &all.items[i], &a->items[i]);
	for (size_t i = 0; i < all.n; i++)
		a->items[i].exe = inherited_exe(a, &all, i);
	for (size_t i = 0; i < all.n; i++)
		if (all.items[i].ended)
			identity_forget(a->identity, all.items[i].pid);
	ret->items = a->items;
	ret->n = all.n;
	if (ret->lost > 0 || (a->backend->operations->tells_all_ends && all.n_missing > 0))
		ret->incomplete = true;
	return 0;
}

int accounting_after(struct accounting *a, struct usages *ret, struct error *err)
{
	int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct usages usages = {};
	int r = collect(a, &usages, err);

	a->cost_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	if (r == 0)
		*ret = usages;
	return r;
}
