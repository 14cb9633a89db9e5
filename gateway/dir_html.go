package gateway

import (
	"slices"
	"strconv"

	"github.com/fetch1738/fetch1738/gateway/internal/markup"
)

// html writes the directory, with what the server says about it.
func (d *directory) html(w *markup.Writer) {
	if len(d.Message) > 0 {
		putText(w, d.Message)
	}
	if d.Person {
		w.Put(icons + "\n")
	}
	if d.Cut() == "" {
		d.tools(w)
	}
	if d.Choice.Grid {
		putGrid(w, d)
	} else {
		putTable(w, d)
	}
	if cut := d.Cut(); cut != "" {
		w.Put("<p class=\"error\" role=\"alert\">The listing is not complete: %s</p>\n", cut)
	}
	switch {
	case d.Whole():
		if !d.Known {
			w.Put("<p>%s</p>\n", d.Summary())
		}
	case d.Cut() == "":
		putPages(w, d)
	}
	d.Unread.html(w)
	if r := d.Readme(); r != nil {
		r.html(w)
	}
	if len(d.Greeting) > 0 {
		w.Put("<details>\n<summary>Messages of the server</summary>\n")
		putText(w, d.Greeting)
		w.Put("</details>\n")
	}
}

// tools writes what the directory has, and links to other choices.
func (d *directory) tools(w *markup.Writer) {
	w.Put(`<div class="tools">
<p id="count" role="status">`)
	switch {
	case !d.Known:
		w.Put("More entries than one page has, in the order of the server")
	case !d.Empty():
		w.Put("%s", d.Summary())
	case d.Choice.Filter != "":
		w.Put("No name contains “%s”", visible(d.Choice.Filter))
	default:
		w.Put("The directory is empty")
	}
	w.Put("</p>\n")
	if d.Person {
		if !d.Known {
			putAside(w, d.Sorted(), "Sort all by name")
		}
		if d.Choice.Filter != "" {
			putAside(w, d.All(), "Show all")
		}
		switch {
		case d.Choice.Grid:
			putAside(w, d.View(), "As a table")
		case d.Pictures > 0 || !d.Known:
			putAside(w, d.View(), "As pictures")
		}
		if !d.Known || !d.Empty() || d.Choice.Filter != "" {
			putFilter(w, d)
		}
	}
	w.Put("</div>\n")
}

// putFilter writes the form for a part of the names.
func putFilter(w *markup.Writer, d *directory) {
	f := d.Form()
	w.Put(`<form action="%u" method="get" role="search" aria-label="Names">`, f.Action.String())
	putHidden(w, f.Hidden)
	w.Put(`<label class="hidden" for="filter">Part of a name</label><input type="search" id="filter" name="filter" value="%s" placeholder="Part of a name" autocomplete="off"> <button type="submit">Filter</button></form>
`, d.Choice.Filter)
}

// putTable writes the entries as a table.
func putTable(w *markup.Writer, d *directory) {
	w.Put(`<table class="directory">
<caption>Contents of %s</caption>
<thead><tr>`, d.Of)
	for _, c := range d.Columns() {
		w.Put(`<th scope="col"`)
		if c.Order != "" {
			w.Put(` aria-sort="%s"`, c.Order)
		}
		w.Put(">")
		if c.Link.Empty() {
			w.Put("%s", c.Text)
		} else {
			w.Put(`<a href="%u" rel="nofollow">%s</a>`, c.Link.String(), c.Text)
		}
		if c.Text == "Modified" {
			zone := "time zone not known"
			if d.UTC {
				zone = "UTC"
			}
			w.Put(" <small>(%s)</small>", zone)
		}
		w.Put("</th>")
	}
	w.Put("</tr></thead>\n<tbody>\n")
	if parent := d.Parent(); !parent.Empty() {
		w.Put(`<tr class="parent"><td colspan="4"><a href="%u">`, parent.String())
		if d.Person {
			w.Put(upIcon)
		}
		w.Put("Parent folder</a></td></tr>\n")
	}
	for row := range d.Rows() {
		row.html(w)
		if w.Failed() {
			return
		}
	}
	w.Put("</tbody>\n</table>\n")
	if d.Person && d.Known && d.Choice.Filter == "" && d.Cut() == "" && d.Pages() == 1 {
		w.Put("<script>" + filterScript + "</script>\n")
	}
}

// html writes the row of a table.
func (r *fileRow) html(w *markup.Writer) {
	w.Put("<tr><td>")
	r.linked(w, func() {
		r.icon(w)
		w.Put("%s", r.Text)
	})
	if r.Target != "" {
		w.Put(" → %s", r.Target)
	}
	w.Put("</td><td>%s</td><td>", r.Kind)
	if r.Size != "" {
		w.Put(`<data value="%s">%s</data>`, r.Size, r.Short)
	}
	w.Put("</td><td>")
	if r.Time != "" {
		w.Put(`<time datetime="%s">%s</time>`, r.Time, r.When)
	}
	w.Put("</td></tr>\n")
}

// linked writes a text as the link to the entry, if there is one.
func (r *fileRow) linked(w *markup.Writer, text func()) {
	to := r.Href
	if to == "" && !r.Link.Empty() {
		to = r.Link.String()
	}
	if to == "" {
		text()
		return
	}
	w.Put(`<a href="%u">`, to)
	text()
	w.Put("</a>")
}

// icon writes the icon, if there is one.
func (r *fileRow) icon(w *markup.Writer) {
	if r.Icon != "" {
		w.Put(`<svg aria-hidden="true" width="18" height="18"><use href="%u"/></svg>`, "#"+r.Icon)
	}
}

// putGrid writes the pictures and folders.
func putGrid(w *markup.Writer, d *directory) {
	w.Put("<ul class=\"grid\">\n")
	if parent := d.Parent(); !parent.Empty() {
		w.Put(`<li><a href="%u">`+upIcon+`<span>Parent folder</span></a></li>
`, parent.String())
	}
	for row := range d.Rows() {
		w.Put("<li>")
		row.linked(w, func() {
			if row.Image != "" {
				w.Put(`<img src="%u" alt="" loading="lazy">`, row.Image)
			} else {
				row.icon(w)
				w.Put(`<span class="hidden">%s </span>`, row.Kind)
			}
			w.Put("<span>%s</span>", row.Text)
		})
		w.Put("</li>\n")
		if w.Failed() {
			return
		}
	}
	w.Put("</ul>\n")
}

// putPages writes the links to the other pages.
func putPages(w *markup.Writer, d *directory) {
	if d.Empty() {
		w.Put("<p>There are no more entries.</p>\n")
	}
	w.Put("<nav class=\"pages\" aria-label=\"Pages\"><ul>\n")
	if previous := d.Previous(); !previous.Empty() {
		w.Put("<li><a href=\"%u\" rel=\"prev nofollow\">Previous page</a></li>\n", previous.String())
	}
	w.Put("<li>Page %s", strconv.Itoa(d.Choice.Page))
	if n := d.Pages(); n > 0 {
		w.Put(" of %s", strconv.Itoa(n))
	}
	w.Put("</li>\n")
	if next := d.Next(); !next.Empty() {
		w.Put("<li><a href=\"%u\" rel=\"next nofollow\">Next page</a></li>\n", next.String())
	}
	w.Put("</ul></nav>\n")
}

// html writes the lines, if there are any.
func (u *unread) html(w *markup.Writer) {
	if u.Count == 0 {
		return
	}
	w.Put("<details>\n<summary>Lines of the listing that are not entries: %s</summary>\n<pre class=\"text\">\n", strconv.Itoa(u.Count))
	for _, line := range u.Lines {
		w.Put("%s\n", line)
	}
	if more := u.More(); more > 0 {
		w.Put("(%s more)", strconv.Itoa(more))
	}
	w.Put("</pre>\n</details>\n")
}

// html writes the text.
func (r *readme) html(w *markup.Writer) {
	w.Put(`<section class="readme" aria-labelledby="readme">
<h2 id="readme">%s</h2>
`, r.Name)
	if r.Prose != nil {
		putProse(w, r.Prose)
	} else {
		w.Put("<pre class=\"text\">\n")
		putLinked(w, slices.Values(r.Text))
		w.Put("</pre>\n")
	}
	if r.Cut {
		w.Put("<p>This is only the beginning of the file.</p>\n")
	}
	w.Put("</section>\n")
}

const upIcon = `<svg aria-hidden="true" width="18" height="18"><use href="#up"/></svg>`

// icons are the icons of the kinds of entries, which the rows use by their names.
const icons = `<svg class="icons" aria-hidden="true" width="0" height="0">
<symbol id="folder" viewBox="0 0 18 18"><path d="M1.5 14V3.5h5l2 2h8V14a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1z" fill="currentColor" stroke="none"/></symbol>
<symbol id="up" viewBox="0 0 18 18"><path d="M15 15V9.5a3 3 0 0 0-3-3H3m3.5-4L2.5 6.5l4 4"/></symbol>
<symbol id="file" viewBox="0 0 18 18"><path d="M3.5 1.5h7l4 4v11h-11zM10.5 1.5v4h4"/></symbol>
<symbol id="text" viewBox="0 0 18 18"><path d="M3.5 1.5h7l4 4v11h-11zM10.5 1.5v4h4M6 9h6M6 11.5h6M6 14h4"/></symbol>
<symbol id="archive" viewBox="0 0 18 18"><path d="M2 2.5h14v4H2zM3.5 6.5v9h11v-9M7 9.5h4"/></symbol>
<symbol id="picture" viewBox="0 0 18 18"><path d="M1.5 3h15v12h-15zM1.5 12.5l4-4 4 4 2.5-2.5 4.5 4.5"/><circle cx="12" cy="6.5" r="1.2"/></symbol>
<symbol id="sound" viewBox="0 0 18 18"><path d="M6.5 13.5v-10l8-1.5v9.5"/><circle cx="4.5" cy="13.5" r="2"/><circle cx="12.5" cy="11.5" r="2"/></symbol>
<symbol id="video" viewBox="0 0 18 18"><path d="M1.5 3h15v12h-15zM7 6v6l5-3z"/></symbol>
<symbol id="link" viewBox="0 0 18 18"><path d="M7.5 10.5l6.5-6.5m-4.5 0H14v4.5M11 2.5H3.5v12h11V9"/></symbol>
</svg>`

// filterScript shows the rows that the filter selects while a person types.
const filterScript = `
"use strict";
const filter = document.getElementById("filter"), count = document.getElementById("count");
const rows = document.querySelectorAll("tbody tr:not(.parent)"), all = count.textContent;
filter.addEventListener("input", () => {
  const part = filter.value.trim().toLowerCase();
  let shown = 0;
  for (const row of rows) {
    row.hidden = !(row.querySelector("a") || row.cells[0]).textContent.toLowerCase().includes(part);
    if (!row.hidden) shown++;
  }
  count.textContent = part ? shown + " of " + rows.length + " names" : all;
});
`
