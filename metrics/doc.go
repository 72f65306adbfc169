// Package metrics exposes electors to Prometheus.
//
// One Metrics per registry serves any number of electors: pass it as
// leader.Config.Observer. Nothing is registered globally. All series carry the label name,
// which is leader.Config.Name. They exist from the construction of an elector until it can
// no longer run, that is, until the garbage collector has taken the last elector of that
// name.
//
// Gauges:
//
//	leader_election_master_status
//	    1 while this process leads, by the clocks at the time of the scrape
//	leader_election_fence_token
//	    fencing token of the leader that this process knows of, 0 if there is none
//	leader_election_lease_remaining_seconds
//	    how long the term of this process lasts unless it is renewed, 0 if there is none
//	leader_election_draining
//	    1 while the work of a term that has ended is still running, until DrainTimeout
//
// Counters:
//
//	leader_election_transitions_total
//	    terms that were seen to begin, in this process and in others
//	leader_election_terms_ended_total{reason}
//	    terms of this process that have ended; see leader.EndReason
//	leader_election_acquire_attempts_total{result}
//	    attempts to obtain the lock; see leader.AcquireResult
//	leader_election_slowpath_total
//	    renewals that needed more than one attempt
//
// Histograms:
//
//	leader_election_term_duration_seconds
//	    how long the terms of this process lasted
//	leader_election_renew_duration_seconds{result}
//	    how long attempts to renew the lease took; result is success or failure
//	leader_election_renew_margin_seconds
//	    what was left of the term at each successful renewal
//	leader_election_failover_seconds
//	    how long nobody led before this process did, as far as it could see
//
// The names master_status and slowpath_total are those of Kubernetes. A shrinking
// renew_margin is the early warning: the leader is about to lose its term because answers
// are slow.
//
// A process sees that nobody leads when an attempt finds the lock free, when a term of its
// own has drained, or when an attempt gets no answer and the lease that it saw last has run
// out. Thus failover_seconds is close to 0 for a take-over. For an outage of Redis it is how
// long the outage kept everybody from leading. The very first leader takes over from nobody
// and is not counted.
//
// Fencing tokens are below 2^53, so the gauge holds them exactly, and both text formats
// print all their digits, with an exponent: 1.795960060430636e+15 is 1795960060430636.
//
// Next to this file are a Grafana dashboard, grafana-dashboard.json, and alerting rules,
// alerts.yaml. They tell replicas apart by the label instance, and services by namespace and
// job.
package metrics
