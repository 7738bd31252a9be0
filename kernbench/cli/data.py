"""``kernbench data``: the files of data sets."""

import click

from kernbench.cli.errors import Refusing


@click.group("data", cls=Refusing, invoke_without_command=True)
@click.pass_context
def command(ctx):
    """List data sets, fetch their files, show where they are looked for, verify them.

    Real sets are looked for in the folder that the environment variable KERNBENCH_DATA names, then in the
    cache folder, then downloaded. Generated and bundled sets need no file.

    \b
    Examples:
      kernbench data                   the list
      kernbench data fetch adult       download unless present
      kernbench data path              the folders that are searched
      kernbench data verify            hash every file and compare
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_command)


@command.command("list")
def list_command():
    """List the data sets, and whether their files are present.

    \b
    Examples:
      kernbench data list
    """
    from kernbench.cli.listing import datasets

    datasets()


@command.command("fetch")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def fetch_command(names):
    """Download the files of a data set unless they are present.

    \b
    Examples:
      kernbench data fetch adult
      kernbench data fetch adult mnist-8-vs-rest
    """
    from kernbench.cli.console import stderr
    from kernbench.datasets import describe, fetch

    for name in names:
        describe(name)  # raises for an unknown name before anything is downloaded
    for name in names:
        with stderr().status(f"fetching {name}"):
            paths = fetch(name)
        for path in paths:
            click.echo(f"{name}: {path}")
        if not paths:
            click.echo(f"{name}: needs no file ({describe(name).kind})")


@command.command("path", short_help="Print the folders that are searched for files.")
def path_command():
    """Print the folders that are searched for files, in order; downloads go to the last.

    \b
    Examples:
      kernbench data path
      KERNBENCH_DATA=~/datasets kernbench data path
    """
    from kernbench.datasets.files.folders import search_folders

    for folder in search_folders():
        click.echo(f"{folder}{'' if folder.is_dir() else '  (does not exist yet)'}")


@command.command("verify")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.pass_context
def verify_command(ctx, names):
    """Compare the files that are present with the published checksums.

    Missing files are listed, which is not an error; the exit code is 2 if a file is damaged or not the published one.

    \b
    Examples:
      kernbench data verify
      kernbench data verify adult
    """
    from kernbench.cli.console import stderr
    from kernbench.datasets import verify

    with stderr().status("hashing files"):
        statuses = verify(list(names) or None)
    set_width = max((len(status.dataset) for status in statuses), default=0)
    name_width = max((len(status.name) for status in statuses), default=0)
    bad = set()  # files, of which several sets may have the same
    for status in statuses:
        where = f"  {status.path}" if status.path is not None else ""
        click.echo(f"{status.dataset:<{set_width}}  {status.name:<{name_width}}  {status.status}{where}")
        if status.status not in ("ok", "missing"):
            bad.add(status.name)
            click.echo(f"    SHA-256 expected {status.expected}\n    SHA-256 found    {status.found or 'none'}")
    if not statuses:
        click.echo("no files to verify: these data sets need none")
    if bad:
        found = f"{len(bad)} of {len({status.name for status in statuses})} files are not the published ones"
        click.echo(f"kernbench: error: {found}; remove these and fetch them again", err=True)
        ctx.exit(2)
