// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/huber.h"

static void swap(double *a, double *b) {
    const double kept = *a;
    *a = *b;
    *b = kept;
}

// Hoare's selection; the pivot is the median of three, so that sorted input is no worst case.
double fpm_select_median(double *values, size_t n) {
    const size_t wanted = (n - 1) / 2;
    size_t low = 0, high = n - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (values[middle] < values[low]) swap(&values[middle], &values[low]);
        if (values[high] < values[low]) swap(&values[high], &values[low]);
        if (values[high] < values[middle]) swap(&values[high], &values[middle]);
        const double pivot = values[middle];
        size_t i = low, k = high;
        for (;;) {
            while (values[i] < pivot) i++;
            while (values[k] > pivot) k--;
            if (i >= k) break;
            swap(&values[i++], &values[k--]);
        }
        if (wanted <= k)
            high = k;
        else
            low = k + 1;
    }
    return values[wanted];
}

void fpm_fading_weights(double *weights, size_t n, double half_life) {
    const double fade = exp2(-1.0 / half_life);
    double weight = 1.0;
    for (size_t i = n; i-- > 0; weight *= fade) weights[i] = weight;
}

bool fpm_cholesky_solve(double a[4][4], double b[4], unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k <= i; k++) {
            double sum = a[i][k];
            for (unsigned j = 0; j < k; j++) sum -= a[i][j] * a[k][j];
            if (i == k && !(sum > 0.0)) return false;
            a[i][k] = i == k ? sqrt(sum) : sum / a[k][k];
        }
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < i; k++) b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (unsigned i = n; i-- > 0;) {
        for (unsigned k = i + 1; k < n; k++) b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
    return true;
}
