"""Tables: delimiters, headers, label columns, and the messages for broken files."""

import gzip

import numpy as np
import pytest

from kernbench.datasets import DataFileError, read_csv

X = [[1.5, -2.0], [3.0, 4e2]]


@pytest.mark.parametrize(
    "content",
    [
        "1.5,-2,7\n3,4e2,8\n",
        "1.5;-2;7\n3;4e2;8\n",
        "1.5\t-2\t7\n3\t4e2\t8\n",
        "1.5|-2|7\n3|4e2|8\n",
        "1.5 -2 7\n3   4e2  8\n",
        " 1.5 , -2, 7 \n3,4e2,8",
        "a,b,y\n1.5,-2,7\n3,4e2,8\n",
        '"a 1";"b,2";"y"\n1.5;-2;7\n"3";4e2;8\n',
        "\ufeffa,b,y\r\n1.5,-2,7\r\n\r\n3,4e2,8\r\n",
        "\n\na,b,y\n\n1.5,-2,7\n\n3,4e2,8\n\n",
        ",b,y\n1.5,-2,7\n3,4e2,8\n",
    ],
)
def test_layouts_are_recognised(content, write):
    features, labels = read_csv(write("table.csv", content))
    np.testing.assert_array_equal(features, X)
    np.testing.assert_array_equal(labels, [7, 8])
    assert features.dtype == np.float64
    assert labels.dtype == np.int64


@pytest.mark.parametrize("label", [1, -2, "y"])
def test_the_label_column_is_chosen_by_position_or_name(label, write):
    features, labels = read_csv(write("table.csv", "a,y,b\n1.5,no,-2\n3,yes,4e2\n"), label=label)
    np.testing.assert_array_equal(features, X)
    assert labels.tolist() == ["no", "yes"]


def test_a_table_of_features_only(write):
    features, labels = read_csv(write("table.csv", "1.5,-2\n3,4e2\n"), label=None)
    np.testing.assert_array_equal(features, X)
    assert labels is None


def test_text_labels_come_back_as_text_without_a_header(write):
    features, labels = read_csv(write("table.csv", '1.5,-2,g\n3,4e2," h"\n'))
    np.testing.assert_array_equal(features, X)
    assert labels.tolist() == ["g", "h"]


def test_fractional_labels_stay_fractional(write):
    assert read_csv(write("table.csv", "1,0.5\n2,1\n"))[1].tolist() == [0.5, 1.0]


def test_a_header_of_numbers_must_be_declared(write):
    path = write("table.csv", "0,1,2\n1.5,-2,7\n3,4e2,8\n")
    assert read_csv(path)[0].shape == (3, 2)
    np.testing.assert_array_equal(read_csv(path, header=True)[0], X)


def test_a_given_delimiter_is_used(write):
    np.testing.assert_array_equal(read_csv(write("table.txt", "1.5:-2:7\n3:4e2:8\n"), delimiter=":")[0], X)


@pytest.mark.parametrize(
    ("content", "line", "column", "said"),
    [
        ("1,2,1\n3,x,1\n5,6,1\n", 2, "2", "found 'x', expected a number"),
        ("a,b,y\n1,2,1\n\n3,x,1\n", 4, "2 ('b')", "found 'x', expected a number"),
        ("1,x,1\n3,4,1\n", 1, "2", "if the first line is a header, set header=True"),
        ("1,2,1\n3,nan,1\n", 2, "2", "found 'nan', expected a finite number"),
        ("1,2,1\n3,4,1\n-inf,4,1\n", 3, "1", "found '-inf', expected a finite number"),
        ("1,2,1\n3,,1\n", 2, "2", "found an empty field"),
        (",2,1\n3,4,1\n", 1, "1", "found an empty field"),
        ("1,2,1\n3,1_000,1\n5,6,1\n", 2, "2", "found '1_000'"),
        ("a;b;y\n1;2;1\n3;4,5;1\n", 3, "2 ('b')", "write decimals with a point"),
        ('a,b,y\n1,2,1\n3,"1,234,567",1\n', 3, "2 ('b')", "thousands without a comma"),
        ("a,b,y\n1,2,1\n3,NA,1\n5,6,1\n", 3, "2 ('b')", "found 'NA', expected a number; fill in missing values first"),
        ("a,b,y\n1,2,1\n3,?,1\n5,6,1\n", 3, "2 ('b')", "found '?', expected a number; fill in missing values first"),
        ("1,2,1\n3,4,\n", 2, "3", "the label is missing"),
        ("1,2,a\n3,4,\n", 2, "3", "the label is missing"),
        ("1,2,1\n3,4,b\n", 2, "3", "found the label 'b'; the first label is a number, this one is text"),
        ("1,2,b\n3,4,1\n", 2, "3", "found the label '1'; the first label is text, this one is a number"),
        ("1,2,1\n3,4,nan\n", 2, "3", "labels must be finite"),
        ('1,2,a\n3,4,"b\n5,6,c\n', 2, "3", "the quote is not closed on its line"),
        ("1,2,1\n3,\0,1\n", 2, "2", "found '\\x00'"),
        (f'1,{"2," * 70_000}1\n3,"{"4," * 70_000}1\n', 2, "2", f"found '{'4,' * 19}4…': the quote is"),
        (f'{"a," * 70_001}y\n3,"{"4," * 70_000}1\n', 2, "2 ('a')", f"found '{'4,' * 19}4…': the quote is"),
        ("\0\1,2\n", 1, "1", "a binary file; expected text"),
        (b"1,2,1\n3,\xe9,1\n", 2, "3", "found the byte 0xe9, expected UTF-8 text"),
        ("1 2 1\n3 x 1\n5 6 1\n", 2, "2", "found 'x', expected a number"),
        (f"1,2,1\n3,{'x' * 200_000},1\n5,6,1\n", 2, "2", f"found '{'x' * 39}…', expected a number"),
        (f"{'x' * 200_000},2,1\n3,4,1\n", 1, "1", f"found '{'x' * 39}…', expected a number"),
    ],
)
def test_a_fault_is_named_by_file_line_and_column(content, line, column, said, write):
    path = write("broken.csv", content)
    with pytest.raises(DataFileError) as caught:
        read_csv(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: line {line}, column {column}: ")
    assert said in message


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("1,2,1\n3,4,1\n5,6\n", 3, "found 2 fields, expected 3 as in the first line"),
        ("1,2,1\n3,4,1,9\n", 2, "found 4 fields, expected 3 as in the first line"),
        ("a,b,y\n1,2,1,9\n", 2, "found 4 fields, expected 3 as in the header (if lines begin with row names"),
        ("a,b,y\n1,2,x\n3,y\n", 3, "found 2 fields, expected 3 as in the header"),
        ("1 2 1\n3 4\n", 2, "found 2 fields, expected 3 as in the first line"),
        ("a,b,y\n", 1, "found a header but no examples"),
        ("1\n2\n", 1, "found one column, '1'; expected features beside the label"),
    ],
)
def test_a_line_of_another_length_is_named(content, line, said, write):
    path = write("broken.csv", content)
    with pytest.raises(DataFileError) as caught:
        read_csv(path)
    assert str(caught.value).startswith(f"{path}: line {line}: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("content", ["", "\n  \n"])
def test_an_empty_file_is_refused(content, write):
    with pytest.raises(DataFileError, match="empty.csv: the file is empty"):
        read_csv(write("empty.csv", content))


def test_columns_of_categories_are_all_named_with_advice(write):
    rows = "".join(f"{age},{'single' if age % 2 else 'married'},{age},blue,no\n" for age in range(20, 60))
    path = write("bank.csv", "age,marital,balance,job,y\n" + rows)
    with pytest.raises(DataFileError) as caught:
        read_csv(path)
    message = str(caught.value)
    assert "line 2, column 2 ('marital'): found 'married', expected a number" in message
    assert "columns 2 ('marital'), 4 ('job') hold text" in message
    assert "OneHotEncoder" in message
    assert message.endswith("or name it if it is that of the labels")


def test_a_single_misprint_is_not_called_a_category(write):
    path = write("misprint.csv", "1,2,1\n3,1x,1\n5,6,1\n7,8,1\n")
    with pytest.raises(DataFileError, match="line 2, column 2: found '1x', expected a number$"):
        read_csv(path)


def test_an_unknown_label_column_is_answered_with_the_nearest(write):
    path = write("table.csv", "age,income,target\n1,2,3\n")
    with pytest.raises(ValueError, match="table.csv: unknown column 'targt'; did you mean 'target'?"):
        read_csv(path, label="targt")
    with pytest.raises(ValueError, match="table.csv: there is no column 3; the first line has 3 columns"):
        read_csv(path, label=3)


def test_a_label_column_whose_name_occurs_twice_is_chosen_by_position(write):
    path = write("table.csv", "y,x,y\n1,2,3\n")
    with pytest.raises(ValueError, match="table.csv: column 'y' occurs 2 times: give its position"):
        read_csv(path, label="y")
    assert read_csv(path, label=2)[1].tolist() == [3]
    assert read_csv(path, label="x")[1].tolist() == [2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"delimiter": ";;"}, "delimiter must be None or one character"),
        ({"delimiter": '"'}, "delimiter must be None or one character"),
        ({"header": "maybe"}, "header must be 'auto', True or False"),
        ({"label": 1.5}, "label must be a column's position or name, or None"),
    ],
)
def test_wrong_arguments_are_refused(options, said, write):
    with pytest.raises(ValueError, match=said):
        read_csv(write("table.csv", "1,2,3\n"), **options)


def test_faults_in_packed_files_are_named_too(write):
    with pytest.raises(DataFileError, match=r"broken.csv.gz: line 2, column 1: found 'x'"):
        read_csv(write("broken.csv.gz", gzip.compress(b"1,2\nx,3\n4,5\n")))


HUGE = [2**53, 2**53 + 1, -(2**63), 2**63 - 1, 0]


@pytest.mark.parametrize("delimiter", [",", " "])
def test_integer_labels_of_64_bits_stay_distinct(delimiter, write):
    lines = ["x,label", *(f'{k},"+{label}"' if label == 2**53 else f"{k},{label}" for k, label in enumerate(HUGE)), ""]
    text = "\n".join(lines).replace(",", delimiter)
    y = read_csv(write("table.csv", text if delimiter == "," else text.replace('"', "")))[1]
    assert y.dtype == np.int64 and y.tolist() == HUGE


@pytest.mark.parametrize("more", ["1e19", "0.5", str(2**63)])
def test_integer_labels_that_float64_merges_are_refused(more, write):
    message = f"the labels {2**53} and {2**53 + 1} are the same number in float64"
    with pytest.raises(DataFileError, match=message):
        read_csv(write("table.csv", f"1,{2**53}\n2,{2**53 + 1}\n3,{more}\n"))
    y = read_csv(write("targets.csv", f"1,{2**53}.0\n2,{2**53 + 1}.0\n3,{more}\n"))[1]
    assert y.dtype == np.float64 and y.tolist() == [2.0**53, 2.0**53, float(more)]


def test_a_label_has_no_name_where_the_first_line_is_no_header(write):
    with pytest.raises(ValueError, match="unknown column 'y'"):
        read_csv(write("table.csv", "1,y\n2,y\n"), label="y", header=False)


def test_a_first_line_of_empty_fields_is_no_header(write):
    with pytest.raises(DataFileError, match="line 1, column 1: found an empty field"):
        read_csv(write("table.csv", ",,1\n1,2,3\n"))
