// What runs tasks: health, load, and keeping new tasks away.
import { t, c, cls } from '../dom.js';
import { get, may, post } from '../api.js';
import { useData } from '../live.js';
import { refine, workerLink } from '../route.js';
import { Ago, Badge, Empty, Failure, Gauge, Icon, Pager, Search, Title, Waiting } from '../parts.js';
import { ask } from '../dialogs.js';
import { command } from '../shell.js';
import { count, plural, share } from '../format.js';

const SIZE = 100;
const KIND = { healthy: 'good', new: '', unhealthy: 'bad', draining: 'warn', lost: 'bad', gone: '' };
const ORDER = ['lost', 'unhealthy', 'gone', 'draining', 'new', 'healthy'];
const WHAT = {
  drain: ['Drain', 'It gets no new tasks, so that it can be stopped once it runs none. Nothing is killed.', 'drain'],
  cordon: ['Cordon', 'It gets no new tasks. Nothing is killed.', 'pause'],
  uncordon: ['Uncordon', 'It takes tasks again once it is healthy.', 'play'],
};

function act(worker, action) {
  const [word, text] = WHAT[action];
  ask({ title: `${word} ${worker.shard}`, text, button: word, cli: ({ reason }) => command([action, worker.shard], { reason }), act: async ({ reason }) => {
    await post(['workers', worker.shard, action], reason ? { reason } : {});
    return action === 'uncordon' ? `${worker.shard} takes tasks again` : `${worker.shard} gets no new tasks${worker.running > 0 ? `; ${plural(worker.running, 'task')} still on it` : ''}`;
  } });
}

export const labelled = (w) => Object.entries(w.labels ?? {}).map(([name, value]) => `${name}=${value}`).join(', ');

/** How a worker is, and who keeps new tasks away from it. */
export function Health({ w }) {
  return [!(w.hold?.kind === 'drain' && w.state === 'draining') && c(Badge, { key: 'state', kind: KIND[w.state] ?? '' }, w.state),
    w.hold && t.div({ key: 'hold' }, c(Badge, { kind: 'warn', title: w.hold.reason }, w.hold.kind !== 'drain' ? 'cordoned' : w.running > 0 ? `draining, ${plural(w.running, 'task')} left` : 'drained, can be stopped'), t.small({ dir: 'auto' }, ' ', [w.hold.operator, w.hold.reason].filter(Boolean).join(': '))),
    w.note && t.div({ key: 'note', class: 'soft', dir: 'auto' }, w.note)];
}

export function Load({ w }) {
  return t.div({ class: 'gauges' }, w.max_tasks > 0 ? c(Gauge, { name: 'tasks', used: w.running, limit: w.max_tasks }) : t.span(plural(w.running, 'task')),
    Object.entries(w.slots ?? {}).map(([name, s]) => c(Gauge, { key: name, name, used: s.used, limit: s.limit })));
}

/** What an operator may do to a worker. */
export function WorkerActions({ w }) {
  if (w.kind === 'local' || w.kind === 'dry-run') return t.span({ class: 'soft' }, 'the scheduler’s own host; pause jobs instead');
  const button = (action) => t.button({ key: action, type: 'button', class: 'small', onClick: () => act(w, action) }, c(Icon, { name: WHAT[action][2] }), WHAT[action][0]);
  return t.div({ class: 'actions' }, w.hold ? button('uncordon') : [button('drain'), button('cordon')]);
}

function Row({ w }) {
  return t.tr({ class: cls(['lost', 'unhealthy'].includes(w.state) && 'hurt') },
    t.th({ scope: 'row' }, t.a({ href: workerLink(w.shard), class: 'name', dir: 'auto', 'data-row': true }, w.shard), t.div({ class: 'soft', dir: 'auto' }, w.host, w.address && ` · ${w.address}`), labelled(w) && t.div({ class: 'soft', dir: 'auto' }, labelled(w))),
    t.td(c(Health, { w })), t.td(c(Load, { w }), w.measured?.cpu_use !== undefined && t.div({ class: 'soft' }, `CPU ${share(w.measured.cpu_use, 1)} in use`)),
    t.td({ class: 'nowrap' }, c(Ago, { ms: w.last_seen_ms })), t.td({ class: 'nowrap' }, c(Ago, { ms: w.since_ms })),
    may('operator') && t.td(c(WorkerActions, { w })));
}

export default function Workers({ route }) {
  const { data, error, again } = useData((signal) => get(['workers'], {}, signal), ['workers']);
  const q = (route.query.get('q') ?? '').toLowerCase();
  const state = route.query.get('state') ?? '';
  const page = Number(route.query.get('page') ?? 0) || 0;
  const all = data?.workers ?? [];
  const shown = all.filter((w) => (!state || w.state === state) && `${w.shard} ${w.host} ${w.address} ${labelled(w)}`.toLowerCase().includes(q))
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || a.shard.localeCompare(b.shard, undefined, { numeric: true }));
  const states = ORDER.map((s) => [s, all.filter((w) => w.state === s).length]).filter(([, n]) => n > 0);
  return t.div({ class: 'page' },
    c(Title, { sub: data && `${plural(all.length, 'worker')}, ${count(all.reduce((n, w) => n + w.running, 0))} tasks on them` }, 'Workers'),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : all.length === 0 ? c(Empty, { title: 'No workers' }, 'They come by themselves: start espalier worker with the address of this scheduler.')
      : t.div(
        t.div({ class: 'toolbar' }, c(Search, { value: route.query.get('q') ?? '', label: 'Filter workers', change: (v) => refine({ q: v, page: '' }) }),
          t.div({ class: 'chips', role: 'group', 'aria-label': 'State' }, [['', all.length], ...states].map(([s, n]) =>
            t.button({ key: s, type: 'button', class: 'chip', 'aria-pressed': s === state ? 'true' : 'false', onClick: () => refine({ state: s, page: '' }) }, s || 'all', ' ', t.small(count(n)))))),
        t.section({ class: 'panel', 'aria-label': 'Workers' }, t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'List of workers' }, t.table(
          t.thead(t.tr(t.th({ scope: 'col' }, 'Shard'), t.th({ scope: 'col' }, 'Health'), t.th({ scope: 'col' }, 'Load'), t.th({ scope: 'col' }, 'Last seen'), t.th({ scope: 'col' }, 'Since'), may('operator') && t.th({ scope: 'col' }, t.span({ class: 'hidden' }, 'Actions')))),
          t.tbody(shown.slice(page * SIZE, (page + 1) * SIZE).map((w) => c(Row, { key: `${w.shard} ${w.instance}`, w })))))),
        c(Pager, { page, size: SIZE, total: shown.length, turn: (n) => refine({ page: n || '' }) })));
}
