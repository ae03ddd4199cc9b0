/* spans_walk.c - walks over two tables of spans in parallel and finds the pairs that overlap.
 *
 * Each table is a series of spans, sorted by partition and start. If the table has `fills` set, the gaps between its spans also belong
 * to the series; the first and the last gap are unbounded. The walk visits one partition after the other. Within a partition, it
 * compares one element of each table, and advances past the one that ends first. If only one table is partitioned, the other is read
 * again for each partition. */
#include "spans.h"

static bool is_parted(const struct spans_side *v) { return v->table->partition != NULL; }

/* ---- rows ---- */

/* Reads the next row whose start, duration and, in a partitioned table, partition are not NULL. */
static int read_row(struct spans_side *v) {
  const struct spans_table *t = v->table;
  int status;
  v->row = false;
  while ((status = sqlite3_step(v->stmt)) == SQLITE_ROW) {
    if (sqlite3_column_type(v->stmt, t->ts) == SQLITE_NULL || sqlite3_column_type(v->stmt, t->dur) == SQLITE_NULL) continue;
    if (is_parted(v) && sqlite3_column_type(v->stmt, t->part) == SQLITE_NULL) continue;
    if (is_parted(v) && sqlite3_column_type(v->stmt, t->part) != SQLITE_INTEGER) return SQLITE_MISMATCH;
    v->row_part = is_parted(v) ? sqlite3_column_int64(v->stmt, t->part) : 0;
    v->row_ts = sqlite3_column_int64(v->stmt, t->ts);
    v->row_dur = sqlite3_column_int64(v->stmt, t->dur);
    v->row = true;
    return SQLITE_OK;
  }
  return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int rewind_side(struct spans_walk *w, struct spans_side *v) {
  const struct spans_table *t = v->table;
  int status = SQLITE_OK;
  if (v->stmt) sqlite3_reset(v->stmt);
  else {
    char *sql = t->partition ? sqlite3_mprintf("SELECT * FROM \"%w\" ORDER BY \"%w\", ts", t->name, t->partition)
                             : sqlite3_mprintf("SELECT * FROM \"%w\" ORDER BY ts", t->name);
    status = sql ? sqlite3_prepare_v2(w->db, sql, -1, &v->stmt, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
  }
  if (status == SQLITE_OK && sqlite3_column_count(v->stmt) != t->n) status = SQLITE_SCHEMA; /* the table was replaced */
  return status == SQLITE_OK ? read_row(v) : status;
}

/* ---- spans and gaps of a partition ---- */

static int64_t spans_add(int64_t ts, int64_t dur) {
  int64_t end;
  return __builtin_add_overflow(ts, dur, &end) ? (dur < 0 ? INT64_MIN : INT64_MAX) : end;
}

static bool has_row(const struct spans_walk *w, const struct spans_side *v) {
  return v->row && (!is_parted(v) || v->row_part == w->part);
}

/* Enters the next span, or the gap before it. The statement stays on its row until the walk leaves the span of this row, because
 * callers still read the columns. */
static void enter_next(const struct spans_walk *w, struct spans_side *v) {
  const bool row = has_row(w, v);
  const int64_t next = row ? v->row_ts : INT64_MAX;
  v->open = v->gap = false;
  if (v->table->fills && v->reached < next) {
    v->open = v->gap = true;
    v->from = v->reached;
    v->to = v->raw_to = v->reached = next;
    return;
  }
  if (!row) return;
  v->open = true;
  v->from = v->row_ts;
  v->raw_to = spans_add(v->row_ts, v->row_dur);
  v->to = v->row_dur == -1 ? v->row_ts : v->raw_to;
  v->reached = v->to;
}

static int pass(const struct spans_walk *w, struct spans_side *v) {
  const int status = v->gap ? SQLITE_OK : read_row(v);
  enter_next(w, v);
  return status;
}

/* ---- partitions ---- */

static int skip_to(struct spans_side *v, int64_t part) {
  int status = SQLITE_OK;
  while (status == SQLITE_OK && is_parted(v) && v->row && v->row_part < part) status = read_row(v);
  return status;
}

/* Chooses the next partition that both tables contain. A table with `fills` need not contain it: the whole partition is then a gap. */
static bool find_partition(struct spans_walk *w, int *status) {
  struct spans_side *a = &w->sides[0], *b = &w->sides[1];
  const bool both = is_parted(a) && is_parted(b);
  if (!is_parted(a) && !is_parted(b)) return !w->inside;
  if (!both) {
    const struct spans_side *parted = is_parted(a) ? a : b;
    w->part = parted->row_part;
    return parted->row;
  }
  while (*status == SQLITE_OK) {
    if ((!a->row && (!b->row || !a->table->fills)) || (!b->row && !b->table->fills)) return false;
    if (a->row && (!b->row || a->row_part <= b->row_part)) w->part = a->row_part;
    else w->part = b->row_part;
    const bool has_a = has_row(w, a), has_b = has_row(w, b);
    if ((has_a || a->table->fills) && (has_b || b->table->fills)) return true;
    *status = read_row(has_a ? a : b);
  }
  return false;
}

static int enter_partition(struct spans_walk *w) {
  const bool mixed = is_parted(&w->sides[0]) != is_parted(&w->sides[1]);
  int status = SQLITE_OK;
  for (int i = 0; status == SQLITE_OK && w->inside && i < 2; i++)
    if (w->part < INT64_MAX) status = skip_to(&w->sides[i], w->part + 1);
    else w->sides[i].row = w->sides[i].row && !is_parted(&w->sides[i]);
  if (status != SQLITE_OK || !find_partition(w, &status)) {
    w->end = true;
    return status;
  }
  for (int i = 0; status == SQLITE_OK && i < 2; i++) {
    struct spans_side *v = &w->sides[i];
    if (mixed && !is_parted(v)) status = rewind_side(w, v);
    v->reached = INT64_MIN;
    enter_next(w, v);
  }
  w->inside = true;
  return status;
}

/* ---- pairs ---- */

/* True if the elements share a time, or if one of them has no duration and is within the other. Two gaps never overlap. */
static bool overlap(const struct spans_side *a, const struct spans_side *b) {
  if (a->gap && b->gap) return false;
  if (a->from == b->from && !a->gap && !b->gap) return true;
  return (a->from >= b->from && a->from < b->to) || (b->from >= a->from && b->from < a->to);
}

/* Advances past the element that ends first; if both end together, past a gap before a span. */
static int step(struct spans_walk *w) {
  struct spans_side *a = &w->sides[0], *b = &w->sides[1];
  const bool first = a->to != b->to ? a->to < b->to : a->gap && !b->gap;
  return pass(w, first ? a : b);
}

static int find_pair(struct spans_walk *w) {
  int status = SQLITE_OK;
  while (status == SQLITE_OK && !w->end) {
    const bool open = w->inside && w->sides[0].open && w->sides[1].open;
    if (!open) status = enter_partition(w);
    else if (overlap(&w->sides[0], &w->sides[1])) break;
    else status = step(w);
  }
  return status;
}

int spans_begin(struct spans_walk *w) {
  int status = SQLITE_OK;
  w->end = w->inside = false;
  w->part = 0;
  for (int i = 0; status == SQLITE_OK && i < 2; i++) {
    w->sides[i].open = false;
    status = rewind_side(w, &w->sides[i]);
  }
  return status == SQLITE_OK ? find_pair(w) : status;
}

int spans_next(struct spans_walk *w) {
  const int status = step(w);
  return status == SQLITE_OK ? find_pair(w) : status;
}

void spans_close(struct spans_walk *w) {
  for (int i = 0; i < 2; i++) sqlite3_finalize(w->sides[i].stmt);
}
