// Tabs that do not fit stand in "More"; the current one is always drawn. Without scripts they scroll.
import { $$ } from './dom.js';

function more() {
  const box = document.createElement('details');
  box.className = 'pop tabs-more';
  box.dataset.side = 'end';
  box.innerHTML = '<summary class="btn quiet sm">More</summary><div class="menu"></div>';
  return box;
}

function foldable(nav) {
  const tabs = $$(':scope > a', nav);
  const box = more();
  const menu = box.lastElementChild;
  const fold = () => {
    box.remove();
    nav.append(...tabs);
    delete nav.dataset.folded;
    if (nav.scrollWidth <= nav.clientWidth) return;
    nav.dataset.folded = '';
    nav.append(box);
    menu.replaceChildren();
    for (const tab of tabs.filter((one) => !one.hasAttribute('aria-current')).reverse()) {
      if (nav.scrollWidth <= nav.clientWidth) break;
      menu.prepend(tab);
    }
  };
  let width = 0;
  new ResizeObserver(() => {
    if (nav.clientWidth === width) return; // only the window changes what fits
    width = nav.clientWidth;
    fold();
  }).observe(nav);
}

$$('nav.tabs').forEach(foldable);
