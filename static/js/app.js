// What every page needs; modules of a screen load only where their element is drawn.
import './latch.js';
import './elapsed.js';
import './acts.js';
import { $, $$, store, stored, toast } from './dom.js';
import { everything } from './live.js';
import './keys.js';
import { open } from './palette.js';

const root = document.documentElement;

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
  keys: { on: () => stored('keys') !== 'off', set: (on) => store('keys', on ? 'on' : 'off') },
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

function drawer(on) {
  document.body.dataset.nav = on ? 'open' : '';
  const button = $('[data-do=nav]');
  button.setAttribute('aria-expanded', on);
  if (on) $('#side a').focus(); else button.focus();
}

const does = {
  palette: (element) => open(element.dataset.query),
  nav: () => drawer(document.body.dataset.nav !== 'open'),
  'nav-close': () => drawer(false),
  reload: () => everything(),
  'copy-link': async () => {
    try { await navigator.clipboard.writeText(location.href.split('?')[0]); toast('Link copied'); } catch { toast('This browser did not let us copy.'); }
  },
};

addEventListener('click', (event) => {
  const element = event.target.closest?.('[data-do]');
  if (element) does[element.dataset.do]?.(element);
  // A menu closes when the reader looks elsewhere.
  for (const menu of $$('details.pop[open]')) if (!menu.contains(event.target)) menu.open = false;
});

addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  const menu = $('details.pop[open]');
  if (menu) { menu.open = false; $('summary', menu).focus(); } else if (document.body.dataset.nav === 'open') drawer(false);
});

for (const form of $$('[data-filters]')) {
  for (const select of $$('select', form)) select.addEventListener('change', () => form.requestSubmit());
}

if ($('cw-board')) import('./board.js');
if ($('cw-tail')) import('./tail.js');
if ($('cw-chart')) import('./chart.js');
if ($('text-expander')) import('./writing.js');
