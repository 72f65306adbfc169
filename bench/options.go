package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// options are what the command line asks for.
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
	flags.IntVar(&o.rounds, "rounds", minRounds,
		"how often to measure each contender; medians are over the rounds")
	flags.BoolVar(&o.short, "short", false,
		"run for less than a minute: fewer samples, shorter leases, not for publication")
	flags.StringVar(&only, "only", "",
		"comma-separated measurements to take (default all of "+measurementNames()+")")
	flags.StringVar(&o.svg, "svg", "", "`directory` to write plots to")
	flags.StringVar(&o.md, "md", "",
		"Markdown `file` to write the results into, between "+beginMarker+" and "+endMarker)
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
	only := strings.Join(o.only, ",")
	for _, name := range o.only {
		known := func(m measurement) bool { return m.name == name }
		if !slices.ContainsFunc(measurements(), known) {
			return fmt.Errorf("-only %q: no measurement %q; there are %s", only, name, measurementNames())
		}
	}
	if o.md != "" && len(o.only) > 0 {
		return fmt.Errorf("-md %q with -only %q would replace all results by some of them", o.md, only)
	}
	if o.md != "" && o.rounds < minRounds {
		return fmt.Errorf("-md %q with -rounds %d: published medians need %d rounds",
			o.md, o.rounds, minRounds)
	}
	return nil
}

// wants reports whether to take a measurement.
func (o options) wants(name string) bool {
	return len(o.only) == 0 || slices.Contains(o.only, name)
}
