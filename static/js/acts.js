// Every write is a form that names an action. It is confirmed, not guessed: busy, then what the
// server says. The operation id stays the same only while nobody knows whether it landed.
import { $, $$, announce, toast } from './dom.js';
import { everything, refetch } from './live.js';

const cookie = (name) => document.cookie.split('; ').find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
const fresh = (form) => { const field = $('[name=op_id]', form); if (field) field.value = crypto.randomUUID(); };

export async function post(url, fields) {
  return fetch(url, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { 'HX-Request': 'true', 'X-CSRFToken': cookie('csrftoken') },
    credentials: 'same-origin',
  });
}

export function told(response) {
  try { return JSON.parse(response.headers.get('HX-Trigger') || '{}')['cw:done'] ?? {}; } catch { return {}; }
}

function around(form) {
  const region = form.closest('[data-live][id]');
  if (region) refetch(region.id);
  else everything();
}

function finish(form, done) {
  form.dataset.saved = ''; // nothing of it keeps the reader here
  if (done.redirect) { location.assign(done.redirect); return; }
  if ('reload' in form.dataset) { location.reload(); return; }
  const back = form.dataset.undo && document.getElementById(form.dataset.undo);
  toast(done.message || 'Done', back ? { label: 'Undo', run: () => back.requestSubmit() } : undefined);
  announce(done.message || 'Done');
  form.closest('details')?.removeAttribute('open');
  for (const area of $$('textarea', form)) area.value = '';
  if (form.matches('.composer')) form.reset();
  if (form.dataset.draft) sessionStorage.removeItem(form.dataset.draft);
  fresh(form);
  around(form);
}

async function refuse(form, response) {
  if (response.status === 401) { location.reload(); return; }
  const html = await response.text();
  const place = $('[data-err]', form);
  if (place) { place.innerHTML = html; place.scrollIntoView({ block: 'nearest' }); } else toast('This was refused.');
  fresh(form);
  if (response.status === 409) around(form);
}

function unknown(form, submitter) {
  toast('Nobody knows yet whether this landed.', { label: 'Try again', run: () => form.requestSubmit(submitter) });
}

// Options of a decision carry ids only when there is a label to choose, and a question says in
// which role it is answered.
function shape(form, fields) {
  const question = $('[data-option-role]', form);
  if (question?.value.trim()) fields.append('decision.role', question.dataset.optionRole);
  for (const input of $$('[data-option-id]', form)) {
    if (input.value.trim()) fields.append(input.name.replace(/label$/, 'id'), input.dataset.optionId);
  }
  return fields;
}

document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (!('act' in (form.dataset ?? {}))) return;
  event.preventDefault();
  if (form.getAttribute('aria-busy') === 'true') return;
  const submitter = event.submitter;
  const fields = shape(form, new FormData(form, submitter));
  $('[data-err]', form)?.replaceChildren();
  form.setAttribute('aria-busy', 'true');
  submitter?.setAttribute('aria-busy', 'true');
  try {
    const response = await post(form.action, fields);
    if (response.status === 204) finish(form, told(response));
    else if (response.status >= 500) unknown(form, submitter);
    else await refuse(form, response);
  } catch { unknown(form, submitter); } finally {
    form.removeAttribute('aria-busy');
    submitter?.removeAttribute('aria-busy');
  }
});

// A half-written text outlives a reload.
for (const form of $$('form[data-draft]')) {
  const area = $('textarea', form);
  try {
    area.value ||= sessionStorage.getItem(form.dataset.draft) ?? '';
    area.addEventListener('input', () => sessionStorage.setItem(form.dataset.draft, area.value));
  } catch { /* storage is closed to us */ }
}
