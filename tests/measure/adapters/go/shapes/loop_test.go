//go:build go1.24

package shapes_test

import (
	"testing"

	"example.com/text/text"
)

func BenchmarkLoop(b *testing.B) {
	long := make([]byte, 1_000_000)
	for b.Loop() {
		b.StopTimer()
		text.Checksum(long)
		b.StartTimer()
		text.Checksum(data)
	}
}
