/* alike.h - fast path for events with the same stats as earlier events of their metadata. */
#ifndef FORMAT_XPLANE_READ_ALIKE_H
#define FORMAT_XPLANE_READ_ALIKE_H

#include "reader.h"

/* Reads up to `most` events at the cursor, as long as their stats are as predicted. `end`: end of the line. Returns the number
 * of events read. The general code calls xplane_see_stat for each stat that it reads, xplane_learn_alike with the resulting args,
 * and xplane_forget_alike at the start of a plane. */
uint32_t xplane_read_alike(struct xplane_reader *r, const struct xplane_line *line, uint64_t end, uint32_t most);
void xplane_see_stat(struct xplane_reader *r, const struct xstat *s);
void xplane_learn_alike(struct xplane_reader *r, int64_t id, uint32_t args);
void xplane_forget_alike(struct xplane_reader *r);

#endif
