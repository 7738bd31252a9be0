"""The page: what is said about each experiment, and how it is laid out.

::

    displays.py     each kind of declared display → the function that makes it
    sections.py     all that is said about one experiment at one scale
    provenance.py   where the numbers come from, and the command that makes them again
    page.py         HTML and Markdown, by templates/
    folder.py       files, whole or not at all
"""
