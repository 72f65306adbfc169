// An elector that logs through klog, as the components of Kubernetes do:
//
//	go run ./klog
//
// The elector logs repeated errors at V(1), which shows with -v=1.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"k8s.io/klog/v2"

	"github.com/redisleader/redisleader/examples/loggers/election"
)

func main() {
	klog.InitFlags(nil)
	flag.Parse()
	err := election.Run(context.Background(), klog.Background())
	klog.Flush()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
