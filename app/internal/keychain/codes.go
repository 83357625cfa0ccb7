package keychain

// classOfExit is the class of an exit code of macOS's /usr/bin/security, which is
// the low byte of a code of the Security framework (SecBase.h).
func classOfExit(code int) Class {
	switch code {
	case 36: // errSecInteractionNotAllowed, -25308: locked, and may show no dialog
		return Locked
	case 51: // errSecAuthFailed, -25293
		return Denied
	case 128: // errSecUserCanceled, -128
		return Dismissed
	case 37, 50: // errSecNoDefaultKeychain, -25307; errSecNoSuchKeychain, -25294
		return NoService
	}
	return Other
}

// classOfErrno is the class of an error code of Windows's credential functions
// (winerror.h).
func classOfErrno(code uintptr) Class {
	switch code {
	case 1312: // ERROR_NO_SUCH_LOGON_SESSION, as over SSH without a password
		return NoService
	case 1783: // RPC_X_BAD_STUB_DATA: more than 2,560 bytes
		return TooBig
	case 5: // ERROR_ACCESS_DENIED
		return Denied
	case 1223: // ERROR_CANCELLED
		return Dismissed
	}
	return Other
}
