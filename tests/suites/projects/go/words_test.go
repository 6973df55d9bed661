package words

import (
	"strings"
	"testing"
)

func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("to be or not to be ", 100)
	for i := 0; i < b.N; i++ {
		Count(text)
	}
}
