// Subtrees by jobs: a row for each child of a node, a column for each job, and in each cell the states of its tasks there.
import { t, c, cls, useMemo, useState } from '../dom.js';
import { maybe } from '../api.js';
import { useData } from '../live.js';
import { jobLink, refine, to } from '../route.js';
import { Ago, Bar, Choice, Empty, Failure, Icon, Pager, Panel, Waiting, statesText } from '../parts.js';
import { count, share } from '../format.js';

const MOST_JOBS = 8;
const MOST_ROWS = 1000;
const ROWS = 40;
const total = (s) => s.done + s.failed + s.cancelled + s.running + s.waiting + s.ready + s.blocked;
const over = (s) => s.done + s.cancelled;
const ORDERS = [['', 'as in the tree'], ['failed', 'most failed'], ['behind', 'furthest behind']];

/** How far behind a subtree is, over all jobs that are shown: less is sorted first. */
const RANK = {
  failed: (cells) => -cells.reduce((n, s) => n + s.failed, 0),
  behind: (cells) => cells.reduce((n, s) => n + over(s), 0) / Math.max(1, cells.reduce((n, s) => n + total(s), 0)),
};

/** The children of the node, and what each job has below them. */
function rowsOf(answers, order) {
  const known = answers.find(Boolean);
  const rows = (known?.nodes ?? []).slice(1).map((n, i) => ({ ...n, cells: answers.map((a) => a?.nodes[i + 1]?.states) }));
  const rank = RANK[order];
  return rank ? rows.map((r) => [rank(r.cells.filter(Boolean)), r]).sort((a, b) => a[0] - b[0]).map(([, r]) => r) : rows;
}

function Cell({ job, node, states, root }) {
  const n = states ? total(states) : 0;
  if (n === 0) return t.td({ class: 'soft' }, '–');
  return t.td({ class: cls('grid-cell', states.failed > 0 && 'hurt') },
    t.a({ href: to(['tree'], { ...root, job, node: `${node.level}/${node.name}` }), 'aria-label': `${job} below ${node.name}: ${statesText(states)}`, title: statesText(states) },
      c(Bar, { states, total: n, quiet: true }), t.span(share(over(states), n) || '0 %', states.failed > 0 && t.b(` ${count(states.failed)} failed`))));
}

/**
 * @param jobs names, in the order of the columns
 * @param route whose query says below which node one is
 */
export function Grid({ jobs, route, title = 'Subtrees by jobs' }) {
  const root = route.query.get('root') ?? '';
  const level = route.query.get('level') ?? '';
  const order = route.query.get('order') ?? '';
  const [from, setFrom] = useState(0);
  const [page, setPage] = useState(0);
  const first = from < jobs.length ? from : 0;
  const names = jobs.slice(first, first + MOST_JOBS);
  const { data, error, again } = useData((signal) => Promise.all(names.map((job) => maybe(['tree'], { root, level, job, depth: 1, limit: MOST_ROWS + 1 }, signal))), ['grid', root, level, names], { every: 2000 });
  const rows = useMemo(() => data ? rowsOf(data, order) : [], [data, order]);
  const known = data?.find(Boolean);
  const into = (n) => { setPage(0); refine(n ? { root: n.name, level: n.level } : { root: '', level: '' }); };
  const at = Math.min(page, Math.max(0, Math.ceil(rows.length / ROWS) - 1));
  return c(Panel, { title, id: 'h-grid', note: known && t.span('below ', t.span({ class: 'name', dir: 'auto' }, known.root || 'instance'), ' · ', c(Ago, { ms: known.at_ms })),
    actions: [root && t.button({ key: 'up', type: 'button', class: 'small', onClick: () => into(null) }, c(Icon, { name: 'up' }), 'Whole tree'),
      rows.length > 1 && c(Choice, { key: 'order', label: 'Order', value: order, options: ORDERS, change: (v) => refine({ order: v }) })] },
  c(Failure, { error, retry: again }),
  !data ? !error && c(Waiting) : rows.length === 0 ? c(Empty, { title: known ? 'Nothing is below this node' : 'None of these jobs has tasks in the tree' })
    : t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Table of subtrees' }, t.table({ class: 'subtrees' },
      t.thead(t.tr(t.th({ scope: 'col' }, rows[0].level), names.map((job) => t.th({ key: job, scope: 'col' }, t.a({ href: jobLink(job), dir: 'auto', title: job }, job))))),
      t.tbody(rows.slice(at * ROWS, (at + 1) * ROWS).map((n) => t.tr({ key: n.name },
        t.th({ scope: 'row' }, n.children > 0 ? t.button({ type: 'button', class: 'link name', dir: 'auto', title: 'What is below it', onClick: () => into(n) }, n.name) : t.span({ class: 'name', dir: 'auto' }, n.name)),
        names.map((job, i) => c(Cell, { key: job, job, node: n, states: n.cells[i], root: { root, level } }))))))),
  known?.truncated && t.p({ class: 'soft' }, `Only the first ${count(MOST_ROWS)} are shown.`),
  c(Pager, { page: at, size: ROWS, total: rows.length, turn: setPage }),
  jobs.length > MOST_JOBS && t.nav({ class: 'pager', 'aria-label': 'Jobs of the grid' },
    t.button({ type: 'button', disabled: first === 0, onClick: () => setFrom(first - MOST_JOBS) }, c(Icon, { name: 'prev' }), 'Jobs before'),
    t.span(`Jobs ${count(first + 1)} – ${count(first + names.length)} of ${count(jobs.length)}`),
    t.button({ type: 'button', disabled: first + MOST_JOBS >= jobs.length, onClick: () => setFrom(first + MOST_JOBS) }, 'Jobs after', c(Icon, { name: 'next' }))));
}
