// The tasks of a job in pages, by status, name, cause of failure or what they wait for, with their latest attempt.
import { t, c, useEffect, useState } from '../dom.js';
import { get, maySteer, maybe } from '../api.js';
import { useData } from '../live.js';
import { refine, taskLink, useCursor } from '../route.js';
import { Ago, At, Badge, Choice, CursorPager, Empty, Failure, Icon, Panel, Search, Status, Waiting, WorkerName } from '../parts.js';
import { count, millis, plural } from '../format.js';
import { cancel, forgive, rerun } from './job-actions.js';

const SIZE = 100;
/** The commonest of each colour; what else there is. */
const COMMON = ['unstarted', 'running', 'done', 'failed', 'cancelled', 'error_backoff'];
const OTHER = ['incomplete_backoff', 'error', 'incomplete', 'never_started', 'was_not_running', 'lost', 'interrupted', 'avoided', 'disabled'];
const inWords = (statuses) => statuses.map((s) => [s, s.replaceAll('_', ' ')]);

/** The latest attempt: one that runs, or the last that ended. */
function latest(x) {
  const ended = x.history?.attempts.at(-1);
  return x.running ? { worker: x.running.worker, from: x.running.started_at_ms } : ended ? { worker: ended.worker, took: ended.ended_at_ms - ended.started_at_ms } : {};
}

const took = (x, now) => { const a = latest(x); return a.took ?? (a.from ? now - a.from : -1); };
const collator = new Intl.Collator(undefined, { numeric: true });
/** Ways to sort the tasks that are on the page. */
const SORT = {
  '': ['Tree', null],
  node: ['Node', (a, b) => collator.compare(a.node, b.node)],
  took: ['Longest', (a, b, now) => took(b, now) - took(a, now)],
  attempts: ['Most attempts', (a, b) => b.attempts - a.attempts],
  since: ['Newest', (a, b) => (b.running?.started_at_ms ?? b.since_ms ?? 0) - (a.running?.started_at_ms ?? a.since_ms ?? 0)],
  worker: ['Worker', (a, b) => collator.compare(latest(a).worker ?? '', latest(b).worker ?? '')],
};

export function Tasks({ job, route }) {
  const status = route.query.get('status') ?? '';
  const prefix = route.query.get('prefix') ?? '';
  const contains = route.query.get('contains') ?? '';
  const fingerprint = route.query.get('fingerprint') ?? '';
  const reason = route.query.get('reason') ?? '';
  const sort = route.query.get('sort') ?? '';
  const [chosen, setChosen] = useState(new Set());
  const cursor = useCursor(route.query);
  const { after } = cursor;
  const filter = (changes) => refine({ ...changes, after: '', page: '' });
  useEffect(() => setChosen(new Set()), [status, prefix, contains, fingerprint, reason]);
  const wanted = { status, prefix, contains, fingerprint, reason };
  const { data, error, again } = useData((signal) => get(['jobs', job.name, 'tasks'], { ...wanted, after, limit: SIZE, history: true }, signal),
    ['tasks', job.name, status, prefix, contains, fingerprint, reason, after]);
  // Every task is looked at for it: less often than for the page.
  const { data: sum } = useData((signal) => get(['jobs', job.name, 'tasks'], { ...wanted, limit: 1, total: true }, signal), ['total', job.name, status, prefix, contains, fingerprint, reason], { every: reason ? 30000 : 5000 });
  const { data: waits } = useData((signal) => maybe(['jobs', job.name, 'waiting'], {}, signal), ['waiting', job.name], { every: 5000 });
  const kinds = [...new Set([...(waits?.reasons ?? []).map((r) => r.kind), reason].filter(Boolean))];
  const by = SORT[sort]?.[1];
  const now = Date.now();
  const shown = by ? [...(data?.tasks ?? [])].sort((a, b) => by(a, b, now)) : data?.tasks ?? [];
  const nodes = shown.map((x) => x.node);
  const all = nodes.length > 0 && nodes.every((n) => chosen.has(n));
  const toggle = (names, on) => setChosen((old) => { const next = new Set(old); names.forEach((n) => on ? next.add(n) : next.delete(n)); return next; });
  const pick = { nodes: [...chosen] };
  return t.div(
    t.div({ class: 'toolbar' },
      c(Search, { value: contains, label: 'Part of the node', change: (v) => filter({ contains: v }) }),
      prefix && t.button({ type: 'button', class: 'chip', 'aria-pressed': 'true', onClick: () => filter({ prefix: '' }) }, 'Begins with ', t.span({ class: 'name', dir: 'auto' }, prefix), ' ', c(Icon, { name: 'kill' }), t.span({ class: 'hidden' }, 'remove this filter')),
      c(Choice, { label: 'Status', value: status, options: [['', 'any'], ['One of each colour', inWords(COMMON)], ['Other statuses', inWords(OTHER)]], change: (v) => filter({ status: v }) }),
      kinds.length > 0 && c(Choice, { label: 'Waits for', value: reason, options: [['', 'anything'], ...kinds.map((k) => [k, k === 'startable' ? 'its turn' : k.replaceAll('_', ' ')])], change: (v) => filter({ reason: v }) }),
      c(Choice, { label: data?.next || after ? 'Sort this page' : 'Sort', value: sort, options: Object.entries(SORT).map(([id, [word]]) => [id, word]), change: (v) => refine({ sort: v }) }),
      sum && t.span({ class: 'soft', role: 'status' }, plural(sum.total, 'task')),
      fingerprint && t.button({ type: 'button', class: 'chip', 'aria-pressed': 'true', onClick: () => filter({ fingerprint: '' }) }, 'One cause of failure ', c(Icon, { name: 'kill' }), t.span({ class: 'hidden' }, 'remove this filter')),
      maySteer(job) && chosen.size > 0 && t.div({ class: 'actions' }, t.span({ class: 'soft' }, `${count(chosen.size)} chosen`),
        t.button({ type: 'button', onClick: () => rerun(job, pick, 'The chosen tasks begin again.') }, c(Icon, { name: 'redo' }), 'Rerun'),
        t.button({ type: 'button', onClick: () => forgive(job, pick, 'The chosen tasks become startable.') }, c(Icon, { name: 'heart' }), 'Forgive'),
        t.button({ type: 'button', onClick: () => cancel(job, pick) }, c(Icon, { name: 'kill' }), 'Cancel'))),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : data.tasks.length === 0 ? t.div(c(Empty, { title: data.next ? 'None among the tasks looked at so far' : 'No such tasks' }), c(CursorPager, { cursor, next: data.next })) : c(Panel, null,
      t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Tasks' }, t.table(
        t.thead(t.tr(
          maySteer(job) && t.th({ scope: 'col' }, t.input({ type: 'checkbox', checked: all, 'aria-label': 'all on this page', onChange: (e) => toggle(nodes, e.target.checked) })),
          t.th({ scope: 'col' }, 'Node'), t.th({ scope: 'col' }, 'Status'), t.th({ scope: 'col', class: 'num' }, 'Attempts'), t.th({ scope: 'col', class: 'num' }, 'Took'), t.th({ scope: 'col' }, 'Worker'), t.th({ scope: 'col' }, 'Since'), t.th({ scope: 'col' }, 'What it said'))),
        t.tbody(shown.map((x) => t.tr({ key: x.node },
          maySteer(job) && t.td(t.input({ type: 'checkbox', checked: chosen.has(x.node), 'aria-label': `choose ${x.node}`, onChange: (e) => toggle([x.node], e.target.checked) })),
          t.td(t.a({ href: taskLink(job.name, x.node), class: 'name', 'data-row': true, dir: 'auto' }, x.node)),
          t.td(c(Status, { status: x.status }), x.phase === 'cancelled' && x.status !== 'cancelled' && t.span(' ', c(Badge, { title: 'Not started any more: the filters exclude it, or the job is at its end' }, 'cancelled')), x.until_ms > Date.now() && t.small(' until ', c(At, { ms: x.until_ms }))),
          t.td({ class: 'num' }, count(x.attempts)),
          t.td({ class: 'num' }, took(x, now) < 0 ? '–' : millis(took(x, now))),
          t.td(c(WorkerName, { worker: latest(x).worker })),
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
