package icons

import "embed"

//go:embed *.svg *.png *.ico
var files embed.FS

// ICO is a picture in all sizes that Windows asks for.
func ICO(name string) []byte { return read(name + ".ico") }

func read(name string) []byte {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil // as of a picture that there is not
	}
	return data
}
