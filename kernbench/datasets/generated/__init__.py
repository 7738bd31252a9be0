"""Data sets drawn from formulas by a seed; they need no file and no network.

* `dense`: small sets in two or ten dimensions; `clusters`: millions of rows in float32;
* `known_auc`: sets whose population AUC is known; `network_features`: many columns, a rare class;
* `text` and `census`: sparse stand-ins for documents and for the Adult census data;
* `regressions`: stand-ins for two data sets of regression; `ridge_2d`: a known function of two variables;
* `striped_images`: small colour images of stripes, a stand-in for photographs.

A generator is ``generator(n, rng, **options) -> (X, y)`` with labels -1 and +1, int64. In the sparse sets the *rule*,
which word belongs to which topic and which category to which class, is fixed, and `rng` draws the examples only: the
training and test parts of all seeds come from one distribution. `common` holds what the modules share.
"""
