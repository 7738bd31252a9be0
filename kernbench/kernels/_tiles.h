/* Loops over one tile of a kernel matrix, in both precisions.
 *
 * _tiles_body.h holds what all kernels share: products with sparse rows, and what is done with finished rows;
 * _maps.h what makes kernel values of inner products, _coordinates.h what needs no inner products.
 */
#ifndef KB_TILES_H
#define KB_TILES_H

#include <stddef.h>
#include "_simd.h"

/* Queries that one sparse panel holds side by side: eight AVX2 registers of floats. */
#define KB_PANEL 64
/* ... and of a narrow panel, for batches that would leave most of a panel empty: one register of floats. */
#define KB_NARROW 8

#define KB_BODY "_tiles_body.h"
#include "_both_precisions.h"

#endif
