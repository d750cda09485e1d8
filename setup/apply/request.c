/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which checks an apply is to make: see request.h. */
#include "setup/apply/request.h"

#include <errno.h>
#include <string.h>

static bool lists(const char *list, const char *id)
{
	size_t len = strlen(id);

	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == len && !strncmp(p, id, len))
			return true;
	return false;
}

/* Whether the kernel changes this check's files with those of a check in the list. */
static bool is_along(const char *list, const char *id)
{
	for (const struct check *c = check_rows; c->id; c++)
		if (c->setting.along && !strcmp(c->setting.along, id) && lists(list, c->id))
			return true;
	return false;
}

bool request_takes(const struct request *request, const struct check *check)
{
	if (!check_can_be_applied(check) || lists(request->skip, check->id))
		return false;
	if (request->only)
		return lists(request->only, check->id) || is_along(request->only, check->id);
	return !check->setting.on_request;
}

static int validate_list(const char *list, const char *option, struct error *err)
{
	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',') {
		_cleanup_(freep) char *id = strndup(p, strcspn(p, ","));
		const struct check *c = id ? check_rows_find(id) : NULL;

		if (!id)
			return error_oom(err);
		if (!c)
			return error_say(err, -EINVAL,
				"%s: there is no check '%s'; 'emp-setup audit --all' lists them", option, id);
		if (!check_can_be_applied(c))
			return error_say(err, -EINVAL, "%s: %s cannot be applied; do it by hand: %s", option,
				c->id, c->how ?: "-");
	}
	return 0;
}

int request_validate(const struct request *request, struct error *err)
{
	int r = validate_list(request->only, "--only", err);

	return r < 0 ? r : validate_list(request->skip, "--skip", err);
}
