/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives the cgroups of a load's workers the controllers of cgroup v2 that their limits need, "cpu"
 * and "memory": see cgroup_limits.h.
 *
 * A cgroup passes a controller on to its children only if it has no processes of its own (the root
 * cgroup aside). So, until the limits end, this process is in a child of the cgroup that it was
 * started in, and that one passes the controllers on. */
#include "lib/load/cgroup_limits.h"

enum { N_CONTROLLERS = 2 };

struct load_limits {
	const char *names[N_CONTROLLERS + 1]; /* those that are needed; ends with NULL */
	bool switched_on[N_CONTROLLERS];      /* it was not passed on before */
	char *parent;                         /* the cgroup that this process was started in */
	struct cgroup *leaf;                  /* a child of it, that the process is in now */
	bool entered;
};

static const char way_out[] = "put 'systemd-run --scope -p Delegate=yes' before the command";

static bool lists_controller(const char *directory, const char *file, const char *name)
{
	_cleanup_(freep) char *list = path_text(AT_FDCWD, "%s/%s", directory, file);

	for (char *rest = list, *word; (word = strsep(&rest, " "));)
		if (!strcmp(word, name))
			return true;
	return false;
}

/* Switches a controller for the children of a cgroup on ("+cpu") or off ("-cpu"). */
static int switch_controller(const char *directory, char sign, const char *name, struct error *err)
{
	const char *change = text_brief("%c%s", sign, name);
	int r = path_write(AT_FDCWD, change, "%s/cgroup.subtree_control", directory);

	if (r == -EBUSY)
		return error_say(err, r,
			"the cgroup %s has other processes, so it cannot pass on the %s "
			"controller: %s",
			directory, name, way_out);
	if (r < 0)
		return error_os(
			err, r, "the cgroup %s cannot pass on the %s controller", directory, name);
	return 0;
}

/* A controller that the parent does not have: one above it has the controller and does not pass it
 * on, or none has. */
static int controller_missing(const char *parent, const char *name, struct error *err)
{
	_cleanup_(freep) char *above = xstrdup(parent);

	while (*above) {
		*strrchr(above, '/') = '\0';
		if (lists_controller(above, "cgroup.controllers", name))
			return error_say(err, -ENOTSUP,
				"the cgroup %s was not given the %s controller: %s", parent, name,
				way_out);
	}
	return error_say(err, -ENOTSUP,
		"cgroup v2 has no %s controller here: it is in use by version 1, or switched off "
		"(see /proc/cgroups)",
		name);
}

static int pass_on_from_parent(struct load_limits *l, struct error *err)
{
	int r = cgroup_new(&l->leaf, NULL, err);

	if (r < 0)
		return r;
	l->parent = xstrndup(l->leaf->path, (size_t)(strrchr(l->leaf->path, '/') - l->leaf->path));
	for (size_t i = 0; l->names[i]; i++)
		if (!lists_controller(l->parent, "cgroup.controllers", l->names[i]))
			return controller_missing(l->parent, l->names[i], err);

	r = path_write(l->leaf->fd, "0", "cgroup.procs");
	if (r < 0)
		return error_os(err, r, "cannot enter the cgroup %s", l->leaf->path);
	l->entered = true;

	for (size_t i = 0; l->names[i]; i++) {
		if (lists_controller(l->parent, "cgroup.subtree_control", l->names[i]))
			continue;
		r = switch_controller(l->parent, '+', l->names[i], err);
		if (r < 0)
			return r;
		l->switched_on[i] = true;
	}
	return 0;
}

int load_limits_begin(struct load_limits **ret, const struct load *load, struct error *err)
{
	struct load_limits *l;
	bool cpu = false, memory = false;
	size_t n = 0;
	int r;

	*ret = NULL;
	for (size_t i = 0; i < load->n_scripts; i++) {
		cpu |= load->scripts[i].weight != 0;
		memory |= load->scripts[i].memory != 0;
	}
	if (!cpu && !memory)
		return 0;
	l = xcalloc(1, sizeof(*l));
	if (cpu)
		l->names[n++] = "cpu";
	if (memory)
		l->names[n++] = "memory";
	r = pass_on_from_parent(l, err);
	if (r < 0) {
		load_limits_end(l);
		return error_prefix(err, r, "the slaves cannot be limited");
	}
	*ret = l;
	return 0;
}

int load_limits_pass_on(const struct load_limits *l, const struct cgroup *to, struct error *err)
{
	int r = 0;

	for (size_t i = 0; l && r == 0 && l->names[i]; i++)
		r = switch_controller(to->path, '+', l->names[i], err);
	return r;
}

void load_limits_end(struct load_limits *l)
{
	if (!l)
		return;
	/* fails if another observer passes it on as well, which will end later */
	for (size_t i = 0; i < N_CONTROLLERS; i++)
		if (l->switched_on[i])
			switch_controller(l->parent, '-', l->names[i], NULL);
	/* The cgroup cannot be removed with this process in it: the next observer will. */
	if (!l->entered || path_write(AT_FDCWD, "0", "%s/cgroup.procs", l->parent) == 0)
		cgroup_free(l->leaf);
	free(l->parent);
	free(l);
}
