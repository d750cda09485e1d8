/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the file of a study: see study_file.h. Sections are collected first; what they mean
 * together is known at the end. */
#include "lib/study/study_file.h"

#include "lib/base/argv.h"
#include "lib/base/ini_file.h"
#include "lib/base/tool.h"
#include "lib/host/process/subprocess.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>

enum { MOST_SUBJECTS = 1000, MOST_STEPS = 30, MOST_ROUNDS = 1000, MOST_SAMPLES = 100000 };

const char *const study_order_names[N_STUDY_ORDERS + 1] = {
	[STUDY_ONE_AFTER_ANOTHER] = "one-after-another",
	[STUDY_EACH_LEFT_OUT] = "each-left-out",
	[STUDY_EACH_ALONE] = "each-alone",
};

const char *const study_order_texts[N_STUDY_ORDERS] = {
	[STUDY_ONE_AFTER_ANOTHER] = "with the first step, with the first two, and so on",
	[STUDY_EACH_LEFT_OUT] = "with all steps, with all but one, each in turn",
	[STUDY_EACH_ALONE] = "with each step alone",
};

/* A section of a subject, as it stands in the file. */
struct subject_section {
	char *name, *command, *inc, *sizes;
	bool shell;
	int64_t expected_ns;
	uint32_t samples;
	int line;
};

/* What is being read. */
struct study_reading_state {
	struct study_file file;
	bool knows_kind;
	char *keys; /* of [study], so far */
	struct subject_section *sections;
	size_t n_sections;
};

static void study_state_clear(struct study_reading_state *state)
{
	for (size_t i = 0; i < state->n_sections; i++) {
		struct subject_section *section = &state->sections[i];

		free(section->name);
		free(section->command);
		free(section->inc);
		free(section->sizes);
	}
	free(state->sections);
	free(state->keys);
	study_file_clear(&state->file);
}

static int take_number(const struct ini_line *line, int64_t max, int64_t *ret, struct error *err)
{
	return text_parse_int(line->value, line->name, 1, max, ret, err);
}

static void take_text(char **into, const char *text)
{
	free(*into);
	*into = xstrdup(text);
}

static int take_studies(struct study_file *file, const char *value, struct error *err)
{
	char **words;
	int r = argv_split(value, &words, err);

	if (r < 0)
		return r;
	argv_freep(&file->studies);
	file->studies = words;
	return 0;
}

static int study_no_such_key(const struct ini_line *line, const char *section, struct error *err)
{
	return error_say(err, -EINVAL, "there is no '%s' in the section %s, see emp-study(1)",
		line->name, section);
}

int study_parse_scale(const char *value, const char *name, void *into, struct error *err)
{
	char *end;
	double factor = strtod(value, &end);

	if (end == value || *end || !(factor >= 1e-4 && factor <= 1e4))
		return error_say(err, -EINVAL,
			"%s must be a factor from 0.0001 to 10000, such as 0.5 or 4, not '%s'",
			name, value);
	*(double *)into = factor;
	return 0;
}

static int take_study_key(
	struct study_reading_state *state, const struct ini_line *line, struct error *err)
{
	struct study_file *file = &state->file;
	const char *name = line->name;
	int64_t number = 0;
	int choice, r = 0;

	if (strcmp(name, "text") != 0 && text_has_word(state->keys, name))
		return error_say(err, -EINVAL, "'%s' is there twice in [study]", name);
	text_append(&state->keys, ",", "%s", name);
	if (!strcmp(name, "what")) {
		r = option_choice(line->value, name, study_kind_names, &choice, err);
		if (r == 0)
			file->what = (enum study_kind)choice;
		state->knows_kind = r == 0;
	} else if (!strcmp(name, "order")) {
		r = option_choice(line->value, name, study_order_names, &choice, err);
		if (r == 0)
			file->order = (enum study_order)choice;
	} else if (!strcmp(name, "text")) {
		text_append(&file->text, " ", "%s", line->whole);
	} else if (!strcmp(name, "options")) {
		take_text(&file->options, line->whole);
	} else if (!strcmp(name, "policy")) {
		take_text(&file->policy, line->value);
	} else if (!strcmp(name, "rounds")) {
		r = take_number(line, MOST_ROUNDS, &number, err);
		if (r == 0)
			file->rounds = (int)number;
	} else if (!strcmp(name, "samples")) {
		r = take_number(line, MOST_SAMPLES, &number, err);
		file->samples = (uint32_t)number;
	} else if (!strcmp(name, "max-time")) {
		r = text_parse_duration(line->value, name, &file->max_time_ns, err);
	} else if (!strcmp(name, "scale")) {
		r = study_parse_scale(line->value, name, &file->scale, err);
	} else if (!strcmp(name, "studies")) {
		r = take_studies(file, line->value, err);
	} else {
		r = study_no_such_key(line, "[study]", err);
	}
	return r;
}

/* The subject of a section, which may be new. */
static struct subject_section *section_named(
	struct study_reading_state *state, const char *name, int line)
{
	struct subject_section *section;

	for (size_t i = 0; i < state->n_sections; i++)
		if (!strcmp(state->sections[i].name, name))
			return &state->sections[i];
	section = array_add(state->sections, state->n_sections);
	*section = (struct subject_section){.name = xstrdup(name), .line = line};
	return section;
}

static int take_subject_key(struct study_reading_state *state, const char *subject,
	const struct ini_line *line, struct error *err)
{
	struct subject_section *section = section_named(state, subject, line->n);
	const char *name = line->name;
	int64_t number = 0;
	int r = 0;

	if (!strcmp(name, "command") || !strcmp(name, "shell")) {
		if (section->command)
			return error_say(err, -EINVAL,
				"[subject %s] has a command already: another program is another "
				"[subject NAME]",
				subject);
		section->shell = *name == 's';
		section->command = xstrdup(line->whole);
	} else if (!strcmp(name, "inc")) {
		take_text(&section->inc, line->value);
	} else if (!strcmp(name, "sizes")) {
		take_text(&section->sizes, line->value);
	} else if (!strcmp(name, "expected")) {
		r = text_parse_duration(line->value, name, &section->expected_ns, err);
	} else if (!strcmp(name, "samples")) {
		r = take_number(line, MOST_SAMPLES, &number, err);
		section->samples = (uint32_t)number;
	} else {
		r = study_no_such_key(line, "of a subject", err);
	}
	return r;
}

static struct study_step *step_named(struct study_file *file, const char *name, int line)
{
	struct study_step *step;

	for (size_t i = 0; i < file->n_steps; i++)
		if (!strcmp(file->steps[i].name, name))
			return &file->steps[i];
	step = array_add(file->steps, file->n_steps);
	*step = (struct study_step){.name = xstrdup(name), .line = line};
	return step;
}

static int take_step_key(struct study_reading_state *state, const char *name,
	const struct ini_line *line, struct error *err)
{
	struct study_step *step = step_named(&state->file, name, line->n);
	_cleanup_(freep) char *list = xstrdup(line->value);
	char **into, *rest = list;

	if (!strcmp(line->name, "apply"))
		into = &step->apply;
	else if (!strcmp(line->name, "stop"))
		into = &step->stop;
	else
		return study_no_such_key(line, "of a step", err);
	for (char *word; (word = strtok_r(rest, ", ", &rest));)
		text_append(into, ",", "%s", word);
	return 0;
}

static int take_study_line(const struct ini_line *line, void *data, struct error *err)
{
	const char *section = line->section, *name = strchr(section, ' ');
	const bool has_name = name && *(name += strspn(name, " "));

	if (!*line->value)
		return error_say(err, -EINVAL, "'%s' has no value", line->name);
	if (!strcmp(section, "study"))
		return take_study_key(data, line, err);
	if (!strncmp(section, "subject ", 8) && has_name)
		return take_subject_key(data, name, line, err);
	if (!strncmp(section, "step ", 5) && has_name)
		return take_step_key(data, name, line, err);
	return error_say(err, -EINVAL, "before the first [section]");
}

/* Which sections there are: inih does not report those without lines, which are errors here. */
static int note_sections(
	struct study_reading_state *state, const char *text, const char *path, struct error *err)
{
	_cleanup_(freep) char *copy = xstrdup(text);
	char *rest = copy;
	int n = 0;

	for (char *line; (line = strsep(&rest, "\n"));) {
		char name[200], end[2];

		n++;
		if (sscanf(line, " [subject%*1[ ] %199[^]]", name) == 1)
			section_named(state, name, n);
		else if (sscanf(line, " [step%*1[ ] %199[^]]", name) == 1)
			step_named(&state->file, name, n);
		else if (sscanf(line, " [%199[^]]%1[]]", name, end) == 2 && strcmp(name, "study"))
			return error_say(err, -EINVAL,
				"%s, line %d: there is no section [%s]: they are [study], "
				"[subject NAME] and [step NAME]",
				path, n, name);
	}
	return 0;
}

/* "100K" is 100000. */
static int parse_problem_size(const char *text, double *ret, struct error *err)
{
	static const char suffixes[] = "KMG";
	char *end;
	double n = strtod(text, &end);
	const char *suffix = *end ? strchr(suffixes, *end) : NULL;

	if (suffix)
		n *= pow(1000, (double)(suffix - suffixes) + 1);
	if (end == text || !isdigit((unsigned char)*text) || end[suffix ? 1 : 0] || !isfinite(n) ||
		n <= 0)
		return error_say(err, -EINVAL,
			"sizes are numbers such as 500, 100K or 3.2M, not '%s'", text);
	*ret = n;
	return 0;
}

static char *with_size(const char *command, const char *size)
{
	_cleanup_(freep) char *text = NULL;
	const char *rest = command, *at;

	if (!size)
		return xstrdup(command);
	while ((at = strstr(rest, "{size}"))) {
		text_append(&text, "", "%.*s%s", (int)(at - rest), rest, size);
		rest = at + strlen("{size}");
	}
	text_append(&text, "", "%s", rest);
	return TAKE(text);
}

static void set_inc_length(struct study_subject *subject, int64_t ns)
{
	free(subject->name);
	free(subject->line);
	argv_freep(&subject->argv);
	subject->inc = true;
	subject->size = (double)ns / NS_PER_S;
	subject->expected_ns = ns;
	subject->name = text_format("%s%s", subject->program, text_seconds(ns));
	subject->line = text_format("emp-inc %s", text_seconds(ns));
}

/* Adds the subject of a section with one of its sizes; NULL: it has none. */
static int add_subject(struct study_file *file, const struct subject_section *section,
	const char *size, struct error *err)
{
	struct study_subject *subject = array_add(file->subjects, file->n_subjects);
	int64_t ns;
	int r = 0;

	*subject = (struct study_subject){.program = xstrdup(section->name),
		.size = NAN,
		.shell = section->shell,
		.expected_ns = section->expected_ns,
		.samples = section->samples};
	if (section->inc) {
		r = text_parse_duration(size, "inc", &ns, err);
		if (r < 0)
			return r;
		set_inc_length(subject, ns);
	} else {
		if (size)
			r = parse_problem_size(size, &subject->size, err);
		subject->name = size ? text_format("%s %s", section->name, size)
				     : xstrdup(section->name);
		subject->line = with_size(section->command, size);
	}
	if (r < 0)
		return r;
	if (subject->shell)
		subject->argv = argv_for_shell(NULL, subject->line);
	else
		r = argv_split(subject->line, &subject->argv, err);
	for (size_t i = 0; r == 0 && i + 1 < file->n_subjects; i++)
		if (!strcmp(file->subjects[i].name, subject->name))
			return error_say(err, -EINVAL, "'%s' is there twice", subject->name);
	if (r == -ENOEXEC)
		return error_say(
			err, r, "'command' runs no shell: use 'shell', or quote what needs one");
	return r;
}

static int add_subjects_of(
	struct study_file *file, const struct subject_section *section, struct error *err)
{
	_cleanup_(freep) char *list = text_copy(section->inc ?: section->sizes);
	bool has_size = section->command && strstr(section->command, "{size}");
	char *rest = list;
	int r = 0;

	if (!section->inc == !section->command)
		return error_say(
			err, -EINVAL, "a subject has either 'inc', or 'command' or 'shell'");
	if (section->inc && section->sizes)
		return error_say(err, -EINVAL, "the sizes of INC are in 'inc'");
	if (!section->inc && has_size != !!section->sizes)
		return error_say(err, -EINVAL, "%s",
			has_size ? "'{size}' needs a line 'sizes = …'"
				 : "'sizes' needs '{size}' in the command");
	if (!list)
		return add_subject(file, section, NULL, err);
	for (char *size; r == 0 && (size = strtok_r(rest, ", ", &rest));)
		r = file->n_subjects < MOST_SUBJECTS
			    ? add_subject(file, section, size, err)
			    : error_say(err, -EINVAL, "more than %d subjects", MOST_SUBJECTS);
	return r;
}

static bool has_sizes(const struct study_file *file)
{
	for (size_t i = 0; i < file->n_subjects; i++)
		if (isfinite(file->subjects[i].size))
			return true;
	return false;
}

/* What the sections must be together. */
static int check_study(const struct study_reading_state *state, struct error *err)
{
	const struct study_file *file = &state->file;
	const bool night = file->what == STUDY_NIGHT;

	if (!state->knows_kind)
		return error_say(err, -EINVAL, "[study] has no line 'what = …'");
	if (night != !!file->studies)
		return error_say(err, -EINVAL, "%s",
			night ? "a night has a line 'studies = …'"
			      : "'studies' is for 'what = night'");
	if (!night && file->scale > 0)
		return error_say(err, -EINVAL,
			"'scale' is for 'what = night': change the lengths, or use --scale");
	if (night && (file->n_subjects || file->n_steps))
		return error_say(err, -EINVAL,
			"a night has no subjects and no steps: they are in its studies");
	if (!night && !file->n_subjects && file->what != STUDY_CLEAN_ROOM)
		return error_say(err, -EINVAL, "there is no [subject NAME]");
	if ((file->what == STUDY_SETTINGS || file->what == STUDY_VERSIONS) && !file->n_steps)
		return error_say(err, -EINVAL, "a study of %s has a [step NAME] for each of them",
			study_kind_names[file->what]);
	if (file->what == STUDY_ALGORITHMS && !has_sizes(file))
		return error_say(err, -EINVAL, "no subject has a line 'sizes = …'");
	if (file->n_steps > MOST_STEPS)
		return error_say(err, -EINVAL, "more than %d steps", MOST_STEPS);
	if (file->samples < (uint32_t)file->rounds)
		return error_say(err, -EINVAL, "%d rounds need %d samples or more, not %u",
			file->rounds, file->rounds, file->samples);
	return 0;
}

static char *study_name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return dot && dot > name ? xstrndup(name, (size_t)(dot - name)) : xstrdup(name);
}

int study_parse(struct study_file *ret, const char *text, const char *path, struct error *err)
{
	_cleanup_(study_state_clear) struct study_reading_state state = {
		.file = {.rounds = 1, .samples = 10}};
	int r;

	state.file.name = study_name_of(path);
	state.file.source = xstrdup(text);
	r = note_sections(&state, text, path, err);
	if (r == 0)
		r = ini_each_line(text, path, take_study_line, &state, err);
	for (size_t i = 0; r == 0 && i < state.n_sections; i++) {
		r = add_subjects_of(&state.file, &state.sections[i], err);
		if (r < 0)
			error_prefix(err, r, "%s, line %d: [subject %s]", path,
				state.sections[i].line, state.sections[i].name);
	}
	for (size_t i = 0; r == 0 && i < state.file.n_steps; i++)
		if (!state.file.steps[i].apply && !state.file.steps[i].stop)
			r = error_say(err, -EINVAL, "%s, line %d: [step %s] does nothing", path,
				state.file.steps[i].line, state.file.steps[i].name);
	if (r == 0) {
		r = check_study(&state, err);
		if (r < 0)
			error_prefix(err, r, "%s", path);
	}
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(state.file);
	return 0;
}

static void free_subjects(struct study_file *file)
{
	for (size_t i = 0; i < file->n_subjects; i++) {
		struct study_subject *subject = &file->subjects[i];

		free(subject->name);
		free(subject->program);
		free(subject->line);
		argv_freep(&subject->argv);
	}
	free(file->subjects);
	file->subjects = NULL;
	file->n_subjects = 0;
}

void study_file_clear(struct study_file *file)
{
	free_subjects(file);
	for (size_t i = 0; i < file->n_steps; i++) {
		free(file->steps[i].name);
		free(file->steps[i].apply);
		free(file->steps[i].stop);
	}
	free(file->steps);
	free(file->name);
	free(file->text);
	free(file->source);
	free(file->options);
	free(file->policy);
	argv_freep(&file->studies);
	*file = (struct study_file){};
}

static char *shipped_study(const char *name)
{
	_cleanup_(freep) char *file = text_format("%s.ini", name);

	return suite_path("profiles/studies", EMP_PROFILE_DIR "/studies", file);
}

int study_read(struct study_file *ret, const char *name, struct error *err)
{
	const char *suffix = strrchr(name, '.');
	const bool is_file = strchr(name, '/') || (suffix && !strcmp(suffix, ".ini"));
	_cleanup_(freep) char *path = is_file ? xstrdup(name) : shipped_study(name);
	_cleanup_(freep) char *text = NULL;
	int r = file_read_text(path, &text);

	if (r == -ENOENT && !is_file)
		return error_say(err, r,
			"there is no study '%s': 'emp-study list' shows those there are; a file of "
			"your own has a name that ends in .ini",
			name);
	if (r < 0)
		return error_os(err, r, "cannot read '%s'", path);
	return study_parse(ret, text, path, err);
}

static int study_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int study_names(char ***ret, struct error *err)
{
	_cleanup_(freep) char *directory = suite_path("profiles", EMP_PROFILE_DIR, "studies");
	_cleanup_(argv_freep) char **names = NULL;
	DIR *dir = opendir(directory);
	size_t n = 0;

	if (!dir)
		return error_os(err, -errno, "cannot read '%s'", directory);
	for (struct dirent *entry; (entry = readdir(dir));) {
		const char *suffix = strrchr(entry->d_name, '.');

		if (suffix && !strcmp(suffix, ".ini"))
			*array_add(names, n) = study_name_of(entry->d_name);
	}
	closedir(dir);
	if (n > 0)
		qsort(names, n, sizeof(*names), study_by_name);
	*array_add(names, n) = NULL;
	*ret = TAKE(names);
	return 0;
}

int study_file_scale(struct study_file *file, double factor, struct error *err)
{
	for (size_t i = 0; i < file->n_subjects; i++) {
		struct study_subject *subject = &file->subjects[i];
		int64_t ns = llround(subject->size * factor * NS_PER_S);
		int r;

		if (!subject->inc)
			continue;
		if (ns < NS_PER_MS)
			return error_say(err, -EINVAL,
				"%s times %g is less than a millisecond: use a greater --scale",
				subject->name, factor);
		set_inc_length(subject, ns);
		r = argv_split(subject->line, &subject->argv, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int study_file_replace(struct study_file *file, char *const *command, struct error *err)
{
	struct study_subject *subject;

	if (file->what == STUDY_NIGHT || (file->n_subjects && isfinite(file->subjects[0].size)))
		return error_say(err, -EINVAL,
			"'%s' measures several lengths or sizes: copy its file (emp-study show %s) "
			"and write the command there, with {size}",
			file->name, file->name);
	free_subjects(file);
	subject = array_add(file->subjects, file->n_subjects);
	*subject = (struct study_subject){.program = study_name_of(command[0]),
		.name = study_name_of(command[0]),
		.line = argv_join(command),
		.argv = argv_copy(command),
		.size = NAN};
	return 0;
}

size_t study_n_combinations(const struct study_file *file)
{
	if (file->n_steps == 0)
		return 1;
	return file->n_steps + (file->order == STUDY_EACH_LEFT_OUT ? 2 : 1);
}

bool study_combination_is_empty(const struct study_file *file, size_t i)
{
	if (i == 0)
		return false;
	if (file->order == STUDY_EACH_LEFT_OUT && i > 1)
		return file->steps[i - 2].empty;
	if (file->order != STUDY_EACH_LEFT_OUT)
		return file->steps[i - 1].empty;
	for (size_t k = 0; k < file->n_steps; k++)
		if (!file->steps[k].empty)
			return false;
	return true;
}

size_t study_n_measured_combinations(const struct study_file *file)
{
	size_t n = 0;

	for (size_t i = 0; i < study_n_combinations(file); i++)
		n += !study_combination_is_empty(file, i);
	return n;
}

int study_combination_find(const struct study_file *file, const char *label, size_t *ret)
{
	for (size_t i = 0; i < study_n_combinations(file); i++) {
		_cleanup_(freep) char *of = study_combination_label(file, i);

		if (of && label ? strcmp(of, label) != 0 : of || label)
			continue;
		*ret = i;
		return 0;
	}
	return -ENOENT;
}

bool study_combination_has(const struct study_file *file, size_t i, size_t k)
{
	if (i == 0)
		return false;
	switch (file->order) {
	case STUDY_EACH_LEFT_OUT:
		return k + 2 != i;
	case STUDY_EACH_ALONE:
		return k + 1 == i;
	default:
		return k < i;
	}
}

char *study_combination_label(const struct study_file *file, size_t i)
{
	if (i == 0)
		return NULL;
	if (file->order == STUDY_EACH_LEFT_OUT)
		return i == 1 ? xstrdup("all") : text_format("without %s", file->steps[i - 2].name);
	return xstrdup(file->steps[i - 1].name);
}
