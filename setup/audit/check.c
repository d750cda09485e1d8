/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One check of an audit: see check.h. */
#include "setup/audit/check.h"

#include "lib/base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

const char *check_state_name(enum check_state state)
{
	static const char *const names[] = {
		[CHECK_OK] = "ok",
		[CHECK_OFF] = "off",
		[CHECK_ABSENT] = "absent",
		[CHECK_UNKNOWN] = "unknown",
		[CHECK_REFUSED] = "refused",
	};

	return names[state];
}

bool check_can_be_applied(const struct check *check)
{
	return check->applied || check->setting.pattern;
}

static void set(struct finding *finding, enum check_state state, const char *format, va_list ap)
{
	free(finding->value);
	if (vasprintf(&finding->value, format, ap) < 0)
		finding->value = NULL;
	finding->state = state;
}

void finding_set(struct finding *finding, enum check_state state, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set(finding, state, format, ap);
	va_end(ap);
}

void finding_set_by_host(struct finding *finding, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set(finding, CHECK_ABSENT, format, ap);
	va_end(ap);
	finding->by_host = true;
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

/* A read-only /sys or /proc/sys is how a container keeps its host's settings from its processes. */
static bool is_read_only(const struct facts *f, const char *path)
{
	return f->machine.container && faccessat(f->root_fd, path, W_OK, 0) < 0 && errno == EROFS;
}

static void decide_no_files(const struct setting *setting, const struct facts *f, struct finding *ret)
{
	if (setting->hardware && f->machine.virtual && f->frequency.n_policies == 0)
		finding_set_by_host(ret, "the host decides; not visible in a virtual machine");
	else
		finding_set(ret, CHECK_ABSENT, "this machine has no such setting");
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
	if (files->n == 0)
		decide_no_files(&check->setting, f, ret);
	else if (!other)
		finding_set(ret, CHECK_OK, "%s", files->items[0].value);
	else if (!other->value)
		finding_set(ret, other->error == -EACCES ? CHECK_REFUSED : CHECK_UNKNOWN, "%s: %s",
			other->path, strerror(-other->error));
	else if (is_read_only(f, other->path))
		finding_set_by_host(ret, "%s; the host decides", other->value);
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
