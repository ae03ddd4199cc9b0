#!/usr/bin/env python3
"""packed.py FILE SEED: writes SEED, an input of fuzz_archive that contains FILE: one byte that selects the file extension, followed by
a zip, tar, 7z or tar.gz archive. The number at the end of the file name SEED selects the format."""
import ctypes
import ctypes.util
import io
import os
import re
import sys
import tarfile
import zipfile


def as_zip(name, number):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED) as z:
        z.write(name, 'a/' + os.path.basename(name))
        z.write(name, os.path.basename(name))
    return out.getvalue()


def as_tar(name, mode):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as t:
        t.add(name, os.path.basename(name))
    return out.getvalue()


def as_7z(name, number):
    """Returns the file as a 7z archive, made by libarchive, because Python cannot write 7z."""
    with open(name, 'rb') as f:
        data = f.read()
    lib = ctypes.CDLL(ctypes.util.find_library('archive') or 'libarchive.so.13')
    for function in ('archive_write_new', 'archive_entry_new'):
        getattr(lib, function).restype = ctypes.c_void_p
    a, entry = ctypes.c_void_p(lib.archive_write_new()), ctypes.c_void_p(lib.archive_entry_new())
    out, used = ctypes.create_string_buffer(len(data) + (1 << 16)), ctypes.c_size_t()
    lib.archive_write_set_format_7zip(a)
    lib.archive_write_set_options(a, b'compression=' + (b'store', b'deflate', b'lzma2')[number % 3])
    assert lib.archive_write_open_memory(a, out, ctypes.c_size_t(len(out)), ctypes.byref(used)) == 0
    lib.archive_entry_set_pathname(entry, os.path.basename(name).encode())
    lib.archive_entry_set_size(entry, ctypes.c_int64(len(data)))
    lib.archive_entry_set_filetype(entry, 0o100000)
    assert lib.archive_write_header(a, entry) == 0
    lib.archive_write_data(a, data, ctypes.c_size_t(len(data)))
    assert lib.archive_write_close(a) == 0
    return out.raw[:used.value]


def main():
    name, seed = sys.argv[1:]
    number = int(re.search(r'\d+$', seed)[0])
    which = number % 4
    pack = (as_zip, lambda name, _: as_tar(name, 'w'), as_7z, lambda name, _: as_tar(name, 'w:gz'))[which]
    data = pack(name, number // 4)
    with open(seed, 'wb') as f:
        f.write(bytes([which]) + data)


if __name__ == '__main__':
    main()
