// What belongs to an entry of the history: where its page was scrolled to, and text not sent yet.
import { $, $$ } from './dom.js';

const main = $('#main');

// -- scroll ------------------------------------------------------------------------------------------

// Pages are never kept by a cache, and the window itself does not scroll: the browser restores nothing.
const place = () => `cw.top.${history.state?.entry}`;

function keep() {
  if (!history.state?.entry) history.replaceState({ ...history.state, entry: crypto.randomUUID() }, '');
  try { sessionStorage.setItem(place(), main.scrollTop); } catch { /* not kept */ }
}

// A transcript finds its own place.
if (main && !$('cw-tail')) {
  if (history.state?.entry) {
    try { main.scrollTop = Number(sessionStorage.getItem(place())) || 0; } catch { /* not kept */ }
  }
  main.addEventListener('scrollend', keep);
  addEventListener('pagehide', keep);
}

// -- filters: the same list seen otherwise is no new step back ---------------------------------------

const FILTERS = 'form[data-filters], form.filters';
const elsewhere = (event) => event.button || event.metaKey || event.ctrlKey || event.shiftKey;

addEventListener('submit', (event) => {
  const form = event.target;
  if (!form.matches?.(FILTERS) || event.defaultPrevented) return;
  event.preventDefault();
  const url = new URL(form.action);
  url.search = new URLSearchParams(new FormData(form, event.submitter));
  location.replace(url);
});

addEventListener('click', (event) => {
  const link = event.target.closest?.('.filters a[href], [data-replace] a[href]');
  if (!link || event.defaultPrevented || elsewhere(event)) return;
  event.preventDefault();
  location.replace(link.href);
});

// -- unsaved work ------------------------------------------------------------------------------------

const WRITTEN = 'textarea, input:is([type=text], [type=url], [type=email], [type=number], :not([type]))';
let sending = false;

// Text of a form that keeps a draft is there again after the way back.
const unsaved = () => $$('form[method=post]:not([data-draft], [data-saved])').some((form) => (
  $$(WRITTEN, form).some((field) => field.value !== field.defaultValue)));

addEventListener('input', (event) => { delete event.target.form?.dataset.saved; });
addEventListener('submit', (event) => { if (!event.defaultPrevented) sending = true; });
addEventListener('beforeunload', (event) => { if (!sending && unsaved()) event.preventDefault(); });
