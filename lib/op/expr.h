/* expr.h - filter language: parses text into a tree.
 *
 *     name =~ "nccl.*" && dur > 10us && depth <= 2
 *
 *     or   = and { "||" and }        test    = symbol [ op value ]     a symbol alone: true if the event has it
 *     and  = not { "&&" not }        op      = == != < <= > >= =~ !~ ~ (a glob)
 *     not  = "!" not | "(" or ")" | test     value = "text" 'text' word 12 1.5ms
 *
 * If the event lacks the property, a test is false, except that `!=` and `!~` are true, because they negate `==` and `=~`. */
#ifndef OP_EXPR_H
#define OP_EXPR_H

#include "graph/trace.h"
#include "base/regexp.h"

enum symbol {
  SYM_NAME, SYM_CAT, SYM_TS, SYM_DUR, SYM_END, SYM_DEPTH, SYM_SELF, SYM_PID, SYM_TID, SYM_RANK, SYM_HOST, SYM_PROCESS,
  SYM_THREAD, SYM_TRACK, SYM_KIND, SYM_STEP, SYM_STREAM, SYM_DEVICE, SYM_LAUNCHED_BY, SYM_PHASE, SYM_WORK_CLASS, SYM_ARG, SYM_COUNT
};

/* Types of symbols' values. */
enum symbol_type { TYPE_TEXT, TYPE_TIME, TYPE_NUMBER, TYPE_IDENT, TYPE_KIND, TYPE_ANY };

/* Kinds of data on which the result of a test depends. */
enum symbol_scope { OF_CLASS, OF_TRACK, OF_EVENT };

struct symbol_info {
  const char *name;
  enum symbol_type type;
  enum symbol_scope scope;
  const char *help;
};
extern const struct symbol_info expr_symbols[SYM_COUNT];

enum expr_op { OP_HAS, OP_EQ, OP_LT, OP_LE, OP_GT, OP_GE, OP_REGEX, OP_GLOB };

struct literal {
  char *text;       /* text as given by the user, without quotes */
  bool is_number;   /* true if the text is a number: mant * 10^exp */
  struct num num;
  tk_time time;     /* time: for TYPE_TIME; bits: kinds, for TYPE_KIND */
};

enum expr_kind { EXPR_OR, EXPR_AND, EXPR_NOT, EXPR_TEST };

struct expr {
  enum expr_kind kind;
  struct expr *left, *right;
  enum symbol symbol;
  enum expr_op op;
  char *key; /* key of the arg, for SYM_ARG */
  struct literal value;
  struct regexp *regexp; /* for OP_REGEX */
  uint32_t index; /* number of this test, from 0 */
};

/* Parses `text`. Numbers its tests from *n_tests on, and adds their count to *n_tests. Regular expressions use memory of `mem`. On
 * failure returns NULL with TK_EUSAGE; the message contains the column, the expected syntax, and similar names. */
struct expr *expr_parse(const char *text, uint32_t *n_tests, struct mem *mem, struct tk_err *err);
/* Returns false with TK_ELIMIT if matching a regular expression exceeded a limit; e may be NULL. */
bool expr_check(const struct expr *e, struct tk_err *err);
/* Returns the data (enum tk_without) that the expression does not need; e may be NULL. */
uint8_t expr_without(const struct expr *e);
/* Returns the expression `a && b`, and takes ownership of both. Returns NULL if memory runs out. */
struct expr *expr_and(struct expr *a, struct expr *b);
void expr_free(struct expr *e);

#endif
