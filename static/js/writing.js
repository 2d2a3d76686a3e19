// Text fields that complete @ and #, with a formatting bar where one is drawn.
import '../vendor/markdown-toolbar-element.js';
import '../vendor/text-expander-element.js';
import { $$ } from './dom.js';

const SOURCES = { '@': '/ui/parties', '#': '/ui/find' };

async function suggest(key, text) {
  const response = await fetch(`${SOURCES[key]}?${new URLSearchParams({ q: text })}`, { headers: { 'HX-Request': 'true' } });
  const box = document.createElement('ul');
  box.className = 'suggest';
  box.setAttribute('role', 'listbox');
  box.setAttribute('aria-label', key === '@' ? 'People and agents' : 'Items');
  if (response.ok) box.innerHTML = await response.text();
  return { matched: box.children.length > 0, fragment: box };
}

// An answer that comes late stands for the question that was asked last.
let newest = null;
function ask(key, text) {
  const mine = suggest(key, text).then((found) => (newest === mine ? found : newest));
  newest = mine;
  return mine;
}

for (const expander of $$('text-expander')) {
  expander.addEventListener('text-expander-change', (event) => {
    const { key, provide, text } = event.detail;
    provide(ask(key, text));
  });
  expander.addEventListener('text-expander-value', (event) => {
    event.detail.value = event.detail.item.dataset.value;
  });
}
