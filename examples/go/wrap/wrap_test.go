package wrap

import (
	"fmt"
	"strings"
	"testing"
)

const sentence = "the quick brown fox jumps over the lazy dog "

func TestWrap(t *testing.T) {
	if got := Wrap("one two three", 7); got != "one two\nthree" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkWrap(b *testing.B) {
	for _, sentences := range []int{10, 200} {
		text := strings.Repeat(sentence, sentences)
		b.Run(fmt.Sprintf("sentences=%d", sentences), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				Wrap(text, 72)
			}
		})
	}
}

func BenchmarkIndent(b *testing.B) {
	text := strings.Repeat(sentence+"\n", 100)
	for i := 0; i < b.N; i++ {
		Indent(text, "> ")
	}
}
