/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which records of taskstats are of one execution: see taskstats_match.h. */
#include "lib/host/accounting/taskstats_match.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *key, const void *item)
{
	unsigned int pid = *(const unsigned int *)key, other = ((const struct task_record *)item)->pid;

	return pid < other ? -1 : pid > other;
}

/* Whether the before image has what this process, which was listed, had used. Of a zombie without threads the
 * kernel tells 0, and its record may have come after we began to collect. */
static bool has_base(const struct taskstats_match *d, size_t i)
{
	const struct task_record *base = d->n_before ? bsearch(&d->exits[i].tgid, d->before, d->n_before,
							       sizeof(*d->before), compare)
						     : NULL;

	return base && (base->run_ns > 0 || i >= d->n_early);
}

/* After before_ns, and all different, so that executions with one pid stay apart. */
static void date_in_sample(const struct taskstats_match *d, struct task_record *record, size_t i)
{
	record->start_ns = record->process_start_ns = d->before_ns + i;
}

/* A key that is nobody's: what such a record tells is not counted. */
static uint64_t no_key(size_t i)
{
	return UINT64_MAX - i;
}

static void date_exit(const struct taskstats_match *d, size_t i, bool is_first)
{
	struct task_record *exit = &d->exits[i];

	exit->pid = exit->tgid;
	exit->key = exit->tgid;
	if (!is_first || !pid_list_has(d->listed, (pid_t)exit->tgid))
		date_in_sample(d, exit, i);
	else if (!has_base(d, i))
		exit->key = no_key(i);
}

/* A process whose last thread was not its first bears the name of its first. */
static int name_exits(const struct taskstats_match *d)
{
	struct keymap leaders = {};
	int r = 0;

	for (size_t i = 0; r == 0 && i < d->n_exits; i++)
		if (!d->exits[i].kind)
			r = keymap_set(&leaders, d->exits[i].tgid, (uint32_t)i);
	for (size_t i = 0; r == 0 && i < d->n_exits; i++) {
		struct task_record *exit = &d->exits[i];
		const uint32_t *leader = keymap_find(&leaders, exit->tgid);

		if (exit->kind && leader && exit->pid != exit->tgid)
			memcpy(exit->comm, d->exits[*leader].comm, sizeof(exit->comm));
	}
	keymap_free(&leaders);
	return r;
}

static int date_exits(const struct taskstats_match *d, struct keymap *last_exit)
{
	int r = keymap_reset(last_exit, d->n_exits);

	for (size_t i = 0; r == 0 && i < d->n_exits; i++) {
		struct task_record *exit = &d->exits[i];

		if (!exit->kind) {
			exit->key = no_key(i);
			continue;
		}
		date_exit(d, i, !keymap_find(last_exit, exit->tgid));
		r = keymap_set(last_exit, exit->tgid, (uint32_t)i);
	}
	return r;
}

static void date_after(
	const struct taskstats_match *d, struct task_record *task, const struct keymap *last_exit)
{
	const uint32_t *at = keymap_find(last_exit, task->tgid);
	const struct task_record *exit = at ? &d->exits[*at] : NULL;

	if (exit && (task->run_ns == 0 || task->run_ns == exit->run_ns || d->is_ending(task->tgid))) {
		task->flags |= RECORD_DEAD;
		task->key = exit->key;
		task->start_ns = task->process_start_ns = exit->start_ns;
	} else if (exit || !pid_list_has(d->listed, (pid_t)task->tgid)) {
		if (exit) /* another process with the same pid */
			task->key |= UINT64_C(1) << 32;
		date_in_sample(d, task, d->n_exits);
	}
}

int taskstats_match(const struct taskstats_match *dating, struct keymap *ret_last_exit)
{
	int r = name_exits(dating);

	if (r == 0)
		r = date_exits(dating, ret_last_exit);
	if (r < 0)
		return r;
	for (size_t i = 0; i < dating->n_after; i++)
		date_after(dating, &dating->after[i], ret_last_exit);
	return 0;
}
