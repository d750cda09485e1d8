/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing the exports: see export.h. */
#include "measure/export.h"

#include "lib/base/output_file.h"

#include <errno.h>
#include <string.h>

struct result_means result_means(const struct result *result)
{
	const struct run_result *run = &result->run;
	double n = (double)run->discarding.pt.kept.n;
	struct result_means m = {};

	for (size_t i = 0; i < run->n_samples; i++) {
		if (run->discarding.out[i])
			continue;
		m.user_ns += (double)run->samples[i].user_ns / n;
		m.system_ns += (double)run->samples[i].system_ns / n;
	}
	return m;
}

typedef int writer(const struct session *session, FILE *file, struct error *err);

/* By enum export. */
static writer *const writers[N_EXPORTS] = {export_write_json, export_write_csv, export_write_markdown,
	export_write_asciidoc, export_write_orgmode};

static int write_to(const struct session *s, const char *path, writer *write_it, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file output = {};
	int r = output_file_open(&output, path, err);

	if (r == 0)
		r = write_it(s, output.file, err);
	return r == 0 ? output_file_commit(&output, err) : r;
}

/* Whether write_to will be able to write it. */
static int try_file(const char *path, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file output = {};

	return output_file_open(&output, path, err);
}

int export_try(const struct measure_options *o, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < N_EXPORTS; i++) {
		const char *path = o->exports[i];

		if (!path || output_file_is_stream(path))
			continue;
		for (size_t j = 0; j < i; j++)
			if (o->exports[j] && !strcmp(o->exports[j], path))
				return error_say(err, -EINVAL, "two exports cannot share the file '%s'", path);
		r = try_file(path, err);
	}
	return r;
}

bool export_takes_stdout(const struct measure_options *o)
{
	bool takes = o->json;

	for (size_t i = 0; i < N_EXPORTS; i++)
		takes |= o->exports[i] &&
			 (!strcmp(o->exports[i], "-") || !strcmp(o->exports[i], "/dev/stdout"));
	return takes;
}

/* Either the streams or the files. The first failure is reported; the rest are still written. */
static int export_those(const struct session *s, bool streams, struct error *err)
{
	int outcome = 0;

	for (size_t i = 0; i < N_EXPORTS; i++) {
		const char *path = s->options->exports[i];
		struct error second = {};
		int r;

		if (!path || output_file_is_stream(path) != streams)
			continue;
		r = write_to(s, path, writers[i], outcome ? &second : err);
		outcome = outcome ?: r;
	}
	return outcome;
}

int export_files(const struct session *s, struct error *err)
{
	return export_those(s, false, err);
}

int export_streams(const struct session *s, struct error *err)
{
	int r = export_those(s, true, err);

	return r == 0 && s->options->json ? export_write_json(s, stdout, err) : r;
}
