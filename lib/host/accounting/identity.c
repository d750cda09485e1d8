/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs and units of processes: see identity.h. It uses a search tree, because a fact is learned
 * once and then only looked up, for the few processes that used time in a sample. */
#include "lib/host/accounting/identity.h"

#include <limits.h>
#include <search.h>
#include <sys/stat.h>

enum fact_kind {
	FACT_TEXT,    /* text */
	FACT_PROCESS, /* number: pid */
	FACT_CGROUP,  /* number: id -> unit */
	FACT_PROGRAM, /* text: path -> exe, with links resolved */
	FACT_FILE,    /* number: inode, device, text: name -> exe */
};

/* Its kind, its numbers and its text tell a fact from the others. */
struct fact {
	enum fact_kind kind;
	uint64_t number, device;
	const char *text; /* behind the fact itself */
	struct identified known;
	/* of a process */
	uint64_t start_ns;
	char name[16];
};

struct identity {
	void *facts;
};

static int compare_facts(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return strcmp(x->text, y->text);
}

struct identity *identity_new(void)
{
	return xcalloc(1, sizeof(struct identity));
}

void identity_free(struct identity *identity)
{
	if (!identity)
		return;
	tdestroy(identity->facts, free);
	free(identity);
}

static struct fact *find_fact(const struct identity *identity, struct fact key)
{
	struct fact *const *found;

	key.text = key.text ?: "";
	found = tfind(&key, &identity->facts, compare_facts);
	return found ? *found : NULL;
}

static struct fact *add_fact(struct identity *identity, struct fact fact)
{
	size_t size = strlen(fact.text ?: "") + 1;
	struct fact *added = xmalloc(sizeof(*added) + size);

	fact.text = memcpy(added + 1, fact.text ?: "", size);
	*added = fact;
	xalloc_check(tsearch(added, &identity->facts, compare_facts));
	return added;
}

const char *identity_keep(struct identity *identity, const char *text)
{
	struct fact fact = {FACT_TEXT, .text = text};

	return (find_fact(identity, fact) ?: add_fact(identity, fact))->text;
}

const char *identity_program(struct identity *identity, const char *path)
{
	struct fact fact = {FACT_PROGRAM, .text = path};
	const struct fact *found = find_fact(identity, fact);
	char resolved[PATH_MAX];

	if (found)
		return found->known.exe;
	fact.known.exe = identity_keep(identity, realpath(path, resolved) ? resolved : path);
	return add_fact(identity, fact)->known.exe;
}

const char *identity_program_of_file(
	struct identity *identity, const char *name, uint64_t device, uint64_t inode)
{
	static const char *const places[] = {
		"/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/bin", "/sbin"};
	struct fact fact = {FACT_FILE, .number = inode, .device = device, .text = name};
	const struct fact *found = find_fact(identity, fact);
	struct stat st;

	if (found)
		return found->known.exe;
	if (!*name)
		return NULL;
	for (size_t i = 0; !fact.known.exe && i < ELEMENTS(places); i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/%s", places[i], name);
		/* An overlay of several file systems shows devices of its own for files; for
		 * directories, it shows the one that the kernel knows. */
		if (stat(path, &st) == 0 && st.st_ino == inode &&
			(st.st_dev == device || (stat(places[i], &st) == 0 && st.st_dev == device)))
			fact.known.exe = identity_program(identity, path);
	}
	return add_fact(identity, fact)->known.exe;
}

bool identity_is_unit(const char *name)
{
	static const char *const kinds[] = {".service", ".scope", ".socket", ".mount", ".swap"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && dot > name && i < ELEMENTS(kinds); i++)
		if (!strcmp(dot, kinds[i]))
			return true;
	return false;
}

/* Copies the unit in a path of cgroups to `ret`: what comes after the slices, if it is a unit (the
 * system's own, as user@1000.service is), or else the last part that is one. */
static bool unit_of_path(const char *path, size_t len, char *ret)
{
	const char *end = path + len, *last = NULL;
	size_t n, last_n = 0;

	for (bool in_slices = true; path < end; path += n) {
		n = strcspn(++path, "/\n");
		memcpy(ret, path, n);
		ret[n] = '\0';
		if (in_slices && n >= 7 && !strcmp(ret + n - 6, ".slice"))
			continue;
		if (identity_is_unit(ret)) {
			if (in_slices)
				return true;
			last = path;
			last_n = n;
		}
		in_slices = false;
	}
	if (last)
		memcpy(ret, last, last_n);
	ret[last_n] = '\0';
	return last;
}

bool identity_parse_cgroup(const char *text, char *ret)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *path = memmem(text, len, ":/", 2);

		if (path && (!strncmp(text, "0::", 3) || memmem(text, len, ":name=systemd:", 14)) &&
			unit_of_path(path + 1, len - (size_t)(path + 1 - text), ret))
			return true;
		text += len + (text[len] == '\n');
	}
	return false;
}

struct identified identity_of(
	struct identity *identity, pid_t pid, uint64_t start_ns, const char *name)
{
	static const char deleted[] = " (deleted)";
	struct fact key = {FACT_PROCESS, .number = (uint64_t)pid},
		    *process = find_fact(identity, key);
	_cleanup_(freep) char *cgroup = NULL, *unit = NULL;
	char path[64], exe[PATH_MAX];
	ssize_t len;

	if (process && process->start_ns == start_ns &&
		(!name || !strncmp(process->name, name, sizeof(process->name))))
		return process->known;
	if (!name)
		return (struct identified){};
	if (!process)
		process = add_fact(identity, key);
	process->start_ns = start_ns;
	snprintf(process->name, sizeof(process->name), "%s", name);
	process->known = (struct identified){};
	cgroup = path_text(AT_FDCWD, "/proc/%d/cgroup", pid);
	unit = xstrdup(cgroup ?: "");
	if (cgroup && identity_parse_cgroup(cgroup, unit))
		process->known.unit = identity_keep(identity, unit);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, exe, sizeof(exe) - 1);
	if (len < 0)
		return process->known;
	exe[len] = '\0';
	if (len > (ssize_t)sizeof(deleted) && !strcmp(exe + len - (sizeof(deleted) - 1), deleted))
		exe[len - (ssize_t)(sizeof(deleted) - 1)] = '\0'; /* an upgrade replaced it */
	process->known.exe = identity_keep(identity, exe);
	return process->known;
}

void identity_forget(struct identity *identity, pid_t pid)
{
	struct fact *process = find_fact(
		identity, (struct fact){FACT_PROCESS, .number = (uint64_t)pid});

	if (!process)
		return;
	tdelete(process, &identity->facts, compare_facts);
	free(process);
}

const char *identity_cgroup_unit(struct identity *identity, uint64_t cgroup, const char *unit)
{
	struct fact fact = {FACT_CGROUP, .number = cgroup};
	const struct fact *known = find_fact(identity, fact);

	if (!known && unit) {
		fact.known.unit = identity_keep(identity, unit);
		known = add_fact(identity, fact);
	}
	return known ? known->known.unit : NULL;
}
