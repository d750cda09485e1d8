/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the study clean-room found: see clean_room_result.h. */
#include "lib/study/clean_room_result.h"

#include "lib/base/argv.h"
#include "lib/stats/summary.h"

/* With fewer rounds, intervals are so wide that this is said. */
enum { ROOM_ROUNDS_MANY = 20 };

static enum room_condition room_condition_of(const struct room_finding *finding)
{
	return finding->step ? ROOM_BESIDE_DAEMON : ROOM_QUIET;
}

static size_t room_slowdown_index(double slowdown)
{
	size_t i = 0;

	while (i < N_ROOM_SLOWDOWNS && fabs(room_slowdowns[i] - slowdown) > 1e-9)
		i++;
	return i;
}

static void room_count_finding(struct room_count *count, const struct room_finding *finding)
{
	count->n++;
	if (finding->slowdown == 0) {
		count->wrong += finding->claim != ROOM_NO_CLAIM;
		return;
	}
	count->wrong += finding->claim != ROOM_SLOWER;
	count->reversed += finding->claim == ROOM_FASTER;
}

/* All findings by one rule; none: no line. */
static void room_add_line(
	struct room_result *result, const struct room_tool *tool, const struct room_rule *rule)
{
	struct room_line line = {tool, rule};
	int64_t sum_ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < result->n_findings; i++) {
		const struct room_finding *finding = &result->findings[i];
		size_t k = room_slowdown_index(finding->slowdown);

		if (strcmp(finding->rule, rule->name) || k == N_ROOM_SLOWDOWNS)
			continue;
		room_count_finding(&line.counts[room_condition_of(finding)][k], finding);
		sum_ns = saturate_add(sum_ns, finding->finished_ns - finding->started_ns);
		n++;
	}
	if (n == 0)
		return;
	line.mean_ns = sum_ns / (int64_t)n;
	*array_add(result->lines, result->n_lines) = line;
}

/* How much the copies were slowed, and what the daemon took. */
static void room_find_truth(struct room_result *result)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < N_ROOM_SLOWDOWNS; i++)
		result->slowed_low[i] = result->slowed_high[i] = NAN;
	for (size_t i = 0; i < result->n_findings; i++) {
		const struct room_finding *finding = &result->findings[i];
		size_t k = room_slowdown_index(finding->slowdown);

		if (k < N_ROOM_SLOWDOWNS) {
			result->slowed_low[k] = fmin(result->slowed_low[k], finding->slowed);
			result->slowed_high[k] = fmax(result->slowed_high[k], finding->slowed);
		}
		if (!isnan(finding->daemon)) {
			sum += finding->daemon;
			n++;
		}
	}
	result->daemon = n > 0 ? sum / (double)n : NAN;
}

static char *room_command_of(const struct study_block *block)
{
	_cleanup_(json_decrefp) json_t *words = json_loads(block->command, 0, NULL);
	_cleanup_(freep) const char **argv = NULL;
	json_t *word;
	size_t i, n = 0;

	json_array_foreach (words, i, word)
		*array_add(argv, n) = json_string_value(word) ?: "?";
	*array_add(argv, n) = NULL;
	return argv_join((char *const *)argv);
}

int room_result_read(
	struct room_result *ret, struct book *book, struct study_row *row, struct error *err)
{
	_cleanup_(room_result_clear) struct room_result result = {.row = TAKE_STRUCT(*row)};
	struct study_block *blocks = NULL;
	size_t n_blocks = 0;
	int64_t id = result.row.id;
	int r = book_study_blocks(book, id, &blocks, &n_blocks, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n_blocks; i++) {
		if (blocks[i].finished_ns == 0)
			continue;
		result.n_comparisons++;
		result.took_ns = saturate_add(
			result.took_ns, blocks[i].finished_ns - blocks[i].started_ns);
		result.rounds = blocks[i].round > result.rounds ? blocks[i].round : result.rounds;
	}
	result.n_planned = n_blocks;
	if (n_blocks > 0) {
		result.command = room_command_of(&blocks[0]);
		result.samples = blocks[0].samples;
	}
	fields_free(&study_block_table, blocks, n_blocks);
	if (sscanf(result.row.options, ROOM_OPTIONS, &result.cpu) != 1)
		result.cpu = -1;

	r = book_room_findings(book, id, &result.findings, &result.n_findings, err);
	if (r < 0)
		return r;
	if (result.n_findings == 0)
		return error_say(err, -ENOENT,
			"study %lld has no comparison yet: 'emp-study resume' goes on with it",
			(long long)id);
	for (size_t i = 0; i < N_ROOM_TOOLS; i++)
		for (size_t k = 0; room_tools[i].rules[k].name; k++)
			room_add_line(&result, &room_tools[i], &room_tools[i].rules[k]);
	room_find_truth(&result);
	*ret = TAKE_STRUCT(result);
	return 0;
}

void room_result_clear(struct room_result *result)
{
	study_row_clear(&result->row);
	free(result->command);
	free(result->lines);
	fields_free(&room_finding_table, result->findings, result->n_findings);
	*result = (struct room_result){};
}

/* "1/12 (0-38 %)": the count, and the 95 % interval of the rate behind it. */
static const char *room_count_text(const struct room_count *count)
{
	double low, high;

	if (count->n == 0)
		return NULL;
	proportion_interval(count->wrong, count->n, &low, &high);
	return text_brief("%zu/%zu (%.0f-%.0f %%)", count->wrong, count->n, 100 * low, 100 * high);
}

static struct cell room_count_cell(const struct room_count *count)
{
	return TEXT(room_count_text(count), .mark = count->wrong > 0 ? MARK_BAD : MARK_NONE);
}

static const struct column room_columns[] = {{"TOOL AND RULE"}, {"CLAIMS AT 0 %", COLUMN_NUMBER},
	{"MISSES 2 %", COLUMN_NUMBER}, {"MISSES 5 %", COLUMN_NUMBER}, {"TIME", COLUMN_NUMBER}, {}};

static void room_write_table(FILE *file, const struct room_result *result,
	enum room_condition condition, enum table_format format)
{
	_cleanup_(table_freep) struct table *table = table_new(room_columns);

	for (size_t i = 0; i < result->n_lines; i++) {
		const struct room_line *line = &result->lines[i];
		const struct room_count *counts = line->counts[condition];

		table_row(table, room_columns, TEXT(line->rule->label), room_count_cell(&counts[0]),
			room_count_cell(&counts[1]), room_count_cell(&counts[2]),
			REAL("%.1f s", (double)line->mean_ns / 1e9));
	}
	table_write(table, format, file);
}

static const char *room_condition_title(
	const struct room_result *result, enum room_condition condition)
{
	if (condition == ROOM_QUIET)
		return "The machine as it is";
	return text_brief("Beside a planted daemon, which took %s of CPU %d",
		text_percent(result->daemon), result->cpu);
}

/* "2 times by perf stat, time elapsed; …"; NULL: by nobody. The caller frees it. */
static char *room_reversed_text(const struct room_result *result)
{
	char *text = NULL;

	for (size_t i = 0; i < result->n_lines; i++) {
		const struct room_line *line = &result->lines[i];
		size_t n = 0;

		for (size_t c = 0; c < N_ROOM_CONDITIONS; c++)
			for (size_t k = 0; k < N_ROOM_SLOWDOWNS; k++)
				n += line->counts[c][k].reversed;
		if (n > 0)
			text_append(&text, "; ", "%s by %s", text_count((int64_t)n, "time"),
				line->rule->label);
	}
	return text;
}

/* What the numbers are, below the tables. */
static char *room_explanation(const struct room_result *result)
{
	_cleanup_(freep) char *reversed = NULL;
	char *text = NULL;

	text_append(&text, " ",
		"Claims at 0 %%: of a difference, although both programs are the same. Misses: no "
		"claim, although the second program is slower. Counted are wrong answers of all; in "
		"brackets is the 95 %% interval of their rate. Time: of a comparison, with %" PRIu32
		" samples of each program.",
		result->samples);
	if (!isnan(result->slowed_low[1]) && !isnan(result->slowed_low[2]))
		text_append(&text, " ",
			"By their own account, the slower programs took %.2f … %.2f %% and %.2f … "
			"%.2f %% more CPU time.",
			100 * result->slowed_low[1], 100 * result->slowed_high[1],
			100 * result->slowed_low[2], 100 * result->slowed_high[2]);
	reversed = room_reversed_text(result);
	if (reversed)
		text_append(&text, " ",
			"Worse than a miss, the slower program was said to be faster: %s.",
			reversed);
	if (result->rounds < ROOM_ROUNDS_MANY)
		text_append(&text, " ",
			"So few comparisons say little of rates: --max-time 10min makes more.");
	return text;
}

static char *room_title(const struct room_result *result)
{
	char *text = text_format("%s on CPU %d against itself (0 %%) and slowed by 2 and 5 %%: "
				 "%s in random order in %s (study %lld)",
		result->command, result->cpu,
		text_count((int64_t)result->n_comparisons, "comparison"),
		text_duration(result->took_ns), (long long)result->row.id);

	if (result->n_comparisons < result->n_planned)
		text_append(&text, "", "; %zu more were planned",
			result->n_planned - result->n_comparisons);
	return text;
}

void room_result_print(FILE *file, const struct room_result *result)
{
	_cleanup_(freep) char *title = room_title(result), *explanation = room_explanation(result);

	terminal_say(file, 0, "%s", terminal_text(title));
	for (enum room_condition c = 0; c < N_ROOM_CONDITIONS; c++) {
		fprintf(file, "\n%s%s%s\n", terminal_mark(file, MARK_STRONG),
			room_condition_title(result, c), terminal_mark(file, MARK_END));
		room_write_table(file, result, c, TABLE_SCREEN);
	}
	fputc('\n', file);
	terminal_say(file, 0, "%s", explanation);
}

void room_result_write_markdown(FILE *file, const struct room_result *result)
{
	_cleanup_(freep) char *title = room_title(result), *explanation = room_explanation(result);

	fprintf(file, "%s\n", terminal_text(title));
	for (enum room_condition c = 0; c < N_ROOM_CONDITIONS; c++) {
		fprintf(file, "\n**%s**\n\n", room_condition_title(result, c));
		room_write_table(file, result, c, TABLE_MARKDOWN);
	}
	fprintf(file, "\n%s\n", explanation);
}

static json_t *room_count_json(const struct room_count *count)
{
	double low = NAN, high = NAN;

	if (count->n > 0)
		proportion_interval(count->wrong, count->n, &low, &high);
	return JSON_OBJECT({"comparisons", json_integer((int64_t)count->n)},
		{"wrong", json_integer((int64_t)count->wrong)},
		{"reversed", json_integer((int64_t)count->reversed)},
		{"interval", json_interval(low, high)});
}

static json_t *room_condition_json(const struct room_count *counts)
{
	return JSON_OBJECT({"claims_at_0", room_count_json(&counts[0])},
		{"misses_of_2", room_count_json(&counts[1])},
		{"misses_of_5", room_count_json(&counts[2])});
}

static json_t *room_lines_json(const struct room_result *result)
{
	json_t *lines = json_array();

	for (size_t i = 0; i < result->n_lines; i++) {
		const struct room_line *line = &result->lines[i];

		json_array_append_new(lines,
			JSON_OBJECT({"tool", json_string(line->tool->name)},
				{"rule", json_string(line->rule->name)},
				{"claims_if", json_string(line->rule->text)},
				{"command", json_string(line->tool->command)},
				{"mean_comparison_ns", json_integer(line->mean_ns)},
				{"nothing_planted", room_condition_json(line->counts[ROOM_QUIET])},
				{"beside_daemon",
					room_condition_json(line->counts[ROOM_BESIDE_DAEMON])}));
	}
	return lines;
}

static json_t *room_comparisons_json(const struct room_result *result)
{
	json_t *comparisons = json_array();

	for (size_t i = 0; i < result->n_findings; i++) {
		const struct room_finding *finding = &result->findings[i];

		json_array_append_new(comparisons,
			JSON_OBJECT({"position", json_integer(finding->position)},
				{"round", json_integer(finding->round)},
				{"rule", json_text(finding->rule)},
				{"slowdown", json_real(finding->slowdown)},
				{"slowed", json_real(finding->slowed)},
				{"daemon_share", json_real_or_null(finding->daemon)},
				{"copy_first", json_boolean(finding->copy_first)},
				{"claim", json_string(room_claim_words[finding->claim])},
				{"ratio", json_real_or_null(finding->ratio)},
				{"start_ns", json_integer(finding->started_ns)},
				{"took_ns",
					json_integer(finding->finished_ns - finding->started_ns)}));
	}
	return comparisons;
}

json_t *room_result_json(const struct room_result *result)
{
	return JSON_OBJECT({"study", json_integer(result->row.id)},
		{"name", json_text(result->row.name)},
		{"command", json_text(result->command) ?: json_null()},
		{"cpu", json_int_if(result->cpu >= 0, result->cpu)},
		{"samples", json_integer(result->samples)},
		{"rounds", json_integer(result->rounds)},
		{"planned", json_integer((int64_t)result->n_planned)},
		{"seed", json_integer(result->row.seed)},
		{"daemon_share", json_real_or_null(result->daemon)},
		{"rules", room_lines_json(result)}, {"comparisons", room_comparisons_json(result)});
}
