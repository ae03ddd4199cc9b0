/* opening.h - opens, inspects and copies the entries that names.h lists. */
#ifndef SOURCE_OPENING_H
#define SOURCE_OPENING_H

#include "names.h"

/* Reports progress to the caller. Returns false with err if the caller interrupts. */
bool source_progress(struct source *s, struct tk_err *err);

/* Inspects the first bytes of an entry. Returns false only on an interrupt or when memory runs out; after other errors, the
 * entry fails to open. */
bool source_look(struct source *s, uint32_t entry, struct tk_err *err);

/* Open an entry; source_open_raw does not decompress it. `ahead`: a thread reads in advance. Entries of the same archive must
 * be opened one at a time, and are read fastest in their order. `mem`: as for in_open. */
struct in *source_open(struct source *s, uint32_t entry, bool ahead, struct mem *mem, struct tk_err *err);
struct in *source_open_raw(struct source *s, uint32_t entry, struct mem *mem, struct tk_err *err);

/* Keeps the open stream of an address until the entry is read; `in` may be NULL. Only one waits at a time, because servers
 * close idle connections: the stream that waited before is closed, and opened again when it is needed. */
void source_hold(struct source *s, uint32_t entry, struct in *in);

/* Copies the stream to an unnamed file, whose path "/dev/fd/N" the caller frees. Returns its descriptor, or -1 with `why` set;
 * if interrupted, -1 with err set. */
int source_spool(struct source *s, struct in *in, char **path, struct tk_err *why, struct tk_err *err);

/* Copies a stream (a pipe, an address) to an unnamed file, so that it can be read more than once. Returns false only on an
 * interrupt; other errors are reported when the entry is opened. */
bool source_keep(struct source *s, uint32_t entry, struct tk_err *err);

void source_free(struct source *s);

#endif
