// Package deploytest has the tests of examples/leader-worker/deploy.yaml: that
// Kubernetes would understand it, and that it says what the program understands.
package deploytest
