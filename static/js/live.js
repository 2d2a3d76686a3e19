// One socket, three lanes.
// 1 facts: text and attributes in place, never a node.  2 hints: the named fragments are fetched
// again, 250 ms together, one request each, then morphed.  3 tail: the transcript of one turn.
import { $, $$, setAttr, setText, still } from './dom.js';
import { morph } from './latch.js';

const HINT_MS = 250;
const POLL_MS = 5000;
const STALE_MS = 15000;
const ASK_MS = 8000; // the server speaks every 5 s; after so long a silence it is asked
const DEAD_MS = 20000; // and after this one the line is dead, whatever the browser believes
let seq = null;
let boot = '';
let heard = Date.now();
let spoken = Date.now();
let poll = null;
let timer = null;
const due = new Set();
const busy = new Set();
const etags = new WeakMap();
const tails = new Set();

export const onProgress = (listener) => { tails.add(listener); return () => tails.delete(listener); };

// -- lane 1 ----------------------------------------------------------------------------------------

// What is said of the reader is said to them, as the server's own pages do.
const me = document.body.dataset.me ?? '';
const toReader = (word) => (me && word === `Needs ${me}` ? 'Needs you' : word);

function seat(row) {
  for (const card of $$(`[data-seat="${CSS.escape(row.handle)}"]`)) {
    setAttr(card, 'data-activity', row.kind === 'human' ? 'person' : row.activity);
    setText($('[data-f=word]', card), toReader(row.word ?? ''));
    for (const name of ['reason', 'what', 'key']) setText($(`[data-f=${name}]`, card), row[name] ?? '');
    const key = $('[data-f=key]', card);
    if (key) { setAttr(key, 'href', row.key ? `/work/${row.key}` : null); key.hidden = !row.key; }
    setAttr($('.bar-fg', card), 'width', `${row.pct ?? 0}%`);
    setAttr($('[data-f=secs]', card), 'data-secs', row.secs);
  }
}

function health(card) {
  for (const place of $$('[data-health]')) {
    setAttr(place, 'data-activity', { ok: 'ok', need: 'needs', stop: 'stopped' }[card.state] ?? 'idle');
    for (const name of ['title', 'detail', 'note']) setText($(`[data-f=${name}]`, place), card[name] ?? '');
  }
}

// -- lane 2 ----------------------------------------------------------------------------------------

export function hint(...topics) {
  for (const topic of topics) {
    for (const element of $$(`[data-live~="${CSS.escape(topic)}"]`)) if (element.id) due.add(element.id);
  }
  timer ??= setTimeout(() => { timer = null; drain(); }, HINT_MS);
}

async function drain() {
  if (document.hidden) return; // shown again: everything is fetched once
  const ids = [...due];
  due.clear();
  await Promise.all(ids.map(refetch));
}

// A part that cannot be read again says so itself, over what was last known; the page stays.
const calm = (element) => $(':scope > [data-failed]', element)?.remove();

function fault(element, html) {
  const box = document.createElement(element.matches('ul,ol') ? 'li' : 'div');
  box.className = 'blank';
  box.dataset.kind = 'bad';
  box.dataset.failed = '';
  const words = new DOMParser().parseFromString(html, 'text/html').querySelector('.blank p')?.textContent;
  box.innerHTML = '<b>This part could not be read again</b><p></p><button class="btn sm" type="button" data-do="retry">Try again</button>';
  setText($('p', box), words ?? 'The server could not draw it. What stands below is older.');
  calm(element);
  element.prepend(box);
}

export async function refetch(id) {
  if (busy.has(id)) { due.add(id); timer ??= setTimeout(() => { timer = null; drain(); }, HINT_MS); return; }
  const element = document.getElementById(id);
  if (!element?.dataset.src) return;
  busy.add(id);
  try {
    const headers = { 'HX-Request': 'true' };
    const etag = etags.get(element);
    if (etag) headers['If-None-Match'] = etag;
    const response = await fetch(element.dataset.src, { headers, cache: 'no-store' });
    if (response.status === 401) { location.reload(); return; }
    if (!element.isConnected) return;
    if (response.status === 304) { calm(element); heard = Date.now(); return; }
    const html = await response.text();
    if (!response.ok) { fault(element, html); return; }
    calm(element);
    await morph(element, html);
    const now = document.getElementById(id);
    if (now) etags.set(now, response.headers.get('ETag'));
    heard = Date.now();
  } catch { /* the line is down: the banner says so, the poll tries again */ } finally { busy.delete(id); }
}

// A transcript has no hint of its own: whoever may have missed something reads it whole again.
export const everything = () => {
  // While the line is down the card says just that; what the server would say of itself comes after.
  const reach = document.body.dataset.link === 'down' ? '[data-live][id]:not([data-health])' : '[data-live][id]';
  for (const element of $$(reach)) due.add(element.id);
  for (const listener of tails) listener({ event: 'again' });
  return drain();
};

// -- frames ----------------------------------------------------------------------------------------

const kinds = {
  snapshot(data) {
    data.agents?.rows?.forEach(seat);
    if (data.health) health(data.health);
    everything()?.then(() => { document.body.dataset.fresh = 'yes'; });
  },
  agents: (data) => { data.rows.forEach(seat); hint('agents'); },
  seats: (data) => data.rows.forEach(seat),
  health,
  changed: (data) => hint(...data.topics),
  event: (data, frame) => hint(...(frame.topics ?? [])),
  progress(data) {
    for (const listener of tails) listener(data);
    if (data.event !== 'partial_round' && data.turn_id) hint(`turn:${data.turn_id}`);
  },
  gap: everything,
};

export function applyFrame(frame) {
  heard = Date.now();
  if (frame.boot_id && frame.boot_id !== boot) { boot = frame.boot_id; seq = null; }
  if (frame.seq != null) {
    if (seq != null && frame.seq <= seq && frame.kind !== 'snapshot') return;
    seq = frame.seq;
  }
  kinds[frame.kind]?.(frame.data ?? {}, frame);
}

// -- the line --------------------------------------------------------------------------------------

function down() {
  const banner = $('#link-down');
  const age = Math.round((Date.now() - heard) / 1000);
  document.body.dataset.link = 'down';
  if (banner) { banner.hidden = age < 3; setText($('[data-age]', banner), `${age} s`); }
  if (age >= 3) health({ state: 'need', title: 'Reconnecting', detail: `Last heard ${age} s ago`, note: '' });
  if (Date.now() - heard > STALE_MS) {
    // A clock that goes on for a turn nobody hears of would be a lie.
    for (const clock of $$('[data-seat] [data-f=secs]')) setAttr(clock, 'data-secs', null);
  }
}

function up() {
  clearInterval(poll);
  poll = null;
  const wasDown = document.body.dataset.link === 'down';
  document.body.dataset.link = 'up';
  const banner = $('#link-down');
  if (banner) banner.hidden = true;
  if (wasDown) refetch('side-health');
}

export function connect(path) {
  let tries = 0;
  const topics = [...new Set((document.body.dataset.topics || '').split(/\s+/).filter(Boolean))];
  const open = () => {
    const socket = new WebSocket(new URL(path, location.href.replace(/^http/, 'ws')));
    let watch = null;
    let over = false;
    const lost = (event) => {
      if (over) return;
      over = true;
      clearInterval(watch);
      if (event.code === 4401) { location.reload(); return; }
      poll ??= setInterval(() => { down(); everything(); }, POLL_MS);
      setTimeout(() => { if (poll) down(); }, 3000); // unless it is back by then
      setTimeout(open, Math.min(30000, 500 * 2 ** tries++) * (0.5 + Math.random() / 2));
    };
    socket.onopen = () => {
      tries = 0;
      spoken = Date.now();
      socket.send(JSON.stringify({ kind: 'hello', v: 1, last_seq: seq, boot_id: boot, topics }));
      // A network that went away closes nothing: only silence tells.
      watch = setInterval(() => {
        const silent = Date.now() - spoken;
        if (silent > DEAD_MS) { socket.close(); lost({ code: 0 }); } else if (silent > ASK_MS) socket.send('{"kind":"ping"}');
      }, POLL_MS);
      up();
    };
    socket.onmessage = (event) => { spoken = Date.now(); if (!over) applyFrame(JSON.parse(event.data)); };
    socket.onclose = lost;
  };
  open();
  document.addEventListener('visibilitychange', () => { if (!document.hidden) everything(); });
}

if (!still && document.body.dataset.socket) connect(document.body.dataset.socket);
