package main

import "golang.org/x/sys/windows"

// systemLocale is the language that Windows speaks to this user.
func systemLocale() string {
	names, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil || len(names) == 0 {
		return ""
	}
	return names[0]
}
