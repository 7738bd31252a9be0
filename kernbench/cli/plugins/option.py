"""The option ``--plugin``: solvers and experiments of the user's own."""

import click

PATHS = "plug-ins"  # where the context keeps the paths as given


def _load(ctx, parameter, paths):
    if paths:
        from kernbench.experiments import plugins

        for path in paths:
            plugins.load(path)
        ctx.meta[PATHS] = paths


# The files are loaded when the option is read, before any name is looked up.
PLUGIN = click.option(
    "--plugin",
    metavar="FILE",
    multiple=True,
    expose_value=False,
    is_eager=True,
    callback=_load,
    help="A file with solvers or experiments of your own ('kernbench new' writes one); may be repeated.",
)
