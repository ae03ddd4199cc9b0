/* sqlite.c - see sqlite.h. Reads the header, pages and records; sqlite_schema.c parses the text of the schema. */
#include "sqlite.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "base/utf8.h"
#include "sqlite_schema.h"

enum {
  HEADER = 100,
  TABLE_INTERIOR = 0x05, TABLE_LEAF = 0x0d,
  BLOCK = 64,            /* maximum number of consecutive pages that are read at once */
  TABLES_MOST = 4096,
  RESERVED_MOST = 255
};
enum encoding { UTF_8 = 1, UTF_16LE = 2, UTF_16BE = 3 };

static const char MAGIC[16] = "SQLite format 3";

struct sqlite {
  struct in *in;
  struct mem *mem;
  struct arena arena;
  uint32_t page_size, usable, n_pages;
  enum encoding encoding;
  bool cut, wal;
  struct sqlite_table *tables;
  size_t n_tables, cap_tables;
};

static uint32_t u16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static uint32_t u32(const uint8_t *p) { return u16(p) << 16 | u16(p + 2); }

/* ---- pages ---- */

/* Reads `n` pages, beginning with page `number`. Returns the number of complete pages; 0 at the end, or with err set. */
static uint32_t read_pages(struct sqlite *db, uint8_t *to, uint32_t number, uint32_t n, struct tk_err *err) {
  if (number == 0 || number > db->n_pages) return 0;
  if (n > db->n_pages - number + 1) n = db->n_pages - number + 1;
  const ptrdiff_t got = in_read_at(db->in, to, (size_t)n * db->page_size, (uint64_t)(number - 1) * db->page_size, err);
  if (got >= 0 && (size_t)got < db->page_size) db->cut = true;
  return got < 0 ? 0 : (uint32_t)((size_t)got / db->page_size);
}

/* ---- a walk ---- */

struct level {
  uint8_t *page; /* copy of an interior page */
  uint32_t at, n; /* index of the next child; number of children */
};

struct sqlite_walk {
  struct mem *mem;
  uint8_t *block; /* consecutive pages, from page `first` on: n_block pages, followed by MEM_SLACK bytes */
  uint32_t first, n_block, last;
  struct level levels[SQLITE_DEPTH];
  unsigned depth;
  const uint8_t *leaf; /* the current leaf; NULL = between two leaves */
  uint8_t *overflow;   /* room for one page of a long row */
  uint32_t cell, n_cells;
  uint64_t visited;
  struct buf row;  /* room for the bytes of a long row */
  struct buf text; /* room for texts that are converted from UTF-16 */
  int16_t *slot;   /* by position in the record: index of the wanted column; -1 = not wanted */
  uint32_t n_slots;
  int rowid_slot;
};

/* Returns a page, valid until the next call. Returns NULL if the file lacks the page, or with err set. */
static const uint8_t *page_at(const struct sqlite_scan *s, uint32_t number, struct tk_err *err) {
  struct sqlite_walk *w = s->walk;
  if (number < w->first || number >= w->first + w->n_block) {
    const bool follows = number > w->last && number - w->last < BLOCK;
    w->n_block = read_pages(s->db, w->block, number, follows ? BLOCK : 1, err);
    w->first = number;
  }
  w->last = number;
  return w->n_block ? w->block + (size_t)(number - w->first) * s->db->page_size : NULL;
}

static uint32_t header_of(uint32_t number) { return number == 1 ? HEADER : 0; }

/* Returns the offset of the i-th cell; 0 if it is outside the page. */
static uint32_t cell_at(const struct sqlite *db, const uint8_t *page, uint32_t head, uint32_t i) {
  const uint32_t length = page[head] == TABLE_LEAF ? 8 : 12, at = head + length + 2 * i;
  if (at + 2 > db->usable) return 0;
  const uint32_t offset = u16(page + at);
  return offset >= at + 2 && offset + 4 <= db->usable ? offset : 0;
}

static bool push_interior(struct sqlite_scan *s, const uint8_t *page, uint32_t head) {
  struct sqlite_walk *w = s->walk;
  if (w->depth == SQLITE_DEPTH) return false;
  struct level *l = &w->levels[w->depth];
  if (!l->page) l->page = mem_alloc(w->mem, s->db->page_size + MEM_SLACK);
  if (!l->page) return false;
  memcpy(l->page, page, s->db->page_size);
  if (head) memmove(l->page, l->page + head, s->db->page_size - head); /* offsets of cells stay relative to the page */
  l->at = 0;
  l->n = u16(l->page + 3) + 1;
  w->depth++;
  return true;
}

/* Enters a page of the tree. Returns false if it is damaged, or with err set. */
static bool enter(struct sqlite_scan *s, uint32_t number, struct tk_err *err) {
  struct sqlite_walk *w = s->walk;
  if (++w->visited > s->db->n_pages) return false; /* damage: pages that contain each other */
  const uint8_t *page = page_at(s, number, err);
  const uint32_t head = header_of(number);
  if (!page) return false;
  if (page[head] == TABLE_INTERIOR) return push_interior(s, page, head);
  if (page[head] != TABLE_LEAF) return false;
  w->leaf = page;
  w->cell = 0;
  w->n_cells = u16(page + head + 3);
  return true;
}

/* Returns the next child of an interior page; 0 if the pointer is damaged. `head`: size of the file's header on page 1, which l->page
 * does not contain. */
static uint32_t child_of(const struct sqlite *db, const struct level *l, uint32_t i, uint32_t head) {
  if (i + 1 == l->n) return u32(l->page + 8);
  if (12 + 2 * i + 2 > db->usable - head) return 0;
  const uint32_t offset = u16(l->page + 12 + 2 * i);
  return offset >= head + 12 && offset + 4 <= db->usable ? u32(l->page + offset - head) : 0;
}

/* Moves to the next leaf. Returns false at the end of the tree, or with err set. */
static bool next_leaf(struct sqlite_scan *s, struct tk_err *err) {
  struct sqlite_walk *w = s->walk;
  w->leaf = NULL;
  while (w->depth) {
    struct level *l = &w->levels[w->depth - 1];
    if (l->at == l->n || w->visited > s->db->n_pages) {
      w->depth--;
      continue;
    }
    const uint32_t child = child_of(s->db, l, l->at++, w->depth == 1 ? header_of(s->table->root) : 0);
    if (!child || !enter(s, child, err)) {
      if (err->code != TK_OK || w->mem->failed) return false;
      s->lost_pages++;
    } else if (w->leaf) {
      return true;
    }
  }
  return false;
}

/* ---- records ---- */

/* Decodes a varint of 1 to 9 bytes, the most significant byte first. May read 9 bytes in any case, for which MEM_SLACK leaves
 * room. */
static const uint8_t *varint(const uint8_t *p, uint64_t *v) {
  uint64_t x = 0;
  for (int i = 0; i < 8; i++) {
    x = x << 7 | (p[i] & 0x7f);
    if (!(p[i] & 0x80)) {
      *v = x;
      return p + i + 1;
    }
  }
  *v = x << 8 | p[8];
  return p + 9;
}

/* Returns the size of a value in bytes; types 10 and 11 are reserved. */
static uint64_t size_of_type(uint64_t type) {
  static const uint8_t SIZES[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < 12 ? SIZES[type] : (type - 12) / 2;
}

static int64_t integer(const uint8_t *p, size_t n) {
  uint64_t v = n && p[0] & 0x80 ? UINT64_MAX : 0;
  for (size_t i = 0; i < n; i++) v = v << 8 | p[i];
  return (int64_t)v;
}

static struct cell real(const uint8_t *p) {
  const int64_t bits = integer(p, 8);
  struct cell c = {.type = CELL_REAL};
  memcpy(&c.d, &bits, sizeof c.d);
  return c;
}

/* Converts a string to UTF-8. All strings of a row share a buffer, which therefore must not move. */
static struct cell utf16_text(struct sqlite_walk *w, const uint8_t *p, size_t n, bool big) {
  struct cell c = {.type = CELL_TEXT, .p = w->text.data + w->text.len};
  size_t used;
  for (const uint8_t *end = p + n; end - p >= 2; p += used) {
    w->text.len += utf8_put(w->text.data + w->text.len, utf8_from_16(p, (size_t)(end - p), big, &used));
  }
  c.n = (size_t)(w->text.data + w->text.len - c.p);
  return c;
}

static struct cell cell_of(struct sqlite_scan *s, uint64_t type, const uint8_t *p) {
  const size_t n = (size_t)size_of_type(type);
  if (type == 0) return (struct cell){.type = CELL_NULL};
  if (type == 7) return real(p);
  if (type < 10) return (struct cell){.type = CELL_INT, .i = type == 9 ? 1 : integer(p, n)};
  if (type % 2 == 0) return (struct cell){.type = CELL_BLOB, .p = p, .n = n};
  if (s->db->encoding != UTF_8) return utf16_text(s->walk, p, n, s->db->encoding == UTF_16BE);
  return (struct cell){.type = CELL_TEXT, .p = p, .n = n};
}

/* Splits a record of n bytes into its values. Returns false if the record is damaged. */
static bool take_record(struct sqlite_scan *s, const uint8_t *p, uint64_t n) {
  struct sqlite_walk *w = s->walk;
  const uint8_t *types = p, *end_types, *value, *const end = p + n;
  uint64_t head, type;
  types = varint(p, &head);
  if (head > n || head < (uint64_t)(types - p)) return false;
  end_types = value = p + head;
  w->text.len = 0;
  if (s->db->encoding != UTF_8 && !buf_reserve(&w->text, (size_t)n * 2)) return false;
  for (uint32_t i = 0; i < w->n_slots && types < end_types; i++) {
    types = varint(types, &type);
    const uint64_t size = size_of_type(type);
    if (types > end_types || size > (uint64_t)(end - value) || type == 10 || type == 11) return false;
    if (w->slot[i] >= 0) s->v[w->slot[i]] = cell_of(s, type, value);
    value += size;
  }
  return true;
}

/* Returns how many bytes of a row are on the leaf itself (fileformat2.html, 1.6). */
static uint64_t local_size(const struct sqlite *db, uint64_t n) {
  const uint64_t u = db->usable, most = u - 35, least = (u - 12) * 32 / 255 - 23;
  if (n <= most) return n;
  const uint64_t k = least + (n - least) % (u - 4);
  return k <= most ? k : least;
}

/* Assembles a long row from its pages. Returns NULL if the chain of pages is damaged, or with err set. */
static const uint8_t *whole_row(struct sqlite_scan *s, const uint8_t *p, uint64_t local, uint64_t n, struct tk_err *err) {
  struct sqlite_walk *w = s->walk;
  uint32_t next = u32(p + local);
  if (n > (uint64_t)s->db->n_pages * s->db->page_size) return NULL;
  if (!w->overflow) w->overflow = mem_alloc(w->mem, s->db->page_size + MEM_SLACK);
  w->row.len = 0;
  if (!w->overflow || !buf_append(&w->row, p, (size_t)local)) return NULL;
  while (w->row.len < n) {
    const uint64_t left = n - w->row.len, room = s->db->usable - 4;
    if (read_pages(s->db, w->overflow, next, 1, err) != 1) return NULL;
    if (!buf_append(&w->row, w->overflow + 4, (size_t)(left < room ? left : room))) return NULL;
    next = u32(w->overflow);
  }
  if (!buf_reserve(&w->row, MEM_SLACK)) return NULL;
  memset(w->row.data + w->row.len, 0, MEM_SLACK);
  return w->row.data;
}

/* Decodes the i-th row of the leaf. Returns false if it is damaged, or with err set. */
static bool take_row(struct sqlite_scan *s, uint32_t i, struct tk_err *err) {
  const struct sqlite_walk *w = s->walk;
  const struct sqlite *db = s->db;
  const uint32_t offset = cell_at(db, w->leaf, header_of(s->table->root == 1 && !w->depth ? 1 : 0), i);
  const uint8_t *p = w->leaf + offset, *const end = w->leaf + db->usable;
  uint64_t n, rowid;
  if (!offset) return false;
  p = varint(varint(p, &n), &rowid);
  if (p > end) return false;
  const uint64_t local = local_size(db, n), least = local < n ? local + 4 : local;
  if (least > (uint64_t)(end - p)) return false;
  if (local < n) p = whole_row(s, p, local, n, err);
  s->rowid = (int64_t)rowid;
  memset(s->v, 0, sizeof s->v);
  if (!p || !take_record(s, p, n)) return false;
  if (w->rowid_slot >= 0) s->v[w->rowid_slot] = (struct cell){.type = CELL_INT, .i = s->rowid};
  return true;
}

/* ---- scanning ---- */

static bool list_slots(struct sqlite_scan *s, const int *columns, unsigned n) {
  struct sqlite_walk *w = s->walk;
  const struct sqlite_table *t = s->table;
  for (unsigned k = 0; k < n; k++) {
    const int place = columns[k] < 0 ? -2 : t->columns[columns[k]].stored;
    if (place == -1) w->rowid_slot = (int)k;
    if (place >= 0 && (uint32_t)place >= w->n_slots) w->n_slots = (uint32_t)place + 1;
  }
  w->slot = mem_array(w->mem, (uint64_t)w->n_slots + 1, sizeof *w->slot);
  if (!w->slot) return false;
  for (uint32_t i = 0; i < w->n_slots; i++) w->slot[i] = -1;
  for (unsigned k = 0; k < n; k++)
    if (columns[k] >= 0 && t->columns[columns[k]].stored >= 0) w->slot[t->columns[columns[k]].stored] = (int16_t)k;
  return true;
}

bool sqlite_begin(struct sqlite_scan *s, struct sqlite *db, const struct sqlite_table *table, const int *columns, unsigned n,
                  struct tk_err *err) {
  *s = (struct sqlite_scan){.db = db, .table = table};
  if (table->without_rowid)
    return err_set(err, TK_EFORMAT, "table %.100s cannot be read because it was created WITHOUT ROWID", table->name);
  s->walk = mem_alloc(db->mem, sizeof *s->walk);
  if (!s->walk) return mem_refuse(db->mem, err);
  *s->walk = (struct sqlite_walk){.mem = db->mem, .row.mem = db->mem, .text.mem = db->mem, .rowid_slot = -1};
  s->walk->last = table->root;
  s->walk->block = mem_alloc(db->mem, (size_t)db->page_size * BLOCK + MEM_SLACK);
  if (!s->walk->block || !list_slots(s, columns, n)) return mem_refuse(db->mem, err);
  memset(s->walk->block, 0, (size_t)db->page_size * BLOCK + MEM_SLACK);
  if (enter(s, table->root, err)) return true;
  if (db->mem->failed) return mem_refuse(db->mem, err);
  s->lost_pages++;
  return err->code == TK_OK;
}

bool sqlite_next(struct sqlite_scan *s, struct tk_err *err) {
  struct sqlite_walk *w = s->walk;
  while (!s->failed) {
    if (!w->leaf || w->cell == w->n_cells) {
      if (next_leaf(s, err)) continue;
      s->failed = err->code != TK_OK || (w->mem->failed && !mem_check(w->mem, err));
      return false;
    }
    if (take_row(s, w->cell++, err)) {
      s->rows++;
      return true;
    }
    s->failed = err->code != TK_OK || (w->mem->failed && !mem_check(w->mem, err));
    s->lost_rows++;
  }
  return false;
}

void sqlite_end(struct sqlite_scan *s) {
  struct sqlite_walk *w = s->walk;
  if (!w) return;
  for (unsigned i = 0; i < SQLITE_DEPTH; i++) mem_free(w->mem, w->levels[i].page);
  mem_free(w->mem, w->block);
  mem_free(w->mem, w->overflow);
  mem_free(w->mem, w->slot);
  buf_free(&w->row);
  buf_free(&w->text);
  mem_free(w->mem, w);
  s->walk = NULL;
}

uint64_t sqlite_count(struct sqlite *db, const struct sqlite_table *table) {
  struct tk_err unused = {.offset = UINT64_MAX};
  struct sqlite_scan s;
  uint64_t n = 0;
  if (sqlite_begin(&s, db, table, NULL, 0, &unused)) {
    if (s.walk->leaf) n += s.walk->n_cells;
    while (next_leaf(&s, &unused)) n += s.walk->n_cells;
  }
  sqlite_end(&s);
  return n;
}

/* ---- opening ---- */

bool sqlite_is(const uint8_t *p, size_t n) { return n >= HEADER && memcmp(p, MAGIC, sizeof MAGIC) == 0; }

static bool read_header(struct sqlite *db, struct tk_err *err) {
  enum { WAL = 2, PAGE_SIZE = 16, VERSIONS = 18, RESERVED = 20, ENCODING = 56 };
  uint8_t head[HEADER];
  const ptrdiff_t got = in_read_at(db->in, head, HEADER, 0, err);
  if (got < 0) return false;
  if (!sqlite_is(head, (size_t)got)) return err_set(err, TK_EFORMAT, "not an SQLite database");
  db->page_size = u16(head + PAGE_SIZE) == 1 ? 65536 : u16(head + PAGE_SIZE);
  db->encoding = u32(head + ENCODING) ? (enum encoding)u32(head + ENCODING) : UTF_8;
  db->wal = head[VERSIONS] == WAL || head[VERSIONS + 1] == WAL;
  const bool is_power = db->page_size && !(db->page_size & (db->page_size - 1));
  if (!is_power || db->page_size < 512 || db->encoding > UTF_16BE || db->page_size - head[RESERVED] < 480)
    return err_set(err, TK_EFORMAT, "an SQLite database with a damaged header");
  db->usable = db->page_size - head[RESERVED];
  const uint64_t pages = in_size(db->in) / db->page_size, stated = u32(head + 28);
  db->n_pages = pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX - 1;
  db->cut = stated > pages;
  return true;
}

static struct sqlite_table *add_table(struct sqlite *db) {
  struct sqlite_table *more;
  if (db->n_tables == db->cap_tables) {
    const size_t cap = db->cap_tables ? 2 * db->cap_tables : 64;
    more = arena_alloc(&db->arena, cap * sizeof *more);
    if (!more) return NULL;
    if (db->n_tables) memcpy(more, db->tables, db->n_tables * sizeof *more);
    db->tables = more;
    db->cap_tables = cap;
  }
  db->tables[db->n_tables] = (struct sqlite_table){0};
  return &db->tables[db->n_tables++];
}

static bool is_text(const struct cell *c, const char *text) {
  return c->type == CELL_TEXT && c->n == strlen(text) && memcmp(c->p, text, c->n) == 0;
}

/* Adds a row of the schema: type, name, root page, statement. Views, indices and virtual tables are left out because they store
 * no rows. */
static bool take_schema(struct sqlite *db, const struct cell *v) {
  if (!is_text(&v[0], "table") || v[1].type != CELL_TEXT || v[2].type != CELL_INT || v[3].type != CELL_TEXT) return true;
  if (v[2].i < 1 || v[2].i > db->n_pages || db->n_tables == TABLES_MOST) return true;
  struct sqlite_table *t = add_table(db);
  if (!t) return false;
  t->root = (uint32_t)v[2].i;
  t->name = arena_text(&db->arena, (const char *)v[1].p, v[1].n);
  if (!t->name) return false;
  return sqlite_parse(t, (const char *)v[3].p, v[3].n, &db->arena);
}

static bool read_schema(struct sqlite *db, struct tk_err *err) {
  static const struct sqlite_column COLUMNS[] = {{"type", 0}, {"name", 1}, {"rootpage", 3}, {"sql", 4}};
  static const struct sqlite_table SCHEMA = {"sqlite_schema", COLUMNS, 4, 1, false};
  static const int ALL[] = {0, 1, 2, 3};
  struct sqlite_scan s;
  bool ok = sqlite_begin(&s, db, &SCHEMA, ALL, 4, err);
  while (ok && sqlite_next(&s, err)) ok = take_schema(db, s.v) || mem_refuse(db->mem, err);
  ok = ok && !s.failed;
  if (ok && !db->n_tables) ok = err_set(err, TK_EFORMAT, "an SQLite database without readable tables");
  sqlite_end(&s);
  return ok;
}

struct sqlite *sqlite_open(struct in *in, struct mem *mem, struct tk_err *err) {
  struct sqlite *db = mem_alloc(mem, sizeof *db);
  if (!db) {
    mem_refuse(mem, err);
    return NULL;
  }
  *db = (struct sqlite){.in = in, .mem = mem, .arena = {.mem = mem}};
  bool ok = in_spool(in, err) && read_header(db, err);
  if (ok && read_schema(db, err)) return db;
  sqlite_close(db);
  return NULL;
}

void sqlite_close(struct sqlite *db) {
  if (!db) return;
  arena_free(&db->arena);
  mem_free(db->mem, db);
}

const struct sqlite_table *sqlite_row(const struct sqlite *db, size_t i) { return i < db->n_tables ? &db->tables[i] : NULL; }

bool sqlite_shorten(struct sqlite *db, size_t i, size_t n) {
  const char *name = arena_text(&db->arena, db->tables[i].name, n);
  if (name) db->tables[i].name = name;
  return name != NULL;
}

static bool is_same_name(const char *a, const char *b) { return strlen(a) == strlen(b) && ascii_equal(a, b, strlen(a)); }

const struct sqlite_table *sqlite_find(const struct sqlite *db, const char *name) {
  for (size_t i = 0; i < db->n_tables; i++)
    if (is_same_name(db->tables[i].name, name)) return &db->tables[i];
  return NULL;
}

int sqlite_column(const struct sqlite_table *table, const char *name) {
  for (uint32_t i = 0; i < table->n_columns; i++)
    if (is_same_name(table->columns[i].name, name)) return (int)i;
  return -1;
}

bool sqlite_is_cut(const struct sqlite *db) { return db->cut; }
bool sqlite_is_wal(const struct sqlite *db) { return db->wal; }
