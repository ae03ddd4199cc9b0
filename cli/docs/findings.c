/* findings.c - see findings.h. */
#include "findings.h"

#include "tracekit.h"

#include <math.h>

static void limit(FILE *to, double value, const char *unit) {
  char text[32];
  tk_print_number(value, text);
  if (isinf(value)) fputs(" | -", to);
  else fprintf(to, " | %s%s%s", text, *unit == 's' ? " " : "", unit);
}

void docs_findings(FILE *to) {
  size_t n;
  const struct tk_threshold *t = tk_thresholds(&n);
  fputs("# Findings\n"
        "\n"
        "`report` begins with findings: figures that are beyond their thresholds, most severe first. Each one states the figure, the\n"
        "threshold, the rank and device, the step and the time that show the problem best, and what to do or run next. If several\n"
        "devices are beyond a threshold, one finding reports the device with the highest figure and the number of the others.\n"
        "`tracekit view TRACE --at 'step 12'`, or `--at '+1.5 s'`, opens the viewer at the place of a finding.\n"
        "`findings` in `--json` lists all of them, `report --findings` prints nothing else, and `check --assert 'findings == 0'`\n"
        "fails if there is one.\n"
        "\n"
        "A figure is judged only if the trace records it. Idle time, its causes, and exposed communication and copies are judged only\n"
        "if the device ran at least 10 pieces of work, one of them a kernel, and fewer than 5% of the launching calls lack recorded\n"
        "work: unrecorded work may have run at the same time. Unrecorded calls at the end of the recording, whose work was still\n"
        "queued when the recording ended, do not count, unless at least 5% of the time of the steps follows the last recorded work.\n"
        "If no work at all is recorded, calls count as unrecorded only if the trace declares a device, as Kineto does: otherwise\n"
        "another program may have removed the device.\n"
        "Pageable copies, fp32 matmuls and small grids are judged only if the device ran at least 10 pieces of work. Input and\n"
        "compilation of a host without devices are judged only in steps. If no figure can be judged, `unjudged` in `--json` gives the\n"
        "reason. Percentages of a device refer to the time of its steps, or, if steps are not marked or the device did not work in\n"
        "them, to its active window.\n"
        "[analysis.md](analysis.md#the-parts-of-a-step) defines the parts of a step.\n"
        "\n"
        "| id | warning from | bad from | figure |\n"
        "|---|---|---|---|\n", to);
  for (size_t i = 0; i < n; i++) {
    fprintf(to, "| `%s`", t[i].id);
    limit(to, t[i].warning, t[i].unit);
    limit(to, t[i].bad, t[i].unit);
    fprintf(to, " | %s |\n", t[i].help);
  }
  fputs("\n"
        "`--thresholds FILE` changes the thresholds, for `report` and `check`. A line sets that of a warning and, optionally,\n"
        "of a bad finding, or turns a finding off; lines that are not in the file keep the defaults:\n"
        "\n"
        "```\n"
        "device-idle = 30 60\n"
        "compile-time = 5 s    # never bad\n"
        "garbage-collection = off\n"
        "```\n", to);
}
