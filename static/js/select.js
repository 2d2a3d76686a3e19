// Rows of a list taken together by `x`. What is selected is known by its reference: a list is drawn
// again while it is read, so the mark is set anew on whatever row stands there now.
import { $, $$, announce, setAttr, setText, toast } from './dom.js';

const main = $('#main');
const bar = $('#picked');
const picked = new Set();

const links = () => (main ? $$('[data-peek]', main).filter((link) => link.offsetParent) : []);
const rowOf = (link) => link.closest('tr,li,article,.wrow') ?? link;
const ident = (ref) => ref.slice(ref.indexOf(':') + 1);

export const pickable = () => {
  const at = document.activeElement;
  return main?.contains(at) && at.matches('[data-peek]') ? at : null;
};
export const any = () => picked.size > 0;

function mark() {
  const taken = links().filter((link) => picked.has(link.dataset.peek));
  const rows = new Set(taken.map(rowOf));
  for (const row of $$('[data-picked]', main)) if (!rows.has(row)) row.removeAttribute('data-picked');
  for (const row of rows) setAttr(row, 'data-picked', '');
  for (const link of links()) setAttr(link, 'aria-description', taken.includes(link) ? 'Selected' : null);
  if (!bar) return;
  bar.hidden = !any();
  setText($('[data-f=count]', bar), `${picked.size} selected`);
}

export function toggle() {
  const ref = pickable().dataset.peek;
  if (!picked.delete(ref)) picked.add(ref);
  mark();
  announce(`${ident(ref)} ${picked.has(ref) ? 'selected' : 'no longer selected'}, ${picked.size} in all`);
}

export function clear() {
  const held = bar?.contains(document.activeElement);
  const [first] = picked;
  picked.clear();
  mark();
  announce('Nothing is selected');
  if (held) links().find((link) => link.dataset.peek === first)?.focus();
}

export async function copy() {
  const keys = [...picked].map(ident);
  try {
    await navigator.clipboard.writeText(keys.join('\n'));
    toast(keys.length === 1 ? '1 key copied' : `${keys.length} keys copied`);
  } catch { toast('This browser did not let us copy.'); }
}

if (main && bar) {
  new MutationObserver(() => { if (any()) mark(); }).observe(main, { childList: true, subtree: true, attributeFilter: ['data-picked', 'data-peek'] });
}
