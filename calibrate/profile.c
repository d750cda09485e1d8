/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate profile: lists and shows the profiles in the book, and moves them between books. */
#include "calibrate/options.h"

#include "lib/base/table.h"
#include "lib/record/profile.h"
#include "lib/report/results.h"
#include "lib/document/document.h"
#include "lib/report/notes.h"
#include "lib/report/run_result.h"

static bool replace;

static const struct option_row profile_options[] = {
	{0, "replace", NULL, "replace a profile of the same name", NULL, &replace},
	{},
};

static void profile_print_run(struct book *book, const char *which, const struct profile_run *run)
{
	enum { SHOWN = 8 };
	_cleanup_(run_clear) struct run stored = {};
	_cleanup_(freep) char *list = NULL, *text = NULL;
	int at;

	for (size_t i = 0; i < run->n_l_samples && i < SHOWN; i++)
		text_append(&list, "", "%s%u", i ? " " : ": ", run->l_samples[i]);
	at = printf("%-10s", which);
	text = text_format("%s x %lld, %s%s%s", run->program, (long long)run->samples,
		text_count(run->n_l_samples, "L-sample"), list ?: "",
		run->n_l_samples > SHOWN ? " …" : "");
	terminal_wrap(stdout, text, (size_t)at, (size_t)at + 1);
	if (run->run && book_get_run(book, run->run, &stored, NULL) == 0)
		run_state_print(stdout, &stored);
}

static int show_profile(struct book *book, const char *name, struct error *err)
{
	_cleanup_(profile_clear) struct profile profile = {};
	int r = book_get_profile(book, 0, name, &profile, err);

	if (r < 0)
		return r;
	if (calibrate_options.json)
		return document_print_profile(&profile, err);
	terminal_say(stdout, 2, "Profile '%s'%s%s%s, resolution %s", profile.name,
		profile.made_ns > 0 ? ", made on " : "",
		profile.made_ns > 0 ? text_moment(profile.made_ns) : "",
		profile.cpu >= 0 ? text_brief(", CPU %d", profile.cpu) : "",
		text_duration(profile.resolution_ns));

	profile_print_run(book, "Short run", &profile.short_run);
	profile_print_run(book, "Long run", &profile.long_run);
	if (profile.environment_digest)
		printf("Environment %.*s\n",
			(int)terminal_text_fit(terminal_text(profile.environment_digest), 16),
			terminal_text(profile.environment_digest));
	if (profile.inc_digest)
		printf("INC %.*s\n", (int)terminal_text_fit(terminal_text(profile.inc_digest), 16),
			terminal_text(profile.inc_digest));

	noise_print(stdout, profile.name, &profile.mark);
	for (size_t i = 0; i < N_MDD; i++)
		if (profile.mdd[i].samples > 0)
			terminal_say(stdout, 2, "%s",
				mdd_text_of(profile.mdd, (size_t)mdd_sizes[i], false));
	cutoffs_print_omitted(&profile, NULL, stdout);
	if (profile.n_cutoffs == 0) {
		printf("No cutoffs: no daemon was both infrequent and long.\n");
		return 0;
	}
	cutoffs_print(&profile, calibrate_options.verbose, stdout);
	return 0;
}

static int import_profile(struct book *book, const char *path, struct error *err)
{
	_cleanup_(profile_clear) struct profile profile = {};
	_cleanup_(json_decrefp) json_t *document = NULL;
	int64_t equal = 0, current = -1;
	int r;

	r = json_read(&document, path, err);
	if (r < 0)
		return r;
	r = document_parse_profile(document, &profile, err);
	if (r < 0)
		return error_prefix(err, r, "'%s' was not imported", path);
	if (replace) /* by the same: nothing is to be done, and runs of it keep it */
		r = document_find_profile(book, &profile, &equal, &current, err);
	if (r == 0 && equal != current)
		r = book_put_profile(book, &profile, replace, err);
	if (r == -EEXIST)
		return error_say(err, r,
			"the book has a profile '%s' already; --replace replaces it", profile.name);
	if (r == 0)
		printf("%s\n", terminal_text(profile.name));
	return r;
}

static int list(struct book *book, const char *name, struct error *err)
{
	static const struct column columns[] = {{"NAME"}, {"MADE"}, {"CPU"}, {"SHORT RUN"},
		{"LONG RUN"}, {"CUTOFFS", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	_cleanup_(json_decrefp) json_t *documents = json_array();
	struct profile *profiles = NULL;
	size_t n = 0;
	int r = book_profiles(book, NULL, &profiles, &n, err);

	for (size_t i = 0; i < n; i++) {
		struct profile *p = &profiles[i];
		json_t *document;

		if (r == 0 && calibrate_options.json) {
			r = document_make_profile(p, &document, err);
			if (r == 0)
				json_array_append_new(documents, document);
		}
		table_row(table, columns, TEXT(p->name), MOMENT(p->made_ns),
			p->cpu < 0 ? TEXT(NULL) : NUMBER(p->cpu),
			TEXT(text_brief("%s x %lld", p->short_run.program ?: "?",
				(long long)p->short_run.samples)),
			TEXT(text_brief("%s x %lld", p->long_run.program ?: "?",
				(long long)p->long_run.samples)),
			NUMBER(p->n_cutoffs));
		profile_clear(p);
	}
	free(profiles);
	if (r < 0)
		return r;
	if (calibrate_options.json)
		return json_print_document(
			"emp-profiles", json_pack("{s:O}", "profiles", documents), err);
	if (n == 0)
		printf("The lab book has no profiles; 'emp-calibrate run' makes one.\n");
	table_print(table, stdout);
	return 0;
}

static int calibrate_profile_verb(int argc, char **argv, struct error *err)
{
	static const struct {
		const char *name;
		const char *operand; /* NULL: none */
		enum book_mode mode;
		int (*run)(struct book *book, const char *operand, struct error *err);
		bool json, text;          /* has a document; is text, unless --json is given */
		bool replaces, verbosely; /* has --replace, -v */
	} actions[] = {
		{"list", NULL, BOOK_READ, list, .json = true, .text = true},
		{"show", " NAME", BOOK_READ, show_profile, .json = true, .text = true,
			.verbosely = true},
		{"export", " NAME", BOOK_READ, show_profile, .json = true},
		{"import", " FILE", BOOK_WRITE, import_profile, .replaces = true},
		{"remove", " NAME", BOOK_WRITE, book_remove_profile},
	};
	_cleanup_(book_freep) struct book *book = NULL;

	for (size_t i = 0; i < ELEMENTS(actions); i++) {
		const struct option_rule rules[] = {
			{calibrate_options.json && !actions[i].json,
				text_brief("--json: 'profile %s' prints no document", argv[0])},
			{calibrate_options.verbose &&
					(!actions[i].verbosely || calibrate_options.json),
				"--verbose is for the text of 'profile show'"},
			{replace && !actions[i].replaces, "--replace is for 'profile import'"},
		};
		int r;

		if (strcmp(argv[0], actions[i].name))
			continue;
		if (argc != (actions[i].operand ? 2 : 1))
			return error_say(err, -EINVAL, "usage: emp-calibrate profile %s%s",
				actions[i].name, actions[i].operand ?: "");
		r = option_check_rules(rules, ELEMENTS(rules), err);
		if (r < 0)
			return r;
		calibrate_options.json |= !actions[i].text;
		r = book_open(&book, calibrate_options.db, actions[i].mode, err);
		return r < 0 ? r : actions[i].run(book, argv[1], err);
	}
	return error_say(
		err, -EINVAL, "'profile %s' must be list, show, export, import or remove", argv[0]);
}

const struct verb calibrate_profile = {
	.name = "profile",
	.args = "ACTION [NAME|FILE]",
	.summary = "list, show, export, import or remove a profile",
	.min_args = 1,
	.max_args = 2,
	.options = profile_options,
	.run = calibrate_profile_verb,
};
