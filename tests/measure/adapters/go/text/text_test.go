package text

import (
	"os"
	"strings"
	"testing"
)

var text = strings.Repeat("The quick brown Fox jumps over the lazy Dog ", 50)
var sink interface{}

func TestMain(m *testing.M) {
	os.Setenv("SET_BY_MAIN", "yes")
	os.Exit(m.Run())
}

func BenchmarkChecksum(b *testing.B) {
	data := []byte(text)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		sink = Checksum(data)
	}
}

func BenchmarkSlug(b *testing.B) {
	if os.Getenv("SET_BY_MAIN") != "yes" {
		b.Fatal("TestMain did not run")
	}
	for _, name := range []string{"short", "long one"} {
		s := map[string]string{"short": "Hello World", "long one": text}[name]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				sink = Slug(s)
			}
		})
	}
}

func BenchmarkFails(b *testing.B) {
	if b.N > 1 {
		b.Fatal("it is broken")
	}
}

func BenchmarkSkipped(b *testing.B) {
	b.Skip("not here")
}

func BenchmarkPanics(b *testing.B) {
	if b.N > 1 {
		panic("what now")
	}
}
