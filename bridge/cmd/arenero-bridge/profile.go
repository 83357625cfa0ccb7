package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"runtime"
	"strings"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// profile says where sandboxes run: at the profile that the environment names, or
// in the AWS that it describes. Without a name it is for the engine to say, which
// knows the default of the owner.
func profile(env *environ) sandbox.Profile {
	named := env.get("ARENERO_PROFILE")
	template, _ := env.twins("TEMPLATE")
	switch {
	case named == sandbox.ProfileLocal:
		return sandbox.Profile{Name: sandbox.ProfileLocal}
	case named != "":
		vars := env.aws()
		if vars["AWS_PROFILE"] == "" {
			vars["AWS_PROFILE"] = named
		}
		return sandbox.Profile{Name: named, Env: vars}
	case template != "", env.get("AWS_PROFILE") != "", env.get("AWS_REGION") != "", env.get("AWS_ACCESS_KEY_ID") != "":
		vars := env.aws()
		return sandbox.Profile{Name: nameOf(vars), Env: vars}
	}
	return sandbox.Profile{}
}

// aws are the variables that tell where AWS is, and who we are there.
func (e *environ) aws() map[string]string {
	vars := map[string]string{}
	for _, v := range e.all {
		if name, value, ok := strings.Cut(v, "="); ok && value != "" && strings.HasPrefix(name, "AWS_") {
			vars[name] = value
		}
	}
	return vars
}

// nameOf names the part of AWS that an environment describes. The same name
// is the same part, and it holds no secret.
func nameOf(vars map[string]string) string {
	h := sha256.New()
	for _, v := range []string{
		"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_ROLE_ARN", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
		"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_LAMBDA_MICROVMS",
	} {
		h.Write([]byte(v + "=" + vars[v] + "\x00"))
	}
	who := cmp.Or(vars["AWS_PROFILE"], vars["AWS_DEFAULT_PROFILE"])
	if who == "" && vars["AWS_ACCESS_KEY_ID"] != "" {
		who = "key"
	}
	where := cmp.Or(vars["AWS_REGION"], vars["AWS_DEFAULT_REGION"])
	label := sandbox.ProfileDescribed + cmp.Or(who, "default")
	if where != "" {
		label += "@" + where
	}
	return label + "#" + hex.EncodeToString(h.Sum(nil))[:6]
}

// language is the one that texts are in: that which was asked for, Spanish for
// those who come from rayito-mcp, else the system's.
func language(env *environ) string {
	if l := assets.Language(env.get("ARENERO_LANG")); l != "" {
		return l
	}
	for _, v := range env.all {
		if name, value, ok := strings.Cut(v, "="); ok && value != "" && strings.HasPrefix(name, prefixSeed) {
			return assets.Spanish
		}
	}
	for _, v := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if locale := env.get(v); locale != "" {
			return cmp.Or(assets.Language(locale), assets.English)
		}
	}
	return cmp.Or(assets.Language(systemLocale()), assets.English)
}

// parent tells the process that started this one from all others.
func parent() string {
	pid := os.Getppid()
	if pid <= 1 && runtime.GOOS != "windows" {
		return "" // nobody's child
	}
	return "pid-" + itoa(pid)
}
