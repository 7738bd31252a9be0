"""The page: the content on each experiment, and its layout.

::

    displays.py     each kind of declared display → the function that makes it
    sections.py     the content on one experiment at one scale
    provenance.py   where the numbers come from
    commands.py     … and the commands that make them again
    gaps.py         what is missing
    page.py         HTML and Markdown, by templates/
    folder.py       files, whole or not at all
"""
