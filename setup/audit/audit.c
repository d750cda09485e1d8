/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb audit: gathers the facts, decides every check, shows the findings. For people that is a table, what to do
 * about each check that is off, and the verdict. */
#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "setup/audit/check_rows.h"
#include "setup/options.h"

#include <string.h>

/* Every check decided, and what follows from all of them. */
struct audit {
	struct facts facts;
	struct finding *findings; /* one for each row */
	int n_off, n_unknown;     /* of level A */
};

static void audit_clear(struct audit *audit)
{
	for (size_t i = 0; audit->findings && i < n_check_rows; i++)
		finding_clear(&audit->findings[i]);
	free(audit->findings);
	facts_clear(&audit->facts);
}

static int decide(struct audit *audit, struct error *err)
{
	audit->findings = calloc(n_check_rows, sizeof(*audit->findings));
	if (!audit->findings)
		return error_oom(err);
	for (size_t i = 0; i < n_check_rows; i++) {
		struct finding *finding = &audit->findings[i];

		check_decide(&check_rows[i], &audit->facts.files[i], &audit->facts, finding);
		if (check_rows[i].level != 'A')
			continue;
		audit->n_off += finding->state == CHECK_OFF;
		audit->n_unknown += finding->state == CHECK_UNKNOWN || finding->state == CHECK_REFUSED;
	}
	return 0;
}

static bool is_shown(size_t i)
{
	return options.all || check_rows[i].level != 'C';
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

static char *way_there(const struct check *check, const struct finding *finding)
{
	if (finding->how || (check->how && !is_applied(check)))
		return fill(finding->how ?: check->how, finding->items);
	if (check->how)
		return text_format("emp-setup apply, or %s", check->how);
	return text_format("emp-setup apply --only %s", check->id);
}

static char *way_back(const struct check *check, const struct finding *finding)
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
	_cleanup_(freep) char *how = way_there(check, finding);
	_cleanup_(freep) char *undo = way_back(check, finding);
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

static json_t *audit_json(const struct audit *audit)
{
	const struct machine *m = &audit->facts.machine;
	char text[MACHINE_DESCRIPTION_SIZE];
	json_t *list = json_array();

	for (size_t i = 0; i < n_check_rows; i++)
		if (is_shown(i))
			json_array_append_new(list, check_json(&check_rows[i], &audit->findings[i]));
	return json_pack("{s:s, s:i, s:{s:s, s:s, s:b, s:b, s:b}, s:s, s:o, s:i, s:i, s:s}", "format",
		"emp-audit", "version", 1, "machine", "description",
		terminal_text(machine_description(m, text)), "words", text, "virtual", m->virtual,
		"container", m->container, "systemd", m->systemd, "policy", policy_name(audit->facts.policy),
		"checks", list, "off", audit->n_off, "unknown", audit->n_unknown, "verdict",
		audit->n_off ? "not fit" : "fit");
}

static void print_head(const struct audit *audit)
{
	const struct machine *m = &audit->facts.machine;
	char text[MACHINE_DESCRIPTION_SIZE];

	printf("This is %s%s%s.\n", terminal_text(machine_description(m, text)), m->os_name ? " with " : "",
		terminal_text(m->os_name) ?: "");
	printf("Policy: %s (%s)\n\n", policy_name(audit->facts.policy), policy_path(audit->facts.policy));
}

static bool is_absent(enum check_state state)
{
	return state == CHECK_ABSENT || state == CHECK_BY_HOST;
}

static const char *state_word(enum check_state state)
{
	return is_absent(state) ? "n/a" : check_state_name(state);
}

static enum mark state_mark(const struct check *check, enum check_state state)
{
	if (state == CHECK_OFF && check->level == 'A')
		return MARK_BAD;
	return state == CHECK_OK ? MARK_GOOD : is_absent(state) ? MARK_FAINT : MARK_WARN;
}

/* Rows that have no line of their own: absent ones, and those that are as wanted and not of the protocol. */
static bool is_folded(const struct audit *audit, size_t i)
{
	enum check_state state = audit->findings[i].state;

	return !options.verbose && (is_absent(state) || (state == CHECK_OK && check_rows[i].level != 'A'));
}

/* Rows whose only way there is apply. */
static bool is_set_by_apply(const struct audit *audit, size_t i)
{
	const struct check *check = &check_rows[i];

	return check->level != 'A' && check->setting.pattern && !check->how && !audit->findings[i].how;
}

static int print_table(const struct audit *audit, struct error *err)
{
	static const struct column columns[] = {
		{"CHECK", COLUMN_TEXT}, {"STATE", COLUMN_TEXT}, {"FOUND", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n_check_rows; i++) {
		const struct finding *finding = &audit->findings[i];

		if (!is_shown(i) || is_folded(audit, i))
			continue;
		table_row(table);
		table_cell_text(table, check_rows[i].id);
		table_cell_text(table, state_word(finding->state));
		table_mark(table, state_mark(&check_rows[i], finding->state));
		table_cell_text(table, finding->value ?: "");
	}
	return table_print(table, stdout, err);
}

/* The ids of some rows in one paragraph. */
static void print_ids(
	const struct audit *audit, const char *label, bool (*matches)(const struct audit *, size_t))
{
	_cleanup_(freep) char *list = NULL;

	for (size_t i = 0; i < n_check_rows; i++)
		if (is_shown(i) && matches(audit, i))
			list_add(&list, ", ", check_rows[i].id);
	if (!list)
		return;
	printf("%s", label);
	terminal_wrap(stdout, list, strlen(label), 2);
}

static bool is_fine(const struct audit *audit, size_t i)
{
	return is_folded(audit, i) && audit->findings[i].state == CHECK_OK;
}

static bool is_missing(const struct audit *audit, size_t i)
{
	return audit->findings[i].state == CHECK_ABSENT;
}

static bool is_by_host(const struct audit *audit, size_t i)
{
	return audit->findings[i].state == CHECK_BY_HOST;
}

static void print_folded(const struct audit *audit)
{
	printf("\n");
	print_ids(audit, "Also as wanted:", is_fine);
	print_ids(audit, "Not applicable here:", is_missing);
	print_ids(audit,
		audit->facts.machine.container ? "Decided by the container's host:"
					       : "Decided by the VM's host, not visible here:",
		is_by_host);
}

static bool is_off_and_set(const struct audit *audit, size_t i)
{
	return audit->findings[i].state == CHECK_OFF && is_set_by_apply(audit, i) &&
	       !check_rows[i].setting.on_request;
}

static bool is_off_and_requested(const struct audit *audit, size_t i)
{
	return audit->findings[i].state == CHECK_OFF && is_set_by_apply(audit, i) &&
	       check_rows[i].setting.on_request;
}

static void print_settable(const struct audit *audit)
{
	bool any = false;

	for (size_t i = 0; i < n_check_rows; i++)
		any = any ||
		      (is_shown(i) && audit->findings[i].state == CHECK_OFF && is_set_by_apply(audit, i));
	if (any)
		printf("\n");
	print_ids(audit, "'emp-setup apply' sets:", is_off_and_set);
	print_ids(audit, "'emp-setup apply --only ID,...' sets:", is_off_and_requested);
}

static void print_field(const char *label, const char *text)
{
	fputs(label, stdout);
	terminal_wrap(stdout, text, strlen(label), strlen(label));
}

static void print_check(const struct check *check, const struct finding *finding)
{
	_cleanup_(freep) char *how = way_there(check, finding);
	_cleanup_(freep) char *undo = way_back(check, finding);

	printf("\n%s%s%s is %s%s%s\n", terminal_mark(stdout, MARK_STRONG), check->id,
		terminal_mark(stdout, MARK_END), terminal_mark(stdout, state_mark(check, finding->state)),
		state_word(finding->state), terminal_mark(stdout, MARK_END));
	print_field("  found   ", finding->value ?: "");
	print_field("  wanted  ", check->wanted);
	if (!is_absent(finding->state)) {
		print_field("  fix     ", how ?: "");
		if (strcmp(undo ?: "", CHECK_NO_UNDO) != 0)
			print_field("  undo    ", undo ?: "");
	}
	if (!options.verbose)
		return;
	print_field("  why     ", check->why);
	print_field("  advice  ", check->who);
	printf("  part    %s (level %c)\n", check->step, check->level);
}

static void print_verdict(const struct audit *audit)
{
	const struct machine *m = &audit->facts.machine;
	const char *end = terminal_mark(stdout, MARK_END);

	if (audit->n_off > 0)
		printf("\n%sNot fit%s for timing: %d of the protocol's settings %s off.\n",
			terminal_mark(stdout, MARK_BAD), end, audit->n_off, audit->n_off == 1 ? "is" : "are");
	else
		printf("\n%sFit%s for timing%s.\n", terminal_mark(stdout, MARK_GOOD), end,
			m->container || m->virtual ? "; the host was not audited" : "");
	if (audit->n_unknown)
		printf("%d of the protocol's settings could not be determined.\n", audit->n_unknown);
}

static int print(const struct audit *audit, struct error *err)
{
	int r;

	print_head(audit);
	r = print_table(audit, err);
	if (r < 0)
		return r;
	if (!options.verbose)
		print_folded(audit);
	for (size_t i = 0; i < n_check_rows; i++)
		if (is_shown(i) && (options.verbose || (audit->findings[i].state == CHECK_OFF &&
							       !is_set_by_apply(audit, i))))
			print_check(&check_rows[i], &audit->findings[i]);
	if (!options.verbose)
		print_settable(audit);
	print_verdict(audit);
	if (!options.verbose && audit->n_off > 0)
		printf("'emp-setup audit -v' says why each setting matters.\n");
	return 0;
}

int audit_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(audit_clear) struct audit audit = {};
	_cleanup_(closep) int root_fd = -1;
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r = options_root_open(&root_fd, err);

	if (r == 0)
		r = facts_read(&audit.facts, root_fd, options.policy, options.cpu, options.within_ns, err);
	if (r == 0)
		r = decide(&audit, err);
	if (r == 0 && options.json) {
		document = audit_json(&audit);
		r = json_print(document, stdout, err);
	} else if (r == 0)
		r = print(&audit, err);
	if (r < 0)
		return r;
	return audit.n_off ? STATUS_NOT_FIT : STATUS_DONE;
}
