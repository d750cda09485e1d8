/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --help prints: see tool_help.h. */
#include "lib/base/tool_help.h"

#include "lib/base/cleanup.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"

#include <string.h>

enum { LEFT = 26, INDENT = LEFT + 3 };

/* "  LEFT                      summary" */
static void row(FILE *file, const char *left, const char *summary)
{
	if (strlen(left) > LEFT)
		fprintf(file, "  %s\n%*s", left, INDENT, "");
	else
		fprintf(file, "  %-*s ", LEFT, left);
	terminal_wrap(file, summary, INDENT, INDENT);
}

static bool is_taken(const struct option_row *options, char letter)
{
	for (const struct option_row *o = options; o && o->name; o++)
		if (o->letter == letter)
			return true;
	return false;
}

static void option_rows(FILE *file, const struct option_row *options)
{
	for (const struct option_row *o = options; o && o->name; o++) {
		char left[64], letter[8] = "    ";

		if (o->hidden)
			continue;
		if (o->group)
			fprintf(file, "\n%s:\n", o->group);
		if (o->letter)
			snprintf(letter, sizeof(letter), "-%c, ", o->letter);
		snprintf(left, sizeof(left), "%s--%s%s%s%s", letter, o->name,
			o->optional ? "[="
			: o->value  ? " "
				    : "",
			o->value ?: "", o->optional ? "]" : "");
		row(file, left, o->summary);
	}
}

static void verb_rows(FILE *file, const struct verb *verbs)
{
	for (const struct verb *v = verbs; v->name; v++) {
		char left[64];

		snprintf(left, sizeof(left), "%s%s%s", v->name, v->args ? " " : "", v->args ?: "");
		row(file, left, v->summary);
	}
}

char *tool_usage(const struct tool *tool, const struct verb *verb)
{
	if (!verb)
		return text_format("%s VERB [OPTION...]", tool->name);
	return text_format("%s%s%s [OPTION...]%s%s", tool->name, verb->name ? " " : "", verb->name ?: "",
		verb->args ? " " : "", verb->args ?: "");
}

void tool_help(FILE *file, const struct tool *tool, const struct verb *verb)
{
	_cleanup_(freep) char *usage = tool_usage(tool, verb);
	bool h = verb && is_taken(verb->options, 'h'), v = verb && is_taken(verb->options, 'V');

	fputs("Usage: ", file);
	terminal_wrap(file, usage ?: tool->name, 7, 7);
	terminal_wrap(file, verb && verb->name ? verb->summary : tool->summary, 0, 0);
	if (!verb) {
		fprintf(file, "\nVerbs (\"%s VERB --help\" describes one):\n", tool->name);
		verb_rows(file, tool->verbs);
	}
	if (!verb || !verb->options || !verb->options->group)
		fprintf(file, "\nOptions:\n");
	if (verb)
		option_rows(file, verb->options);
	option_rows(file, tool->options);
	row(file, h || is_taken(tool->options, 'h') ? "    --help" : "-h, --help", "show this help");
	row(file, v || is_taken(tool->options, 'V') ? "    --version" : "-V, --version", "show the version");
	if (tool->notes && (!verb || !verb->name))
		fprintf(file, "\n%s", tool->notes);
	fprintf(file, "\n\"man %s\" has the details.\n", tool->name);
}
