/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tool's verbs and options as JSON: see tool.h. */
#include "lib/base/json.h"
#include "lib/base/tool.h"

/* NULL: its value is none of a few words. */
static json_t *dump_words(const struct option_row *o)
{
	const char *const *fixed = o->choices ?: o->words;
	json_t *words = fixed || o->listed ? json_array() : NULL;

	for (size_t i = 0; fixed && fixed[i]; i++)
		json_array_append_new(words, json_string(fixed[i]));
	for (size_t i = 0; o->listed && o->listed(i); i++)
		json_array_append_new(words, json_string(o->listed(i)));
	return words;
}

static void dump_rows(
	json_t *into, const struct option_row *rows, const struct verb *verb, bool of_tool)
{
	for (const struct option_row *o = rows; o && o->name; o++) {
		const char letter[2] = {o->letter, '\0'};

		if (o->hidden || (of_tool && verb_lacks(verb, o->name)))
			continue;
		json_array_append_new(into,
			JSON_OBJECT({"letter", json_string(letter)}, {"name", json_string(o->name)},
				{"value", json_text(o->value)},
				{"values", json_integer(o->n_values > 1 ? o->n_values : 1)},
				{"optional", json_boolean(o->optional)},
				{"listed", json_boolean(o->listed)}, {"words?", dump_words(o)},
				{"summary", json_string(o->summary)}));
	}
}

int tool_dump_options(const struct tool *tool, struct error *err)
{
	json_t *verbs = json_array();

	for (size_t i = 0; tool->verbs[i]; i++) {
		const struct verb *verb = tool->verbs[i];
		json_t *options = json_array();

		dump_rows(options, verb->options, verb, false);
		dump_rows(options, tool->options, verb, true);
		json_array_append_new(
			verbs, JSON_OBJECT({"name", json_string(verb->name ?: "")},
				       {"args", json_string(verb->args ?: "")},
				       {"summary", json_string(verb->summary ?: tool->summary)},
				       {"options", options}));
	}
	return json_print(JSON_OBJECT({"name", json_string(tool->name)},
				  {"summary", json_string(tool->summary)}, {"verbs", verbs}),
		stdout, err);
}
