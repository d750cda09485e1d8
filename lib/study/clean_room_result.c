/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the study clean-room found: see clean_room_result.h. */
#include "lib/study/clean_room_result.h"

#include "lib/base/argv.h"
#include "lib/stats/summary.h"
#include "lib/study/clean_room.h"
#include "lib/study/clean_room_book.h"
#include "lib/study/study_internal.h"

enum room_condition { ROOM_QUIET, ROOM_BESIDE_DAEMON, N_ROOM_CONDITIONS };

struct room_count {
	size_t n;
	/* with slowdown 0: a difference was claimed; otherwise: none was, or the copy was said to
	 * be faster */
	size_t wrong;
	size_t reversed; /* of these, how many said that the slower copy is faster */
};

/* One rule. */
struct room_line {
	const struct room_tool *tool;
	const struct room_rule *rule;
	struct room_count counts[N_ROOM_CONDITIONS][N_ROOM_SLOWDOWNS];
	int64_t mean_ns[N_ROOM_CONDITIONS]; /* of a comparison; 0: there is none */
};

struct room_result {
	char *command;
	int64_t cpu;
	int rounds; /* begun */
	uint32_t samples;
	size_t n_comparisons;
	int64_t took_ns;
	struct room_line *lines;
	size_t n_lines;
	/* by which the copies were slower in fact, of all comparisons; NAN: there is none */
	double slowed_low[N_ROOM_SLOWDOWNS], slowed_high[N_ROOM_SLOWDOWNS];
	double daemon; /* the mean share of the CPU that it took; NAN: there is no comparison */
	struct room_finding *findings;
	size_t n_findings;
};

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
	int64_t sum_ns[N_ROOM_CONDITIONS] = {};
	size_t n[N_ROOM_CONDITIONS] = {};

	for (size_t i = 0; i < result->n_findings; i++) {
		const struct room_finding *finding = &result->findings[i];
		const enum room_condition condition = room_condition_of(finding);
		size_t k = room_slowdown_index(finding->slowdown);

		if (strcmp(finding->rule, rule->name) || k == N_ROOM_SLOWDOWNS)
			continue;
		room_count_finding(&line.counts[condition][k], finding);
		sum_ns[condition] = saturate_add(
			sum_ns[condition], finding->finished_ns - finding->started_ns);
		n[condition]++;
	}
	if (n[ROOM_QUIET] + n[ROOM_BESIDE_DAEMON] == 0)
		return;
	for (size_t i = 0; i < N_ROOM_CONDITIONS; i++)
		line.mean_ns[i] = n[i] > 0 ? sum_ns[i] / (int64_t)n[i] : 0;
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

static void room_result_clear(struct room_result *result)
{
	free(result->command);
	free(result->lines);
	fields_free(&room_finding_table, result->findings, result->n_findings);
	*result = (struct room_result){};
}

/* What its blocks say. */
static int room_read_blocks(
	struct room_result *result, struct book *book, int64_t study, struct error *err)
{
	struct study_block *blocks = NULL;
	size_t n = 0;
	int r = book_study_blocks(book, study, &blocks, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (blocks[i].finished_ns == 0)
			continue;
		if (!result->command)
			result->command = room_command_of(&blocks[i]);
		result->samples = blocks[i].samples;
		result->n_comparisons++;
		result->took_ns = saturate_add(
			result->took_ns, blocks[i].finished_ns - blocks[i].started_ns);
		result->rounds = blocks[i].round > result->rounds ? blocks[i].round
								  : result->rounds;
	}
	fields_free(&study_block_table, blocks, n);
	return r;
}

static int room_result_read(struct room_result *result, struct book *book,
	const struct study_row *row, struct error *err)
{
	int r = room_read_blocks(result, book, row->id, err);

	if (r == 0)
		r = book_room_findings(book, row->id, &result->findings, &result->n_findings, err);
	if (r < 0)
		return r;
	if (result->n_findings == 0)
		return error_say(err, -ENOENT,
			"study %lld has no comparison yet: 'emp-study resume' goes on with it",
			(long long)row->id);
	result->cpu = clean_room_cpu(row);
	for (size_t i = 0; i < N_ROOM_TOOLS; i++)
		for (size_t k = 0; room_tools[i].rules[k].name; k++)
			room_add_line(result, &room_tools[i], &room_tools[i].rules[k]);
	room_find_truth(result);
	return 0;
}

/* "1/12 (0-38 %)": the count, and the 95 % interval of the rate behind it; and both for programs. */
static void room_add_count(struct table *table, const struct room_count *count)
{
	const char *text = NULL;
	double low = NAN, high = NAN;

	if (count->n > 0) {
		proportion_interval(count->wrong, count->n, &low, &high);
		text = text_brief(
			"%zu/%zu (%.0f-%.0f %%)", count->wrong, count->n, 100 * low, 100 * high);
	}
	table_add(table, TEXT(text, .mark = count->wrong > 0 ? MARK_BAD : MARK_NONE),
		NUMBER(count->wrong), NUMBER(count->n), NUMBER(count->reversed),
		VALUE(json_real_or_null(low), NULL), VALUE(json_real_or_null(high), NULL));
}

#define ROOM_COUNT_COLUMNS(heading, member)                                                     \
	{heading, COLUMN_NUMBER}, {NULL, COLUMN_NUMBER, member},                                \
		{NULL, COLUMN_NUMBER, member "_of"}, {NULL, COLUMN_NUMBER, member "_reversed"}, \
		{NULL, COLUMN_NUMBER, member "_low"},                                           \
	{                                                                                       \
		NULL, COLUMN_NUMBER, member "_high"                                             \
	}

static const struct column room_columns[] = {{"TOOL AND RULE"}, {NULL, COLUMN_TEXT, "tool"},
	{NULL, COLUMN_TEXT, "rule"}, ROOM_COUNT_COLUMNS("CLAIMS AT 0 %", "claims_at_0"),
	ROOM_COUNT_COLUMNS("MISSES 2 %", "misses_of_2"),
	ROOM_COUNT_COLUMNS("MISSES 5 %", "misses_of_5"), {"TIME", COLUMN_NUMBER},
	{NULL, COLUMN_NUMBER, "mean_comparison_ns"}, {}};

static void room_fill_table(
	struct table *table, const struct room_result *result, enum room_condition condition)
{
	for (size_t i = 0; i < result->n_lines; i++) {
		const struct room_line *line = &result->lines[i];
		const int64_t mean_ns = line->mean_ns[condition];

		table_begin_row(table);
		table_add(table, TEXT(line->rule->label), TEXT(line->tool->name),
			TEXT(line->rule->name));
		for (size_t k = 0; k < N_ROOM_SLOWDOWNS; k++)
			room_add_count(table, &line->counts[condition][k]);
		table_add(table, TEXT(mean_ns ? text_brief("%.1f s", (double)mean_ns / 1e9) : NULL),
			VALUE(json_int_if(mean_ns > 0, mean_ns), NULL));
	}
}

static const struct column room_rule_columns[] = {{"TOOL AND RULE"}, {NULL, COLUMN_TEXT, "tool"},
	{NULL, COLUMN_TEXT, "rule"}, {"CLAIMS A DIFFERENCE IF", COLUMN_WRAP, "claims_if"},
	{NULL, COLUMN_TEXT, "command"}, {}};

static void room_fill_rules(struct table *table, const struct room_result *result)
{
	for (size_t i = 0; i < result->n_lines; i++) {
		const struct room_line *line = &result->lines[i];

		table_row(table, room_rule_columns, TEXT(line->rule->label), TEXT(line->tool->name),
			TEXT(line->rule->name), TEXT(line->rule->text), TEXT(line->tool->command));
	}
}

static const struct column room_claim_columns[] = {{NULL, COLUMN_NUMBER, "position"},
	{NULL, COLUMN_NUMBER, "round"}, {NULL, COLUMN_TEXT, "tool"}, {NULL, COLUMN_TEXT, "rule"},
	{NULL, COLUMN_NUMBER, "slowdown"}, {NULL, COLUMN_NUMBER, "slowed"},
	{NULL, COLUMN_NUMBER, "daemon_share"}, {NULL, COLUMN_TEXT, "copy_first"},
	{NULL, COLUMN_TEXT, "claim"}, {NULL, COLUMN_NUMBER, "ratio"},
	{NULL, COLUMN_NUMBER, "start_ns"}, {NULL, COLUMN_NUMBER, "took_ns"}, {}};

static void room_fill_claims(struct table *table, const struct room_result *result)
{
	for (size_t i = 0; i < result->n_findings; i++) {
		const struct room_finding *f = &result->findings[i];

		table_row(table, room_claim_columns, NUMBER(f->position), NUMBER(f->round),
			TEXT(f->tool), TEXT(f->rule), VALUE(json_real(f->slowdown), NULL),
			VALUE(json_real(f->slowed), NULL),
			VALUE(json_real_or_null(f->daemon), NULL),
			VALUE(json_boolean(f->copy_first), NULL), TEXT(room_claim_words[f->claim]),
			VALUE(json_real_or_null(f->ratio), NULL), NUMBER(f->started_ns),
			NUMBER(f->finished_ns - f->started_ns));
	}
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

/* What the numbers are. */
static void room_explain(struct study_report *report, const struct room_result *result)
{
	_cleanup_(freep) char *reversed = room_reversed_text(result);

	study_add_remark(report,
		"Claims at 0 %%: of a difference, although both programs are the same. Misses: no "
		"claim that the slower program is slower. 1/12 are 1 of 12 answers, and in brackets "
		"is the 95 %% interval of the rate. TIME is that of a comparison, with %" PRIu32
		" samples of each program.",
		result->samples);
	if (!isnan(result->slowed_low[1]) && !isnan(result->slowed_low[2]))
		study_add_remark(report,
			"By their own account, the slower programs took %.2f … %.2f %% and %.2f … "
			"%.2f %% more CPU time.",
			100 * result->slowed_low[1], 100 * result->slowed_high[1],
			100 * result->slowed_low[2], 100 * result->slowed_high[2]);
	if (reversed)
		study_add_remark(report,
			"Worse than a miss, the slower program was said to be faster: %s.",
			reversed);
	if (result->rounds < ROOM_ROUNDS_MANY)
		study_add_remark(report,
			"So few comparisons say little of rates: --max-time 10min makes more.");
}

int study_add_clean_room(struct study_report *report, struct book *book, struct error *err)
{
	_cleanup_(room_result_clear) struct room_result result = {};
	int r = room_result_read(&result, book, &report->data->study, err);

	if (r < 0)
		return r;
	room_fill_table(
		study_add_table(report, "nothing_planted", room_columns,
			"%s against itself (0 %%) and slowed by 2 and 5 %%: %s on CPU %lld in "
			"random order, in %s. Nothing planted:",
			result.command, text_count((int64_t)result.n_comparisons, "comparison"),
			(long long)result.cpu, text_duration(result.took_ns)),
		&result, ROOM_QUIET);
	room_fill_table(study_add_table(report, "beside_daemon", room_columns,
				"Beside a planted daemon, which took %s of CPU %lld:",
				text_percent(result.daemon), (long long)result.cpu),
		&result, ROOM_BESIDE_DAEMON);
	room_fill_rules(
		study_add_table(report, "rules", room_rule_columns, "What counts as a claim:"),
		&result);
	room_fill_claims(study_add_table(report, "claims", room_claim_columns, "%s", ""), &result);
	room_explain(report, &result);
	return 0;
}
