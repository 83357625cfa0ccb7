package jail

import "golang.org/x/sys/windows"

// processLives reports whether there is a process with this id.
func processLives(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return err == windows.ERROR_ACCESS_DENIED
	}
	windows.CloseHandle(h)
	return true
}
