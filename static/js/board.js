// The board. Dragging, Alt+arrows and the card's menu share ONE move(), which posts a neighbour and
// the card's version. A card stays where it was dropped, busy, until the server has answered.
import { $, $$, announce, setAttr, toast, typing } from './dom.js';
import { post, told } from './acts.js';
import { refetch } from './live.js';

const HOLD_MS = 260;
const SLACK = 5;
const EDGE = 60;

class CwBoard extends HTMLElement {
  connectedCallback() {
    const first = $('.card-a', this);
    if (first && !$('.card-a[tabindex="0"]', this)) first.tabIndex = 0;
    this.addEventListener('focusin', (event) => {
      const link = event.target.closest('.card-a');
      if (!link) return;
      for (const other of $$('.card-a[tabindex="0"]', this)) other.tabIndex = -1;
      link.tabIndex = 0;
    });
    this.addEventListener('keydown', (event) => this.press(event));
    this.addEventListener('pointerdown', (event) => this.grab(event));
    this.addEventListener('click', (event) => {
      if (this.dragged) { event.preventDefault(); this.dragged = false; return; }
      const opener = event.target.closest('.card-go');
      if (opener) this.offer(opener);
      const button = event.target.closest('[data-move]');
      if (button) this.send(button.dataset.move);
    }, true);
  }

  get lanes() { return $$('.lane[data-lane]', this); }

  press(event) {
    const menu = $('#card-menu', this);
    if (menu?.contains(event.target)) {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      const rows = $$('button', menu);
      if (by) { event.preventDefault(); rows[(rows.indexOf(event.target) + by + rows.length) % rows.length].focus(); }
      // The browser closes the menu; nothing below it closes with the same press.
      if (event.key === 'Escape') event.stopPropagation();
      return;
    }
    const card = event.target.closest?.('.card');
    const way = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (!card || !way || typing(event)) return;
    event.preventDefault();
    if (event.altKey) this.carry(card, ...way); else this.step(...way);
  }

  step(dx, dy) {
    const focused = document.activeElement.closest?.('.card');
    const card = focused ?? $('.card-a[tabindex="0"]', this)?.closest('.card');
    if (!card) return;
    if (!this.contains(document.activeElement)) { $('.card-a', card).focus(); return; }
    const { lanes } = this;
    let at = lanes.findIndex((lane) => lane.contains(card));
    const cards = (lane) => $$('.card', lane);
    if (!dx) { const next = cards(lanes[at])[cards(lanes[at]).indexOf(card) + dy]; if (next) $('.card-a', next).focus(); return; }
    do at += dx; while (lanes[at] && !cards(lanes[at]).length);
    if (!lanes[at]) return;
    const top = card.getBoundingClientRect().top;
    const far = (other) => Math.abs(other.getBoundingClientRect().top - top);
    $('.card-a', cards(lanes[at]).reduce((best, other) => (far(other) < far(best) ? other : best))).focus();
  }

  carry(card, dx, dy) {
    if (card.getAttribute('aria-busy') === 'true') return;
    const list = card.parentElement;
    if (dx) {
      const { lanes } = this;
      const lane = lanes[lanes.findIndex((other) => other.contains(card)) + dx];
      if (!lane) { announce('There is no lane on that side'); return; }
      const target = $('.lane-b', lane);
      this.move(card, target, target.children[[...list.children].indexOf(card)] ?? null);
    } else {
      const sibling = dy < 0 ? card.previousElementSibling : card.nextElementSibling;
      if (!sibling) { announce('Already at the end'); return; }
      this.move(card, list, dy < 0 ? sibling : sibling.nextElementSibling);
    }
    $('.card-a', card).focus();
  }

  // One menu serves every card. It opens as its button says; here it learns for which card, and
  // where that stands.
  offer(opener) {
    const menu = $('#card-menu', this);
    const box = opener.getBoundingClientRect();
    const low = box.bottom > innerHeight / 2;
    this.offered = opener.closest('.card').dataset.key;
    menu.style.right = `${Math.max(8, innerWidth - box.right)}px`;
    menu.style.top = low ? 'auto' : `${box.bottom + 4}px`;
    menu.style.bottom = low ? `${innerHeight - box.top + 4}px` : 'auto';
    const here = opener.closest('.lane').dataset.lane;
    for (const row of $$('[data-move]', menu)) setAttr(row, 'aria-current', row.dataset.move === here ? 'true' : null);
  }

  // The menu names a lane and nothing else: the card goes to its end.
  send(status) {
    const card = document.getElementById(`card-${this.offered}`);
    $('#card-menu', this).hidePopover();
    if (!card) return; // it left the board while the menu was open
    const lane = this.lanes.find((other) => other.dataset.lane === status);
    if (lane && !lane.contains(card)) this.move(card, $('.lane-b', lane), null);
    $('.card-a', card).focus();
  }

  async move(card, list, before) {
    const from = card.closest('.lane');
    const home = { list: card.parentElement, before: card.nextElementSibling };
    list.insertBefore(card, before);
    const to = card.closest('.lane');
    this.count(from, to);
    card.setAttribute('aria-busy', 'true');
    card.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    const refused = await this.place(card, from, to);
    card.removeAttribute('aria-busy');
    if (refused) {
      home.list.insertBefore(card, home.before);
      this.count(to, from);
      toast(refused);
      announce(refused);
    } else {
      const place = [...list.children].indexOf(card) + 1;
      announce(`${card.dataset.key} in ${$('h2', to).textContent}, position ${place} of ${list.children.length}. Saved`);
    }
    const region = this.closest('[data-live][id]');
    if (region) refetch(region.id);
  }

  count(from, to) {
    if (from === to) return;
    for (const [lane, by] of [[from, -1], [to, 1]]) {
      const figure = $('[data-count]', lane);
      figure.textContent = Number(figure.textContent) + by;
    }
  }

  // Returns why the move did not land, or nothing.
  async place(card, from, to) {
    const fields = { item: card.dataset.key, if_match: card.dataset.version, op_id: crypto.randomUUID() };
    const next = card.nextElementSibling?.dataset.key;
    const previous = card.previousElementSibling?.dataset.key;
    if (next) fields.before = next; else if (previous) fields.after = previous;
    if (from !== to) fields.status = to.dataset.lane;
    try {
      const response = await post(this.dataset.action, fields);
      if (response.status === 204) { told(response); return ''; }
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      return page.querySelector('.err span')?.textContent.trim() || 'This move was refused.';
    } catch { return 'The server did not answer; the card went back.'; }
  }

  grab(event) {
    const card = event.target.closest('.card');
    if (event.button || !card || event.target.closest('.card-go') || card.getAttribute('aria-busy') === 'true') return;
    const drag = new Drag(this, card, event);
    drag.listen();
  }
}

// One press of a pointer on a card, until it is let go.
class Drag {
  constructor(board, card, event) {
    this.board = board;
    this.card = card;
    this.box = card.getBoundingClientRect();
    this.x = event.clientX;
    this.y = event.clientY;
    this.ready = event.pointerType !== 'touch';
    this.wait = this.ready ? 0 : setTimeout(() => { this.ready = true; }, HOLD_MS);
  }

  listen() {
    const stop = new AbortController();
    const { signal } = stop;
    this.stop = stop;
    addEventListener('pointermove', (event) => this.follow(event), { passive: false, signal });
    addEventListener('pointerup', (event) => this.drop(event), { signal });
    addEventListener('pointercancel', () => this.end(), { signal });
    addEventListener('keydown', (event) => { if (event.key === 'Escape' && this.ghost) { event.stopPropagation(); this.end(); } }, { capture: true, signal });
    this.card.addEventListener('dragstart', (event) => event.preventDefault(), { signal });
  }

  begin() {
    this.ghost = this.card.cloneNode(true);
    this.ghost.removeAttribute('id');
    this.ghost.setAttribute('aria-hidden', 'true');
    this.ghost.classList.add('ghost');
    this.ghost.style.width = `${this.box.width}px`;
    document.body.append(this.ghost);
    this.card.classList.add('drag');
    this.line = document.createElement('li');
    this.line.className = 'drop';
    this.line.setAttribute('aria-hidden', 'true');
    this.board.dragged = true;
    getSelection().removeAllRanges();
  }

  follow(event) {
    const [dx, dy] = [event.clientX - this.x, event.clientY - this.y];
    if (!this.ghost) {
      if (!this.ready) { if (Math.hypot(dx, dy) > SLACK) this.end(); return; }
      if (Math.hypot(dx, dy) < SLACK) return;
      this.begin();
    }
    event.preventDefault();
    this.ghost.style.left = `${this.box.left + dx}px`;
    this.ghost.style.top = `${this.box.top + dy}px`;
    const lane = document.elementFromPoint(event.clientX, event.clientY)?.closest('.lane[data-lane]');
    if (lane) this.point(lane, event.clientY);
    const edges = this.board.getBoundingClientRect();
    if (event.clientX > edges.right - EDGE) this.board.scrollLeft += 14;
    if (event.clientX < edges.left + EDGE) this.board.scrollLeft -= 14;
  }

  point(lane, y) {
    this.list = $('.lane-b', lane);
    const cards = $$('.card:not(.drag)', this.list);
    this.before = cards.find((card) => { const box = card.getBoundingClientRect(); return y < box.top + box.height / 2; }) ?? null;
    this.list.insertBefore(this.line, this.before);
  }

  drop() {
    const landed = this.ghost && this.list;
    this.end();
    if (landed) this.board.move(this.card, this.list, this.before);
  }

  end() {
    clearTimeout(this.wait);
    this.stop.abort();
    this.ghost?.remove();
    this.line?.remove();
    this.card.classList.remove('drag');
    setTimeout(() => { this.board.dragged = false; });
  }
}
customElements.define('cw-board', CwBoard);
