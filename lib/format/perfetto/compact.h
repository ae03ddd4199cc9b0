/* compact.h - the columns of the scheduler in an ftrace bundle (FtraceEventBundle.compact_sched), item by item. */
#ifndef FORMAT_PERFETTO_COMPACT_H
#define FORMAT_PERFETTO_COMPACT_H

#include "base/mem.h"
#include "format/pb.h"

/* The kinds of items, each with columns of its own. */
enum compact_kind { COMPACT_SWITCHES, COMPACT_WAKINGS, COMPACT_KINDS };
enum { COMPACT_COLUMNS = 13 };

struct compact {
  struct pb_field field;
  struct pb column[COMPACT_COLUMNS]; /* by field number: remaining values */
  uint64_t time[COMPACT_KINDS];      /* time of the last item read */
  bool is_odd;                       /* a column occurs twice, or is not packed */
};

/* A switch or a waking, by field number of the column. `has` is false if the column ended before this item. */
struct compact_item {
  enum compact_kind kind;
  uint64_t time, value[COMPACT_COLUMNS];
  bool has[COMPACT_COLUMNS];
};

/* Selected items, encoded as columns again. */
struct compact_out {
  struct buf column[COMPACT_COLUMNS];
  uint64_t time[COMPACT_KINDS], n;
};

void compact_read(struct compact *c, const struct pb_field *field);
/* Reads the next item of the kind. Returns false at the end. */
bool compact_next(struct compact *c, enum compact_kind kind, struct compact_item *item);
/* Sets *name to the name with this index in the bundle's list. Returns false if there is none. */
bool compact_name(const struct pb_field *field, uint64_t index, struct pb_field *name);

void compact_begin(struct compact_out *out, struct mem *mem);
void compact_put(struct compact_out *out, const struct compact_item *item);
/* Appends the columns to `to`. */
void compact_append(struct compact_out *out, struct buf *to);
void compact_end(struct compact_out *out);

#endif
