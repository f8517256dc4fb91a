"""Write docs/config.md, the reference page of the config language, and the schema for editors, from its models."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from scripts import ROOT
from scripts.lib import json_record
from scripts.lib.json_record import Json
from scripts.study.config import yaml_lines as config_text
from scripts.study.config.declared_study import ENTRIES
from scripts.study.config.loading import CATALOG
from scripts.study.config.scalars import ConfigKeys
from scripts.study.config.schema import FILE, Schema, expected, needed, of_file, resolved

PAGE = Path("docs", "config.md")
HEAD = ("key", "what it is", "value", "default")
NEEDED = "needed"
INTRODUCTION = """# The config file

One YAML file is one study: `config.yaml`, the default one, or a file under `studies/`. It is complete by itself;
entries that it only names come from `catalog/`. `make config-doc` writes this page from the models in
`scripts/study/config/declared_*.py`, and `rules/config.schema.yaml`, which completes and explains keys in editors that
know the YAML language server.

FIRST
    snakemake --cores all                                   the study of config.yaml
    snakemake --cores all --configfile studies/quick.yaml   another one
    snakemake --cores all --config repetitions=7            one key given on the command line
    snakemake --cores all --config scale=small              the study at its own smaller settings
    snakemake -n                                            every mistake in it with its line, or the plan

Keys that are not listed here are errors. All mistakes are reported at once, before anything runs. JSON is read too.
Several files after `--configfile` are laid over each other, the last on top; one of them names the `study`.

A study is no template: a file with the key `__use_yte__` is refused, since Snakemake runs the Python code in it.
`make`, and `snakemake` for config.yaml, refuse it before Snakemake reads it. A file of `snakemake --configfile` is
rendered, and its code has run, before the workflow is asked: give somebody else's to `make plan STUDY=name` first.
"""
FIRST = """A whole study can be ten lines. Every study needs NEEDED and
`variants` or a `matrix`; the table below says what a key is by default.

```yaml
study: first
title: PostgreSQL 15 at -O3
question: Is PostgreSQL faster when it is compiled with -O3?
variants:
  baseline: {server: postgresql-15, build: baseline}
  o3: {server: postgresql-15, build: o3}
reference: baseline
workloads:
  oltp:
clients: [8]
```
"""
SCHEMA_HEAD = "# Written by `make config-doc` from scripts/study/config/declared_*.py.\n"
READING = """## What YAML reads otherwise than it looks

| written | read as | write |
|---|---|---|
| `on`, `off`, `yes`, `no` | true, false | `"on"` where text is meant |
| `010` | 8, in base 8 | `10`, or `"010"` as text |
| `1:30` | 90, in base 60 | `90`, or `"1:30"` as text |
| `10.10` | 10.1, a number | `"10.10"` where a version is meant |
| `1e3` | text | `1000` |
| `1:`, `on:` as a key | a key that is no text | `"1":` |
| a key twice, in JSON too | the last of them | one of them |

All of these are reported with their line.
"""


def page(root: Path) -> str:
    """Return the page of a checkout as Markdown: all keys in a table, then a section per key."""
    schema = resolved()
    files = {kind: config_text.read_text(root / "catalog" / file).value for kind, file in CATALOG.items()}
    catalog = {kind: config_text.mapping(config_text.at(content, (kind,))) for kind, content in files.items()}
    keys = [
        (f"[`{key}`](#{key})", _sentence(entry), expected(entry), _default(entry, key in schema["required"]))
        for key, entry in schema["properties"].items()
    ]
    sections = [_section(key, entry, schema, list(catalog.get(key, {}))) for key, entry in schema["properties"].items()]
    first = FIRST.replace("NEEDED", ", ".join(f"`{key}`" for key in schema["required"]))
    introduction = INTRODUCTION.replace("FIRST", first)
    return "\n".join([introduction, "## All keys\n", _table(keys), _names(schema), READING, *sections])


def _names(schema: Schema) -> str:
    name = schema["properties"]["study"]
    return f"## Names\n\nThe study, and every entry that a section declares, has {name['title']}. Names become paths.\n"


def _section(key: str, entry: Schema, schema: Schema, names: list[str]) -> str:
    """Return the section of one key of a study; `names` are those of the catalog's entries."""
    lines = [f"## {key}\n", entry["description"], "", f"Value: {expected(entry)}."]
    lines += [_default_in_full(entry, key in schema["required"]), ""]
    lines += [f"The catalog has {', '.join(f'`{name}`' for name in names)}.\n"] if names else []
    lines += _parts(key, entry, schema)
    lines += ["Example:" if len(entry["examples"]) == 1 else "Examples:", "", "```yaml"]
    lines += [_yaml({key: example}) for example in entry["examples"]]
    return "\n".join([*lines, "```", ""])


def _parts(key: str, full_key: Schema, schema: Schema) -> Iterator[str]:
    """Yield the keys of a key's entries and alternatives, and the form of its names."""
    alternatives = [full_key, *full_key.get("oneOf", [])]
    entry: Schema = full_key.get("additionalProperties") or next(
        (part for part in alternatives if "properties" in part), {}
    )
    required = needed(key) if key in ENTRIES else entry.get("required", [])
    if "properties" in entry:
        named = f"`{key}.NAME`" if full_key.get("additionalProperties") else f"`{key}`"
        described = "description" in entry and entry is not full_key
        yield f"{named}: {_sentence(entry)}\n" if described else f"Keys of {named}:\n"
        yield _table(_rows(entry, required))
        yield from (f"{text}\n" for text in _needs(ENTRIES.get(key, ConfigKeys)))
        for inner, part in entry["properties"].items():
            yield from _inside(f"{named.strip('`')}.{inner}", part)
    elif "propertyNames" in full_key and entry:
        yield f"Names: {expected(full_key['propertyNames'])}. `{key}.NAME`: {expected(entry)}. {_sentence(entry)}\n"


def _inside(path: str, part: Schema) -> Iterator[str]:
    """Yield the keys of a mapping inside an entry, or of the kinds of mapping that a list holds."""
    if "properties" in part:
        yield f"`{path}`: {_sentence(part)}\n"
        yield _table(_rows(part, part.get("required", [])))
    for kind in part.get("items", {}).get("oneOf", []):
        yield f"`{path}` with `{kind['required'][0]}`: {_sentence(kind)}\n"
        yield _table(_rows(kind, kind["required"]))


def _rows(entry: Schema, required: list[str]) -> list[tuple[str, ...]]:
    return [
        (f"`{key}`", _sentence(described), expected(described), _default(described, key in required))
        for key, described in entry["properties"].items()
    ]


def _needs(model: type[ConfigKeys]) -> Iterator[str]:
    """Yield the keys that only one kind of entry needs."""
    for need in model.NEEDS:
        case = f"with {need.when[0]} `{need.when[1]}`" if need.when else f"without `{need.without}`"
        yield f"Needed {case}: {', '.join(f'`{name}`' for name in need.keys)}."


def _default(entry: Schema, is_needed: bool) -> str:
    if is_needed:
        return NEEDED
    return f"`{json.dumps(entry['default']).strip(chr(34))}`" if "default" in entry else ""


def _default_in_full(entry: Schema, is_needed: bool) -> str:
    default = _default(entry, is_needed)
    return "Needed in every study." if default == NEEDED else f"Default: {default}." if default else "Can be left out."


def _sentence(entry: Schema) -> str:
    return str(entry["description"]).strip()


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    lines = [HEAD, tuple("---" for _ in HEAD), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines)


def _yaml(example: Mapping[str, Json]) -> str:
    (value,) = example.values()
    flow = None if isinstance(value, dict | list) else False
    text = yaml.safe_dump(example, sort_keys=False, default_flow_style=flow, width=110, allow_unicode=True)
    return text.replace(": null", ":").rstrip("\n")


def main(root: Path) -> None:
    """Write page and schema into the checkout."""
    json_record.write_text(root / PAGE, page(root))
    schema = yaml.safe_dump(of_file(), sort_keys=False, default_flow_style=None, width=110)
    json_record.write_text(root / FILE, SCHEMA_HEAD + schema)


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m scripts.commands.config_doc", description=__doc__).parse_args()
    main(ROOT)
