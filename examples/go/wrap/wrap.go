// Package wrap breaks text into lines.
package wrap

import "strings"

// Wrap breaks text into lines of at most width bytes, where there are words that fit.
func Wrap(text string, width int) string {
	var out strings.Builder
	used := 0
	for _, word := range strings.Fields(text) {
		switch {
		case used == 0:
		case used+1+len(word) > width:
			out.WriteByte('\n')
			used = 0
		default:
			out.WriteByte(' ')
			used++
		}
		out.WriteString(word)
		used += len(word)
	}
	return out.String()
}

// Indent puts a prefix before each line.
func Indent(text, prefix string) string {
	return prefix + strings.ReplaceAll(text, "\n", "\n"+prefix)
}
