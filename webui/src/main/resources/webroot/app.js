// Shows jobs and their progress. Text only ever enters the page as text.
const KINDS = ['done', 'running', 'ready', 'waiting', 'failed'];
const WORDS = { waiting: 'backing off' };
const PERIOD_MS = 1000;
const SLOW_MS = 15000;

const byId = (id) => document.getElementById(id);
const cards = new Map();
let loading = false;
let again = false;
let timer = 0;
let last = 0;

function make(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function card(name) {
  const root = make('article', 'job');
  const head = make('h2');
  const parts = { root, badge: make('span', 'badge'), small: make('small'), share: make('span', 'share') };
  head.append(make('span', '', name), parts.small, parts.badge, parts.share);
  parts.bar = make('div', 'bar');
  parts.bar.setAttribute('role', 'img');
  parts.spans = KINDS.map((kind) => parts.bar.appendChild(make('span', kind)));
  parts.counts = make('p', 'counts');
  root.append(head, parts.bar, parts.counts);
  return parts;
}

function show(job) {
  const parts = cards.get(job.name) ?? card(job.name);
  cards.set(job.name, parts);
  const p = job.progress ?? { total: 0 };
  KINDS.forEach((kind, i) => { parts.spans[i].style.flexGrow = p[kind] ?? 0; });
  const counts = KINDS.filter((kind) => p[kind] > 0)
    .map((kind) => `${p[kind].toLocaleString()} ${WORDS[kind] ?? kind}`);
  for (const kind of ['avoided', 'disabled']) if (p[kind] > 0) counts.push(`${p[kind].toLocaleString()} ${kind}`);
  const text = counts.join(' · ') || 'no tasks';
  setText(parts.counts, text);
  parts.bar.setAttribute('aria-label', text);
  setText(parts.small, `on ${job.level}`);
  setText(parts.share, p.total > 0 ? `${Math.floor(100 * p.done / p.total)} %` : '');
  const badge = !job.valid ? 'invalid' : !job.enabled ? 'disabled' : '';
  setText(parts.badge, badge);
  parts.badge.hidden = badge === '';
  parts.badge.classList.toggle('bad', !job.valid);
  return parts.root;
}

function showProblems(body) {
  const texts = body.problems.filter((p) => p.severity === 'error')
    .map((p) => `${p.path}: ${p.message}`)
    .concat(body.errors.map((e) => `${e.source}: ${e.message}`));
  const box = byId('problems');
  box.hidden = texts.length === 0;
  box.replaceChildren(...texts.slice(0, 20).map((t) => make('p', '', t)));
}

function state(text, stale) {
  setText(byId('state'), text);
  byId('state').classList.toggle('stale', stale);
}

async function get(path) {
  const response = await fetch(path, { headers: { Accept: 'application/json' } });
  const body = await response.json();
  if (!response.ok) throw new Error(body.detail ?? response.statusText);
  return body;
}

async function load() {
  if (loading) { again = true; return; }
  loading = true;
  last = Date.now();
  try {
    showProblems(await get('/api/v1/problems'));
    const body = await get('/api/v1/jobs');
    const shown = body.jobs.map(show);
    const names = new Set(body.jobs.map((job) => job.name));
    for (const name of cards.keys()) if (!names.has(name)) cards.delete(name);
    const list = byId('jobs');
    if (shown.length !== list.children.length || shown.some((c, i) => list.children[i] !== c)) {
      list.replaceChildren(...shown);
    }
    const running = body.jobs.reduce((sum, job) => sum + (job.progress?.running ?? 0), 0);
    state(`${body.jobs.length} jobs · ${running.toLocaleString()} tasks running`, false);
  } catch (e) {
    state(e instanceof TypeError ? 'the scheduler does not answer' : e.message, true);
  } finally {
    loading = false;
    if (again) { again = false; soon(); }
  }
}

// However many events come, at most one look a second.
function soon() {
  if (timer) return;
  timer = setTimeout(() => { timer = 0; load(); }, Math.max(0, last + PERIOD_MS - Date.now()));
}

const events = new EventSource('/api/v1/events');
events.onmessage = soon;
events.onopen = soon;
events.onerror = soon;
setInterval(soon, SLOW_MS);
load();
