/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the tables of fields as definitions of JSON Schema: what documents may have for each
 * struct, as the importer takes it. The build runs it; bundle.py adds what each field means. */
#include "lib/document/document.h"

/* The tables of runs and profiles that are no rows of a run. */
static const struct field_table *const core_tables[] = {&run_table, &sample_table, &counters_table,
	&execution_table, &source_table, &profile_table, &profile_run_table, &cutoff_table};

static bool is_required(const struct field *field)
{
	return field->must_be_given ||
	       (field->presence == FIELD_REQUIRED && field->type != FIELD_BOOL);
}

static json_t *field_words(const struct field *field)
{
	json_t *words = json_array();

	for (int i = 0; i < field->n_words; i++)
		json_array_append_new(words, json_string(field->words[i]));
	if (!is_required(field))
		json_array_append_new(words, json_null());
	return words;
}

static const char *type_name(const struct field *field)
{
	switch (field->type) {
	case FIELD_BOOL:
		return "boolean";
	case FIELD_TEXT:
	case FIELD_CHARS:
	case FIELD_ENUM:
		return "string";
	case FIELD_REAL:
		return "number";
	default:
		return field->seconds ? "number" : "integer";
	}
}

static json_t *field_schema(const struct field *field)
{
	const char *type = type_name(field);
	bool number = !strcmp(type, "integer") || !strcmp(type, "number");
	bool has_max = number && field->type != FIELD_REAL && field_max(field) < INT64_MAX;
	json_int_t max = has_max ? field_max(field) : 0;

	if (field->type == FIELD_ENUM)
		return JSON_OBJECT({"enum", field_words(field)});
	return JSON_OBJECT({"type", is_required(field) ? json_string(type)
						       : json_pack("[s, s]", type, "null")},
		{"minimum?", number ? json_integer(field->min) : NULL},
		{"maximum?", has_max ? json_integer(field->seconds ? max / NS_PER_S : max) : NULL});
}

static json_t *table_schema(const struct field_table *table)
{
	json_t *properties = json_object(), *required = json_array();

	for (const struct field *field = table->fields; field < table->fields + table->n; field++) {
		const char *name = field->seconds ?: field->name;

		if (field->book_only)
			continue;
		json_object_set_new(properties, name, field_schema(field));
		if (is_required(field))
			json_array_append_new(required, json_string(name));
	}
	return JSON_OBJECT({"type", json_string("object")}, {"properties", properties},
		{"required", required});
}

/* The member of a run that has rows of a table, or its only row. */
static json_t *rows_schema(const struct run_rows *rows)
{
	const char *reference = text_brief("fields.json#/$defs/%s", rows->table->table);
	json_t *row = json_pack("{s:s, s:b}", "$ref", reference, "unevaluatedProperties", false);

	if (rows->single)
		return row;
	return JSON_OBJECT({"type", json_string("array")}, {"items", row});
}

int main(void)
{
	json_t *defs = json_object(), *members = json_object();
	const struct run_rows *rows;
	struct error err = {};

	for (size_t i = 0; i < ELEMENTS(core_tables); i++)
		json_object_set_new(defs, core_tables[i]->table, table_schema(core_tables[i]));
	for (size_t i = 0; (rows = document_run_rows(i)); i++) {
		json_object_set_new(defs, rows->table->table, table_schema(rows->table));
		json_object_set_new(members, rows->member, rows_schema(rows));
	}
	json_object_set_new(defs, "run_rows", JSON_OBJECT({"properties", members}));
	return json_print(JSON_OBJECT({"$defs", defs}), stdout, &err) < 0;
}
