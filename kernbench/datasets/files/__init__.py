"""Files of published sets: found, downloaded, verified.

* `folders`: where files are looked for; `remote`: a published file and its addresses;
* `download`: through pooch, into the cache folder; `checksums`: of decompressed content;
* `locate`: find or download the files of a set, and verify them.
"""
