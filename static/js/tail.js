// A transcript that never moves under its reader. Rounds only append; a live round becomes the
// finished one in place, under the same id.
import { $, $$, setText } from './dom.js';
import { morph } from './latch.js';
import { onProgress } from './live.js';

const END = 24;
const GATHER_MS = 150;
const PATIENCE_MS = 10000;

const asked = () => ({ headers: { 'HX-Request': 'true' }, signal: AbortSignal.timeout(PATIENCE_MS) });

class CwTail extends HTMLElement {
  connectedCallback() {
    this.turn = this.dataset.turn;
    this.jump = $('.jump');
    this.fresh = 0;
    this.follow = true;
    this.waiting = new Map();
    this.line = Promise.resolve();
    this.addEventListener('scroll', () => this.scrolled(), { passive: true });
    this.addEventListener('click', (event) => { if (event.target.closest('summary')) this.follow = false; });
    this.jump?.addEventListener('click', () => { this.toEnd(); this.focus({ preventScroll: true }); });
    this.sizes = new ResizeObserver(() => this.keep());
    for (const child of this.children) this.sizes.observe(child);
    this.leave = onProgress((data) => this.progress(data));
    if (document.querySelector('#turn-head [data-activity=working]')) this.toEnd();
    else { this.follow = false; this.last = this.scrollTop; }
  }

  disconnectedCallback() { this.sizes.disconnect(); this.leave(); }

  get atEnd() { return this.scrollHeight - this.scrollTop - this.clientHeight < END; }

  get reading() {
    const selection = getSelection();
    const selected = !selection.isCollapsed && this.contains(selection.anchorNode);
    return selected || (document.activeElement !== this && this.contains(document.activeElement));
  }

  scrolled() {
    if (this.atEnd) { this.follow = true; this.fresh = 0; this.paint(); } else if (this.scrollTop < this.last) this.follow = false;
    this.last = this.scrollTop;
  }

  // The scroll event comes a frame late; a push may come first.
  check() { if (this.scrollTop < this.last - 1 && !this.atEnd) this.follow = false; }

  keep() { this.check(); if (this.follow && !this.reading) this.toEnd(); }

  toEnd() {
    this.scrollTop = this.scrollHeight;
    this.last = this.scrollTop;
    this.follow = true;
    this.fresh = 0;
    this.paint();
  }

  paint() {
    if (!this.jump) return;
    this.jump.hidden = this.follow || !this.fresh;
    setText($('b', this.jump), this.fresh);
  }

  progress(data) {
    if (data.event === 'again') { this.soon('', data); return; }
    if (data.turn_id !== this.turn) return;
    const id = `r-${data.phase}-${data.iteration}-${data.round}`;
    if (data.event === 'partial_round') { this.partial(id, data); return; }
    const whole = data.event === 'opening' || data.event === 'ended' || data.round == null || data.round < 0;
    this.soon(whole ? '' : id, data);
  }

  partial(id, data) {
    const round = document.getElementById(id);
    if (!round) { this.soon(id, data); return; }
    if (data.kind !== 'text' && data.kind !== 'content') return;
    this.change(() => {
      const place = $('[data-partial]', round);
      if (place && data.text !== place.textContent && data.text.length >= place.textContent.length) place.textContent = data.text;
    });
  }

  // Several frames of one round within a moment are one request.
  soon(id, data) {
    if (this.waiting.has(id)) return;
    this.waiting.set(id, setTimeout(() => {
      this.waiting.delete(id);
      // One at a time: an answer that was asked for earlier must not be drawn later. What the line
      // loses is read again when it is back.
      this.line = this.line.then(() => (id ? this.round(id, data) : this.whole())).catch(() => {});
    }, GATHER_MS));
  }

  async round(id, data) {
    const list = document.getElementById(`rounds-${data.phase}-${data.iteration}`);
    if (!list) { await this.whole(); return; }
    const response = await fetch(`/ui/turns/${this.turn}/rounds/${data.phase}/${data.iteration}/${data.round}`, asked());
    if (response.ok) this.show(id, list, await response.text());
  }

  show(id, list, html) {
    const old = document.getElementById(id);
    this.change(() => {
      if (old) return morph(old, html);
      const holder = document.createElement('template');
      holder.innerHTML = html;
      list.append(holder.content);
      return 1;
    });
  }

  async whole() {
    const place = $('#turn-transcript', this);
    const response = await fetch(place.dataset.src, asked());
    if (!response.ok) return;
    const html = await response.text();
    const before = $$('.round', this).length;
    await this.change(async () => { await morph(place, html); return Math.max(0, $$('.round', this).length - before); });
  }

  // Runs a change; whoever reads stays where they are, and what is new below is counted.
  async change(work) {
    this.check();
    const stay = !this.follow || this.reading;
    const added = await work();
    if (!stay) { this.toEnd(); return; }
    if (typeof added === 'number') this.fresh += added;
    if (this.follow && !this.atEnd) this.follow = false;
    this.paint();
  }
}
customElements.define('cw-tail', CwTail);
