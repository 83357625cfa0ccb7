//go:build !windows

package icons

import "embed"

//go:embed *.svg *.png
var files embed.FS

func read(name string) []byte {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil // as of a picture that there is not
	}
	return data
}
