/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results in files and on standard output: see export.h. */
#include "measure/export.h"

#include "measure/export_json.h"
#include "measure/export_metrics.h"
#include "measure/export_table.h"
#include "lib/base/charset.h"
#include "lib/report/plot.h"

int export_write(const struct session *s, enum export format, FILE *file, struct error *err)
{
	static const enum table_format formats[N_EXPORTS] = {
		[EXPORT_CSV] = TABLE_CSV,
		[EXPORT_MARKDOWN] = TABLE_MARKDOWN,
		[EXPORT_ASCIIDOC] = TABLE_ASCIIDOC,
		[EXPORT_ORGMODE] = TABLE_ORG,
	};

	if (format >= EXPORT_METRICS)
		return export_metrics_write(
			s, (enum metric_format)(format - EXPORT_METRICS), file, err);
	return format == EXPORT_JSON ? export_json_write(s, file, err)
				     : export_table_write(s, formats[format], file, err);
}

/* The file that a program writes must not be its input, an export or a picture; and neither of
 * these may be the input. */
static int outputs_apart(
	const struct measure_options *o, const char *const *documents, size_t n, struct error *err)
{
	for (size_t i = 0; o->input && i < n; i++)
		if (documents[i] && !output_file_is_standard(documents[i]) &&
			output_is_shared(documents[i], o->input))
			return error_say(err, -EINVAL,
				"'%s' would replace what --input reads: name another file",
				documents[i]);
	for (size_t i = 0; i < o->output.n; i++) {
		const char *path = o->output.items[i];

		/* while a document is on standard output, others go elsewhere */
		if (!strcmp(path, "null") || !strcmp(path, "pipe") || !strcmp(path, "inherit") ||
			output_file_is_stream(path))
			continue;
		if (o->input && output_is_shared(path, o->input))
			return error_say(err, -EINVAL,
				"--output would empty '%s', which --input reads: name another file",
				path);
		for (size_t k = 0; k < n; k++)
			if (documents[k] && output_is_shared(path, documents[k]))
				return error_say(err, -EINVAL,
					"--output and %s cannot share the file '%s'",
					documents[k] == o->plot ? "--plot" : "an export", path);
	}
	return 0;
}

int export_try(const struct measure_options *o, struct error *err)
{
	const char *paths[N_EXPORTS + 2] = {o->json ? "-" : NULL, o->plot};
	_cleanup_(freep) char *book = NULL;
	int r = paths_book(o->db, &book, err);

	memcpy(paths + 2, o->exports, sizeof(o->exports));
	if (r == 0) {
		paths_keep_apart(book);
		r = output_files_apart(paths, ELEMENTS(paths), err)
			    ?: outputs_apart(o, paths, ELEMENTS(paths), err);
		if (r == 0 && o->input) /* closing it would drop the locks of this process */
			r = paths_check_apart(o->input, -1, err);
	}
	if (r == 0 && o->plot)
		r = plot_check(o->plot, err);
	for (size_t i = 0; r == 0 && i < N_EXPORTS; i++) {
		_cleanup_(output_file_clear) struct output_file output = {};
		const char *path = o->exports[i];

		if (!path || output_file_is_stream(path))
			continue;
		r = output_file_open(&output, path, err);
	}
	return r;
}

bool export_takes_stdout(const struct measure_options *o)
{
	bool takes = o->json;

	for (size_t i = 0; i < N_EXPORTS; i++)
		takes |= o->exports[i] && output_file_is_standard(o->exports[i]);
	return takes;
}

static int export_to(
	const struct session *s, enum export format, const char *path, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file output = {};
	int r = charset_document_open(&output, path, err);

	if (r == 0)
		r = export_write(s, format, output.file, err);
	return r == 0 ? output_file_commit(&output, err) : r;
}

int export_results(const struct session *s, bool streams, struct error *err)
{
	int outcome = 0;

	for (size_t i = 0; i < N_EXPORTS; i++) {
		const char *path = s->options->exports[i];
		int r;

		if (!path || output_file_is_stream(path) != streams)
			continue;
		r = export_to(s, i, path, outcome ? NULL : err);
		outcome = outcome ?: r;
	}
	return outcome == 0 && streams && s->options->json ? export_to(s, EXPORT_JSON, "-", err)
							   : outcome;
}
