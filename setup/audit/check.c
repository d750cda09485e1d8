/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One check of an audit: see check.h. */
#include "setup/audit/check.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

const char *check_state_name(enum check_state state)
{
	static const char *const names[] = {[CHECK_OK] = "ok",
		[CHECK_OFF] = "off",
		[CHECK_ABSENT] = "absent",
		[CHECK_BY_HOST] = "absent",
		[CHECK_UNKNOWN] = "unknown",
		[CHECK_REFUSED] = "refused"};

	return names[state];
}

bool check_can_be_applied(const struct check *check)
{
	return check->applied || check->setting.pattern;
}

void finding_set(struct finding *finding, enum check_state state, const char *format, ...)
{
	_cleanup_(freep) char *value = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&value, format, ap) < 0)
		value = NULL;
	va_end(ap);
	free(finding->value);
	finding->value = text_utf8(value); /* names of files need not be */
	finding->state = state;
}

void finding_set_absent(struct finding *finding, const struct facts *f, const char *words)
{
	if (f->machine.virtual && f->frequency.n_policies == 0)
		finding_set(finding, CHECK_BY_HOST, "the host decides; not visible in a virtual machine");
	else
		finding_set(finding, CHECK_ABSENT, "%s", words);
}

bool list_has(const char *list, char separator, const char *item)
{
	size_t len = strlen(item);

	for (const char *p = list; p && *p; p += *p == separator) {
		const char *end = strchrnul(p, separator);

		if ((size_t)(end - p) == len && !strncmp(p, item, len))
			return true;
		p = end;
	}
	return false;
}

void list_add(char **list, const char *separator, const char *item)
{
	char *longer = text_format("%s%s%s", *list ?: "", *list ? separator : "", item);

	if (!longer)
		return;
	free(*list);
	*list = longer;
}

void finding_clear(struct finding *finding)
{
	free(finding->value);
	free(finding->items);
	*finding = (struct finding){};
}

char *setting_want(const struct setting *setting, const struct facts *facts, const char *path)
{
	return setting->want_of ? setting->want_of(facts, path) : xstrdup(setting->want);
}

/* A read-only /sys or /proc/sys is how a container keeps its host's settings from its processes. */
static bool is_read_only(const struct facts *f, const char *path)
{
	return f->machine.container && faccessat(f->root_fd, path, W_OK, 0) < 0 && errno == EROFS;
}

static void decide_by_files(const struct check *check, const struct setting_files *files,
	const struct facts *f, struct finding *ret)
{
	const struct setting_file *other = NULL;
	size_t n = 0;

	for (size_t i = 0; i < files->n; i++) {
		_cleanup_(freep) char *want = setting_want(&check->setting, f, files->items[i].path);

		if (want && files->items[i].value && !strcmp(want, files->items[i].value))
			continue;
		other = other ?: &files->items[i];
		n++;
	}
	if (files->n == 0 && check->setting.hardware)
		finding_set_absent(ret, f, "this machine has no such setting");
	else if (files->n == 0)
		finding_set(ret, CHECK_ABSENT, "this machine has no such setting");
	else if (!other)
		finding_set(ret, CHECK_OK, "%s", files->items[0].value);
	else if (!other->value)
		finding_set(ret, other->error == -EACCES ? CHECK_REFUSED : CHECK_UNKNOWN, "%s: %s",
			other->path, strerror(-other->error));
	else if (is_read_only(f, other->path))
		finding_set(ret, CHECK_BY_HOST, "%s; the host decides", other->value);
	else if (files->n == 1)
		finding_set(ret, CHECK_OFF, "%s", other->value);
	else
		finding_set(ret, CHECK_OFF, "%s in %zu of %zu", other->value, n, files->n);
}

void check_decide(const struct check *check, const struct setting_files *files, const struct facts *facts,
	struct finding *ret)
{
	if (check->decide)
		check->decide(facts, ret);
	else
		decide_by_files(check, files, facts, ret);
}
