"""Checks reports against their JSON schemas."""
import numbers


def conforms(schema, report):
    try:
        import jsonschema
    except ImportError:
        return by_hand(schema, schema, report)
    try:
        jsonschema.validate(report, schema)
    except jsonschema.ValidationError as e:
        return str(e.message)
    return by_hand(schema, schema, report)


def by_hand(root, schema, value):
    """Implements the subset of JSON Schema that our schemas use, for systems without a library."""
    if '$ref' in schema:
        return by_hand(root, root['$defs'][schema['$ref'].rsplit('/', 1)[1]], value)
    if 'anyOf' in schema:
        faults = [by_hand(root, one, value) for one in schema['anyOf']]
        return '' if '' in faults else faults[0]
    types = {'null': type(None), 'object': dict, 'array': list, 'string': str, 'integer': int, 'boolean': bool, 'number': numbers.Number}
    kinds = schema.get('type', [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not isinstance(value, tuple(types[kind] for kind in kinds)):
        return f'{value!r} is no {schema["type"]}'
    if 'enum' in schema and value not in schema['enum']:
        return f'{value!r} is none of {schema["enum"]}'
    if 'minimum' in schema and value is not None and value < schema['minimum']:
        return f'{value!r} is less than {schema["minimum"]}'
    if isinstance(value, list):
        return next((f for v in value if (f := by_hand(root, schema['items'], v))), '')
    if not isinstance(value, dict):
        return ''
    missing = [k for k in schema.get('required', []) if k not in value]
    known, others = schema.get('properties', {}), schema.get('additionalProperties')
    unknown = [k for k in value if k not in known and not isinstance(others, dict)]
    inner = next((f for k, v in value.items() if k not in unknown and (f := by_hand(root, known.get(k, others), v))), '')
    return f'missing {missing}, unknown {unknown}' if missing or unknown else inner
