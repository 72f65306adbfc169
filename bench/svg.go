package main

import (
	"fmt"
	"html"
	"strings"
)

// The dimensions of a drawing, in pixels.
const (
	svgWidth   = 760
	svgLabels  = 260 // on the left
	svgValues  = 70  // to the right of the longest bar
	svgTop     = 44
	svgBar     = 16
	svgPitch   = 24
	svgGroup   = 30 // the line with a group's label
	svgBottom  = 34
	svgPlotted = svgWidth - svgLabels - svgValues
)

// svgStyle is readable on white and on black: the colours are of medium lightness, and the
// colour of the text follows the reader's preference.
const svgStyle = `text{font:12px system-ui,sans-serif;fill:#444}` +
	`.title{font-size:14px;font-weight:600}.group{font-weight:600}` +
	`.grid{stroke:#888;stroke-opacity:.3}` +
	`.bar{fill:#7d8ca3}.ours{fill:#d8583a}` +
	`.far{fill:none;stroke:#888;stroke-width:1.5}.dot{fill:#888}` +
	`@media(prefers-color-scheme:dark){text{fill:#ccc}}`

// drawing is an SVG that is being written, from top to bottom.
type drawing struct {
	strings.Builder
	plot *plot
	axis axis
	y    int
}

// svg draws the plot.
func (p *plot) svg() string {
	d := &drawing{plot: p, axis: p.axis(), y: svgTop}
	height := p.height()
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d"`,
		svgWidth, height)
	fmt.Fprintf(d, ` viewBox="0 0 %d %d" role="img">`, svgWidth, height)
	fmt.Fprintf(d, "\n<title>%s</title>\n<style>%s</style>\n", html.EscapeString(p.title), svgStyle)
	d.text("title", 10, 22, "start", p.title)
	d.grid(height - svgBottom)
	for _, g := range p.groups {
		d.group(g)
	}
	d.WriteString("</svg>\n")
	return d.String()
}

func (p *plot) height() int {
	height := svgTop + svgBottom
	for _, g := range p.groups {
		height += len(g.bars) * svgPitch
		if g.label != "" {
			height += svgGroup
		}
	}
	return height
}

func (d *drawing) text(class string, x, y int, anchor, text string) {
	fmt.Fprintf(d, `<text class="%s" x="%d" y="%d" text-anchor="%s">%s</text>`+"\n",
		class, x, y, anchor, html.EscapeString(text))
}

// x is the position of a value on the drawing.
func (d *drawing) x(v float64) int { return svgLabels + int(d.axis.at(v)*svgPlotted+0.5) }

// grid draws the ticks of the axis, down to y, and their labels.
func (d *drawing) grid(y int) {
	for _, tick := range d.axis.ticks {
		x := d.x(tick)
		fmt.Fprintf(d, `<line class="grid" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n",
			x, svgTop-6, x, y)
		d.text("tick", x, y+18, "middle", d.tick(tick))
	}
}

// tick is the label of a tick, without trailing zeros.
func (d *drawing) tick(v float64) string {
	if v == 0 {
		return "0"
	}
	number, unit, _ := strings.Cut(d.plot.unit(v), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return strings.TrimSpace(number + " " + unit)
}

func (d *drawing) group(g group) {
	if g.label != "" {
		d.y += svgGroup
		d.text("group", 10, d.y-10, "start", g.label)
	}
	for _, b := range g.bars {
		d.bar(b)
		d.y += svgPitch
	}
}

func (d *drawing) bar(b bar) {
	class := "bar"
	if strings.HasPrefix(b.label, "redisleader") {
		class = "ours"
	}
	base, end, middle := d.y+svgBar-4, d.x(b.value), d.y+svgBar/2
	d.text("label", svgLabels-8, base, "end", b.label)
	fmt.Fprintf(d, `<rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`+"\n",
		class, svgLabels, d.y, max(end-svgLabels, 1), svgBar)
	right := end
	if b.dot > b.value {
		right = d.x(b.dot)
		fmt.Fprintf(d, `<line class="far" x1="%d" y1="%d" x2="%d" y2="%d"/>`,
			end, middle, right, middle)
		fmt.Fprintf(d, `<circle class="dot" cx="%d" cy="%d" r="4"/>`+"\n", right, middle)
	}
	text := b.text
	if text == "" {
		text = d.plot.unit(b.value)
	}
	d.text("value", right+8, base, "start", text)
}
