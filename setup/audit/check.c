/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of an audit: see check.h. */
#include "setup/audit/check.h"

#include "lib/base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

const char *check_state_word(enum check_state state)
{
	static const char *const words[] = {
		[CHECK_OK] = "ok",
		[CHECK_OFF] = "off",
		[CHECK_ABSENT] = "absent",
		[CHECK_UNKNOWN] = "unknown",
		[CHECK_REFUSED] = "refused",
	};

	return words[state];
}

void finding_set(struct finding *finding, enum check_state state, const char *format, ...)
{
	va_list ap;

	free(finding->value);
	va_start(ap, format);
	if (vasprintf(&finding->value, format, ap) < 0)
		finding->value = NULL;
	va_end(ap);
	finding->state = state;
}

void finding_add_item(struct finding *finding, const char *item)
{
	char *longer = text_format("%s%s%s", finding->items ?: "", finding->items ? " " : "", item);

	if (!longer)
		return;
	free(finding->items);
	finding->items = longer;
}

void finding_clear(struct finding *finding)
{
	free(finding->value);
	free(finding->items);
	*finding = (struct finding){};
}

char *setting_want(const struct setting *setting, const struct facts *facts, const char *path)
{
	return setting->want_of ? setting->want_of(facts, path) : strdup(setting->want);
}

/* A read-only /sys or /proc/sys is how a container keeps its host's settings from its processes. */
static bool hosts_to_decide(const struct facts *f, const char *path)
{
	return f->machine.container && faccessat(f->root_fd, path, W_OK, 0) < 0 && errno == EROFS;
}

static void decide_by_files(
	const struct check *check, const struct readings *r, const struct facts *f, struct finding *ret)
{
	const struct analysis *other = NULL;
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		_cleanup_(freep) char *want = setting_want(&check->setting, f, r->items[i].path);

		if (want && r->items[i].value && !strcmp(want, r->items[i].value))
			continue;
		other = other ?: &r->items[i];
		n++;
	}
	if (r->n == 0)
		finding_set(ret, CHECK_ABSENT, "this machine has no such setting");
	else if (!other)
		finding_set(ret, CHECK_OK, "%s", r->items[0].value);
	else if (!other->value)
		finding_set(ret, other->error == -EACCES ? CHECK_REFUSED : CHECK_UNKNOWN, "%s: %s",
			other->path, strerror(-other->error));
	else if (hosts_to_decide(f, other->path))
		finding_set(ret, CHECK_ABSENT, "%s; the host decides", other->value);
	else if (r->n == 1)
		finding_set(ret, CHECK_OFF, "%s", other->value);
	else
		finding_set(ret, CHECK_OFF, "%s in %zu of %zu", other->value, n, r->n);
}

void check_decide(size_t i, const struct facts *facts, struct finding *ret)
{
	if (checks[i].decide)
		checks[i].decide(facts, ret);
	else
		decide_by_files(&checks[i], &facts->readings[i], facts, ret);
}

void check_delayacct(const struct facts *f, struct finding *ret)
{
	if (f->delayacct < 0)
		finding_set(ret, CHECK_ABSENT, "this kernel has no kernel.task_delayacct");
	else
		finding_set(ret, CHECK_OK, "%d", (int)f->delayacct);
}
