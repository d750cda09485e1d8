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
	/* Its own name, or that of a check with whose files the kernel changes its files. */
	for (const struct check *c = check_rows; c->id; c++)
		if (text_has_word(options.only, c->id) &&
			(c == check || (c->setting.coupled_check &&
					       !strcmp(c->setting.coupled_check, check->id))))
			return true;
	return false;
}

int request_validate(struct error *err)
{
	const char *const lists[] = {options.only, options.skip};

	for (size_t i = 0; i < ELEMENTS(lists); i++)
		/* an empty list has one empty name */
		for (const char *p = lists[i]; p; p = *p ? p + 1 : NULL) {
			_cleanup_(freep) char *id = xstrndup(p, strcspn(p, ","));
			const struct check *check = check_rows_find(id);
			const char *option = i ? "--skip" : "--only";
			struct nearest nearest = {.typed = id};

			p += strlen(id);
			if (check && (check->applied || check->setting.pattern))
				continue;
			if (check)
				return error_say(err, -EINVAL,
					"%s: %s cannot be applied; do it by hand: %s", option, id,
					check->how ?: "-");
			for (size_t k = 0; k < n_check_rows; k++)
				nearest_try(&nearest, check_rows[k].id);
			return error_say(err, -EINVAL,
				"%s: there is no check '%s'%s; 'emp-setup audit --all' lists them",
				option, id, nearest_hint(&nearest, ""));
		}
	return 0;
}
