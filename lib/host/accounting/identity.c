/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs and units of processes: see identity.h. It uses search trees, because an entry is made once and then only
 * looked up, for the few processes that used time in a sample. */
#include "lib/host/accounting/identity.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

struct identity {
	void *texts;     /* char *, by content */
	void *processes; /* struct process *, by pid */
	void *cgroups;   /* struct cgroup_unit *, by id */
	void *programs;  /* struct program *, by path */
	void *files;     /* struct program_file *, by file and name */
};

struct process {
	pid_t pid;
	uint64_t start_ns;
	char name[16];
	struct identified identified;
};

struct cgroup_unit {
	uint64_t id;
	const char *unit;
};

struct program {
	const char *path, *resolved;
};

struct program_file {
	uint64_t device, inode;
	const char *name;
	const char *path; /* NULL: it was not found */
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int compare_cgroups(const void *a, const void *b)
{
	const struct cgroup_unit *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_programs(const void *a, const void *b)
{
	const struct program *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int compare_files(const void *a, const void *b)
{
	const struct program_file *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct identity *identity_new(void)
{
	return xcalloc(1, sizeof(struct identity));
}

void identity_free(struct identity *identity)
{
	if (!identity)
		return;
	tdestroy(identity->texts, free);
	tdestroy(identity->processes, free);
	tdestroy(identity->cgroups, free);
	tdestroy(identity->programs, free);
	tdestroy(identity->files, free);
	free(identity);
}

const char *identity_keep(struct identity *identity, const char *text)
{
	char *const *found = tfind(text, &identity->texts, compare_texts);
	_cleanup_(freep) char *copy = NULL;

	if (found)
		return *found;
	copy = xstrdup(text);
	if (!copy || !tsearch(copy, &identity->texts, compare_texts))
		return NULL;
	return TAKE(copy);
}

const char *identity_program(struct identity *identity, const char *path)
{
	struct program key = {.path = path}, *const *found = tfind(
						     &key, &identity->programs, compare_programs);
	_cleanup_(freep) struct program *entry = NULL;
	char resolved[PATH_MAX];

	if (found)
		return (*found)->resolved;
	entry = xmalloc(sizeof(*entry));
	entry->path = identity_keep(identity, path);
	entry->resolved = realpath(path, resolved) ? identity_keep(identity, resolved) : entry->path;
	if (!entry->path || !tsearch(entry, &identity->programs, compare_programs))
		return NULL;
	return TAKE(entry)->resolved;
}

/* An overlay of several file systems shows devices of its own for files; for directories, it shows the one that the kernel knows. */
static bool is_file(const char *path, const char *directory, uint64_t device, uint64_t inode)
{
	struct stat st;

	if (stat(path, &st) < 0 || st.st_ino != inode)
		return false;
	return st.st_dev == device || (stat(directory, &st) == 0 && st.st_dev == device);
}

static const char *find_program(struct identity *identity, const char *name, uint64_t device, uint64_t inode)
{
	static const char *const places[] = {
		"/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/bin", "/sbin"};

	for (size_t i = 0; i < ELEMENTS(places); i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/%s", places[i], name);
		if (is_file(path, places[i], device, inode))
			return identity_program(identity, path);
	}
	return NULL;
}

const char *identity_program_of_file(
	struct identity *identity, const char *name, uint64_t device, uint64_t inode)
{
	struct program_file key = {.device = device, .inode = inode, .name = name}, *const *found = tfind(
											    &key,
											    &identity->files,
											    compare_files);
	_cleanup_(freep) struct program_file *entry = NULL;

	if (found)
		return (*found)->path;
	entry = xmalloc(sizeof(*entry));
	if (!*name)
		return NULL;
	*entry = key;
	entry->name = identity_keep(identity, name);
	entry->path = find_program(identity, name, device, inode);
	if (!entry->name || !tsearch(entry, &identity->files, compare_files))
		return NULL;
	return TAKE(entry)->path;
}

int identity_is_unit(const char *name)
{
	static const char *const kinds[] = {".service", ".scope", ".socket", ".mount", ".swap"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && dot > name && i < ELEMENTS(kinds); i++)
		if (!strcmp(dot, kinds[i]))
			return 1;
	return 0;
}

/* The part of `path` behind its slices, if it is a unit: the system's own, as user@1000.service is. */
static bool system_unit(const char *path, size_t len, char *ret)
{
	while (len > 0) {
		size_t n = strcspn(path + 1, "/\n");

		memcpy(ret, path + 1, n);
		ret[n] = '\0';
		if (n < 7 || strcmp(ret + n - 6, ".slice"))
			return identity_is_unit(ret);
		path += n + 1;
		len -= n + 1;
	}
	return false;
}

/* The last part of `path` that is a unit, copied to `ret`. */
static bool last_unit(const char *path, size_t len, char *ret)
{
	size_t end = len, begin;

	for (; end > 0; end = begin ? begin - 1 : 0) {
		for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
			;
		memcpy(ret, path + begin, end - begin);
		ret[end - begin] = '\0';
		if (identity_is_unit(ret))
			return true;
	}
	return false;
}

int identity_parse_cgroup(const char *text, char *ret)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *path = memmem(text, len, ":/", 2);

		if (path && (!strncmp(text, "0::", 3) || memmem(text, len, ":name=systemd:", 14))) {
			size_t left = len - (size_t)(++path - text);

			if (system_unit(path, left, ret) || last_unit(path, left, ret))
				return 1;
		}
		text += len + (text[len] == '\n');
	}
	return 0;
}

static const char *read_exe(struct identity *identity, pid_t pid)
{
	static const char deleted[] = " (deleted)";
	char path[64], exe[PATH_MAX];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, exe, sizeof(exe) - 1);
	if (len < 0)
		return NULL;
	exe[len] = '\0';
	if (len > (ssize_t)sizeof(deleted) && !strcmp(exe + len - (sizeof(deleted) - 1), deleted))
		exe[len - (ssize_t)(sizeof(deleted) - 1)] = '\0'; /* an upgrade replaced it */
	return identity_keep(identity, exe);
}

static const char *read_unit(struct identity *identity, pid_t pid)
{
	_cleanup_(freep) char *text = NULL, *found = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (text_read_file(AT_FDCWD, path, &text) < 0)
		return NULL;
	found = xstrdup(text);
	return found && identity_parse_cgroup(text, found) ? identity_keep(identity, found) : NULL;
}

static struct process *find(const struct identity *identity, pid_t pid)
{
	struct process key = {.pid = pid}, *const *found = tfind(
						   &key, &identity->processes, compare_processes);

	return found ? *found : NULL;
}

struct identified identity_of(struct identity *identity, pid_t pid, uint64_t start_ns, const char *name)
{
	struct process *process = find(identity, pid);

	if (process && process->start_ns == start_ns && !strncmp(process->name, name, sizeof(process->name)))
		return process->identified;
	if (!process) {
		process = xcalloc(1, sizeof(*process));
		if (!process)
			return (struct identified){};
		process->pid = pid;
		if (!tsearch(process, &identity->processes, compare_processes)) {
			free(process);
			return (struct identified){};
		}
	}
	process->start_ns = start_ns;
	strncpy(process->name, name, sizeof(process->name) - 1);
	process->identified = (struct identified){
		.exe = read_exe(identity, pid),
		.unit = read_unit(identity, pid),
	};
	return process->identified;
}

struct identified identity_remembered(const struct identity *identity, pid_t pid, uint64_t start_ns)
{
	const struct process *process = find(identity, pid);

	return process && process->start_ns == start_ns ? process->identified : (struct identified){};
}

void identity_forget(struct identity *identity, pid_t pid)
{
	struct process *process = find(identity, pid);

	if (!process)
		return;
	tdelete(process, &identity->processes, compare_processes);
	free(process);
}

void identity_learn_cgroup(struct identity *identity, uint64_t cgroup, const char *unit)
{
	_cleanup_(freep) struct cgroup_unit *entry = NULL;

	if (identity_cgroup_unit(identity, cgroup))
		return;
	entry = xmalloc(sizeof(*entry));
	if (!entry)
		return;
	*entry = (struct cgroup_unit){.id = cgroup, .unit = identity_keep(identity, unit)};
	if (entry->unit && tsearch(entry, &identity->cgroups, compare_cgroups))
		entry = NULL;
}

const char *identity_cgroup_unit(const struct identity *identity, uint64_t cgroup)
{
	struct cgroup_unit key = {.id = cgroup}, *const *found = tfind(
							 &key, &identity->cgroups, compare_cgroups);

	return found ? (*found)->unit : NULL;
}
