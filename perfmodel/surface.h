// SPDX-License-Identifier: GPL-3.0-or-later
//
// correction = smooth: one factor for every load instead of one per cell,
//   log factor = c0 + c1 z0 + c2 z1,   z = log(1 + load), standardised over the samples, kept within their range,
// which is monotone along each axis. It learns from all samples of the kind at once (a cell of the grid from its own
// few), says something of loads in empty cells, and does not jump at borders. Least squares with Huber's weights on the
// logarithms of observed/estimated and a normal prior about 0, so that with few or noisy samples the factor stays near 1;
// newer samples count more. It cannot follow what is neither rising nor falling; the grid can.
#ifndef PERFMODEL_SURFACE_H
#define PERFMODEL_SURFACE_H

#include "perfmodel/samples.h"

typedef struct fpm_surface {
    bool is_ready;
    double low[2], high[2]; // of log(1 + load): beyond, the factor stays what it is at the end
    double constant;        // log factor = constant + slope . z
    double slope[2];
    double least, most; // factor bounds
} fpm_surface;

#define FPM_SURFACE_SCRATCH 6 // doubles a sample

// From the retained ratios, by `scratch` of FPM_SURFACE_SCRATCH doubles for each; least and most are left alone. Ratios
// of 0 and infinity are passed over. O(samples).
void fpm_surface_fit(fpm_surface *surface, const fpm_samples *samples, double *scratch);

// 1 when nothing was fitted.
double fpm_surface_factor(const fpm_surface *surface, fpm_load load);

#endif
