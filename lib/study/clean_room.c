/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The study clean-room while it is measured: see clean_room.h. */
#include "lib/study/clean_room.h"

#include "lib/base/argv.h"
#include "lib/base/json.h"
#include "lib/base/terminal.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/process.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/subprocess.h"
#include "lib/host/system/leftovers.h"
#include "lib/study/clean_room_book.h"
#include "lib/study/clean_room_daemon.h"
#include "lib/study/study_measure.h"
#include "lib/study/study_report.h"

#include <math.h>
#include <sched.h>

const double room_slowdowns[N_ROOM_SLOWDOWNS] = {0, 0.02, 0.05};

enum { ROOM_TRIAL_SAMPLES = 2 };
/* Of comparisons by one tool: each slowdown, with and without the daemon. */
enum { ROOM_CONDITIONS = 2, ROOM_KINDS = N_ROOM_SLOWDOWNS * ROOM_CONDITIONS };
enum { ROOM_ROUNDS_FEW = 3, ROOM_ROUNDS_MOST = 1000 };
#define ROOM_MAX_TIME (60 * NS_PER_S)

/* A tool that takes part, and how long a comparison takes it. */
struct room_guest {
	const struct room_tool *tool;
	int64_t cost_ns;
};

struct room {
	struct study_session *session;
	char **command; /* of the user's program */
	char *path;     /* its file */
	int cpu;
	uint32_t samples;
	int64_t program_ns, program_pt_ns;
	struct room_guest guests[N_ROOM_TOOLS];
	size_t n_guests;
	char *slowed; /* emp-slowed */
	char *directory, *log;
	int directory_fd;
};

static void room_close(struct room *room)
{
	argv_freep(&room->command);
	free(room->path);
	free(room->slowed);
	free(room->log);
	if (room->directory)
		leftover_directory_remove(room->directory);
	free(room->directory);
	closep(&room->directory_fd);
}

/* The last CPU that this process may use. */
static int room_last_cpu(void)
{
	cpu_set_t set;
	int last = 0;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &set))
				last = cpu;
	return last;
}

int64_t clean_room_cpu(const struct study_row *row)
{
	_cleanup_(json_decrefp) json_t *words = json_loads(row->options, 0, NULL);
	int64_t cpu = -1;

	for (size_t i = 0; i + 1 < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));
		const char *value = json_string_value(json_array_get(words, i + 1));

		if (word && value && !strcmp(word, "--cpu"))
			text_parse_int(value, word, 0, INT32_MAX, &cpu, NULL);
	}
	return cpu;
}

/* The program of the study: that of its blocks if it has been planned, else of its file. */
static int room_find_program(struct room *room, struct error *err)
{
	const struct study_session *session = room->session;
	struct study_block planned = {};
	int r;

	if (session->n_blocks > 0)
		return study_block_argv(&session->blocks[0], &room->command, &room->path, err);
	if (session->file.n_subjects != 1)
		return error_say(err, -EINVAL,
			"a clean room has one program: 'emp-study run clean-room -- COMMAND' "
			"measures yours");
	planned.subject = session->file.subjects[0].name;
	planned.command = run_command_json(session->file.subjects[0].argv);
	r = study_block_argv(&planned, &room->command, &room->path, err);
	free(planned.command);
	return r;
}

static int room_open(struct room *room, struct study_session *session, struct error *err)
{
	const char *below = getenv("TMPDIR");
	_cleanup_(closep) int log_fd = -1;
	int r, cpu = study_cpu(session);

	*room = (struct room){
		.session = session,
		.cpu = cpu >= 0 ? cpu : room_last_cpu(),
		.samples = session->n_blocks > 0 ? session->blocks[0].samples
						 : session->file.samples,
		.directory_fd = -1,
	};
	r = suite_file_find("emp-slowed", &room->slowed, err);
	if (r == 0)
		r = room_find_program(room, err);
	if (r == 0)
		r = leftover_directory_make(below && *below ? below : "/tmp", &room->directory,
			&room->directory_fd, err);
	if (r < 0)
		return r;
	room->log = text_format("%s/executions", room->directory);
	log_fd = open(room->log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return log_fd < 0 ? error_os(err, -errno, "cannot make %s", room->log) : 0;
}

/* What emp-slowed says of the executions of one program. */
struct room_executions {
	int64_t n, before_ns, slowed_ns;
};

static int room_read_log(
	const struct room *room, const char *name, struct room_executions *ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	char *rest, *line;
	int r = file_read_text(room->log, &text);

	if (r < 0)
		return error_os(err, r, "cannot read %s", room->log);
	*ret = (struct room_executions){};
	for (rest = text; (line = strsep(&rest, "\n"));) {
		int64_t before_ns, slowed_ns;
		char who[16];

		if (sscanf(line, "%15s %" SCNd64 " %" SCNd64, who, &before_ns, &slowed_ns) != 3 ||
			strcmp(who, name))
			continue;
		ret->n++;
		ret->before_ns += before_ns;
		ret->slowed_ns += slowed_ns;
	}
	return 0;
}

/* The words of the program as a tool gets them; free() the array. They are valid as long as
 * `share_text`. */
static char **room_program(const struct room *room, const char *name, const char *share_text)
{
	const char *const start[] = {
		room->slowed, name, share_text, room->log, room->path ?: room->command[0]};
	char **words = NULL;
	size_t n = 0;

	for (size_t i = 0; i < ELEMENTS(start); i++)
		*array_add(words, n) = (char *)start[i];
	for (char *const *word = room->command + 1; *word; word++)
		*array_add(words, n) = *word;
	*array_add(words, n) = NULL;
	return words;
}

/* One comparison. The answer is about the copy, whichever of the two was first. */
static int room_compare(const struct room *room, const struct room_tool *tool, double slowdown,
	bool copy_first, uint32_t samples, struct room_answer *ret, double *ret_slowed,
	struct error *err)
{
	_cleanup_(freep) char *share = text_format("%g", slowdown);
	_cleanup_(freep) char **original = room_program(room, "original", "0");
	_cleanup_(freep) char **copy = room_program(room, "copy", share);
	struct room_executions of_original, of_copy;
	const struct room_pair pair = {
		.first = copy_first ? copy : original,
		.second = copy_first ? original : copy,
		.cpu = room->cpu,
		.samples = samples,
		.directory = room->directory,
		.db = book_file(room->session->book),
	};
	int r;

	*ret = (struct room_answer){.ratios = {NAN, NAN}};
	if (truncate(room->log, 0) < 0)
		return error_os(err, -errno, "cannot write to %s", room->log);
	r = tool->compare(&pair, ret, err);
	if (r == 0)
		r = room_read_log(room, "original", &of_original, err);
	if (r == 0)
		r = room_read_log(room, "copy", &of_copy, err);
	if (r < 0)
		return r == -EINTR ? r : error_prefix(err, r, "%s", tool->name);
	if (of_original.n < samples || of_copy.n < samples)
		return error_say(err, -EPROTO,
			"%s ran the programs %" PRId64 " and %" PRId64 " times, not %" PRIu32,
			tool->name, of_original.n, of_copy.n, samples);

	*ret_slowed = (double)of_copy.slowed_ns / (double)of_copy.before_ns;
	for (size_t i = 0; copy_first && i < ROOM_RULES_MAX; i++) {
		ret->ratios[i] = 1 / ret->ratios[i];
		if (ret->claims[i] != ROOM_NO_CLAIM)
			ret->claims[i] = ret->claims[i] == ROOM_FASTER ? ROOM_SLOWER : ROOM_FASTER;
	}
	return 0;
}

/* Runs the program a few times: whether it succeeds, and how long it takes. */
static int room_time_program(struct room *room, struct error *err)
{
	enum { RUNS = 4 }; /* the first warms up */
	_cleanup_(freep) char **program = room_program(room, "original", "0");
	const struct subprocess subprocess = {.argv = program,
		.path = room->slowed,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.ends_on_signals = true};
	struct room_executions executions;
	int r = 0, status;

	for (size_t i = 0; r == 0 && i < RUNS; i++) {
		int64_t start_ns = clock_ns(CLOCK_MONOTONIC);

		if (i == 1 && truncate(room->log, 0) < 0)
			return error_os(err, -errno, "cannot write to %s", room->log);
		r = subprocess_run(&subprocess, NULL, &status, err);
		if (r == 0 && status != 0)
			return error_say(err, -ECANCELED,
				"%s %s: a clean room needs a program that succeeds",
				room->command[0], process_end_text(status));
		if (i > 0)
			room->program_ns += (clock_ns(CLOCK_MONOTONIC) - start_ns) / (RUNS - 1);
	}
	if (r == 0)
		r = room_read_log(room, "original", &executions, err);
	if (r == 0)
		room->program_pt_ns = executions.before_ns / executions.n;
	return r;
}

/* Lets a tool compare a few samples: whether it works here, and what a comparison costs. */
static int room_try(
	struct room *room, const struct room_tool *tool, int64_t *ret_cost_ns, struct error *err)
{
	int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	const int64_t more = 2 * ((int64_t)room->samples - ROOM_TRIAL_SAMPLES);
	struct room_answer answer;
	double slowed;
	int r = room_compare(room, tool, 0, false, ROOM_TRIAL_SAMPLES, &answer, &slowed, err);

	*ret_cost_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
	*ret_cost_ns = saturate_add(
		*ret_cost_ns, saturate_multiply(more > 0 ? (uint64_t)more : 0, room->program_ns));
	return r;
}

static void room_say_absent(const struct room *room, const struct room_tool *tool, const char *why)
{
	if (!room->session->options->quiet)
		terminal_remark("without %s: %s", tool->name, why);
}

/* Finds the tools that are installed and work. */
static int room_invite(struct room *room, struct error *err)
{
	for (size_t i = 0; i < N_ROOM_TOOLS; i++) {
		const struct room_tool *tool = &room_tools[i];
		_cleanup_(freep) char *path = NULL;
		struct error why = {};
		int64_t cost_ns;
		int r;

		if (tool->program && executable_find(tool->program, &path, NULL) < 0) {
			room_say_absent(room, tool, "not installed");
			continue;
		}
		r = room_try(room, tool, &cost_ns, &why);
		if (r == 0) {
			room->guests[room->n_guests++] = (struct room_guest){tool, cost_ns};
		} else if (r == -EINTR || !tool->program) {
			*err = why;
			return r;
		} else {
			room_say_absent(room, tool, why.text);
		}
	}
	return 0;
}

static int64_t room_round_ns(const struct room *room)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < room->n_guests; i++)
		sum_ns = saturate_add(sum_ns, room->guests[i].cost_ns);
	return saturate_multiply(ROOM_KINDS, sum_ns);
}

/* The slowest of the other tools, if it takes much longer than a tool does on average; NULL: none
 * does. */
static struct room_guest *room_slow_guest(struct room *room)
{
	int64_t mean_ns = room_round_ns(room) / (int64_t)room->n_guests / ROOM_KINDS;
	struct room_guest *slowest = NULL;

	for (size_t i = 0; i < room->n_guests; i++) {
		struct room_guest *guest = &room->guests[i];

		if (guest->tool->program && guest->cost_ns > mean_ns + mean_ns / 2 &&
			(!slowest || guest->cost_ns > slowest->cost_ns))
			slowest = guest;
	}
	return slowest;
}

/* How many rounds fit. If they are few, slow tools are left out. */
static int room_fit_rounds(struct room *room, int *ret_rounds, struct error *err)
{
	const int64_t left_ns = room->session->deadline_ns - clock_ns(CLOCK_MONOTONIC);
	struct room_guest *slow;
	int64_t rounds;

	while (left_ns < ROOM_ROUNDS_FEW * room_round_ns(room) && (slow = room_slow_guest(room))) {
		room_say_absent(room, slow->tool,
			text_brief("a comparison takes it %s; try a longer --max-time",
				text_duration(slow->cost_ns)));
		*slow = room->guests[--room->n_guests];
	}
	rounds = left_ns / room_round_ns(room);
	if (rounds < 1)
		return error_say(err, -ETIME,
			"a round of %zu comparisons takes some %s: allow it with --max-time, or "
			"measure a shorter program",
			room->n_guests * ROOM_KINDS, text_duration(room_round_ns(room)));
	*ret_rounds = rounds < ROOM_ROUNDS_MOST ? (int)rounds : ROOM_ROUNDS_MOST;
	return 0;
}

/* The blocks of all rounds. Each round has every tool, slowdown and condition once, in random
 * order. */
static void room_plan_blocks(struct room *room, int rounds)
{
	struct study_session *session = room->session;
	const size_t in_round = room->n_guests * ROOM_KINDS;
	_cleanup_(freep) char *command = run_command_json(room->command);
	uint64_t random = (uint64_t)session->row.seed;

	session->n_blocks = (size_t)rounds * in_round;
	session->blocks = xcalloc(session->n_blocks, sizeof(*session->blocks));
	for (size_t i = 0; i < session->n_blocks; i++) {
		size_t k = i % in_round, other = i - k + random_next(&random) % (k + 1);
		size_t guest = k / ROOM_KINDS;
		bool daemon = k % ROOM_CONDITIONS;
		const struct study_block block = {
			.round = (int)(i / in_round) + 1,
			.step = daemon ? xstrdup(ROOM_DAEMON_STEP) : NULL,
			.subject = xstrdup(room->guests[guest].tool->name),
			.size = room_slowdowns[k / ROOM_CONDITIONS % N_ROOM_SLOWDOWNS],
			.command = xstrdup(command),
			.samples = room->samples,
		};

		session->blocks[i] = session->blocks[other];
		session->blocks[other] = block;
	}
	for (size_t i = 0; i < session->n_blocks; i++)
		session->blocks[i].position = (uint32_t)i + 1;
}

static int room_measure_block(
	const struct room *room, const struct study_block *block, struct error *err)
{
	struct study_session *session = room->session;
	const struct room_tool *tool = room_tool_find(block->subject);
	uint64_t random = (uint64_t)session->row.seed + block->position;
	struct room_comparison comparison = {.block = block->id};
	struct room_daemon daemon = {};
	struct room_answer answer;
	int r;

	if (!tool)
		return error_say(err, -EINVAL, "there is no tool '%s'", block->subject);
	comparison.copy_first = random_next(&random) & 1;
	r = book_begin_study_block(session->book, block->id, err);
	if (r == 0 && block->step)
		r = room_daemon_start(
			&daemon, room->cpu, ROOM_DAEMON_SHARE, room->program_pt_ns, random, err);
	if (r == 0)
		r = room_compare(room, tool, block->size, comparison.copy_first, block->samples,
			&answer, &comparison.slowed, err);
	comparison.daemon = room_daemon_stop(&daemon);
	return r < 0 ? r : book_add_room_comparison(session->book, &comparison, tool, &answer, err);
}

/* Until when it is measured, unless it is planned already. */
static void room_set_deadline(struct study_session *session, int64_t limit_ns)
{
	int64_t most_ns = limit_ns ?: session->options->max_time_ns ?: session->file.max_time_ns;

	if (session->deadline_ns == 0)
		session->deadline_ns = saturate_add(
			clock_ns(CLOCK_MONOTONIC), most_ns ?: ROOM_MAX_TIME);
}

/* For those who resume it. */
static void room_keep_cpu(struct study_session *session, int cpu)
{
	size_t n = 0;

	while (session->measure[n])
		n++;
	*array_add(session->measure, n) = xstrdup("--cpu");
	*array_add(session->measure, n) = text_format("%d", cpu);
	*array_add(session->measure, n) = NULL;
	free(session->row.options);
	session->row.options = run_command_json(session->measure);
}

int clean_room_plan(struct study_session *session, int64_t limit_ns, struct error *err)
{
	_cleanup_(room_close) struct room room;
	int rounds = 0, r;

	room_set_deadline(session, limit_ns);
	r = room_open(&room, session, err);
	if (r == 0)
		r = room_time_program(&room, err);
	if (r == 0)
		r = room_invite(&room, err);
	if (r == 0)
		r = room_fit_rounds(&room, &rounds, err);
	if (r < 0)
		return r;
	room_plan_blocks(&room, rounds);
	if (study_cpu(session) < 0)
		room_keep_cpu(session, room.cpu);
	return 0;
}

int clean_room_measure(struct study_session *session, struct error *err)
{
	_cleanup_(room_close) struct room room;
	struct progress progress;
	int r = room_open(&room, session, err);

	room_set_deadline(session, 0);
	if (r == 0)
		r = room_time_program(&room, err);
	progress_begin(&progress, "Comparison", session->n_blocks, session->options->quiet);
	for (size_t i = 0; r == 0 && i < session->n_blocks; i++) {
		struct study_block *block = &session->blocks[i];

		if (interrupt_pending())
			r = -EINTR;
		else if (block->finished_ns == 0 &&
			 clock_ns(CLOCK_MONOTONIC) < session->deadline_ns)
			r = room_measure_block(&room, block, err);
		progress_step(&progress, i + 1, NULL);
	}
	progress_end(&progress);
	return r;
}

int clean_room_show(const struct study_session *session, struct error *err)
{
	_cleanup_(study_report_clear) struct study_report report = {};
	_cleanup_(study_data_clear) struct study_data data = {};
	int r = study_data_read(session->book, session->row.id, NULL, &data, err);

	if (r == 0)
		r = study_report_make(session->book, &data, STUDY_RULE_ALL, &report, err);
	if (r == 0)
		study_report_print(&report, stdout);
	return r;
}

int clean_room_describe(FILE *file, struct study_session *session, struct error *err)
{
	_cleanup_(room_close) struct room room;
	_cleanup_(freep) char *command = NULL;
	int r = room_open(&room, session, err);

	if (r < 0)
		return r;
	command = argv_join(room.command);
	fprintf(file,
		"A is %s on CPU %d, B is A slowed by 0, 2 or 5 %%. CPU is %d, N is %" PRIu32
		".\n\n",
		terminal_text(command), room.cpu, room.cpu, room.samples);
	for (size_t i = 0; i < N_ROOM_TOOLS; i++) {
		const struct room_tool *tool = &room_tools[i];
		_cleanup_(freep) char *path = NULL;

		fprintf(file, "%s%s\n    %s\n", tool->name,
			tool->program && executable_find(tool->program, &path, NULL) < 0
				? " (not installed)"
				: "",
			tool->command);
		for (size_t k = 0; tool->rules[k].name; k++)
			fprintf(file, "    %s: %s\n", tool->rules[k].label, tool->rules[k].text);
	}
	return 0;
}
