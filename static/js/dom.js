// Small shared parts. A write that changes nothing is skipped, so that observers and readers stay quiet.
export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
export const still = new URLSearchParams(location.search).has('still');

export const setText = (element, value) => {
  if (element && element.textContent !== String(value)) element.textContent = value;
};

export const setAttr = (element, name, value) => {
  if (!element) return;
  if (value == null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
};

// The Enter that picks a candidate of an input method is the method's own. 229 is how Safari says so.
export const composing = (event) => event.isComposing || event.keyCode === 229;

export const typing = (event) => composing(event) || event.target.closest?.(
  'input:not([type=radio]):not([type=checkbox]),textarea,select,[contenteditable]');

export const announce = (text) => {
  const place = $('#announce');
  if (!place) return;
  place.textContent = '';
  requestAnimationFrame(() => { place.textContent = text; });
};

export function toast(text, action) {
  const box = document.createElement('div');
  box.className = 'toast';
  const words = document.createElement('span');
  words.textContent = text;
  box.append(words);
  if (action) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = action.label;
    button.addEventListener('click', () => { box.remove(); action.run(); });
    box.append(button);
  }
  $('#toasts').append(box);
  // One with something to press stays until it is pressed.
  if (!action) setTimeout(() => box.remove(), 5000);
  return box;
}

export const stored = (name) => { try { return localStorage.getItem(`cw.${name}`); } catch { return null; } };
export const store = (name, value) => { try { localStorage.setItem(`cw.${name}`, value); } catch { /* not kept */ } };

// Single-letter keys: this browser's switch wins over what the reader chose for every browser.
export const keysOff = () => (stored('keys') ?? document.documentElement.dataset.keys) === 'off';
