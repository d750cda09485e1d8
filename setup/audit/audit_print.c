/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An audit for people: a table, what to do about each check that is off, the verdict. */
#include "setup/audit/audit.h"

#include "lib/base/table.h"
#include "lib/base/terminal.h"

#include <string.h>

static void print_head(const struct audit *audit, FILE *file)
{
	const struct machine *m = &audit->facts->machine;
	char words[MACHINE_WORDS_SIZE];

	fprintf(file, "This is %s%s%s.\n", machine_words(m, words), m->os_name ? " with " : "",
		m->os_name ?: "");
	if (m->container)
		fprintf(file,
			"What its host decides is marked absent: it cannot be seen or set from a container.\n");
	else if (m->virtual)
		fprintf(file,
			"What its host decides is marked absent: it cannot be seen or set from in here.\n");
	fprintf(file, "Policy: %s (%s)\n\n", policy_name(audit->facts->policy),
		policy_path(audit->facts->policy));
}

/* What a table's cell can hold without becoming wider than the terminal; more of it stands below the table.
 */
enum { LONGEST_CELL = 90 };

static void print_value(struct table *table, const char *value)
{
	size_t len = strlen(value);

	if (len > LONGEST_CELL)
		for (len = LONGEST_CELL; len > 0 && value[len] != ' ';)
			len--;
	table_cell(table, "%.*s%s", (int)len, value, value[len] ? " ..." : "");
}

static int print_table(const struct audit *audit, FILE *file, struct error *err)
{
	static const struct column columns[] = {{"STEP", COLUMN_TEXT}, {"CHECK", COLUMN_TEXT},
		{"STATE", COLUMN_TEXT}, {"FOUND", COLUMN_WRAP}, {"WANTED", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = NULL;
	const char *step = "";
	int r = table_new(&table, columns, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n_checks; i++) {
		if (!audit_shows(audit, i))
			continue;
		table_row(table);
		table_cell(table, "%s", strcmp(step, checks[i].step) ? checks[i].step : "");
		table_cell(table, "%s", checks[i].id);
		table_cell(table, "%s", check_state_word(audit->findings[i].state));
		print_value(table, audit->findings[i].value ?: "");
		table_cell(table, "%s", checks[i].wanted);
		step = checks[i].step;
	}
	return table_print(table, file, err);
}

static void print_check(const struct check *check, const struct finding *finding, bool details, FILE *file)
{
	_cleanup_(freep) char *how = audit_how(check, finding);
	_cleanup_(freep) char *undo = audit_undo(check, finding);

	fprintf(file, "\n%s%s%s is %s\n", terminal_mark(file, MARK_STRONG), check->id,
		terminal_mark(file, MARK_END), check_state_word(finding->state));
	fprintf(file, "  found %s\n  why   %s\n", finding->value ?: "", check->why);
	if (finding->state == CHECK_OFF || details)
		fprintf(file, "  how   %s\n  undo  %s\n", how ?: "", undo ?: "");
	if (details)
		fprintf(file, "  who   %s\n", check->who);
}

static void print_verdict(const struct audit *audit, FILE *file)
{
	const struct machine *m = &audit->facts->machine;
	const char *end = terminal_mark(file, MARK_END);

	if (!audit_is_fit(audit))
		fprintf(file, "\n%sNot fit%s for timing: %d of the protocol's settings %s off.\n",
			terminal_mark(file, MARK_BAD), end, audit->n_off, audit->n_off == 1 ? "is" : "are");
	else
		fprintf(file, "\n%sFit%s for timing%s.\n", terminal_mark(file, MARK_GOOD), end,
			m->container ? ", as far as a container can tell: its host was not audited"
			: m->virtual ? ", as far as a virtual machine can tell: its host was not audited"
				     : "");
	if (audit->n_unknown)
		fprintf(file, "%d of the settings could not be found out.\n", audit->n_unknown);
}

int audit_print(const struct audit *audit, FILE *file, bool details, struct error *err)
{
	int r;

	print_head(audit, file);
	r = print_table(audit, file, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n_checks; i++)
		if (audit_shows(audit, i) && (details || audit->findings[i].state == CHECK_OFF))
			print_check(&checks[i], &audit->findings[i], details, file);
	print_verdict(audit, file);
	return 0;
}
