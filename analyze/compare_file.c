/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An operand that is no run: see compare_file.h. */
#include "analyze/compare_file.h"

#include "analyze/options.h"

void compare_file_clear(struct compare_file *file)
{
	compare_document_close(&file->document);
	json_decref(file->json);
	free(file->path);
}

int compare_names_file(const char *operand, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	const char *colon = strrchr(operand, ':');
	bool numbered = colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
	_cleanup_(freep) char *path = xstrndup(
		operand, numbered ? (size_t)(colon - operand) : strlen(operand));
	struct stat st;
	bool exists = !strcmp(path, "-") || (stat(path, &st) == 0 && !S_ISDIR(st.st_mode));
	int64_t run = 0;
	int named = 0;

	if (!operand[strspn(operand, "0123456789")] || !strcmp(operand, "--last"))
		return 0;
	if (exists && (strchr(path, '/') || !strcmp(path, "-")))
		return 1;
	if (book_open(&book, analyze_options.db, BOOK_READ, NULL) == 0)
		named = book_find_run(book, operand, &run, NULL);
	if (exists && named > 0)
		return error_say(err, -EINVAL,
			"'%s' is a file and the name of run %" PRId64 ": for the file, type ./%s",
			operand, run, operand);
	return exists || (named <= 0 && strpbrk(operand, "/.:"));
}

int compare_file_open(const char *text, struct compare_file *ret, struct error *err)
{
	char *colon;
	int r = 0;

	ret->path = xstrdup(text);
	colon = strrchr(ret->path, ':');
	if (colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")]) {
		*colon = '\0';
		r = text_parse_int(
			colon + 1, "the number after the colon", 1, INT32_MAX, &ret->number, err);
	}
	if (r == 0)
		r = json_read(&ret->json, ret->path, err);
	return r < 0 ? r : compare_document_open(&ret->document, ret->json, ret->path, err);
}
