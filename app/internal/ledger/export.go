package ledger

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// An Entry is one change of one budget.
type Entry struct {
	Seq    int64               `json:"seq"`
	Event  string              `json:"event"` // what changed it: "settle:" and the order, and so on
	Order  string              `json:"order"`
	Level  sandbox.BudgetLevel `json:"level"`
	Owner  string              `json:"owner"`
	Kind   string              `json:"kind"` // hold, adjust, settle or release
	Amount sandbox.Micro       `json:"amount_micro"`
	At     time.Time           `json:"at"`
}

// A Format is how an export is written.
type Format string

// The formats.
const (
	FormatCSV  Format = "csv"
	FormatJSON Format = "json"
)

// A Table is a part of what is exported.
type Table string

// The tables.
const (
	TableOrders  Table = "orders"
	TableEntries Table = "entries"
)

// Export writes tables as they are at one moment, the oldest rows first: as one
// JSON object with a list for each, or as CSV with a header, of one table alone.
// In CSV a text that a spreadsheet would take for a formula has a "'" before it.
func (l *Ledger) Export(ctx context.Context, w io.Writer, format Format, tables ...Table) error {
	for _, t := range tables {
		if t != TableOrders && t != TableEntries {
			return invalid("there is no such table")
		}
	}
	snapshot, err := l.snapshot(ctx)
	if err != nil {
		return l.explain(err)
	}
	defer snapshot.Rollback()
	q, buffer := transaction{snapshot}, bufio.NewWriter(w)
	switch {
	case len(tables) == 0:
		return invalid("name what to export")
	case format == FormatJSON:
		err = exportJSON(ctx, q, buffer, tables)
	case format == FormatCSV && len(tables) == 1:
		err = exportCSV(ctx, q, buffer, tables[0])
	case format == FormatCSV:
		return invalid("a CSV file has one table")
	default:
		return invalid("there is no such format")
	}
	if err == nil {
		err = buffer.Flush()
	}
	return l.explain(err)
}

func eachOrder(ctx context.Context, q querier, do func(order) error) error {
	return each(ctx, q, func(rows *sql.Rows) error {
		o, err := scanOrder(rows)
		if err != nil {
			return err
		}
		return do(o)
	}, "SELECT "+orderColumns+" FROM orders ORDER BY asked_at, id")
}

func eachEntry(ctx context.Context, q querier, do func(Entry) error) error {
	return each(ctx, q, func(rows *sql.Rows) error {
		var e Entry
		var at int64
		if err := rows.Scan(&e.Seq, &e.Event, &e.Order, &e.Level, &e.Owner, &e.Kind, &e.Amount, &at); err != nil {
			return err
		}
		e.At = moment(at)
		return do(e)
	}, `SELECT e.seq, e.event_id, e.order_id, b.level, b.owner, e.kind, e.amount_micro, e.at
		FROM entries e JOIN budgets b ON b.id = e.budget_id ORDER BY e.seq`)
}

func exportJSON(ctx context.Context, q querier, w *bufio.Writer, tables []Table) error {
	for i, table := range tables {
		before := "{"
		if i > 0 {
			before = ",\n"
		}
		fmt.Fprintf(w, "%s%q: [", before, table)
		first := true
		write := func(v any) error {
			text, err := json.Marshal(v)
			if err != nil {
				return err
			}
			if !first {
				w.WriteByte(',')
			}
			first = false
			w.WriteByte('\n')
			_, err = w.Write(text)
			return err
		}
		var err error
		if table == TableOrders {
			err = eachOrder(ctx, q, func(o order) error { return write(o.Order) })
		} else {
			err = eachEntry(ctx, q, func(e Entry) error { return write(e) })
		}
		if err != nil {
			return err
		}
		w.WriteString("\n]")
	}
	_, err := w.WriteString("}\n")
	return err
}

func exportCSV(ctx context.Context, q querier, w io.Writer, table Table) error {
	out := csv.NewWriter(w)
	var err error
	if table == TableOrders {
		out.Write(names) // errors stay until the end
		err = eachOrder(ctx, q, func(o order) error { return out.Write(o.cells()) })
	} else {
		out.Write([]string{"seq", "event", "order", "level", "owner", "kind", "amount_micro", "at"})
		err = eachEntry(ctx, q, func(e Entry) error {
			return out.Write([]string{
				strconv.FormatInt(e.Seq, 10), cell(e.Event), cell(e.Order), string(e.Level), cell(e.Owner), e.Kind,
				strconv.FormatInt(int64(e.Amount), 10), instant(e.At),
			})
		})
	}
	out.Flush()
	if err == nil {
		err = out.Error()
	}
	return err
}

// cells are the values of o as texts, in the order of names.
func (o order) cells() []string {
	times := map[string]time.Time{
		"asked_at": o.AskedAt, "started_at": o.StartedAt, "max_end_at": o.MaxEndAt, "ended_at": o.EndedAt, "resolved_at": o.resolved,
	}
	var out []string
	for i, v := range o.columns() {
		if at, ok := times[names[i]]; ok {
			out = append(out, instant(at))
			continue
		}
		switch v := v.(type) {
		case nil:
			out = append(out, "")
		case string:
			out = append(out, cell(v))
		default:
			out = append(out, fmt.Sprint(v))
		}
	}
	return out
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

// cell is a text that no spreadsheet runs. Names are given by agents.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
