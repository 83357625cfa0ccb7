package cloud

import (
	"encoding/json"
	"strings"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// scopeOf names a list by its operation and filters.
func scopeOf(op string, filters ...*string) string {
	name, _ := json.Marshal(append([]*string{&op}, filters...)) // strings always can be
	return string(name)
}

// paginate cuts a page out of a list. The list is in the order of key but for
// direction, and a cursor survives the end of the very item it points to.
func paginate[T any](box *cursorBox, scope string, maxResults *int32, token *string, all []T, key func(T) string) ([]T, *string, error) {
	limit := wire.MaxResults
	if maxResults != nil {
		limit = int(*maxResults)
	}
	var after string
	if token != nil {
		var err error
		if after, err = box.open(*token, scope); err != nil {
			return nil, nil, err
		}
	}
	start := 0
	if after != "" {
		for start < len(all) && strings.Compare(key(all[start]), after) <= 0 {
			start++
		}
	}
	page := all[start:]
	if len(page) <= limit {
		return page, nil, nil
	}
	page = page[:limit]
	next, err := box.seal(cursor{Scope: scope, After: key(page[limit-1])})
	if err != nil {
		return nil, nil, err
	}
	return page, &next, nil
}
