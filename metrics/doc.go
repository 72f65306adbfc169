// Package metrics shows electors to Prometheus.
//
// One Metrics per registry serves any number of electors: pass it as
// leader.Config.Observer. All series carry the label name, which is leader.Config.Name.
// They exist from the construction of an elector until it can no longer run, that is,
// until the garbage collector has taken the last elector of that name. Nothing is
// registered globally.
//
//	leader_election_master_status             gauge      1 while this process leads, by the clocks at the time of the scrape
//	leader_election_fence_token               gauge      fencing token of the leader that this process knows of, 0 if none
//	leader_election_lease_remaining_seconds   gauge      how long this process's term lasts unless it is renewed, 0 if none
//	leader_election_draining                  gauge      1 while the work of a term that has ended is still running, until DrainTimeout
//	leader_election_transitions_total         counter    terms seen to begin, this process's own and others'
//	leader_election_terms_ended_total         counter    this process's terms, by reason
//	leader_election_term_duration_seconds     histogram  how long they lasted
//	leader_election_acquire_attempts_total    counter    attempts to obtain the lock, by result
//	leader_election_renew_duration_seconds    histogram  attempts to renew the lease, by result
//	leader_election_renew_margin_seconds      histogram  what was left of the term at each successful renewal
//	leader_election_slowpath_total            counter    renewals that needed more than one attempt
//	leader_election_failover_seconds          histogram  how long nobody led before this process did, as far as it saw
//
// A vacancy is seen when an attempt finds the lock free, when a term of this process
// has drained, or when an attempt gets no answer and the lease seen last has run out:
// failover_seconds of a takeover is close to 0, that of an outage of Redis is how long
// it kept everybody from leading. The first leader of all takes over from nobody and is
// not counted.
//
// Fencing tokens are below 2^53, so that the gauge holds them exactly, and both text
// formats print all of their digits, with an exponent: 1.795960060430636e+15 is
// 1795960060430636.
//
// Next to this file are a Grafana dashboard, grafana-dashboard.json, and alerting
// rules, alerts.yaml. They tell replicas apart by the label instance, and services by
// namespace and job.
//
// A margin that shrinks is the early warning: the leader is about to lose its term to
// slow answers. The names master_status and slowpath_total are those of Kubernetes.
package metrics
