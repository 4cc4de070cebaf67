// What a node is: use and limits with overrides, who holds its slots, which tasks lie below it and why they wait.
import { t, c, useEffect, useRef } from '../dom.js';
import { may, maybe } from '../api.js';
import { useData } from '../live.js';
import { jobLink, taskLink, to } from '../route.js';
import { Ago, At, Badge, Bar, Empty, Failure, Gauge, Icon, Names, Waiting } from '../parts.js';
import { count, plural } from '../format.js';
import { Holders } from './task.js';
import { override, removeOverride } from './limits.js';

/** A node that others may not use up, and whose turn is coming. */
function KeptFree({ reserved: r }) {
  return t.p({ class: 'notice' }, t.strong('Kept free'), ' for ', t.a({ href: jobLink(r.job), dir: 'auto' }, r.job), ' since ', c(At, { ms: r.since_ms }), ', ', c(Ago, { ms: r.since_ms }),
    r.task !== undefined && t.span(': its task on ', t.a({ class: 'name', href: taskLink(r.job, r.task), dir: 'auto' }, r.task || 'instance'), ' has been waiting for long'),
    r.idle_slots > 0 ? `. ${plural(r.idle_slots, 'free slot idles', 'free slots idle')} until enough is free.` : '. Nothing is free yet.');
}

export function NodePanel({ level, name, close, zoom }) {
  const { data, error } = useData((signal) => maybe(['nodes', level, name], {}, signal), ['node', level, name], { every: 1500 });
  const head = useRef(null);
  useEffect(() => {
    const esc = (e) => { if (e.key === 'Escape' && !document.querySelector('dialog[open]')) close(); };
    addEventListener('keydown', esc);
    return () => removeEventListener('keydown', esc);
  });
  useEffect(() => {
    head.current?.focus({ preventScroll: true });
    // In a narrow window the panel lies over what is below.
    for (const seen of [head.current, document.querySelector('.cell.chosen')]) seen?.scrollIntoView({ block: 'nearest' });
  }, []);
  return t.section({ class: 'panel node', 'aria-labelledby': 'h-node' },
    t.header(t.h2({ id: 'h-node', tabIndex: -1, ref: head, dir: 'auto' }, name || 'instance'), t.span({ class: 'note', dir: 'auto' }, level),
      t.div({ class: 'actions' }, t.button({ type: 'button', class: 'quiet icon-only', 'aria-label': 'Close', onClick: close }, c(Icon, { name: 'kill' })))),
    c(Failure, { error }),
    data === null ? c(Empty, { title: 'No such node' }, 'It may have gone with the latest refresh of the nodes.') : !data ? !error && c(Waiting) : t.div({ class: 'node-body' },
      t.p({ class: 'soft' }, !data.enabled && c(Badge, { kind: 'bad' }, 'disabled'), ' ', data.children > 0 && `${plural(data.children, 'child', 'children')}, ${plural(data.leaves, 'leaf', 'leaves')} · `,
        data.parents.length > 0 && t.span('below ', t.span({ class: 'name', dir: 'auto' }, data.parents.join(', '))),
        data.tags?.length > 0 && t.span(' · tags ', c(Names, { names: data.tags }))),
      data.closed?.map((r, i) => t.p({ key: i, class: 'notice' }, t.strong('Closed'), r.node !== name && t.span(' with ', t.span({ class: 'name', dir: 'auto' }, r.node || 'instance')), ': ', t.span({ dir: 'auto' }, r.message))),
      data.reserved && c(KeptFree, { reserved: data.reserved }),
      t.div({ class: 'actions' }, data.children > 0 && t.button({ type: 'button', class: 'small', onClick: () => zoom({ level, name }) }, c(Icon, { name: 'search' }), 'Zoom in'), t.a({ class: 'button', href: to(['events'], { node: name }) }, 'Events')),
      data.resources.length > 0 && t.section(t.h3('Use of limits'), t.ul({ class: 'limits' }, data.resources.map((r) => t.li({ key: r.resource },
        c(Gauge, { name: r.resource, used: r.used, limit: r.limit, configured: r.configured, override: r.override }), r.lowered && t.p({ class: 'override', dir: 'auto' }, r.lowered),
        may('operator') && t.span({ class: 'actions' },
          t.button({ type: 'button', class: 'small', 'aria-label': `Override ${r.resource}`, onClick: () => override({ level, resource: r.resource, node: name, limit: r.override ?? r.configured }) }, 'Override'),
          r.override !== undefined && t.button({ type: 'button', class: 'small', 'aria-label': `Remove the override of ${r.resource}`, onClick: () => removeOverride({ level, resource: r.resource, node: name, configured: r.configured }) }, 'Remove')))))),
      data.jobs.length > 0 && t.section(t.h3('Tasks below'), t.ul({ class: 'node-jobs' }, data.jobs.map((j) => t.li({ key: j.job },
        t.div(t.a({ href: jobLink(j.job), dir: 'auto' }, j.job), data.children === 0 && t.a({ class: 'button', href: taskLink(j.job, name) }, 'Explain'),
          data.children > 0 && t.a({ class: 'button', href: `${jobLink(j.job, 'tasks')}?prefix=${encodeURIComponent(name)}` }, 'Tasks')),
        c(Bar, { states: j.states, label: j.job }))))),
      t.section(t.h3('Holders'), data.holders.length === 0 ? t.p({ class: 'soft' }, 'No running task holds anything here.') : t.div(data.holders_total > data.holders.length && t.p({ class: 'soft' }, `${count(data.holders.length)} of ${count(data.holders_total)}`), c(Holders, { holders: data.holders, of: `on ${name || 'instance'}` }))),
      data.attributes && Object.keys(data.attributes).length > 0 && t.section(t.h3('Attributes'), t.pre({ class: 'config', tabIndex: 0, 'aria-label': 'Attributes' }, JSON.stringify(data.attributes, null, 2)))));
}

