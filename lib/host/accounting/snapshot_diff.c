/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference between two snapshots: see accounting_backend.h. */
#include "lib/host/accounting/accounting_backend.h"

#include "lib/base/xalloc.h"
#include "lib/host/accounting/keymap.h"

#include <errno.h>
#include <string.h>

/* In place of an index into the first snapshot: that task has been found again, and its key may now be
 * another task's. */
static const uint32_t DONE = UINT32_MAX;

struct process_times {
	struct process_diff diff;
	bool died, alive; /* one of its tasks was */
};

struct snapshot_diff {
	struct keymap before;    /* key -> index into snapshots->before, or DONE */
	struct keymap exits;     /* key -> index into snapshots->exits, the last with that key */
	struct keymap processes; /* tgid -> index into items, the last with that tgid */
	struct process_times *items;
	size_t n, capacity;
	size_t n_missing; /* of the first snapshot, so far */
	struct process_diff *result;
	size_t n_result, result_capacity;
};

struct snapshot_diff *snapshot_diff_new(void)
{
	return xcalloc(1, sizeof(struct snapshot_diff));
}

void snapshot_diff_free(struct snapshot_diff *diff)
{
	if (!diff)
		return;
	keymap_free(&diff->before);
	keymap_free(&diff->exits);
	keymap_free(&diff->processes);
	free(diff->items);
	free(diff->result);
	free(diff);
}

/* Adds the task's time since `base` (NULL: since it started) to its process. */
static void add_task(struct snapshot_diff *diff, const struct task_record *task,
	const struct task_record *base, uint64_t before_ns)
{
	uint64_t run_ns = base ? base->run_ns : 0, tick_ns = base ? base->tick_ns : 0;
	struct process_times *process;
	struct process_diff *p;
	uint32_t *at = keymap_find(&diff->processes, task->tgid);

	process = at && diff->items[*at].diff.start_ns == task->process_start_ns ? &diff->items[*at] : NULL;
	if (!process) {
		if (task->run_ns <= run_ns && task->tick_ns <= tick_ns)
			return;
		process = array_add_reused(diff->items, diff->n, diff->capacity);
		process->diff.pid = (pid_t)task->tgid;
		process->diff.start_ns = task->process_start_ns;
		process->diff.started = task->process_start_ns >= before_ns;
		process->diff.cpu = -1;
		keymap_set(&diff->processes, task->tgid, (uint32_t)diff->n - 1);
	}
	p = &process->diff;
	if (task->run_ns > run_ns) {
		p->pt_ns += (int64_t)(task->run_ns - run_ns);
		p->watched_ns += (int64_t)task->watched_ns;
		p->cpu = (int)task->cpu;
	}
	if (task->tick_ns > tick_ns)
		p->tick_ns += (int64_t)(task->tick_ns - tick_ns);
	memcpy(p->name, task->comm, sizeof(p->name));
	p->ppid = (pid_t)task->ppid;
	p->cgroup = task->cgroup;
	p->flags = task->flags;
	if (task->flags & RECORD_DEAD)
		process->died = true;
	else
		process->alive = true;
}

static bool is_alive(const struct snapshots *snapshots, const struct task_record *task)
{
	return task->tgid != snapshots->observer && !(task->flags & RECORD_DEAD);
}

/* What the task had in the first snapshot (NULL: it had not started). False: its time before that snapshot is
 * not known, so it cannot be counted. */
static bool take_base(struct snapshot_diff *diff, const struct snapshots *snapshots,
	const struct task_record *task, const struct task_record **ret)
{
	bool is_new = task->start_ns >= snapshots->before_ns;
	uint32_t *at = keymap_find(&diff->before, task->key);
	const struct task_record *base = NULL;

	/* The start time distinguishes a task from a later one at the same address. But a thread that executes a program
	 * takes over the older start time of its process. */
	if (at && *at != DONE && (!is_new || snapshots->before[*at].start_ns == task->start_ns)) {
		base = &snapshots->before[*at];
		*at = DONE;
		diff->n_missing -= is_alive(snapshots, base);
	}
	*ret = base;
	return base || is_new;
}

static bool has_ended(
	struct snapshot_diff *diff, const struct snapshots *snapshots, const struct task_record *task)
{
	uint32_t *at = keymap_find(&diff->exits, task->key);

	return at && snapshots->exits[*at].start_ns == task->start_ns;
}

static int by_pid(const void *a, const void *b)
{
	const struct process_diff *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

struct process_diffs snapshot_diff_run(struct snapshot_diff *diff, const struct snapshots *snapshots)
{
	const struct task_record *base;

	keymap_reset(&diff->before, snapshots->n_before);
	keymap_reset(&diff->exits, snapshots->n_exits);
	keymap_reset(&diff->processes, 0);
	diff->n = diff->n_missing = diff->n_result = 0;
	for (size_t i = 0; i < snapshots->n_before; i++) {
		keymap_set(&diff->before, snapshots->before[i].key, (uint32_t)i);
		diff->n_missing += is_alive(snapshots, &snapshots->before[i]);
	}
	for (size_t i = 0; i < snapshots->n_exits; i++) {
		const struct task_record *task = &snapshots->exits[i];

		if (task->tgid == snapshots->observer || !take_base(diff, snapshots, task, &base))
			continue;
		add_task(diff, task, base, snapshots->before_ns);
		keymap_set(&diff->exits, task->key, (uint32_t)i);
	}
	for (size_t i = 0; i < snapshots->n_after; i++) {
		const struct task_record *task = &snapshots->after[i];

		if (task->tgid != snapshots->observer && !has_ended(diff, snapshots, task) &&
			take_base(diff, snapshots, task, &base))
			add_task(diff, task, base, snapshots->before_ns);
	}

	for (size_t i = 0; i < diff->n; i++) {
		const struct process_times *process = &diff->items[i];
		struct process_diff *p;

		if (process->diff.pt_ns <= 0 && process->diff.tick_ns <= 0)
			continue;
		p = array_add_reused(diff->result, diff->n_result, diff->result_capacity);
		*p = process->diff;
		p->ended = process->died && !process->alive;
		if (!snapshots->has_shares)
			p->watched_ns = -1;
	}
	if (diff->n_result > 1)
		qsort(diff->result, diff->n_result, sizeof(*diff->result), by_pid);
	return (struct process_diffs){
		.items = diff->result, .n = diff->n_result, .n_missing = diff->n_missing};
}
