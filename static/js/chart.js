// The chart is laid out by the stylesheet. This adds zoom, a filter by state and arrow walking.
import { $, $$ } from './dom.js';

const LEAST = 0.5;
const MOST = 1.5;
const FIT_FLOOR = 0.85;

class CwChart extends HTMLElement {
  connectedCallback() {
    this.scale = 1;
    this.addEventListener('click', (event) => {
      const button = event.target.closest('[data-zoom]');
      if (button) this.zoom(button.dataset.zoom);
    });
    this.addEventListener('keydown', (event) => {
      const seat = event.target.closest?.('.seat');
      if (!seat || !event.key.startsWith('Arrow')) return;
      event.preventDefault();
      this.walk(seat, event.key);
    });
    document.addEventListener('click', (event) => {
      const button = event.target.closest?.('[data-filter]');
      if (button) this.filter(button);
    });
  }

  get canvas() { return $('[data-canvas]', this); }

  filter(button) {
    const on = button.getAttribute('aria-pressed') !== 'true';
    for (const other of $$('[data-filter]')) other.setAttribute('aria-pressed', other === button && on);
    for (const seat of $$('.seat', this)) {
      seat.toggleAttribute('data-dim', on && seat.dataset.activity !== button.dataset.filter);
    }
  }

  zoom(way) {
    const fit = Math.min(1, this.clientWidth / this.canvas.scrollWidth);
    const by = way === 'in' ? 0.1 : -0.1;
    this.scale = way === 'fit' ? Math.max(FIT_FLOOR, fit) : Math.min(MOST, Math.max(LEAST, this.scale + by));
    this.canvas.style.zoom = this.scale;
    $('output', this).textContent = `${Math.round(this.scale * 100)}%`;
  }

  walk(from, key) {
    const start = from.getBoundingClientRect();
    const across = key === 'ArrowLeft' || key === 'ArrowRight';
    const sign = key === 'ArrowLeft' || key === 'ArrowUp' ? -1 : 1;
    let best = null;
    let least = Infinity;
    for (const seat of $$('.seat', this)) {
      if (seat === from) continue;
      const box = seat.getBoundingClientRect();
      const along = sign * (across ? box.left - start.left : box.top - start.top);
      const aside = Math.abs(across ? box.top - start.top : box.left - start.left);
      const cost = along + aside * 2.5;
      if (along > 8 && cost < least) { least = cost; best = seat; }
    }
    $('.seat-id', best ?? from).focus();
  }
}
customElements.define('cw-chart', CwChart);
