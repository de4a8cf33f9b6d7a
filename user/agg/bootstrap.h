/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a figure of two series of intervals differs by more than chance, as in `tally diff --test`.
 *
 * A figure is a quotient of sums over all intervals of a series (events per second, time per call), or a percentile of
 * their merged histograms. How far chance moves it comes from the intervals alone, by the bootstrap (Efron, "Bootstrap
 * methods: another look at the jackknife", Annals of Statistics 7, 1979): as many intervals as there are, are drawn
 * with replacement, the figure is computed again, and the variance of many such figures is that of the figure.
 *
 * Neighbours are not independent: a burst lasts longer than an interval. So runs of neighbours are drawn, not single
 * intervals (Kuensch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics 17,
 * 1989). They are one and a half times as long as the cube root of the number of intervals, 3 of 12, 6 of 60: the error
 * of the variance falls fastest at this rate (there, and Hall, Horowitz, Jing, Biometrika 82, 1995). The factor is for
 * series whose neighbours have a correlation of 0.5: at 1, twelve of a hundred are found different that are not, at 1.5
 * nine (test_bootstrap). The last interval is followed by the first, so all count alike (Politis, Romano, 1992). Blocks
 * vary too little around the mean of their own series, by the share of a block in it, which is made up for.
 *
 * The variance, not the quantiles of the drawn figures, bounds the change: with few blocks those quantiles are too
 * narrow (Efron, Tibshirani, "An introduction to the bootstrap", 1993, chapters 12 and 13), and a thousand of them tell
 * nothing of the small probabilities that many rows need. Student's t has as many degrees of freedom as there are
 * blocks, less one for each series, by Welch's formula.
 *
 * Some of many rows differ by chance. Holm's procedure ("A simple sequentially rejective multiple test procedure",
 * Scandinavian Journal of Statistics 6, 1979) keeps the probability that any does below the level, for figures that
 * depend on each other in any way, as count, average and percentiles of one row do. Benjamini and Hochberg's (1995)
 * would find more, and let one in twenty of what it finds be false: that one fails a build.
 *
 * The intervals tell nothing about what is the same in all of them and differs from run to run: where memory lies, the
 * clock of the CPU, a neighbour on the host.
 */
#ifndef TALLY_AGG_BOOTSTRAP_H
#define TALLY_AGG_BOOTSTRAP_H

#include "agg/histogram.h"

/* Fewer intervals make fewer than four blocks: then Student's t has less than three degrees of freedom. */
#define BOOTSTRAP_LEAST 12

/* The standard error is then known to 2 %: 1 / sqrt(2 * 1000). */
#define BOOTSTRAP_RESAMPLES 1000

#define BOOTSTRAP_LEVEL 0.05

/* A figure of one series. */
struct bootstrap_figure {
	double value;
	double variance;
	double freedom;         /* degrees of freedom of the variance */
};

/* The length of a block, of n intervals. */
size_t bootstrap__block(size_t n);

/* The same intervals are always drawn, whatever the figure. All return 0, -ENODATA (it has no value) or -ENOMEM. */

/* The sum of the n numbers of, divided by that of per. */
int bootstrap__quotient(struct bootstrap_figure *figure, const double *of, const double *per, size_t n);

/*
 * Percentiles, as histogram__percentile() of the sum of n histograms, which have no bounds of their own. Some of them
 * may be empty.
 */
int bootstrap__percentiles(struct bootstrap_figure *figure, const u32 *per_10k, size_t npercentiles,
			   const struct histogram *h, size_t n);

/* How far histogram__percentile() may be off, as a logarithm. */
#define BOOTSTRAP_BUCKET 0.060624621816434843

struct bootstrap_change {
	double change;          /* (after - before) / before; infinite if before is 0, and after is not */
	double low, high;       /* it lies between these, in 95 of 100 tests; NAN: unknown */
	double p;               /* probability of such a difference, or a larger one, by chance */
	/* They are about the logarithm, or about the difference where either is not above 0. */
	double error, freedom, grain;
	bool logarithmic;
};

/* grain: a difference of logarithms up to this says nothing, and adds to the interval; 0 or BOOTSTRAP_BUCKET. */
void bootstrap__compare(struct bootstrap_change *change, const struct bootstrap_figure *before,
			const struct bootstrap_figure *after, double grain);

/* The least change whose p is below level; NAN: unknown. */
double bootstrap__reach(const struct bootstrap_change *change, double level);

/* Replaces the n probabilities p, which it does not sort, by those that can be compared with the level directly. */
int bootstrap__holm(double *p, size_t n);

/* The probability of a t of that size or more on either side, and the t of a probability. */
double student_tails(double t, double freedom);
double student_bound(double tails, double freedom);

#endif /* TALLY_AGG_BOOTSTRAP_H */
