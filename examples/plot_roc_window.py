"""
A window of the ROC curve, and the model trained for it
=======================================================

If false alarms are limited, only a part of the ROC curve matters. ``PartialAUCClassifier`` maximises the area under the
curve over a range of false positive rates, ``ROCSVC`` the area under the whole curve.
"""

# %%
# A rare class that consists of several clusters.

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernbench import ROCSVC, PartialAUCClassifier
from kernbench.plot import PartialROCDisplay

X, y = make_classification(
    6000, 12, n_informative=6, n_clusters_per_class=3, weights=[0.9], class_sep=1.3, flip_y=0.02, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# Both ROC curves on new rows, with a 90 % confidence band for the second one. The dot marks the threshold of
# ``predict``.

window = (0.0, 0.1)
whole = make_pipeline(StandardScaler(), ROCSVC()).fit(X_train, y_train)
part = make_pipeline(StandardScaler(), PartialAUCClassifier(window, threshold="window")).fit(X_train, y_train)

figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
options = {"fpr_range": window, "ax": ax}
PartialROCDisplay.from_estimator(whole, X_test, y_test, name="all pairs", threshold=None, **options)
PartialROCDisplay.from_estimator(
    part, X_test, y_test, name="the window", confidence=0.9, random_state=0, shade_window=False, **options
)
plt.show()
