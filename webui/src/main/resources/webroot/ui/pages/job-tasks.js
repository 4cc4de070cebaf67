// The tasks of a job in pages, by status, name or cause of failure.
import { t, c, useEffect, useState } from '../dom.js';
import { get, may } from '../api.js';
import { useData } from '../live.js';
import { refine, taskLink, useCursor } from '../route.js';
import { Ago, At, Badge, Choice, CursorPager, Empty, Failure, Icon, Panel, Search, Status, Waiting } from '../parts.js';
import { count } from '../format.js';
import { cancel, forgive, rerun } from './job-actions.js';

const SIZE = 100;
const STATUSES = ['unstarted', 'running', 'done', 'failed', 'cancelled', 'error_backoff', 'incomplete_backoff', 'error', 'incomplete', 'never_started', 'was_not_running', 'lost', 'interrupted', 'avoided', 'disabled'];

export function Tasks({ job, route }) {
  const status = route.query.get('status') ?? '';
  const prefix = route.query.get('prefix') ?? '';
  const fingerprint = route.query.get('fingerprint') ?? '';
  const [chosen, setChosen] = useState(new Set());
  const cursor = useCursor(route.query);
  const { after } = cursor;
  const filter = (changes) => refine({ ...changes, after: '', page: '' });
  useEffect(() => setChosen(new Set()), [status, prefix, fingerprint]);
  const { data, error, again } = useData((signal) => get(['jobs', job.name, 'tasks'], { status, prefix, fingerprint, after, limit: SIZE }, signal),
    ['tasks', job.name, status, prefix, fingerprint, after]);
  const nodes = data?.tasks.map((x) => x.node) ?? [];
  const all = nodes.length > 0 && nodes.every((n) => chosen.has(n));
  const toggle = (names, on) => setChosen((old) => { const next = new Set(old); names.forEach((n) => on ? next.add(n) : next.delete(n)); return next; });
  const pick = { nodes: [...chosen] };
  return t.div(
    t.div({ class: 'toolbar' },
      c(Search, { value: prefix, label: 'Node begins with', change: (v) => filter({ prefix: v }) }),
      c(Choice, { label: 'Status', value: status, options: [['', 'any'], ...STATUSES.map((s) => [s, s.replaceAll('_', ' ')])], change: (v) => filter({ status: v }) }),
      fingerprint && t.button({ type: 'button', class: 'chip', 'aria-pressed': 'true', onClick: () => filter({ fingerprint: '' }) }, 'One cause of failure ', c(Icon, { name: 'kill' }), t.span({ class: 'hidden' }, 'remove this filter')),
      may('operator') && chosen.size > 0 && t.div({ class: 'actions' }, t.span({ class: 'soft' }, `${count(chosen.size)} chosen`),
        t.button({ type: 'button', onClick: () => rerun(job, pick, 'The chosen tasks begin again.') }, c(Icon, { name: 'redo' }), 'Rerun'),
        t.button({ type: 'button', onClick: () => forgive(job, pick, 'The chosen tasks become startable.') }, c(Icon, { name: 'heart' }), 'Forgive'),
        t.button({ type: 'button', onClick: () => cancel(job, pick) }, c(Icon, { name: 'kill' }), 'Cancel'))),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : data.tasks.length === 0 ? c(Empty, { title: 'No such tasks' }) : c(Panel, null,
      t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Tasks' }, t.table(
        t.thead(t.tr(
          may('operator') && t.th({ scope: 'col' }, t.input({ type: 'checkbox', checked: all, 'aria-label': 'all on this page', onChange: (e) => toggle(nodes, e.target.checked) })),
          t.th({ scope: 'col' }, 'Node'), t.th({ scope: 'col' }, 'Status'), t.th({ scope: 'col', class: 'num' }, 'Attempts'), t.th({ scope: 'col' }, 'Since'), t.th({ scope: 'col' }, 'What it said'))),
        t.tbody(data.tasks.map((x) => t.tr({ key: x.node },
          may('operator') && t.td(t.input({ type: 'checkbox', checked: chosen.has(x.node), 'aria-label': `choose ${x.node}`, onChange: (e) => toggle([x.node], e.target.checked) })),
          t.td(t.a({ href: taskLink(job.name, x.node), class: 'name', 'data-row': true, dir: 'auto' }, x.node)),
          t.td(c(Status, { status: x.status }), x.phase === 'cancelled' && x.status !== 'cancelled' && t.span(' ', c(Badge, { title: 'Not started any more: the filters exclude it, or the job is at its end' }, 'cancelled')), x.running?.worker && t.small({ dir: 'auto' }, ` on ${x.running.worker}`), x.until_ms > Date.now() && t.small(' until ', c(At, { ms: x.until_ms }))),
          t.td({ class: 'num' }, count(x.attempts)),
          t.td({ class: 'nowrap' }, x.running ? c(Ago, { ms: x.running.started_at_ms }) : x.since_ms ? c(Ago, { ms: x.since_ms }) : '–'),
          t.td({ class: 'wide', dir: 'auto' }, said(x))))))),
      c(CursorPager, { cursor, next: data.next })));
}

export function said(task) {
  const d = task.data;
  if (!d || Object.keys(d).length === 0) return '';
  const text = typeof d.exception === 'string' ? d.exception : typeof d.message === 'string' ? d.message : JSON.stringify(d);
  return text.length > 160 ? `${text.slice(0, 160)} …` : text;
}
