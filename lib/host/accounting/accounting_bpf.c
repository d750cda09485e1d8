/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bpf backend: snapshots and exits, a record for each thread. */
#include "lib/host/accounting/accounting_backend.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/host/accounting/keymap.h"
#include "lib/host/accounting/task_records.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

/* What a process executed between the snapshots. */
struct executed {
	const char *exe, *unit;
};

struct bpf_backend {
	struct backend base;
	struct identity *identity;
	struct task_records *tasks;
	struct task_snapshot before, after;
	struct task_record *exits;
	size_t n_exits, exits_capacity;
	struct keymap parents; /* pid -> parent, in the second snapshot */
	bool has_parents;
	struct keymap executed_by; /* tgid -> index into executed */
	struct executed *executed;
	size_t n_executed, executed_capacity;
	int64_t held_up; /* exiting tasks that were waited for in vain */
	bool collecting; /* events belong to a sample */
	uint64_t before_ns, lost_before;
	struct task_scope scope;
};

static struct bpf_backend *of(struct backend *backend)
{
	return (struct bpf_backend *)backend;
}

static int add_exec(struct bpf_backend *b, const struct exec_record *exec)
{
	struct executed *executed = array_add_reused(b->executed, b->n_executed, b->executed_capacity);

	if (identity_is_unit(exec->cgroup_name)) {
		executed->unit = identity_keep(b->identity, exec->cgroup_name);
		identity_learn_cgroup(b->identity, exec->cgroup, exec->cgroup_name);
	}
	if (exec->path[0] == '/' && memchr(exec->path, '\0', RECORD_PATH_SIZE - 1))
		executed->exe = identity_program(b->identity, exec->path);
	return keymap_set(&b->executed_by, exec->tgid, (uint32_t)b->n_executed - 1);
}

static int add_exit(struct bpf_backend *b, const struct task_record *task)
{
	struct task_record *exit = array_add_reused(b->exits, b->n_exits, b->exits_capacity);

	*exit = *task;
	return 0;
}

static int on_event(void *context, const void *record)
{
	const struct task_record *task = record;
	struct bpf_backend *b = context;

	if (task->kind == RECORD_KIND_EXEC) {
		const struct exec_record *exec = record;

		identity_forget(b->identity, (pid_t)exec->tgid);
		return b->collecting ? add_exec(b, exec) : 0;
	}
	if (b->collecting)
		return add_exit(b, task);
	if (task->pid == task->tgid)
		identity_forget(b->identity, (pid_t)task->tgid);
	return 0;
}

static int bpf_drain(struct backend *backend, struct error *err)
{
	return task_records_drain(of(backend)->tasks, err);
}

static int bpf_before(struct backend *backend, const struct task_scope *scope, struct error *err)
{
	struct bpf_backend *b = of(backend);
	int r;

	b->collecting = false;
	r = bpf_drain(backend, err);
	if (r < 0)
		return r;
	b->collecting = true;
	b->n_exits = 0;
	b->n_executed = 0;
	if (task_records_exiting(b->tasks) < b->held_up)
		b->held_up = task_records_exiting(b->tasks);
	r = keymap_reset(&b->executed_by, 0);
	if (r < 0)
		return error_oom(err);
	b->scope = *scope;
	b->lost_before = task_records_lost(b->tasks);
	b->before_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC);
	return task_records_snapshot(b->tasks, TASK_BEFORE, scope, &b->before, err);
}

/* A task can be missing from the snapshot before its end is among the events. That lasts microseconds (often it is the
 * program under test, whose exit woke this process: it only needs this CPU), or as long as a hypervisor takes the CPU
 * away. A task can also be delayed in its exit; such a task is waited for once. */
static void wait_for_exits(struct bpf_backend *b)
{
	enum { N_YIELDS = 16, FIRST_WAIT_US = 50, ALL_WAITS_US = 20000 };
	int64_t exiting = task_records_exiting(b->tasks);

	for (int i = 0; exiting > b->held_up && i < N_YIELDS; i++) {
		sched_yield();
		exiting = task_records_exiting(b->tasks);
	}
	for (useconds_t us = FIRST_WAIT_US; exiting > b->held_up && us < ALL_WAITS_US; us *= 2) {
		usleep(us);
		exiting = task_records_exiting(b->tasks);
	}
	b->held_up = exiting;
}

static int bpf_after(struct backend *backend, struct snapshots *ret, struct usages *usages, struct error *err)
{
	struct bpf_backend *b = of(backend);
	struct task_watched watched;
	int r = task_records_snapshot(b->tasks, TASK_AFTER, &b->scope, &b->after, err);

	if (r < 0)
		return r;
	wait_for_exits(b);
	r = bpf_drain(backend, err);
	if (r < 0)
		return r;
	b->collecting = false;
	b->has_parents = false;
	watched = task_records_watched(b->tasks);
	usages->lost = task_records_lost(b->tasks) - b->lost_before;
	usages->taken_ns = watched.taken_ns;
	usages->interrupts_ns = watched.interrupts_ns;
	usages->steal_ns = watched.steal_ns;
	*ret = (struct snapshots){
		.before = b->before.items,
		.n_before = b->before.n,
		.after = b->after.items,
		.n_after = b->after.n,
		.exits = b->exits,
		.n_exits = b->n_exits,
		.before_ns = b->before_ns,
		.observer = task_records_observer(b->tasks),
		.has_shares = watched.has_shares,
	};
	return 0;
}

static pid_t bpf_parent(struct backend *backend, pid_t pid)
{
	struct bpf_backend *b = of(backend);
	const uint32_t *parent;
	int r = 0;

	if (!b->has_parents) {
		r = keymap_reset(&b->parents, b->after.n);
		for (size_t i = 0; r == 0 && i < b->after.n; i++)
			r = keymap_set(&b->parents, b->after.items[i].tgid, b->after.items[i].ppid);
		b->has_parents = r == 0;
	}
	parent = r == 0 ? keymap_find(&b->parents, (uint64_t)pid) : NULL;
	return parent ? (pid_t)*parent : 0;
}

static void bpf_describe(struct backend *backend, struct process_diff *process, struct identified *ret)
{
	const struct bpf_backend *b = of(backend);
	const uint32_t *at = keymap_find(&b->executed_by, (uint64_t)process->pid);

	if (at)
		*ret = (struct identified){.exe = b->executed[*at].exe, .unit = b->executed[*at].unit};
}

static int bpf_poll_fd(const struct backend *backend)
{
	return task_records_poll_fd(((const struct bpf_backend *)backend)->tasks);
}

static int64_t bpf_own_wait(const struct backend *backend)
{
	return task_records_own_wait(((const struct bpf_backend *)backend)->tasks);
}

static void bpf_free(struct backend *backend)
{
	struct bpf_backend *b = of(backend);

	task_records_free(b->tasks);
	keymap_free(&b->executed_by);
	keymap_free(&b->parents);
	free(b->executed);
	free(b->exits);
	free(b);
}

static const struct backend_operations operations = {
	.id = ACCOUNTING_BPF,
	.poll_ms = -1,
	.sees_cgroups = true,
	.free = bpf_free,
	.poll_fd = bpf_poll_fd,
	.before = bpf_before,
	.drain = bpf_drain,
	.after = bpf_after,
	.reports_all_exits = true,
	.parent = bpf_parent,
	.own_wait = bpf_own_wait,
	.describe = bpf_describe,
};

static void bpf_freep(struct bpf_backend **b)
{
	if (*b)
		bpf_free(&(*b)->base);
}

static void *end_at_once(void *nothing)
{
	return nothing;
}

/* Starts and ends a thread, to test that exits are reported and to relate the scheduler's clock to CLOCK_MONOTONIC. */
static int see_a_thread_end(struct bpf_backend *b, struct error *err)
{
	pthread_t thread;
	int r = -pthread_create(&thread, NULL, end_at_once, NULL);

	if (r < 0)
		return error_os(err, r, "cannot test the BPF programs");
	pthread_join(thread, NULL);
	for (int ms = 0; ms < 100; ms++) { /* its last context switch is some microseconds after the join */
		r = bpf_drain(&b->base, err);
		if (r < 0)
			return r;
		for (size_t i = 0; i < b->n_exits; i++)
			if (b->exits[i].tgid == task_records_observer(b->tasks))
				return 0;
		usleep(1000);
	}
	return error_say(err, -ENOTSUP, "the BPF programs are loaded, but do not report that a thread ended");
}

int accounting_bpf_new(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, struct error *err)
{
	_cleanup_(bpf_freep) struct bpf_backend *b = xcalloc(1, sizeof(*b));
	const struct task_scope none = {.cpu = -1};
	int r;

	b->base.operations = &operations;
	b->identity = identity;
	r = task_records_new(&b->tasks, &options->tasks, on_event, b, err);
	if (r == 0)
		r = bpf_before(&b->base, &none, err);
	if (r == 0)
		r = see_a_thread_end(b, err);
	if (r == 0)
		r = task_records_snapshot(b->tasks, TASK_AFTER, &none, &b->after, err);
	if (r < 0)
		return r;
	*ret = &TAKE(b)->base;
	return 0;
}
