// Who shares the tree: what is due to each queue, what it has and has had, what keeps it, and what waits in it.
import { t, c, cls } from '../dom.js';
import { get } from '../api.js';
import { useData } from '../live.js';
import { jobLink, refine } from '../route.js';
import { Badge, Choice, Empty, Failure, Gauge, Names, Pager, Search, Title, Waiting } from '../parts.js';
import { compact, count, plural, seconds, share } from '../format.js';

const SIZE = 50;
const NAMED = 4;
const collator = new Intl.Collator(undefined, { numeric: true });
const byName = (a, b) => collator.compare(a.name, b.name);
const waits = (q) => q.waiting_tasks > 0;
const SORT = {
  due: ['Next to get slots', (a, b) => waits(b) - waits(a) || a.effective_priority - b.effective_priority || byName(a, b)],
  name: ['Name', byName],
  running: ['Running', (a, b) => b.running - a.running || byName(a, b)],
  waiting: ['Most to do', (a, b) => b.waiting_tasks - a.waiting_tasks || byName(a, b)],
};

const capped = (q) => Object.entries(q.resources).filter(([, r]) => r.cap !== undefined && r.held >= r.cap).map(([name]) => name);
const percent = (part) => share(part, 1) || '0 %';
/** Three digits that count, whatever the size. */
const figure = (n) => n < 0.0001 ? 'almost 0' : n >= 1000 ? compact(n) : String(Number(n.toPrecision(3)));

/** What it has as a bar, and what is due to it as a mark on the same scale. */
function Balance({ has, due, fair }) {
  return t.span({ class: 'balance' },
    t.span({ class: 'balance-track', 'aria-hidden': 'true' }, t.span({ class: 'has', style: { width: `${100 * Math.min(1, has)}%` } }),
      fair && due > 0 && t.span({ class: 'due', style: { insetInlineStart: `${100 * Math.min(1, due)}%` } })),
    t.span({ class: 'balance-text' }, fair && t.span(due > 0 ? `${percent(due)} due` : 'nothing due', ', '), t.span(`has ${percent(has)}`)));
}

function Row({ q, fair, all, jobs }) {
  const full = capped(q);
  return t.tr({ class: cls(full.length > 0 && waits(q) && 'hurt') },
    t.th({ scope: 'row' }, t.span({ class: 'name', dir: 'auto', tabIndex: -1, 'data-row': true }, q.name),
      full.length > 0 && waits(q) && t.span(' ', c(Badge, { kind: 'warn', title: `It holds all it may of ${full.join(', ')}` }, 'at its cap')),
      t.div({ class: 'soft queue-jobs' }, jobs.length === 0 ? plural(q.jobs, 'job') : c(Names, { names: jobs.slice(0, NAMED), link: jobLink, total: jobs.length }))),
    t.td({ class: 'wide' }, c(Balance, { has: all > 0 ? q.use / all : 0, due: q.share, fair }),
      fair && t.small(`${q.weight === undefined ? `factor ${figure(q.priority_factor)}` : `weight ${figure(q.weight)}`}, priority ${figure(q.effective_priority)}`)),
    t.td({ class: 'num' }, t.strong(count(q.running))),
    t.td({ class: 'num' }, t.strong(compact(q.waiting_tasks)), t.div(t.small(q.waiting_jobs > 0 ? plural(q.waiting_jobs, 'job') : ''))),
    t.td({ class: 'num' }, percent(q.current_priority), t.div(t.small(`now ${percent(q.use)}`))),
    t.td(Object.keys(q.resources).length === 0 ? t.span({ class: 'soft' }, 'none') : t.ul({ class: 'held' }, Object.entries(q.resources).map(([name, r]) => t.li({ key: name },
      c(Gauge, { name, used: r.held, limit: r.cap ?? r.total }), t.small(r.cap === undefined ? 'no cap' : `cap, of ${count(r.total)}`))))));
}

function Rule({ data, fair }) {
  if (!fair) return t.span('The policy ', t.span({ class: 'name' }, data.policy ?? ''), ' does not look at what queues have used; their caps always hold.');
  return t.span('Of the queues that want the same slot, the one with the lowest priority figure gets it: what it has used lately, times its factor. ',
    data.half_life_sec > 0 && `Use counts half as much after ${seconds(data.half_life_sec)}.`);
}

export default function Queues({ route }) {
  const { data, error, again } = useData((signal) => get(['queues'], {}, signal), ['queues'], { every: 1000 });
  const { data: jobs } = useData((signal) => get(['jobs'], {}, signal), ['jobs'], { every: 10000 });
  const q = (route.query.get('q') ?? '').toLowerCase();
  const sort = SORT[route.query.get('sort')] ? route.query.get('sort') : 'due';
  const page = Number(route.query.get('page') ?? 0) || 0;
  const all = data?.queues ?? [];
  const fair = data?.policy === 'fair_share';
  const use = all.reduce((n, x) => n + x.use, 0);
  const members = {};
  (jobs?.jobs ?? []).forEach((j) => { (members[j.queue] ??= []).push(j.name); });
  const shown = all.filter((x) => x.name.toLowerCase().includes(q)).sort(SORT[sort][1]);
  const full = all.filter((x) => waits(x) && capped(x).length > 0).length;
  const tile = (label, value, note, kind) => t.li({ class: cls('tile', kind) }, t.span({ class: 'tile-label' }, label), t.span({ class: 'tile-value' }, value), t.span({ class: 'tile-note' }, note));
  return t.div({ class: 'page' },
    c(Title, { sub: data && c(Rule, { data, fair }) }, 'Queues'),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : all.length === 0 ? c(Empty, { title: 'No queues' }, 'There are no jobs, and no queues are configured.') : t.div(
      t.section({ class: 'total', 'aria-label': 'All queues together' }, t.ul({ class: 'tiles' },
        tile('Queues', count(all.length), `${count(all.filter(waits).length)} with work`),
        tile('Running', compact(all.reduce((n, x) => n + x.running, 0)), 'tasks'),
        tile('To start', compact(all.reduce((n, x) => n + x.waiting_tasks, 0)), `in ${plural(all.reduce((n, x) => n + x.waiting_jobs, 0), 'job')}`),
        tile('At a cap', count(full), full > 0 ? 'and have more to start' : '', full > 0 && 'is-waiting'))),
      t.div({ class: 'toolbar' },
        c(Search, { value: route.query.get('q') ?? '', label: 'Filter queues', change: (v) => refine({ q: v, page: '' }) }),
        c(Choice, { label: 'Sort', value: sort, options: Object.entries(SORT).map(([id, [word]]) => [id, word]), change: (v) => refine({ sort: v === 'due' ? '' : v, page: '' }) })),
      shown.length === 0 ? c(Empty, { title: 'No queue matches' }, t.button({ type: 'button', onClick: () => refine({ q: '' }) }, 'Show all'))
        : t.section({ class: 'panel', 'aria-label': 'Queues' }, t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'List of queues' }, t.table({ class: 'queues' },
          t.thead(t.tr(t.th({ scope: 'col' }, 'Queue'), t.th({ scope: 'col' }, fair ? 'Share of what is in use' : 'Part of what is in use'), t.th({ scope: 'col', class: 'num' }, 'Running'),
            t.th({ scope: 'col', class: 'num' }, 'To start'), t.th({ scope: 'col', class: 'num', title: 'The largest part of any resource that it has held lately' }, 'Used lately'),
            t.th({ scope: 'col' }, 'Holds'))),
          t.tbody(shown.slice(page * SIZE, (page + 1) * SIZE).map((x) => c(Row, { key: x.name, q: x, fair, all: use, jobs: members[x.name] ?? [] })))))),
      all.length === 1 && t.p({ class: 'soft queue-hint' }, 'All jobs share one queue. Others come with ', t.code('queues'), ' in the settings and ', t.code('queue'), ' in the jobs.'),
      c(Pager, { page, size: SIZE, total: shown.length, turn: (n) => refine({ page: n || '' }) })));
}
