/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing the exports: see export.h. */
#include "measure/export.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

/* "-" as with hyperfine. */
static bool is_stdout(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

/* Standard output, pipes and devices cannot be replaced, or written more than once. */
static bool is_stream(const char *path)
{
	struct stat st;

	return is_stdout(path) || !strncmp(path, "/dev/fd/", 8) ||
	       (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

static int write_stream(const struct session *s, const char *path, writer *write_it, struct error *err)
{
	FILE *file;
	int r;

	if (is_stdout(path))
		return write_it(s, stdout, err);
	file = fopen(path, "we");
	if (!file)
		return error_os(err, -errno, "cannot write '%s'", path);
	r = write_it(s, file, err);
	if (fclose(file) != 0 && r == 0)
		r = error_os(err, -errno, "cannot write '%s'", path);
	return r;
}

/* Writes a new file, then renames it, so that the file is either new or unchanged. */
static int replace_file(const struct session *s, const char *path, writer *write_it, struct error *err)
{
	_cleanup_(freep) char *fresh = text_format("%s.new-%d", path, getpid());
	FILE *file = fresh ? fopen(fresh, "we") : NULL;
	int r;

	if (!file)
		return error_os(err, -errno, "cannot write '%s'", path);
	r = write_it(s, file, err);
	if (fclose(file) != 0 && r == 0)
		r = error_os(err, -errno, "cannot write '%s'", path);
	if (r == 0 && rename(fresh, path) < 0)
		r = error_os(err, -errno, "cannot write '%s'", path);
	if (r < 0)
		unlink(fresh);
	return r;
}

/* Whether replace_file will be able to write it. */
static int try_file(const char *path, struct error *err)
{
	_cleanup_(freep) char *fresh = text_format("%s.new-%d", path, getpid());
	struct stat st;
	int fd;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return error_say(err, -EISDIR, "cannot write '%s': it is a directory", path);
	fd = fresh ? open(fresh, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return error_os(err, -errno, "cannot write '%s'", path);
	close(fd);
	unlink(fresh);
	return 0;
}

int export_try(const struct measure_options *o, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < N_EXPORTS; i++)
		if (o->exports[i] && !is_stream(o->exports[i]))
			r = try_file(o->exports[i], err);
	return r;
}

bool export_takes_stdout(const struct measure_options *o)
{
	bool takes = o->json;

	for (size_t i = 0; i < N_EXPORTS; i++)
		takes |= o->exports[i] && is_stdout(o->exports[i]);
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

		if (!path || is_stream(path) != streams)
			continue;
		r = (streams ? write_stream : replace_file)(s, path, writers[i], outcome ? &second : err);
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
