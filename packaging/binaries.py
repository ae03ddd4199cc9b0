#!/usr/bin/env python3
"""binaries.py FILE... - checks that the binaries in a package run on the system that the name of the package states.

A FILE is a wheel, a .tar.gz or a binary. Its name contains the system and the processor: manylinux2014_x86_64,
musllinux_1_2_aarch64, macosx_11_0_arm64, linux-x86_64 (static). Checks the processor, the libraries loaded at run time, the newest
symbol version of glibc, the oldest macOS, and that stacks are not executable. Prints a line for each binary; exits with 1 if one
of them does not fit the name."""
import io
import re
import sys
import tarfile
import tempfile
import zipfile

from elftools.elf.elffile import ELFFile
from macholib.mach_o import CPU_TYPE_NAMES, LC_BUILD_VERSION, LC_CODE_SIGNATURE, LC_LOAD_DYLIB
from macholib.MachO import MachO

ELF, MACH = b'\x7fELF', (b'\xcf\xfa\xed\xfe', b'\xca\xfe\xba\xbe')
PROCESSORS = {'EM_X86_64': 'x86_64', 'EM_AARCH64': 'aarch64', 'ARM64': 'arm64', 'x86_64': 'x86_64'}
# Libraries of a system that a package may load.
GLIBC = {'libc.so.6', 'libm.so.6', 'libpthread.so.0', 'libdl.so.2', 'librt.so.1', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
MUSL = {'libc.so'}
APPLE = {'/usr/lib/libSystem.B.dylib'}
MANYLINUX2014 = (2, 17)


def members(path):
    """Yields name and bytes of each binary in a package."""
    if path.endswith('.whl'):
        with zipfile.ZipFile(path) as z:
            files = [(name, z.read(name)) for name in z.namelist()]
    elif path.endswith('.tar.gz'):
        with tarfile.open(path) as t:
            files = [(m.name, t.extractfile(m).read()) for m in t.getmembers() if m.isfile()]
    else:
        with open(path, 'rb') as f:
            files = [(path, f.read())]
    return [(name, data) for name, data in files if data[:4] == ELF or data[:4] in MACH]


def expected(path):
    """Returns the system and the processor that a package's name claims."""
    found = re.search(r'(manylinux2014|musllinux_1_2|macosx_11_0|linux|macos)[_-](x86_64|aarch64|arm64)', path.rpartition('/')[2])
    if not found:
        sys.exit(f'binaries.py: {path}: the name has no system')
    return found[1], found[2]


def check_elf(data, system, processor):
    elf = ELFFile(io.BytesIO(data))
    dynamic = elf.get_section_by_name('.dynamic')
    needed = {t.needed for t in dynamic.iter_tags() if t.entry.d_tag == 'DT_NEEDED'} if dynamic else set()
    versions = elf.get_section_by_name('.gnu.version_r')
    glibc = [tuple(map(int, aux.name[6:].split('.'))) for _, auxes in (versions.iter_versions() if versions else ())
             for aux in auxes if aux.name.startswith('GLIBC_') and aux.name[6:7].isdigit()]
    stack = [s for s in elf.iter_segments() if s.header.p_type == 'PT_GNU_STACK']
    allowed = {'manylinux2014': GLIBC, 'musllinux_1_2': MUSL}.get(system, set())
    newest = max(glibc, default=(0, 0))
    problems = [f'processor {elf.header.e_machine}'] if PROCESSORS.get(elf.header.e_machine) != processor else []
    problems += [f'loads {name}' for name in sorted(needed - allowed)]
    problems += [f'needs glibc {newest}'] if newest > MANYLINUX2014 else []
    problems += ['stack is executable'] if any(s.header.p_flags & 1 for s in stack) else []
    problems += ['has a run path'] if dynamic and any(t.entry.d_tag in ('DT_RPATH', 'DT_RUNPATH') for t in dynamic.iter_tags()) else []
    return problems, f'glibc {newest[0]}.{newest[1]}' if glibc else 'musl' if needed else 'static'


def headers_of(data):
    """Returns the Mach-O headers in a file's bytes; macholib reads files only."""
    with tempfile.NamedTemporaryFile() as f:
        f.write(data)
        f.flush()
        return MachO(f.name).headers


def check_macho(data, _, processor):
    problems, oldest = [], (0, 0)
    for header in headers_of(data):
        commands = {command.cmd: (detail, rest) for command, detail, rest in header.commands}
        cpu = CPU_TYPE_NAMES.get(header.header.cputype, str(header.header.cputype))
        problems += [f'processor {cpu}'] if PROCESSORS.get(cpu) != processor else []
        for command, _, rest in header.commands:
            if command.cmd == LC_LOAD_DYLIB:
                name = rest.split(b'\0')[0].decode()
                problems += [f'loads {name}'] if name not in APPLE else []
        if LC_BUILD_VERSION in commands:
            minos = commands[LC_BUILD_VERSION][0].minos
            oldest = (minos >> 16, minos >> 8 & 255)
        problems += ['has no signature'] if processor == 'arm64' and LC_CODE_SIGNATURE not in commands else []
    problems += [f'needs macOS {oldest[0]}.{oldest[1]}'] if not (0, 0) < oldest <= (11, 0) else []
    return problems, f'macOS {oldest[0]}.{oldest[1]}'


def main(paths):
    failed = False
    for path in paths:
        system, processor = expected(path)
        found = members(path)
        if not found:
            print(f'FAIL {path}: no binary in it')
            failed = True
        for name, data in found:
            problems, what = (check_elf if data[:4] == ELF else check_macho)(data, system, processor)
            failed |= bool(problems)
            print(f'{"FAIL" if problems else "  ok"} {path.rpartition("/")[2]}: {name.rpartition("/")[2]}: '
                  f'{"; ".join(problems) or f"{what}, {processor}"}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
