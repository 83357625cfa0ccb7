package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/assets"
)

type doctorCommand struct {
	asJSON
	Profile  string `placeholder:"NAME" env:"ARENERO_PROFILE"`
	Template string `placeholder:"NAME"`
	Launch   bool
	Bundle   string `placeholder:"FILE"`
}

// Run is "arenero doctor".
func (c *doctorCommand) Run() error {
	ctx, stop := interruptible()
	defer stop()
	vars := map[string]string{}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if value != "" && (strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "RAYITO_") || strings.HasPrefix(name, "ARENERO_")) {
			vars[name] = value
		}
	}
	doctor, err := app.NewDoctor(app.DoctorConfig{
		Version: versionText(), Build: build(), Profile: c.Profile, Env: vars, Template: c.Template, Launch: c.Launch,
	})
	if err != nil {
		return err
	}
	p := &doctorPrinter{tx: assets.Load(hostsLanguage(doctor.Language()), app.DoctorParts()...)}
	wait := newProgress("")
	defer wait.end()
	diagnosis, err := doctor.Run(ctx, func(name string) {
		wait.say(p.title(name))
	}, func(f app.Finding) {
		wait.end()
		if !c.JSON {
			p.print(f)
		}
	})
	wait.end()
	if err != nil {
		return err
	}
	var report bytes.Buffer
	if err := writeJSON(&report, diagnosis.Report(p.tx, versionText(), build())); err != nil {
		return err
	}
	if c.JSON {
		os.Stdout.Write(report.Bytes())
	} else {
		p.verdict(diagnosis)
	}
	if c.Bundle != "" {
		path, err := filepath.Abs(c.Bundle)
		if err != nil {
			return err
		}
		if err := doctor.Bundle(ctx, path, report.Bytes(), diagnosis.Programs); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, p.tx.Get("doctor.bundle", "file", path))
	}
	if diagnosis.Failed() {
		return &exitError{exitFailed}
	}
	return nil
}

// A doctorPrinter tells what a doctor says in somebody's language.
type doctorPrinter struct{ tx assets.Texts }

func (p *doctorPrinter) title(name string) string { return p.tx.Get("doctor.check." + name) }

// print tells of one check: one line each for what is wrong, and what to do.
func (p *doctorPrinter) print(f app.Finding) {
	fmt.Printf("%-4s  %s (%s): %s\n", strings.ToUpper(string(f.Level)), p.title(f.Name), took(f.Took), printable(f.What.In(p.tx)))
	p.remedy(f.Remedy)
	for i, more := range f.Problems {
		if i == 0 { // is told above
			continue
		}
		fmt.Printf("%-4s  %s\n", strings.ToUpper(string(more.Level)), printable(more.What.In(p.tx)))
		p.remedy(more.Remedy)
	}
}

func (p *doctorPrinter) remedy(t hostconf.Text) {
	if t.Key != "" {
		fmt.Println("      → " + printable(t.In(p.tx)))
	}
}

func took(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// verdict is the last line.
func (p *doctorPrinter) verdict(d app.Diagnosis) {
	count := map[app.Level]int{}
	for _, f := range d.Findings {
		count[f.Level]++
	}
	key := "doctor.verdict.ok"
	switch {
	case count[app.Fail] > 0:
		key = "doctor.verdict.fail"
	case count[app.Warn] > 0:
		key = "doctor.verdict.warn"
	}
	fmt.Println()
	fmt.Println(p.tx.Get(key, "fail", fmt.Sprint(count[app.Fail]), "warn", fmt.Sprint(count[app.Warn]), "skip", fmt.Sprint(count[app.Skip])))
}
