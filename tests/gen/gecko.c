/* gecko.c - a profile of stack samples, in the processed form of the Firefox Profiler. All threads share a tree of stacks. */
#include "gen.h"

enum { THREADS = 4, FUNCTIONS = 2000, STACKS = 20000 };

static void put_names(void) {
  put("\"stringArray\":[");
  for (unsigned i = 0; i < FUNCTIONS; i++) {
    put(i ? ",\"work::function_" : "\"work::function_");
    put_u(i);
    put("()\"");
  }
  put("]");
}

/* Puts "name":[0,1,...] */
static void put_indices(const char *name, unsigned n) {
  put("\"");
  put(name);
  put("\":[");
  for (unsigned i = 0; i < n; i++) {
    if (i) put(",");
    put_u(i);
  }
  put("]");
}

/* Prints the table of stacks. Each stack extends one of the 40 previous stacks, so that depths vary and grow. */
static void put_stacks(const struct options *o) {
  struct rng r = {mix(o->seed, 77)};
  put("\"stackTable\":{\"prefixOffset\":[0");
  for (unsigned i = 1; i < STACKS; i++) {
    put(",");
    put_u(i % 40 == 0 ? 0 : (uint64_t)rng_in(&r, 1, i % 40));
  }
  put("],\"frame\":[");
  for (unsigned i = 0; i < STACKS; i++) {
    if (i) put(",");
    put_u((uint64_t)rng_in(&r, 0, FUNCTIONS - 1));
  }
  put("]}");
}

static void put_thread(const struct options *o, unsigned thread) {
  const uint64_t n = o->spans / THREADS + (thread < o->spans % THREADS);
  struct rng stacks = {mix(o->seed, thread)}, times = {mix(o->seed, thread + 1000)};
  put("{\"name\":\"worker ");
  put_u(thread);
  put("\",\"processName\":\"job\",\"pid\":\"7\",\"tid\":");
  put_u(70 + thread);
  put(",\"samples\":{\"weightType\":\"samples\",\"weight\":null,\"stack\":[");
  for (uint64_t i = 0; i < n; i++) {
    if (i) put(",");
    put_u((uint64_t)rng_in(&stacks, 0, STACKS - 1));
  }
  put("],\"timeDeltas\":[");
  for (uint64_t i = 0; i < n; i++) {
    if (i) put(",");
    put_us(rng_in(&times, 900, 1100));
  }
  put("]}}");
}

bool gecko(const struct options *o) {
  put("{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":66,\"startTime\":1795171072000,\"interval\":1,\"product\":\"gen\"},"
      "\"libs\":[],\"shared\":{");
  put_names();
  put(",\"funcTable\":{");
  put_indices("name", FUNCTIONS);
  put("},\"frameTable\":{");
  put_indices("func", FUNCTIONS);
  put("},");
  put_stacks(o);
  put("},\"threads\":[");
  for (unsigned i = 0; i < THREADS; i++) {
    if (i) put(",");
    put_thread(o, i);
  }
  put("]}\n");
  return true;
}
