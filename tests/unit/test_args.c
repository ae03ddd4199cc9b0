/* test_args.c - args of every type are returned as they were added; the last value of a duplicate key wins; records with the
 * same keys and types share a shape. */
#include "help.h"
#include "graph/args.h"

static const struct tk_arg values[] = {
  {.type = TK_ARG_NULL},
  {.type = TK_ARG_FALSE},
  {.type = TK_ARG_TRUE},
  {.type = TK_ARG_INT, .i = 0},
  {.type = TK_ARG_INT, .i = -1},
  {.type = TK_ARG_INT, .i = 63},
  {.type = TK_ARG_INT, .i = 64},
  {.type = TK_ARG_INT, .i = INT64_MAX},
  {.type = TK_ARG_INT, .i = INT64_MIN},
  {.type = TK_ARG_UINT, .u = 0},
  {.type = TK_ARG_UINT, .u = UINT64_MAX},
  {.type = TK_ARG_DECIMAL, .i = 150, .exp = -2},
  {.type = TK_ARG_DECIMAL, .i = -1, .exp = -64},
  {.type = TK_ARG_DECIMAL, .i = INT64_MAX, .exp = 63},
  {.type = TK_ARG_DECIMAL, .i = INT64_MIN, .exp = -1},
  {.type = TK_ARG_DOUBLE, .d = 0.1},
  {.type = TK_ARG_DOUBLE, .d = -0.0},
  {.type = TK_ARG_DOUBLE, .d = 5e-324},
  {.type = TK_ARG_POINTER, .u = 0xdeadbeefcafebabe},
  {.type = TK_ARG_STR, .s = 1},
  {.type = TK_ARG_NUMBER, .s = 2},
  {.type = TK_ARG_JSON, .s = 3},
  {.type = TK_ARG_BYTES, .s = 4},
  {.type = TK_ARG_REF, .s = 5},
};

static void same(const struct tk_arg *got, const struct tk_arg *want) {
  assert_int_equal(got->key, want->key);
  assert_int_equal(got->type, want->type);
  if (want->type == TK_ARG_DECIMAL) assert_int_equal(got->exp, want->exp);
  if (want->type >= TK_ARG_STR && want->type <= TK_ARG_REF) assert_int_equal(got->s, want->s);
  else if (want->type > TK_ARG_TRUE) assert_true(got->u == want->u);
}

static void round_trips(void **state) {
  struct tk_trace *t = trace_new(0);
  struct tk_arg arg, all[LENGTH(values)];
  uint32_t args;
  (void)state;
  args_begin(t);
  for (size_t i = 0; i < LENGTH(values); i++) {
    char key[16];
    all[i] = values[i];
    snprintf(key, sizeof key, "key%zu", i);
    all[i].key = trace_text(t, key);
    args_copy(t, &all[i]);
  }
  args = args_end(t);
  struct tk_args it = tk_args_of(t, args);
  for (size_t i = 0; i < LENGTH(values); i++) {
    assert_true(tk_args_next(&it, &arg));
    same(&arg, &all[i]);
    assert_true(tk_args_find(t, args, tk_string(t, all[i].key, NULL), &arg));
    same(&arg, &all[i]);
  }
  assert_false(tk_args_next(&it, &arg));
  assert_false(tk_args_find(t, args, "none", &arg));
  assert_false(tk_args_find(t, 0, "key0", &arg));
  tk_free(t);
}

static void none(void **state) {
  struct tk_trace *t = trace_new(0);
  struct tk_args it = tk_args_of(t, 0);
  struct tk_arg arg;
  (void)state;
  assert_false(tk_args_next(&it, &arg));
  args_begin(t);
  assert_int_equal(args_end(t), 0);
  it = tk_args_of(t, 999999); /* out of range */
  assert_false(tk_args_next(&it, &arg));
  tk_free(t);
}

static void shapes(void **state) {
  struct tk_trace *t = trace_new(0);
  tk_id a = trace_text(t, "a"), b = trace_text(t, "b");
  uint32_t first, shape;
  (void)state;
  args_begin(t), args_int(t, a, 1), args_int(t, b, 2), first = args_end(t);
  shape = args_shape_of(t, first);
  args_begin(t), args_int(t, a, -100000), args_int(t, b, 0);
  assert_int_equal(args_shape_of(t, args_end(t)), shape);
  args_begin(t), args_int(t, b, 1), args_int(t, a, 2);
  assert_int_not_equal(args_shape_of(t, args_end(t)), shape); /* the order matters */
  args_begin(t), args_int(t, a, 1), args_uint(t, b, TK_ARG_UINT, 2);
  assert_int_not_equal(args_shape_of(t, args_end(t)), shape);
  assert_int_equal(t->store->n_shapes, 3);
  uint8_t payload[4], *end = varint_put(varint_put(payload, zigzag(7)), zigzag(-8));
  uint32_t packed = args_packed(t, shape, payload, (size_t)(end - payload));
  struct tk_arg arg;
  assert_true(tk_args_find(t, packed, "a", &arg) && arg.i == 7);
  assert_true(tk_args_find(t, packed, "b", &arg) && arg.i == -8);
  assert_int_equal(args_shape_of(t, packed), shape);
  tk_free(t);
}

/* The last value of a duplicate key is kept, at its position. */
static void duplicates(void **state) {
  struct tk_trace *t = trace_new(0);
  tk_id a = trace_text(t, "a"), b = trace_text(t, "b"), c = trace_text(t, "c");
  struct tk_arg arg;
  (void)state;
  args_begin(t);
  args_int(t, a, 1);
  args_decimal(t, b, 5, -1);
  args_str(t, a, TK_ARG_STR, b);
  args_flag(t, c, TK_ARG_TRUE);
  args_double(t, b, 2.5);
  args_flag(t, a, TK_ARG_NULL);
  struct tk_args it = tk_args_of(t, args_end(t));
  assert_true(tk_args_next(&it, &arg) && arg.key == c && arg.type == TK_ARG_TRUE);
  assert_true(tk_args_next(&it, &arg) && arg.key == b && arg.d == 2.5);
  assert_true(tk_args_next(&it, &arg) && arg.key == a && arg.type == TK_ARG_NULL);
  assert_false(tk_args_next(&it, &arg));
  args_begin(t); /* nothing is left of the previous args */
  args_int(t, a, 1);
  it = tk_args_of(t, args_end(t));
  assert_true(tk_args_next(&it, &arg) && arg.key == a && arg.i == 1);
  assert_false(tk_args_next(&it, &arg));
  tk_free(t);
}

static void many(void **state) {
  enum { N = 100000 };
  struct tk_trace *t = trace_new(0);
  struct tk_arg arg;
  tk_id first = 0;
  (void)state;
  args_begin(t);
  for (int i = 0; i < N; i++) {
    char key[16];
    snprintf(key, sizeof key, "k%d", i);
    tk_id id = trace_text(t, key);
    if (!first) first = id;
    args_int(t, id, i);
  }
  struct tk_args it = tk_args_of(t, args_end(t));
  for (int i = 0; i < N; i++) assert_true(tk_args_next(&it, &arg) && arg.i == i);
  assert_false(tk_args_next(&it, &arg));
  args_begin(t); /* one key, many times: must take linear time */
  for (int i = 0; i < N; i++) args_int(t, first, i);
  it = tk_args_of(t, args_end(t));
  assert_true(tk_args_next(&it, &arg) && arg.i == N - 1);
  assert_false(tk_args_next(&it, &arg));
  tk_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_trips), cmocka_unit_test(none), cmocka_unit_test(shapes),
      cmocka_unit_test(duplicates),  cmocka_unit_test(many),
  };
  return cmocka_run_group_tests_name("args", tests, NULL, NULL);
}
