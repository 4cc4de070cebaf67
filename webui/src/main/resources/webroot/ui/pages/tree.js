// The node tree as an icicle: each node as wide as it has leaves, coloured by what one asks for.
import { t, c, cls, Fragment, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../dom.js';
import { get, maybe } from '../api.js';
import { useData } from '../live.js';
import { jobLink, refine, taskLink } from '../route.js';
import { Ago, Bar, Choice, Empty, Failure, Icon, Panel, Search, Title, Waiting, statesText } from '../parts.js';
import { count, plural, share } from '../format.js';
import { Grid } from './grid.js';
import { NodePanel } from './node.js';

const NARROW_PX = 3;
const LABEL_PX = 30;
const DEPTHS = [['1', '1 level'], ['2', '2 levels'], ['3', '3 levels'], ['4', '4 levels'], ['6', '6 levels'], ['12', 'all levels']];
const sum = (s) => (s.done ?? 0) + (s.failed ?? 0) + (s.cancelled ?? 0) + (s.running ?? 0) + (s.waiting ?? 0) + (s.ready ?? 0) + (s.blocked ?? 0);
const part = (state) => (n) => sum(n.states) > 0 ? (n.states[state] ?? 0) / sum(n.states) : 0;

const of = (n, resource) => n.resources.filter((r) => !resource || r.resource === resource);
/** How full: of one resource, or of the fullest. */
const useOf = (resource) => (n) => Math.max(0, ...of(n, resource).map((r) => r.limit > 0 ? Math.min(1, r.used / r.limit) : r.used > 0 ? 1 : 0));
/** Nothing that needs the resource can ever start there. */
const isZero = (resource) => (n) => of(n, resource).some((r) => r.limit === 0);
/** What closes a node whatever its limits are: what there is room for in its cell. */
const CLOSED = { brake: 'braked', window: 'window closed', quarantine: 'quarantined', other_shard: 'moves away' };
const closedWord = (n) => n.closed && (CLOSED[n.closed[0].kind] ?? 'closed');
/** Full is the goal; that tasks wait below and none of them runs is not. */
const isStalled = (resource) => (n) => n.states.ready > 0 && !(n.states.running > 0) && of(n, resource).some((r) => r.used >= r.limit);

const COLOURS = [
  ['use', 'use of limits', null, 'running'], ['failed', 'failed', part('failed'), 'failed'], ['waiting', 'backing off', part('waiting'), 'waiting'],
  ['running', 'running', part('running'), 'running'], ['done', 'done', part('done'), 'done'],
];

const VIEWS = [['', 'Map'], ['grid', 'Grid by jobs']];

export default function Tree({ route }) {
  const view = route.query.get('view') ?? '';
  const { data: jobs } = useData((signal) => get(['jobs'], {}, signal), ['jobs'], { every: 15000 });
  return t.div({ class: 'page' },
    c(Title, { actions: t.div({ class: 'chips', role: 'group', 'aria-label': 'Show as' }, VIEWS.map(([id, word]) => t.button({ key: id, type: 'button', class: 'chip', 'aria-pressed': id === view ? 'true' : 'false', onClick: () => refine({ view: id, node: '' }) }, word))) }, 'Tree'),
    view === 'grid' ? jobs ? c(Grid, { jobs: jobs.jobs.map((j) => j.name), route }) : c(Waiting) : c(Icicles, { route, jobs }));
}

function Icicles({ route, jobs }) {
  const q = (name, otherwise = '') => route.query.get(name) ?? otherwise;
  const [root, level, job, depth, by, resource, picked] = [q('root'), q('level'), q('job'), q('depth', '3'), q('by', 'use'), q('resource'), q('node')];
  const { data, error, again } = useData((signal) => maybe(['tree'], { root, level, job, depth, limit: 4000 }, signal), ['tree', root, level, job, depth], { every: 1500 });
  const nodes = useMemo(() => data ? lay(data) : [], [data]);
  const resources = useMemo(() => [...new Set(nodes.flatMap((n) => n.resources.map((r) => r.resource)))].sort(), [nodes]);
  const colour = COLOURS.find(([id]) => id === by) ?? COLOURS[0];
  const heat = colour[2] ?? useOf(resource);
  const pick = (n) => refine({ node: n ? `${n.level}/${n.name}` : '' });
  const zoom = (n) => refine(n ? { root: n.name, level: n.level, node: '' } : { root: '', level: '', node: '' });
  const slash = picked.indexOf('/');
  const at = slash > 0 ? { level: picked.slice(0, slash), name: picked.slice(slash + 1) } : null;
  return t.div(
    data && t.p({ class: 'soft' }, `${count(nodes[0]?.leaves ?? 0)} leaves below `, t.span({ class: 'name', dir: 'auto' }, data.root), ' · ', c(Ago, { ms: data.at_ms }), data.truncated && ' · not all nodes fit, zoom in for more'),
    c(Failure, { error, retry: again }),
    t.div({ class: 'toolbar' },
      c(Find, { pick, zoom }),
      c(Choice, { label: 'Colour', value: by, options: COLOURS.map(([id, word]) => [id, word]), change: (v) => refine({ by: v === 'use' ? '' : v }) }),
      by === 'use' && resources.length > 1 && c(Choice, { label: 'Resource', value: resource, options: [['', 'the fullest'], ...resources.map((r) => [r, r])], change: (v) => refine({ resource: v }) }),
      jobs && c(Choice, { label: 'Job', value: job, options: [['', 'all jobs'], ...jobs.jobs.slice(0, 500).map((j) => [j.name, j.name])], change: (v) => refine({ job: v }) }),
      c(Choice, { label: 'Depth', value: depth, options: DEPTHS, change: (v) => refine({ depth: v === '3' ? '' : v }) }),
      root && t.button({ type: 'button', onClick: () => zoom(null), 'data-up': true }, c(Icon, { name: 'up' }), 'Whole tree')),
    data === null ? c(Empty, { title: root ? 'There is no such node' : 'No tree' }, root ? t.button({ type: 'button', onClick: () => zoom(null) }, 'Whole tree') : 'This server does not show it.')
      : !data ? !error && c(Waiting)
        : t.div({ class: cls('tree-page', at && 'with-panel') },
          t.div({ class: 'tree-main' },
            c(Panel, null,
              c(Icicle, { nodes, heat, colour, resource, pick, zoom, at }),
              c(Scale, { colour })),
            c(Kept, { nodes, pick }),
            c(Table, { nodes, pick, zoom, heat, colour })),
          at && c(NodePanel, { key: picked, level: at.level, name: at.name, job, close: () => pick(null), zoom })));
}

/**
 * Depth, left and width of each node, in parts of the whole; children in the order of the answer. A level of which not
 * all nodes were fetched is left out: it would look as if there were no others.
 */
function lay({ nodes, truncated }) {
  const made = placed(nodes);
  if (!truncated) return made;
  const cut = made.find((n) => n.kids.length > 0 && n.kids.length < n.children);
  const deepest = Math.max(...made.map((n) => n.depth));
  const partial = cut ? cut.depth + 1 : made.some((n) => n.depth === deepest - 1 && n.children > 0 && n.kids.length === 0) ? deepest : Infinity;
  // Of one node with too many children, some are better than none.
  if (partial === Infinity || partial < 2) return made;
  const whole = placed(nodes.filter((_, i) => made[i].depth < partial));
  whole.forEach((n) => { n.cut = n.depth === partial - 1 && n.children > 0; });
  return whole;
}

function placed(nodes) {
  const made = nodes.map((n, i) => ({ ...n, i, depth: n.parent < 0 ? 0 : -1, kids: [], left: 0, width: 1 }));
  made.forEach((n) => { if (n.parent >= 0 && n.parent < made.length) { made[n.parent].kids.push(n); n.depth = made[n.parent].depth + 1; } });
  made.forEach((n) => {
    const whole = Math.max(n.kids.reduce((s, k) => s + Math.max(1, k.leaves), 0), n.kids.length < n.children ? Math.max(1, n.leaves) : 0);
    let left = n.left;
    n.kids.forEach((k) => { k.left = left; k.width = n.width * Math.max(1, k.leaves) / Math.max(1, whole); left += k.width; });
  });
  return made;
}

/** How all children of a node begin, up to where numbers and words do. */
function shared(parent) {
  if (parent.begins !== undefined) return parent.begins;
  let begins = parent.kids.length > 1 ? parent.kids[0].name : '';
  parent.kids.forEach((k) => { while (!k.name.startsWith(begins)) begins = begins.slice(0, -1); });
  parent.begins = begins.replace(/\d+$/, '');
  return parent.begins;
}

/** A child is called like its parent or its siblings and something more: only that is shown where there is little room. */
function shortName(n, nodes, wide) {
  const parent = n.parent >= 0 ? nodes[n.parent] : null;
  const begins = !parent ? '' : wide < 110 ? shared(parent) : n.name.startsWith(parent.name) ? parent.name : '';
  return n.name.slice(begins.length).replace(/^[-_.:/ ]+/, '') || n.name || 'instance';
}

/** Few that fail or wait among many must show as well. */
const tint = (hot, colour) => Math.round(46 * (colour[0] === 'failed' || colour[0] === 'waiting' ? Math.sqrt(hot) : hot));

/** What is too narrow to see is drawn together with its neighbours. */
function visible(nodes, px) {
  const shown = [];
  for (const n of nodes) {
    if (n.width * px >= NARROW_PX) { shown.push({ nodes: [n], left: n.left, width: n.width, depth: n.depth }); continue; }
    const last = shown[shown.length - 1];
    if (last && last.many && last.depth === n.depth && n.left - (last.left + last.width) < 1e-9 && last.width * px < 2 * NARROW_PX) {
      last.nodes.push(n);
      last.width = n.left + n.width - last.left;
    } else {
      shown.push({ many: true, nodes: [n], left: n.left, width: n.width, depth: n.depth });
    }
  }
  return shown;
}

const usage = (n) => n.resources.map((r) => `${r.resource} ${count(r.used)} of ${count(r.limit)}${r.lowered ? ` (${r.lowered})` : ''}`).join(', ');
const words = (n) => `${n.name || 'instance'}, ${n.level}${n.enabled ? '' : ', disabled'}: ${statesText(n.states)}${n.resources.length > 0 ? `; ${usage(n)}` : ''}${n.cut ? `; what is below was not fetched, zoom in` : ''}${n.closed ? `; closed: ${n.closed.map((r) => r.message).join('; ')}` : ''}${isZero('')(n) ? '; a limit is 0' : ''}${isStalled('')(n) ? '; tasks wait, none runs' : ''}${n.reserved ? `; kept free for ${n.reserved.job}, ${plural(n.reserved.idle_slots, 'slot')} idle` : ''}`;

function Icicle({ nodes, heat, colour, resource, pick, zoom, at }) {
  const box = useRef(null);
  const [px, setPx] = useState(1000);
  const [cursor, setCursor] = useState(0);
  useLayoutEffect(() => {
    const seen = new ResizeObserver(([e]) => setPx(e.contentRect.width));
    seen.observe(box.current);
    return () => seen.disconnect();
  }, []);
  const shown = useMemo(() => visible(nodes, px), [nodes, px]);
  const rows = Math.max(...nodes.map((n) => n.depth)) + 1;
  const here = shown.find((s) => s.nodes.some((n) => n.i === cursor)) ?? shown[0];
  useEffect(() => { setCursor(0); }, [nodes[0]?.name]);
  const move = (s) => {
    if (!s) return;
    setCursor(s.nodes[0].i);
    requestAnimationFrame(() => box.current?.querySelector('[tabindex="0"]')?.focus());
  };
  const keys = (e) => {
    const n = here.nodes[0];
    const row = shown.filter((s) => s.depth === here.depth);
    const holds = (m) => shown.find((s) => s.nodes.some((x) => x === m));
    const known = {
      ArrowRight: () => move(row[row.indexOf(here) + 1]), ArrowLeft: () => move(row[row.indexOf(here) - 1]),
      ArrowDown: () => move(n.kids[0] && holds(n.kids[0])), ArrowUp: () => move(n.parent >= 0 ? holds(nodes[n.parent]) : null),
      Home: () => move(row[0]), End: () => move(row[row.length - 1]),
      Enter: () => pick(n), ' ': () => pick(n), '+': () => zoom(n), '-': () => zoom(null),
    }[e.key];
    if (known) { e.preventDefault(); e.stopPropagation(); known(); }
  };
  return t.div({ class: 'icicle', ref: box, role: 'tree', 'aria-label': 'Node tree', style: { height: `${rows * 3.4}rem` }, onKeyDown: keys },
    shown.map((s) => {
      const n = s.nodes[0];
      // Of many that are drawn as one: their mean, and a mark for the hottest.
      const heats = s.nodes.map(heat);
      const most = Math.max(...heats);
      const hot = heats.reduce((a, b) => a + b, 0) / heats.length;
      const wide = s.width * px;
      const byUse = colour[0] === 'use';
      const stalled = byUse && s.nodes.some(isStalled(resource));
      const zero = byUse && s.nodes.some(isZero(resource));
      const closed = zero || s.nodes.some((x) => x.closed);
      const hue = stalled ? 'failed' : colour[3];
      const chosen = at && s.nodes.some((x) => x.name === at.name && x.level === at.level);
      const label = s.many ? `${plural(s.nodes.length, 'node')} from ${n.name}; zoom in to tell them apart` : words(n);
      return t.div({
        key: `${n.level} ${n.name}`, role: 'treeitem', 'aria-level': s.depth + 1, 'aria-selected': chosen ? 'true' : 'false', 'aria-label': label, title: label,
        tabIndex: s === here ? 0 : -1, class: cls('cell', chosen && 'chosen', !n.enabled && 'is-off', s.nodes.some((x) => x.reserved) && 'is-kept', wide < 20 && 'slim', s.nodes.some((x) => x.cut) && 'is-cut', closed && 'is-closed'),
        style: { left: `${100 * s.left}%`, width: `${100 * s.width}%`, top: `${s.depth * 3.4}rem`,
          'background-color': `color-mix(in srgb, var(--${hue}) ${stalled ? 46 : tint(hot, colour)}%, var(--line))` },
        onClick: () => { setCursor(n.i); pick(n); }, onDblClick: () => zoom(n),
      },
      wide >= LABEL_PX && t.span({ class: 'cell-name', dir: 'auto' }, wide > 160 ? n.name || 'instance' : shortName(n, nodes, wide)),
      wide >= 90 && t.span({ class: 'cell-note' }, !s.many && n.closed ? closedWord(n) : byUse ? zero && !s.many ? 'limit 0' : n.resources.length > 0 ? `${s.many ? 'mean ' : ''}${share(hot, 1) || '0 %'}` : '' : `${count(n.states[colour[0]] ?? 0)} ${colour[1]}`, s.nodes.some((x) => x.reserved) && ' · kept free'),
      t.span({ class: `cell-heat s-${hue}`, style: { width: `${100 * hot}%` } }),
      s.many && most > hot + 0.05 && wide >= 20 && t.span({ class: `cell-most s-${hue}`, style: { left: `${100 * most}%` } }));
    }));
}

function Scale({ colour }) {
  return t.p({ class: 'tree-scale' }, t.span('none'), t.span({ class: 'ramp', 'aria-hidden': 'true' }, [0, 0.25, 0.5, 0.75, 1].map((x) => t.span({ key: x,
    style: { background: `color-mix(in srgb, var(--${colour[3]}) ${tint(x, colour)}%, var(--line))` } }))), t.span(colour[0] === 'use' ? 'full' : `all ${colour[1]}`),
  colour[0] === 'use' && c(Fragment, null, t.span({ class: 'ramp', 'aria-hidden': 'true' }, t.span({ style: { background: 'color-mix(in srgb, var(--failed) 46%, var(--line))' } })), t.span('tasks wait, none runs')),
  t.span({ class: 'ramp', 'aria-hidden': 'true' }, t.span({ class: 'is-closed' })), t.span(colour[0] === 'use' ? 'closed, or limit 0' : 'closed'),
  t.span({ class: 'soft' }, 'Press a node for what it is; press twice to zoom in.'));
}

/** Those of the nodes shown that wait, with free slots, for a task that needs more of them than is free. */
function Kept({ nodes, pick }) {
  const kept = nodes.filter((n) => n.reserved).sort((a, b) => a.reserved.since_ms - b.reserved.since_ms);
  if (kept.length === 0) return null;
  return c(Panel, { title: 'Kept free', id: 'h-kept', note: `${plural(kept.length, 'node')}, ${plural(kept.reduce((s, n) => s + n.reserved.idle_slots, 0), 'slot')} idle: heavy tasks that have waited for long get their turn` },
    t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Nodes kept free' }, t.table(
      t.thead(t.tr(t.th({ scope: 'col' }, 'Node'), t.th({ scope: 'col' }, 'For'), t.th({ scope: 'col' }, 'Waits there'), t.th({ scope: 'col' }, 'Since'), t.th({ scope: 'col', class: 'num' }, 'Idle slots'), t.th({ scope: 'col' }, 'Use'))),
      t.tbody(kept.slice(0, 20).map((n) => t.tr({ key: n.i },
        t.td(t.button({ type: 'button', class: 'link name', 'data-row': true, dir: 'auto', onClick: () => pick(n) }, n.name || 'instance'), ' ', t.small({ dir: 'auto' }, n.level)),
        t.td(t.a({ href: jobLink(n.reserved.job), dir: 'auto' }, n.reserved.job)),
        t.td(n.reserved.task === undefined ? '–' : t.a({ class: 'name', href: taskLink(n.reserved.job, n.reserved.task), dir: 'auto' }, n.reserved.task || 'instance')),
        t.td({ class: 'nowrap' }, c(Ago, { ms: n.reserved.since_ms })), t.td({ class: 'num' }, count(n.reserved.idle_slots)), t.td(usage(n) || '–')))))),
    kept.length > 20 && t.p({ class: 'soft' }, `and ${count(kept.length - 20)} more`));
}

/** The same in rows: the hottest first. */
function Table({ nodes, pick, zoom, heat, colour }) {
  const [open, setOpen] = useState(false);
  const rows = useMemo(() => open ? [...nodes].sort((a, b) => heat(b) - heat(a) || a.i - b.i).slice(0, 100) : [], [nodes, open, heat]);
  return t.details({ class: 'panel', open, onToggle: (e) => setOpen(e.currentTarget.open) }, t.summary('As a table, the most by colour first'),
    open && t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Nodes' }, t.table(
      t.thead(t.tr(t.th({ scope: 'col' }, 'Node'), t.th({ scope: 'col' }, 'Level'), t.th({ scope: 'col', class: 'num' }, 'Leaves'), t.th({ scope: 'col' }, 'Use'), t.th({ scope: 'col' }, 'Tasks'), t.th({ scope: 'col', class: 'num' }, colour[1]), t.th({ scope: 'col' }, t.span({ class: 'hidden' }, 'Actions')))),
      t.tbody(rows.map((n) => t.tr({ key: n.i },
        t.td(t.button({ type: 'button', class: 'link name', 'data-row': true, dir: 'auto', onClick: () => pick(n) }, n.name || 'instance')), t.td({ dir: 'auto' }, n.level), t.td({ class: 'num' }, count(n.leaves)),
        t.td(usage(n) || '–'), t.td({ class: 'wide' }, c(Bar, { states: n.states, label: n.name })), t.td({ class: 'num' }, share(heat(n), 1) || '0 %'),
        t.td(n.children > 0 && t.button({ type: 'button', class: 'small', 'aria-label': `Zoom to ${n.name}`, onClick: () => zoom(n) }, 'Zoom'))))))));
}

/** Finds nodes by what their names begin with. */
function Find({ pick, zoom }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState(null);
  useEffect(() => {
    if (!text) { setFound(null); return undefined; }
    const control = new AbortController();
    get(['nodes'], { prefix: text, limit: 12 }, control.signal).then((r) => setFound(r.nodes), () => {});
    return () => control.abort();
  }, [text]);
  const choose = (n, deep) => { setText(''); setFound(null); deep ? zoom(n) : pick(n); };
  return t.div({ class: 'find' },
    c(Search, { value: text, label: 'Find a node', change: setText }),
    found && t.ul({ class: 'found', 'aria-label': 'Nodes found' }, found.length === 0 ? t.li({ class: 'soft' }, 'No node begins like this.')
      : found.map((n) => t.li({ key: `${n.level} ${n.name}` }, t.button({ type: 'button', class: 'quiet', onClick: () => choose(n, false) }, t.span({ class: 'name', dir: 'auto' }, n.name), t.small({ dir: 'auto' }, n.level)),
        t.button({ type: 'button', class: 'small', 'aria-label': `Zoom to ${n.name}`, onClick: () => choose(n, true) }, 'Zoom')))));
}
