"""Errors of the command line: one line on standard error and exit code 2 instead of a traceback."""

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from kernbench._interrupts import ended_as_by_ctrl_c
from kernbench._names import printable

DEBUG_VARIABLE = "KERNBENCH_DEBUG_TRACEBACK"
REFUSED, INTERRUPTED, INTERNAL = 2, 130, 1

# What wrong input, missing files, full disks and lack of memory raise. Anything else is an internal error.
EXPECTED = (ValueError, OSError, MemoryError, ImportError)


def one_line(error):
    """Return the message of an exception on one line."""
    if isinstance(error, click.UsageError):
        text = error.format_message()
        if error.ctx is not None:
            text = f"{text.rstrip('.')} (see '{error.ctx.command_path} --help')"
    elif isinstance(error, click.ClickException):
        text = error.format_message()
    elif isinstance(error, MemoryError):
        text = f"not enough memory: {error}" if str(error) else "not enough memory"
    elif isinstance(error, OSError) and error.strerror:
        text = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    else:
        text = str(error) or type(error).__name__
    return printable(" ".join(text.split()))


def report_error(error):
    """Print an exception as ``kernbench: error: …`` and return the exit code."""
    if os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0"):
        import traceback

        traceback.print_exception(error)
    expected = isinstance(error, (click.ClickException, *EXPECTED))
    step, is_last = _step_in_plugin(error)
    if step is not None and (is_last or not expected):
        name = Path(step.filename).name
        said = f"it raised {type(error).__name__}: {one_line(error)} ({name}:{step.lineno}, in {step.name})"
        click.echo(f"kernbench: error: plug-in {name}: {said}", err=True)
        return REFUSED
    if expected:
        click.echo(f"kernbench: error: {one_line(error)}", err=True)
        return REFUSED
    click.echo(
        f"kernbench: internal error: {type(error).__name__}: {one_line(error)} "
        f"(please report it; {DEBUG_VARIABLE}=1 shows where)",
        err=True,
    )
    return INTERNAL


def _step_in_plugin(error):
    """Return the last step of an exception in a plug-in, or None, and whether it was raised there."""
    plugins = sys.modules.get("kernbench.experiments.plugins")  # where nothing has imported it, no plug-in is loaded
    return (None, False) if plugins is None else plugins.step_in(error)


def _flushed(code):
    """Write what standard output still holds, so that Python need not at exit; return the exit code.

    On a full disk or a closed pipe Python would print an error of its own, and exit with code 120.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        if error.errno == errno.EPIPE:
            code = code or 1  # in silence, as click does
        elif code == 0:  # else the error has been reported
            code = report_error(error)
        with suppress(OSError):  # a stream without a descriptor
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what the stream still holds
    return code


class Refusing(click.Group):
    """A group whose commands report errors as this module does."""

    def main(self, args=None, prog_name=None, complete_var=None, standalone_mode=True, **extra):
        """Run a command; in standalone mode exit with its code."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # a process started without it
                setattr(sys, name, open(os.devnull, "w"))
        with suppress(AttributeError):  # a stream of another kind
            if sys.stdout.errors in ("strict", "surrogateescape"):  # the second in the locale C
                # In a locale without "✓" it is escaped, as on standard error.
                sys.stdout.reconfigure(errors="backslashreplace")
        try:
            with ended_as_by_ctrl_c():
                code = super().main(args, prog_name or "kernbench", complete_var, standalone_mode=False, **extra)
        except click.exceptions.NoArgsIsHelpError as request:
            request.show()  # a group without a command: its help, on standard error
            code = request.exit_code
        except click.Abort as abort:
            if isinstance(abort.__cause__, EOFError):  # no command asks for input: it is not the end of that
                code = report_error(abort.__cause__)
            else:
                click.echo("kernbench: interrupted", err=True)
                code = INTERRUPTED
        except Exception as error:
            code = report_error(error)
        sys.exit(_flushed(code if isinstance(code, int) else 0))

    def resolve_command(self, ctx, args):
        """Find the command; raise UsageError, which suggests the nearest name, if there is none."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            from kernbench._names import unknown_name

            raise click.UsageError(unknown_name("command", name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)
