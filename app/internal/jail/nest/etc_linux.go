//go:build amd64 || arm64

package nest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// etcFiles are the files and folders of the host's /etc that programs need and
// that hold nothing private. Those that are not there are left out.
var etcFiles = []string{
	"alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
	"ssl/certs", "ssl/openssl.cnf", "ca-certificates", "ca-certificates.conf", "pki/tls", "pki/ca-trust", "crypto-policies",
	"localtime", "timezone", "locale.alias", "locale.conf", "default/locale",
	"fonts", "mime.types", "magic", "magic.mime", "papersize", "paperspecs", "ImageMagick-6", "ImageMagick-7", "texmf",
	"matplotlibrc", "python3", "python3.11", "python3.12", "python3.13", "python3.14", "perl", "R", "php", "terminfo",
	"java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "java-25-openjdk", ".java",
	"protocols", "services", "rpc", "ethertypes", "host.conf", "gai.conf",
	"bash.bashrc", "inputrc", "nanorc", "vim", "login.defs", "debian_version", "os-release", "lsb-release", "redhat-release",
}

// systemLinks are outside /etc but are made in the same way.
var systemLinks = []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// smallFile is the size up to which a file is copied, which is quicker than a
// mount.
const smallFile = 1 << 20

// etc is what the new /etc will hold.
type etc struct {
	files map[string][]byte
	links map[string]string
	trees []tree
}

// readEtc collects it from the host's, while that can still be seen.
func readEtc(hostname string) (*etc, error) {
	e := &etc{files: etcMade(hostname), links: map[string]string{}}
	for _, name := range systemLinks {
		if target, err := os.Readlink(name); err == nil {
			e.links[name] = target
		}
	}
	e.links["/etc/mtab"] = "/proc/self/mounts"
	for _, name := range etcFiles {
		if err := e.add("/etc/" + name); err != nil {
			return nil, fmt.Errorf("read /etc/%s: %w", name, err)
		}
	}
	return e, nil
}

func (e *etc) add(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // not there, or not for us to see
	}
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		e.links[path] = target
	case info.Mode().IsRegular() && info.Size() <= smallFile:
		if b, err := os.ReadFile(path); err == nil {
			e.files[path] = b
		}
	case info.IsDir():
		t, err := openTree(path)
		if err != nil {
			return err
		}
		e.trees = append(e.trees, t)
	}
	return nil
}

// write makes the files and links in the stage.
func (e *etc) write() error {
	made := map[string]bool{}
	mkdir := func(path string) error {
		dir := filepath.Dir(path)
		if made[dir] {
			return nil
		}
		made[dir] = true
		return os.MkdirAll(stage+dir, 0o755)
	}
	for path, b := range e.files {
		if err := mkdir(path); err != nil {
			return err
		}
		if err := os.WriteFile(stage+path, b, 0o644); err != nil {
			return err
		}
	}
	for path, target := range e.links {
		if err := mkdir(path); err != nil {
			return err
		}
		if err := os.Symlink(target, stage+path); err != nil {
			return err
		}
	}
	return nil
}

// etcMade are the files of /etc that are not the host's.
func etcMade(hostname string) map[string][]byte {
	uid, gid := strconv.Itoa(UID), strconv.Itoa(GID)
	text := map[string]string{
		"passwd": "root:x:0:0:root:/root:/usr/sbin/nologin\n" +
			User + ":x:" + uid + ":" + gid + "::" + Home + ":/bin/bash\n" +
			"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		"group":         "root:x:0:\n" + User + ":x:" + gid + ":\nnogroup:x:65534:\n",
		"hosts":         "127.0.0.1 localhost " + hostname + "\n::1 localhost ip6-localhost ip6-loopback\n",
		"hostname":      hostname + "\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nprotocols: files\nservices: files\n",
		"resolv.conf":   "# Names are resolved by the proxy.\noptions timeout:1 attempts:1\n",
		"shells":        "/bin/sh\n/bin/bash\n",
		"profile":       "[ \"$BASH\" ] && [ \"$PS1\" ] && PS1='\\u@\\h:\\w\\$ '\n:\n",
		"fstab":         "",
		"machine-id":    "00000000000000000000000000000000\n",
	}
	files := make(map[string][]byte, len(text))
	for name, s := range text {
		files["/etc/"+name] = []byte(s)
	}
	return files
}
