// What every page needs; modules of a screen load only where their element is drawn.
import './latch.js';
import './elapsed.js';
import './acts.js';
import { $, $$, composing, keysOff, store, toast, typing } from './dom.js';
import { everything, refetch } from './live.js';
import { sheet } from './keys.js';
import * as peek from './peek.js';
import * as select from './select.js';
import './rail.js';
import './tabs.js';
import './entries.js';
import { open } from './palette.js';

const root = document.documentElement;

// First of all listeners: no field, form or list below hears an Enter that still picks a candidate.
addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !composing(event)) return;
  event.stopImmediatePropagation();
  if (!event.isComposing) event.preventDefault();
}, true);

for (const radio of $$('input[name=theme]')) {
  radio.checked = radio.value === root.dataset.theme;
  radio.addEventListener('change', () => {
    // Colours change at once: eased one by one, text and its ground would meet half-way.
    root.dataset.switching = '';
    root.dataset.theme = radio.value;
    store('theme', radio.value);
    requestAnimationFrame(() => requestAnimationFrame(() => { delete root.dataset.switching; }));
  });
}

const prefs = {
  keys: { on: () => !keysOff(), set: (on) => store('keys', on ? 'on' : 'off') },
  compact: {
    on: () => root.dataset.density === 'compact',
    set: (on) => { root.dataset.density = on ? 'compact' : 'cosy'; store('density', root.dataset.density); },
  },
};
for (const box of $$('[data-pref]')) {
  const pref = prefs[box.dataset.pref];
  box.checked = pref.on();
  box.addEventListener('change', () => pref.set(box.checked));
}

// A first company lives where its founder's clock is, unless they say otherwise.
for (const select of $$('select[data-here]')) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if ([...select.options].some((option) => option.value === timeZone)) select.value = timeZone;
}

function drawer(on) {
  document.body.dataset.nav = on ? 'open' : '';
  const button = $('[data-do=nav]');
  button.setAttribute('aria-expanded', on);
  if (on) $('#side a').focus(); else button.focus();
}

const does = {
  'peek-back': () => peek.step(-1),
  'peek-on': () => peek.step(1),
  'peek-close': (element, event) => { event.preventDefault(); peek.close(); },
  retry: (element) => { const region = element.closest('[data-src][id]'); if (region && region.id !== 'peek-in') refetch(region.id); else peek.again(); },
  'picked-copy': () => select.copy(),
  'picked-clear': () => select.clear(),
  palette: (element) => open(element.dataset.query),
  nav: () => drawer(document.body.dataset.nav !== 'open'),
  'nav-close': () => drawer(false),
  reload: () => everything(),
  keys: () => sheet(),
  'theme-light': () => $('input[name=theme][value=light]').click(),
  'theme-dark': () => $('input[name=theme][value=dark]').click(),
  'copy-link': async () => {
    try { await navigator.clipboard.writeText(location.href); toast('Link copied'); } catch { toast('This browser did not let us copy.'); }
  },
};

addEventListener('cw:do', (event) => does[event.detail]?.(document.body, event));

addEventListener('click', (event) => {
  const element = event.target.closest?.('[data-do]');
  if (element) does[element.dataset.do]?.(element, event);
  // A menu closes when the reader looks elsewhere.
  for (const menu of $$('details.pop[open]')) if (!menu.contains(event.target)) menu.open = false;
});

addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  const menu = $('details.pop[open]');
  if (menu) { menu.open = false; $('summary', menu).focus(); } else if (document.body.dataset.nav === 'open') drawer(false);
  else if (!$('dialog[open]') && !event.defaultPrevented && !typing(event)) { if (peek.opened()) peek.close(); else if (select.any()) select.clear(); }
});

for (const form of $$('[data-filters]')) {
  for (const select of $$('select', form)) select.addEventListener('change', () => form.requestSubmit());
}

if ($('cw-board')) import('./board.js');
if ($('form[data-upload]')) import('./upload.js');
if ($('cw-tail')) import('./tail.js');
if ($('cw-chart')) import('./chart.js');
if ($('text-expander')) import('./writing.js');
