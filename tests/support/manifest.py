"""Model of Perfetto 58's checks of an archive with a manifest: refusal(members) of [(name, bytes)], in order, returns the
reason or ''. The rules are those of Perfetto's own test cases, which tests/corpus/manifest.py compares with this model."""
import gzip
import json

from machines import fields

CLOCKS = ('REALTIME', 'REALTIME_COARSE', 'MONOTONIC', 'MONOTONIC_COARSE', 'MONOTONIC_RAW', 'BOOTTIME')
KEY = 'perfetto_manifest'
OVERRIDES = 'overrides are not supported for trace files which are themselves archives or perfetto_manifest files'


def unpacked(data):
    return gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data


def manifest_in(data):
    return json.loads(data)[KEY] if data.lstrip()[:1] == b'{' and data.lstrip()[1:].lstrip().startswith(b'"' + KEY.encode()) else None


def is_perfetto(data):
    return data[:1] == b'\n'


def packets(data):
    return [dict(fields(packet)) for _, packet in fields(data)] if is_perfetto(data) else []


def is_multi_machine(data):
    return any(packet.get(98) for packet in packets(data))


def has_several_clocks(data):
    return any(sum(number == 1 for number, _ in fields(packet[6])) > 1 for packet in packets(data) if 6 in packet)


def machine_fault(file, data):
    if 'machine' in file and 'machines' in file:
        return 'machine and machines are mutually exclusive'
    if 'machine' in file and not file['machine'].get('name'):
        return 'machine: name must be non-empty'
    if not all(0 <= machine['id'] <= 2**32 - 1 for machine in file.get('machines', [])):
        return 'machines: id must be in [0, 4294967295]'
    return 'Replace `machine` with a `machines` block' if 'machine' in file and is_multi_machine(data) else ''


def sync_fault(clocks, files, contents):
    target, machine = clocks.get('sync_to', {}).get('file'), clocks.get('sync_to', {}).get('machine')
    if not target:
        return 'clocks: sync_to.file is required'
    if target not in contents:
        return f"clocks: sync_to.file names unknown file '{target}'"
    of = next((f for f in files if f['path'] == target), {})
    if len(of.get('machines', [])) > 1 and not machine:
        return f"clocks: sync_to.file '{target}' is a multi-machine trace; also name the machine with clocks: sync_to.machine"
    named = [m['name'] for m in [*of.get('machines', []), *([of['machine']] if 'machine' in of else [])]]
    return f"clocks: sync_to.machine '{machine}' is not a machine declared by file '{target}'" if machine and machine not in named else ''


def clock_fault(file, files, contents):
    clocks, data = file['clocks'], unpacked(contents[file['path']])
    names = (clocks.get('clock'), clocks.get('sync_to', {}).get('clock'))
    unknown = [name for name in names if name and name not in CLOCKS]
    if unknown:
        return f'unknown clock name: {unknown[0]}'
    if manifest_in(data) is not None or data != contents[file['path']]:
        return OVERRIDES
    if 'clock' not in clocks and has_several_clocks(data):
        return 'clock overrides require the trace to use a single clock'
    return sync_fault(clocks, files, contents)


def file_fault(file, files, contents):
    if file['path'] not in contents:
        return f"unknown file '{file['path']}'"
    packed = 'machine' in file and unpacked(contents[file['path']]) != contents[file['path']]
    fault = OVERRIDES if packed else machine_fault(file, contents[file['path']])
    return fault or ('clocks' in file and clock_fault(file, files, contents)) or ''


def refusal(members):
    contents = dict(members)
    found = [name for name, data in members if manifest_in(unpacked(data)) is not None]
    if not found:
        return ''
    manifest = manifest_in(unpacked(contents[found[0]]))
    files, version = manifest.get('files', []), manifest['version']
    if not isinstance(version, int):
        return 'version must be an integer'
    if version != 1:
        return f'unsupported version: {version}'
    bad = [key for key, value in manifest.get('attributes', {}).items() if not isinstance(value, (str, int))]
    if bad:
        return f"attributes: '{bad[0]}' must be a string or an integer"
    clock = manifest.get('trace_time', {}).get('clock')
    if clock and clock not in CLOCKS:
        return f'unknown clock name: {clock}'
    fault = next((fault for file in files if (fault := file_fault(file, files, contents))), '')
    if not fault and len(found) > 1:
        return 'multiple perfetto_manifest files in archive'
    packed = any(name == found[0] and data[:2] == b'\x1f\x8b' for name, data in members)
    return fault or ('perfetto_manifest file must be the first trace file' if packed and len(members) > 1 else '')
