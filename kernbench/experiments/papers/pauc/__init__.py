"""The paper on partial AUC and ranked ranges: Yao, Lin and Yang, NeurIPS 2022.

* `train` (``pauc-train``): Table 1, Figures 1, 3, 4 and 7: the training objective over time;
* `test` (``pauc-test``): Table 2, its linear half: fresh rows, alpha chosen by validation;
* `mu` (``pauc-mu``): Table 6: how much the smoothing matters;
* `rates` (``pauc-rates``): Theorem 5: the criticality over the work, with its fitted power;
* `networks` (``pauc-deep``): Table 3, Figure 5, the deep half of Table 2; its images, methods and cells in `deep/`;
* `sorr` (``sorr``): Figure 2: the sum of ranked range;
* `splits`: published sets, split again;
* `stand_ins`: for the five sets of radiographs; `work`: what is said of the rows that a fit reads;
* `parts`: methods, data and metrics they share; `evaluation`, `training`, `peers`: how cells are measured.
"""
