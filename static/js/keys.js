// ONE table of keys. The ? sheet is drawn from it, and a test refuses two bindings of one press.
import { $, $$, keysOff, typing } from './dom.js';
import { open } from './palette.js';
import * as peek from './peek.js';
import * as select from './select.js';

// A workspace that this company does not have has no key either.
const there = (url) => () => Boolean($(`#side a[href="${url}"]`));
const go = (url) => () => location.assign(url);
const board = () => $('cw-board');
const step = (dx, dy) => () => board()?.step(dx, dy);
const list = (by) => () => {
  const links = $$('.wrow-a,.in-row a,.trow-a,.grid td:first-child a[data-peek]');
  const at = links.indexOf(document.activeElement);
  links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
};
const noBoard = () => !board();

export const KEYS = [
  ['Everywhere', [
    { keys: 'mod+k', does: 'Search or jump', run: () => open() },
    { keys: '/', does: 'Search this screen', run: () => { const field = $('[data-search]'); if (field) field.focus(); else open($('[data-query]')?.dataset.query); } },
    { keys: 'c', does: 'New item', run: go('/work/new') },
    { keys: '?', does: 'All keys', run: () => sheet() },
    { keys: 'Escape', does: 'Close the top layer' },
  ]],
  ['In the palette', [
    { keys: 'alt+a', does: 'Assign the open item' },
    { keys: 'mod+Enter', does: 'Ask an agent about it' },
    { keys: 'alt+c', does: 'Create an item of this title' },
  ]],
  ['Go to', [
    { keys: 'g h', does: 'Home', run: go('/') },
    { keys: 'g i', does: 'Inbox', run: go('/inbox') },
    { keys: 'g w', does: 'Work', run: go('/work') },
    { keys: 'g a', does: 'Agents', run: go('/agents') },
    { keys: 'g m', does: 'My work', run: go('/me'), when: there('/me') },
    { keys: 'g l', does: 'Live', run: go('/live') },
    { keys: 'g k', does: 'Knowledge', run: go('/knowledge'), when: there('/knowledge') },
    { keys: 'g t', does: 'Spend', run: go('/spend'), when: there('/spend') },
    { keys: 'g s', does: 'Settings', run: go('/settings') },
  ]],
  ['Lists', [
    { keys: 'j', does: 'Next', run: list(1), when: noBoard },
    { keys: 'k', does: 'Previous', run: list(-1), when: noBoard },
    { keys: 'Enter', does: 'Open' },
    { keys: 'Space', does: 'Peek at it', run: () => { const link = peek.peekable(); peek.show(link.dataset.peek, link); }, when: () => Boolean(peek.peekable()) },
    { keys: 'x', does: 'Select it, or no longer', run: () => select.toggle(), when: () => Boolean(select.pickable()) },
    { keys: '[', does: 'Peek at the one before', run: () => peek.step(-1), when: peek.opened },
    { keys: ']', does: 'Peek at the next', run: () => peek.step(1), when: peek.opened },
    { keys: '1 to 9', does: 'Choose an option of the open decision, or a tab' },
  ]],
  ['Boards', [
    { keys: 'j', does: 'Next card', run: step(0, 1), when: board },
    { keys: 'k', does: 'Previous card', run: step(0, -1), when: board },
    { keys: 'l', does: 'Next lane', run: step(1, 0), when: board },
    { keys: 'h', does: 'Previous lane', run: step(-1, 0), when: board },
    { keys: 'alt+arrows', does: 'Carry the card' },
  ]],
  ['Chart', [{ keys: 'arrows', does: 'Walk the chart' }]],
  ['Writing', [
    { keys: 'mod+Enter', does: 'Send' },
    { keys: '@', does: 'Mention a seat' },
    { keys: '#', does: 'Name an item' },
  ]],
];

const apple = navigator.platform.startsWith('Mac');
const NAMES = { mod: apple ? '⌘' : 'Ctrl', alt: 'Alt', arrows: '↑ ↓ ← →', Enter: '↵', Escape: 'Esc' };

function caps(keys) {
  return keys.split(' ').flatMap((part) => part.split('+')).map((name) => {
    const cap = document.createElement('kbd');
    cap.textContent = NAMES[name] ?? (name.length === 1 ? name.toUpperCase() : name);
    return cap;
  });
}

function section([title, rows]) {
  const box = document.createElement('section');
  const head = document.createElement('h3');
  head.textContent = title;
  const items = document.createElement('ul');
  for (const row of rows) {
    if (title === 'Go to' && row.when && !row.when()) continue;
    const line = document.createElement('li');
    const words = document.createElement('span');
    words.textContent = row.does;
    const marks = document.createElement('span');
    marks.append(...caps(row.keys));
    line.append(words, marks);
    items.append(line);
  }
  box.append(head, items);
  return box;
}

export function sheet() {
  $('[data-keys]').replaceChildren(...KEYS.map(section));
  $('#keys').showModal();
}

const flat = KEYS.flatMap(([, rows]) => rows).filter((row) => row.run);
let first = '';
let timer = null;

function pressed(event, combination) {
  const row = flat.find((entry) => entry.keys === combination && (!entry.when || entry.when()));
  if (!row) return false;
  event.preventDefault();
  row.run(event);
  return true;
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented) return;
  const mod = event.metaKey || event.ctrlKey;
  if (mod && event.key === 'Enter') {
    const form = event.target.form ?? event.target.closest?.('form');
    if (form) { event.preventDefault(); form.requestSubmit(); }
    return;
  }
  if (mod && !event.shiftKey && pressed(event, `mod+${event.key.toLowerCase()}`)) return;
  if (mod || event.altKey || typing(event) || $('dialog[open]') || keysOff()) return;
  const name = event.key === ' ' ? 'Space' : event.key;
  const press = first ? `${first} ${name.toLowerCase()}` : name;
  clearTimeout(timer);
  if (!first && event.key === 'g') { first = 'g'; timer = setTimeout(() => { first = ''; }, 900); return; }
  first = '';
  if (pressed(event, press)) return;
  if (/^[1-9]$/.test(event.key)) {
    const option = $(`.opt input[data-option="${event.key}"]:not(:disabled)`, event.target.closest?.('.ask') ?? document);
    if (option) { option.checked = true; option.focus(); } else $$('.tabs a')[event.key - 1]?.click();
  }
});

for (const cap of $$('[data-mod]')) cap.textContent = `${apple ? '⌘' : 'Ctrl '}${cap.dataset.mod}`;
