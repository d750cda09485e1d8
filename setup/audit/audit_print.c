/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An audit for people: see audit_print.h. A table, what to do about each check that is off, the verdict. */
#include "setup/audit/audit_print.h"

#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"

#include <string.h>

static void print_head(const struct audit *audit, FILE *file)
{
	const struct machine *m = &audit->facts->machine;
	char text[MACHINE_DESCRIPTION_SIZE];

	fprintf(file, "This is %s%s%s.\n", machine_description(m, text), m->os_name ? " with " : "",
		m->os_name ?: "");
	fprintf(file, "Policy: %s (%s)\n\n", policy_name(audit->facts->policy),
		policy_path(audit->facts->policy));
}

static const char *state_word(enum check_state state)
{
	return state == CHECK_ABSENT ? "n/a" : check_state_name(state);
}

static enum mark state_mark(const struct check *check, enum check_state state)
{
	switch (state) {
	case CHECK_OK:
		return MARK_GOOD;
	case CHECK_OFF:
		return check->level == 'A' ? MARK_BAD : MARK_WARN;
	case CHECK_ABSENT:
		return MARK_FAINT;
	default:
		return MARK_WARN;
	}
}

static int print_table(const struct audit *audit, bool verbose, FILE *file, struct error *err)
{
	static const struct column columns[] = {
		{"CHECK", COLUMN_TEXT}, {"STATE", COLUMN_TEXT}, {"FOUND", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n_check_rows; i++) {
		const struct finding *finding = &audit->findings[i];

		if (!audit_shows(audit, i) || (finding->by_host && !verbose))
			continue;
		table_row(table);
		table_cell_text(table, check_rows[i].id);
		table_cell_text(table, state_word(finding->state));
		table_mark(table, state_mark(&check_rows[i], finding->state));
		table_cell_text(table, finding->value ?: "");
	}
	return table_print(table, file, err);
}

/* What only the host of this virtual machine or container decides, in one paragraph. */
static void print_by_host(const struct audit *audit, FILE *file)
{
	_cleanup_(freep) char *list = NULL;
	const char *label;

	for (size_t i = 0; i < n_check_rows; i++)
		if (audit_shows(audit, i) && audit->findings[i].by_host) {
			char *longer = text_format("%s%s%s", list ?: "", list ? ", " : "", check_rows[i].id);

			free(list);
			list = longer;
		}
	if (!list)
		return;
	label = audit->facts->machine.container ? "Decided by the container's host:"
						: "Decided by the VM's host, not visible here:";
	fprintf(file, "\n%s", label);
	terminal_wrap(file, list, strlen(label), 2);
}

static void print_field(FILE *file, const char *label, const char *text)
{
	fputs(label, file);
	terminal_wrap(file, text, strlen(label), strlen(label));
}

static void print_check(const struct check *check, const struct finding *finding, bool verbose, FILE *file)
{
	_cleanup_(freep) char *how = audit_how(check, finding);
	_cleanup_(freep) char *undo = audit_undo(check, finding);

	fprintf(file, "\n%s%s%s is %s%s%s\n", terminal_mark(file, MARK_STRONG), check->id,
		terminal_mark(file, MARK_END), terminal_mark(file, state_mark(check, finding->state)),
		state_word(finding->state), terminal_mark(file, MARK_END));
	print_field(file, "  found   ", finding->value ?: "");
	print_field(file, "  wanted  ", check->wanted);
	if (finding->state != CHECK_ABSENT) {
		print_field(file, "  fix     ", how ?: "");
		if (strcmp(undo ?: "", CHECK_NO_UNDO) != 0)
			print_field(file, "  undo    ", undo ?: "");
	}
	if (!verbose)
		return;
	print_field(file, "  why     ", check->why);
	print_field(file, "  advice  ", check->who);
	fprintf(file, "  part    %s (level %c)\n", check->step, check->level);
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
			m->container || m->virtual ? "; the host was not audited" : "");
	if (audit->n_unknown)
		fprintf(file, "%d of the protocol's settings could not be determined.\n", audit->n_unknown);
}

int audit_print(const struct audit *audit, FILE *file, bool verbose, struct error *err)
{
	int r;

	print_head(audit, file);
	r = print_table(audit, verbose, file, err);
	if (r < 0)
		return r;
	if (!verbose)
		print_by_host(audit, file);
	for (size_t i = 0; i < n_check_rows; i++)
		if (audit_shows(audit, i) && (verbose || audit->findings[i].state == CHECK_OFF))
			print_check(&check_rows[i], &audit->findings[i], verbose, file);
	print_verdict(audit, file);
	if (!verbose && !audit_is_fit(audit))
		fprintf(file, "'emp-setup audit -v' says why each setting matters.\n");
	return 0;
}
