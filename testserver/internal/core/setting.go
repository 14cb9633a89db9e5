package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Merged returns a new map with the texts of both; those of second replace those of first.
func Merged[M ~map[string]string](first, second M) M {
	all := make(M, len(first)+len(second))
	maps.Copy(all, first)
	maps.Copy(all, second)
	return all
}

// Choose sets a choice to the number of a name, for settings in JSON.
func Choose[T ~uint8](choice *T, name []byte, names ...string) error {
	i := slices.Index(names, string(name))
	if i < 0 {
		return fmt.Errorf("%q is not one of %s", name, strings.Join(names, ", "))
	}
	*choice = T(i)
	return nil
}
