"""Writes databases as 'nsys export -t sqlite' does: tables and columns of its schemas 2.x (2022) and 3.x (2023 to 2026)."""
import sqlite3
import struct

CHAIN = ('id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, kernelMode INTEGER, thumbCode INTEGER, unresolved INTEGER, '
         'specialEntry INTEGER, originalIP INTEGER, unwindMethod INTEGER, stackDepth INTEGER NOT NULL, PRIMARY KEY (id, stackDepth)')
SCHEMA = {
    'StringIds': 'id INTEGER NOT NULL PRIMARY KEY, -- ID reference value.\n value TEXT NOT NULL -- String, with (brackets), and commas',
    'PROCESSES': 'globalPid INTEGER, pid INTEGER, name TEXT',
    'ThreadNames': 'nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER',
    'TARGET_INFO_SESSION_START_TIME': 'utcEpochNs INTEGER, utcTime TEXT, localTime TEXT',
    'TARGET_INFO_SYSTEM_ENV': 'globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, nameEnum INTEGER NOT NULL, value TEXT NOT NULL',
    'META_DATA_EXPORT': 'name TEXT, value TEXT',
    'META_DATA_CAPTURE': 'name TEXT, value TEXT',
    'ProcessStreams': 'globalPid INTEGER NOT NULL, filenameId INTEGER NOT NULL, contentId INTEGER NOT NULL',
    'ENUM_CUDA_MEMCPY_OPER': 'id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT',
    'ENUM_CUPTI_SYNC_TYPE': 'id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT',
    'DIAGNOSTIC_EVENT': 'timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL, source INTEGER NOT NULL, severity INTEGER NOT NULL, '
                        'text TEXT NOT NULL, globalPid INTEGER',
    'CUPTI_ACTIVITY_KIND_RUNTIME': 'start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, '
                                   'correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER',
    'CUPTI_ACTIVITY_KIND_OVERHEAD': 'start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, '
                                    'correlationId INTEGER, nameId INTEGER NOT NULL, overheadType INTEGER',
    'CUPTI_ACTIVITY_KIND_KERNEL': 'start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, '
                                  'greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, '
                                  'demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, '
                                  'registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, '
                                  'blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, graphNodeId INTEGER',
    'CUPTI_ACTIVITY_KIND_MEMCPY': 'start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, '
                                  'streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, '
                                  'copyKind INTEGER NOT NULL',
    'CUPTI_ACTIVITY_KIND_MEMSET': 'start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, '
                                  'streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER NOT NULL',
    'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION': 'start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, '
                                           'streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL',
    'OSRT_API': 'start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL, '
                'returnValue INTEGER NOT NULL, nestingLevel INTEGER, callchainId INTEGER NOT NULL',
    'MPI_COLLECTIVES_EVENTS': 'start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, textId INTEGER, commHandle INTEGER, size INTEGER',
    'NVTX_EVENTS': 'start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, '
                   'text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, '
                   'int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT, '
                   'binaryData TEXT',
    'NVTX_PAYLOAD_SCHEMAS': 'domainId INTEGER, schemaId INTEGER, name TEXT, type INTEGER, flags INTEGER, numEntries INTEGER, payloadSize INTEGER, '
                            'alignTo INTEGER',
    'NVTX_PAYLOAD_SCHEMA_ENTRIES': 'domainId INTEGER NOT NULL, schemaId INTEGER NOT NULL, idx INTEGER NOT NULL, flags INTEGER, type INTEGER, '
                                   'name TEXT, description TEXT, arrayOrUnionDetail INTEGER, offset INTEGER',
    'NVTX_PAYLOAD_ENUMS': 'domainId INTEGER, schemaId INTEGER, name TEXT, numEntries INTEGER, size INTEGER',
    'NVTX_PAYLOAD_ENUM_ENTRIES': 'domainId INTEGER NOT NULL, schemaId INTEGER NOT NULL, idx INTEGER NOT NULL, name TEXT, value INTEGER, isFlag INTEGER',
    'CUDA_GPU_MEMORY_USAGE_EVENTS': 'start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, '
                                    'address INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL',
    'GPU_METRICS': 'timestamp INTEGER, typeId INTEGER NOT NULL, metricId INTEGER NOT NULL, value INTEGER NOT NULL',
    'TARGET_INFO_GPU_METRICS': 'typeId INTEGER NOT NULL, sourceId INTEGER NOT NULL, typeName TEXT NOT NULL, metricId INTEGER NOT NULL, '
                               'metricName TEXT NOT NULL',
    'SCHED_EVENTS': 'start INTEGER NOT NULL, cpu INTEGER NOT NULL, isSchedIn INTEGER NOT NULL, globalTid INTEGER, threadState INTEGER, '
                    'threadBlock INTEGER',
    'ENUM_SCHEDULING_THREAD_BLOCK': 'id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT',
    'COMPOSITE_EVENTS': 'id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, cpu INTEGER, threadState INTEGER, globalTid INTEGER, '
                        'cpuCycles INTEGER NOT NULL',
    'SAMPLING_CALLCHAINS': CHAIN,
    'OSRT_CALLCHAINS': CHAIN,
    'CUDA_CALLCHAINS': 'id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, unresolved INTEGER, originalIP INTEGER, '
                       'stackDepth INTEGER NOT NULL, PRIMARY KEY (id, stackDepth)',
}
COPIES = {1: 'Host-to-Device', 2: 'Device-to-Host', 8: 'Device-to-Device', 11: 'Unified Host-to-Device'}
SYNCS = {1: 'Event sync', 3: 'Stream sync'}
EPOCH = 1700000000123456789


def process(pid, vm=1):
    """Returns the globalPid of a process; its globalTid is that plus a tid."""
    return 1 << 48 if pid is None else vm << 48 | pid << 24


class Report:
    """A database under construction; a table exists once it has a row."""

    def __init__(self, path, settings='', shift=0):
        self.db = sqlite3.connect(path)
        self.db.executescript(settings)
        self.made, self.texts, self.shift = set(), {}, shift
        self.add('TARGET_INFO_SESSION_START_TIME', utcEpochNs=EPOCH)
        self.add('META_DATA_EXPORT', name='EXPORT_SCHEMA_VERSION', value='3.7.2')
        self.add('META_DATA_EXPORT', name='EXPORT_CONFIG_TIME_SHIFT', value=str(shift))
        for table, labels in (('ENUM_CUDA_MEMCPY_OPER', COPIES), ('ENUM_CUPTI_SYNC_TYPE', SYNCS)):
            for number, label in labels.items():
                self.add(table, id=number, name=label.upper(), label=label)

    def add(self, table, **values):
        if table not in self.made:
            self.db.execute(f'CREATE TABLE {table} ({SCHEMA[table]}\n)')
            self.made.add(table)
        for key in ('start', 'end', 'timestamp'):
            if isinstance(values.get(key), int):
                values[key] += self.shift
        names = ', '.join(values)
        self.db.execute(f'INSERT INTO {table} ({names}) VALUES ({", ".join("?" * len(values))})', list(values.values()))

    def text(self, value):
        """Returns the id of a text in StringIds."""
        if value not in self.texts:
            self.texts[value] = len(self.texts) + 1
            self.add('StringIds', id=self.texts[value], value=value)
        return self.texts[value]

    def call(self, pid, tid, start, end, name='cudaLaunchKernel_v7000', correlation=0, **more):
        self.add('CUPTI_ACTIVITY_KIND_RUNTIME', start=start, end=end, eventClass=more.pop('eventClass', 0), globalTid=process(pid) + tid,
                 correlationId=correlation, nameId=self.text(name), returnValue=0, **more)

    def kernel(self, pid, start, end, name, correlation=0, device=0, stream=7, **more):
        self.add('CUPTI_ACTIVITY_KIND_KERNEL', start=start, end=end, deviceId=device, contextId=1, streamId=stream, correlationId=correlation,
                 globalPid=process(pid), demangledName=self.text(name), shortName=self.text(name.split('<')[0]), registersPerThread=32,
                 gridX=2, gridY=3, gridZ=4, blockX=128, blockY=1, blockZ=1, **more)

    def copy(self, pid, start, end, kind=1, correlation=0, device=0, stream=7, size=4096):
        self.add('CUPTI_ACTIVITY_KIND_MEMCPY', start=start, end=end, deviceId=device, contextId=1, streamId=stream, correlationId=correlation,
                 globalPid=process(pid), bytes=size, copyKind=kind)

    def chain(self, table, number, *frames, **more):
        """Adds a call chain, innermost frame first: functions, or pairs of function and module."""
        for depth, frame in enumerate(frames):
            symbol, module = frame if isinstance(frame, tuple) else (frame, '/usr/bin/app')
            self.add(table, id=number, symbol=self.text(symbol), module=self.text(module), stackDepth=depth, **more)

    def sample(self, number, start, pid, tid, *frames, cycles=1, cpu=0, state=1):
        self.add('COMPOSITE_EVENTS', id=number, start=start, cpu=cpu, threadState=state, globalTid=process(pid) + tid, cpuCycles=cycles)
        self.chain('SAMPLING_CALLCHAINS', number, *frames)

    def switch(self, start, cpu, runs, pid, tid, state=None, block=None):
        self.add('SCHED_EVENTS', start=start, cpu=cpu, isSchedIn=runs, globalTid=process(pid) + tid, threadState=state, threadBlock=block)

    def schema(self, number, *entries, domain=1, size=None, kind=1, align=None):
        """Adds a schema of NVTX payloads. Entries: (type, name, offset, flags, length), of which the last three may be missing."""
        self.add('NVTX_PAYLOAD_SCHEMAS', domainId=domain, schemaId=number, type=kind, numEntries=len(entries), payloadSize=size, alignTo=align)
        for i, entry in enumerate(entries):
            kind, name, offset, flags, length = (*entry, None, None, None)[:5]
            self.add('NVTX_PAYLOAD_SCHEMA_ENTRIES', domainId=domain, schemaId=number, idx=i, flags=flags or None, type=kind, name=name,
                     arrayOrUnionDetail=length or None, offset=offset or None)

    def payload(self, start, end, name, schema, data, pid=9, domain=1):
        self.add('NVTX_EVENTS', start=start, end=end, eventType=59, text=name, globalTid=process(pid) + pid, domainId=domain,
                 binaryData=struct.pack('<QQQQ', domain, schema, len(data), 32) + data)

    def close(self):
        if not self.texts:
            self.text('')  # an export has at least one text
        self.db.commit()
        self.db.close()
