// Blocking on purpose and tiny: what the reader chose is there before the first paint.
(() => {
  const root = document.documentElement;
  try {
    for (const name of ['theme', 'density']) {
      const value = localStorage.getItem(`cw.${name}`);
      if (value) root.dataset[name] = value;
    }
    const wide = Number(localStorage.getItem('cw.peek'));
    if (wide >= 330 && wide <= 640) root.style.setProperty('--peek', `${wide}px`);
  } catch { /* storage is closed to us: the system's choice stands */ }
})();
