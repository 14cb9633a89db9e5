package typed

import "strings"

// Nearest returns the one of names that a misspelt name probably means: the only one with that
// prefix, or else the one with the fewest typing mistakes, at most two. It returns "" if there is
// no such name.
func Nearest(name string, names []string) string {
	longer := ""
	for _, n := range names {
		if strings.HasPrefix(n, name) && len(name) > 2 {
			if longer != "" {
				longer = ""
				break
			}
			longer = n
		}
	}
	if longer != "" {
		return longer
	}
	best, least := "", min(len(name)/2, 3)
	for _, n := range names {
		if d := mistakes(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// NearestShort is [Nearest] for names that are short and few, where one mistake in three letters is enough,
// and in two letters only that they are swapped. Of several names, the one with the same first letter is
// meant.
func NearestShort(name string, names []string) string {
	near := Nearest(name, names)
	if near != "" || len(name) < 2 {
		return near
	}
	for _, n := range names {
		isNear := len(name) > 2 && mistakes(name, n) == 1 || len(name) == 2 && len(n) == 2 && name[0] == n[1] && name[1] == n[0]
		if isNear && (near == "" || n[0] == name[0] && near[0] != name[0]) {
			near = n
		}
	}
	return near
}

// mistakes returns the number of bytes that must be inserted, deleted, replaced or swapped with
// the next byte to change a into b.
func mistakes(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			changed := last[j]
			if a[i] != b[j] {
				changed++
			}
			row[j+1] = min(changed, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
