/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matching records of taskstats: see taskstats_match.h. */
#include "lib/host/accounting/taskstats_match.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *key, const void *item)
{
	unsigned int pid = *(const unsigned int *)key, other = ((const struct task_record *)item)->pid;

	return pid < other ? -1 : pid > other;
}

/* Whether the first snapshot has what this process, which was listed, had used. The kernel reports 0 for a zombie
 * without threads, whose record may have come after the collection began. */
static bool has_base(const struct taskstats_match *m, size_t i)
{
	const struct task_record *base = m->n_before ? bsearch(&m->exits[i].tgid, m->before, m->n_before,
							       sizeof(*m->before), compare)
						     : NULL;

	return base && (base->run_ns > 0 || i >= m->n_early);
}

/* Times after before_ns, all different, so that processes with the same pid stay apart. */
static void start_in_sample(const struct taskstats_match *m, struct task_record *record, size_t i)
{
	record->start_ns = record->process_start_ns = m->before_ns + i;
}

/* A key that no other record has: the record is then not counted. */
static uint64_t no_key(size_t i)
{
	return UINT64_MAX - i;
}

int taskstats_match(const struct taskstats_match *match, struct keymap *ret_last_exit)
{
	int r;
	struct keymap leaders = {};

	/* A process whose last thread was not its first has the name of its first. */
	r = 0;
	for (size_t i = 0; r == 0 && i < match->n_exits; i++)
		if (!match->exits[i].kind)
			r = keymap_set(&leaders, match->exits[i].tgid, (uint32_t)i);
	for (size_t i = 0; r == 0 && i < match->n_exits; i++) {
		struct task_record *exit = &match->exits[i];
		const uint32_t *leader = keymap_find(&leaders, exit->tgid);

		if (exit->kind && leader && exit->pid != exit->tgid)
			memcpy(exit->comm, match->exits[*leader].comm, sizeof(exit->comm));
	}
	keymap_free(&leaders);

	if (r == 0) {
		r = keymap_reset(ret_last_exit, match->n_exits);
		for (size_t i = 0; r == 0 && i < match->n_exits; i++) {
			struct task_record *exit = &match->exits[i];

			if (!exit->kind) {
				exit->key = no_key(i);
				continue;
			}

			bool is_first = !keymap_find(ret_last_exit, exit->tgid);
			struct task_record *match_exit = &match->exits[i];

			match_exit->pid = match_exit->tgid;
			match_exit->key = match_exit->tgid;
			if (!is_first || !pid_list_has(match->listed, (pid_t)match_exit->tgid))
				start_in_sample(match, match_exit, i);
			else if (!has_base(match, i))
				match_exit->key = no_key(i);
			r = keymap_set(ret_last_exit, exit->tgid, (uint32_t)i);
		}
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < match->n_after; i++) {
		struct task_record *task = &match->after[i];
		const uint32_t *at = keymap_find(ret_last_exit, task->tgid);
		const struct task_record *exit = at ? &match->exits[*at] : NULL;

		if (exit &&
			(task->run_ns == 0 || task->run_ns == exit->run_ns || match->is_ending(task->tgid))) {
			task->flags |= RECORD_DEAD;
			task->key = exit->key;
			task->start_ns = task->process_start_ns = exit->start_ns;
		} else if (exit || !pid_list_has(match->listed, (pid_t)task->tgid)) {
			if (exit) /* another process with the same pid */
				task->key |= UINT64_C(1) << 32;
			start_in_sample(match, task, match->n_exits);
		}
	}
	return 0;
}
