package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// options are the command line.
type options struct {
	rounds int
	short  bool
	only   []string
	svg    string
	md     string
}

// minRounds is how many rounds a published median needs.
const minRounds = 5

// parseOptions reads the command line. Its errors name the flag and the value.
func parseOptions(args []string, out io.Writer) (options, error) {
	var o options
	var only string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.rounds, "rounds", minRounds, "how often each contender is measured; medians are over the rounds")
	flags.BoolVar(&o.short, "short", false, "a run of less than a minute: fewer samples, shorter leases, not for publication")
	flags.StringVar(&only, "only", "", "comma-separated measures to take (default all of "+measureNames()+")")
	flags.StringVar(&o.svg, "svg", "", "`directory` to write plots to")
	flags.StringVar(&o.md, "md", "", "Markdown `file` to write the results into, between "+beginMarker+" and "+endMarker)
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	return o, o.validate()
}

func (o options) validate() error {
	if o.rounds < 1 {
		return fmt.Errorf("-rounds %d is less than 1", o.rounds)
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(measures(), func(m measure) bool { return m.name == name }) {
			return fmt.Errorf("-only %q: there is no measure %q, but %s", strings.Join(o.only, ","), name, measureNames())
		}
	}
	if o.md != "" && len(o.only) > 0 {
		return fmt.Errorf("-md %q with -only %q would replace the whole results by a part of them", o.md, strings.Join(o.only, ","))
	}
	if o.md != "" && o.rounds < minRounds {
		return fmt.Errorf("-md %q with -rounds %d: published medians need %d rounds", o.md, o.rounds, minRounds)
	}
	return nil
}

// wants reports whether a measure is to be taken.
func (o options) wants(name string) bool {
	return len(o.only) == 0 || slices.Contains(o.only, name)
}
