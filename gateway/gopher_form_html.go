package gateway

import (
	"github.com/fetch1738/fetch1738/gateway/internal/markup"
)

// html writes the form.
func (p *formPage) html(w *markup.Writer) {
	if p.Native {
		w.Put("<p class=\"warning\">A proxy sends no forms. Open this URL on the gateway's own pages.</p>\n")
	}
	w.Put(`<form action="%u" method="post" accept-charset="utf-8" autocomplete="off">
`, p.Action.String())
	putHidden(w, p.Hidden)
	for _, q := range p.Questions {
		q.html(w)
	}
	if len(p.Views) > 0 {
		w.Put(`<p><label for="view">View</label><br>
<select id="view" name="view">
<option value="">the server's choice</option>`)
		for _, v := range p.Views {
			w.Put("\n<option value=\"%s\">%s</option>", v, v)
		}
		w.Put("\n</select></p>\n")
	}
	if !p.Native {
		w.Put("<p><button type=\"submit\">Continue</button> <span class=\"kind\">The next page shows what will be sent.</span></p>\n")
	}
	w.Put("</form>\n")
}

// html writes the question with its input.
func (q *formQuestion) html(w *markup.Writer) {
	switch q.Kind.String() {
	case "Note":
		w.Put("<p>%s</p>\n", q.Text)
	case "AskP":
		q.label(w)
		w.Put(`<input type="password" id="%s" name="%s" autocomplete="off" aria-describedby="%s-note"></p>
<p class="warning" id="%s-note">This password is sent in clear text: everyone on the way to the server can read it.</p>
`, q.ID, q.ID, q.ID, q.ID)
	case "AskL":
		q.label(w)
		w.Put(`<textarea id="%s" name="%s" rows="7">
%s</textarea></p>
`, q.ID, q.ID, q.Value)
	case "AskF":
		q.label(w)
		w.Put(`<input type="text" id="%s" name="%s" value="%s" aria-describedby="%s-note"></p>
<p class="kind" id="%s-note">The answer is downloaded as a file of this name.</p>
`, q.ID, q.ID, q.Value, q.ID, q.ID)
	case "Select":
		w.Put(`<p><input type="checkbox" id="%s" name="%s" value="1"`, q.ID, q.ID)
		if q.Value == "1" {
			w.Put(" checked")
		}
		w.Put("> <label for=\"%s\">%s</label></p>\n", q.ID, q.Text)
	case "Choose":
		q.choices(w)
	case "ChooseF":
		w.Put("<p class=\"note\">%s (The server asks for a file here. The gateway sends no files.)</p>\n", q.Text)
	default:
		q.label(w)
		w.Put("<input type=\"text\" id=\"%s\" name=\"%s\" value=\"%s\"></p>\n", q.ID, q.ID, q.Value)
	}
}

// label writes the prompt above the input.
func (q *formQuestion) label(w *markup.Writer) {
	w.Put("<p><label for=\"%s\">%s</label><br>\n", q.ID, q.Text)
}

// choices writes the answers to choose from.
func (q *formQuestion) choices(w *markup.Writer) {
	w.Put("<fieldset><legend>%s</legend>", q.Text)
	for _, c := range q.Choices {
		w.Put("\n<p><input type=\"radio\" id=\"%s\" name=\"%s\" value=\"%s\"", c.ID, q.ID, c.Value)
		if c.Checked {
			w.Put(" checked")
		}
		w.Put(`> <label for="%s">%s</label></p>`, c.ID, c.Text)
	}
	w.Put("\n</fieldset>\n")
}

// html writes what will be sent, and the button that sends it.
func (p *confirmPage) html(w *markup.Writer) {
	w.Put(`<p>Nothing has been sent yet. This is sent to %s:</p>
<pre class="plain" role="group" tabindex="0" aria-label="What is sent">
%s</pre>
`, p.Server, p.Bytes)
	if p.Secret {
		w.Put("<p class=\"warning\">The password is hidden here, but sent in clear text.</p>\n")
	}
	w.Put(`<form action="%u" method="post" accept-charset="utf-8">
`, p.Action.String())
	putHidden(w, p.Hidden)
	w.Put(`<p><button type="submit" name="send" value="1">Send</button> <a href="%u">Back to the form</a></p>
</form>
`, p.Action.String())
}
