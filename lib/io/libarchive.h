/* libarchive.h - the functions of libarchive, looked up when an archive or a compressed stream is opened.
 *
 * libarchive depends on other libraries (XML, Unicode, C++, ciphers). Their relocation took half of the time of a command that reads a
 * small plain file. So a dynamic build does not link libarchive but loads it by its name, TK_LATE_ARCHIVE. A build without that name,
 * such as a static one, links the functions. */
#ifndef IO_LIBARCHIVE_H
#define IO_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "base/err.h"

#define LIBARCHIVE_FUNCTIONS(f) \
  f(archive_entry_filetype) \
  f(archive_entry_free) \
  f(archive_entry_hardlink) \
  f(archive_entry_mtime) \
  f(archive_entry_mtime_is_set) \
  f(archive_entry_new) \
  f(archive_entry_pathname) \
  f(archive_entry_pathname_utf8) \
  f(archive_entry_set_filetype) \
  f(archive_entry_set_gid) \
  f(archive_entry_set_mtime) \
  f(archive_entry_set_pathname) \
  f(archive_entry_set_perm) \
  f(archive_entry_set_size) \
  f(archive_entry_set_uid) \
  f(archive_entry_size) \
  f(archive_entry_size_is_set) \
  f(archive_errno) \
  f(archive_error_string) \
  f(archive_filter_bytes) \
  f(archive_read_data) \
  f(archive_read_free) \
  f(archive_read_new) \
  f(archive_read_next_header) \
  f(archive_read_open) \
  f(archive_read_open_fd) \
  f(archive_read_support_filter_bzip2) \
  f(archive_read_support_filter_xz) \
  f(archive_read_support_filter_zstd) \
  f(archive_read_support_format_7zip) \
  f(archive_read_support_format_raw) \
  f(archive_read_support_format_tar) \
  f(archive_read_support_format_zip) \
  f(archive_read_support_format_zip_streamable) \
  f(archive_write_close) \
  f(archive_write_data) \
  f(archive_write_free) \
  f(archive_write_header) \
  f(archive_write_new) \
  f(archive_write_open) \
  f(archive_write_set_format_pax_restricted)

#define LIBARCHIVE_MEMBER(name) __typeof__(&(name)) name;
struct libarchive {
  LIBARCHIVE_FUNCTIONS(LIBARCHIVE_MEMBER)
};

/* Fills `lib` with the functions. The library stays loaded until the program ends. Fails if it is not installed. */
bool libarchive_find(struct libarchive *lib, struct tk_err *err);

#endif
