/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remarks and warnings: see notes.h. */
#include "lib/record/profile.h"
#include "lib/report/notes.h"

#include "lib/base/terminal.h"
#include "lib/document/document.h"
#include "lib/host/cpu/core_types.h"

#include <stdarg.h>

void notes_add(struct notes *notes, enum note_kind kind, const char *format, ...)
{
	size_t at = notes->n;
	char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = text_vformat(format, ap);
	va_end(ap);
	array_add(notes->items, notes->n);
	while (at > 0 && notes->items[at - 1].kind > kind)
		at--;
	memmove(&notes->items[at + 1], &notes->items[at],
		(notes->n - 1 - at) * sizeof(*notes->items));
	notes->items[at] = (struct note){.kind = kind, .text = text};
	for (size_t i = 0; i < notes->n; i++)
		notes->items[i].n = (uint32_t)i + 1;
}

void notes_add_all(struct notes *notes, const struct notes *others)
{
	for (size_t i = 0; i < others->n; i++)
		notes_add(notes, others->items[i].kind, "%s", others->items[i].text);
}

/* Not within brackets: they would stay open. */
static bool ends_clause(const char *text, const char *at)
{
	const char *bracket = memrchr(text, '(', (size_t)(at - text));
	bool within = bracket && !memchr(bracket, ')', (size_t)(at - bracket));

	if (at[0] == ' ')
		return at[1] == '(' && !within;
	return *at && strchr(":;", *at) && at[1] == ' ' && !within;
}

/* Whether nothing is left of a note but "Warning", the name of a program, or both. */
static bool says_nothing(const char *part)
{
	for (size_t i = 0; i < terminal_names.n; i++) {
		size_t n = strlen(terminal_names.shown[i]);

		if (!strncmp(part, terminal_names.shown[i], n) &&
			(!part[n] || !strcmp(part + n, ": Warning")))
			return true;
	}
	return !strcmp(part, "Warning");
}

/* How much of a text fits: all of it, or what stands before its last colon, semicolon or bracket
 * that fits; else it is cut. */
static char *clauses_within(const char *text, size_t columns)
{
	char *part = xstrdup(text), *end = part + strlen(part);

	while (terminal_text_width(part) > columns && end > part) {
		while (end > part && !ends_clause(part, end))
			end--;
		*end = '\0';
	}
	if (end == part || says_nothing(part))
		strcpy(part, text);
	return part;
}

/* A note, cut to the screen. `more` comes behind it, or, if the note has to be cut, " (-v)". */
static void print_note_cut(FILE *file, const char *note, const char *more)
{
	size_t columns = terminal_columns(file) - 2;
	const char *text = terminal_text(note);
	_cleanup_(freep) char *brief = NULL;
	size_t left;

	if (!*more && terminal_text_width(text) > columns)
		more = " (-v)";
	left = columns - strlen(more);
	brief = clauses_within(text, left);
	fprintf(file, "  %s", terminal_mark(file, MARK_WARN));
	terminal_print_cut(file, brief, left);
	fprintf(file, "%s%s\n", more, terminal_mark(file, MARK_END));
}

static void print_note_in_full(FILE *file, const char *note)
{
	fprintf(file, "  %s", terminal_mark(file, MARK_WARN));
	terminal_wrap(file, note, 2, 4);
	fputs(terminal_mark(file, MARK_END), file);
}

void notes_print(FILE *file, const struct notes *notes, size_t most, const char *where)
{
	size_t shown = notes->n;

	if (most == ALL_NOTES) {
		for (size_t i = 0; i < notes->n; i++)
			print_note_in_full(file, notes->items[i].text);
		return;
	}
	if (most == 1 && notes->n > 1) { /* the first, and how many more there are, in one line */
		print_note_cut(
			file, notes->items[0].text, text_brief("; %zu more (-v)", notes->n - 1));
		return;
	}

	if (notes->n > most)
		shown = most - 1;
	for (size_t i = 0; i < shown; i++)
		print_note_cut(file, notes->items[i].text, "");
	if (shown < notes->n)
		fprintf(file, "  %zu more warnings: %s\n", notes->n - shown, where);
}

json_t *notes_as_json(const struct notes *notes)
{
	json_t *array = json_array();

	for (size_t i = 0; i < notes->n; i++)
		json_array_append_new(array,
			json_pack("{s:s, s:s}", "kind", note_kind_names[notes->items[i].kind],
				"text", notes->items[i].text));
	return array;
}

void notes_clear(struct notes *notes)
{
	fields_free(&note_table, notes->items, notes->n);
	*notes = (struct notes){};
}

int environment_differences(struct book *book, int64_t before_id, int64_t now_id,
	struct differences *ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = NULL, *now = NULL;
	int r = document_read_environment(book, before_id, &before, err);

	if (r == 0)
		r = document_read_environment(book, now_id, &now, err);
	if (r < 0 || !before || !now)
		return r;
	*ret = environment_diff(before, now);
	return 1;
}

int profile_changes_note(struct notes *notes, struct book *book, const struct profile *profile,
	int64_t now, char **ret_changes, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(freep) char *text = NULL, *digest = NULL;
	int64_t before = 0;
	int r = book_find_environment(book, profile->environment_digest, &before, err);

	if (r > 0)
		r = environment_differences(book, before, now, &differences, err);
	if (r == 0) { /* the book does not have the fingerprint that the profile was made under */
		r = book_get_environment(book, now, &digest, NULL, NULL, err);
		if (r == 0 && digest && profile->environment_digest &&
			strcmp(digest, profile->environment_digest))
			notes_add(notes, NOTE_PROFILE,
				"Warning: profile '%s' is from an environment that is not in the "
				"book; its cutoffs may not hold",
				profile->name);
		return r;
	}
	if (r < 0)
		return r;
	if (ret_changes && differences.n > 0)
		*ret_changes = differences_description(&differences, 5, false);
	text = differences_description(&differences, 3, true);
	if (*text)
		notes_add(notes, NOTE_PROFILE,
			"Warning: profile '%s' may not hold: %s ('emp-setup verify %s' says what "
			"to repeat)",
			profile->name, text, profile->name);
	return 0;
}

int other_inc_note(struct notes *notes, struct book *book, const struct run *run,
	const struct profile *profile, struct error *err)
{
	_cleanup_(freep) char *name = NULL;
	int r = 0;

	if (profile && profile->other_inc && !profile->short_run.run)
		notes_add(notes, NOTE_PROFILE,
			"Profile '%s' was made with another INC: only its cutoffs are used",
			profile->name);
	else if (profile && profile->other_inc)
		name = xstrdup(profile->name);
	else if (!profile && run->environment)
		r = book_find_other_inc(book, run->environment, run->inc_digest, &name, err);
	if (name)
		notes_add(notes, NOTE_PROFILE,
			"Profile '%s' was made with another INC: 'emp-calibrate revalidate %s'",
			name, name);
	return r < 0 ? r : 0;
}

static bool type_is_allowed(const struct core_type *type, const cpu_set_t *allowed)
{
	_cleanup_(freep) int *cpus = NULL;
	size_t n = 0;

	text_parse_cpu_list(type->cpus, &cpus, &n);
	for (size_t i = 0; i < n; i++)
		if (cpus[i] < CPU_SETSIZE && CPU_ISSET(cpus[i], allowed))
			return true;
	return false;
}

void core_types_note(struct notes *notes, int root_fd, int cpu, const cpu_set_t *allowed,
	const struct profile *profile)
{
	_cleanup_(core_types_clear) struct core_types types = {};
	_cleanup_(freep) char *names = NULL;
	const struct core_type *own, *of_profile = NULL;
	size_t n = 0;

	core_types_read(&types, root_fd);
	own = core_types_of(&types, cpu);
	if (profile && profile->cpu >= 0)
		of_profile = core_types_of(&types, profile->cpu);
	for (size_t i = 0; cpu < 0 && i < types.n; i++)
		if (type_is_allowed(&types.items[i], allowed)) {
			text_append(&names, ", ", "%s", types.items[i].name);
			n++;
		}
	if (own && of_profile && own != of_profile)
		notes_add(notes, NOTE_PROFILE,
			"Warning: profile '%s' is for cores of type %s, CPU %d is of type %s",
			profile->name, of_profile->name, cpu, own->name);
	if (own)
		notes_add(notes, NOTE_OTHER, "CPU %d is of type %s; times hold for such cores", cpu,
			own->name);
	else if (n > 1)
		notes_add(notes, NOTE_PROGRAM,
			"Warning: PT depends on the type of core that ran it (%s): see --cpu",
			names);
}

const char *mdd_text_of(const struct mdd rows[N_MDD], size_t n, bool others)
{
	const struct mdd *row = NULL; /* for the largest size up to n */
	const char *separate, *interleaved, *by_duet = "";

	for (size_t i = 0; i < N_MDD; i++)
		if (rows[i].samples > 0 && (size_t)rows[i].samples <= n)
			row = &rows[i];
	if (!row)
		return "";

	/* Separate runs resolve what samples in turn do, or less; older profiles may say
	 * otherwise. */
	separate = text_percent(fmax(row->separate, row->interleaved));
	interleaved = text_percent(row->interleaved);
	if (row->duet > 0)
		by_duet = text_brief("%s by duet, ", text_percent(row->duet));

	if (others && *by_duet) /* there is no room for separate runs */
		return text_brief("Profile's environment: %d INC samples resolve %s%s interleaved",
			(int)row->samples, by_duet, interleaved);
	if (others)
		return text_brief(
			"Profile's environment: %d INC samples resolve %s interleaved, %s separate",
			(int)row->samples, interleaved, separate);
	return text_brief("%d INC samples resolve %s%s interleaved, %s %s", (int)row->samples,
		by_duet, interleaved, separate, *by_duet ? "separate" : "between separate runs");
}

int mdd_text(struct book *book, const struct run *run, const struct profile *profile, size_t n,
	char ret[MDD_TEXT_SIZE], struct error *err)
{
	struct mdd rows[N_MDD] = {};
	const char *text;
	int r = run->environment ? book_get_mdd(book, run->environment, run->inc_digest, rows, err)
				 : 0;

	if (r < 0)
		return r;
	text = mdd_text_of(rows, n, false);
	if (!*text && profile)
		text = mdd_text_of(profile->mdd, n, true);
	snprintf(ret, MDD_TEXT_SIZE, "%s", text);
	return 0;
}
