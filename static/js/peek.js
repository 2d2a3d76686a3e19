// The rail beside a page. Opening pushes an entry of the history, stepping replaces it, and the
// address says what is open, so that Back, reload and a sent link show the same.
import { $, $$, announce, setAttr, setText } from './dom.js';

const rail = $('#peek');
const main = $('#main');
let from = null;

export const opened = () => Boolean(rail) && !rail.hidden;
const ref = () => new URLSearchParams(location.search).get('peek') ?? '';
const links = () => $$('[data-peek]', main).filter((link) => link.offsetParent);

// A list is drawn again while it is read: the mark is set anew on whatever row stands there now.
function mark() {
  const now = opened() ? rail.dataset.ref : '';
  const rows = new Set(links().filter((link) => now && link.dataset.peek === now)
    .map((link) => link.closest('tr,li,article,.wrow') ?? link));
  for (const row of $$('[data-peeked]', main)) {
    if (!rows.has(row)) { delete row.dataset.peeked; row.removeAttribute('aria-current'); }
  }
  for (const row of rows) { setAttr(row, 'data-peeked', ''); setAttr(row, 'aria-current', 'true'); }
}

function failed(text) {
  const place = $('#peek-in', rail);
  place.innerHTML = '<div class="blank" data-kind="bad" data-failed><b>This part could not be read</b><p></p><button class="btn sm" type="button" data-do="retry">Try again</button></div>';
  setText($('p', place), text);
}

async function read(what) {
  const [kind, ...rest] = what.split(':');
  const source = `/ui/peek/${encodeURIComponent(kind)}/${encodeURIComponent(rest.join(':'))}`;
  rail.dataset.ref = what;
  rail.hidden = false;
  rail.setAttribute('aria-busy', 'true');
  mark();
  try {
    const response = await fetch(source, { headers: { 'HX-Request': 'true' }, cache: 'no-store' });
    if (response.status === 401) { location.reload(); return; }
    const html = await response.text();
    if (rail.dataset.ref !== what) return; // a later one is on its way
    if (response.ok) {
      $('#peek-in', rail).outerHTML = html;
      announce($('h2', rail)?.textContent ?? 'Opened');
    } else {
      failed(new DOMParser().parseFromString(html, 'text/html').querySelector('p')?.textContent ?? 'The server could not draw it.');
    }
    $('.peek-b', rail).scrollTop = 0;
  } catch {
    if (rail.dataset.ref === what) failed('The server did not answer.');
  } finally {
    if (rail.dataset.ref === what) rail.removeAttribute('aria-busy');
  }
}

function hide() {
  const held = rail.contains(document.activeElement);
  rail.hidden = true;
  rail.dataset.ref = '';
  mark();
  if (held || document.activeElement === document.body) from?.focus();
}

function address(what) {
  const url = new URL(location.href);
  if (what) url.searchParams.set('peek', what); else url.searchParams.delete('peek');
  return url;
}

export function show(what, link) {
  from = link ?? from;
  history[opened() ? 'replaceState' : 'pushState']({ peek: what }, '', address(what));
  if (matchMedia('(max-width: 1159px)').matches && !opened()) setTimeout(() => $('[data-do=peek-close]', rail).focus());
  return read(what);
}

export function close() {
  if (!opened()) return;
  history.pushState({}, '', address(''));
  hide();
}

export function step(by) {
  const all = [...new Set(links().map((link) => link.dataset.peek))];
  const next = all[all.indexOf(rail.dataset.ref) + by];
  if (!next) { announce(by > 0 ? 'This is the last one' : 'This is the first one'); return; }
  const link = links().find((each) => each.dataset.peek === next);
  link.scrollIntoView({ block: 'nearest' });
  show(next, link);
}

export const peekable = () => {
  const at = document.activeElement;
  return at?.matches?.('[data-peek]') ? at : null;
};
export const again = () => read(rail.dataset.ref);

if (rail && main) {
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('[data-peek]');
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (!main.contains(link)) return;
    event.preventDefault();
    show(link.dataset.peek, link);
  });
  addEventListener('popstate', () => { if (ref()) read(ref()); else if (opened()) hide(); });
  new MutationObserver(mark).observe(main, { childList: true, subtree: true, attributeFilter: ['aria-current', 'data-peek'] });
  mark();
}
