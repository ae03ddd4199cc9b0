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
        "threshold, the rank and device, the step and the time that show it best, and what to do or run next. A finding about\n"
        "devices is made once, for the device with the highest figure; the sentence counts the others. `findings` in `--json` lists\n"
        "all of them, `report --findings` prints nothing else, and `check --assert 'findings == 0'` fails if there is one.\n"
        "\n"
        "Figures that the trace does not contain are not judged. If launching calls have no recorded work, idle time is not judged\n"
        "either. Percentages of a device refer to its steps, if steps are marked and it worked in them, otherwise to its active\n"
        "window. [analysis.md](analysis.md#the-parts-of-a-step) defines the parts of a step.\n"
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
        "`--thresholds FILE` changes them, for `report` and `check`. A line sets the threshold of a warning and, optionally, of a bad\n"
        "finding, or turns a finding off; lines that are not in the file keep the defaults:\n"
        "\n"
        "```\n"
        "device-idle = 30 60\n"
        "compile-time = 5 s    # never bad\n"
        "garbage-collection = off\n"
        "```\n", to);
}
