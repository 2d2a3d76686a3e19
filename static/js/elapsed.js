// One timer for the page. The server prints the first value; the cell has a fixed floor, so nothing shifts.
import { still } from './dom.js';

const running = new Set();

const spell = (seconds) => {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const pad = (value) => String(value).padStart(2, '0');
  return hours ? `${hours} h ${pad(minutes)}` : `${minutes}:${pad(Math.floor(seconds % 60))}`;
};

class CwElapsed extends HTMLElement {
  static observedAttributes = ['data-secs'];

  connectedCallback() { running.add(this); this.restart(this.dataset.secs); }

  disconnectedCallback() { running.delete(this); }

  attributeChangedCallback(name, before, after) { if (before !== after) this.restart(after); }

  restart(seconds) {
    this.hidden = seconds == null || seconds === '';
    this.start = performance.now() - Number(seconds || 0) * 1000;
    if (!this.hidden) this.tick(performance.now());
  }

  tick(now) {
    if (this.hidden) return;
    const text = spell((now - this.start) / 1000);
    if (this.textContent !== text) this.textContent = text;
  }
}
customElements.define('cw-elapsed', CwElapsed);

if (!still) {
  setInterval(() => {
    if (document.hidden) return;
    const now = performance.now();
    for (const element of running) element.tick(now);
  }, 1000);
}
