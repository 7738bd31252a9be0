"""The command as a whole: help, names, errors, start-up."""

import os
import signal
import subprocess
import sys

import click
import pytest

from kernbench._version import __version__
from kernbench.cli import errors, main
from kernbench.cli.group import COMMANDS

SUBCOMMANDS = [(group, name) for group in COMMANDS for name in getattr(main.get_command(None, group), "commands", {})]


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS), *SUBCOMMANDS], ids=" ".join)
def test_every_help_has_examples(kernbench, words, option):
    result = kernbench(*words, option)
    assert result.exit_code == 0, result.output
    assert "Examples:\n" in result.stdout
    assert f"kernbench {words[0] if words else 'run'}" in result.stdout.split("Examples:")[1]


def test_overview_tells_what_each_command_is_for(kernbench):
    overview = kernbench("--help").stdout
    for name, (_, line) in COMMANDS.items():
        assert name in overview and line in overview
        assert main.get_command(None, name).name == name


@pytest.mark.parametrize("group", sorted({group for group, _ in SUBCOMMANDS}))
def test_an_overview_of_subcommands_has_whole_sentences(kernbench, group):
    lines = kernbench(group, "--help").stdout.partition("Commands:\n")[2].split("\n\n")[0].splitlines()
    assert len(lines) == sum(group == other for other, _ in SUBCOMMANDS)
    assert all(line.endswith(".") and not line.endswith("...") for line in lines), lines


def test_no_command_means_help(kernbench):
    """On standard error, with click's exit code of a usage error."""
    result = kernbench()
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr == kernbench("--help").stdout


def test_version(kernbench):
    assert kernbench("--version").stdout.strip() == f"kernbench {__version__}"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["lst"], "'list'"),
        (["list", "solver"], "'solvers'"),
        (["run", "sbp-libsv"], "'sbp-libsvm'"),
        (["run", "--scale", "papr"], "'paper'"),
        (["run", "--dry-run", "--dataset", "checkerbord"], "'checkerboard'"),
        (["run", "--dry-run", "--method", "libsv"], "'libsvm'"),
        (["run", "--scal", "quick"], "--scale"),  # without quotes before click 8.4
        (["data", "fetch", "adlt"], "'adult'"),
        (["data", "verfy"], "'verify'"),
        (["fit", "checkerbord"], "'checkerboard'"),
        (["fit", "moons", "--estimator", "kernlsvc"], "'kernelsvc'"),
        (["fit", "moons", "--set", "solvr=smo"], "'solver'"),
        (["fit", "moons", "--set", "solver=pegaso"], "'pegasos'"),
        (["fit", "moons", "--set", "kernel=rfb"], "'rbf'"),
    ],
    ids=" ".join,
)
def test_a_wrong_name_is_told_the_nearest(refused, arguments, hint):
    line = refused(*arguments)
    assert "did you mean" in line.lower() and hint in line


@pytest.mark.parametrize(
    "arguments", [["run", "--jobs", "0"], ["run", "--repeats", "x"], ["predict"], ["data", "fetch"]], ids=" ".join
)
def test_usage_errors_point_to_the_help(refused, arguments):
    assert f"see 'kernbench {arguments[0]}" in refused(*arguments)


@pytest.mark.parametrize("command", ["run", "snapshot"])
@pytest.mark.parametrize("number", ["x", "0", "1.5"])
def test_repeats_are_a_number_or_auto(refused, command, number):
    assert f"'{number}' is neither a positive integer nor 'auto'" in refused(command, "--repeats", number)


def a_command_that_raises(error):
    group = errors.Refusing("kernbench")

    @group.command("go")
    def go():
        raise error

    return group


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("two\nlines"), "two lines"),
        (MemoryError(), "not enough memory"),
        (MemoryError("2 GB"), "not enough memory: 2 GB"),
        (FileNotFoundError(2, "No such file or directory", "x.csv"), "x.csv: No such file or directory"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (ModuleNotFoundError("No module named 'x'"), "No module named 'x'"),
        (click.ClickException("bad"), "bad"),
    ],
)
def test_expected_failures_are_one_line_and_exit_code_2(error, words, capsys):
    with pytest.raises(SystemExit) as left:
        a_command_that_raises(error).main(["go"])
    assert left.value.code == 2
    assert capsys.readouterr().err == f"kernbench: error: {words}\n"


def test_our_own_mistakes_say_how_to_see_more(capsys, monkeypatch):
    with pytest.raises(SystemExit) as left:
        a_command_that_raises(KeyError("oops")).main(["go"])
    assert left.value.code == 1
    message = capsys.readouterr().err
    assert "internal error: KeyError" in message and errors.DEBUG_VARIABLE in message and "Traceback" not in message
    monkeypatch.setenv(errors.DEBUG_VARIABLE, "1")
    with pytest.raises(SystemExit):
        a_command_that_raises(KeyError("oops")).main(["go"])
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_is_exit_code_130(capsys):
    with pytest.raises(SystemExit) as left:
        a_command_that_raises(KeyboardInterrupt()).main(["go"])
    assert left.value.code == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_what_ends_a_command_is_told_as_ctrl_c_is(name):
    """So that temporary files are removed, as those of a report that is half written."""
    number, found = getattr(signal, name), []
    group = errors.Refusing("kernbench")
    group.command("go")(lambda: found.append(signal.getsignal(number)))
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit):
            group.main(["go"])
        assert found == [signal.default_int_handler] and signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--results", ""),
        ("run", "--data", ""),
        ("snapshot", "--earlier", ""),
        ("report", "--out", ""),
        ("compare", "results", ""),
        ("results", "clean", "--results", ""),
        ("doctor", "--results", ""),
        ("new", "solver", "mine", "--folder", ""),
    ],
    ids=" ".join,
)
def test_an_empty_path_is_not_the_current_folder(refused, arguments):
    assert "the path is empty" in refused(*arguments)


def test_an_end_of_file_is_no_ctrl_c(capsys):
    with pytest.raises(SystemExit) as left:
        a_command_that_raises(EOFError("Ran out of input")).main(["go"])
    assert left.value.code == 1
    message = capsys.readouterr().err
    assert "internal error: EOFError: Ran out of input" in message and "interrupted" not in message


def test_python_dash_m_is_the_command():
    done = subprocess.run([sys.executable, "-P", "-m", "kernbench", "lst"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("kernbench: error: unknown command 'lst'") and done.stdout == ""


def test_help_does_not_wait_for_heavy_libraries():
    code = (
        "import sys, kernbench.cli as c\n"
        "try: c.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('scipy', 'sklearn', 'matplotlib', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip().endswith("[]")


@pytest.mark.parametrize("terminal", [{"PYTHONIOENCODING": "latin-1"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_a_terminal_without_the_characters_gets_them_escaped(terminal, monkeypatch):
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)  # it would override the locale
    command = [sys.executable, "-P", "-m", "kernbench", "list", "experiments"]
    environment = {**os.environ, **terminal}
    done = subprocess.run(command, capture_output=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert b"\\u03b3" in done.stdout


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_process_without_standard_output_does_its_work(moons, tmp_path, monkeypatch):
    """As of a service: its progress bar and its predictions go nowhere, and its model is saved."""
    model = tmp_path / "model.npz"
    for arguments in (["fit", tmp_path / "train.svm", "--out", model], ["predict", model, tmp_path / "bare.csv"]):
        monkeypatch.setattr(sys, "stdout", None)
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        assert end.value.code == 0


@pytest.fixture
def command_lines(kernbench, moons, monkeypatch):
    """Command lines that write to standard output: by click at once, and predictions that fit into its buffer."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    kernbench("fit", "train.svm", "--out", "m.npz")
    return [["predict", "m.npz", "bare.csv"], ["list", "solvers"], ["--help"]]


def end_of(words, output):
    """Return the exit code of a command in its own process, and what it wrote to standard error."""
    command = [sys.executable, "-P", "-m", "kernbench", *words]
    done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is full")
def test_a_full_disk_at_standard_output_is_one_line(command_lines):
    """Python would write its own at exit, and change the exit code, as long as it has bytes left to write."""
    for words in command_lines:
        with open("/dev/full", "w") as full:
            assert end_of(words, full) == (2, "kernbench: error: No space left on device\n"), words


@pytest.mark.skipif(os.name == "nt", reason="a closed pipe is another error on Windows")
def test_a_closed_pipe_ends_a_command_in_silence(command_lines):
    for words in command_lines:
        reader, writer = os.pipe()
        os.close(reader)
        try:
            assert end_of(words, writer) == (1, ""), words
        finally:
            os.close(writer)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is full")
def test_what_a_command_leaves_in_the_buffer_is_written_before_the_end(capsys, monkeypatch):
    group = errors.Refusing("kernbench")
    group.command("go")(lambda: print("short"))
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as left:
            group.main(["go"])
    assert left.value.code == 2
    assert capsys.readouterr().err == "kernbench: error: No space left on device\n"
