/* topics.c - `tracekit help TOPIC`: what is the same in all commands, in a screen each. */
#include "docs.h"

#include <string.h>

static void expressions(FILE *to) {
  const char *name, *help;
  fputs("An expression (-e, --keep, --drop) says of an event whether it is meant:\n\n"
        "  tracekit filter trace.json -e 'kind == kernel && dur > 10us' -o kernels.json\n\n"
        "Tests are joined by && || ! and parentheses.  A test is SYMBOL OP VALUE:\n\n"
        "  == !=            equal, and not\n"
        "  < <= > >=        numbers and times; a time has a unit: 10us, 1.5ms, 2s\n"
        "  ~                a name with * and ? in it, which matches whole: name ~ '*gemm*'\n"
        "  =~ !~            a regular expression, anywhere in the text, and not\n\n"
        "A symbol alone tests that the event has it.  The symbols:\n\n",
        to);
  for (size_t i = 0; (name = tk_filter_symbol(i, &help)); i++) fprintf(to, "  %-9s  %s\n", name, help);
  fputs("\nThe kinds:", to);
  for (size_t i = 0; (name = tk_kind_word(i)); i++) fprintf(to, "%s%s", i % 9 ? " " : "\n  ", name);
  fputs("\n\ndocs/filter.md has the whole language.\n", to);
}

static void formats(FILE *to) {
  fputs("The format of an input is found from its content.  That of an output is -f, else that of its extension, else that of\n"
        "the input; a further .gz or .zst compresses it.\n\n",
        to);
}

static void sources(FILE *to) {
  fputs("An input is named by\n\n"
        "  trace.json.gz            a file: plain, or packed as gzip, zstd, xz or bzip2\n"
        "  logdir                   a folder at any depth above traces: the newest run in it, and of each host the best file\n"
        "  logs.zip                 an archive (tar, zip, 7z), likewise\n"
        "  logs.zip:rank0.json      one file in it\n"
        "  'rank*.json.gz'          a pattern\n"
        "  @list.txt                a file with a name on each line\n"
        "  -                        standard input\n\n"
        "`tracekit list` shows what there is.  --run, --step, --host and --rank of list and extract choose.\n",
        to);
}

static void clocks(FILE *to) {
  fputs("Clocks of different hosts disagree by microseconds to seconds.  `tracekit merge` puts them on one:\n\n"
        "  --align=auto             by the collectives that ranks share, where these can be trusted, else by the wall clock (default)\n"
        "  --align=clock            by the wall clock alone\n"
        "  --align=marker=NAME      by the ends of events of this name\n"
        "  --align=start            by the first event of each host\n"
        "  --offset 3=+1.5ms        as you say\n\n"
        "The table that merge prints has, of each host, how far its clock was ahead, the error of that (95%), what is proven by\n"
        "causality, and whether to trust it.  --require-align makes a doubt an error; --align-report writes all that was found.\n"
        "docs/alignment.md explains it.\n",
        to);
}

static void times(FILE *to) {
  fputs("Durations have a unit: 20us, 1.5ms, 3s, 2m.  Sizes too, in any case: 100MB (10^6), 64KiB, 2G (2^30).\n\n"
        "A range of time (--time) is START..END, and either may be left out:\n\n"
        "  +2s..+5s                 after the first event\n"
        "  -1s..                    before the end of the last one\n"
        "  25%..50%                 of the way between the two\n"
        "  1500us..3ms              as the file prints its times\n"
        "  2026-11-20T10:37:52Z..   UTC, of traces whose clock is known\n\n"
        "A range of steps or ranks is N, N..M, N.. or ..M.\n",
        to);
}

static const struct {
  const char *name, *summary;
  void (*print)(FILE *to);
} topics[] = {
  { "expressions", "the language of -e", expressions },
  { "formats", "what can be read and written", formats },
  { "sources", "how inputs are named", sources },
  { "clocks", "how hosts are put on one timeline", clocks },
  { "times", "ranges of time, durations and sizes", times },
};
enum { N_TOPICS = sizeof topics / sizeof *topics };

const char *topic_name(size_t i, const char **summary) {
  if (i >= N_TOPICS) return NULL;
  *summary = topics[i].summary;
  return topics[i].name;
}

bool topic_print(FILE *to, const char *name, void (*table)(FILE *to)) {
  for (size_t i = 0; i < N_TOPICS; i++) {
    if (strcmp(topics[i].name, name)) continue;
    topics[i].print(to);
    if (topics[i].print == formats) table(to);
    return true;
  }
  return false;
}
