package ui_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

var someKnown = ui.Known{
	Grants:    map[string]string{"g1": "bot", sandbox.GrantOwner: "owner"},
	Sandboxes: map[string]sandbox.Sandbox{"microvm-1": {ID: "microvm-1", Name: "web", Host: "Cursor", Profile: "work"}},
}

func TestEventEntry(t *testing.T) {
	type data = map[string]any
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			kind    sandbox.EventKind
			subject string
			grant   string
			data    data
			want    string
		}{
			{sandbox.EventReady, "microvm-1", "", nil, in(tx, "Sandbox web is ready", "El sandbox web está listo")},
			{sandbox.EventSuspended, "microvm-9", "", data{"name": "api"}, in(tx, "Sandbox api fell asleep", "El sandbox api se durmió")},
			{sandbox.EventResumed, "microvm-1", "", nil, in(tx, "Sandbox web woke up", "El sandbox web despertó")},
			{sandbox.EventEnded, "microvm-1", "", data{"reason": "expired", "settled_micro": float64(4321)}, in(tx, "Sandbox web ended: its time was up; it cost $0.004321", "El sandbox web terminó: se acabó su tiempo; costó 0,004321 US$")},
			{sandbox.EventEnded, "microvm-1", "", data{"reason": "mystery", "would_micro": 10}, in(tx, "Sandbox web ended: the cloud does not say why; free here, $0.00001 in AWS", "El sandbox web terminó: la nube no dice por qué; gratis aquí, 0,00001 US$ en AWS")},
			{sandbox.EventEnded, "microvm-1", "", data{"reason": "asked"}, in(tx, "Sandbox web ended: on request", "El sandbox web terminó: a petición")},
			{sandbox.EventNotice, "microvm-1", "", data{"text": "evil\x1b[2J\nline"}, in(tx, "Notice about sandbox web; its host says: “evil[2J line”", "Aviso sobre el sandbox web; dice su host: «evil[2J line»")},
			{sandbox.EventOrphan, "microvm-8", "", data{"name": "work"}, in(tx, "Sandbox 8 in profile work is of our image", "El sandbox 8 del perfil work es de nuestra imagen")},
			{sandbox.EventThreshold, "grant:g1", "g1", data{"level": "grant", "name": "g1", "percent": 80, "spent_micro": 500_000, "held_micro": 300_000, "limit_micro": 1_000_000}, in(tx, "Budget \"Token bot\" has reached 80 %: $0.80 of $1.00", "El presupuesto «Token bot» llegó al 80 %: 0,80 US$ de 1,00 US$")},
			{sandbox.EventBudgetSet, "global", "", data{"level": "global", "limit_micro": 1_000_000, "period": "month"}, in(tx, "The limit of the budget “Everything” was set: $1.00 a month", "Se fijó el límite del presupuesto «Todo»: 1,00 US$ al mes")},
			{sandbox.EventBudgetSet, "grant:g1", "g1", data{"level": "grant", "name": "g1", "period": "none"}, in(tx, "The limit of the budget “Token bot” was taken away", "Se quitó el límite del presupuesto «Token bot»")},
			{sandbox.EventApp, "cursor", "", data{"name": "Cursor"}, in(tx, "Cursor was connected", "Se conectó Cursor")},
			{sandbox.EventAppChanged, "cursor", "", data{"name": "Cursor"}, in(tx, "The connection of Cursor was changed", "Se cambió la conexión de Cursor")},
			{sandbox.EventAppGone, "cursor", "", data{"name": "Cursor"}, in(tx, "Cursor was disconnected", "Se desconectó Cursor")},
			{sandbox.EventOver, "global", "", data{"level": "global", "spent_micro": 1_000_001, "limit_micro": 1_000_000}, in(tx, "Budget \"Everything\" is passed: $1.000001 of $1.00; nothing new starts", "El presupuesto «Todo» se ha superado: 1,000001 US$ de 1,00 US$; no empieza nada nuevo")},
			{sandbox.EventRefused, "g1", "g1", data{"code": "budget_exceeded", "name": "big", "asked_micro": 900_000, "left_micro": 200_000}, in(tx, "Sandbox big was refused: it would hold $0.90, and $0.20 are left", "Se rechazó el sandbox big: retendría 0,90 US$, y quedan 0,20 US$")},
			{sandbox.EventRefused, "owner", "owner", data{"code": "clock_suspect"}, in(tx, "A sandbox was refused: the clock of this computer jumped", "Se rechazó un sandbox: el reloj de este equipo saltó")},
			{sandbox.EventDoubt, "k9", "", data{"hold_micro": 5}, in(tx, "Sandbox k9 may exist, as the answer was lost: $0.000005 stay held", "El sandbox k9 puede existir, pues se perdió la respuesta: quedan retenidos 0,000005 US$")},
			{sandbox.EventCreated, "g2", "g2", data{"name": "new"}, in(tx, "Token new was made", "Se creó el token new")},
			{sandbox.EventRotated, "g1", "g1", data{"name": "bot"}, in(tx, "Token bot got a new secret", "El token bot recibió un secreto nuevo")},
			{sandbox.EventRevoked, "g1", "g1", data{"name": "bot"}, in(tx, "Token bot was revoked", "Se revocó el token bot")},
			{sandbox.EventExpiring, "g1", "g1", data{"name": "bot", "left_s": 7200}, in(tx, "Token bot expires in 2 h", "El token bot caduca en 2 h")},
			{sandbox.EventPriceStale, "us-east-1", "", data{"name": "us-east-1", "days": 40}, in(tx, "The prices of us-east-1 are 40 days old", "Los precios de us-east-1 tienen 40 días")},
			{sandbox.EventClock, "", "", data{"why": "back", "seconds": 3600}, in(tx, "The clock of this computer went back by 1 h", "El reloj de este equipo retrocedió 1 h")},
			{sandbox.EventClock, "", "", data{"why": "ahead", "seconds": 3600}, in(tx, "The clock of this computer went ahead by 1 h", "El reloj de este equipo se adelantó 1 h")},
			{sandbox.EventClock, "", "", nil, in(tx, "The clock of this computer jumped", "El reloj de este equipo saltó")},
			{sandbox.EventLedger, "ledger.db", "", nil, in(tx, "The account is older", "La cuenta es más antigua")},
			{sandbox.EventMachine, "m1", "", nil, in(tx, "Machine m1 is ready", "La máquina m1 está lista")},
			{sandbox.EventMachineOver, "m1", "", data{"reason": "x"}, in(tx, "Machine m1 ended:", "La máquina m1 terminó:")},
			{sandbox.EventMachineSaid, "m1", "", data{"text": "hi"}, in(tx, "Notice about machine m1; its host says: “hi”", "Aviso sobre la máquina m1; dice su host: «hi»")},
			{"later.kind", "x", "", nil, "later.kind x"},
		} {
			e := ui.EventEntry(tx, sandbox.Event{ID: "1", At: noon, Kind: tt.kind, Subject: tt.subject, Grant: tt.grant, Data: tt.data, Severity: sandbox.SeverityInfo}, someKnown)
			if !strings.HasPrefix(e.Text, tt.want) {
				t.Errorf("%s is told as %q, want %q", tt.kind, e.Text, tt.want)
			}
			for _, f := range ui.ActivityFacts(tx, e, noon) {
				if strings.HasPrefix(f.Name, "activity.") {
					t.Errorf("%s: %v has no text", tt.kind, f)
				}
			}
		}
	})
}

func TestEntriesSayWhatTheyAreAbout(t *testing.T) {
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		over := ui.EventEntry(tx, sandbox.Event{ID: "1", Kind: sandbox.EventOver, Subject: "profile:work", Data: map[string]any{"level": "profile", "name": "work"}}, someKnown)
		if over.Budget != "profile:work" || over.Profile != "work" || over.Topic != ui.TopicBudgets || over.Sandbox != "" {
			t.Errorf("a budget: %+v", over)
		}
		ended := ui.EventEntry(tx, sandbox.Event{ID: "2", Kind: sandbox.EventEnded, Subject: "microvm-1", Grant: "g1"}, someKnown)
		if ended.Sandbox != "microvm-1" || ended.Host != "Cursor" || ended.Profile != "work" || ended.By != "bot" {
			t.Errorf("a sandbox: %+v", ended)
		}
		token := ui.EventEntry(tx, sandbox.Event{ID: "3", Kind: sandbox.EventCreated, Grant: "g7", Data: map[string]any{"name": "late"}}, someKnown)
		if token.By != "late" || token.Topic != ui.TopicTokens {
			t.Errorf("a token: %+v", token)
		}
		if back := ui.EventEntry(tx, sandbox.Event{ID: "4", Kind: sandbox.EventClock}, someKnown); !back.Clock || back.Topic != ui.TopicSystem {
			t.Errorf("the clock: %+v", back)
		}
		if ahead := ui.EventEntry(tx, sandbox.Event{ID: "5", Kind: sandbox.EventClock, Data: map[string]any{"why": "ahead"}}, someKnown); ahead.Clock {
			t.Error("a clock that went ahead holds nothing up")
		}
	})
}

func TestCallEntry(t *testing.T) {
	code := func(n int) *int { return &n }
	b := someKnown.Sandboxes["microvm-1"]
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			call     ui.Call
			want     string
			severity sandbox.Severity
		}{
			{ui.Call{Kind: "command", Text: "make test\nrm x"}, in(tx, "make test — running", "make test — en marcha"), sandbox.SeverityInfo},
			{ui.Call{Kind: "command", Text: "ls", Code: code(0)}, in(tx, "ls — done", "ls — hecha"), sandbox.SeverityInfo},
			{ui.Call{Kind: "code", Text: "1/0", Code: code(0), Raised: "ZeroDivisionError"}, in(tx, "1/0 — failed: ZeroDivisionError", "1/0 — falló: ZeroDivisionError"), sandbox.SeverityWarn},
			{ui.Call{Kind: "code", Text: "1/0", Code: code(3)}, in(tx, "1/0 — exit code 3", "1/0 — código de salida 3"), sandbox.SeverityWarn},
			{ui.Call{Kind: "code", Text: "x", Code: code(137), Timeout: true}, in(tx, "x — its time was up", "x — se acabó su tiempo"), sandbox.SeverityWarn},
			{ui.Call{Kind: "job", Text: "x", Failed: &sandbox.Error{Msg: "no"}}, in(tx, "x — failed", "x — falló"), sandbox.SeverityError},
			{ui.Call{Kind: "job", Text: "x", Ended: noon}, in(tx, "x — over", "x — terminada"), sandbox.SeverityInfo},
			{ui.Call{Kind: "command", Text: "a\x1b]0;b\u202e"}, in(tx, "a]0;b — running", "a]0;b — en marcha"), sandbox.SeverityInfo},
		} {
			tt.call.Began = noon
			e := ui.CallEntry(tx, "c", b, "", tt.call, someKnown)
			if e.Text != tt.want || e.Severity != tt.severity || e.Host != "Cursor" || e.Sandbox != "microvm-1" || e.Topic != ui.TopicCalls {
				t.Errorf("told as %q (%s, %+v), want %q (%s)", e.Text, e.Severity, e, tt.want, tt.severity)
			}
		}
	})
}

func TestCallKeepsTheEndOfItsOutput(t *testing.T) {
	var c ui.Call
	c.Say([]byte("first\n"), false)
	if c.Output != "first\n" || c.Cut {
		t.Errorf("it said %q, cut: %t", c.Output, c.Cut)
	}
	for range 3000 {
		c.Say([]byte("ñandú\n"), false)
	}
	if len(c.Output) > 4096 || !c.Cut || !strings.HasSuffix(c.Output, "ñandú\n") || strings.Contains(c.Output, "first") || !json.Valid([]byte(fmt.Sprintf("%q", c.Output))) {
		t.Errorf("%d bytes are kept, cut: %t", len(c.Output), c.Cut)
	}
}

// someLog has an entry each minute back from noon: events, and calls in web.
func someLog(tx assets.Texts) *ui.Log {
	var l ui.Log
	for i := range 60 {
		at := noon.Add(-time.Duration(i) * time.Minute)
		e := sandbox.Event{ID: fmt.Sprint(i), At: at, Kind: sandbox.EventReady, Subject: "microvm-1", Severity: sandbox.SeverityInfo}
		switch i % 4 {
		case 1:
			e.Kind, e.Subject, e.Severity, e.Data = sandbox.EventOver, "global", sandbox.SeverityError, map[string]any{"level": "global"}
		case 2:
			e.Kind, e.Subject, e.Severity = sandbox.EventNotice, "microvm-2", sandbox.SeverityWarn
		case 3:
			l.Put(ui.CallEntry(tx, fmt.Sprint(i), someKnown.Sandboxes["microvm-1"], "", ui.Call{Kind: "command", Text: "cat cañón.txt", Began: at}, someKnown))
			continue
		}
		l.Put(ui.EventEntry(tx, e, someKnown))
	}
	return &l
}

func TestFilter(t *testing.T) {
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		l := someLog(tx)
		hour := ui.Days{From: noon.Add(-9 * time.Minute), Until: noon.Add(-4 * time.Minute)}
		for _, tt := range []struct {
			name string
			f    ui.Filter
			want int
		}{
			{"any", ui.Filter{}, 60},
			{"calls", ui.Filter{Topic: ui.TopicCalls}, 15},
			{"budgets", ui.Filter{Topic: ui.TopicBudgets}, 15},
			{"alerts", ui.Filter{Alerts: true}, 30},
			{"errors", ui.Filter{Errors: true}, 15},
			{"host", ui.Filter{Host: "Cursor"}, 30},
			{"sandbox", ui.Filter{Sandbox: "microvm-2"}, 15},
			{"words", ui.Filter{Text: " CANON  cat "}, 15},
			{"accents", ui.Filter{Text: "cañón"}, 15},
			{"no such words", ui.Filter{Text: "cat dog"}, 0},
			{"name", ui.Filter{Text: "web"}, 30},
			{"days", ui.Filter{Days: &hour}, 5},
			{"two", ui.Filter{Days: &hour, Topic: ui.TopicCalls}, 1},
		} {
			got := l.Shown(tt.f)
			if len(got) != tt.want {
				t.Errorf("%s lets %d through, want %d", tt.name, len(got), tt.want)
			}
			if !slices.IsSortedFunc(got, ui.Happened) {
				t.Errorf("%s: they are not in order", tt.name)
			}
			if tt.f.Any() != (tt.name == "any") {
				t.Errorf("%s: Any is %t", tt.name, tt.f.Any())
			}
		}
		if got := l.Hosts(); !slices.Equal(got, []string{"Cursor"}) {
			t.Errorf("the apps are %q", got)
		}
		if got := l.Sandboxes(); !slices.Equal(got, []string{"microvm-1", "microvm-2"}) {
			t.Errorf("the sandboxes are %q", got)
		}
	})
}

func TestLogTakesEachEntryOnce(t *testing.T) {
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		l := someLog(tx)
		began := ui.Call{Kind: "command", Text: "sleep 9", Began: noon.Add(-30 * time.Second)}
		if n := l.Put(ui.CallEntry(tx, "z", someKnown.Sandboxes["microvm-1"], "", began, someKnown)); n != 1 || l.Len() != 61 {
			t.Fatalf("%d are new of %d", n, l.Len())
		}
		began.Code = new(int)
		if n := l.Put(ui.CallEntry(tx, "z", someKnown.Sandboxes["microvm-1"], "", began, someKnown)); n != 0 || l.Len() != 61 {
			t.Fatalf("the same call is %d new of %d", n, l.Len())
		}
		if e, ok := l.Find("call/z"); !ok || e.Call.Code == nil {
			t.Errorf("it is as it was: %+v", e)
		}
	})
}

func TestExports(t *testing.T) {
	tx := assets.Load(assets.English, ui.Texts, ui.SpendTexts, ui.ActivityTexts)
	code := 1
	all := []ui.Entry{
		ui.CallEntry(tx, "c", sandbox.Sandbox{ID: "microvm-1", Name: "=HYPERLINK(\"x\")", Host: "@host"}, "", ui.Call{Kind: "command", Text: "+1\n\"two\", <three>", Began: noon, Ended: noon.Add(time.Second), Code: &code}, someKnown),
		ui.EventEntry(tx, sandbox.Event{ID: "e9", At: noon, Kind: sandbox.EventEnded, Subject: "microvm-1", Severity: sandbox.SeverityInfo, Data: map[string]any{"reason": "asked", "settled_micro": 12}}, someKnown),
	}
	var sheet bytes.Buffer
	if err := ui.WriteCSV(&sheet, all); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&sheet).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
				t.Errorf("a spreadsheet would run %q", cell)
			}
		}
	}
	if got := rows[1][9]; got != "'+1\n\"two\", <three>" {
		t.Errorf("the command is %q", got)
	}
	var lines bytes.Buffer
	if err := ui.WriteJSONLines(&lines, all); err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	for s := bufio.NewScanner(&lines); s.Scan(); {
		var row map[string]any
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		got = append(got, row)
	}
	if len(got) != 2 || got[0]["command"] != "+1\n\"two\", <three>" || got[0]["exit_code"] != 1.0 || got[1]["event"] != "e9" || got[1]["data"].(map[string]any)["settled_micro"] != 12.0 {
		t.Errorf("the lines are %v", got)
	}
}
