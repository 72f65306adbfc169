// Package show is what the demonstrations among the examples have in common: replicas
// as processes of their own, a timeline of what happens to them, and a verdict. A
// service has no use for it.
package show
