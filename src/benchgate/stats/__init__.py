"""Pure statistics: floats in, frozen results out, doubts as data in the result.

Functions that decide work on many benchmarks at once: they take arrays of shape (m, n), one row per
benchmark, and return arrays of shape (m,). Functions that describe take one sample of shape (n,),
or the launches of one benchmark as a sequence of such arrays, and return plain numbers. If a number
does not exist, they return None, with a note that says why. No function returns NaN or warns on the
console.
"""
