"""JSON Schemas made from the structs that read the formats."""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_soulmem.decoding import OneOf

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(*kinds: Any) -> dict[str, Any]:
    """The schema of a document of one of some types, with the exactly-one rule of unions."""
    schemas, components = msgspec.json.schema_components(
        kinds, schema_hook=_anything, ref_template="#/$defs/{name}"
    )
    for union in _unions(OneOf):
        if union.__name__ in components:
            variants = union.__struct_encode_fields__
            components[union.__name__]["oneOf"] = [{"required": [name]} for name in variants]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}
    return {"$schema": DIALECT, **schema, "$defs": components}


def _anything(kind: type) -> dict[str, Any]:
    """The schema of a value that is looked at later, piece by piece."""
    if kind is object:
        # msgspec takes an empty schema for none at all.
        return {"description": "any value"}
    raise NotImplementedError


def _unions(base: type[OneOf]) -> list[type[OneOf]]:
    return [base, *(sub for direct in base.__subclasses__() for sub in _unions(direct))]
