/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One audit: see audit.h. */
#include "setup/audit/audit.h"

#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

int audit_decide(struct audit *ret, const struct facts *facts, const struct setting_files *files, bool all,
	struct error *err)
{
	struct audit audit = {.facts = facts, .all = all};

	audit.findings = calloc(n_check_rows, sizeof(*audit.findings));
	if (!audit.findings)
		return error_oom(err);
	for (size_t i = 0; i < n_check_rows; i++) {
		check_decide(&check_rows[i], &files[i], facts, &audit.findings[i]);
		if (check_rows[i].level != 'A')
			continue;
		audit.n_off += audit.findings[i].state == CHECK_OFF;
		audit.n_unknown += audit.findings[i].state == CHECK_UNKNOWN ||
				   audit.findings[i].state == CHECK_REFUSED;
	}
	*ret = audit;
	return 0;
}

void audit_clear(struct audit *audit)
{
	for (size_t i = 0; audit->findings && i < n_check_rows; i++)
		finding_clear(&audit->findings[i]);
	free(audit->findings);
	*audit = (struct audit){};
}

bool audit_shows(const struct audit *audit, size_t i)
{
	return audit->all || check_rows[i].level != 'C';
}

bool audit_is_fit(const struct audit *audit)
{
	return audit->n_off == 0;
}

static char *fill(const char *text, const char *items)
{
	const char *gap = strstr(text, "%s");

	if (!gap)
		return strdup(text);
	return text_format("%.*s%s%s", (int)(gap - text), text, items ?: "UNIT...", gap + 2);
}

static bool is_applied(const struct check *check)
{
	return check->applied || (check->setting.pattern && !check->setting.on_request);
}

char *audit_how(const struct check *check, const struct finding *finding)
{
	if (finding->how || (check->how && !is_applied(check)))
		return fill(finding->how ?: check->how, finding->items);
	if (check->how)
		return text_format("emp-setup apply, or %s", check->how);
	return text_format("emp-setup apply --only %s", check->id);
}

char *audit_undo(const struct check *check, const struct finding *finding)
{
	return fill(finding->undo ?: check->undo ?: "emp-setup restore", finding->items);
}

static json_t *items_json(const char *items)
{
	json_t *array = json_array();

	while (items && *items) {
		size_t len = strcspn(items, " ");

		json_array_append_new(array, json_stringn(items, len));
		items += len + strspn(items + len, " ");
	}
	return array;
}

static json_t *check_json(const struct check *check, const struct finding *finding)
{
	_cleanup_(freep) char *how = audit_how(check, finding);
	_cleanup_(freep) char *undo = audit_undo(check, finding);
	char level[] = {check->level, '\0'};
	json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s, s:s, s:s?, s:s?, s:s}", "id", check->id,
		"level", level, "step", check->step, "state", check_state_name(finding->state), "value",
		finding->value, "wanted", check->wanted, "why", check->why, "how", how, "undo", undo, "who",
		check->who);

	if (finding->state == CHECK_ABSENT || finding->state == CHECK_BY_HOST)
		json_object_set_new(object, "by_host", json_boolean(finding->state == CHECK_BY_HOST));
	if (finding->items)
		json_object_set_new(object, "items", items_json(finding->items));
	return object;
}

json_t *audit_json(const struct audit *audit)
{
	const struct machine *m = &audit->facts->machine;
	char text[MACHINE_DESCRIPTION_SIZE];
	json_t *list = json_array();

	for (size_t i = 0; i < n_check_rows; i++)
		if (audit_shows(audit, i))
			json_array_append_new(list, check_json(&check_rows[i], &audit->findings[i]));
	return json_pack("{s:s, s:i, s:{s:s, s:s, s:b, s:b, s:b}, s:s, s:o, s:i, s:i, s:s}", "format",
		"emp-audit", "version", 1, "machine", "description", machine_description(m, text), "words",
		text, "virtual", m->virtual, "container", m->container, "systemd", m->systemd, "policy",
		policy_name(audit->facts->policy), "checks", list, "off", audit->n_off, "unknown",
		audit->n_unknown, "verdict", audit_is_fit(audit) ? "fit" : "not fit");
}
