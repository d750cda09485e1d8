/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference between two snapshots: see accounting_internal.h. */
#include "lib/host/accounting/accounting_internal.h"

/* In place of an index into the first snapshot: that task has been found again, and its key may now be
 * another task's. */
static const uint32_t DONE = UINT32_MAX;

void snapshot_diff_clear(struct snapshot_diff *diff)
{
	keymap_free(&diff->before);
	keymap_free(&diff->exits);
	keymap_free(&diff->processes);
	free(diff->items);
	*diff = (struct snapshot_diff){};
}

static bool is_alive(const struct snapshots *snapshots, const struct task_record *task)
{
	return task->tgid != snapshots->observer && !(task->flags & RECORD_DEAD);
}

/* Adds what the task has used since the first snapshot to its process. False: its time before that snapshot is not known, so it cannot
 * be counted. */
static bool add_task(
	struct snapshot_diff *diff, const struct snapshots *snapshots, const struct task_record *task)
{
	bool is_new = task->start_ns >= snapshots->before_ns;
	uint32_t *at = keymap_find(&diff->before, task->key);
	uint64_t run_ns = 0, tick_ns = 0;
	struct process_cpu *p = NULL;

	/* The start time distinguishes a task from a later one at the same address. But a thread that executes a program
	 * takes over the older start time of its process. */
	if (at && *at != DONE && (!is_new || snapshots->before[*at].start_ns == task->start_ns)) {
		const struct task_record *base = &snapshots->before[*at];

		*at = DONE;
		diff->n_missing -= is_alive(snapshots, base);
		run_ns = base->run_ns;
		tick_ns = base->tick_ns;
	} else if (!is_new) {
		return false;
	}
	at = keymap_find(&diff->processes, task->tgid);
	if (at && diff->items[*at].start_ns == task->process_start_ns)
		p = &diff->items[*at];
	if (!p) {
		if (task->run_ns <= run_ns && task->tick_ns <= tick_ns)
			return true;
		p = array_add_reused(diff->items, diff->n, diff->capacity);
		p->pid = (pid_t)task->tgid;
		p->start_ns = task->process_start_ns;
		p->started = task->process_start_ns >= snapshots->before_ns;
		p->cpu = -1;
		keymap_set(&diff->processes, task->tgid, (uint32_t)diff->n - 1);
	}
	if (task->run_ns > run_ns) {
		p->pt_ns += (int64_t)(task->run_ns - run_ns);
		p->same_cpu_ns += (int64_t)task->watched_ns;
		p->cpu = (int)task->cpu;
	}
	if (task->tick_ns > tick_ns)
		p->tick_ns += (int64_t)(task->tick_ns - tick_ns);
	memcpy(p->name, task->comm, sizeof(p->name) - 1);
	p->ppid = (pid_t)task->ppid;
	p->cgroup = task->cgroup;
	p->flags = task->flags;
	if (task->flags & RECORD_DEAD)
		p->ended = true;
	else
		p->alive = true;
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const struct process_cpu *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

void snapshot_diff_run(struct snapshot_diff *diff, const struct snapshots *snapshots)
{
	size_t kept = 0;

	keymap_reset(&diff->before, snapshots->n_before);
	keymap_reset(&diff->exits, snapshots->n_exits);
	keymap_reset(&diff->processes, 0);
	diff->n = diff->n_missing = 0;
	for (size_t i = 0; i < snapshots->n_before; i++) {
		keymap_set(&diff->before, snapshots->before[i].key, (uint32_t)i);
		diff->n_missing += is_alive(snapshots, &snapshots->before[i]);
	}
	for (size_t i = 0; i < snapshots->n_exits; i++) {
		const struct task_record *task = &snapshots->exits[i];

		if (task->tgid != snapshots->observer && add_task(diff, snapshots, task))
			keymap_set(&diff->exits, task->key, (uint32_t)i);
	}
	for (size_t i = 0; i < snapshots->n_after; i++) {
		const struct task_record *task = &snapshots->after[i];
		const uint32_t *at = keymap_find(&diff->exits, task->key);
		bool has_ended = at && snapshots->exits[*at].start_ns == task->start_ns;

		if (task->tgid != snapshots->observer && !has_ended)
			add_task(diff, snapshots, task);
	}
	for (size_t i = 0; i < diff->n; i++) {
		struct process_cpu *p = &diff->items[i];

		if (p->pt_ns <= 0 && p->tick_ns <= 0)
			continue;
		p->ended = p->ended && !p->alive;
		if (!snapshots->has_shares)
			p->same_cpu_ns = -1;
		else if (p->same_cpu_ns > p->pt_ns)
			p->same_cpu_ns = p->pt_ns;
		diff->items[kept++] = *p;
	}
	diff->n = kept;
	if (kept > 1)
		qsort(diff->items, kept, sizeof(*diff->items), by_pid);
}
