/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb audit: gathers the facts, decides every check, shows the findings. For people that is a
 * summary or, with -v, a table of all checks and what to do about those that are not as wanted;
 * then the verdict. */
#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/host/process/subprocess.h"
#include "setup/audit/checks.h"
#include "setup/audit/facts.h"
#include "setup/audit/finding.h"
#include "setup/options.h"

#include <grp.h>
#include <sys/xattr.h>

/* Every check decided, and what follows from all of them. */
struct audit {
	struct facts facts;
	struct finding *findings; /* one for each row */
	int n_off, n_unknown;     /* of level A */
	/* of those that are shown: open, and in each state */
	size_t n_open, n_of[CHECK_REFUSED + 1];
	size_t n_set; /* that are off, and that apply sets */
};

/* In JSON, and for people. */
static const struct {
	const char *name, *word;
	enum mark mark;
	bool absent, open; /* open: not as wanted, or not known to be */
} states[] = {[CHECK_OK] = {"ok", "ok", MARK_GOOD},
	[CHECK_OFF] = {"off", "off", MARK_WARN, .open = true},
	[CHECK_ABSENT] = {"absent", "n/a", MARK_FAINT, .absent = true},
	[CHECK_BY_HOST] = {"absent", "n/a", MARK_FAINT, .absent = true},
	[CHECK_UNKNOWN] = {"unknown", "unknown", MARK_WARN, .open = true},
	[CHECK_REFUSED] = {"refused", "refused", MARK_WARN, .open = true}};

static void audit_clear(struct audit *audit)
{
	for (size_t i = 0; audit->findings && i < n_check_rows; i++)
		finding_clear(&audit->findings[i]);
	free(audit->findings);
	facts_clear(&audit->facts);
}

/* How to get to what is wanted, and back, where the check has not said it itself. */
static void complete_finding(const struct check *check, struct finding *f)
{
	const bool settable = check->applied || check->setting.pattern;
	const bool applied = settable && !check->setting.on_request;

	if (!f->how && f->state == CHECK_REFUSED) {
		f->how = xstrdup(geteuid() == 0 ? "look at it where the kernel allows it"
						: "run emp-setup audit as root, which can read it");
		f->undo = CHECK_NO_UNDO;
	}
	if (!f->how && check->how)
		f->how = text_format("%s%s", applied ? "emp-setup apply, or " : "", check->how);
	else if (!f->how)
		f->how = text_format("emp-setup apply --only %s", check->id);
	if (!f->undo)
		f->undo = check->undo;
	if (!f->undo)
		f->undo = settable ? "emp-setup restore" : CHECK_NO_UNDO;
}

/* Decides every check, and completes the findings. */
static void audit_decide(struct audit *audit)
{
	audit->findings = xcalloc(n_check_rows, sizeof(*audit->findings));
	for (size_t i = 0; i < n_check_rows; i++) {
		const struct check *check = &check_rows[i];
		struct finding *f = &audit->findings[i];
		bool applied = (check->applied || check->setting.pattern) &&
			       !check->setting.on_request;

		check_decide(check, &audit->facts, f);
		f->shown = options.all || check->level != 'C';
		f->open = f->shown && states[f->state].open;
		if (check->level == 'A') {
			audit->n_off += f->state == CHECK_OFF;
			audit->n_unknown += f->open && f->state != CHECK_OFF;
		}
		audit->n_open += f->open;
		audit->n_of[f->state] += f->shown;
		audit->n_set += f->shown && f->state == CHECK_OFF && !f->how && applied;
		complete_finding(check, f);
	}
}

static json_t *check_json(const struct check *check, const struct finding *finding)
{
	const char *items = finding->items;
	json_t *object, *array = items ? json_array() : NULL;

	object = JSON_OBJECT({"id", json_text(check->id)},
		{"level", json_stringn(&check->level, 1)}, {"step", json_text(check->step)},
		{"state", json_text(states[finding->state].name)},
		{"value", json_text(finding->value)}, {"wanted", json_text(check->wanted)},
		{"why", json_text(check_why(check))}, {"how", json_text(finding->how)},
		{"undo", json_text(finding->undo)}, {"who", json_text(check->who)});
	if (states[finding->state].absent)
		json_object_set_new(
			object, "by_host", json_boolean(finding->state == CHECK_BY_HOST));
	for (size_t len; items && *items; items += len, items += strspn(items, " ")) {
		len = strcspn(items, " ");
		json_array_append_new(array, json_stringn(items, len));
	}
	if (array)
		json_object_set_new(object, "items", array);
	return object;
}

static enum mark state_mark(const struct check *check, enum check_state state)
{
	return state == CHECK_OFF && check->level == 'A' ? MARK_BAD : states[state].mark;
}

static const char *level_name(char level)
{
	if (level == 'A')
		return "required";
	return level == 'B' ? "advised" : "optional";
}

/* What is found; in the summary, what keeps the machine from being fit has the way out beside it.
 * The caller frees it. */
static char *found_text(const struct check *check, const struct finding *finding)
{
	static const char apply[] = "emp-setup apply"; /* what it sets has a line below */
	const bool grave = !options.verbose && check->level == 'A' && finding->state == CHECK_OFF;

	if (grave && strncmp(finding->how, apply, strlen(apply)) != 0)
		return text_format("%s; fix: %s", finding->value ?: "", finding->how);
	return xstrdup(finding->value ?: "");
}

/* All checks, or in the summary the open ones of some levels. */
static void print_checks(const struct audit *audit, const char *levels)
{
	static const struct column columns[] = {{"CHECK", COLUMN_TEXT}, {"STATE", COLUMN_TEXT},
		{"LEVEL", COLUMN_TEXT}, {"FOUND", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < n_check_rows; i++) {
		const struct check *check = &check_rows[i];
		const struct finding *finding = &audit->findings[i];
		_cleanup_(freep) char *found = NULL;

		if (!finding->shown)
			continue;
		if (!options.verbose && (!finding->open || !strchr(levels, check->level)))
			continue;
		found = found_text(check, finding);
		table_row(table, columns, TEXT(check->id),
			TEXT(states[finding->state].word,
				.mark = state_mark(check, finding->state)),
			TEXT(level_name(check->level)), TEXT(found));
	}
	table_print(table, stdout);
}

static void print_check(const struct check *check, const struct finding *finding)
{
	const char *how = finding->how, *undo = finding->undo;
	bool absent = states[finding->state].absent;
	const struct {
		const char *label, *text;
	} fields[] = {{"  found   ", finding->value ?: ""}, {"  wanted  ", check->wanted},
		{"  fix     ", absent ? NULL : how},
		{"  undo    ", absent || !strcmp(undo, CHECK_NO_UNDO) ? NULL : undo},
		{"  why     ", check_why(check)}, {"  advice  ", check->who}};

	printf("\n%s%s%s is %s%s%s\n", terminal_mark(stdout, MARK_STRONG), check->id,
		terminal_mark(stdout, MARK_END),
		terminal_mark(stdout, state_mark(check, finding->state)),
		states[finding->state].word, terminal_mark(stdout, MARK_END));
	for (size_t i = 0; i < ELEMENTS(fields); i++)
		if (fields[i].text) {
			fputs(fields[i].label, stdout);
			terminal_wrap(stdout, fields[i].text, strlen(fields[i].label),
				strlen(fields[i].label));
		}
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
		printf("%s could not be determined.\n",
			text_count(audit->n_unknown, "required setting"));
}

/* What is open but not required: as many names as fit, and how many there are more. */
static void print_other_names(const struct audit *audit)
{
	_cleanup_(freep) char *list = text_format("Also open, but not required: ");
	size_t n = 0, left = 0, room = terminal_width(stdout) - strlen(", and 99 more (-v)");

	for (size_t i = 0; i < n_check_rows; i++) {
		const char *id = check_rows[i].id;

		if (!audit->findings[i].open || check_rows[i].level == 'A')
			continue;
		if (left > 0 || strlen(list) + strlen(", ") + strlen(id) > room)
			left++;
		else
			text_append(&list, n++ ? ", " : "", "%s", id);
	}
	if (left > 0)
		text_append(&list, "", " and %zu more (-v)", left);
	printf("%s%s\n", list, n + left ? "" : "none");
}

/* With the verdict, at most 12 lines, and more for required settings that are off. */
static void print_audit_summary(const struct audit *audit)
{
	enum { MOST_ROWS = 6 };
	/* the verdict has a line about them */
	const size_t most = MOST_ROWS - (audit->n_unknown > 0);

	if (audit->n_open > 0)
		print_checks(audit, audit->n_open > most ? "A" : "ABC");
	if (audit->n_open > most) /* what is not required has no room for rows */
		print_other_names(audit);
	if (audit->n_set > 0)
		terminal_say(stdout, 2,
			"'emp-setup apply' sets %zu of these (apply --dry-run shows what).",
			audit->n_set);
	terminal_say(stdout, 2,
		"%zu as wanted, %zu not applicable, %zu decided by the host; -v explains all.",
		audit->n_of[CHECK_OK], audit->n_of[CHECK_ABSENT], audit->n_of[CHECK_BY_HOST]);
}

static int audit_print_json(const struct audit *audit, struct error *err)
{
	const struct machine *m = &audit->facts.machine;
	const char *description = machine_description(m);
	json_t *list = json_array();

	for (size_t i = 0; i < n_check_rows; i++)
		if (audit->findings[i].shown)
			json_array_append_new(
				list, check_json(&check_rows[i], &audit->findings[i]));
	return json_print_document("emp-audit",
		JSON_OBJECT({"machine", JSON_OBJECT({"description",
							    json_text(terminal_text(description))},
						{"words", json_text(description)},
						{"virtual", json_boolean(m->virtual)},
						{"container", json_boolean(m->container)},
						{"systemd", json_boolean(m->systemd)})},
			{"policy", json_text(audit->facts.policy->name)}, {"checks", list},
			{"off", json_integer(audit->n_off)},
			{"unknown", json_integer(audit->n_unknown)},
			{"verdict", json_text(audit->n_off ? "not fit" : "fit")}),
		err);
}

/* For an ordinary user: what lets emp-measure observe other processes. */
static void print_capabilities(const struct audit *audit)
{
	_cleanup_(freep) char *measure = suite_path("measure", NULL, "emp-measure");
	_cleanup_(freep) char *libraries = realpath(
		text_brief("%.*s/../lib/emp", (int)(strrchr(measure, '/') - measure), measure),
		NULL);
	const struct group *group;
	struct stat st;

	if (geteuid() == 0 || audit->facts.root_fd != AT_FDCWD || audit->facts.machine.container ||
		stat(measure, &st) < 0)
		return;
	if (access(measure, X_OK) < 0) {
		group = getgrgid(st.st_gid);
		terminal_say(stdout, 2,
			"Only members of its group may run emp-measure; to become one, as root:");
		printf("  usermod --append --groups %s USER\n",
			group ? group->gr_name : text_brief("%u", st.st_gid));
	} else if (getxattr(measure, "security.capability", NULL, 0) < 0) {
		terminal_say(stdout, 2, "To observe other processes as an ordinary user, as root:");
		/* of the tarball: beside such a file, the loader needs an absolute name */
		if (libraries && paths_count(AT_FDCWD, text_brief("%s/lib*.so*", libraries)) > 0)
			printf("  patchelf --set-rpath %s %s\n", libraries, measure);
		printf("  setcap cap_bpf,cap_perfmon,cap_net_admin=p %s\n", measure);
	}
}

static void audit_print(const struct audit *audit)
{
	const struct machine *m = &audit->facts.machine;
	const struct policy *policy = audit->facts.policy;

	terminal_say(stdout, 2, "This is %s%s%s.", terminal_text(machine_description(m)),
		m->os_name ? " with " : "", m->os_name ?: "");
	if (options.verbose)
		terminal_say(stdout, 2, "Policy: %s (%s)", policy->name, policy->path);
	putchar('\n');
	if (options.verbose)
		print_checks(audit, "ABC");
	else
		print_audit_summary(audit);
	/* What to do about those that are open; with --all about each. */
	for (size_t i = 0; options.verbose && i < n_check_rows; i++)
		if (options.all || audit->findings[i].open)
			print_check(&check_rows[i], &audit->findings[i]);
	if (options.verbose)
		putchar('\n');
	print_fitness(audit);
	print_capabilities(audit);
}

static const struct option_row audit_options[] = {
	JSON_OPTION,
	{'a', "all", NULL, "optional checks too (level C)", NULL, &options.all},
	VERBOSE_OPTION("every check; why, how, undo of those that are not as wanted"),
	POLICY_OPTION,
	CPU_OPTION,
	{'w', "within", "TIME", "list timers that elapse within this time (24h)", option_duration,
		&options.within_ns},
	ROOT_OPTION,
	{},
};

/* Looking for a neighbour takes a second, and what it finds is another thing in the next: only
 * where all rows are shown; not for what runs and profiles keep of an audit. */
static int audit_look_for_neighbours(struct facts *facts, struct error *err)
{
	if (facts->root_fd != AT_FDCWD || !(options.verbose || (options.all && options.json)))
		return 0;
	return facts_read_neighbours(facts, err);
}

static int audit_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(audit_clear) struct audit audit = {};
	int r = facts_read(&audit.facts, err);

	if (r == 0)
		r = audit_look_for_neighbours(&audit.facts, err);
	if (r < 0)
		return r;
	audit_decide(&audit);
	if (options.json)
		r = audit_print_json(&audit, err);
	else
		audit_print(&audit);
	if (r < 0)
		return r;
	return audit.n_off ? STATUS_NOT_FIT : STATUS_DONE;
}

const struct verb setup_audit = {
	.name = "audit",
	.summary = "report whether this machine is fit for timing",
	.options = audit_options,
	.run = audit_verb,
};
