package gateway

import (
	"github.com/fetch1738/fetch1738/gateway/internal/markup"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
)

// A homePage is the page where a person enters a URL.
type homePage struct {
	Open, Setup place.Link
	Examples    []example
}

// An example is a URL to begin with.
type example struct {
	Text string
	Link place.Link
	Is   string
}

func (p *homePage) html(w *markup.Writer) {
	w.Put(`<form action="%u" class="open">
<label for="url">URL</label> <input id="url" name="url" type="text" required autocapitalize="none" spellcheck="false"> <button type="submit">Open</button>
</form>
<ul class="cards">`, p.Open.Path)
	for _, e := range p.Examples {
		w.Put("\n<li><a href=\"%u\">%s</a> <span>%s</span></li>", e.Link.String(), e.Text, e.Is)
	}
	w.Put(`
</ul>
<p><a href="%u">Open links in this gateway</a> when you click on them in other pages.</p>
<h2>What has pages here</h2>
<dl>
<dt>ftp, ftps</dt><dd>directories and files</dd>
<dt>gopher, gophers</dt><dd>menus, documents, searches, phone books and forms</dd>
<dt>news, snews, nntp, nntps</dt><dd>newsgroups and articles</dd>
<dt>wais</dt><dd>databases, searches and documents</dd>
<dt>prospero</dt><dd>directories and files</dd>
<dt>telnet, mailto</dt><dd>what to do with the URL; the gateway does not connect</dd>
</dl>
<p>The gateway only reads. It shows no local files, and http and https URLs are for the browser itself.</p>`, p.Setup.String())
}

// A setupPage is the page that registers the gateway with the browser, by a script.
type setupPage struct {
	Prefix, Origin, Open string
	Schemes              []handled
}

// A handled is a scheme that browsers let a page register.
type handled struct{ Scheme, Is string }

func (p *setupPage) html(w *markup.Writer) {
	w.Put(`<h2>In this browser</h2>
<noscript><p>The buttons for this need JavaScript, which no other page of the gateway does. Without it, use one of the other ways below.</p></noscript>
<div id="handlers" hidden>
<p>Each button asks the browser to open the links of one scheme in this gateway. The browser then asks you to confirm.</p>
<ul>`)
	for _, s := range p.Schemes {
		w.Put(`
<li><button type="button" data-scheme="%s" data-open="%s">Open %s links here</button> %s</li>`, s.Scheme, p.Open, s.Scheme, s.Is)
	}
	w.Put(`
</ul>
<p id="result" role="status"></p>
</div>
<p>To undo it, open the settings of the browser. In Firefox: Settings, General, Applications. In Chromium: Settings, Privacy and security, Site settings, Protocol handlers.</p>
<h2>For all programs on this desktop</h2>
<p>Browsers refuse to register gopher, wais, prospero, telnet and snews. On a Linux desktop this command registers all schemes of the gateway, and <code>--uninstall</code> removes them:</p>
<pre>fetch1738 gateway --install</pre>
<h2>By hand</h2>
<p>Put the URL behind this address, in the address bar:</p>
<pre class="text">%s/open?url=</pre>
<p>To type less, add a search engine in the settings of the browser, with a short keyword such as <kbd>url</kbd> and the address below. Then type the keyword, a space and the URL in the address bar.</p>
<pre class="text">%s</pre>
<script>`+setupScript+`</script>`, p.Origin+p.Prefix, p.Origin+p.Open)
}

// setupScript asks the browser to open the links of a scheme in the gateway.
const setupScript = `
"use strict";
const result = document.getElementById("result");
document.getElementById("handlers").hidden = false;
for (const button of document.querySelectorAll("button[data-scheme]")) {
  button.addEventListener("click", () => {
    const scheme = button.dataset.scheme;
    try {
      navigator.registerProtocolHandler(scheme, location.origin + button.dataset.open);
      result.textContent = "The browser was asked to open " + scheme + " links here. If it asks you, confirm.";
    } catch (error) {
      result.textContent = "The browser refused to register " + scheme + ": " + error.message;
    }
  });
}
`

// An interstitialPage is the page that asks before something is done that another site has linked to.
type interstitialPage struct {
	Action, URL, Words string
	Link               place.Link
}

func (p *interstitialPage) html(w *markup.Writer) {
	w.Put(`<p>A page of another site has sent you to this gateway, to %s:</p>
<p class="url">%s</p>
`, p.Action, p.URL)
	if p.Words != "" {
		w.Put("<p>The words are: <q>%s</q></p>\n", p.Words)
	}
	w.Put(`<p>Nothing has been sent to the server yet.</p>
<p><a href="%u" rel="nofollow">Continue</a></p>`, p.Link.String())
}
