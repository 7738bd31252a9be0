"""Tests of scikit-learn that fail with our classes in the place of theirs, each with the reason.

Keys are the ids of tests below the package ``sklearn``; without brackets, those of all parameters.
"""

_NEGATIVE = "negative weights are rejected, where LIBSVM leaves such rows out"
_SPARSE = "dual_coef_ and coef_ are dense also for sparse rows"
_BREAK_TIES = "break_ties=True with decision_function_shape='ovo' is rejected by fit, not by predict"
_SPARSE_KERNEL = "another message for a sparse kernel matrix"
_CONVERGED = "two iterations suffice where LIBSVM and LIBLINEAR need more: there is nothing to warn of"
_INFINITE_C = "C=inf is rejected: C is the inverse of alpha, which is positive"
_PROBABILITY = "no probability=True: a model is calibrated by CalibratedClassifierCV"

_SVM = {
    "test_tweak_params": "predictions are made from public attributes, not from a copy _dual_coef_",
    "test_decision_function_shape[42-SVC]": _BREAK_TIES,
    "test_svc_invalid_break_ties_param[42-SVC]": _BREAK_TIES,
    "test_negative_sample_weights_mask_all_samples[weights-are-zero-SVC]": "another message for weights that are all 0",
    "test_negative_sample_weights_mask_all_samples[weights-are-negative-SVC]": _NEGATIVE,
    "test_negative_weights_svc_leave_just_one_label[mask-label-1-SVC]": _NEGATIVE,
    "test_negative_weights_svc_leave_just_one_label[mask-label-2-SVC]": _NEGATIVE,
    "test_negative_weights_svc_leave_two_labels[partial-mask-label-1-SVC]": _NEGATIVE,
    "test_negative_weight_equal_coeffs[partial-mask-label-1-SVC]": _NEGATIVE,
    "test_bad_input": "a model fitted to dense rows predicts sparse ones",
    "test_svc_nonfinite_params": "values of 1e308 are rejected by name before the fit, with another message",
    "test_sparse_precomputed": _SPARSE_KERNEL,
    "test_linearsvc_parameters[42-False-l2-hinge]": "the hinge loss has primal solvers: dual=False is no error",
    "test_libsvm_convergence_warnings": _CONVERGED,
    "test_linear_svm_convergence_warnings": _CONVERGED,
    "test_hasattr_predict_proba": _PROBABILITY,
    "test_probability_raises_futurewarning[False-SVC-SVC]": _PROBABILITY,
    "test_svc_nusvc_probA_probB_deprecated[SVC]": _PROBABILITY,
    "test_gamma_scale": "the resolved gamma is in kernel_, not in a private attribute _gamma",
    "test_custom_kernel_not_array_input[SVC]": "its kernel function computes square matrices only",
    "test_svc_raises_error_internal_representation": "there are no private copies of n_support_ that could disagree",
    "test_svm_with_infinite_C[42-inf0-SVC-make_classification]": _INFINITE_C,
    "test_svm_with_infinite_C[42-inf1-SVC-make_classification]": _INFINITE_C,
}
_SVM_SPARSE = {"test_svc_iris": _SPARSE, "test_sparse_realdata": _SPARSE, "test_timeout": _CONVERGED}

EXPECTED = {
    **{f"svm/tests/test_svm.py::{name}": reason for name, reason in _SVM.items()},
    **{f"svm/tests/test_sparse.py::{name}": reason for name, reason in _SVM_SPARSE.items()},
    "tests/test_base.py::test_conditional_attrs_not_in_dir": _PROBABILITY,
}
