// A dialog with a combobox; the list is a fragment of the server, asked 120 ms after the last key.
import { $, $$ } from './dom.js';

const WAIT_MS = 120;

class CwPalette extends HTMLElement {
  connectedCallback() {
    this.field = $('input', this);
    this.list = $('[role=listbox]', this);
    this.scope = 'all';
    this.at = 0;
    this.field.addEventListener('input', () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.ask(), WAIT_MS); });
    this.addEventListener('keydown', (event) => this.press(event));
    this.addEventListener('click', (event) => {
      const tab = event.target.closest('[data-scope]');
      if (tab) this.pick(tab.dataset.scope);
      const option = event.target.closest('[role=option]');
      if (option) location.assign(option.dataset.href);
    });
  }

  get options() { return $$('[role=option]', this.list); }

  press(event) {
    const count = this.options.length;
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
      const option = this.options[this.at];
      if (option) location.assign(option.dataset.href);
    }
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
    const asked = `${this.dataset.src}?${new URLSearchParams({ q: this.field.value, scope: this.scope })}`;
    this.asked = asked;
    try {
      const response = await fetch(asked, { headers: { 'HX-Request': 'true' } });
      const html = await response.text();
      if (this.asked !== asked) return; // a later question is on its way
      this.list.innerHTML = html;
    } catch {
      this.list.innerHTML = '<li class="pal-none" role="presentation">The server did not answer. Type again to retry.</li>';
    }
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
