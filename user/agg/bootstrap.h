/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests whether a figure differs between two series of intervals by more than chance, for `tally diff --test`.
 *
 * A figure is a quotient of sums over all intervals of a series (events per second, time per call), or a percentile of
 * their merged histograms. The bootstrap (Efron, "Bootstrap methods: another look at the jackknife", Annals of
 * Statistics 7, 1979) estimates the variance of a figure from the intervals alone: it draws n of the n intervals with
 * replacement, computes the figure again, and takes the variance of many such figures as the variance of the figure.
 *
 * Neighbouring intervals are not independent: a burst lasts longer than an interval. Blocks of consecutive intervals
 * are therefore drawn instead of single ones (Kuensch, "The jackknife and the bootstrap for general stationary
 * observations", Annals of Statistics 17, 1989). A block is 1.5 times as long as the cube root of the number of
 * intervals, 3 for 12, 6 for 60: the error of the variance falls fastest at this rate (Kuensch, and Hall, Horowitz,
 * Jing, Biometrika 82, 1995). The factor suits series whose neighbours have a correlation of 0.5: a factor of 1 reports
 * a false difference in twelve of a hundred tests, a factor of 1.5 in nine (test_bootstrap). The last interval is
 * followed by the first, so all have the same weight (Politis, Romano, 1992). Blocks vary too little around the mean of
 * their own series, by the share of a block in the series; the variance is corrected for this.
 *
 * The variance, not the quantiles of the drawn figures, bounds the change: with few blocks those quantiles are too
 * narrow (Efron, Tibshirani, "An introduction to the bootstrap", 1993, chapters 12 and 13), and a thousand draws cannot
 * resolve the small probabilities that many rows need. Student's t has as many degrees of freedom as there are blocks,
 * less one for each series, by Welch's formula.
 *
 * With many rows, some differ by chance. Holm's procedure ("A simple sequentially rejective multiple test
 * procedure", Scandinavian Journal of Statistics 6, 1979) keeps the probability of even one false difference below the
 * level, however the figures depend on each other, as count, average and percentiles of one row do. The procedure of
 * Benjamini and Hochberg (1995) would find more differences, but allows one in twenty of them to be false, and a single
 * false one fails a build.
 *
 * The intervals do not show causes that are constant within a run but differ between runs: placement of memory, CPU
 * frequency, other guests on the host.
 */
#ifndef TALLY_AGG_BOOTSTRAP_H
#define TALLY_AGG_BOOTSTRAP_H

#include "agg/histogram.h"

/* Fewer intervals make fewer than four blocks, and leave Student's t fewer than three degrees of freedom. */
#define BOOTSTRAP_LEAST 12

/* With this number, the relative error of the standard error is 2 %: 1 / sqrt(2 * 1000). */
#define BOOTSTRAP_RESAMPLES 1000

#define BOOTSTRAP_LEVEL 0.05

/* A figure of one series. */
struct bootstrap_figure {
	double value;
	double variance;
	double freedom;         /* degrees of freedom of the variance */
};

/* Length of a block for n intervals. */
size_t bootstrap__block(size_t n);

/*
 * The following draw the same intervals each time, for every figure. They return 0, -ENODATA (the figure has no value)
 * or -ENOMEM.
 */

/* The sum of of[0..n) divided by the sum of per[0..n). */
int bootstrap__quotient(struct bootstrap_figure *figure, const double *of, const double *per, size_t n);

/*
 * Percentiles of the sum of n histograms, as in histogram__percentile(). The histograms must not have their own bounds;
 * some may be empty.
 */
int bootstrap__percentiles(struct bootstrap_figure *figure, const u32 *per_10k, size_t npercentiles,
			   const struct histogram *h, size_t n);

/* The largest error of histogram__percentile(), as a logarithm. */
#define BOOTSTRAP_BUCKET 0.060624621816434843

struct bootstrap_change {
	double change;          /* (after - before) / before; infinite if only before is 0 */
	double low, high;       /* 95 % confidence interval of the change; NAN if unknown */
	double p;               /* probability of this or a larger difference by chance */
	/* The following refer to the logarithm, or to the difference if a figure is not above 0. */
	double error, freedom, grain;
	bool logarithmic;
};

/* grain: differences of logarithms up to this are not significant; widens the interval. 0 or BOOTSTRAP_BUCKET. */
void bootstrap__compare(struct bootstrap_change *change, const struct bootstrap_figure *before,
			const struct bootstrap_figure *after, double grain);

/* The smallest change whose p is below level; NAN if unknown. */
double bootstrap__reach(const struct bootstrap_change *change, double level);

/* Replaces the n probabilities p by adjusted ones, in the same order, that can be compared with the level directly. */
int bootstrap__holm(double *p, size_t n);

/* Two-sided probability of a t at least this large, and the t of such a probability. */
double student_tails(double t, double freedom);
double student_bound(double tails, double freedom);

#endif /* TALLY_AGG_BOOTSTRAP_H */
