/* test_perfetto_loss.c - losses in Perfetto output are counted by kind, and nothing else is counted as lost. */
#include "help.h"

#include "format/format.h"

struct loss {
  const char *events; /* events of a Chrome JSON trace */
  enum tk_loss kind;
  uint64_t lost, written; /* written: events */
};

static const struct loss losses[] = {
    {"{\"ph\":\"C\",\"pid\":1,\"ts\":1,\"name\":\"m\",\"id\":\"7\",\"args\":{\"a\":1,\"b\":\"2.5\"}}", TK_LOSSES, 0, 1},
    {"{\"ph\":\"C\",\"pid\":1,\"ts\":1,\"name\":\"m\",\"args\":{\"a\":1,\"b\":null,\"c\":\"high\"}}", TK_LOSSES, 0, 1},
    {"{\"ph\":\"C\",\"pid\":1,\"ts\":1,\"name\":\"m\",\"cat\":\"x\",\"args\":{\"a\":1}}", TK_LOSSES, 0, 1},
    {"{\"ph\":\"C\",\"pid\":1,\"ts\":1,\"name\":\"m\",\"args\":{\"a\":null}}", TK_LOSSES, 0, 1},
    {"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"name\":\"s\",\"args\":{\"a\":null,\"b\":[1]}}", TK_LOSSES, 0, 1},
    {"{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}}", TK_LOSSES, 0, 0},
    {"{\"ph\":\"M\",\"pid\":1,\"name\":\"uptime\",\"args\":{\"uptime\":1}}", TK_LOSSES, 0, 0},
    {"{\"ph\":\"N\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"o\",\"id\":\"1\"}", TK_LOSSES, 0, 0},
    {"{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"f\",\"cat\":\"c\",\"id\":1}", TK_LOSSES, 0, 0},
    {"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"bind_id\":\"0x1\",\"flow_out\":true}", TK_LOSS_DANGLING, 1, 1},
};

static struct tk_saved saved_of(const struct tk_trace *t) {
  const struct sink_options options = {0};
  struct tk_err err = {0};
  struct mem mem = {0};
  struct out out;
  assert_true(out_memory(&out, &(struct out_options){0}, &mem, &err));
  struct sink *s = format_perfetto.writer(&out, &options);
  assert_non_null(s);
  sink_lose_unheld(s, t, format_perfetto.info.holds);
  assert_true(s->open(s, t, &err) && s->write(s, t, &err) && s->close(s, t, NULL, &err));
  struct tk_saved saved = s->saved;
  s->free(s);
  out_close(&out);
  return saved;
}

static void test_losses(void **state) {
  (void)state;
  for (size_t i = 0; i < LENGTH(losses); i++) {
    char text[512];
    snprintf(text, sizeof text, "{\"traceEvents\":[%s],\"key\":\"value\"}", losses[i].events);
    struct tk_trace *t = feed_text(text);
    struct tk_saved saved = saved_of(t);
    for (int kind = 0; kind < TK_LOSSES; kind++) {
      uint64_t lost = kind == (int)losses[i].kind ? losses[i].lost : 0;
      if (saved.lost[kind] != lost)
        fail_msg("%s: %llu %s lost, not %llu", losses[i].events, (unsigned long long)saved.lost[kind], tk_loss_name(kind),
                 (unsigned long long)lost);
    }
    assert_int_equal(saved.events, losses[i].written);
    tk_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_losses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
