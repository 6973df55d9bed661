package tools

import (
	"fmt"
	"testing"

	"example.com/dep"
)

var sink int

func BenchmarkVendored(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += dep.Twice(i)
	}
}

func BenchmarkMore(b *testing.B) {
	b.Run("prints", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			fmt.Println("here")
		}
	})
}
