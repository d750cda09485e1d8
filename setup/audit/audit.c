/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb audit: gathers the facts, decides every check, shows the findings. For people that is a summary or, with -v, a
 * table of all checks and what to do about those that are not as wanted; then the verdict. */
#include "lib/base/json.h"
#include "lib/base/xalloc.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "setup/audit/audit.h"
#include "setup/options.h"

#include <string.h>

/* Every check decided, and what follows from all of them. */
struct audit {
	struct facts facts;
	struct finding *findings; /* one for each row */
	int n_off, n_unknown;     /* of level A */
};

/* In JSON. */
static const char *const state_names[] = {[CHECK_OK] = "ok",
	[CHECK_OFF] = "off",
	[CHECK_ABSENT] = "absent",
	[CHECK_BY_HOST] = "absent",
	[CHECK_UNKNOWN] = "unknown",
	[CHECK_REFUSED] = "refused"};

static void audit_clear(struct audit *audit)
{
	for (size_t i = 0; audit->findings && i < n_check_rows; i++)
		finding_clear(&audit->findings[i]);
	free(audit->findings);
	facts_clear(&audit->facts);
}

static bool is_shown(size_t i)
{
	return options.all || check_rows[i].level != 'C';
}

/* The text with the items in place of %s. */
static char *fill_items(const char *text, const char *items)
{
	const char *gap = strstr(text, "%s");

	if (!gap)
		return xstrdup(text);
	return text_format("%.*s%s%s", (int)(gap - text), text, items ?: "UNIT...", gap + 2);
}

static bool is_applied(const struct check *check)
{
	return check->applied || (check->setting.pattern && !check->setting.on_request);
}

static char *way_there(const struct check *check, const struct finding *finding)
{
	if (finding->how || (check->how && !is_applied(check)))
		return fill_items(finding->how ?: check->how, finding->items);
	if (check->how)
		return text_format("emp-setup apply, or %s", check->how);
	return text_format("emp-setup apply --only %s", check->id);
}

static char *way_back(const struct check *check, const struct finding *finding)
{
	return fill_items(finding->undo ?: check->undo ?: "emp-setup restore", finding->items);
}

static json_t *check_json(const struct check *check, const struct finding *finding)
{
	_cleanup_(freep) char *how = way_there(check, finding);
	_cleanup_(freep) char *undo = way_back(check, finding);
	char level[] = {check->level, '\0'};
	const char *items = finding->items;
	json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s, s:s, s:s?, s:s?, s:s}", "id", check->id,
		"level", level, "step", check->step, "state", state_names[finding->state], "value",
		finding->value, "wanted", check->wanted, "why", check->why, "how", how, "undo", undo, "who",
		check->who);

	if (finding->state == CHECK_ABSENT || finding->state == CHECK_BY_HOST)
		json_object_set_new(object, "by_host", json_boolean(finding->state == CHECK_BY_HOST));
	if (items) {
		json_t *array = json_array();

		for (size_t len; *items; items += len, items += strspn(items, " ")) {
			len = strcspn(items, " ");
			json_array_append_new(array, json_stringn(items, len));
		}
		json_object_set_new(object, "items", array);
	}
	return object;
}

static bool is_absent_state(enum check_state state)
{
	return state == CHECK_ABSENT || state == CHECK_BY_HOST;
}

static const char *state_word(enum check_state state)
{
	return is_absent_state(state) ? "n/a" : state_names[state];
}

static enum mark state_mark(const struct check *check, enum check_state state)
{
	if (state == CHECK_OFF && check->level == 'A')
		return MARK_BAD;
	return state == CHECK_OK ? MARK_GOOD : is_absent_state(state) ? MARK_FAINT : MARK_WARN;
}

/* Not as wanted, or not known to be. */
static bool is_open_check(const struct audit *audit, size_t i)
{
	enum check_state state = audit->findings[i].state;

	return is_shown(i) && state != CHECK_OK && !is_absent_state(state);
}

/* All checks, or in the summary the open ones of some levels: then each row is one line. */
static void print_checks(const struct audit *audit, const char *levels)
{
	static const struct column columns[] = {{"CHECK", COLUMN_TEXT}, {"STATE", COLUMN_TEXT},
		{"LEVEL", COLUMN_TEXT}, {"FOUND", COLUMN_WRAP}, {}};
	enum { OTHER_COLUMNS = 32 };
	size_t width = options.verbose ? SIZE_MAX : terminal_width(stdout) - OTHER_COLUMNS;
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < n_check_rows; i++) {
		const struct finding *finding = &audit->findings[i];
		const char *found = terminal_text(finding->value) ?: "";
		char level = check_rows[i].level;
		bool fits = terminal_text_width(found) <= width;

		if (!is_shown(i) ||
			(!options.verbose && (!is_open_check(audit, i) || !strchr(levels, level))))
			continue;
		table_row(table);
		table_cell_text(table, check_rows[i].id);
		table_cell_text(table, state_word(finding->state));
		table_mark(table, state_mark(&check_rows[i], finding->state));
		table_cell_text(table, level == 'A' ? "required" : level == 'B' ? "advised" : "optional");
		table_cell(table, "%.*s%s", (int)terminal_text_fit(found, fits ? width : width - 1), found,
			fits ? "" : "…");
	}
	table_print(table, stdout);
}

static void print_check_field(const char *label, const char *text)
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
	print_check_field("  found   ", finding->value ?: "");
	print_check_field("  wanted  ", check->wanted);
	if (!is_absent_state(finding->state)) {
		print_check_field("  fix     ", how ?: "");
		if (strcmp(undo ?: "", CHECK_NO_UNDO) != 0)
			print_check_field("  undo    ", undo ?: "");
	}
	print_check_field("  why     ", check->why);
	print_check_field("  advice  ", check->who);
	printf("  part    %s (level %c)\n", check->step, check->level);
}

static void print_fitness(const struct audit *audit)
{
	const struct machine *m = &audit->facts.machine;
	const char *end = terminal_mark(stdout, MARK_END);

	if (audit->n_off > 0)
		printf("%sNot fit%s for timing: %d required setting%s off.\n",
			terminal_mark(stdout, MARK_BAD), end, audit->n_off,
			audit->n_off == 1 ? " is" : "s are");
	else
		printf("%sFit%s for timing%s.\n", terminal_mark(stdout, MARK_GOOD), end,
			m->container || m->virtual ? "; the host was not audited" : "");
	if (audit->n_unknown)
		printf("%d required setting%s could not be determined.\n", audit->n_unknown,
			audit->n_unknown == 1 ? "" : "s");
}

/* With the verdict, at most 12 lines unless more than five required settings are off. */
static void print_summary(const struct audit *audit)
{
	enum { MOST_ROWS = 6 };
	static const char others[] = "Also open, but not required: ";
	size_t n_open = 0, n_set = 0, n_ok = 0, n_host = 0, n_missing = 0;

	for (size_t i = 0; i < n_check_rows; i++) {
		const struct finding *finding = &audit->findings[i];

		if (!is_shown(i))
			continue;
		n_open += is_open_check(audit, i);
		n_set += finding->state == CHECK_OFF && !finding->how && is_applied(&check_rows[i]);
		n_ok += finding->state == CHECK_OK;
		n_missing += finding->state == CHECK_ABSENT;
		n_host += finding->state == CHECK_BY_HOST;
	}
	if (n_open > 0)
		print_checks(audit, n_open > MOST_ROWS ? "A" : "ABC");
	if (n_open > MOST_ROWS) { /* what is not required has no room for rows */
		_cleanup_(freep) char *list = NULL;

		for (size_t i = 0; i < n_check_rows; i++)
			if (is_open_check(audit, i) && check_rows[i].level != 'A')
				list_add(&list, ", ", check_rows[i].id);
		fputs(others, stdout);
		terminal_print_cut(stdout, list ?: "none", terminal_width(stdout) - strlen(others));
		putchar('\n');
	}
	if (n_set > 0)
		printf("'emp-setup apply' sets %zu of these (apply --dry-run shows what).\n", n_set);
	printf("%zu as wanted, %zu not applicable, %zu decided by the host; -v explains all.\n", n_ok,
		n_missing, n_host);
}

/* A row for each check, and what to do about those that are open; with --all about each. */
static void print_everything(const struct audit *audit)
{
	print_checks(audit, "ABC");
	for (size_t i = 0; i < n_check_rows; i++)
		if (options.all || is_open_check(audit, i))
			print_check(&check_rows[i], &audit->findings[i]);
	putchar('\n');
}

int audit_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(audit_clear) struct audit audit = {};
	_cleanup_(closep) int root_fd = -1;
	int r = options_root_open(&root_fd, err);

	if (r == 0)
		r = facts_read(&audit.facts, root_fd, options.policy, options.cpu, options.within_ns, err);
	if (r < 0)
		return r;
	audit.findings = xcalloc(n_check_rows, sizeof(*audit.findings));
	for (size_t i = 0; i < n_check_rows; i++) {
		struct finding *finding = &audit.findings[i];

		check_decide(&check_rows[i], &audit.facts.files[i], &audit.facts, finding);
		if (check_rows[i].level != 'A')
			continue;
		audit.n_off += finding->state == CHECK_OFF;
		audit.n_unknown += finding->state == CHECK_UNKNOWN || finding->state == CHECK_REFUSED;
	}
	if (options.json) {
		const struct machine *m = &audit.facts.machine;
		char text[MACHINE_DESCRIPTION_SIZE];
		json_t *list = json_array();

		for (size_t i = 0; i < n_check_rows; i++)
			if (is_shown(i))
				json_array_append_new(list, check_json(&check_rows[i], &audit.findings[i]));
		r = json_print_document("emp-audit",
			json_pack("{s:{s:s, s:s, s:b, s:b, s:b}, s:s, s:o, s:i, s:i, s:s}", "machine",
				"description", terminal_text(machine_description(m, text)), "words", text,
				"virtual", m->virtual, "container", m->container, "systemd", m->systemd,
				"policy", audit.facts.policy->name, "checks", list, "off", audit.n_off,
				"unknown", audit.n_unknown, "verdict", audit.n_off ? "not fit" : "fit"),
			err);
	} else {
		const struct machine *m = &audit.facts.machine;
		char text[MACHINE_DESCRIPTION_SIZE];

		printf("This is %s%s%s.\n", terminal_text(machine_description(m, text)),
			m->os_name ? " with " : "", terminal_text(m->os_name) ?: "");
		if (options.verbose)
			printf("Policy: %s (%s)\n", audit.facts.policy->name, audit.facts.policy->path);
		putchar('\n');
		if (options.verbose)
			print_everything(&audit);
		else
			print_summary(&audit);
		print_fitness(&audit);
	}
	if (r < 0)
		return r;
	return audit.n_off ? STATUS_NOT_FIT : STATUS_DONE;
}
