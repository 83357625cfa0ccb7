package hostconf

import (
	"github.com/arenero/arenero/assets"
)

// Texts is the part of the translations that the texts of this package are in.
const Texts = "hosts"

// A Text is something for a person to read, in any language.
type Text struct {
	Key  string   // in the part Texts
	Args []string // names and values in turn, as in [assets.Texts.Get]
}

// In returns the text in the language of tx, which must have the part Texts.
func (t Text) In(tx assets.Texts) string { return tx.Get(t.Key, t.Args...) }

func text(key string, args ...string) Text { return Text{Key: key, Args: args} }
