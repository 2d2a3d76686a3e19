// What a reader opened, typed or is dragging survives every morph; the server never says otherwise.
// `data-keep="attr attr"` names further attributes that belong to the reader.
const READERS = new Set(['DETAILS', 'DIALOG']);

window.htmx?.registerExtension('latch', {
  htmx_before_morph_attr(element, detail) {
    const name = detail.attrName;
    if (name === 'open' && READERS.has(element.tagName)) return false;
    if (name === 'tabindex' && element.closest('cw-board')) return false;
    if (element.dataset?.keep?.split(' ').includes(name)) return false;
    return undefined;
  },
  htmx_before_morph_node(element, detail) {
    const old = detail.oldNode;
    if (old?.classList?.contains('drag') || old?.getAttribute?.('aria-busy') === 'true') return false;
    // Text in the making is the stream's: the server's page knows none of it.
    const { newNode } = detail;
    // A refusal stands until its form is sent again.
    if (old?.matches?.('[data-err]') && old.hasChildNodes() && !newNode?.hasChildNodes?.()) return false;
    if (old?.matches?.('[data-partial]') && newNode?.matches?.('[data-partial]') && !newNode.textContent) return false;
    return undefined;
  },
});

// Rows that a reader loaded stay when the list is read again: from then on it is read that far.
document.addEventListener('click', (event) => {
  const region = event.target.closest?.('.g-more a[hx-get]')?.closest('[data-live][data-src]');
  if (!region) return;
  const source = new URL(region.dataset.src, location.origin);
  source.searchParams.set('group_limit', '100');
  region.dataset.src = source.pathname + source.search;
});

export const morph = (target, html) => window.htmx.swap({
  text: html, target, swap: 'outerMorph', swapSpec: { style: 'outerMorph' },
});
