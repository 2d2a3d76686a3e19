// Files chosen, dropped or pasted go through the form that stands on the page, one request each. A
// file shows how far it is, and beside the field why it was refused. Without scripts the form works.
import { $, announce, toast } from './dom.js';
import { refetch } from './live.js';
import { told } from './acts.js';

const form = $('form[data-upload]');
const zone = $(`[data-drop="${form.id}"]`);
const field = $('input[type=file]', form);
const rows = $('[data-uploads]', form);
const carries = (transfer) => [...transfer?.types ?? []].includes('Files');

// A folder has no bytes of its own.
const files = (transfer) => [...transfer.items ?? []]
  .filter((item) => item.kind === 'file' && !item.webkitGetAsEntry?.()?.isDirectory)
  .map((item) => item.getAsFile()).filter(Boolean);

// Every browser calls a pasted picture the same, so the second would pass for the first.
function named(file) {
  if (!/^image\.\w+$/.test(file.name)) return file;
  const at = new Date().toISOString().replace(/\..*/, '').replace('T', ' ').replaceAll(':', '-');
  return new File([file], `Pasted ${at}${file.name.slice(5)}`, { type: file.type });
}

function line(file) {
  const row = document.createElement('li');
  const name = document.createElement('span');
  name.dir = 'auto';
  name.textContent = file.name;
  const bar = document.createElement('progress');
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute('aria-label', `Sending ${file.name}`);
  row.append(name, bar);
  rows.append(row);
  return { row, bar };
}

function refused(row, words, again) {
  const text = document.createElement('span');
  text.className = 'err';
  text.setAttribute('role', 'alert');
  text.textContent = words;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'btn quiet sm';
  button.textContent = again ? 'Try again' : 'Dismiss';
  button.addEventListener('click', () => { row.remove(); again?.(); });
  $('progress', row)?.replaceWith(text, button);
}

// fetch() tells nothing of what was sent so far.
function send(fields, progress) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('POST', form.action);
    request.setRequestHeader('HX-Request', 'true');
    request.upload.addEventListener('progress', (event) => progress(event.loaded / (event.total || 1)));
    request.addEventListener('loadend', () => resolve(request));
    request.send(fields);
  });
}

// The operation id stays while nobody knows whether it landed.
async function upload(file, op = crypto.randomUUID()) {
  const fields = new FormData(form);
  fields.set('file', file, file.name);
  fields.set('op_id', op);
  const { row, bar } = line(file);
  const answer = await send(fields, (share) => { bar.value = share; });
  if (answer.status === 204) {
    const { message } = told({ headers: { get: (name) => answer.getResponseHeader(name) } });
    row.remove();
    toast(message ?? `${file.name} is there`);
    announce(message ?? `${file.name} is there`);
    await refetch(form.dataset.upload);
  } else if (answer.status === 401) location.reload();
  else if (!answer.status || answer.status >= 500) refused(row, 'Nobody knows yet whether this landed.', () => upload(file, op));
  else {
    const page = new DOMParser().parseFromString(answer.responseText, 'text/html');
    refused(row, page.querySelector('.err span')?.textContent.trim() || `This was refused (${answer.status}).`);
  }
}

async function all(given) {
  for (const file of given) await upload(named(file));
}

field.multiple = true;
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const given = [...field.files];
  field.value = '';
  all(given);
});

// A file let go beside the place would replace the page by itself.
for (const kind of ['dragover', 'drop']) {
  addEventListener(kind, (event) => { if (carries(event.dataTransfer)) event.preventDefault(); });
}
zone.addEventListener('dragover', (event) => {
  if (!carries(event.dataTransfer)) return;
  event.dataTransfer.dropEffect = 'copy';
  zone.dataset.over = '';
});
zone.addEventListener('dragleave', (event) => { if (!zone.contains(event.relatedTarget)) delete zone.dataset.over; });
zone.addEventListener('drop', (event) => {
  delete zone.dataset.over;
  if (!carries(event.dataTransfer)) return;
  const given = files(event.dataTransfer);
  if (given.length) all(given); else announce('A folder cannot be sent; drop the files in it');
});
// Text that comes along with a picture is text: a table copied from a sheet is not a file.
addEventListener('paste', (event) => {
  const { clipboardData } = event;
  if (!clipboardData?.files.length || clipboardData.types.includes('text/plain')) return;
  event.preventDefault();
  all([...clipboardData.files]);
});
