/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tools of the study clean-room: see clean_room_tools.h. emp-study(1) says which rule counts as
 * a claim, and why. */
#include "lib/study/clean_room_tools.h"

#include "lib/base/argv.h"
#include "lib/base/json.h"
#include "lib/host/process/process.h"
#include "lib/host/process/subprocess.h"
#include "lib/stats/compare.h"

const char *const room_claim_words[N_ROOM_CLAIMS] = {
	[ROOM_NO_CLAIM] = "none",
	[ROOM_FASTER] = "faster",
	[ROOM_SLOWER] = "slower",
};

enum { ROOM_OUTPUT_MAX = 16 << 20, ROOM_ERRORS_SHOWN = 400 };

/* What the tools say is read: in the words and numbers of the C locale. */
#define ROOM_PINNED(cpu) "env", "LC_ALL=C", "taskset", "-c", (cpu)

static const char *room_number(int64_t n)
{
	return text_brief("%" PRId64, n);
}

/* `start`, and the words of `command` behind it (NULL: none); free(). */
static char **room_words(const char *const *start, char *const *command)
{
	char **words = NULL;
	size_t n = 0;

	for (; *start; start++)
		*array_add(words, n) = (char *)*start;
	for (; command && *command; command++)
		*array_add(words, n) = *command;
	*array_add(words, n) = NULL;
	return words;
}

/* Runs a tool with its errors in a file, the end of which is shown if it fails; a status up to
 * `most` is none. The caller frees the output; NULL: it is not wanted. */
static int room_run(const struct room_pair *pair, const char *const *start, char *const *command,
	int most, char **ret_output, struct error *err)
{
	_cleanup_(freep) char **words = room_words(start, command);
	_cleanup_(freep) char *path = text_format("%s/errors", pair->directory), *errors = NULL;
	_cleanup_(freep) char *output = NULL;
	_cleanup_(closep) int errors_fd = -1;
	struct subprocess tool = {
		.argv = words,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.output_max = ROOM_OUTPUT_MAX,
		.ends_on_signals = true,
	};
	size_t length;
	int status, r;

	errors_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (errors_fd < 0)
		return error_os(err, -errno, "cannot write to %s", path);
	tool.stderr_fd = errors_fd;
	r = subprocess_run(&tool, ret_output ? &output : NULL, &status, err);
	if (r < 0)
		return r;
	if (!WIFSIGNALED(status) && WEXITSTATUS(status) <= most) {
		if (ret_output)
			*ret_output = TAKE(output);
		return 0;
	}

	r = error_say(err, -ECANCELED, "%s", process_end_text(status));
	if (err && file_read_text(path, &errors) == 0) {
		length = strlen(errors);
		snprintf(err->lines, sizeof(err->lines), "%s",
			errors + (length > ROOM_ERRORS_SHOWN ? length - ROOM_ERRORS_SHOWN : 0));
	}
	return r;
}

/* Mean times with an error each: a claim if the intervals between mean - error and mean + error
 * have nothing in common. */
static enum room_claim room_claim_apart(const double *mean, const double *error)
{
	if (mean[1] - error[1] > mean[0] + error[0])
		return ROOM_SLOWER;
	return mean[1] + error[1] < mean[0] - error[0] ? ROOM_FASTER : ROOM_NO_CLAIM;
}

/* Welch's t test at the level of 0.05. */
static int room_welch(const int64_t *const *times, const size_t *n, enum room_claim *ret_claim,
	double *ret_ratio, struct error *err)
{
	const struct compare_plan plan = {.design = DESIGN_INDEPENDENT};
	struct comparison c = {};
	int r = compare(times[0], n[0], times[1], n[1], &plan, &c, err);

	if (r < 0)
		return r;
	*ret_ratio = c.b.mean_ns / c.a.mean_ns;
	*ret_claim = ROOM_NO_CLAIM;
	if (c.welch_p < 0.05)
		*ret_claim = *ret_ratio > 1 ? ROOM_SLOWER : ROOM_FASTER;
	return 0;
}

/* emp-measure: its verdict. */

static int room_read_emp(const char *output, struct room_answer *ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = json_loads(output, 0, NULL);
	const json_t *results = json_object_get(document, "results");
	const json_t *compared = json_array_get(json_object_get(document, "comparisons"), 0);
	const char *verdict = json_string_value(json_object_get(document, "verdict"));

	if (json_array_size(results) != 2)
		return error_say(err, -EINVAL, "emp-measure printed no two results");
	for (size_t i = 0; i < 2; i++)
		ret->runs[i] = json_integer_value(
			json_object_get(json_object_get(json_array_get(results, i), "emp"), "run"));
	if (verdict && !strcmp(verdict, "slower"))
		ret->claims[0] = ROOM_SLOWER;
	else if (verdict && !strcmp(verdict, "faster"))
		ret->claims[0] = ROOM_FASTER;
	if (json_is_number(json_object_get(compared, "ratio")))
		ret->ratios[0] = json_number_value(json_object_get(compared, "ratio"));
	return 0;
}

/* Status 3: too few samples are clean, so that there is no verdict. */
static int room_compare_emp(
	const struct room_pair *pair, const char *order, struct room_answer *ret, struct error *err)
{
	_cleanup_(freep) char *tool = NULL, *output = NULL;
	_cleanup_(freep) char *first = argv_join(pair->first), *second = argv_join(pair->second);
	const char *n = room_number(pair->samples);
	int r = suite_file_find("emp-measure", &tool, err);

	if (r == 0)
		r = room_run(pair,
			(const char *const[]){tool, "--db", pair->db, "-q", "--json", "--order",
				order, "--cpu", room_number(pair->cpu), "-w", "1", "-r", n,
				"--max-runs", n, first, second, NULL},
			NULL, 3, &output, err);
	return r == 0 ? room_read_emp(output, ret, err) : r;
}

static int room_compare_in_turn(
	const struct room_pair *pair, struct room_answer *ret, struct error *err)
{
	return room_compare_emp(pair, "interleave", ret, err);
}

static int room_compare_duet(
	const struct room_pair *pair, struct room_answer *ret, struct error *err)
{
	return room_compare_emp(pair, "duet", ret, err);
}

/* hyperfine: the ratio and its error in the summary, and scripts/welch_ttest.py. */

static int64_t *room_times(const json_t *seconds, size_t *ret_n)
{
	int64_t *times = NULL;
	json_t *value;
	size_t i;

	*ret_n = 0;
	json_array_foreach (seconds, i, value)
		*array_add(times, *ret_n) = (int64_t)(json_number_value(value) * 1e9);
	return times;
}

static int room_read_hyperfine(const json_t *results, struct room_answer *ret, struct error *err)
{
	_cleanup_(freep) int64_t *first = NULL, *second = NULL;
	double mean[2], sd[2], ratio, error;
	size_t n[2];
	int slower;

	first = room_times(json_object_get(json_array_get(results, 0), "times"), &n[0]);
	second = room_times(json_object_get(json_array_get(results, 1), "times"), &n[1]);
	for (size_t i = 0; i < 2; i++) {
		const json_t *result = json_array_get(results, i);

		mean[i] = json_number_value(json_object_get(result, "mean"));
		sd[i] = json_number_value(json_object_get(result, "stddev"));
	}
	if (n[0] < 2 || n[1] < 2 || mean[0] <= 0 || mean[1] <= 0)
		return error_say(err, -EINVAL, "hyperfine exported no two results");

	/* as hyperfine prints it: "FIRST ran 1.05 ± 0.03 times faster than SECOND" */
	slower = mean[1] > mean[0];
	ratio = mean[slower] / mean[!slower];
	error = ratio * hypot(sd[0] / mean[0], sd[1] / mean[1]);
	ret->ratios[0] = mean[1] / mean[0];
	if (ratio - error > 1)
		ret->claims[0] = slower ? ROOM_SLOWER : ROOM_FASTER;
	return room_welch(
		(const int64_t *const[]){first, second}, n, &ret->claims[1], &ret->ratios[1], err);
}

static int room_compare_hyperfine(
	const struct room_pair *pair, struct room_answer *ret, struct error *err)
{
	_cleanup_(freep) char *first = argv_join(pair->first), *second = argv_join(pair->second);
	_cleanup_(freep) char *file = text_format("%s/hyperfine.json", pair->directory);
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r = room_run(pair,
		(const char *const[]){ROOM_PINNED(room_number(pair->cpu)), "hyperfine", "-N", "-w",
			"1", "-r", room_number(pair->samples), "--export-json", file, first, second,
			NULL},
		NULL, 0, NULL, err);

	if (r == 0)
		r = json_read(&document, file, err);
	return r == 0 ? room_read_hyperfine(json_object_get(document, "results"), ret, err) : r;
}

/* perf stat -r: the mean and its error, of the CPU time and of the elapsed time. */

enum { ROOM_ELAPSED, ROOM_TASK_CLOCK };

/* "14.82;msec;task-clock;0.18%;…": VALUE;UNIT;EVENT;ERROR;… */
static bool room_read_perf(
	const char *output, const char *event, double *ret_mean, double *ret_error)
{
	_cleanup_(freep) char *copy = xstrdup(output);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		const char *value = strsep(&line, ";"), *unit = strsep(&line, ";");
		const char *name = strsep(&line, ";"), *error = strsep(&line, ";");

		if (!error || strcmp(name, event) || !*unit)
			continue;
		*ret_mean = strtod(value, NULL);
		*ret_error = *ret_mean * strtod(error, NULL) / 100;
		return *ret_mean > 0;
	}
	return false;
}

static int room_compare_perf(
	const struct room_pair *pair, struct room_answer *ret, struct error *err)
{
	static const char *const events[] = {
		[ROOM_ELAPSED] = "duration_time",
		[ROOM_TASK_CLOCK] = "task-clock",
	};
	double mean[ELEMENTS(events)][2], error[ELEMENTS(events)][2];

	for (size_t i = 0; i < 2; i++) {
		_cleanup_(freep) char *output = NULL;
		int r = room_run(pair,
			(const char *const[]){ROOM_PINNED(room_number(pair->cpu)), "perf", "stat",
				"-r", room_number(pair->samples), "-x;", "-e",
				"task-clock,duration_time", "--log-fd", "1", "--", NULL},
			i == 0 ? pair->first : pair->second, 0, &output, err);

		if (r < 0)
			return r;
		for (size_t k = 0; k < ELEMENTS(events); k++)
			if (!room_read_perf(output, events[k], &mean[k][i], &error[k][i]))
				return error_say(err, -EINVAL,
					"perf stat does not print %s with its error", events[k]);
	}
	for (size_t k = 0; k < ELEMENTS(events); k++) {
		ret->ratios[k] = mean[k][1] / mean[k][0];
		ret->claims[k] = room_claim_apart(mean[k], error[k]);
	}
	return 0;
}

/* pyperf: what 'pyperf compare_to' says. */

static double room_mean_of_pyperf(const char *file)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	const json_t *runs;
	json_t *run, *value;
	double sum = 0;
	size_t i, k, n = 0;

	if (json_read(&document, file, NULL) < 0)
		return NAN;
	runs = json_object_get(json_array_get(json_object_get(document, "benchmarks"), 0), "runs");
	json_array_foreach (runs, i, run)
		json_array_foreach (json_object_get(run, "values"), k, value) {
			sum += json_number_value(value);
			n++;
		}
	return n > 0 ? sum / (double)n : NAN;
}

static int room_compare_pyperf(
	const struct room_pair *pair, struct room_answer *ret, struct error *err)
{
	_cleanup_(freep) char *first = text_format("%s/first.json", pair->directory);
	_cleanup_(freep) char *second = text_format("%s/second.json", pair->directory);
	_cleanup_(freep) char *output = NULL;
	const char *const files[] = {first, second};
	int r = 0;

	for (size_t i = 0; r == 0 && i < 2; i++) {
		unlink(files[i]); /* pyperf does not replace a file */
		r = room_run(pair,
			(const char *const[]){ROOM_PINNED(room_number(pair->cpu)), "pyperf",
				"command", "-q", "--copy-env", "-p", "1", "-w", "1", "-n",
				room_number(pair->samples), "-l", "1", "-o", files[i], "--", NULL},
			i == 0 ? pair->first : pair->second, 0, NULL, err);
	}
	if (r == 0)
		r = room_run(pair,
			(const char *const[]){
				"env", "LC_ALL=C", "pyperf", "compare_to", first, second, NULL},
			NULL, 0, &output, err);
	if (r < 0)
		return r;

	ret->ratios[0] = room_mean_of_pyperf(second) / room_mean_of_pyperf(first);
	if (strstr(output, "x slower"))
		ret->claims[0] = ROOM_SLOWER;
	else if (strstr(output, "x faster"))
		ret->claims[0] = ROOM_FASTER;
	else if (!strstr(output, "not significant") && !strstr(output, "no change"))
		return error_say(err, -EINVAL,
			"pyperf compare_to says neither 'slower', 'faster' "
			"nor 'not significant'");
	return 0;
}

/* BenchExec measures one execution and compares none: Welch's t test of its CPU times. */

static int room_time_of_runexec(
	const struct room_pair *pair, char *const *command, int64_t *ret_ns, struct error *err)
{
	_cleanup_(freep) char *output = NULL;
	const char *at;
	int r = room_run(pair,
		(const char *const[]){ROOM_PINNED(room_number(pair->cpu)), "runexec",
			"--no-container", "--output", "/dev/null", "--", NULL},
		command, 0, &output, err);

	if (r < 0)
		return r;
	at = strstr(output, "\ncputime=");
	if (!at)
		return error_say(err, -EINVAL, "runexec printed no 'cputime'");
	*ret_ns = (int64_t)(strtod(at + strlen("\ncputime="), NULL) * 1e9);
	return 0;
}

static int room_compare_benchexec(
	const struct room_pair *pair, struct room_answer *ret, struct error *err)
{
	size_t n = pair->samples;
	_cleanup_(freep) int64_t *first = xcalloc(n, sizeof(*first));
	_cleanup_(freep) int64_t *second = xcalloc(n, sizeof(*second));
	int64_t *const times[] = {first, second};

	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k <= n; k++) { /* one is the warm-up */
			int r = room_time_of_runexec(pair, i == 0 ? pair->first : pair->second,
				&times[i][k > 0 ? k - 1 : 0], err);

			if (r < 0)
				return r;
		}
	return room_welch((const int64_t *const[]){first, second}, (const size_t[]){n, n},
		&ret->claims[0], &ret->ratios[0], err);
}

const struct room_tool room_tools[N_ROOM_TOOLS] = {
	{
		.name = "emp-measure",
		.command = "emp-measure --cpu CPU -w 1 -r N --max-runs N 'A' 'B'",
		.rules = {{"emp-measure", "emp-measure, verdict",
			"its verdict is faster or slower"}},
		.compare = room_compare_in_turn,
	},
	{
		.name = "emp-measure-duet",
		.command = "emp-measure --order duet --cpu CPU -w 1 -r N --max-runs N 'A' 'B'",
		.rules = {{"emp-measure-duet", "emp-measure, duet",
			"its verdict is faster or slower"}},
		.compare = room_compare_duet,
	},
	{
		.name = "hyperfine",
		.program = "hyperfine",
		.command = "hyperfine -N -w 1 -r N 'A' 'B'",
		.rules = {{"hyperfine-ratio", "hyperfine, ratio ± error",
				  "the ratio that it prints is above 1 by more than its error"},
			{"hyperfine-welch", "hyperfine, welch_ttest.py",
				"its scripts/welch_ttest.py says so: p < 0.05"}},
		.compare = room_compare_hyperfine,
	},
	{
		.name = "perf",
		.program = "perf",
		.command = "perf stat -r N A; perf stat -r N B",
		.rules = {[ROOM_ELAPSED] = {"perf-elapsed", "perf stat, time elapsed",
				  "mean +- error of one and of the other do not overlap"},
			[ROOM_TASK_CLOCK] = {"perf-task-clock", "perf stat, task-clock",
				"mean +- error of one and of the other do not overlap"}},
		.compare = room_compare_perf,
	},
	{
		.name = "pyperf",
		.program = "pyperf",
		.command = "pyperf command -p 1 -w 1 -n N -l 1 -- A; the same of B; "
			   "pyperf compare_to",
		.rules = {{"pyperf", "pyperf compare_to",
			"it says 'slower' or 'faster', not "
			"'not significant'"}},
		.compare = room_compare_pyperf,
	},
	{
		.name = "benchexec",
		.program = "runexec",
		.command = "N + 1 times runexec --no-container -- A; the same of B",
		.rules = {{"benchexec", "BenchExec, Welch's t",
			"Welch's t test of its CPU times: p < 0.05; it compares nothing itself"}},
		.compare = room_compare_benchexec,
	},
};

const struct room_tool *room_tool_find(const char *name)
{
	for (size_t i = 0; i < N_ROOM_TOOLS; i++)
		if (!strcmp(room_tools[i].name, name))
			return &room_tools[i];
	return NULL;
}
