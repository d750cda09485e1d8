#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the schema of a document that stands by itself. Usage: bundle.py SOURCE FIELDS NAME OUTPUT

SOURCE/NAME.json has the document's own members. This adds what all documents have, the definitions that it refers to, the meanings of fields
(descriptions.json, by tables), and the units, which the names of members end in."""
import json
import re
import sys

UNITS = {"ns": "nanoseconds", "ns2": "square nanoseconds", "ps": "picoseconds", "s": "seconds", "bytes": "bytes", "pages": "pages",
         "ppm": "parts per million", "ppb": "parts per billion", "percent": "percent", "millicelsius": "thousandths of a degree Celsius"}
NO_UNIT = re.compile(r"_per_s$|^files_")


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def identifier(name):
    return f"urn:emp:schema:{name}:1"


def add_units(schema):
    """To the description of each member whose name says a unit."""
    if isinstance(schema, list):
        for one in schema:
            add_units(one)
    elif isinstance(schema, dict):
        for name, member in schema.get("properties", {}).items():
            unit = UNITS.get(name.rpartition("_")[2]) if "_" in name and not NO_UNIT.search(name) else None
            if unit and isinstance(member, dict) and not re.search(rf"\b{unit}\b", member.get("description", "")):
                member["description"] = f"{member.get('description', '')}; {unit}".lstrip("; ")
        for value in schema.values():
            add_units(value)


class Bundle:
    def __init__(self, source, fields):
        self.source = source
        self.files = {"common.json": read(source + "/common.json"), "fields.json": read(fields)}
        for table, texts in read(source + "/descriptions.json").items():
            properties = self.files["fields.json"]["$defs"][table]["properties"]
            for field, text in texts.items():
                if field not in properties:
                    sys.exit(f"schema/descriptions.json: the table '{table}' has no field '{field}'")
                properties[field] = {"description": text, **properties[field]}
        self.definitions = {}

    def document(self, name):
        schema = read(f"{self.source}/{name}.json")
        head = {"$schema": {"description": "The name of this schema", "const": identifier(name)},
                "format": {"description": "The kind of document", "const": name},
                "version": {"description": "The version of the format", "const": 1}}
        schema["properties"] = {**head, **schema.get("properties", {})}
        schema["required"] = ["format", "version", *schema.get("required", [])]
        return schema

    def local(self, schema):
        """The same with references to definitions of this bundle, which are added to it."""
        if isinstance(schema, list):
            return [self.local(one) for one in schema]
        if not isinstance(schema, dict):
            return schema
        return {key: self.define(value) if key == "$ref" else self.local(value) for key, value in schema.items()}

    def define(self, reference):
        file, _, path = reference.partition("#/$defs/")
        name = path or file.removesuffix(".json")
        kind = "fields_" if file == "fields.json" else ""
        if kind + name not in self.definitions:
            self.definitions[kind + name] = None  # while it is made: it may refer to itself
            schema = self.files[file]["$defs"][name] if path else self.document(name)
            self.definitions[kind + name] = self.local(schema)
        return f"#/$defs/{kind}{name}"


def main():
    source, fields, name, output = sys.argv[1:]
    bundle = Bundle(source, fields)
    schema = bundle.local(bundle.document(name))
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": identifier(name), "title": name, **schema,
              "$defs": dict(sorted(bundle.definitions.items()))}
    add_units(schema)
    with open(output, "w", encoding="utf-8") as file:
        json.dump(schema, file, indent=1, ensure_ascii=False)
        print(file=file)


main()
