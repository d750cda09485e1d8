/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two images and the exits between them: see snapshot_diff.h. */
#include "lib/host/accounting/snapshot_diff.h"

#include "lib/host/accounting/keymap.h"

#include <errno.h>
#include <string.h>

/* In place of an index into the before image: what became of that task is known, and its key may be
 * another's. */
static const uint32_t DONE = UINT32_MAX;

struct process {
	struct execution execution;
	bool died, alive; /* one of its tasks was seen so */
};

struct join {
	struct keymap before;    /* key -> index into images->before, or DONE */
	struct keymap exits;     /* key -> index into images->exits, the last with that key */
	struct keymap processes; /* tgid -> index into items, the last with that tgid */
	struct process *items;
	size_t n, room;
	size_t n_missing; /* of the before image, so far */
	struct execution *executions;
	size_t executions_room;
};

int join_new(struct join **ret, struct error *err)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : error_os(err, -ENOMEM, "cannot compare images of processes");
}

void join_free(struct join *join)
{
	if (!join)
		return;
	keymap_free(&join->before);
	keymap_free(&join->exits);
	keymap_free(&join->processes);
	free(join->items);
	free(join->executions);
	free(join);
}

static int add_process(struct join *join, const struct task_record *task, uint64_t before_ns)
{
	struct process *items = join->items;

	if (join->n == join->room) {
		size_t room = join->room ? 2 * join->room : 256;

		items = realloc(items, room * sizeof(*items));
		if (!items)
			return -ENOMEM;
		join->items = items;
		join->room = room;
	}
	items[join->n] = (struct process){.execution = {
						  .pid = (pid_t)task->tgid,
						  .start_ns = task->process_start_ns,
						  .started = task->process_start_ns >= before_ns,
					  }};
	return keymap_set(&join->processes, task->tgid, (uint32_t)join->n++);
}

static struct process *find_process(struct join *join, const struct task_record *task)
{
	uint32_t *at = keymap_find(&join->processes, task->tgid);

	return at && join->items[*at].execution.start_ns == task->process_start_ns ? &join->items[*at] : NULL;
}

/* Adds to the task's process what it took since `base` (NULL: since it started). */
static int add_task(
	struct join *join, const struct task_record *task, const struct task_record *base, uint64_t before_ns)
{
	uint64_t run_ns = base ? base->run_ns : 0, tick_ns = base ? base->tick_ns : 0;
	struct process *process = find_process(join, task);
	struct execution *e;
	int r;

	if (!process) {
		if (task->run_ns <= run_ns && task->tick_ns <= tick_ns)
			return 0;
		r = add_process(join, task, before_ns);
		if (r < 0)
			return r;
		process = &join->items[join->n - 1];
	}
	e = &process->execution;
	if (task->run_ns > run_ns)
		e->pt_ns += (int64_t)(task->run_ns - run_ns);
	if (task->tick_ns > tick_ns)
		e->tick_ns += (int64_t)(task->tick_ns - tick_ns);
	memcpy(e->name, task->comm, sizeof(e->name));
	e->ppid = (pid_t)task->ppid;
	e->cgroup = task->cgroup;
	e->flags = task->flags;
	if (task->flags & RECORD_DEAD)
		process->died = true;
	else
		process->alive = true;
	return 0;
}

static bool is_alive(const struct images *images, const struct task_record *task)
{
	return task->tgid != images->observer && !(task->flags & RECORD_DEAD);
}

/* What the task had in the before image (NULL: it did not live yet). False: its time before that image is
 * not known, so it cannot be counted. */
static bool take_base(struct join *join, const struct images *images, const struct task_record *task,
	const struct task_record **ret)
{
	bool is_new = task->start_ns >= images->before_ns;
	uint32_t *at = keymap_find(&join->before, task->key);
	const struct task_record *base = NULL;

	/* The start time tells a task from a later one at the same address. But a thread that executes a
	 * program takes over the older start time of its process. */
	if (at && *at != DONE && (!is_new || images->before[*at].start_ns == task->start_ns)) {
		base = &images->before[*at];
		*at = DONE;
		join->n_missing -= is_alive(images, base);
	}
	*ret = base;
	return base || is_new;
}

static int add_exit(struct join *join, const struct images *images, size_t i)
{
	const struct task_record *task = &images->exits[i], *base;
	int r;

	if (task->tgid == images->observer || !take_base(join, images, task, &base))
		return 0;
	r = add_task(join, task, base, images->before_ns);
	return r < 0 ? r : keymap_set(&join->exits, task->key, (uint32_t)i);
}

static bool has_ended(struct join *join, const struct images *images, const struct task_record *task)
{
	uint32_t *at = keymap_find(&join->exits, task->key);

	return at && images->exits[*at].start_ns == task->start_ns;
}

static int add_after(struct join *join, const struct images *images, const struct task_record *task)
{
	const struct task_record *base;

	if (task->tgid == images->observer || has_ended(join, images, task))
		return 0;
	return take_base(join, images, task, &base) ? add_task(join, task, base, images->before_ns) : 0;
}

static int add_all(struct join *join, const struct images *images)
{
	int r = keymap_reset(&join->before, images->n_before);

	if (r == 0)
		r = keymap_reset(&join->exits, images->n_exits);
	if (r == 0)
		r = keymap_reset(&join->processes, 0);
	join->n = join->n_missing = 0;
	for (size_t i = 0; r == 0 && i < images->n_before; i++) {
		r = keymap_set(&join->before, images->before[i].key, (uint32_t)i);
		join->n_missing += is_alive(images, &images->before[i]);
	}
	for (size_t i = 0; r == 0 && i < images->n_exits; i++)
		r = add_exit(join, images, i);
	for (size_t i = 0; r == 0 && i < images->n_after; i++)
		r = add_after(join, images, &images->after[i]);
	return r;
}

static int by_pid(const void *a, const void *b)
{
	const struct execution *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

int join_images(struct join *join, const struct images *images, struct executions *ret, struct error *err)
{
	int r = add_all(join, images);
	size_t n = 0;

	if (r == 0 && join->executions_room < join->n) {
		free(join->executions);
		join->executions_room = 0;
		join->executions = calloc(join->room, sizeof(*join->executions));
		if (join->executions)
			join->executions_room = join->room;
		else
			r = -ENOMEM;
	}
	if (r < 0)
		return error_os(err, r, "cannot compare images of processes");
	for (size_t i = 0; i < join->n; i++) {
		struct execution *e = &join->items[i].execution;

		e->ended = join->items[i].died && !join->items[i].alive;
		if (e->pt_ns > 0 || e->tick_ns > 0)
			join->executions[n++] = *e;
	}
	if (n > 1)
		qsort(join->executions, n, sizeof(*join->executions), by_pid);
	*ret = (struct executions){.items = join->executions, .n = n, .n_missing = join->n_missing};
	return 0;
}
