package shapes_test

import (
	"os"
	"runtime"
	"testing"

	"example.com/text/text"
)

var data = []byte("The quick brown Fox jumps over the lazy Dog")
var sink interface{}

func sum(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = text.Checksum(data)
	}
}

func BenchmarkParallel(b *testing.B) {
	b.SetParallelism(4)
	b.SetBytes(int64(len(data)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			text.Checksum(data)
		}
	})
	b.ReportMetric(1, "things/op")
}

func BenchmarkStops(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		text.Slug(string(data))
		b.StartTimer()
		for j := 0; j < 50; j++ {
			text.Checksum(data)
		}
		sink = text.Checksum(data)
	}
}

func BenchmarkCleans(b *testing.B) {
	b.Setenv("SHAPES", "1")
	name := b.TempDir() + "/file"
	b.Cleanup(func() { os.Remove(name) })
	if err := os.WriteFile(name, data, 0o600); err != nil {
		b.Fatal(err)
	}
	sum(b)
}

func BenchmarkTable(b *testing.B) {
	for _, name := range []string{"twice", "twice", "a/b \"c\"\\é", ""} {
		b.Run(name, sum)
	}
}

func BenchmarkSkipsLater(b *testing.B) {
	if b.N > 1 {
		b.Skip("enough")
	}
}

func BenchmarkFixed(b *testing.B) {
	for i := 0; i < 3; i++ {
		sink = text.Checksum(data)
	}
}

// Garbage is collected between samples, not in one, and does not pile up.
func BenchmarkGarbage(b *testing.B) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := 0; i < b.N; i++ {
		sink = make([]byte, 1000)
	}
	runtime.ReadMemStats(&after)
	if b.N < 8000 && after.NumGC > before.NumGC {
		b.Fatal("garbage was collected in a sample")
	}
	if before.HeapAlloc > 32<<20 {
		b.Fatal("garbage piles up")
	}
}
