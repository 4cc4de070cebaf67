// Before anything is drawn, so that nothing flashes: the theme that was chosen here, if any.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem('espalier.theme'); } catch { /* Storage may be forbidden. */ }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
})();
