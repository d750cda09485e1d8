/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a check is decided: see finding.h. */
#include "setup/audit/finding.h"

#include "setup/audit/checks.h"

#include <stdarg.h>

void finding_set(struct finding *finding, enum check_state state, const char *format, ...)
{
	_cleanup_(freep) char *value = NULL;
	va_list args;

	va_start(args, format);
	value = text_vformat(format, args);
	va_end(args);
	free(finding->value);
	finding->value = text_utf8(value); /* names of files need not be */
	finding->state = state;
}

void finding_set_absent(struct finding *finding, const struct facts *f, const char *words)
{
	if (f->machine.virtual && f->frequency.n_policies == 0)
		finding_set(finding, CHECK_BY_HOST,
			"the host decides; not visible in a virtual machine");
	else
		finding_set(finding, CHECK_ABSENT, "%s", words);
}

void finding_clear(struct finding *finding)
{
	free(finding->value);
	free(finding->items);
	free(finding->how);
	*finding = (struct finding){};
}

static void decide_by_number(
	const struct check *check, const struct facts *facts, struct finding *ret)
{
	const int64_t number = *(const int64_t *)((const char *)facts + check->number.at);
	const int sign = (number >= 0) + (number > 0);
	const enum check_state state = check->number.found[sign].state;
	const char *text = check->number.found[sign].text;

	if (state == CHECK_BY_HOST)
		finding_set_absent(ret, facts, text);
	else
		finding_set(ret, state, "%s", text);
}

static void decide_by_files(
	const struct check *check, const struct facts *facts, struct finding *ret)
{
	const struct setting_files *files = check_files(check, facts);
	const struct setting_file *other = NULL; /* the first that is not as wanted */
	size_t n = 0;

	for (size_t i = 0; i < files->n; i++) {
		const struct setting_file *file = &files->items[i];

		if (file->want && file->value && !strcmp(file->want, file->value))
			continue;
		other = other ?: file;
		n++;
	}

	if (files->n == 0 && check->setting.hardware)
		finding_set_absent(ret, facts, "this machine has no such setting");
	else if (files->n == 0)
		finding_set(ret, CHECK_ABSENT, "this machine has no such setting");
	else if (!other)
		finding_set(ret, CHECK_OK, "%s", files->items[0].value);
	else if (!other->value)
		finding_set(ret, other->error == -EACCES ? CHECK_REFUSED : CHECK_UNKNOWN, "%s: %s",
			other->path, strerror(-other->error));
	else if (files->n == 1)
		finding_set(ret, CHECK_OFF, "%s", other->value);
	else
		finding_set(ret, CHECK_OFF, "%s in %zu of %zu", other->value, n, files->n);
}

static void decide_check(const struct check *check, const struct facts *facts, struct finding *ret)
{
	if (check->of_policies && facts->frequency.n_policies == 0)
		finding_set_absent(ret, facts, "no frequency driver for this processor");
	else if (check->number.found[0].text)
		decide_by_number(check, facts, ret);
	else if (check->decide)
		check->decide(check, facts, ret);
	else
		decide_by_files(check, facts, ret);
}

void check_decide(const struct check *check, const struct facts *facts, struct finding *ret)
{
	const struct setting_files *files = check_files(
		check->files_of ? check_rows_find(check->files_of) : check, facts);
	_cleanup_(freep) char *value = NULL;

	decide_check(check, facts, ret);
	if ((ret->state != CHECK_OFF && ret->state != CHECK_REFUSED) || files->n == 0 ||
		!setting_is_of_host(facts, &files->items[0]))
		return;
	value = TAKE(ret->value);
	finding_set(ret, CHECK_BY_HOST, "%s; the host decides", value);
}
