// The schedulers of the list, and how they answer.
import { t, c, cls, useState } from '../dom.js';
import { get } from '../api.js';
import { useData } from '../live.js';
import { refine } from '../route.js';
import { Ago, Bar, Empty, Failure, Search, Title, Waiting } from '../parts.js';
import { count, millis, plural } from '../format.js';
import { Chips, Host, More, ORDER, State } from './parts.js';

const STEP = 100;
const MOST = 1000;

function Row({ host }) {
  const known = host.jobs !== undefined;
  return t.tr({ class: cls(['dead', 'error', 'refused'].includes(host.state) && 'hurt') },
    t.th({ scope: 'row' }, c(Host, { id: host.id, name: host.name, row: true }), t.div({ class: 'soft' }, host.url)),
    t.td(c(State, { host }), host.same_as && t.div({ class: 'soft' }, 'the same scheduler as ', c(Host, { id: host.same_as })),
      known && !host.config_in_force && t.div({ class: 'soft' }, 'no configuration is in force')),
    t.td({ class: 'bars' }, known && c(Bar, { states: host.progress, total: host.progress.total, label: host.name })),
    t.td({ class: 'num' }, known ? count(host.jobs) : '–'), t.td({ class: 'num' }, known ? count(host.running) : '–'), t.td({ class: 'num' }, known ? count(host.nodes) : '–'),
    t.td({ class: 'num' }, known ? count(host.troubles) : '–'),
    t.td({ class: 'nowrap' }, c(Ago, { ms: host.answered_at_ms }), known && t.div({ class: 'soft' }, `in ${millis(host.took_ms)}`)),
    t.td({ class: 'nowrap' }, host.version ?? ''));
}

export default function Schedulers({ route }) {
  const state = route.query.get('state') ?? '';
  const q = route.query.get('q') ?? '';
  const [limit, setLimit] = useState(STEP);
  const { data, error, again } = useData((signal) => get(['fleet', 'schedulers'], { state, match: q, limit }, signal), ['schedulers', state, q, limit], { keep: true });
  const s = data?.summary;
  return t.div({ class: 'page' },
    c(Title, { sub: data && t.span(`${plural(s.total, 'scheduler')} from `, t.span({ dir: 'auto' }, data.list.source)) }, 'Schedulers'),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : t.div(
      data.list.problems.length > 0 && t.div({ class: 'notice', role: 'status' }, 'The newest list is not in force:', t.ul(data.list.problems.map((p) => t.li({ key: p, dir: 'auto' }, p)))),
      t.div({ class: 'toolbar' },
        c(Search, { value: q, label: 'Filter schedulers', placeholder: 'Part of a name', change: (v) => refine({ q: v }) }),
        c(Chips, { label: 'State', current: state, change: (id) => refine({ state: id }),
          options: [['', 'all', s.total], ...ORDER.filter((k) => s.states[k] > 0 || k === state).map((k) => [k, k, s.states[k]])] })),
      data.schedulers.length === 0 ? c(Empty, { title: 'No scheduler matches' }) : t.section({ class: 'panel', 'aria-label': 'Schedulers' },
        t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'List of schedulers' }, t.table(
          t.thead(t.tr(t.th({ scope: 'col' }, 'Scheduler'), t.th({ scope: 'col' }, 'Answer'), t.th({ scope: 'col' }, 'Tasks'),
            ['Jobs', 'Running', 'Nodes', 'Problems'].map((w) => t.th({ key: w, scope: 'col', class: 'num' }, w)), t.th({ scope: 'col' }, 'Answered'), t.th({ scope: 'col' }, 'Version'))),
          t.tbody(data.schedulers.map((host) => c(Row, { key: host.id, host })))))),
      c(More, { shown: data.schedulers.length, total: Math.min(MOST, data.matching), more: () => setLimit(MOST) })));
}
