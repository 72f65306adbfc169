package deploytest

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A variable either is read by the program, or is a part of one that stands below it.
func TestEnvironmentIsRead(t *testing.T) {
	t.Parallel()
	p := readProgram(t)
	reference := regexp.MustCompile(`\$\(([^)]+)\)`)
	used, defined := make(map[string]bool), make(map[string]bool)
	env := readManifest(t).container().Env
	for _, v := range env {
		for _, match := range reference.FindAllStringSubmatch(v.Value, -1) {
			used[match[1]] = true
			if !defined[match[1]] {
				t.Errorf("%s uses %s, which does not stand above it", v.Name, match[0])
			}
		}
		defined[v.Name] = true
	}
	for _, v := range env {
		if !p.env[v.Name] && !used[v.Name] {
			t.Errorf("nobody reads %s", v.Name)
		}
	}
	for _, name := range []string{"REDIS_URL", "ELECTION_NAME", "IDENTITY", "LEASE_DURATION", "HTTP_ADDR"} {
		if !defined[name] {
			t.Errorf("no %s", name)
		}
	}
	if len(readManifest(t).container().Args) > 0 {
		t.Error("the program takes no arguments: it is configured by its environment")
	}
}

// Everything secret comes from the Secret that the head of the file has one create.
func TestSecret(t *testing.T) {
	t.Parallel()
	text := string(readFile(t, manifestFile))
	keys := 0
	for _, v := range readManifest(t).container().Env {
		if v.ValueFrom == nil || v.ValueFrom.SecretKeyRef == nil {
			continue
		}
		ref := v.ValueFrom.SecretKeyRef
		keys++
		if !strings.Contains(text, "kubectl create secret generic "+ref.Name+" ") {
			t.Errorf("%s: the Secret %s is not explained", v.Name, ref.Name)
		}
		if !regexp.MustCompile(`--from-(literal|file)=` + ref.Key + `=`).MatchString(text) {
			t.Errorf("%s: the key %s is not explained", v.Name, ref.Key)
		}
	}
	if keys != 3 {
		t.Errorf("%d variables come from the Secret, want address, user name and password", keys)
	}
}

func TestPortsAndPaths(t *testing.T) {
	t.Parallel()
	p, m := readProgram(t), readManifest(t)
	c := m.container()
	port := c.Ports[0]
	if listen := m.variable("HTTP_ADDR"); listen != ":"+strconv.Itoa(int(port.ContainerPort)) {
		t.Errorf("the program listens at %q, the container's port is %d", listen, port.ContainerPort)
	}
	if target := m.service.Spec.Ports[0].TargetPort.String(); target != port.Name {
		t.Errorf("the Service's target is %q, the port's name %q", target, port.Name)
	}
	for want, probe := range map[string]*corev1.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
		switch {
		case probe == nil || probe.HTTPGet == nil:
			t.Errorf("no probe of %s", want)
		case probe.HTTPGet.Path != want || !p.paths[want]:
			t.Errorf("the probe asks for %s, want %s; the program serves %v", probe.HTTPGet.Path, want, p.paths)
		case probe.HTTPGet.Port.String() != port.Name:
			t.Errorf("the probe of %s asks at port %q", want, probe.HTTPGet.Port.String())
		}
	}
}

func TestShutdownIsGraceful(t *testing.T) {
	t.Parallel()
	const margin = 5 * time.Second // for the release of the lock, while Redis hangs
	m := readManifest(t)
	grace, drain := m.pod().TerminationGracePeriodSeconds, readProgram(t).drainTimeout(t)
	if grace == nil || *grace != 30 || time.Duration(*grace)*time.Second < drain+margin {
		t.Errorf("terminationGracePeriodSeconds has to be 30, and at least %v", drain+margin)
	}
	if m.container().Lifecycle != nil {
		t.Error("a hook, where none is needed")
	}
}

// The timings that the program computes from its lease are valid.
func TestLeaseIsADuration(t *testing.T) {
	t.Parallel()
	if lease, err := time.ParseDuration(readManifest(t).variable("LEASE_DURATION")); err != nil || lease < time.Second {
		t.Errorf("LEASE_DURATION is %v: %v", lease, err)
	}
}

func TestReplicas(t *testing.T) {
	t.Parallel()
	m := readManifest(t)
	if n := m.deployment.Spec.Replicas; n == nil || *n != 3 {
		t.Error("not three replicas")
	}
	if n := m.budget.Spec.MaxUnavailable; n == nil || n.IntValue() != 1 {
		t.Error("the budget does not allow for one replica at a time")
	}
	labels := m.deployment.Spec.Template.Labels
	for what, selector := range map[string]map[string]string{
		"deployment": matchLabels(m.deployment.Spec.Selector),
		"budget":     matchLabels(m.budget.Spec.Selector),
		"service":    m.service.Spec.Selector,
		"spread":     matchLabels(m.pod().TopologySpreadConstraints[0].LabelSelector),
	} {
		if len(selector) == 0 || !maps.Equal(selector, labels) {
			t.Errorf("%s: selects %v, the pods have %v", what, selector, labels)
		}
	}
}

func matchLabels(s *metav1.LabelSelector) map[string]string {
	if s == nil {
		return nil
	}
	return s.MatchLabels
}

// What the "restricted" Pod Security Standard asks for.
func TestSecurity(t *testing.T) {
	t.Parallel()
	m := readManifest(t)
	pod, c := m.pod().SecurityContext, m.container().SecurityContext
	switch {
	case pod == nil || c == nil || c.Capabilities == nil || pod.SeccompProfile == nil:
		t.Fatal("a security context is incomplete")
	case !isTrue(pod.RunAsNonRoot), pod.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault,
		c.AllowPrivilegeEscalation == nil || *c.AllowPrivilegeEscalation, !isTrue(c.ReadOnlyRootFilesystem),
		len(c.Capabilities.Drop) != 1 || c.Capabilities.Drop[0] != "ALL", len(c.Capabilities.Add) != 0:
		t.Errorf("more than needed is allowed: %+v, %+v", pod, c)
	}
	if mount := m.pod().AutomountServiceAccountToken; mount == nil || *mount {
		t.Error("the pod gets a token for the API server")
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

func TestResources(t *testing.T) {
	t.Parallel()
	r := readManifest(t).container().Resources
	if r.Requests.Cpu().IsZero() || r.Requests.Memory().IsZero() || r.Limits.Memory().IsZero() {
		t.Errorf("resources: %+v", r)
	}
	if !r.Limits.Cpu().IsZero() {
		t.Error("a limit on CPU can make a leader miss its renewals")
	}
}
