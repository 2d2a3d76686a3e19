// How wide the rail is: dragged or set by arrows, kept in this browser. Only a length changes, so
// nothing in the list or in the rail is drawn again.
import { $, setAttr, store } from './dom.js';

const LEAST = 330;
const MOST = 640;
const STEP = 16;
const rail = $('#peek');
const grip = $('#peek-grip');
const root = document.documentElement;

const now = () => Math.round(rail.getBoundingClientRect().width);

function tell() {
  if (rail.hidden) return;
  const wide = now();
  setAttr(grip, 'aria-valuenow', wide);
  setAttr(grip, 'aria-valuetext', `${wide} pixels`);
}

function set(wide) {
  const kept = Math.round(Math.min(MOST, Math.max(LEAST, wide)));
  root.style.setProperty('--peek', `${kept}px`);
  tell();
}

function keep() { store('peek', now()); }

if (grip) {
  grip.addEventListener('pointerdown', (event) => {
    if (event.button) return;
    event.preventDefault();
    grip.focus();
    grip.setPointerCapture(event.pointerId);
    const edge = rail.getBoundingClientRect().right;
    const away = event.clientX - rail.getBoundingClientRect().left;
    const move = (moved) => set(edge - moved.clientX + away);
    const stop = () => {
      grip.removeEventListener('pointermove', move);
      delete document.body.dataset.sizing;
      keep();
    };
    document.body.dataset.sizing = '';
    grip.addEventListener('pointermove', move);
    grip.addEventListener('lostpointercapture', stop, { once: true });
  });
  grip.addEventListener('keydown', (event) => {
    // The grip stands on the left edge: to the left is wider.
    const to = { ArrowLeft: now() + STEP, ArrowRight: now() - STEP, Home: LEAST, End: MOST }[event.key];
    if (to === undefined || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    set(to);
    keep();
  });
  new ResizeObserver(tell).observe(rail);
}
