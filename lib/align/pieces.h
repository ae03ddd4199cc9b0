/* pieces.h - a clock's offset over time: a line, or as few lines as its jumps and slews need. */
#ifndef ALIGN_PIECES_H
#define ALIGN_PIECES_H

#include "align.h"

enum { ALIGN_PIECES = ALIGN_KNOTS / 2 };

/* A line through the points [from, to): level at x0, the weighted middle of them.  ns; errors are standard deviations. */
struct piece {
  uint32_t from, to;
  double first, last;    /* x of its first and last point */
  double x0, level, slope;
  double level_error, slope_error;
};

struct pieces {
  uint32_t n;
  struct piece v[ALIGN_PIECES];
  double sigma; /* ns: the scale of what is left, as of Student's t with 6 degrees of freedom */
};

/* Student's t with 6 degrees of freedom, the noise that all of align reckons with: ln of its density at r, per ns. */
double noise_density(double r, double sigma);

double piece_at(const struct piece *p, double x);
/* Of the piece that x is in, the one before it where it is between two. */
double pieces_at(const struct pieces *s, double x);
/* One line through n > 0 points, sorted by x, whatever a third of them says.  Room for 2 n numbers. */
void pieces_line(struct pieces *out, const struct point *p, uint32_t n, double *room);
/* Splits it where that explains more than it costs. */
void pieces_split(struct pieces *out, const struct point *p, uint32_t n, double *room);
/* The point's distance from its piece. */
double pieces_residual(const struct pieces *s, const struct point *p, uint32_t i);
/* As a curve: between two pieces it goes from the last point of one to the first of the next. */
void pieces_curve(const struct pieces *s, const struct point *p, struct curve *c);

#endif
