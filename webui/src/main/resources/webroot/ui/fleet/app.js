// The frame of the page over many schedulers; a small sister of ../app.js.
import { t, c, cls, render } from '../dom.js';
import { to, useRoute } from '../route.js';
import { forgetToken, get, hasToken, learnWhoIAm } from '../api.js';
import { soon, useData, useLiveState } from '../live.js';
import { Main, NoAnswer, Theme, usePlace, useTurned, Zone } from '../frame.js';
import { Icon, Title } from '../parts.js';
import { Dialogs } from '../dialogs.js';
import { count } from '../format.js';
import Overview from './overview.js';
import Job from './job.js';
import Task from './task.js';
import Schedulers from './schedulers.js';
import Problems from './problems.js';
import Logs from './logs.js';
import Actions from './actions.js';

const PERIOD_MS = 2000;
const PAGES = [['', 'Jobs', Overview], ['schedulers', 'Schedulers', Schedulers], ['problems', 'Problems', Problems], ['logs', 'Logs', Logs], ['actions', 'Actions', Actions]];
const pageOf = ([head = '', , what]) => head === 'jobs' ? (what === 'task' ? Task : Job) : PAGES.find(([path]) => path === head)?.[2];

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
      me?.name && t.span({ class: 'me', title: me.role }, c(Icon, { name: 'user' }), t.span({ dir: 'auto' }, me.name), t.small(me.role)),
      hasToken() && t.button({ type: 'button', class: 'quiet', onClick: forgetToken }, 'Sign out'),
      c(Theme)));
}

function App() {
  const route = useRoute();
  const { me } = useLiveState();
  const head = route.parts[0] ?? '';
  const Page = pageOf(route.parts);
  useTurned('zonechange');
  usePlace(route.path);
  return t.div({ class: 'frame' },
    t.a({ class: 'skip', href: '#main', onClick: (e) => { e.preventDefault(); document.querySelector('main h1')?.focus(); } }, 'To the content'),
    c(Head, { current: head === 'jobs' ? '' : head, me }),
    c(NoAnswer),
    c(Main, { page: head || 'overview' },
      Page ? c(Page, { key: head === 'jobs' ? route.path : head, route }) : t.div(c(Title, null, 'There is no such page'), t.p(t.a({ href: '#/' }, 'To the jobs')))),
    t.footer(t.a({ href: 'api/v1/openapi.yaml' }, 'API'), t.a({ href: 'metrics' }, 'Metrics'), c(Zone)),
    c(Dialogs));
}

learnWhoIAm();
setInterval(soon, PERIOD_MS);
document.addEventListener('visibilitychange', () => { if (!document.hidden) soon(); });
render(c(App), document.getElementById('app'));
