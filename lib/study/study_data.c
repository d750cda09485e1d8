/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a study measured: see study_data.h. */
#include "lib/study/study_data.h"

#include "lib/document/document.h"
#include "lib/report/run_result.h"

const char *const study_rule_names[N_STUDY_RULES + 1] = {
	[STUDY_RULE_ALL] = "all",
	[STUDY_RULE_SEDONA] = "sedona",
	[STUDY_RULE_EMP] = "emp",
	[STUDY_RULE_CAUSES] = "causes",
};

const char *const study_clock_names[N_STUDY_CLOCKS] = {"ET", "PT"};

/* Which comparisons the file's order of steps is for. */
static void list_contrasts(struct study_data *data)
{
	size_t first = data->file.order == STUDY_EACH_LEFT_OUT ? 2 : 1;

	for (size_t i = first; i < data->n_combinations; i++) {
		struct study_contrast *c = array_add(data->contrasts, data->n_contrasts);
		const char *label = data->combinations[i]; /* "a", or "without a" */

		*c = (struct study_contrast){
			.name = xstrdup(label + (first == 2 ? strlen("without ") : 0)), .after = i};
		if (data->file.order == STUDY_ONE_AFTER_ANOTHER)
			c->before = i - 1;
		if (data->file.order == STUDY_EACH_LEFT_OUT) {
			c->before = i;
			c->after = 1;
		}
	}
	if (data->file.order != STUDY_EACH_ALONE && data->n_contrasts > 1)
		*array_add(data->contrasts, data->n_contrasts) = (struct study_contrast){
			.name = xstrdup("all steps"),
			.after = first == 2 ? 1 : data->n_combinations - 1,
			.all = true,
		};
}

/* -ENOENT: it is none of the file. */
static int find_combination(const struct study_data *data, const char *step, size_t *ret)
{
	for (size_t i = 0; i < data->n_combinations; i++) {
		const char *label = i > 0 ? data->combinations[i] : NULL;

		if (label == step || (label && step && !strcmp(label, step))) {
			*ret = i;
			return 0;
		}
	}
	return -ENOENT;
}

static int find_subject(const struct study_data *data, const char *subject, size_t *ret)
{
	for (size_t i = 0; i < data->n_subjects; i++)
		if (!strcmp(data->subjects[i].name, subject)) {
			*ret = i;
			return 0;
		}
	return -ENOENT;
}

/* The sample i of a run, to each rule that keeps it. cutoffs: the run judged by the cutoffs of its
 * profile alone; causes: by its own rules. */
static void add_sample(struct study_cell *cell, const struct run_result *cutoffs,
	const struct run_result *causes, size_t i)
{
	for (size_t clock = 0; clock < N_STUDY_CLOCKS; clock++) {
		bool et = clock == STUDY_ET;
		const struct clock_discarding *own = et ? &causes->discarding.et
							: &causes->discarding.pt;
		int64_t ns = sample_time_ns(&cutoffs->samples[i], et);
		const bool kept[N_STUDY_RULES] = {
			[STUDY_RULE_ALL] = true,
			[STUDY_RULE_SEDONA] = !cutoffs->discarding.out[i],
			[STUDY_RULE_CAUSES] = !causes->discarding.out[i],
		};

		for (size_t rule = 0; rule < N_STUDY_RULES; rule++) {
			struct time_blocks *blocks = &cell->times[rule][clock];

			if (rule == STUDY_RULE_CAUSES && kept[rule])
				ns = clock_time_ns(own, causes->samples, i, et);
			if (kept[rule])
				time_block_append(&blocks->items[blocks->n - 1], ns);
		}
	}
}

/* Several runs of one block, which was interrupted, are one block. */
static void begin_block(struct study_cell *cell, const struct study_block *block, bool again)
{
	for (size_t rule = 0; rule < N_STUDY_RULES; rule++)
		for (size_t clock = 0; clock < N_STUDY_CLOCKS; clock++)
			if (!again)
				time_blocks_add(&cell->times[rule][clock], block->round);
}

/* The second check of the paper is of all samples of a program, whatever block they are in: of a
 * few samples none is beyond two sd. */
static void add_two_sd(struct study_cell *cell, enum study_clock clock)
{
	const struct time_blocks *kept = &cell->times[STUDY_RULE_SEDONA][clock];
	struct time_blocks *emp = &cell->times[STUDY_RULE_EMP][clock];
	_cleanup_(freep) int64_t *times = NULL;
	struct summary left;
	size_t n;

	times = time_blocks_join(kept, &n);
	left = summary_of(times, n);
	for (size_t i = 0; i < kept->n; i++)
		for (size_t k = 0; k < kept->items[i].n; k++)
			if (!beyond_two_sd(&left, kept->items[i].times_ns[k]))
				time_block_append(&emp->items[i], kept->items[i].times_ns[k]);
}

static void add_waits(
	struct study_cell *cell, int round, const struct run *run, const struct run_result *result)
{
	struct time_block *block;

	if (!run_wait_is_exact(run))
		cell->waits_unknown = true;
	if (cell->waits_unknown) {
		time_blocks_clear(&cell->waits);
		return;
	}
	block = time_blocks_add(&cell->waits, round);
	for (size_t i = 0; i < result->n_samples; i++)
		time_block_append(block, sample_taken_ns(&result->samples[i]));
}

static struct study_daemon *find_study_daemon(struct study_data *data, const char *name)
{
	struct study_daemon *daemon;

	for (size_t i = 0; i < data->n_daemons; i++)
		if (!strcmp(data->daemons[i].name, name))
			return &data->daemons[i];
	daemon = array_add(data->daemons, data->n_daemons);
	daemon->name = xstrdup(name);
	daemon->shares = xcalloc(data->n_combinations, sizeof(*daemon->shares));
	return daemon;
}

static void add_daemon_times(
	struct study_data *data, size_t combination, const struct run_result *result)
{
	const struct daemons *others = &result->discarding.others;

	for (size_t i = 0; i < others->n; i++) {
		struct study_daemon *daemon = find_study_daemon(data, others->items[i].name);

		daemon->shares[combination] += (double)others->items[i].total_ns;
		if (!daemon->unit)
			daemon->unit = text_copy(others->items[i].unit);
	}
	for (size_t i = 0; i < result->n_samples; i++)
		data->et_ns[combination] += (double)result->samples[i].et_ns;
}

static int add_samples_of_run(struct book *book, struct study_data *data,
	const struct study_block *block, int64_t id, const char *profile, bool again,
	struct error *err)
{
	_cleanup_(run_clear) struct run run = {};
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	_cleanup_(run_result_clear) struct run_result cutoffs = {}, causes = {};
	struct discard_rules only_cutoffs;
	struct study_cell *cell;
	size_t combination, subject, n;
	int r = book_get_run(book, id, &run, err);

	if (r == 0)
		r = run_rules_load(book, &run, profile, false, &rules, err);
	if (r < 0)
		return r;
	only_cutoffs = rules.rules;
	only_cutoffs.unprofiled_share = 0;
	only_cutoffs.neighbour = NEIGHBOUR_OFF;
	r = run_result_read(book, id, &only_cutoffs, 0, &cutoffs, err);
	if (r == 0)
		r = run_result_read(book, id, &rules.rules, RESULT_OTHERS, &causes, err);
	if (r < 0)
		return r;
	if (find_combination(data, block->step, &combination) < 0 ||
		find_subject(data, block->subject, &subject) < 0)
		return error_say(err, -EBADMSG,
			"block %" PRIu32 " of study %" PRId64
			" is not in its file; restore an intact copy of the lab book",
			block->position, data->study.id);

	cell = study_cell_of(data, combination, subject);
	begin_block(cell, block, again);
	/* one that is being measured may have more by now */
	n = cutoffs.n_samples < causes.n_samples ? cutoffs.n_samples : causes.n_samples;
	for (size_t i = 0; i < n; i++) {
		add_sample(cell, &cutoffs, &causes, i);
		*array_add(cell->out, cell->n_samples) = causes.discarding.out[i];
		data->subjects[subject].n_samples++;
		data->subjects[subject].n_failed += cutoffs.samples[i].exit_status > 0;
	}
	add_waits(cell, block->round, &run, &cutoffs);
	data->has_cutoffs |= rules.rules.profile != NULL;
	add_daemon_times(data, combination, &causes);
	return 0;
}

static int add_runs(struct book *book, struct study_data *data, const struct study_block *blocks,
	size_t n_blocks, const char *profile, struct error *err)
{
	struct study_run *runs = NULL;
	size_t n = 0;
	int r = book_study_runs(book, data->study.id, &runs, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		bool again = i > 0 && runs[i].block == runs[i - 1].block;
		size_t k = 0;

		while (k < n_blocks && blocks[k].id != runs[i].block)
			k++;
		if (k < n_blocks)
			r = add_samples_of_run(
				book, data, &blocks[k], runs[i].run, profile, again, err);
	}
	free(runs);
	for (size_t i = 0; i < data->n_combinations * data->n_subjects * N_STUDY_CLOCKS; i++)
		add_two_sd(&data->cells[i / N_STUDY_CLOCKS], i % N_STUDY_CLOCKS);
	for (size_t i = 0; i < data->n_daemons; i++)
		for (size_t c = 0; c < data->n_combinations; c++)
			data->daemons[i].shares[c] /= fmax(1, data->et_ns[c]);
	return r;
}

static void add_reading(struct study_data *data, const struct study_block *block,
	const struct study_reading *reading)
{
	struct time_blocks *times;
	size_t k = 0, subject;

	if (find_subject(data, block->subject, &subject) < 0)
		return;
	while (k < data->n_clocks && (data->clocks[k].subject != subject ||
					     strcmp(data->clocks[k].name, reading->clock) != 0))
		k++;
	if (k == data->n_clocks)
		*array_add(data->clocks, data->n_clocks) = (struct study_clock_times){
			.name = xstrdup(reading->clock), .subject = subject};
	times = &data->clocks[k].times;
	if (times->n == 0 || times->items[times->n - 1].round != block->round)
		time_blocks_add(times, block->round);
	time_block_append(&times->items[times->n - 1], reading->ns);
}

static int add_readings(struct book *book, struct study_data *data,
	const struct study_block *blocks, size_t n_blocks, struct error *err)
{
	struct study_reading *readings = NULL;
	size_t n = 0;
	int r = book_study_readings(book, data->study.id, &readings, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		size_t k = 0;

		while (k < n_blocks && blocks[k].id != readings[i].block)
			k++;
		if (k < n_blocks)
			add_reading(data, &blocks[k], &readings[i]);
	}
	fields_free(&study_reading_table, readings, n);
	return r;
}

/* The section of the file that a subject is of: that of this name, or the longest that its name
 * begins with. */
static size_t section_of(const struct study_file *file, const char *subject)
{
	size_t best = 0, length = 0;

	for (size_t i = 0; i < file->n_subjects; i++) {
		size_t n = strlen(file->subjects[i].program);

		if (!strcmp(file->subjects[i].name, subject))
			return i;
		if (n > length && !strncmp(file->subjects[i].program, subject, n)) {
			best = i;
			length = n;
		}
	}
	return best;
}

/* For qsort_r: by their sections, then by size. */
static int subject_by_file(const void *a, const void *b, void *data)
{
	const struct study_program *x = a, *y = b;
	size_t of_x = section_of(data, x->name), of_y = section_of(data, y->name);

	if (strcmp(x->program, y->program) != 0 || isnan(x->size) || isnan(y->size))
		return (of_x > of_y) - (of_x < of_y);
	return (x->size > y->size) - (x->size < y->size);
}

static void list_subjects(
	struct study_data *data, const struct study_block *blocks, size_t n_blocks)
{
	size_t known;

	for (size_t i = 0; i < n_blocks; i++) {
		const char *program = blocks[i].subject;

		if (find_subject(data, blocks[i].subject, &known) == 0)
			continue;
		if (data->file.n_subjects > 0)
			program = data->file.subjects[section_of(&data->file, program)].program;
		*array_add(data->subjects, data->n_subjects) = (struct study_program){
			xstrdup(blocks[i].subject), xstrdup(program), blocks[i].size};
	}
	if (data->n_subjects > 0)
		qsort_r(data->subjects, data->n_subjects, sizeof(*data->subjects), subject_by_file,
			&data->file);
}

static bool has_blocks_of(const char *step, const struct study_block *blocks, size_t n_blocks)
{
	for (size_t i = 0; i < n_blocks; i++)
		if (blocks[i].step && !strcmp(blocks[i].step, step))
			return true;
	return false;
}

/* Its file says which settings there are. */
static int begin_data(struct study_data *data, const struct study_block *blocks, size_t n_blocks,
	struct error *err)
{
	_cleanup_(freep) char *path = text_format(
		"study %" PRId64 " (%s)", data->study.id, data->study.name);
	int r = study_parse(&data->file, data->study.file, path, err);

	if (r < 0)
		return r;
	data->combinations = xcalloc(
		study_n_combinations(&data->file) + 1, sizeof(*data->combinations));
	for (size_t i = 0; i < study_n_combinations(&data->file); i++) {
		_cleanup_(freep) char *label = study_combination_label(&data->file, i);

		/* a step that changes nothing on its machine was left out */
		if (i == 0 || has_blocks_of(label, blocks, n_blocks))
			data->combinations[data->n_combinations++] = TAKE(label);
	}
	list_subjects(data, blocks, n_blocks);
	data->cells = xcalloc(data->n_combinations * data->n_subjects + 1, sizeof(*data->cells));
	data->et_ns = xcalloc(data->n_combinations, sizeof(*data->et_ns));
	list_contrasts(data);
	return 0;
}

/* Whether the environment is that of a virtual machine; without one it is not known. */
static int find_virtual(struct book *book, int64_t environment, bool *ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *fingerprint = NULL;
	int r = document_read_environment(book, environment, &fingerprint, err);
	const json_t *identity = json_object_get(fingerprint, "identity");
	const json_t *virtualisation = json_object_get(identity, "virtualisation");

	*ret = json_is_true(json_object_get(virtualisation, "virtual"));
	return r < 0 ? r : 0;
}

int study_data_read(struct book *book, int64_t study, const char *profile, struct study_data *ret,
	struct error *err)
{
	_cleanup_(study_data_clear) struct study_data data = {};
	struct study_block *blocks = NULL;
	int r = book_get_study(book, study, &data.study, err);

	if (r == 0)
		r = book_study_blocks(book, data.study.id, &blocks, &data.n_blocks, err);
	if (r == 0)
		r = begin_data(&data, blocks, data.n_blocks, err);
	for (size_t i = 0; r == 0 && i < data.n_blocks; i++)
		data.n_finished += blocks[i].finished_ns > 0;
	if (r == 0 && data.study.what != STUDY_CLEAN_ROOM)
		r = add_runs(book, &data, blocks, data.n_blocks, profile, err);
	if (r == 0)
		r = add_readings(book, &data, blocks, data.n_blocks, err);
	fields_free(&study_block_table, blocks, data.n_blocks);
	if (r == 0)
		r = find_virtual(book, data.study.environment, &data.virtual, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(data);
	return 0;
}

void study_data_clear(struct study_data *data)
{
	for (size_t i = 0; data->cells && i < data->n_combinations * data->n_subjects; i++) {
		time_blocks_clear(&data->cells[i].waits);
		free(data->cells[i].out);
		for (size_t rule = 0; rule < N_STUDY_RULES; rule++)
			for (size_t clock = 0; clock < N_STUDY_CLOCKS; clock++)
				time_blocks_clear(&data->cells[i].times[rule][clock]);
	}
	free(data->cells);
	for (size_t i = 0; i < data->n_subjects; i++) {
		free(data->subjects[i].name);
		free(data->subjects[i].program);
	}
	free(data->subjects);
	for (size_t i = 0; i < data->n_daemons; i++) {
		free(data->daemons[i].name);
		free(data->daemons[i].unit);
		free(data->daemons[i].shares);
	}
	free(data->daemons);
	for (size_t i = 0; i < data->n_clocks; i++) {
		free(data->clocks[i].name);
		time_blocks_clear(&data->clocks[i].times);
	}
	free(data->clocks);
	for (size_t i = 0; i < data->n_contrasts; i++)
		free(data->contrasts[i].name);
	free(data->contrasts);
	for (size_t i = 0; i < data->n_combinations; i++)
		free(data->combinations[i]);
	free(data->combinations);
	free(data->et_ns);
	study_row_clear(&data->study);
	study_file_clear(&data->file);
	*data = (struct study_data){};
}
