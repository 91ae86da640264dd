package files

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file gets its access list from the folder.
func keepOwner(*os.File, fs.FileInfo) error { return nil }
