// The frame of the page over many schedulers; a small sister of ../app.js.
import { t, c, cls, render } from '../dom.js';
import { jobLink, taskLink, to, useRoute } from '../route.js';
import { forgetToken, get, hasToken, learnWhoIAm } from '../api.js';
import { soon, useData, useLiveState } from '../live.js';
import { Main, NoAnswer, Theme, usePlace, useTurned, Zone } from '../frame.js';
import { Icon, Title } from '../parts.js';
import { askForKeys, askWhereTo, Dialogs } from '../dialogs.js';
import { useKeys } from '../keys.js';
import { count } from '../format.js';
import Overview from './overview.js';
import Job from './job.js';
import Task from './task.js';
import Schedulers from './schedulers.js';
import Problems from './problems.js';
import Logs from './logs.js';
import Actions from './actions.js';
import { schedulerLink } from './parts.js';

const PERIOD_MS = 2000;
/** Path, word, key after g, and the page. */
const PAGES = [['', 'Jobs', 'o', Overview], ['schedulers', 'Schedulers', 's', Schedulers], ['problems', 'Problems', 'p', Problems], ['logs', 'Logs', 'l', Logs], ['actions', 'Actions', 'a', Actions]];
const pageOf = ([head = '', , what]) => head === 'jobs' ? (what === 'task' ? Task : Job) : PAGES.find(([path]) => path === head)?.[3];
const KEYS = [
  ['Everywhere', [['?', 'these keys'], ['Ctrl K', 'to a job, a task or a scheduler'], ['/', 'to the filter'], ...PAGES.map(([, word, key]) => [`g ${key}`, word.toLowerCase()]), ['u', 'one up'], ['r', 'look again now'], ['d', 'light, dark, as the system']]],
  ['Lists', [['j  k', 'next, previous'], ['Enter', 'open'], ['Esc', 'out of the filter']]],
];
const MOST_FOUND = 8;

/** Jobs and schedulers by a part of their name; after a node, the beginning of a job's name means its task there. */
async function search(text, signal) {
  const like = async (what, match) => (await get(['fleet', what], { match, limit: MOST_FOUND }, signal).catch(() => ({})))[what] ?? [];
  const blank = text.lastIndexOf(' ');
  const [jobs, schedulers, ofNode] = await Promise.all([like('jobs', text), like('schedulers', text), blank > 0 ? like('jobs', text.slice(blank + 1)) : []]);
  const node = text.slice(0, blank).trim();
  return [
    ...jobs.map((j) => ['job', j.name, jobLink(j.name)]), ...schedulers.map((s) => ['scheduler', s.name ?? s.id, schedulerLink(s.id)]),
    ...ofNode.map((j) => [`task of ${j.name}`, node, taskLink(j.name, node)]),
  ];
}

function Head({ current, me }) {
  const { data } = useData((signal) => get(['fleet', 'overview'], { limit: 1 }, signal), ['head'], { every: 3000 });
  const s = data?.schedulers;
  const wrong = data?.errors_total ?? 0;
  return t.header({ class: 'head' },
    t.a({ class: 'brand', href: '#/', 'aria-label': 'Espalier' }, t.img({ src: 'favicon.svg', alt: '', width: 26, height: 26 }), t.span('Espalier')),
    t.nav({ 'aria-label': 'Pages' }, PAGES.map(([path, word]) => t.a({ key: path, href: to(path ? [path] : []), ...(path === current ? { 'aria-current': 'page' } : {}) },
      word, path === 'problems' && wrong > 0 && t.span({ class: 'bubble' }, t.span({ class: 'hidden' }, ': '), count(wrong))))),
    t.div({ class: 'tools' },
      s && t.a({ href: to(['schedulers']), class: cls('answers', s.states.answered < s.total && 'is-bad') }, t.b(`${count(s.states.answered)} of ${count(s.total)}`), ' answer'),
      me?.authenticated && t.span({ class: 'me', title: me.role }, c(Icon, { name: 'user' }), t.span({ dir: 'auto' }, me.name), t.small(me.role)),
      hasToken() && t.button({ type: 'button', class: 'quiet', onClick: forgetToken }, 'Sign out'),
      t.button({ type: 'button', class: 'quiet icon-only', onClick: askWhereTo, title: 'Go to a job, a task or a scheduler (Ctrl K)', 'aria-label': 'Go to' }, c(Icon, { name: 'search' })),
      c(Theme),
      t.button({ type: 'button', class: 'quiet icon-only', onClick: askForKeys, title: 'Keys (?)', 'aria-label': 'Keys' }, c(Icon, { name: 'keys' }))));
}

function App() {
  const route = useRoute();
  const { me } = useLiveState();
  const head = route.parts[0] ?? '';
  const Page = pageOf(route.parts);
  useKeys(PAGES);
  useTurned('zonechange');
  usePlace(route.path);
  return t.div({ class: 'frame' },
    t.a({ class: 'skip', href: '#main', onClick: (e) => { e.preventDefault(); document.querySelector('main h1')?.focus(); } }, 'To the content'),
    c(Head, { current: head === 'jobs' ? '' : head, me }),
    c(NoAnswer),
    c(Main, { page: head || 'overview' },
      Page ? c(Page, { key: head === 'jobs' ? route.path : head, route }) : t.div(c(Title, null, 'There is no such page'), t.p(t.a({ href: '#/' }, 'To the jobs')))),
    t.footer(t.a({ href: 'api/v1/openapi.yaml' }, 'API'), t.a({ href: 'metrics' }, 'Metrics'), c(Zone), t.span({ class: 'soft' }, 'Press ', t.kbd('?'), ' for the keys')),
    c(Dialogs, { keys: KEYS, find: { search, label: 'Job, task or scheduler', hint: 'Job or scheduler; for a task: node job' } }));
}

learnWhoIAm();
setInterval(soon, PERIOD_MS);
document.addEventListener('visibilitychange', () => { if (!document.hidden) soon(); });
render(c(App), document.getElementById('app'));
