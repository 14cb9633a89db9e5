// Controls one browser for the interop tests. It reads one request a line on standard input, a JSON
// object with "id", "op" and the arguments of the operation, and answers each with a line on
// standard output: {"id", "value"} or {"id", "error"}. Requests run concurrently; those for one
// page must wait for each other. The arguments are the kind of browser, "chrome" or "firefox", the
// WebSocket address of the browser, which runs already, and its process group. The driver ends with
// its input, also when the test crashes, and then kills that group.

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';
import puppeteer from 'puppeteer-core';

const [kind, address, group] = process.argv.slice(2);
const browser = await puppeteer.connect({
  browserWSEndpoint: address,
  protocol: kind === 'firefox' ? 'webDriverBiDi' : 'cdp',
  defaultViewport: null,
  // The test has the time limit.
  protocolTimeout: 0,
});

// pages has each open page with what it did, by the number that the test knows it by.
const pages = new Map();
let last = 0;

// watch records what a page does: requests, messages on the console, dialogs.
function watch(page) {
  const number = ++last;
  const log = {requests: [], console: [], dialogs: []};
  page.setDefaultTimeout(0);
  page.on('request', r => log.requests.push(r.url()));
  page.on('console', m => log.console.push(m.text()));
  page.on('pageerror', e => log.console.push(String(e)));
  page.on('dialog', d => { log.dialogs.push(d.message()); return d.dismiss(); });
  pages.set(number, {page, log});
  return number;
}

// axeSource is the text of axe-core, which is evaluated in each page.
let axeSource;

// validators has an html-validate per configuration.
const validators = new Map();

// The elements that the Tab key must reach, in the order of the document: those that are not
// hidden. What has a negative tabindex receives focus otherwise: a heading or main by a link, the
// number of a line by a click.
function listFocusable() {
  const all = document.querySelectorAll('a[href]:not([tabindex^="-"]), button, input:not([type=hidden]), select, textarea, summary, audio[controls], video[controls], [tabindex]:not([tabindex^="-"])');
  window.focusable = [...all].filter(e => e.checkVisibility({visibilityProperty: true}) && !e.disabled);
  // Of a group of radio buttons, Tab reaches the checked one or the first.
  const groups = new Set();
  window.focusable = window.focusable.filter(e => {
    if (e.type !== 'radio') return true;
    const group = [...document.getElementsByName(e.name)].filter(o => o.type === 'radio' && o.form === e.form);
    return e === (group.find(o => o.checked) ?? group[0]);
  });
  return window.focusable.map(e => e.outerHTML.slice(0, 200));
}

// describeFocus returns the place of the focused element in listFocusable, -1 if it is not there.
function describeFocus() {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  return {
    index: window.focusable.indexOf(e),
    html: e.outerHTML.slice(0, 200),
    outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
    inView: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
}

const operations = {
  // open opens a page in a profile of its own, or in the first one of the browser. Only the first
  // one has protocol handlers.
  async open({first = false, script = true}) {
    const page = first ? await browser.newPage() : await (await browser.createBrowserContext()).newPage();
    if (!script) await page.setJavaScriptEnabled(false);
    return watch(page);
  },

  async close({page}) {
    const p = pages.get(page).page;
    pages.delete(page);
    await p.close();
  },

  // goto loads a URL and returns the address and the status of the page that is shown then; the
  // status is 0 if there is none, because the document was stored as a file.
  async goto({page, url}) {
    const p = pages.get(page).page;
    try {
      const response = await p.goto(url, {waitUntil: 'load'});
      return {url: p.url(), status: response?.status() ?? 0};
    } catch (e) {
      if (!String(e).includes('ERR_ABORTED')) throw e;
      return {url: p.url(), status: 0};
    }
  },

  // follow clicks on an element and waits for the page that it leads to.
  async follow({page, selector}) {
    const p = pages.get(page).page;
    const [response] = await Promise.all([p.waitForNavigation({waitUntil: 'load'}), p.click(selector)]);
    return {url: p.url(), status: response?.status() ?? 0};
  },

  async click({page, selector}) {
    await pages.get(page).page.click(selector);
  },

  async type({page, selector, text}) {
    await pages.get(page).page.type(selector, text);
  },

  async press({page, key}) {
    await pages.get(page).page.keyboard.press(key);
  },

  // wait returns when a function of JavaScript returns true in the page.
  async wait({page, expression}) {
    await pages.get(page).page.waitForFunction(expression);
  },

  // evaluate returns the value of an expression of JavaScript in the page.
  async evaluate({page, expression}) {
    return await pages.get(page).page.evaluate(expression) ?? null;
  },

  // framed waits for a frame of the page whose whole text is the given one, and returns its address.
  async framed({page, text}) {
    const shows = async f => await f.evaluate(() => document.body?.innerText.trim()) === text;
    for (;; await new Promise(resolve => setTimeout(resolve, 100))) {
      for (const f of pages.get(page).page.frames()) {
        if (await shows(f).catch(() => false)) return f.url();
      }
    }
  },

  async emulate({page, width, height, dark}) {
    const p = pages.get(page).page;
    await p.setViewport({width, height});
    // Firefox has no emulation of a medium; it keeps its setting.
    if (kind !== 'firefox') await p.emulateMediaFeatures([{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}]);
  },

  // shot takes a screenshot of the whole page, or of what is visible, and writes it if there is a
  // path. It returns the size of the picture in bytes.
  async shot({page, path, visible}) {
    const picture = await pages.get(page).page.screenshot({path, fullPage: !visible});
    return picture.length;
  },

  // shifts returns what of the page has moved after it was shown, without input of a user, and the score
  // of that (Layout Instability API). An entry of another type, which each page has, tells that all
  // have come.
  async shifts({page}) {
    return await pages.get(page).page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => {
      const observer = new PerformanceObserver(list => {
        // The buttons of the browser's player move when it knows the length: they have no node here.
        const shifts = list.getEntriesByType('layout-shift').filter(e => !e.hadRecentInput &&
          !(document.querySelector('audio, video') && e.sources.every(s => !s.node)));
        resolve({
          score: shifts.reduce((sum, e) => sum + e.value, 0),
          moved: shifts.flatMap(e => e.sources.map(s => s.node?.outerHTML?.slice(0, 120) ?? '')),
        });
      });
      observer.observe({type: 'layout-shift', buffered: true});
      observer.observe({type: 'navigation', buffered: true});
    }))));
  },

  // axe returns the violations that axe-core finds by all rules or by some, each as text.
  async axe({page, rules}) {
    const p = pages.get(page).page;
    axeSource ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    if (!await p.evaluate('typeof axe === "object"')) await p.evaluate(axeSource);
    return await p.evaluate(async rules => {
      const options = {preload: false, resultTypes: ['violations'], ...(rules ? {runOnly: rules} : {})};
      const {violations} = await axe.run(document, options);
      return violations.map(v => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.html).join(' | ')}`);
    }, rules);
  },

  // validate returns what html-validate finds in a document, each as text. config is the
  // configuration of html-validate.
  async validate({html, config}) {
    const key = JSON.stringify(config);
    if (!validators.has(key)) {
      const {HtmlValidate} = await import('html-validate');
      validators.set(key, new HtmlValidate({root: true, ...config}));
    }
    const report = await validators.get(key).validateString(html, 'page.html');
    return report.results.flatMap(r => r.messages.map(m => `${m.line}:${m.column}: ${m.ruleId}: ${m.message}`));
  },

  // tab presses Tab until the focus leaves the page or returns to its first element. It returns the
  // elements that Tab must reach and those that it reached.
  async tab({page}) {
    const p = pages.get(page).page;
    const want = await p.evaluate(listFocusable);
    const got = [];
    for (let i = 0; i < 2 * want.length + 20; i++) {
      await p.keyboard.press('Tab');
      const focus = await p.evaluate(describeFocus);
      if (!focus || got.length > 0 && focus.index === 0) break;
      got.push(focus);
    }
    return {want, got};
  },

  // log returns what a page did since the last call.
  async log({page}) {
    const {log} = pages.get(page);
    const copy = structuredClone(log);
    for (const list of Object.values(log)) list.length = 0;
    return copy;
  },

  // acceptHandlers lets a page register protocol handlers without a question to the user.
  async acceptHandlers({page}) {
    const session = await pages.get(page).page.createCDPSession();
    await session.send('Page.setRPHRegistrationMode', {mode: 'autoAccept'});
  },
};

for await (const line of createInterface({input: process.stdin})) {
  const {id, op, ...args} = JSON.parse(line);
  Promise.resolve()
    .then(() => operations[op](args))
    .then(value => ({id, value: value ?? null}), e => ({id, error: String(e?.stack ?? e)}))
    .then(answer => process.stdout.write(JSON.stringify(answer) + '\n'));
}
try {
  process.kill(-group, 'SIGKILL');
} catch {} // the test has ended the browser
process.exit(0);
