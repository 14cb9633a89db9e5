package scene

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Epoch is the time of files at the servers that have no other.
var Epoch = time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)

// Octets returns the document of a size: bytes of all kinds that are the same in each run.
func Octets(size int64) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1, 7, 3, 8}).Read(data)
	return data
}

// Lines returns a text of at least a size, in lines that end as given. Some begin with a dot.
func Lines(size int64, end string) []byte {
	var text []byte
	for i := 0; int64(len(text)) < size; i++ {
		switch {
		case i%7 == 3:
			text = append(text, '.')
		case i%7 == 5:
			text = append(text, ".."...)
		}
		text = append(text, fmt.Sprintf("line %d of a text that a server sends%s", i, end)...)
	}
	return text
}

// content returns what the server has, and sets what the client is to achieve.
func (s *Stage) content() map[string][]byte {
	if s.Document == nil {
		s.Document = Octets(s.Size)
	}
	switch s.Task {
	case Resume:
		if s.Begun == 0 {
			s.Begun = len(s.Document) / 3
		}
		return map[string][]byte{"pub/file.bin": s.Document}
	case Upload:
		return map[string][]byte{"incoming/readme.txt": []byte("Send files here.\n")}
	case List:
		if s.Names == nil {
			s.Names = []string{"one.txt", "sub", "third file.txt", "two.bin"}
		}
		return map[string][]byte{"pub/one.txt": Octets(10), "pub/two.bin": Octets(200), "pub/third file.txt": Octets(3), "pub/sub/deep.txt": Octets(4)}
	case Deploy:
		if s.Files == nil {
			s.Files = TreeFiles(int64(len(s.Document)))
		}
		return map[string][]byte{"pub/theirs.txt": []byte("This is a file of others.\n")}
	case Tree:
		if s.Files == nil {
			s.Files = TreeFiles(int64(len(s.Document)))
		}
		all := make(map[string][]byte)
		for name, data := range s.Files {
			all["pub/"+name] = data
		}
		return all
	}
	return map[string][]byte{"pub/file.bin": s.Document}
}

// TreeFiles are the files of an ordinary tree. One of them has a size.
func TreeFiles(size int64) map[string][]byte {
	return map[string][]byte{"first.txt": Octets(100), "second.bin": Octets(size), "sub/third.bin": Octets(3000), "sub/deeper/fourth.txt": Octets(1)}
}
