/* address.h - names that are addresses, such as "s3://bucket/run/rank0.json.gz".
 *
 * "file://" is another spelling of a local path. All other addresses are read through functions of the caller (struct tk_fetch),
 * which return streams and listings. */
#ifndef SOURCE_ADDRESS_H
#define SOURCE_ADDRESS_H

#include "io/in.h"

/* True for a name with a scheme: letters and digits before "://". */
bool address_is(const char *name);

/* Returns the local path behind an address (to be freed): that of a "file://" address, or of a copy that the caller made. NULL
 * with err if the address is invalid or cannot be read; NULL without err if it must be read as a stream or listed. */
char *address_path(const struct tk_fetch *fetch, const char *address, struct tk_err *err);

/* Returns the length of the part that names the input: a query ("?X-Amz-Signature=...") may be secret, so it is not shown. */
size_t address_shown(const char *address);

/* Returns the length of the archive's address in "s3://bucket/logs.zip:rank0.json"; the whole length if no member is named. */
size_t address_archive(const char *address);

/* True for a path that stays below its folder and that messages can show. */
bool address_is_below(const char *path);

/* Opens the stream behind an address. If the stream fails, reading the input also fails: a failure is never mistaken for the end of the
 * data. */
struct in *address_open(const struct tk_fetch *fetch, const char *address, struct mem *mem, struct tk_err *err);

#endif
