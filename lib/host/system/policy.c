/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The policy on daemons: see policy.h.
 *
 * Rules stay in the order of the files, those of an included policy last; the first that matches a
 * unit counts. What must never be touched comes before everything else; the part that keeps a
 * machine usable is built in, so that no file can remove it. */
#include "lib/host/system/policy.h"

#include "lib/base/ini_file.h"
#include "lib/host/process/subprocess.h"

#include <fnmatch.h>
#include <limits.h>

enum { MOST_INCLUDES = 8 };

enum rule_kind {
	RULE_STOP,
	RULE_KEEP,
	RULE_NEVER,
	RULE_ASK,
	RULE_LOSES,
	RULE_PROCESS,
	RULE_REQUEST
};

static const char PROTECTED[] = "protected"; /* the policy that is part of all */

struct policy_rule {
	enum rule_kind kind;
	char *name; /* of a unit, may be a pattern; or of a process */
	char *text; /* why; or the process's unit */
};

static const struct {
	const char *unit, *why;
} NEVER[] = {
	{"systemd-*.service", "part of systemd"},
	{"systemd-*.socket", "part of systemd"},
	{"systemd-*.path", "part of systemd"},
	{"dbus*", "the message bus of the system"},
	{"emp-*", "EMP itself"},
	{"ssh.*", "remote login"},
	{"ssh@*", "remote login"},
	{"sshd*", "remote login"},
	{"*getty@*", "remote login"},
	{"user@*", "user sessions"},
	{"user-runtime-dir@*", "user sessions"},
	{"udev*", "device management"},
};

void policy_free(struct policy *policy)
{
	if (!policy)
		return;
	for (size_t i = 0; i < policy->n_rules; i++) {
		free(policy->rules[i].name);
		free(policy->rules[i].text);
	}
	free(policy->rules);
	free(policy->name);
	free(policy->path);
	free(policy->include);
	free(policy->floor);
	free(policy);
}

/* The first rule of this kind whose pattern matches. */
static const char *find_rule(const struct policy *policy, enum rule_kind kind, const char *unit)
{
	for (size_t i = 0; i < policy->n_rules; i++)
		if (policy->rules[i].kind == kind && fnmatch(policy->rules[i].name, unit, 0) == 0)
			return policy->rules[i].text;
	return NULL;
}

const char *policy_never(const struct policy *policy, const char *unit)
{
	for (size_t i = 0; i < ELEMENTS(NEVER); i++)
		if (fnmatch(NEVER[i].unit, unit, 0) == 0)
			return NEVER[i].why;
	return find_rule(policy, RULE_NEVER, unit);
}

const char *policy_requested(const struct policy *policy, size_t n)
{
	for (size_t i = 0; i < policy->n_rules; i++)
		if (policy->rules[i].kind == RULE_REQUEST && n-- == 0)
			return policy->rules[i].name;
	return NULL;
}

bool policy_requests(const struct policy *policy, const char *unit)
{
	const char *name;

	for (size_t i = 0; (name = policy_requested(policy, i)); i++)
		if (!strcmp(name, unit))
			return true;
	return false;
}

int policy_request(struct policy *policy, const char *names, struct error *err)
{
	/* an empty list has one empty name */
	for (const char *p = names; p; p = *p ? p + 1 : NULL) {
		_cleanup_(freep) char *name = xstrndup(p, strcspn(p, ","));

		p += strlen(name);
		if (!*name || strpbrk(name, "*?[/ "))
			return error_say(err, -EINVAL, "'%s' is not the name of a unit", name);
		*array_add(policy->rules, policy->n_rules) = (struct policy_rule){RULE_REQUEST,
			text_format("%s%s", name, strchr(name, '.') ? "" : ".service"),
			xstrdup("")};
	}
	return 0;
}

const char *policy_ask(const struct policy *policy, const char *unit)
{
	if (policy_requests(policy, unit))
		return NULL;
	for (size_t i = 0; i < policy->n_rules; i++) {
		const struct policy_rule *rule = &policy->rules[i];

		if (rule->kind == RULE_STOP && !strcmp(rule->name, unit))
			return NULL;
		if (rule->kind == RULE_ASK && fnmatch(rule->name, unit, 0) == 0)
			return rule->text;
	}
	return NULL;
}

const char *policy_protects(const struct policy *policy, const char *unit)
{
	const char *why = policy_never(policy, unit);

	if (why || policy_requests(policy, unit))
		return why;
	return find_rule(policy, RULE_KEEP, unit) ?: policy_ask(policy, unit);
}

const char *policy_stop(const struct policy *policy, const char *unit)
{
	if (policy_protects(policy, unit))
		return NULL;
	return policy_requests(policy, unit) ? "asked for by name"
					     : find_rule(policy, RULE_STOP, unit);
}

const char *policy_loses(const struct policy *policy, const char *unit)
{
	return find_rule(policy, RULE_LOSES, unit) ?: find_rule(policy, RULE_ASK, unit);
}

bool policy_knows(const struct policy *policy, const char *unit)
{
	return policy_never(policy, unit) || find_rule(policy, RULE_KEEP, unit) ||
	       find_rule(policy, RULE_STOP, unit);
}

const char *policy_unit_of_process(const struct policy *policy, const char *process)
{
	enum { KERNEL_NAME = 15 /* the kernel keeps so many characters of a name */ };
	const char *unit = find_rule(policy, RULE_PROCESS, process);

	for (size_t i = 0; !unit && i < policy->n_rules; i++) {
		const char *name = policy->rules[i].name;
		size_t len = strlen(name), end = strlen(".service");

		if (policy->rules[i].kind != RULE_STOP || len <= end ||
			strcmp(name + len - end, ".service"))
			continue;
		len = len - end < KERNEL_NAME ? len - end : KERNEL_NAME;
		if (strlen(process) == len && !strncmp(name, process, len))
			unit = name;
	}
	return unit && policy_stop(policy, unit) ? unit : NULL;
}

static int take_policy_line(const struct ini_line *line, void *data, struct error *err)
{
	static const struct {
		const char *section;
		enum rule_kind kind;
	} kinds[] = {{"stop", RULE_STOP}, {"keep", RULE_KEEP}, {"never", RULE_NEVER},
		{"ask", RULE_ASK}, {"loses", RULE_LOSES}, {"processes", RULE_PROCESS}};
	struct policy *policy = data;
	const char *section = line->section, *name = line->name;
	char **value;

	for (size_t i = 0; i < ELEMENTS(kinds); i++) {
		if (strcmp(section, kinds[i].section))
			continue;
		if (kinds[i].kind != RULE_PROCESS && !strchr(name, '.') && !strchr(name, '*'))
			return error_say(err, -EINVAL,
				"'%s' in [%s] is not a unit: write '%s.service' or the like", name,
				section, name);
		*array_add(policy->rules, policy->n_rules) = (struct policy_rule){
			kinds[i].kind, xstrdup(name), xstrdup(line->value)};
		return 0;
	}
	if (!strcmp(section, "policy") && !strcmp(name, "include"))
		value = &policy->include;
	else if (!strcmp(section, "kernel") && !strcmp(name, "floor"))
		value = &policy->floor;
	else
		return error_say(err, -EINVAL, "unknown setting '%s' in [%s]", name, section);
	free(*value);
	*value = xstrdup(line->value);
	return 0;
}

int policy_parse(struct policy **ret, const char *text, const char *where, struct error *err)
{
	_cleanup_(policy_freep) struct policy *policy = xcalloc(1, sizeof(*policy));
	int r = ini_each_line(text, where, take_policy_line, policy, err);

	if (r < 0)
		return r;
	*ret = TAKE(policy);
	return 0;
}

/* The file of a policy: a path as it is, a name in the first directory that has it. The caller
 * frees it. */
static char *policy_file(const char *const *directories, const char *name)
{
	if (strchr(name, '/'))
		return xstrdup(name);
	for (; *directories; directories++) {
		char *path = text_format("%s/%s.ini", *directories, name);

		if (access(path, F_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

/* They come after ours. */
static void take_rules(struct policy *policy, struct policy *from)
{
	for (size_t i = 0; i < from->n_rules; i++)
		*array_add(policy->rules, policy->n_rules) = from->rules[i];
	from->n_rules = 0;
}

static int load_named(struct policy **ret, const char *const *directories, const char *name,
	int depth, struct error *err)
{
	_cleanup_(policy_freep) struct policy *policy = NULL, *included = NULL;
	_cleanup_(freep) char *path = policy_file(directories, name), *text = NULL;
	int r;

	if (!path)
		return error_say(err, -ENOENT, "there is no policy '%s' in %s%s%s", name,
			directories[0], directories[1] ? " or " : "", directories[1] ?: "");
	r = file_read_text(path, &text);
	if (r < 0)
		return error_os(err, r, "cannot read the policy %s", path);
	r = policy_parse(&policy, text, path, err);
	if (r < 0)
		return r;
	policy->name = text_utf8(name);
	policy->path = TAKE(path);
	if (policy->include && depth == MOST_INCLUDES)
		return error_say(
			err, -ELOOP, "%s: policies include each other in a cycle", policy->path);
	if (policy->include) {
		r = load_named(&included, directories, policy->include, depth + 1, err);
		if (r < 0)
			return r;
		take_rules(policy, included);
		if (!policy->floor)
			policy->floor = TAKE(included->floor);
	}
	*ret = TAKE(policy);
	return 0;
}

/* For one of the distributions that this one is or is like: "ID-VERSION", "ID-MAJOR", "ID", or the
 * newest "ID-…". A name from os-release is never a path. */
static char *name_for(
	const char *const *directories, const char *id, size_t id_len, const char *version)
{
	int major = version ? (int)strcspn(version, ".") : 0;
	char *found = NULL, *names[] = {text_format("%.*s-%s", (int)id_len, id, version ?: ""),
				    text_format("%.*s-%.*s", (int)id_len, id, major, version ?: ""),
				    xstrndup(id, id_len)};

	for (size_t i = 0; i < ELEMENTS(names); i++) {
		_cleanup_(freep) char *name = names[i];
		_cleanup_(freep) char *path = NULL;

		if (!found && !strchr(name, '/'))
			path = policy_file(directories, name);
		if (path)
			found = TAKE(name);
	}
	for (; !found && *directories; directories++) {
		_cleanup_(closedirp) DIR *dir = opendir(*directories);
		struct dirent *entry;

		while (dir && (entry = readdir(dir))) {
			const char *name = entry->d_name;
			size_t len = strlen(name);

			if (len < id_len + 6 || strncmp(name, id, id_len) || name[id_len] != '-' ||
				strcmp(name + len - 4, ".ini") ||
				(found && strverscmp(name, found) < 0))
				continue;
			free(found);
			found = xstrndup(name, len - 4);
		}
	}
	return found;
}

/* The administrator's, then those of the build tree of this program, or the installed ones. */
static const char *const *policy_directories(void)
{
	static char shipped[PATH_MAX];
	static const char *const directories[] = {"/etc/emp/policies", shipped, NULL};
	_cleanup_(freep) char *common = suite_path("profiles", EMP_PROFILE_DIR, "common.ini");

	snprintf(shipped, sizeof(shipped), "%.*s", (int)(strrchr(common, '/') - common), common);
	return directories;
}

int policy_load(struct policy **ret, const char *const *directories, const char *name,
	const struct machine *m, struct error *err)
{
	_cleanup_(policy_freep) struct policy *policy = NULL, *protected = NULL;
	_cleanup_(freep) char *chosen = text_copy(name);
	_cleanup_(freep) char *path = NULL;
	const char *like = m->os_like;
	bool own = !directories; /* then it must be there */
	int r;

	directories = directories ?: policy_directories();
	if (!chosen && m->os_id)
		chosen = name_for(directories, m->os_id, strlen(m->os_id), m->os_version);
	for (size_t len; !chosen && like && *like; like += len, like += strspn(like, " ")) {
		len = strcspn(like, " ");
		chosen = name_for(directories, like, len, m->os_version);
	}
	r = load_named(&policy, directories, chosen ?: "common", 0, err);
	if (r < 0)
		return r;
	path = policy_file(directories, PROTECTED);
	if (path || own)
		r = load_named(&protected, directories, PROTECTED, 0, err);
	if (r < 0)
		return r;
	if (protected)
		take_rules(policy, protected);
	*ret = TAKE(policy);
	return 0;
}
