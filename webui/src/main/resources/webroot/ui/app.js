// The frame: navigation, keys, theme, and which page is shown.
import { t, c, cls, render, useEffect, useRef, useState } from './dom.js';
import { go, to, useRoute } from './route.js';
import { forgetToken, get, hasToken, learnWhoIAm, ofMany, schedulerName } from './api.js';
import { refresh, setPaused, start, useData, useLiveState } from './live.js';
import { Main, NoAnswer, Pulse, Theme, turnTheme, usePlace, useTurned, Zone } from './frame.js';
import { Icon, Waiting, Empty, Title } from './parts.js';
import { anyDialog, askForKeys, askWhereTo, Dialogs } from './dialogs.js';
import { count } from './format.js';
import { Brakes, Windows } from './brakes.js';
import { Quarantined } from './quarantines.js';
import { Overview } from './pages/overview.js';

/** Path, word, key after g, and the page; all but the first are loaded when they are wanted. */
const PAGES = [
  ['', 'Jobs', 'o', null],
  ['tree', 'Tree', 't', () => import('./pages/tree.js')],
  ['queues', 'Queues', 'q', () => import('./pages/queues.js')],
  ['workers', 'Workers', 'w', () => import('./pages/workers.js')],
  ['limits', 'Limits', 'l', () => import('./pages/limits.js')],
  ['problems', 'Problems', 'p', () => import('./pages/problems.js')],
  ['events', 'Events', 'e', () => import('./pages/events.js')],
  ['audit', 'Audit', 'a', () => import('./pages/audit.js')],
  ['settings', 'Settings', 's', () => import('./pages/settings.js')],
];

function loaderOf(parts) {
  if (parts[0] === 'new') return () => import('./pages/new-job.js');
  if (parts[0] === 'workers' && parts[1]) return () => import('./pages/worker.js');
  if (parts[0] === 'jobs') return parts[2] === 'task' ? () => import('./pages/task.js') : () => import('./pages/job.js');
  return PAGES.find(([path]) => path === parts[0])?.[3];
}

function Later({ load, name, ...props }) {
  const [page, setPage] = useState(null);
  useEffect(() => {
    let over = false;
    load().then((m) => { if (!over) setPage({ name, Page: m.default }); }, () => { if (!over) setPage({ name, Page: Unloaded }); });
    return () => { over = true; };
  }, [name]);
  return page?.name === name ? c(page.Page, props) : c(Waiting);
}

/** A part of the page that did not come: as soon as somebody answers, all of it is loaded again. */
function Unloaded() {
  useEffect(() => {
    const id = setInterval(() => { fetch('healthz', { cache: 'no-store' }).then(() => location.reload(), () => {}); }, 3000);
    return () => clearInterval(id);
  }, []);
  return t.div(c(Title, null, 'This page could not be loaded'), c(Empty, { title: 'The scheduler does not answer' }, 'It is loaded as soon as it does. ', t.button({ type: 'button', onClick: () => location.reload() }, 'Reload')));
}

const LIVE = { connecting: 'connecting', live: 'live', away: 'no connection', polling: 'every 15 s' };

/** Which scheduler this is; a visitor from the page over many goes back there. */
function Name() {
  return t.span({ class: 'which' }, ofMany && t.a({ href: '../../', title: 'To the page over all schedulers' }, 'All schedulers'), ofMany && t.span({ 'aria-hidden': 'true' }, '/'),
    schedulerName() && t.strong({ dir: 'auto', title: `This scheduler is called ${schedulerName()}` }, schedulerName()));
}

function Head({ current }) {
  const { state, paused, me } = useLiveState();
  const { data } = useData((signal) => get(['problems'], {}, signal), ['problems'], { every: 5000 });
  const wrong = data ? data.errors.length + data.problems.filter((p) => p.severity === 'error').length : 0;
  return [t.header({ class: 'head', key: 'head' },
    t.a({ class: 'brand', href: '#/', 'aria-label': 'Espalier' }, t.img({ src: 'favicon.svg', alt: '', width: 26, height: 26 }), t.span('Espalier')),
    c(Name),
    t.nav({ 'aria-label': 'Pages' }, PAGES.map(([path, word]) => t.a({
      key: path, href: to(path ? [path] : []), ...(path === current ? { 'aria-current': 'page' } : {}),
    }, word, path === 'problems' && wrong > 0 && t.span({ class: 'bubble' }, t.span({ class: 'hidden' }, ': '), count(wrong))))),
    t.div({ class: 'tools' },
      t.button({ type: 'button', class: 'quiet icon-only', onClick: askWhereTo, title: 'Go to a job, a node, a task or a worker (Ctrl K)', 'aria-label': 'Go to' }, c(Icon, { name: 'search' })),
      t.button({ type: 'button', class: cls('live', `is-${paused ? 'paused' : state}`), onClick: () => setPaused(!paused),
        'aria-pressed': paused ? 'true' : 'false', title: paused ? 'Held; press to go on (.)' : 'Follows the scheduler; press to hold (.)' },
      c(Pulse), paused ? 'held' : LIVE[state]),
      me?.authenticated && t.span({ class: 'me', title: `${me.role}` }, c(Icon, { name: 'user' }), t.span({ dir: 'auto' }, me.name), t.small(me.role)),
      hasToken() && t.button({ type: 'button', class: 'quiet', onClick: forgetToken }, 'Sign out'),
      c(Theme),
      t.button({ type: 'button', class: 'quiet icon-only', onClick: askForKeys, title: 'Keys (?)', 'aria-label': 'Keys' }, c(Icon, { name: 'keys' })))),
  c(Brakes, { key: 'brakes', brakes: data?.brakes }),
  c(Windows, { key: 'windows', windows: data?.windows }),
  c(Quarantined, { key: 'quarantines', quarantines: data?.quarantines })];
}

/** A row of a list leads where its name does; links and buttons in it, and marking text, work as ever. */
function openRow(e) {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.shiftKey || e.target.closest('a, button, input, select, summary, label, th') || String(getSelection())) return;
  e.target.closest('main tbody tr')?.querySelector('a[data-row], button[data-row]')?.click();
}

function rows() { return Array.from(document.querySelectorAll('main [data-row]')).filter((e) => e.offsetParent !== null); }

function move(by) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

function useKeys() {
  const prefix = useRef(0);
  useEffect(() => {
    const press = (e) => {
      if ((e.ctrlKey || e.metaKey) && e.key === 'k' && !anyDialog()) { e.preventDefault(); askWhereTo(); return; }
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || anyDialog()) return;
      const field = e.target.closest?.('input, textarea, select');
      if (field) {
        if (e.key === 'Escape') field.blur();
        return;
      }
      const afterG = Date.now() - prefix.current < 1500;
      prefix.current = 0;
      if (afterG) {
        const page = PAGES.find(([, , key]) => key === e.key);
        if (page) { e.preventDefault(); go(to(page[0] ? [page[0]] : [])); return; }
      }
      const tab = /^[1-9]$/.test(e.key) && document.querySelectorAll('.tabs a')[Number(e.key) - 1];
      if (tab) { e.preventDefault(); tab.click(); return; }
      const known = {
        g: () => { prefix.current = Date.now(); },
        '?': askForKeys,
        '/': () => document.querySelector('[data-search]')?.focus(),
        j: () => move(1), k: () => move(-1),
        r: refresh,
        '.': () => document.querySelector('button.live')?.click(),
        d: turnTheme,
        u: () => document.querySelector('[data-up]')?.click(),
        '[': () => document.querySelector('[data-key="["]')?.click(),
        ']': () => document.querySelector('[data-key="]"]')?.click(),
      }[e.key];
      if (known) { e.preventDefault(); known(); }
    };
    addEventListener('keydown', press);
    addEventListener('click', openRow);
    return () => { removeEventListener('keydown', press); removeEventListener('click', openRow); };
  }, []);
}

function App() {
  const route = useRoute();
  const { me } = useLiveState();
  useKeys();
  const head = route.parts[0] ?? '';
  const page = head === 'jobs' ? route.parts.slice(0, route.parts[2] === 'task' ? 4 : 2).join('/') : head === 'workers' ? route.parts.slice(0, 2).join('/') : head;
  useTurned('zonechange');
  usePlace(page, route.query.get('after') ?? route.query.get('page') ?? '');
  const load = loaderOf(route.parts);
  return t.div({ class: 'frame' },
    t.a({ class: 'skip', href: '#main', onClick: (e) => { e.preventDefault(); document.querySelector('main h1')?.focus(); } }, 'To the content'),
    c(Head, { current: head === 'jobs' || head === 'new' ? '' : head }),
    c(NoAnswer),
    c(Main, { page: head || 'overview' },
      head === '' ? c(Overview, { route, me }) : load
        ? c(Later, { key: page, name: page, load, route, me })
        : t.div(c(Title, null, 'There is no such page'), t.p(t.a({ href: '#/' }, 'To the jobs')))),
    t.footer(t.a({ href: 'api/v1/openapi.yaml' }, 'API'), t.a({ href: 'metrics' }, 'Metrics'), c(Zone), t.span({ class: 'soft' }, 'Press ', t.kbd('?'), ' for the keys')),
    c(Dialogs));
}

learnWhoIAm();
start();
render(c(App), document.getElementById('app'));
