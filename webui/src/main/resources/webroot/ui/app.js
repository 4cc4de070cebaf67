// The frame: navigation, keys, theme, and which page is shown.
import { t, c, cls, render, useEffect, useState } from './dom.js';
import { to, useRoute } from './route.js';
import { forgetToken, get, hasToken, learnWhoIAm, ofMany, schedulerName } from './api.js';
import { setPaused, start, useData, useLiveState } from './live.js';
import { Main, NoAnswer, Pulse, Theme, usePlace, useTurned, Zone } from './frame.js';
import { Icon, Waiting, Empty, Title } from './parts.js';
import { askForKeys, askWhereTo, Dialogs } from './dialogs.js';
import { useKeys } from './keys.js';
import { search } from './find.js';
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

const KEYS = [
  ['Everywhere', [['?', 'these keys'], ['Ctrl K', 'to a job, a node, a task or a worker'], ['/', 'to the filter'], ['g o', 'overview'], ['g t', 'tree'], ['g q', 'queues'], ['g w', 'workers'], ['g l', 'limits'],
    ['g p', 'problems'], ['g e', 'events'], ['g a', 'audit'], ['g s', 'settings'], ['u', 'one up'], ['r', 'look again now'], ['.', 'hold or go on'], ['d', 'light, dark, as the system']]],
  ['Lists', [['j  k', 'next, previous'], ['Enter', 'open'], ['[  ]', 'previous, next page'], ['Esc', 'out of the filter']]],
  ['Job and task', [['1 … 6', 'sections of a job'], ['Tab', 'to the actions']]],
  ['Tree', [['← → ↑ ↓', 'between nodes'], ['Enter', 'what it is'], ['+', 'zoom in'], ['−', 'zoom out']]],
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

function App() {
  const route = useRoute();
  const { me } = useLiveState();
  useKeys(PAGES);
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
    c(Dialogs, { keys: KEYS, find: { search, label: 'Job, node, task or worker', hint: 'Job, worker, beginning of a node; for a task: node job' } }));
}

learnWhoIAm();
start();
render(c(App), document.getElementById('app'));
