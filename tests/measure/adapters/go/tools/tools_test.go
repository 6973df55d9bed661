package tools

import (
	"testing"

	"example.com/dep"
)

var sink int

func BenchmarkVendored(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += dep.Twice(i)
	}
}
