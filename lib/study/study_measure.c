/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures the blocks of a study: see study_measure.h. */
#include "lib/study/study_measure.h"

#include "lib/base/argv.h"
#include "lib/base/interrupt.h"
#include "lib/base/tool.h"
#include "lib/host/process/process.h"
#include "lib/host/process/program.h"
#include "lib/host/process/subprocess.h"
#include "lib/study/clean_room.h"
#include "lib/study/study_clocks.h"
#include "lib/study/study_settings.h"

#include <math.h>
#include <sys/mman.h>

int study_cpu(const struct study_session *s)
{
	int64_t cpu = -1;

	for (char **word = s->measure; word && *word; word++) {
		const char *value = NULL;

		if (!strcmp(*word, "--cpu"))
			value = word[1];
		else if (!strncmp(*word, "--cpu=", 6))
			value = *word + 6;
		if (value)
			text_parse_int(value, "--cpu", 0, INT32_MAX, &cpu, NULL);
	}
	return (int)cpu;
}

/* The file of a program; one of EMP's is beside this tool, whatever PATH is. The caller frees it. */
static int find_program(const char *name, char **ret, struct error *err)
{
	if (!strncmp(name, "emp-", 4) && suite_file_find(name, ret, NULL) == 0)
		return 0;
	return executable_find(name, ret, err);
}

int study_block_argv(
	const struct study_block *block, char ***ret, char **ret_path, struct error *err)
{
	_cleanup_(json_decrefp) json_t *words = json_loads(block->command, 0, NULL);
	_cleanup_(argv_freep) char **argv = xcalloc(json_array_size(words) + 1, sizeof(*argv));
	int r;

	for (size_t i = 0; i < json_array_size(words); i++)
		argv[i] = xstrdup(json_string_value(json_array_get(words, i)) ?: "");
	if (!argv[0])
		return error_say(
			err, -EBADMSG, "the lab book has no command for '%s'", block->subject);
	r = find_program(argv[0], ret_path, err);
	if (r == 0)
		*ret = TAKE(argv);
	return r;
}

/* The last sentence of one of EMP's tools in what a child wrote to standard error; the caller frees
 * it. */
static char *last_sentence(int fd)
{
	_cleanup_(freep) char *text = NULL, *sentence = NULL;
	off_t size = lseek(fd, 0, SEEK_END);
	char *rest;

	if (size <= 0 || size > 1 << 20)
		return NULL;
	rest = text = xcalloc((size_t)size + 1, 1);
	if (pread(fd, text, (size_t)size, 0) != size)
		return NULL;
	for (char *line; (line = strsep(&rest, "\n"));)
		if (!strncmp(line, "emp-", 4)) {
			free(sentence);
			sentence = xstrdup(line);
		}
	return TAKE(sentence);
}

/* Runs a tool of the suite, which ends by itself after a signal. `what` it is for, in sentences. */
static int run_tool(char *const *argv, const char *what, int *ret_status, struct error *err)
{
	_cleanup_(closep) int errors = memfd_create("stderr", MFD_CLOEXEC);
	_cleanup_(freep) char *path = NULL, *sentence = NULL;
	struct subprocess tool = {.argv = argv,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = errors,
		.forward_signals = true,
		.notes_signals = true};
	int status, r = suite_file_find(argv[0], &path, err);

	if (errors < 0)
		return error_os(err, -errno, "cannot make a file in memory");
	tool.path = path;
	if (r == 0)
		r = subprocess_run(&tool, NULL, &status, err);
	if (r < 0)
		return r;
	*ret_status = process_exit_status(status);
	if (*ret_status == STATUS_INTERRUPTED || interrupt_pending())
		return -EINTR;
	if (*ret_status == STATUS_DONE || *ret_status == STATUS_NOT_FIT ||
		*ret_status == STATUS_TOO_FEW || *ret_status == STATUS_CANNOT_TELL)
		return 0;
	sentence = last_sentence(errors);
	return error_say(err, -ECANCELED, "%s: %s", what,
		sentence ?: text_brief("%s %s", argv[0], process_end_text(status)));
}

static void append_words(char ***argv, size_t *n, char *const *words)
{
	for (; words && *words; words++)
		*array_add(*argv, *n) = xstrdup(*words);
}

int study_check_options(const struct study_session *s, struct error *err)
{
	/* beside those that emp-study gives itself: some are refused twice */
	char *const begin[] = {(char *)"emp-measure", (char *)"-r", (char *)"1", (char *)"-n",
		(char *)"name", NULL};
	char *const end[] = {(char *)"--help", NULL};
	_cleanup_(argv_freep) char **argv = NULL;
	size_t n = 0;
	int status;

	append_words(&argv, &n, begin);
	append_words(&argv, &n, s->measure);
	append_words(&argv, &n, end);
	*array_add(argv, n) = NULL;
	return run_tool(argv, "options of emp-measure", &status, err);
}

/* emp-measure takes so many samples of a block. */
static int measure_by_emp(struct study_session *s, const struct study_block *block,
	uint32_t samples, struct error *err)
{
	_cleanup_(argv_freep) char **argv = NULL, **command = NULL;
	_cleanup_(freep) char *path = NULL;
	_cleanup_(freep) char *number = text_format("%u", samples);
	_cleanup_(freep) char *id = text_format("%lld", (long long)block->id);
	char *const fixed[] = {(char *)"emp-measure", (char *)"--db", (char *)book_file(s->book),
		(char *)"-q", (char *)"-r", number, (char *)"--study-block", id, (char *)"-n",
		block->subject, NULL};
	char *const dashes[] = {(char *)"--", NULL};
	size_t n = 0;
	int status, r = study_block_argv(block, &command, &path, err);

	if (r < 0)
		return error_prefix(err, r, "%s", block->subject);
	append_words(&argv, &n, fixed);
	append_words(&argv, &n, s->measure);
	append_words(&argv, &n, dashes);
	/* a program of EMP is found beside it, whatever PATH is */
	*array_add(argv, n) = xstrdup(strncmp(command[0], "emp-", 4) ? command[0] : path);
	append_words(&argv, &n, command + 1);
	*array_add(argv, n) = NULL;
	return run_tool(argv, block->subject, &status, err);
}

/* The study of clocks has each sample twice: read by the clocks, and by emp-measure, which is first
 * in every other round. */
static int measure_clock_block(struct study_session *s, const struct study_block *block,
	uint32_t samples, uint32_t readings, struct error *err)
{
	const bool emp_first = block->round % 2 == 0;
	int r = 0;

	for (int i = 0; r == 0 && i < 2; i++)
		if ((i == 0) != emp_first)
			r = study_clocks_measure(s, block, readings + 1, err);
		else if (samples < block->samples)
			r = measure_by_emp(s, block, block->samples - samples, err);
	return r;
}

static int measure_block(struct study_session *s, struct study_block *block, struct error *err)
{
	struct book *book = s->book;
	uint32_t samples, readings;
	int r = book_begin_study_block(book, block->id, err);

	if (r >= 0)
		r = book_study_samples(book, block->id, &samples, &readings, err);
	if (r < 0)
		return r;
	if (s->row.what == STUDY_CLOCKS)
		r = measure_clock_block(s, block, samples, readings, err);
	else if (samples < block->samples)
		r = measure_by_emp(s, block, block->samples - samples, err);
	if (r == 0)
		r = book_finish_study_block(book, block->id, err);
	if (r >= 0)
		block->finished_ns = clock_ns(CLOCK_REALTIME);
	return r < 0 ? r : 0;
}

static int64_t expected_of(const struct study_session *s, const struct study_block *block)
{
	int64_t one_ns = 0;

	for (size_t i = 0; i < s->file.n_subjects; i++)
		if (!strcmp(s->file.subjects[i].name, block->subject))
			one_ns = s->file.subjects[i].expected_ns;
	/* INC of a scaled study that is resumed: its file has other lengths */
	if (!one_ns && book_study_duration(s->book, block->command, &one_ns, NULL) <= 0)
		one_ns = 0;
	return study_block_expected(one_ns, block->samples);
}

static void study_progress(struct study_session *s, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		s->done_ms += (uint64_t)(expected_of(s, &s->blocks[i]) / NS_PER_MS);
	if (s->total_ms > 0)
		progress_step(&s->progress, 100 * s->done_ms / s->total_ms, NULL);
}

int study_measure_blocks(struct study_session *s, size_t from, size_t to, struct error *err)
{
	int r = 0;

	for (size_t i = from; r == 0 && i < to; i++) {
		if (s->blocks[i].finished_ns)
			continue;
		if (interrupt_pending())
			return -EINTR;
		r = measure_block(s, &s->blocks[i], err);
		if (r == 0)
			study_progress(s, i, i + 1);
	}
	return r;
}

/* Measures blocks under a step of settings: emp-setup applies it, starts an emp-study for these
 * blocks, and restores all when that ends, however it ends. */
static int measure_with_settings(struct study_session *s, size_t from, size_t to, struct error *err)
{
	const char *step = s->blocks[from].step;
	_cleanup_(freep) char *own = NULL;
	_cleanup_(freep) char *id = text_format("%lld", (long long)s->row.id);
	_cleanup_(freep) char *first = text_format("%zu", from);
	_cleanup_(freep) char *last = text_format("%zu", to);
	_cleanup_(argv_freep) char **argv = NULL;
	size_t combination;
	int status, r = suite_file_find("emp-study", &own, err);
	char *const command[] = {own, (char *)"--db", (char *)book_file(s->book), (char *)"blocks",
		id, first, last, NULL};

	if (r < 0)
		return r;
	if (study_combination_find(&s->file, step, &combination) < 0)
		return error_say(err, -EBADMSG, "the file of the study has no step '%s'", step);
	argv = study_settings_argv(&s->file, combination, study_cpu(s), command);
	r = run_tool(argv, text_brief("with the settings '%s'", step), &status, err);
	/* whatever it wrote of itself: the study is this process's again */
	if (book_own_study(s->book, s->row.id, process_ref(getpid()), r < 0 ? NULL : err) < 0)
		return r < 0 ? r : -EIO;
	if (r == 0)
		study_progress(s, from, to);
	return r;
}

int study_measure(struct study_session *s, struct error *err)
{
	_cleanup_(freep) char *label = text_format("%s, percent", s->file.name);
	int r = 0;

	if (s->row.what == STUDY_CLEAN_ROOM)
		return clean_room_measure(s, err);
	for (size_t i = 0; i < s->n_blocks; i++)
		if (!s->blocks[i].finished_ns)
			s->total_ms += (uint64_t)(expected_of(s, &s->blocks[i]) / NS_PER_MS);
	progress_begin(&s->progress, label, 100, s->options->quiet);
	for (size_t i = 0, end; r == 0 && i < s->n_blocks; i = end) {
		const struct study_block *block = &s->blocks[i];

		for (end = i + 1; end < s->n_blocks && s->blocks[end].round == block->round &&
				  block->step && s->blocks[end].step &&
				  !strcmp(s->blocks[end].step, block->step);)
			end++;
		while (i < end && s->blocks[i].finished_ns)
			i++;
		if (i == end)
			continue;
		if (interrupt_pending())
			r = -EINTR;
		else if (block->step)
			r = measure_with_settings(s, i, end, err);
		else
			r = study_measure_blocks(s, i, end, err);
	}
	progress_end(&s->progress);
	return r;
}

/* How long a program takes, by running it once. */
static int run_once(const struct study_subject *subject, int64_t *ret_ns, struct error *err)
{
	_cleanup_(closep) int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	_cleanup_(freep) char *path = NULL;
	struct command_spec spec = {.argv = subject->argv,
		.cpu = -1,
		.stdin_fd = null,
		.stdout_fd = null,
		.stderr_fd = null};
	struct exec_result exec;
	int r = find_program(subject->argv[0], &path, err);

	spec.path = path;
	if (r == 0)
		r = program_run(&spec, &exec, err);
	if (r < 0)
		return error_prefix(err, r, "%s", subject->name);
	if (exec.end == PROGRAM_INTERRUPTED || interrupt_pending())
		return -EINTR;
	if (exec.wait_status != 0)
		return error_say(err, -ECANCELED,
			"%s: '%s' %s; if it is meant to fail, write 'options = --ignore-failure' in "
			"[study], and 'expected = TIME' in its section",
			subject->name, subject->line, process_end_text(exec.wait_status));
	*ret_ns = exec.et_ns;
	return 0;
}

int study_find_durations(struct study_session *s, struct book *book, bool run, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->file.n_subjects; i++) {
		struct study_subject *subject = &s->file.subjects[i];
		_cleanup_(freep) char *command = run_command_json(subject->argv);

		if (subject->expected_ns)
			continue;
		if (book)
			r = book_study_duration(book, command, &subject->expected_ns, err);
		if (r == 0 && run)
			r = run_once(subject, &subject->expected_ns, err);
		r = r < 0 ? r : 0;
	}
	return r;
}
