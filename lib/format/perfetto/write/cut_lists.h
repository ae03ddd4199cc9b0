/* cut_lists.h - cuts packets that contain a list of items and a list of the times of these items (KIND_LISTS). */
#ifndef FORMAT_PERFETTO_WRITE_CUT_LISTS_H
#define FORMAT_PERFETTO_WRITE_CUT_LISTS_H

#include "cut_times.h"

/* True if the packet contains a list of times. */
bool cut_lists_is(const struct packet_head *h);

/* Copies the content without the items out of the range to c->content. */
enum verdict cut_lists(struct cut *c, const struct cut_sequence *q, const struct packet_head *h);

/* Calls `found` with the time of each item on the trace clock. */
void cut_lists_times(const struct cut *c, const struct cut_sequence *q, const struct packet_head *h,
                     void (*found)(void *arg, int64_t ns), void *arg);

#endif
