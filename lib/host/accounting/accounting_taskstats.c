/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The taskstats backend, as in the papers: queries every process's times, and collects the records of those that end.
 * A record is a process here, not a thread. Taskstats has no precise start times, so records of processes that were
 * listed before the first snapshot get 0, and others a time after it. */
#include "lib/host/accounting/accounting_backend.h"

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/accounting/taskstats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Taskstats matching: which records are of the same process. */

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

void taskstats_match(const struct taskstats_match *match, struct keymap *ret_last_exit)
{
	struct keymap leaders = {};

	/* A process whose last thread was not its first has the name of its first. */
	for (size_t i = 0; i < match->n_exits; i++)
		if (!match->exits[i].kind)
			keymap_set(&leaders, match->exits[i].tgid, (uint32_t)i);
	for (size_t i = 0; i < match->n_exits; i++) {
		struct task_record *exit = &match->exits[i];
		const uint32_t *leader = keymap_find(&leaders, exit->tgid);

		if (exit->kind && leader && exit->pid != exit->tgid)
			memcpy(exit->comm, match->exits[*leader].comm, sizeof(exit->comm));
	}
	keymap_free(&leaders);

	keymap_reset(ret_last_exit, match->n_exits);
	for (size_t i = 0; i < match->n_exits; i++) {
		struct task_record *exit = &match->exits[i];

		if (!exit->kind) {
			exit->key = no_key(i);
			continue;
		}
		exit->pid = exit->tgid;
		exit->key = exit->tgid;
		if (keymap_find(ret_last_exit, exit->tgid) || !pid_list_has(match->listed, (pid_t)exit->tgid))
			start_in_sample(match, exit, i);
		else if (!has_base(match, i))
			exit->key = no_key(i);
		keymap_set(ret_last_exit, exit->tgid, (uint32_t)i);
	}
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
}

enum {
	/* The buffers hold the exits of seconds; waking up for each would disturb the program. */
	POLL_MS = 1000,
	KTHREADD = 2,
	PF_EXITING = 4,
};

struct records {
	struct task_record *items;
	size_t n, capacity;
};

/* The file that a process that ended had executed. */
struct program_file {
	uint64_t device, inode;
};

struct taskstats_backend {
	struct backend base;
	struct identity *identity;
	struct taskstats_link *link;
	int proc_fd;
	struct pid_list listed; /* when the first snapshot began */
	struct pid_list pids;   /* of the snapshot being taken */
	struct records before, after, exits;
	struct program_file *files; /* of the exits */
	size_t n_files, files_capacity;
	size_t n_early;          /* exits during the first snapshot */
	struct keymap last_exit; /* pid -> index into exits */
	bool collecting, incomplete;
	uint64_t before_ns, lost_before;
};

static struct taskstats_backend *taskstats_backend_of(struct backend *backend)
{
	return (struct taskstats_backend *)backend;
}

static void add_record(struct records *records, const struct task_record *record)
{
	struct task_record *added = array_add_reused(records->items, records->n, records->capacity);

	*added = *record;
}

struct snapshot {
	struct records *records;
	const pid_t *pids;
};

static int add_to_snapshot(void *context, size_t i, const struct taskstats_fields *fields)
{
	struct snapshot *snapshot = context;
	unsigned int tgid = (unsigned int)snapshot->pids[i];

	add_record(snapshot->records, &(struct task_record){
					      .kind = RECORD_KIND_TASK,
					      .pid = tgid,
					      .tgid = tgid,
					      .key = tgid,
					      .cpu = RECORD_NO_CPU,
					      .run_ns = fields->run_ns,
					      .tick_ns = fields->tick_ns,
				      });
	return 0;
}

static int take_snapshot(
	struct taskstats_backend *b, const struct pid_list *pids, struct records *records, struct error *err)
{
	struct snapshot snapshot = {.records = records, .pids = pids->items};
	struct taskstats_question question = {
		.scope = TASKSTATS_PROCESS,
		.pids = pids->items,
		.n = pids->n,
		.answer = add_to_snapshot,
		.context = &snapshot,
	};
	size_t missed = 0;
	int r;

	records->n = 0;
	r = taskstats_link_ask(b->link, &question, &missed, err);
	b->incomplete = b->incomplete || missed > 0;
	return r;
}

static unsigned int flags_of(const struct taskstats_fields *fields, unsigned int tgid)
{
	unsigned int flags = 0;

	if (fields->flags & TASKSTATS_FORKED)
		flags |= RECORD_FORKED;
	if (tgid == KTHREADD || fields->ppid == KTHREADD)
		flags |= RECORD_KERNEL;
	return flags;
}

/* The end of a process, with its totals; or of its first thread alone, whose name the process has. */
static int on_end(void *context, const struct taskstats_message *end)
{
	const struct taskstats_fields *thread = &end->thread;
	struct taskstats_backend *b = context;
	bool is_leader = thread->pid == thread->tgid,
	     is_last = end->has_process || thread->flags & TASKSTATS_LAST;
	struct task_record record = {
		.kind = is_last ? RECORD_KIND_TASK : 0,
		.flags = RECORD_DEAD | flags_of(thread, thread->tgid),
		.pid = thread->pid,
		.tgid = thread->tgid,
		.ppid = thread->ppid,
		.cpu = RECORD_NO_CPU,
		.run_ns = end->has_process ? end->process.run_ns : thread->run_ns,
		.tick_ns = end->has_process ? end->process.tick_ns : thread->tick_ns,
		.wait_ns = end->has_process ? RECORD_UNKNOWN /* of several threads */ : thread->wait_ns,
	};
	struct program_file *file;

	if (!is_last && !is_leader)
		return 0;
	if (!b->collecting) {
		identity_forget(b->identity, (pid_t)thread->tgid);
		return 0;
	}
	memcpy(record.comm, thread->comm, sizeof(record.comm));
	file = array_add_reused(b->files, b->n_files, b->files_capacity);
	*file = (struct program_file){.device = thread->exe_device, .inode = thread->exe_inode};
	add_record(&b->exits, &record);
	return 0;
}

static int taskstats_drain(struct backend *backend, struct error *err)
{
	return taskstats_link_receive(taskstats_backend_of(backend)->link, err);
}

/* First lists the processes, then drops the exits so far, then queries: a process that is not listed and ends later
 * has started in the sample. */
static int taskstats_before(struct backend *backend, const struct task_scope *scope, struct error *err)
{
	struct taskstats_backend *b = taskstats_backend_of(backend);
	int r = pid_list_read(&b->listed, b->proc_fd);

	if (r < 0)
		return error_os(err, r, "taskstats: cannot list the processes");
	b->collecting = false;
	b->incomplete = false;
	r = taskstats_drain(backend, err);
	if (r < 0)
		return r;
	b->collecting = true;
	b->exits.n = b->n_files = 0;
	b->lost_before = taskstats_link_lost(b->link);
	b->before_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC);
	r = take_snapshot(b, &b->listed, &b->before, err);
	if (r == 0)
		r = taskstats_drain(backend, err);
	b->n_early = b->exits.n;
	return r;
}

/* Whether the process is ending, between its record and its release. */
static bool is_ending(unsigned int pid)
{
	_cleanup_(freep) char *stat = NULL;
	unsigned int flags = 0;
	char path[64], state;
	const char *at;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (text_read_file(AT_FDCWD, path, &stat) < 0)
		return true;
	at = strrchr(stat, ')');
	return !at || sscanf(at, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2 || flags & PF_EXITING;
}

static int taskstats_after(
	struct backend *backend, struct snapshots *ret, struct usages *usages, struct error *err)
{
	struct taskstats_backend *b = taskstats_backend_of(backend);
	int r = pid_list_read(&b->pids, b->proc_fd);

	if (r < 0)
		return error_os(err, r, "taskstats: cannot list the processes");
	r = take_snapshot(b, &b->pids, &b->after, err);
	if (r == 0)
		r = taskstats_drain(backend, err);
	if (r < 0)
		return r;
	taskstats_match(
		&(struct taskstats_match){
			.listed = &b->listed,
			.before = b->before.items,
			.exits = b->exits.items,
			.after = b->after.items,
			.n_before = b->before.n,
			.n_exits = b->exits.n,
			.n_after = b->after.n,
			.n_early = b->n_early,
			.before_ns = b->before_ns,
			.is_ending = is_ending,
		},
		&b->last_exit);
	usages->lost = taskstats_link_lost(b->link) - b->lost_before;
	usages->incomplete = b->incomplete;
	*ret = (struct snapshots){
		.before = b->before.items,
		.n_before = b->before.n,
		.after = b->after.items,
		.n_after = b->after.n,
		.exits = b->exits.items,
		.n_exits = b->exits.n,
		.before_ns = b->before_ns,
		.observer = (unsigned int)getpid(),
	};
	return 0;
}

/* False if the process is gone. */
static bool ask_one(struct taskstats_backend *b, pid_t pid, struct taskstats_fields *ret)
{
	struct error ignored;

	return taskstats_link_ask_one(b->link, pid, ret, &ignored) == 0;
}

static pid_t taskstats_parent(struct backend *backend, pid_t pid)
{
	struct taskstats_fields fields;

	return ask_one(taskstats_backend_of(backend), pid, &fields) ? (pid_t)fields.ppid : 0;
}

/* A process that was alive in the second snapshot and has ended since: its record has come, or comes now. */
static void describe_by_exit(struct taskstats_backend *b, struct process_diff *p)
{
	struct error ignored;

	taskstats_drain(&b->base, &ignored);
	for (size_t i = b->exits.n; i-- > 0;) {
		const struct task_record *exit = &b->exits.items[i];

		if (exit->tgid != (unsigned int)p->pid)
			continue;
		memcpy(p->name, exit->comm, sizeof(p->name));
		p->ppid = (pid_t)exit->ppid;
		p->flags |= exit->flags;
		return;
	}
	strcpy(p->name, "unknown");
}

/* The records of a snapshot have only times. */
static void taskstats_describe(struct backend *backend, struct process_diff *p, struct identified *ret)
{
	struct taskstats_backend *b = taskstats_backend_of(backend);
	struct taskstats_fields fields;

	if (p->ended) {
		const uint32_t *at = keymap_find(&b->last_exit, (uint64_t)p->pid);

		if (at && b->files[*at].inode)
			ret->exe = identity_program_of_file(
				b->identity, p->name, b->files[*at].device, b->files[*at].inode);
		return;
	}
	if (!ask_one(b, p->pid, &fields)) {
		describe_by_exit(b, p);
		return;
	}
	memcpy(p->name, fields.comm, sizeof(p->name));
	p->ppid = (pid_t)fields.ppid;
	p->flags |= flags_of(&fields, (unsigned int)p->pid);
}

static int taskstats_poll_fd(const struct backend *backend)
{
	return -1;
}

static void taskstats_free(struct backend *backend)
{
	struct taskstats_backend *b = taskstats_backend_of(backend);

	taskstats_link_free(b->link);
	keymap_free(&b->last_exit);
	pid_list_free(&b->listed);
	pid_list_free(&b->pids);
	free(b->before.items);
	free(b->after.items);
	free(b->exits.items);
	free(b->files);
	closep(&b->proc_fd);
	free(b);
}

static const struct backend_operations operations = {
	.id = ACCOUNTING_TASKSTATS,
	.poll_ms = POLL_MS,
	.free = taskstats_free,
	.poll_fd = taskstats_poll_fd,
	.before = taskstats_before,
	.drain = taskstats_drain,
	.after = taskstats_after,
	.parent = taskstats_parent,
	.describe = taskstats_describe,
};

static void taskstats_freep(struct taskstats_backend **b)
{
	if (*b)
		taskstats_free(&(*b)->base);
}

int accounting_taskstats_new(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, struct error *err)
{
	_cleanup_(taskstats_freep) struct taskstats_backend *b = xcalloc(1, sizeof(*b));
	struct snapshots snapshots;
	struct usages usages;
	uint64_t run_ns = 0;
	int r;

	b->base.operations = &operations;
	b->identity = identity;
	b->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->proc_fd < 0)
		return error_os(err, -errno, "cannot open /proc");
	r = taskstats_link_new(&b->link, options->receive_bytes, on_end, b, err);
	if (r == 0)
		r = taskstats_before(&b->base, NULL, err);
	if (r == 0)
		r = taskstats_after(&b->base, &snapshots, &usages, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < b->after.n; i++)
		if (b->after.items[i].tgid == (unsigned int)getpid())
			run_ns = b->after.items[i].run_ns;
	if (run_ns == 0)
		return error_say(
			err, -ENOTSUP, "the kernel has no CONFIG_TASK_DELAY_ACCT, so there are no run times");
	*ret = &TAKE(b)->base;
	return 0;
}
