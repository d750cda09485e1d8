/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One audit: see audit.h. Showing it is in audit_print.c. */
#include "setup/audit/audit.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "setup/setup.h"

#include <errno.h>
#include <string.h>

int audit_decide(struct audit *ret, const struct facts *facts, bool all, struct error *err)
{
	struct audit audit = {.facts = facts, .all = all};

	audit.findings = calloc(n_checks, sizeof(*audit.findings));
	if (!audit.findings)
		return error_os(err, -ENOMEM, "cannot audit");
	for (size_t i = 0; i < n_checks; i++) {
		check_decide(i, facts, &audit.findings[i]);
		if (checks[i].level != 'A')
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
	for (size_t i = 0; audit->findings && i < n_checks; i++)
		finding_clear(&audit->findings[i]);
	free(audit->findings);
	*audit = (struct audit){};
}

bool audit_shows(const struct audit *audit, size_t i)
{
	return audit->all || checks[i].level != 'C';
}

bool audit_is_fit(const struct audit *audit)
{
	return audit->n_off == 0;
}

static char *fill(const char *text, const char *items)
{
	const char *place = strstr(text, "%s");

	if (!place)
		return strdup(text);
	return text_format("%.*s%s%s", (int)(place - text), text, items ?: "UNIT...", place + 2);
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
		"level", level, "step", check->step, "state", check_state_word(finding->state), "value",
		finding->value, "wanted", check->wanted, "why", check->why, "how", how, "undo", undo, "who",
		check->who);

	if (object && finding->items)
		json_object_set_new(object, "items", items_json(finding->items));
	return object;
}

json_t *audit_json(const struct audit *audit)
{
	const struct machine *m = &audit->facts->machine;
	char words[MACHINE_WORDS_SIZE];
	json_t *list = json_array();

	for (size_t i = 0; i < n_checks; i++)
		if (audit_shows(audit, i))
			json_array_append_new(list, check_json(&checks[i], &audit->findings[i]));
	return json_pack("{s:s, s:i, s:{s:s, s:b, s:b, s:b}, s:s, s:o, s:i, s:i, s:s}", "format", "emp-audit",
		"version", 1, "machine", "words", machine_words(m, words), "virtual", m->virtual, "container",
		m->container, "systemd", m->systemd, "policy", policy_name(audit->facts->policy), "checks",
		list, "off", audit->n_off, "unknown", audit->n_unknown, "verdict",
		audit_is_fit(audit) ? "fit" : "not fit");
}

static int show(const struct audit *audit, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;

	if (!options.json)
		return audit_print(audit, stdout, options.details, err);
	document = audit_json(audit);
	if (!document)
		return error_os(err, -ENOMEM, "cannot print the audit");
	return json_print(document, stdout, err);
}

int verb_audit(int argc, char **argv, struct error *err)
{
	_cleanup_(facts_clear) struct facts facts = {};
	_cleanup_(audit_clear) struct audit audit = {};
	_cleanup_(closep) int root_fd = -1;
	int r = root_open(&root_fd, err);

	if (r == 0)
		r = facts_read(&facts, root_fd, options.policy, options.within_ns, err);
	if (r == 0)
		r = audit_decide(&audit, &facts, options.all, err);
	if (r == 0)
		r = show(&audit, err);
	if (r < 0)
		return r;
	return audit_is_fit(&audit) ? STATUS_DONE : STATUS_NOT_FIT;
}
