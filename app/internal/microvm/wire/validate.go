package wire

import (
	"fmt"
	"strings"
)

// Validate checks the members.
func (in *RunMicrovmInput) Validate() error {
	var c checker
	c.identifier("imageIdentifier", in.ImageIdentifier)
	c.version("imageVersion", in.ImageVersion)
	c.text("executionRoleArn", in.ExecutionRoleArn, MinRoleArn, MaxRoleArn)
	if p := in.IdlePolicy; p != nil {
		if c.require("idlePolicy.maxIdleDurationSeconds", p.MaxIdleDurationSeconds != nil) {
			c.number("idlePolicy.maxIdleDurationSeconds", p.MaxIdleDurationSeconds, MinIdleSeconds, MaxDurationSeconds)
		}
		if c.require("idlePolicy.suspendedDurationSeconds", p.SuspendedDurationSeconds != nil) {
			c.number("idlePolicy.suspendedDurationSeconds", p.SuspendedDurationSeconds, 0, 1<<31-1)
		}
		c.require("idlePolicy.autoResumeEnabled", p.AutoResumeEnabled != nil)
	}
	c.number("maximumDurationInSeconds", in.MaximumDurationInSeconds, 1, MaxDurationSeconds)
	if in.RunHookPayload != nil {
		c.length("runHookPayload", len(*in.RunHookPayload), 0, MaxRunHookPayload)
	}
	c.logging(in.Logging)
	if in.Logging != nil && in.Logging.CloudWatch != nil && in.ExecutionRoleArn == nil {
		c.add("executionRoleArn", "CloudWatch logging cannot be used without providing executionRoleArn")
	}
	c.connectors("ingressNetworkConnectors", in.IngressNetworkConnectors, MaxConnectors)
	c.connectors("egressNetworkConnectors", in.EgressNetworkConnectors, MaxEgressConnectors)
	c.text("clientToken", in.ClientToken, 1, MaxClientToken)
	return c.err()
}

// Validate checks the members.
func (in *GetMicrovmInput) Validate() error { return oneMicrovm(in.MicrovmIdentifier) }

// Validate checks the members.
func (in *SuspendMicrovmInput) Validate() error { return oneMicrovm(in.MicrovmIdentifier) }

// Validate checks the members.
func (in *ResumeMicrovmInput) Validate() error { return oneMicrovm(in.MicrovmIdentifier) }

// Validate checks the members.
func (in *TerminateMicrovmInput) Validate() error { return oneMicrovm(in.MicrovmIdentifier) }

func oneMicrovm(id *string) error {
	var c checker
	c.identifier("microvmIdentifier", id)
	return c.err()
}

// Validate checks the members.
func (in *ListMicrovmsInput) Validate() error {
	var c checker
	c.text("imageIdentifier", in.ImageIdentifier, 1, MaxIdentifier)
	c.version("imageVersion", in.ImageVersion)
	c.page(in.MaxResults, in.NextToken)
	return c.err()
}

// Validate checks the members.
func (in *CreateMicrovmAuthTokenInput) Validate() error {
	var c checker
	c.identifier("microvmIdentifier", in.MicrovmIdentifier)
	c.minutes(in.ExpirationInMinutes)
	if c.require("allowedPorts", in.AllowedPorts != nil) {
		c.length("allowedPorts", len(in.AllowedPorts), 1, 1<<31-1)
	}
	for i, p := range in.AllowedPorts {
		c.ports(fmt.Sprintf("allowedPorts.%d.member", i+1), p)
	}
	return c.err()
}

// Validate checks the members.
func (in *CreateMicrovmShellAuthTokenInput) Validate() error {
	var c checker
	c.identifier("microvmIdentifier", in.MicrovmIdentifier)
	c.minutes(in.ExpirationInMinutes)
	return c.err()
}

func (c *checker) minutes(n *int32) {
	if !c.require("expirationInMinutes", n != nil) {
		return
	}
	c.number("expirationInMinutes", n, 1, 1<<31-1)
	if *n > MaxTokenMinutes {
		c.add("expirationInMinutes", "%d exceeds the maximum of %d minutes", *n, MaxTokenMinutes)
	}
}

func (c *checker) ports(member string, p PortSpecification) {
	if !c.union(member, "port, range, allPorts", p.Port != nil, p.Range != nil, p.AllPorts != nil) {
		return
	}
	c.number(member+".port", p.Port, 1, MaxPort)
	if r := p.Range; r != nil {
		start := c.require(member+".range.startPort", r.StartPort != nil)
		end := c.require(member+".range.endPort", r.EndPort != nil)
		c.number(member+".range.startPort", r.StartPort, 1, MaxPort)
		c.number(member+".range.endPort", r.EndPort, 1, MaxPort)
		if start && end && *r.StartPort > *r.EndPort {
			c.add(member+".range", "startPort must be less than or equal to endPort")
		}
	}
}

// union checks that exactly one of a union's members is set.
func (c *checker) union(member, names string, set ...bool) bool {
	n := 0
	for _, s := range set {
		if s {
			n++
		}
	}
	if n != 1 {
		c.add(member, "Member must have exactly one of: %s", names)
	}
	return n == 1
}

func (c *checker) logging(l *Logging) {
	if l == nil || !c.union("logging", "cloudWatch, disabled", l.CloudWatch != nil, l.Disabled != nil) || l.CloudWatch == nil {
		return
	}
	group, stream := l.CloudWatch.LogGroup, l.CloudWatch.LogStream
	c.text("logging.cloudWatch.logGroup", group, 1, MaxLogName)
	if group != nil && !chars(*group, "_-/.#") {
		c.add("logging.cloudWatch.logGroup", "Member must satisfy regular expression pattern: [a-zA-Z0-9_/.#-]+")
	}
	c.text("logging.cloudWatch.logStream", stream, 1, MaxLogName)
	if stream != nil && strings.ContainsAny(*stream, ":*") {
		c.add("logging.cloudWatch.logStream", "Member must satisfy regular expression pattern: [^:*]*")
	}
}

func (c *checker) connectors(member string, list []string, max int) {
	if max == MaxEgressConnectors && len(list) > max {
		c.add(member, "Only one egress network connector is supported")
	} else {
		c.length(member, len(list), 0, max)
	}
	for i := range list {
		c.text(fmt.Sprintf("%s.%d.member", member, i+1), &list[i], 1, MaxConnector)
	}
}
