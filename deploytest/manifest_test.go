package deploytest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const (
	example      = "../examples/leader-worker/"
	manifestFile = example + "deploy.yaml"
)

// manifest is what the file says.
type manifest struct {
	deployment appsv1.Deployment
	budget     policyv1.PodDisruptionBudget
	service    corev1.Service
}

// pod is the pod that the deployment makes.
func (m manifest) pod() corev1.PodSpec { return m.deployment.Spec.Template.Spec }

// container is its only one.
func (m manifest) container() corev1.Container { return m.pod().Containers[0] }

// variable is the value of a variable of the container, empty if it has none.
func (m manifest) variable(name string) string {
	for _, v := range m.container().Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// readManifest decodes the file. It fails the test if there is anything that the types
// do not have.
func readManifest(t *testing.T) (m manifest) {
	t.Helper()
	documents := bytes.Split(readFile(t, manifestFile), []byte("\n---\n"))
	wanted := []any{&m.deployment, &m.budget, &m.service}
	if len(documents) != len(wanted) {
		t.Fatalf("%s has %d documents, want %d", manifestFile, len(documents), len(wanted))
	}
	for i, into := range wanted {
		if err := decode(documents[i], into); err != nil {
			t.Fatalf("%s, document %d: %v", manifestFile, i+1, err)
		}
	}
	if n := len(m.pod().Containers); n != 1 {
		t.Fatalf("%d containers", n)
	}
	return m
}

// decode is as strict as an API server that is asked for strict validation: unknown and
// repeated fields are errors, and a field that is spelt with another case is unknown.
func decode(document []byte, into any) error {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	mistakes, err := json.UnmarshalStrict(text, into)
	return errors.Join(append(mistakes, err)...)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestKinds(t *testing.T) {
	t.Parallel()
	m := readManifest(t)
	for want, got := range map[string]fmt.Stringer{
		"apps/v1, Kind=Deployment":            m.deployment.GroupVersionKind(),
		"policy/v1, Kind=PodDisruptionBudget": m.budget.GroupVersionKind(),
		"/v1, Kind=Service":                   m.service.GroupVersionKind(),
	} {
		if got.String() != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestDecodingIsStrict(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		"spec: {replica: 3}",
		"spec: {Replicas: 3}",
		"spec: {replicas: 3, replicas: 2}",
		"spec: {replicas: three}",
		"spec: {template: {spec: {containers: [{livenessProbe: {httpGet: {pathname: /}}}]}}}",
	} {
		if err := decode([]byte(document), new(appsv1.Deployment)); err == nil {
			t.Errorf("%s: no error", document)
		}
	}
}
