/* pickle.h - reads a Python pickle that consists of plain data (protocols 2 to 5), and runs nothing.
 *
 * A pickle is a program for a stack machine. The machine here only has the opcodes that build dicts, lists, tuples, texts and
 * numbers; any other opcode could call Python code and is refused. A shared object is stored once: the memo refers to lists and
 * dicts by number, and nothing is expanded, so memory is proportional to the file.
 *
 * A dict that the caller recognises becomes an object of the caller as soon as it is complete, and its keys and values are not
 * kept. Lists store consecutive objects as one value.
 *
 * Source of the opcodes: Lib/pickletools.py of CPython. */
#ifndef FORMAT_TORCH_MEMORY_READ_PICKLE_H
#define FORMAT_TORCH_MEMORY_READ_PICKLE_H

#include "base/intern.h"
#include "io/in.h"

enum pickle_type {
  PICKLE_NONE, /* None, and data of no interest: bytes, integers beyond 64 bits */
  PICKLE_BOOL,
  PICKLE_INT,
  PICKLE_FLOAT,
  PICKLE_TEXT,
  PICKLE_LIST, /* list or tuple */
  PICKLE_DICT, /* alternating keys and values */
  PICKLE_OBJECT,
  PICKLE_MARK  /* only on the stack */
};

struct pickle_value {
  union {
    int64_t i;   /* PICKLE_BOOL, PICKLE_INT; PICKLE_TEXT: id in `texts`; PICKLE_LIST, PICKLE_DICT: number of the container;
                  * PICKLE_OBJECT: number of the first object, counted by the caller */
    double d;
  };
  uint32_t n;    /* PICKLE_OBJECT: number of consecutive objects */
  uint8_t type;
  uint8_t kind;  /* PICKLE_OBJECT: kind, chosen by the caller */
};

struct pickle {
  struct in *in;
  struct mem *mem;
  struct tk_err *err;
  struct intern texts;
  /* Called with the n keys and values of a dict. Returns true if they became the object *out. */
  bool (*take)(void *arg, const struct pickle_value *pairs, size_t n, struct pickle_value *out);
  bool (*tick)(void *arg); /* called regularly; returning false stops, with err set */
  void *arg;
  bool truncated; /* the input ended inside the pickle; the data before its end was kept */
  struct pickle_value *stack, *memo, *items;
  struct pickle_container *containers;
  uint32_t n_stack, cap_stack, n_memo, cap_memo, n_items, cap_items, n_containers, cap_containers;
};

/* The caller must set in, mem, err and the callbacks first. pickle_free frees everything that the pickle allocated. */
void pickle_init(struct pickle *p);
void pickle_free(struct pickle *p);

/* Reads the pickle at the start of the input. Returns false with err set if it is not plain data, or on a read error. */
bool pickle_read(struct pickle *p, struct pickle_value *root);

/* Returns the items of a list, or the keys and values of a dict; NULL, 0 for another value. Valid until the next read. */
const struct pickle_value *pickle_items(const struct pickle *p, const struct pickle_value *v, uint32_t *n);
/* Returns the value of a key of a dict; NULL if there is none. */
const struct pickle_value *pickle_member(const struct pickle *p, const struct pickle_value *dict, uint32_t key);

#endif
