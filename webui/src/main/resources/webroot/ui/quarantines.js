// Nodes that are quarantined because tasks fail there, and suggestions of that.
import { t, c } from './dom.js';
import { may, maybe, request } from './api.js';
import { useData } from './live.js';
import { nodeLink } from './route.js';
import { Ago, Icon, Panel } from './parts.js';
import { ask } from './dialogs.js';
import { command } from './shell.js';
import { plural } from './format.js';

function place({ level, node, job }) { return { node, level, ...(job === undefined ? {} : { job }) }; }

function close(q) {
  ask({ title: `Quarantine ${q.words}`, text: 'Nothing more starts there until somebody lifts it. Running tasks go on.', button: 'Quarantine', danger: true,
    cli: ({ reason }) => command(['quarantine', q.node], { level: q.level, job: q.job, reason }),
    act: async ({ reason }) => { await request('POST', ['quarantines'], { body: { ...place(q), ...(reason ? { reason } : {}) } }); return `${q.words} is quarantined`; } });
}

function lift(q) {
  ask({ title: q.suggested ? `Discard the suggestion to quarantine ${q.words}` : `Lift the quarantine of ${q.words}`, text: q.suggested ? 'It comes again if more tasks fail.' : 'Tasks start there again at once.', button: q.suggested ? 'Discard' : 'Lift',
    cli: ({ reason }) => command(['lift', q.node], { level: q.level, job: q.job, reason }),
    act: async ({ reason }) => { await request('POST', ['quarantines', 'lift'], { body: { ...place(q), ...(reason ? { reason } : {}) } }); return `${q.words} is not quarantined`; } });
}

/** A line on every page while there are some. */
export function Quarantined({ quarantines }) {
  if (!quarantines?.length) return null;
  const closed = quarantines.filter((q) => !q.suggested);
  const words = closed.length ? `${plural(closed.length, 'quarantine')}: ${closed.slice(0, 3).map((q) => q.words).join(', ')}${closed.length > 3 ? ', …' : ''}` : `quarantine is suggested of ${quarantines[0].words}`;
  return t.div({ class: 'closed', role: 'status' }, t.p(t.a({ href: '#/limits' }, c(Icon, { name: 'warn' }), ' ', t.span({ dir: 'auto' }, words))));
}

/** The list; nothing while there are none. */
export function Quarantines() {
  const { data } = useData((signal) => maybe(['quarantines'], {}, signal), ['quarantines'], { every: 5000 });
  if (!data?.quarantines?.length) return null;
  return c(Panel, { title: 'Quarantines', id: 'h-quarantines', note: plural(data.quarantines.length, 'node') }, t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'List of quarantines' }, t.table(
    t.thead(t.tr(t.th({ scope: 'col' }, 'Node'), t.th({ scope: 'col' }, 'Job'), t.th({ scope: 'col' }, 'State'), t.th({ scope: 'col', class: 'num' }, 'Trials'), t.th({ scope: 'col' }, 'Next trial'), t.th({ scope: 'col' }, 'Who, why'), may('operator') && t.th({ scope: 'col' }, t.span({ class: 'hidden' }, 'Actions')))),
    t.tbody(data.quarantines.map((q) => t.tr({ key: `${q.words} ${q.suggested}` },
      t.td(t.a({ href: nodeLink(q.level, q.node), class: 'name', 'data-row': true, dir: 'auto' }, q.node)), t.td({ dir: 'auto' }, q.job ?? 'all'), t.td(q.suggested ? 'suggested' : 'closed'),
      t.td({ class: 'num' }, q.trials ?? '–'), t.td({ class: 'nowrap' }, q.next_trial_at_ms ? c(Ago, { ms: q.next_trial_at_ms }) : '–'),
      t.td({ dir: 'auto' }, [q.author, q.reason].filter(Boolean).join(': '), ' ', t.small(c(Ago, { ms: q.set_at_ms }))),
      may('operator') && t.td(t.div({ class: 'actions' }, q.suggested && t.button({ type: 'button', class: 'small', onClick: () => close(q) }, 'Quarantine'), t.button({ type: 'button', class: 'small', onClick: () => lift(q) }, q.suggested ? 'Discard' : 'Lift')))))))));
}
