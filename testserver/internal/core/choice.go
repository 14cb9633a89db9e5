package core

import (
	"fmt"
	"slices"
	"strings"
)

// Choose sets a choice to the number of a name, for settings in JSON.
func Choose[T ~uint8](choice *T, name []byte, names ...string) error {
	i := slices.Index(names, string(name))
	if i < 0 {
		return fmt.Errorf("%q is not one of %s", name, strings.Join(names, ", "))
	}
	*choice = T(i)
	return nil
}
