/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Controllers of cgroup v2: see cgroup_controllers.h. */
#include "lib/host/process/cgroup_controllers.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

static const char way_out[] = "put 'systemd-run --scope -p Delegate=yes' before the command";

struct cgroup_controllers {
	const char *const *names;
	const char *switched_on[CONTROLLERS_MOST]; /* those that were not passed on before */
	size_t n_switched_on;
	char *parent;        /* of the leaf: the cgroup that this process was started in */
	struct cgroup *leaf; /* that it is in now */
	bool entered;
};

static int write_text(const char *directory, const char *file, const char *text)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory, file);
	_cleanup_(closep) int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* Whether `file`, a list of controllers with blanks between them, has the name. */
static bool lists(const char *directory, const char *file, const char *name)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory, file), *list = NULL;
	char *rest;

	if (!path || text_read_file(AT_FDCWD, path, &list) < 0)
		return false;
	for (char *word = strtok_r(list, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		if (!strcmp(word, name))
			return true;
	return false;
}

static char *parent_of(const char *path)
{
	return xstrndup(path, (size_t)(strrchr(path, '/') - path));
}

/* Whether a cgroup above this one has the controller, which then was not passed on to this one. */
static bool is_above(const char *directory, const char *name)
{
	_cleanup_(freep) char *above = parent_of(directory);

	return above && *above && (lists(above, "cgroup.controllers", name) || is_above(above, name));
}

static int check_there(const char *directory, const char *name, struct error *err)
{
	if (lists(directory, "cgroup.controllers", name))
		return 0;
	if (is_above(directory, name))
		return error_say(err, -ENOTSUP, "the cgroup %s was not given the %s controller: %s",
			directory, name, way_out);
	return error_say(err, -ENOTSUP,
		"cgroup v2 has no %s controller here: it is in use by version 1, or switched off (see /proc/cgroups)",
		name);
}

static int switch_on(const char *directory, const char *name, struct error *err)
{
	_cleanup_(freep) char *plus = text_format("+%s", name);
	int r = plus ? write_text(directory, "cgroup.subtree_control", plus) : -ENOMEM;

	if (r == -EBUSY)
		return error_say(err, r,
			"the cgroup %s has other processes, so it cannot pass on the %s controller: %s",
			directory, name, way_out);
	return r < 0 ? error_os(err, r, "the cgroup %s cannot pass on the %s controller", directory, name)
		     : 0;
}

static void switch_off(const char *directory, const char *name)
{
	_cleanup_(freep) char *minus = text_format("-%s", name);

	if (minus) /* fails if another observer passes it on as well, which will end later */
		write_text(directory, "cgroup.subtree_control", minus);
}

static int enter_leaf(struct cgroup_controllers *c, struct error *err)
{
	int r = write_text(cgroup_path(c->leaf), "cgroup.procs", "0");

	if (r < 0)
		return error_os(err, r, "cannot enter the cgroup %s", cgroup_path(c->leaf));
	c->entered = true;
	return 0;
}

static int begin(struct cgroup_controllers *c, struct error *err)
{
	int r = cgroup_new(&c->leaf, err);

	if (r < 0)
		return r;
	c->parent = parent_of(cgroup_path(c->leaf));
	if (!c->parent)
		return error_oom(err);
	for (size_t i = 0; r == 0 && c->names[i]; i++)
		r = check_there(c->parent, c->names[i], err);
	if (r == 0)
		r = enter_leaf(c, err);
	for (size_t i = 0; r == 0 && c->names[i]; i++) {
		if (lists(c->parent, "cgroup.subtree_control", c->names[i]))
			continue;
		r = switch_on(c->parent, c->names[i], err);
		if (r == 0)
			c->switched_on[c->n_switched_on++] = c->names[i];
	}
	return r;
}

int cgroup_controllers_new(struct cgroup_controllers **ret, const char *const *names, struct error *err)
{
	_cleanup_(cgroup_controllers_freep) struct cgroup_controllers *c = xcalloc(1, sizeof(*c));
	int r;

	c->names = names;
	r = begin(c, err);
	if (r == 0)
		*ret = TAKE(c);
	return r;
}

int cgroup_controllers_pass_on(const struct cgroup_controllers *c, const struct cgroup *to, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && c->names[i]; i++)
		r = switch_on(cgroup_path(to), c->names[i], err);
	return r;
}

void cgroup_controllers_free(struct cgroup_controllers *c)
{
	if (!c)
		return;
	while (c->n_switched_on > 0)
		switch_off(c->parent, c->switched_on[--c->n_switched_on]);
	/* The cgroup cannot be removed with this process in it: the next observer will. */
	if (!c->entered || write_text(c->parent, "cgroup.procs", "0") == 0)
		cgroup_free(c->leaf);
	free(c->parent);
	free(c);
}

int cgroup_limit(const struct cgroup *cgroup, const char *file, int64_t value, struct error *err)
{
	_cleanup_(closep) int fd = openat(cgroup_fd(cgroup), file, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || dprintf(fd, "%" PRId64, value) < 0)
		return error_os(err, -errno, "cannot set %s of the cgroup to %" PRId64, file, value);
	return 0;
}

int64_t cgroup_oom_kills(const struct cgroup *cgroup)
{
	static const char name[] = "\noom_kill ";
	_cleanup_(freep) char *text = NULL;
	const char *at;

	if (text_read_file(cgroup_fd(cgroup), "memory.events", &text) < 0)
		return 0;
	at = strstr(text, name);
	return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}
