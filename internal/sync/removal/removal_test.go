package removal

import (
	"errors"
	"maps"
	"testing"
)

func TestNearest(t *testing.T) {
	for name, test := range map[string]struct {
		folders []Contents // by depth, from the top
		n       int
		isEmpty bool
	}{
		"its folder has files":         {[]Contents{Files, Files, Files}, 2, false},
		"its folder has nothing":       {[]Contents{Files, Files, Nothing}, 2, true},
		"its folder has folders":       {[]Contents{Files, Files, OnlyFolders}, 2, true},
		"the one above has files":      {[]Contents{Files, Files, Unknown}, 1, false},
		"the one above has folders":    {[]Contents{Files, OnlyFolders, Unknown}, 1, false},
		"the one above has nothing":    {[]Contents{Files, Nothing, Unknown}, 1, true},
		"nothing is left":              {[]Contents{Nothing, Unknown, Unknown}, 0, true},
		"the top was not listed":       {[]Contents{Unknown, Unknown, Unknown}, 0, false},
		"a file of the top":            {[]Contents{OnlyFolders}, 0, true},
		"a file of a top with a file":  {[]Contents{Files}, 0, false},
		"a file of a top, not listed":  {[]Contents{Unknown}, 0, false},
		"only the top, and folders":    {[]Contents{OnlyFolders, Unknown}, 0, false},
		"a folder between is unlisted": {[]Contents{Files, Unknown, Nothing}, 2, true},
	} {
		n, isEmpty := Nearest(len(test.folders)-1, func(n int) Contents { return test.folders[n] })
		if n != test.n || isEmpty != test.isEmpty {
			t.Errorf("%s: %d, %v; want %d, %v", name, n, isEmpty, test.n, test.isEmpty)
		}
	}
}

func TestDecide(t *testing.T) {
	for name, test := range map[string]struct {
		limit, files int
		full, empty  int // files that are gone in a folder that has others, and in one that has none
		all          bool
		kept         int
	}{
		"none is gone":                  {0, 20, 0, 0, false, 0},
		"half":                          {0, 20, 10, 0, false, 0},
		"more than half":                {0, 20, 11, 0, true, 0},
		"all of a few":                  {0, 10, 10, 0, false, 0},
		"all of more":                   {0, 11, 11, 0, true, 0},
		"of an empty folder":            {0, 20, 0, 20, false, 20},
		"half besides an empty folder":  {0, 20, 10, 10, false, 10},
		"more besides an empty folder":  {0, 20, 11, 9, true, 9},
		"few files of an empty folder":  {0, 3, 0, 3, false, 3},
		"the limit":                     {5, 20, 3, 2, false, 0},
		"more than the limit":           {5, 20, 6, 0, true, 0},
		"more, with an empty folder":    {5, 20, 3, 3, true, 0},
		"a limit above the half":        {15, 20, 15, 0, false, 0},
		"without a limit":               {-1, 20, 20, 0, false, 0},
		"without a limit, empty folder": {-1, 20, 0, 20, false, 0},
	} {
		d := Decide(test.limit, test.files, func(yield func(string, bool) bool) {
			for i := range test.full + test.empty {
				if isEmpty := i >= test.full; !yield(map[bool]string{true: "empty", false: "full"}[isEmpty], isEmpty) {
					return
				}
			}
		})
		emptied := make(map[string]int)
		if test.kept > 0 {
			emptied["empty"] = test.kept
		}
		if d.All != test.all || d.Kept != test.kept || !maps.Equal(d.Emptied, emptied) {
			t.Errorf("%s: %+v", name, d)
		}
		if d.Keeps(false) != test.all || d.Keeps(true) != (test.all || test.kept > 0) || d.KeepsSome() != d.Keeps(true) {
			t.Errorf("%s: keeps a file of a folder with others %v, of an empty one %v", name, d.Keeps(false), d.Keeps(true))
		}
	}
}

func TestRefuse(t *testing.T) {
	err := Refuse("Mirror.MaxDelete", 7, "lists no files")
	const want = "lists no files; none of them is deleted; use Mirror.MaxDelete 7 or Mirror.MaxDelete -1 to delete them"
	if !errors.Is(err, ErrMaxDelete) || err.Error() != want {
		t.Error(err)
	}
}
