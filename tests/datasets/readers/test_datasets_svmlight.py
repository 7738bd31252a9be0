"""svmlight / LIBSVM text: values, types, and the messages for broken files."""

import gzip

import numpy as np
import pytest

from kernbench.datasets import DataFileError, read_svmlight
from kernbench.datasets.errors import shown

GOOD = "+1 1:0.5 3:2\n-1 2:1e-3\n\n# a comment\n+1 qid:4 1:1 # and another\n"


def test_a_good_file(write):
    X, y = read_svmlight(write("good.svm", GOOD))
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 2], [0, 1e-3, 0], [1, 0, 0]])
    np.testing.assert_array_equal(y, [1, -1, 1])
    assert y.dtype == np.int64
    assert X.indices.dtype == X.indptr.dtype == np.int32


def test_fractional_labels_stay_fractional(write):
    y = read_svmlight(write("regression.svm", "0.5 1:1\n2 1:3\n"))[1]
    np.testing.assert_array_equal(y, [0.5, 2.0])


def test_n_features_widens(write):
    assert read_svmlight(write("good.svm", GOOD), n_features=7)[0].shape == (3, 7)
    assert read_svmlight(write("empty-rows.svm", "1\n-1\n"), n_features=2)[0].shape == (2, 2)


@pytest.mark.parametrize(
    ("content", "line", "column", "said"),
    [
        ("1 1:1\n1:2 2:3\n", 2, 1, "the label is missing: found '1:2'"),
        ("1 1:1\nabc 1:2\n", 2, 1, "the label 'abc' is not a number"),
        ("1 1:1\n\nnan 1:2\n", 3, 1, "the label must be finite"),
        ("1,2 1:1\n", 1, 1, "the label '1,2' is not a number"),
        ("1 1:1\n-1 1.5:2\n", 2, 4, "the index '1.5' is not a whole number"),
        ("1 1:1\n-1 x:2\n", 2, 4, "the index 'x' is not a whole number"),
        ("1 -3:1\n", 1, 3, "the index '-3' is not a whole number"),
        ("1 0:1 1:1\n", 1, 3, "indices count from 1"),
        ("1 1:1\n1 3:1  2:1\n", 2, 8, "found '2:1' after index 3: indices must increase"),
        ("1 1:1\n1 2:1 2:5\n", 2, 7, "index 2 occurs twice on this line"),
        ("1 1:1\n1 2:a\n", 2, 3, "the value 'a' is not a number"),
        ("1 1:1 2:\n", 1, 7, "the value '' is not a number"),
        ("1 1:2:3\n", 1, 3, "the value '2:3' is not a number"),
        ("1 1:1\n1 2:nan\n", 2, 3, "the value must be finite"),
        ("1 1:1\n1 2:-inf\n", 2, 3, "the value must be finite"),
        ("1 1:1e999\n", 1, 3, "the value must be finite"),
        ("1 qid:1 qid:2 1:1\n", 1, 9, "the index 'qid' is not a whole number"),
        ("1 1:1\n1 2:1 qid:3\n", 2, 7, "the index 'qid' is not a whole number"),  # it follows the label
        ("1 7\n", 1, 3, "found '7', expected 'index:value'"),
        ("1 3000000000:1\n", 1, 3, "the index is above the limit, 2147483647"),
        (f"1 {'9' * 5000}:1\n", 1, 3, "the index is above the limit"),
        ("-1 3:1 11:1\n-1 5:1 7", 2, 8, "found '7', expected 'index:value'"),  # a plain file cut short
        ("1 1:1\n1 1_0:2\n", 2, 3, "the index '1_0' is not a whole number"),
        ("1 1:1\n1 2:1_000 # a_b\n", 2, 3, "the value '1_000' is not a number"),
        ("1 1:1\n1_0 1:2\n", 2, 1, "the label '1_0' is not a number"),
    ],
)
def test_a_fault_is_named_by_file_line_and_column(content, line, column, said, write):
    path = write("broken.svm", content)
    with pytest.raises(DataFileError) as caught:
        read_svmlight(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: line {line}, column {column}: ")
    assert said in message


def test_an_underscore_may_occur_outside_numbers(write):
    X, y = read_svmlight(write("named.svm", "# rows_of_one\n1 qid:a_1 1:2 # row_1\n-1 2:1\n"))
    assert X.toarray().tolist() == [[2, 0], [0, 1]] and y.tolist() == [1, -1]


def test_an_index_above_n_features_is_named(write):
    with pytest.raises(DataFileError, match=r"wide.svm: line 2, column 4: found '3:1': .* limit, 2 features"):
        read_svmlight(write("wide.svm", "1 1:1\n-1 3:1\n"), n_features=2)


@pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n"])
def test_a_file_without_examples_is_refused(content, write):
    with pytest.raises(DataFileError, match="none.svm: the file holds no examples"):
        read_svmlight(write("none.svm", content))


def test_labels_without_any_feature_are_refused(write):
    with pytest.raises(DataFileError, match="bare.svm: the file holds labels but no features"):
        read_svmlight(write("bare.svm", "1\n-1\n"))


def test_faults_in_packed_files_are_named_too(write):
    path = write("broken.svm.gz", gzip.compress(b"1 1:1\n1 2:x\n"))
    with pytest.raises(DataFileError, match=r"broken.svm.gz: line 2, column 3"):
        read_svmlight(path)


def test_a_long_token_is_shown_cut(write):
    with pytest.raises(DataFileError) as caught:
        read_svmlight(write("long.svm", "y" * 10_000 + " 1:1\n"))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("n_features", [0, -1, 2.0, "3"])
def test_n_features_must_be_a_count(n_features, write):
    with pytest.raises(ValueError, match="n_features must be a positive integer"):
        read_svmlight(write("good.svm", GOOD), n_features=n_features)


def test_integer_labels_of_64_bits_stay_distinct(write):
    path = write("huge.svm", f"# head\n{2**53} 1:1\n\n+{2**53 + 1} 1:2 # one\n{-(2**63)} 2:1\n")
    assert read_svmlight(path)[1].tolist() == [2**53, 2**53 + 1, -(2**63)]
    with pytest.raises(DataFileError, match=f"the labels {2**63} and {2**63 + 1} are the same number in float64"):
        read_svmlight(write("huger.svm", f"{2**63} 1:1\n{2**63 + 1} 1:2\n"))


def test_a_token_is_shown_with_at_most_as_many_characters_as_asked_for():
    assert [shown("y" * n, limit=5) for n in (5, 6)] == ["'yyyyy'", "'yyyy…'"]
