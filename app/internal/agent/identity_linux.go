package agent

import (
	"os"
	"os/user"
	"strconv"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// The ids a sandbox's users may have.
const (
	minUserID = 1000
	maxUserID = 65535
)

var (
	errUnknownUser    = status.Error(codes.InvalidArgument, "unknown user")
	errPrivilegedUser = status.Error(codes.PermissionDenied, "this user may not be used")
)

// An identity is who a process or a file operation belongs to.
type identity struct {
	name     string
	home     string
	uid, gid uint32
	groups   []uint32
}

// identities finds users. Where the agent is not root there is one user, and
// nothing is ever made another's.
type identities struct {
	self       identity // of the default user
	root       bool     // the agent may become somebody else
	allowRoot  bool
	lookupUser func(name string) (*user.User, error)
}

func newIdentities(cfg *Config) *identities {
	return &identities{
		self: identity{
			name: cfg.User, home: cfg.Home,
			uid: uint32(os.Getuid()), gid: uint32(os.Getgid()),
		},
		root:       os.Geteuid() == 0 && !cfg.AsSelf,
		allowRoot:  cfg.AllowRoot,
		lookupUser: user.Lookup,
	}
}

// find returns the identity of u, or of the user fallback, or of the default
// user: the first that is named.
func (s *identities) find(u *agentpb.User, fallback string) (*identity, error) {
	name := u.GetUsername()
	if name == "" {
		name = fallback
	}
	if name == "" {
		name = s.self.name
	}
	if !s.root {
		if name == s.self.name {
			return &s.self, nil
		}
		if id, err := s.read(name); err != nil {
			return nil, err
		} else if err := s.check(id); err != nil {
			return nil, err
		}
		return nil, errPrivilegedUser
	}
	id, err := s.read(name)
	if err != nil {
		return nil, err
	}
	return id, s.check(id)
}

// read looks name up in the system's tables.
func (s *identities) read(name string) (*identity, error) {
	u, err := s.lookupUser(name)
	if err != nil || u.Username != name { // not by number
		return nil, errUnknownUser
	}
	id := &identity{name: name, home: u.HomeDir}
	if id.uid, err = parseID(u.Uid); err != nil {
		return nil, errUnknownUser
	}
	if id.gid, err = parseID(u.Gid); err != nil {
		return nil, errUnknownUser
	}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, status.Error(codes.Internal, "the groups of the user can't be read")
	}
	for _, g := range groups {
		n, err := parseID(g)
		if err != nil {
			return nil, errUnknownUser
		}
		id.groups = append(id.groups, n)
	}
	return id, nil
}

func parseID(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	return uint32(n), err
}

// check refuses root, system users and members of group 0.
func (s *identities) check(id *identity) error {
	if s.allowRoot {
		return nil
	}
	if id.uid < minUserID || id.uid > maxUserID || id.gid < minUserID || id.gid > maxUserID {
		return errPrivilegedUser
	}
	for _, g := range id.groups {
		if g == 0 {
			return errPrivilegedUser
		}
	}
	return nil
}

// credential is what a new process needs to belong to id, or nil if it would
// anyway.
func (s *identities) credential(id *identity) *syscall.Credential {
	if !s.root {
		return nil
	}
	return &syscall.Credential{Uid: id.uid, Gid: id.gid, Groups: id.groups}
}
