// Runs before anything is drawn and before the modules are there.
(() => {
  // The theme that was chosen here, if any, so that nothing flashes.
  let chosen = null;
  try { chosen = localStorage.getItem('espalier.theme'); } catch { /* Storage may be forbidden. */ }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
  // What the first page shows is on its way while the modules are.
  if (!/^#?\/?(\?.*)?$/.test(location.hash)) return;
  const base = new URL('api/v1/', document.baseURI);
  let token = null;
  try { token = sessionStorage.getItem(`espalier.token ${base.pathname}`); } catch { /* Then it is asked for. */ }
  const response = fetch(new URL('jobs', base), {
    cache: 'no-store', headers: { Accept: 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) },
  });
  response.catch(() => {});
  globalThis.espalierEarly = { jobs: response, token: token ?? '' };
})();
