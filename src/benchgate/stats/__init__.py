"""Pure statistics: floats in, frozen results out, doubts as data beside the result.

What decides works on many benchmarks at once: arrays of shape (m, n), a row each, in, and arrays
of shape (m,) out. What describes works on one sample of shape (n,), or on the launches of one
benchmark as a sequence of such arrays, and gives plain numbers: None, with a note that says why,
where a number does not exist. Nothing returns NaN, and nothing warns on the console.
"""
