/* old_program.c - a program that reads rows of reports with tk_row_at, so that it also runs with a later library, whose rows are
 * longer. tests/property/old_program.py compiles it with headers in which the last field of every report and row is missing. */
#include <stdio.h>
#include <string.h>

#include <tracekit.h>

#ifdef BY_INDEX /* such a program must not do this */
#define ROW_AT(type, rows, kind, i) (&(rows)[i])
#else
#define ROW_AT(type, rows, kind, i) ((const struct type *)tk_row_at(rows, kind, i))
#endif

static void print_top(struct tk_trace *t) {
  struct tk_top_report *top = NULL;
  struct tk_err err;
  if (!tk_top(t, NULL, &top, &err)) printf("%s\n", err.msg);
  for (size_t i = 0; i < top->n_rows; i++) {
    const struct tk_top_row *row = ROW_AT(tk_top_row, top->rows, TK_ROW_TOP, i);
    printf("top %.*s %d %lld %lld\n", (int)row->name_len, row->name ? row->name : "", (int)row->count, (long long)row->self.s,
           (long long)row->self.ps);
  }
  tk_top_report_free(top);
}

static void print_tree(struct tk_trace *t) {
  struct tk_tree_report *tree = NULL;
  struct tk_err err;
  if (!tk_tree(t, NULL, &tree, &err)) printf("%s\n", err.msg);
  for (size_t i = 0; i < tree->n_nodes; i++) {
    const struct tk_tree_node *node = ROW_AT(tk_tree_node, tree->nodes, TK_ROW_TREE, i);
    printf("tree %.*s %d %d %lld\n", (int)node->name_len, node->name ? node->name : "", (int)node->depth, (int)node->count,
           (long long)node->total.ps);
  }
  tk_tree_report_free(tree);
}

static void print_report(struct tk_trace *t) {
  struct tk_report *r = NULL;
  struct tk_err err;
  if (!tk_report_trace(t, NULL, &r, &err)) printf("%s\n", err.msg);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = ROW_AT(tk_report_rank, r->ranks, TK_ROW_REPORT_RANK, i);
    printf("rank %d %s %d %lld\n", (int)row->rank, row->device, (int)row->work, (long long)row->times.busy);
    for (size_t k = 0; k < row->n_steps; k++)
      printf("step %lld\n", (long long)ROW_AT(tk_report_step, row->steps, TK_ROW_REPORT_STEP, k)->number);
  }
  for (size_t i = 0; i < r->n_kernels; i++) {
    const struct tk_report_kernel *row = ROW_AT(tk_report_kernel, r->kernels, TK_ROW_REPORT_KERNEL, i);
    printf("kernel %.*s %d %s\n", (int)row->name_len, row->name, (int)row->count, row->kernel_class);
  }
  for (size_t i = 0; i < r->n_launches; i++)
    printf("launch %s\n", ROW_AT(tk_report_launch, r->launches, TK_ROW_REPORT_LAUNCH, i)->name);
  for (size_t i = 0; i < r->n_ops; i++) {
    const struct tk_report_op *row = ROW_AT(tk_report_op, r->ops, TK_ROW_REPORT_OP, i);
    printf("op %.*s %s %d\n", (int)row->name_len, row->name, row->kind, (int)row->count);
  }
  for (size_t i = 0; i < r->n_findings; i++)
    printf("finding %s\n", ROW_AT(tk_report_finding, r->findings, TK_ROW_REPORT_FINDING, i)->id);
  tk_report_free(r);
}

static void print_diff(struct tk_trace *t) {
  struct tk_diff_report *r = NULL;
  struct tk_err err;
  if (!tk_diff_traces(t, t, NULL, &r, &err)) printf("%s\n", err.msg);
  for (size_t i = 0; i < r->n_rows; i++) {
    const struct tk_diff_row *row = ROW_AT(tk_diff_row, r->rows, TK_ROW_DIFF, i);
    printf("diff %.*s %g %g\n", (int)row->name_len, row->name ? row->name : "", row->total[0], row->delta);
  }
  printf("all %g, step %g\n", r->all->total[1], r->step->total[1]);
  tk_diff_report_free(r);
}

static void print_compare(const char *file) {
  struct tk_compare_report *r = NULL;
  struct tk_err err = TK_ERR_INIT;
  static const char *const names[] = {"a", "b", "c"};
  struct tk_sources *runs[3];
  for (int i = 0; i < 3; i++) runs[i] = tk_sources_open(&file, 1, NULL, &err);
  if (!tk_compare(runs, names, 3, NULL, &r, &err)) printf("%s\n", err.msg);
  for (size_t i = 0; i < r->n_runs; i++) printf("run %s\n", ROW_AT(tk_compare_run, r->runs, TK_ROW_COMPARE_RUN, i)->name);
  for (size_t i = 0; i < r->n_rows; i++) {
    const struct tk_compare_row *row = ROW_AT(tk_compare_row, r->rows, TK_ROW_COMPARE, i);
    printf("compare %.*s", (int)row->name_len, row->name ? row->name : "");
    for (size_t k = 0; k < row->n_runs; k++)
      printf(" %g %g", ROW_AT(tk_compare_cell, row->runs, TK_ROW_COMPARE_CELL, k)->total,
             ROW_AT(tk_compare_cell, row->runs, TK_ROW_COMPARE_CELL, k)->delta);
    putchar('\n');
  }
  tk_compare_report_free(r);
  for (int i = 0; i < 3; i++) tk_sources_close(runs[i]);
}

static void print_merge(const char *file) {
  struct tk_merge_report *r = NULL;
  struct tk_err err = TK_ERR_INIT;
  const char *const files[] = {file, file, file};
  struct tk_sources *s = tk_sources_open(files, 3, NULL, &err);
  struct tk_trace *t = s ? tk_sources_merge(s, "merged", NULL, &r, &err) : NULL;
  if (!t) printf("%s\n", err.msg);
  for (size_t i = 0; t && i < r->n_ranks; i++) {
    const struct tk_merge_rank *rank = ROW_AT(tk_merge_rank, r->ranks, TK_ROW_MERGE_RANK, i);
    printf("merged %s %d %d\n", strrchr(rank->input, '/'), (int)rank->rank, (int)rank->events);
  }
  tk_merge_report_free(r);
  tk_sources_close(s);
  tk_free(t);
}

int main(int argc, char **argv) {
  struct tk_err err = TK_ERR_INIT;
  struct tk_trace *t = argc == 2 ? tk_load(argv[1], NULL, &err) : NULL;
  if (!t) return 2;
  printf("%zu %zu %zu\n", sizeof(struct tk_top_row), sizeof(struct tk_report_rank), sizeof(struct tk_compare_cell));
  print_top(t);
  print_tree(t);
  print_report(t);
  print_diff(t);
  print_compare(argv[1]);
  print_merge(argv[1]);
  tk_free(t);
  return 0;
}
