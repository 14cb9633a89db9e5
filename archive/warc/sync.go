package warc

// Sync writes the records of the file that is open to the disk, so that they are there even after the
// system has crashed. After the end of the process they are there without it.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	return w.file.Sync()
}
