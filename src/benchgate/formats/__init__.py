"""Reads what other benchmark tools write; one module for each format.

A format is a module with four names:

    NAME                what people call it, and what `--format` accepts
    ADVICE              how to get the best input from the tool
    sniff(source)       whether the content looks like this format; cheap, and never an error
    parse(source)       the benchmarks in it; FormatError if the file as a whole is broken

`registry` lists them. A benchmark that cannot be read is a failed row, and the others are kept.
"""
