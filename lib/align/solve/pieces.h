/* pieces.h - fits the offset of a clock over time: a line, or as few lines as jumps and NTP corrections require. */
#ifndef ALIGN_SOLVE_PIECES_H
#define ALIGN_SOLVE_PIECES_H

#include "solve.h"

enum { ALIGN_PIECES = CURVE_KNOTS / 2 };

/* A line through the points [from, to), with its level at x0, their weighted mean. In ns; errors are standard deviations. */
struct piece {
  uint32_t from, to;
  double first, last;    /* x of its first and last point */
  double x0, level, slope;
  double level_error, slope_error;
};

struct pieces {
  uint32_t n;
  struct piece v[ALIGN_PIECES];
  double sigma; /* ns: scale of the residuals, as the scale of Student's t with 6 degrees of freedom */
};

/* Returns ln of the density of Student's t with 6 degrees of freedom at r, per ns: the noise model used throughout align. */
double pieces_noise_density(double r, double sigma);

double piece_at(const struct piece *p, double x);
/* Returns the offset at x, from the piece that contains x, or otherwise from the piece before x. */
double pieces_at(const struct pieces *s, double x);
/* True if the clock may have been set just before x: x is after the last point of a piece, and no later than the first point of
 * the next. */
bool pieces_begin(const struct pieces *s, double x);
/* Fits one line through n > 0 points sorted by x; up to a third of them may be outliers. `room` has space for 2 n numbers. */
void pieces_line(struct pieces *out, const struct point *p, uint32_t n, double *room);
/* Splits the line into pieces if the gain in likelihood exceeds the cost. */
void pieces_split(struct pieces *out, const struct point *p, uint32_t n, double *room);
/* Returns by how much point i is above its piece; negative if it is below. */
double pieces_residual(const struct pieces *s, const struct point *p, uint32_t i);
/* Returns how far the offset jumps at most between piece k and the next piece; negative if the clock was set back. */
double pieces_jump(const struct pieces *s, const struct point *p, uint32_t k);
/* Converts the pieces to a curve. Between two pieces, the curve connects the last point of the first to the first point of the
 * second. */
void pieces_curve(const struct pieces *s, const struct point *p, struct curve *c);

#endif
