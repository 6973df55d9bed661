"""Pure statistics: arrays in, frozen arrays out. Rows are benchmarks, columns launches."""
