/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See request.h. */
#include "setup/apply/request.h"

#include "lib/base/tool.h"
#include "setup/options.h"

bool request_takes(const struct check *check)
{
	if ((!check->applied && !check->setting.pattern) || text_has_word(options.skip, check->id))
		return false;
	if (options.isolate >= 0 && check->setting.isolates)
		return true;
	if (!options.only)
		return !check->setting.on_request;
	/* It is named itself, or a check is with whose files the kernel changes these. */
	for (const struct check *c = check_rows; c->id; c++) {
		const char *coupled = c->setting.coupled_check;

		if (text_has_word(options.only, c->id) &&
			(c == check || (coupled && !strcmp(coupled, check->id))))
			return true;
	}
	return false;
}

/* Whether an option may name this check. */
static int validate_id(const char *option, const char *id, struct error *err)
{
	const struct check *check = check_rows_find(id);
	struct nearest nearest = {.typed = id};

	if (check && (check->applied || check->setting.pattern))
		return 0;
	if (check)
		return error_say(err, -EINVAL, "%s: %s cannot be applied; do it by hand: %s",
			option, id, check->how ?: "-");
	for (size_t i = 0; i < n_check_rows; i++)
		nearest_try(&nearest, check_rows[i].id);
	return error_say(err, -EINVAL,
		"%s: there is no check '%s'%s; 'emp-setup audit --all' lists them", option, id,
		nearest_hint(&nearest, ""));
}

/* `list`: of ids with commas between, or NULL. An empty list has one empty name. */
static int validate_list(const char *option, const char *list, struct error *err)
{
	int r = 0;

	for (const char *p = list; r == 0 && p; p = *p ? p + 1 : NULL) {
		_cleanup_(freep) char *id = xstrndup(p, strcspn(p, ","));

		p += strlen(id);
		r = validate_id(option, id, err);
	}
	return r;
}

int request_validate(struct error *err)
{
	int r = validate_list("--only", options.only, err);

	return r < 0 ? r : validate_list("--skip", options.skip, err);
}
