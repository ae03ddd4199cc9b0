/* topics.c - `tracekit help TOPIC`: one screen on each subject that the commands have in common. */
#include "topics.h"
#include "docs.h"

#include <string.h>

static void expressions(FILE *to) {
  const char *name, *help;
  fputs("An expression (-e, --keep, --drop) selects events:\n"
        "\n"
        "  tracekit filter trace.json -e 'kind == kernel && dur > 10us' -o kernels.json\n"
        "\n"
        "Tests are joined by && || ! and parentheses. A test is SYMBOL OP VALUE:\n"
        "\n"
        "  == !=            equal, not equal\n"
        "  < <= > >=        numbers and times; a time needs a unit: 10us, 1.5ms, 2s\n"
        "  ~                glob with * and ?, matching the whole text: name ~ '*gemm*'\n"
        "  =~ !~            regular expression that matches, or does not match, anywhere in the text\n"
        "\n"
        "A symbol alone tests whether the event has this property. The symbols:\n"
        "\n",
        to);
  for (size_t i = 0; (name = tk_filter_symbol(i, &help)); i++) fprintf(to, "  %-9s  %s\n", name, help);
  fputs("\nThe kinds:", to);
  for (size_t i = 0; (name = tk_kind_word(i)); i++) fprintf(to, "%s%s", i % 9 ? " " : "\n  ", name);
  fputs("\n"
        "\n"
        "docs/filter.md describes the whole language.\n", to);
}

static void formats(FILE *to) {
  fputs("The input format is detected from the content. The output format is set by -f, or else by the output's extension, or\n"
        "else by the input; an additional .gz or .zst compresses the output.\n"
        "\n",
        to);
}

static void sources(FILE *to) {
  fputs("An input can be\n"
        "\n"
        "  trace.json.gz            a file: plain, or compressed with gzip, zstd, xz or bzip2\n"
        "  logdir                   a folder with traces at any depth: the newest run in it, and the best file of each host\n"
        "  logs.zip                 an archive (tar, zip, 7z), which is read like a folder\n"
        "  logs.zip:rank0.json      a member of an archive\n"
        "  'rank*.json.gz'          a pattern\n"
        "  @list.txt                a file with one name per line\n"
        "  -                        standard input\n"
        "\n"
        "`tracekit list` shows what a folder contains. --run, --step-dir and --latest-good select the run; in list and extract,\n"
        "--host and --rank select files of that run.\n"
        "\n"
        "An HTML page that contains a trace, such as one of viztracer or trace2html, is read like the trace. Numbered files of one\n"
        "recording, such as node_trace.1.log and node_trace.2.log or trace.part1.json and trace.part2.json, are read as one trace; to\n"
        "join other files, use --join of merge or extract.\n"
        "\n"
        "The rank of an input is stated in its contents (distributedInfo), in its name or folder (rank3, worker3), or in a file next "
        "to\n"
        "it (profiler_info_3.json of Ascend). Otherwise it is the number in which the names of the inputs differ: gpu3.json and\n"
        "gpu4.json are ranks 3 and 4. If the names differ in several numbers, a number after a word such as tp or gpu is\n"
        "preferred, and so is a small number. Several profilers may have written a file for each rank: viz_tp0.json, viz_tp1.json,\n"
        "proton_tp0.json and proton_tp1.json have the ranks 0 and 1.\n",
        to);
}

static void clocks(FILE *to) {
  fputs("The clocks of different hosts differ by microseconds to seconds.  `tracekit merge` aligns them:\n"
        "\n"
        "  --align=auto             by collectives that the ranks share if that is reliable, otherwise by wall clock (default)\n"
        "  --align=clock            by wall clock alone\n"
        "  --align=marker=NAME      by the ends of the events with this name\n"
        "  --align=start            by the first event of each host\n"
        "  --offset 3=+1.5ms        by a given offset\n"
        "\n"
        "The table that merge prints shows, for each host, how far its clock was ahead, the error at 95 percent confidence, the\n"
        "bounds that follow because no rank leaves a collective before all have arrived, and whether the result is reliable.\n"
        "With --require-align, an unreliable result sets the exit status to 1; --align-report FILE writes all details.\n"
        "docs/alignment.md explains the method.\n",
        to);
}

static void times(FILE *to) {
  fputs("Durations need a unit: 20us, 1.5ms, 3s, 2m. Sizes need a unit in upper or lower case: 100MB (10^6), 64KiB, 2G (2^30).\n"
        "\n"
        "A time range (--time) is START..END; either end may be omitted:\n"
        "\n"
        "  +2s..+5s                 time after the start of the first event\n"
        "  -1s..                    time before the end of the last event\n"
        "  25%..50%                 share of the time between these two\n"
        "  1500us..3ms              timestamps as in the file\n"
        "  2026-11-20T10:37:52Z..   UTC, if the clock of the trace is known\n"
        "\n"
        "A range of steps or ranks is N, N..M, N.. or ..M.\n",
        to);
}

static const struct {
  const char *name, *summary;
  void (*print)(FILE *to);
} topics[] = {
  { "expressions", "the language of -e", expressions },
  { "formats", "formats that can be read and written", formats },
  { "sources", "how to name inputs", sources },
  { "clocks", "how clocks of hosts are aligned", clocks },
  { "times", "time ranges, durations and sizes", times },
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
