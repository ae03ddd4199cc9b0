/* ahead.c - see ahead.h.
 *
 *     caller's thread    statement 1 -> its rows       3, recorded    rows of 2, once done        rows of 3
 *     another            statement 2, recorded         4, recorded
 *
 * SQLite runs a statement on one core. So each thread has its own database over the same trace, and records results until they
 * can be delivered in order. The waiting statement whose plan shows the most work runs next. A result that is too large to
 * record is computed again when it is to be delivered. If a statement creates a table or view, later statements may use it; so
 * from then on the caller's database runs all statements. */
#include "ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/os.h"
#include "guard.h"
#include "statement.h"

enum { STATEMENTS = 32, RECORDED_MOST = 16 << 20, WORTH_EVENTS = 50000, WAIT_NS = 20000000 };
enum { STACK = 8 << 20 }; /* SQLite recurses for nested expressions, and some systems give a thread only 128 KB */

/* ---- recorded results ---- */

enum part { PART_BEGIN = 'b', PART_ROW = 'r', PART_END = 'e', PART_CUT = 'c' };

struct record {
  struct buf parts;
  size_t n; /* number of columns */
  bool too_large;
};

static bool put(struct record *r, const void *p, size_t n) {
  if (!buf_append(&r->parts, p, n)) r->too_large = true;
  return !r->too_large;
}

static bool put_part(struct record *r, enum part part) {
  const uint8_t byte = (uint8_t)part;
  if (r->parts.len > RECORDED_MOST) r->too_large = true;
  return put(r, &byte, 1);
}

static bool record_begin(void *arg, const char *const *columns, size_t n) {
  struct record *r = arg;
  bool ok = put_part(r, PART_BEGIN) && put(r, &n, sizeof n);
  for (size_t i = 0; ok && i < n; i++) ok = put(r, columns[i], strlen(columns[i]) + 1);
  r->n = n;
  return ok;
}

static bool record_row(void *arg, const struct tk_sql_value *values, size_t n) {
  struct record *r = arg;
  bool ok = put_part(r, PART_ROW);
  for (size_t i = 0; ok && i < n; i++) {
    const bool is_text = values[i].type == TK_SQL_TEXT || values[i].type == TK_SQL_BLOB;
    ok = put(r, &values[i], sizeof values[i]);
    ok = ok && (!is_text || (put(r, values[i].text, values[i].n) && put(r, "", 1)));
  }
  return ok;
}

static bool record_end(void *arg, bool cut) { return put_part(arg, cut ? PART_CUT : PART_END); }

static bool replay_begin(const uint8_t **p, size_t *n, const struct tk_sql_answer *to, struct mem *mem) {
  memcpy(n, *p, sizeof *n);
  *p += sizeof *n;
  const char **names = mem_array(mem, *n, sizeof *names);
  for (size_t i = 0; names && i < *n; i++) {
    names[i] = (const char *)*p;
    *p += strlen(names[i]) + 1;
  }
  const bool go_on = names && (!to->begin || to->begin(to->arg, names, *n));
  mem_free(mem, names);
  return go_on;
}

static bool replay_row(const uint8_t **p, struct tk_sql_value *values, size_t n, const struct tk_sql_answer *to) {
  for (size_t i = 0; i < n; i++) {
    memcpy(&values[i], *p, sizeof values[i]);
    *p += sizeof values[i];
    if (values[i].type != TK_SQL_TEXT && values[i].type != TK_SQL_BLOB) continue;
    values[i].text = (const char *)*p;
    *p += values[i].n + 1;
  }
  return !to->row || to->row(to->arg, values, n);
}

/* Passes the recorded result to the caller; false if the caller stops. */
static bool replay(const struct record *r, const struct tk_sql_answer *to, struct mem *mem) {
  const uint8_t *p = r->parts.data, *const end = p + r->parts.len;
  struct tk_sql_value *values = mem_array(mem, r->n + 1, sizeof *values);
  bool go_on = values != NULL;
  size_t n = 0;
  while (go_on && p < end) {
    const enum part part = (enum part)*p++;
    if (part == PART_BEGIN) go_on = replay_begin(&p, &n, to, mem);
    else if (part == PART_ROW) go_on = replay_row(&p, values, n, to);
    else go_on = !to->end || to->end(to->arg, part == PART_CUT);
  }
  mem_free(mem, values);
  return go_on;
}

/* ---- statements ---- */

struct statement {
  const char *text;
  double work; /* estimated rows */
  enum { WAITING, RUNNING, DONE } state;
  struct record record;
  bool ok;
  struct tk_err err;
};

struct ahead {
  struct tk_sql *s;
  const char *whole;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool stopped;
  unsigned n, n_threads;
  struct statement v[STATEMENTS];
  struct helper {
    struct ahead *a;
    struct tk_sql *sql;
    pthread_t thread;
  } helpers[SQL_OTHERS];
};

/* Runs a statement and records its result. Called with the lock held; releases it while the statement runs. */
static void run_recorded(struct ahead *a, struct statement *st, struct tk_sql *on) {
  const struct tk_sql_answer to = {record_begin, record_row, record_end, &st->record};
  const char *p = st->text;
  st->state = RUNNING;
  st->record.parts.mem = &on->mem;
  pthread_mutex_unlock(&a->lock);
  const bool ok = statement_run(on, a->whole, &p, &to, &st->err);
  on->err = NULL;
  pthread_mutex_lock(&a->lock);
  st->ok = ok;
  st->state = DONE;
  pthread_cond_broadcast(&a->changed);
}

/* Returns the waiting statement with the most work: if it ran last, the other threads would have to wait for it. */
static struct statement *next_waiting(struct ahead *a) {
  struct statement *next = NULL;
  for (unsigned i = 0; i < a->n && !a->stopped; i++)
    if (a->v[i].state == WAITING && (!next || a->v[i].work > next->work)) next = &a->v[i];
  return next;
}

static void *run_thread(void *self) {
  struct helper *h = self;
  pthread_mutex_lock(&h->a->lock);
  for (struct statement *st; (st = next_waiting(h->a)) != NULL;) run_recorded(h->a, st, h->sql);
  pthread_mutex_unlock(&h->a->lock);
  return NULL;
}

static bool go_on(void *arg, uint64_t done, uint64_t total) {
  struct ahead *a = arg;
  (void)done, (void)total;
  return !__atomic_load_n(&a->stopped, __ATOMIC_RELAXED);
}

/* Tells the other threads to stop. Called with the lock held. */
static void stop(struct ahead *a) { __atomic_store_n(&a->stopped, true, __ATOMIC_RELAXED); }

static bool tick(struct ahead *a, struct tk_err *err) {
  const struct tk_progress *p = &a->s->opt.progress;
  pthread_mutex_unlock(&a->lock);
  const bool ok = !p->tick || p->tick(p->arg, 0, 0) || err_set(err, TK_EINTERRUPTED, "interrupted");
  pthread_mutex_lock(&a->lock);
  return ok;
}

/* Waits until another thread has completed this statement, and runs other statements meanwhile. Returns false if the caller
 * stops. Called with the lock held. */
static bool wait_for(struct ahead *a, const struct statement *st, struct tk_err *err) {
  while (st->state == RUNNING) {
    struct statement *other = next_waiting(a);
    struct timespec until;
    if (other) {
      run_recorded(a, other, a->s);
      continue;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NS;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&a->changed, &a->lock, &until);
    if (!tick(a, err)) return false;
  }
  return true;
}

/* Delivers the result of one statement. Returns false if the caller stops, or on an error (err is set). Called with the lock held;
 * releases it while the result is delivered. */
static bool answer(struct ahead *a, struct statement *st, const struct tk_sql_answer *to, struct tk_err *err) {
  if (st->state == RUNNING && !wait_for(a, st, err)) return false;
  const bool recorded = st->state == DONE && !st->record.too_large;
  const char *p = st->text;
  st->state = DONE;
  pthread_mutex_unlock(&a->lock);
  bool ok = recorded ? replay(&st->record, to, &a->s->mem) : statement_run(a->s, a->whole, &p, to, err) && *p;
  if (recorded && ok && !st->ok) *err = st->err, ok = false;
  pthread_mutex_lock(&a->lock);
  return ok;
}

static void start_threads(struct ahead *a) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, STACK);
  for (unsigned i = 0; i < a->n_threads; i++) {
    struct helper *h = &a->helpers[i];
    *h = (struct helper){.a = a, .sql = a->s->others[i]};
    h->sql->opt.progress = (struct tk_progress){.tick = go_on, .arg = a};
    if (pthread_create(&h->thread, &attr, run_thread, h) != 0) a->n_threads = i;
  }
  pthread_attr_destroy(&attr);
}

static bool run_all(struct ahead *a, const struct tk_sql_answer *to, struct tk_err *err) {
  bool ok = true;
  pthread_mutex_lock(&a->lock); /* held until this thread has taken the first statement, whose result it delivers directly */
  start_threads(a);
  for (unsigned i = 0; ok && i < a->n; i++) ok = answer(a, &a->v[i], to, err);
  stop(a);
  pthread_mutex_unlock(&a->lock);
  for (unsigned i = 0; i < a->n_threads; i++) pthread_join(a->helpers[i].thread, NULL);
  for (unsigned i = 0; i < a->n; i++) buf_free(&a->v[i].record.parts);
  return ok;
}

/* ---- distribution over threads ---- */

/* Opens the databases of other threads here, before they run, because opening writes to the trace's strings. */
static unsigned open_others(struct tk_sql *s, unsigned n) {
  struct tk_sql_options options = s->opt;
  struct tk_err ignored = {0};
  options.threads = 1;
  for (; s->n_others < n && s->n_others < SQL_OTHERS; s->n_others++)
    if (!(s->others[s->n_others] = tk_sql_open(s->t, &options, &ignored))) break;
  return s->n_others < n ? s->n_others : n;
}

/* Estimates the work of statement text[0..n) from its plan (events_plan.c). Only tables of events are counted. */
static double work_of(struct tk_sql *s, const char *text, size_t n) {
  enum { DETAIL = 3 };
  static const char INDEX[] = "VIRTUAL TABLE INDEX ";
  char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %.*s", (int)n, text);
  sqlite3_stmt *stmt = NULL;
  struct tk_err ignored = {0};
  double work = 0;
  guard_start(s, &ignored);
  if (explain && sqlite3_prepare_v2(s->db, explain, -1, &stmt, NULL) == SQLITE_OK)
    while (stmt && sqlite3_step(stmt) == SQLITE_ROW) {
      const char *detail = (const char *)sqlite3_column_text(stmt, DETAIL), *index = detail ? strstr(detail, INDEX) : NULL;
      if (index) work += (double)strtol(index + sizeof INDEX - 1, NULL, 10);
    }
  sqlite3_finalize(stmt);
  sqlite3_free(explain);
  s->err = NULL;
  return work;
}

static unsigned find_statements(struct tk_sql *s, const char **p, struct statement found[STATEMENTS]) {
  unsigned n = 0;
  for (const char *at = *p, *from; n < STATEMENTS && *(at = statement_at(at)); n++) {
    from = at;
    if (!statement_passes_reading(s, &at)) break;
    found[n] = (struct statement){.text = from, .work = work_of(s, from, (size_t)(at - from)), .err = {.offset = UINT64_MAX}};
    *p = at;
  }
  return n;
}

bool ahead_run(struct tk_sql *s, const char *whole, const char **p, const struct tk_sql_answer *to, struct tk_err *err) {
  static const struct tk_sql_answer nobody = {0};
  const unsigned threads = os_threads(s->opt.threads);
  const char *behind = *p;
  if (threads < 2 || s->changed || s->t->n_events < WORTH_EVENTS || !sqlite3_threadsafe()) return true;
  struct ahead *a = mem_alloc(&s->mem, sizeof *a);
  if (!a) return mem_refuse(&s->mem, err);
  *a = (struct ahead){.s = s, .whole = whole};
  a->n = find_statements(s, &behind, a->v);
  if (a->n < 2) {
    mem_free(&s->mem, a);
    return true;
  }
  a->n_threads = open_others(s, (threads < a->n ? threads : a->n) - 1);
  pthread_mutex_init(&a->lock, NULL);
  pthread_cond_init(&a->changed, NULL);
  const bool ok = run_all(a, to ? to : &nobody, err);
  pthread_mutex_destroy(&a->lock);
  pthread_cond_destroy(&a->changed);
  mem_free(&s->mem, a);
  *p = ok ? behind : behind + strlen(behind);
  return ok || err->code == TK_OK;
}
