// A dialog with a combobox; the list is a fragment of the server, asked 120 ms after the last key.
import { post, told } from './acts.js';
import { $, $$, setAttr, setText, store, stored, toast } from './dom.js';
import { everything } from './live.js';

const WAIT_MS = 120;
const SLOW_MS = 200;
const RECENT = 8;

// -- where the reader was ----------------------------------------------------------------------------
// Kept in this browser, apart for everyone who signs in here.
const shelf = `recents.${document.body.dataset.me ?? ''}`;
const recents = () => { try { return JSON.parse(stored(shelf) ?? '[]'); } catch { return []; } };

function remember() {
  const label = $('.crumbs h1')?.textContent.trim();
  const url = location.pathname;
  if (!label || url === '/' || !document.body.dataset.me) return;
  store(shelf, JSON.stringify([{ label, url }, ...recents().filter((row) => row.url !== url)].slice(0, RECENT)));
}

function said(text) {
  const row = document.createElement('li');
  row.className = 'pal-none';
  row.setAttribute('role', 'presentation');
  row.textContent = text;
  return row;
}

function recentRows() {
  const rows = recents().filter((row) => row.url !== location.pathname);
  if (!rows.length) return [];
  const head = document.createElement('li');
  head.className = 'grp';
  head.setAttribute('role', 'presentation');
  head.textContent = 'Recent';
  return [head, ...rows.map((row, index) => {
    const option = document.createElement('li');
    option.id = `po-recent-${index}`;
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', 'false');
    option.dataset.href = row.url;
    const words = document.createElement('span');
    words.className = 't';
    words.dir = 'auto';
    words.textContent = row.label;
    const where = document.createElement('small');
    where.textContent = row.url;
    option.append(words, where);
    return option;
  })];
}

class CwPalette extends HTMLElement {
  connectedCallback() {
    this.field = $('input', this);
    this.list = $('[role=listbox]', this);
    this.scope = 'all';
    this.at = 0;
    this.words = $('[data-f=say]', this);
    // What was sent is answered here, so nothing closes the palette before.
    this.closest('dialog').addEventListener('cancel', (event) => { if (this.sending) event.preventDefault(); });
    this.field.addEventListener('input', () => { this.late = true; clearTimeout(this.timer); this.timer = setTimeout(() => this.ask(), WAIT_MS); });
    this.addEventListener('keydown', (event) => this.press(event));
    this.addEventListener('click', (event) => {
      const tab = event.target.closest('[data-scope]');
      if (tab) this.pick(tab.dataset.scope);
      const option = event.target.closest('[role=option]');
      if (option) this.take(option, event.metaKey || event.ctrlKey);
    });
  }

  get options() { return $$('[role=option]', this.list); }

  press(event) {
    const count = this.options.length;
    const pressed = this.pressed(event);
    if (pressed) { event.preventDefault(); this.take(pressed, false); return; }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (count) this.at = (this.at + (event.key === 'ArrowDown' ? 1 : count - 1)) % count;
      this.mark();
    } else if (event.key === 'Tab') {
      event.preventDefault();
      const tabs = $$('[data-scope]', this);
      const now = tabs.findIndex((tab) => tab.dataset.scope === this.scope);
      this.pick(tabs[(now + (event.shiftKey ? tabs.length - 1 : 1)) % tabs.length].dataset.scope);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      this.enter(event.metaKey || event.ctrlKey);
    }
  }

  // A row's own press takes it whatever is marked; a letter is known by its key, not by what Alt makes of it.
  pressed(event) {
    const letter = event.code?.startsWith('Key') ? event.code.slice(3).toLowerCase() : event.key;
    const press = event.altKey ? `alt+${letter}` : event.metaKey || event.ctrlKey ? `mod+${event.key}` : '';
    const option = press && $(`[data-press="${CSS.escape(press)}"]`, this.list);
    // A marked link opens apart by the same press, unless there is somebody to ask.
    return option && (event.altKey || option.getAttribute('aria-disabled') !== 'true') ? option : null;
  }

  say(text, tone) {
    setText(this.words, text);
    setAttr(this.words, 'data-tone', tone ?? null);
  }

  // The operation id stays the same only while nobody knows whether it landed.
  async send(option) {
    if (this.sending) return;
    this.sending = true;
    option.setAttribute('aria-busy', 'true');
    option.dataset.op ??= crypto.randomUUID();
    this.say('Waiting for the server…');
    try {
      const fields = [...JSON.parse(option.dataset.fields), ['op_id', option.dataset.op]];
      const response = await post(`/act/${option.dataset.verb}`, fields);
      if (response.status === 401) location.reload();
      else if (response.status === 204) this.landed(told(response));
      else if (response.status >= 500) this.say('Nobody knows yet whether this landed. Take it again to find out.', 'stop');
      else {
        const why = new DOMParser().parseFromString(await response.text(), 'text/html').body.textContent;
        this.say(why.replace(/\s+/g, ' ').trim() || 'This was refused.', 'stop');
        delete option.dataset.op;
      }
    } catch { this.say('Nobody knows yet whether this landed. Take it again to find out.', 'stop'); } finally {
      this.sending = false;
      option.removeAttribute('aria-busy');
    }
  }

  landed(done) {
    this.say('');
    this.closest('dialog').close();
    if (done.redirect) { location.assign(done.redirect); return; }
    toast(done.message || 'Done');
    everything();
  }

  // The list still answers an earlier text: what was typed is asked first, then the first row taken.
  async enter(apart) {
    if (this.late) { clearTimeout(this.timer); await this.ask(); }
    const option = this.options[this.at];
    if (option) this.take(option, apart);
  }

  take(option, apart) {
    if (option.getAttribute('aria-disabled') === 'true') { this.say($('small', option)?.textContent ?? ''); return; }
    if (option.dataset.verb) { this.send(option); return; }
    if ('again' in option.dataset) { this.ask(); return; }
    if (option.dataset.run) {
      this.closest('dialog').close();
      document.dispatchEvent(new CustomEvent('cw:do', { detail: option.dataset.run, bubbles: true }));
    } else if (apart) window.open(option.dataset.href, '_blank', 'noopener');
    else location.assign(option.dataset.href);
  }

  pick(scope) {
    this.scope = scope;
    for (const tab of $$('[data-scope]', this)) {
      const on = tab.dataset.scope === scope;
      tab.setAttribute('aria-selected', on);
      tab.tabIndex = on ? 0 : -1;
    }
    this.ask();
    this.field.focus();
  }

  async ask() {
    if (this.sending) return;
    const ref = $('#peek:not([hidden])')?.dataset.ref || (document.body.dataset.ref ?? '');
    const asked = `${this.dataset.src}?${new URLSearchParams({ q: this.field.value, scope: this.scope, ref })}`;
    this.say('');
    this.asked = asked;
    const waiting = setTimeout(() => { if (this.asked === asked) this.list.replaceChildren(said('Searching…')); }, SLOW_MS);
    try {
      const response = await fetch(asked, { headers: { 'HX-Request': 'true' } });
      const html = await response.text();
      if (this.asked !== asked) return; // a later question is on its way
      if (response.ok) {
        this.list.innerHTML = html;
        if (!this.field.value && this.scope === 'all') this.list.prepend(...recentRows());
      } else {
        const why = new DOMParser().parseFromString(html, 'text/html').querySelector('p')?.textContent;
        this.list.replaceChildren(said(why ?? `The server refused this (${response.status}).`));
      }
    } catch {
      if (this.asked === asked) this.list.replaceChildren(said('The server did not answer. Type again to retry.'));
    } finally { clearTimeout(waiting); }
    if (this.asked !== asked) return;
    this.late = false;
    this.at = 0;
    this.mark();
  }

  mark() {
    this.options.forEach((option, index) => option.setAttribute('aria-selected', index === this.at));
    const chosen = this.options[this.at];
    this.field.setAttribute('aria-activedescendant', chosen?.id ?? '');
    chosen?.scrollIntoView({ block: 'nearest' });
  }
}
customElements.define('cw-palette', CwPalette);

export function open(text = '') {
  const dialog = $('#palette');
  if (!dialog || dialog.open) return;
  const palette = $('cw-palette', dialog);
  palette.field.value = typeof text === 'string' ? text : '';
  dialog.showModal();
  palette.field.focus();
  palette.ask();
}

$('#palette')?.addEventListener('click', (event) => { if (event.target.id === 'palette') event.target.close(); });
remember();
