/* args.h - args as shapes: an interned list of (key, type), and one packed record of values per event. */
#ifndef GRAPH_ARGS_H
#define GRAPH_ARGS_H

#include "trace.h"

/* Finds the event's own arg with this key, otherwise the shared arg of its class. */
bool args_of_event(const struct tk_trace *t, const struct tk_event *e, tk_id key, struct tk_arg *arg);
/* Skips to a field of the shape without decoding the values before it. The iterator must not be past this field. */
void args_skip_to(struct tk_args *it, uint32_t field);
void args_begin(struct tk_trace *t);
void args_flag(struct tk_trace *t, tk_id key, enum tk_arg_type type); /* type: NULL, TRUE or FALSE */
void args_int(struct tk_trace *t, tk_id key, int64_t v);
void args_uint(struct tk_trace *t, tk_id key, enum tk_arg_type type, uint64_t v); /* type: UINT or POINTER */
void args_decimal(struct tk_trace *t, tk_id key, int64_t mant, int exp);
void args_double(struct tk_trace *t, tk_id key, double v);
void args_str(struct tk_trace *t, tk_id key, enum tk_arg_type type, tk_id s); /* type: STR, NUMBER, JSON, BYTES or REF */
void args_copy(struct tk_trace *t, const struct tk_arg *arg);

/* Drops the args under construction for which `keep` returns false. */
void args_keep(struct tk_trace *t, bool (*keep)(const struct tk_trace *t, const struct tk_arg *arg));

/* Renames `key` to `to` in the args under construction. Returns false if they do not contain it. */
bool args_rename(struct tk_trace *t, tk_id key, tk_id to);

/* True if the args under construction contain `key`. */
bool args_hold(const struct tk_trace *t, tk_id key);

/* Ends the construction and returns the offset of the packed record; 0 if there are no args. If a key is repeated, its last
 * value wins. */
uint32_t args_end(struct tk_trace *t);

/* Save and restore the args under construction, so that other args can be built in between. */
struct arg_builder args_set_aside(struct tk_trace *t);
void args_take_up(struct tk_trace *t, struct arg_builder was);

/* args_shape_of returns the shape of a packed record, and args_packed adds a packed record of a known shape: for readers that
 * expect later events to have the same keys and types. */
uint32_t args_shape_of(const struct tk_trace *t, uint32_t args);
uint32_t args_packed(struct tk_trace *t, uint32_t shape, const uint8_t *payload, size_t n);

/* True if the graph itself reads args of this shape: the kind of a span, its training step, or the end of a Python frame depends on
 * them. Such args are kept even if the caller needs none. */
bool args_decide(const struct tk_trace *t, uint32_t shape);

/* Build a shape: args_fields returns room for n fields, which the caller fills in, and args_shape then returns the shape's
 * id. They return NULL and 0 if memory runs out. */
struct shape_field *args_fields(struct tk_trace *t, uint32_t n);
uint32_t args_shape(struct tk_trace *t);
void args_free(struct tk_store *s);

#endif
