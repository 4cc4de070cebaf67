// What happens, as it happens, by kind; older events on demand.
import { t, c, cls, useEffect, useMemo, useRef, useState } from '../dom.js';
import { get } from '../api.js';
import { useData, useEvents } from '../live.js';
import { At, Badge, Empty, Failure, Panel, Search, Status, Title, Waiting } from '../parts.js';
import { refine, taskLink, jobLink, workerLink } from '../route.js';
import { count, millis } from '../format.js';

const PAGE = 200;
const MOST = 500;
/** So many older events a tab keeps at most. */
const MOST_OLDER = 4000;

const PEOPLE = ['forgiven', 'rerun', 'cancelled', 'job_paused', 'job_resumed', 'limit_changed', 'brake_set', 'brake_released', 'task_extended', 'task_kill_requested', 'worker_cordoned', 'worker_drained', 'worker_uncordoned', 'config_applied'];
const SHOW = [
  ['', 'All', null],
  ['problems', 'Problems', ['problem_raised', 'problem_cleared', 'job_state', 'set_state', 'deadline_at_risk', 'deadline_safe', 'worker_changed', 'leader_changed', 'orphan_killed', 'over_limit_killed', 'task_kill_repeated']],
  ['people', 'People', PEOPLE],
  ['jobs', 'Jobs', ['job_state', 'set_state', 'deadline_at_risk', 'deadline_safe', 'job_paused', 'job_resumed', 'job_forgotten', 'window_opened', 'window_closed', 'config_applied', 'config_in_force']],
  ['ends', 'Ends of tasks', ['task_ended']],
  ['workers', 'Workers', ['worker_changed', 'worker_cordoned', 'worker_drained', 'worker_uncordoned']],
];

/** Newer events of the stream, at most two times a second. */
function useNews(wanted) {
  const [news, setNews] = useState([]);
  const pending = useRef([]);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEvents((message) => {
    if (message.type !== 'message') return;
    const event = JSON.parse(message.data);
    if (!wanted(event)) return;
    pending.current.push(event);
    timer.current ||= setTimeout(() => {
      timer.current = 0;
      const more = pending.current;
      pending.current = [];
      setNews((old) => [...old, ...more].slice(-MOST));
    }, 500);
  });
  return news;
}

export default function Events({ route }) {
  const show = route.query.get('show') ?? '';
  const job = route.query.get('job') ?? '';
  const node = route.query.get('node') ?? '';
  return c(List, { key: JSON.stringify([show, job, node]), show, job, node, q: route.query.get('q') ?? '' });
}

/** The server looks for whole names: it is asked when one is written, not at each key. */
function OfNode() {
  const submit = (e) => { e.preventDefault(); refine({ node: e.target.elements.node.value.trim() }); };
  return t.form({ class: 'choice', onSubmit: submit }, t.label({ htmlFor: 'of-node' }, 'Node'),
    t.input({ id: 'of-node', name: 'node', placeholder: 'its name, then Enter', autocomplete: 'off', spellcheck: false, dir: 'auto' }));
}

const names = (x) => Array.isArray(x) ? x.map((one) => Array.isArray(one) ? one[0] : one) : [x];
/** As the server filters: an event about many tasks names them in `tasks`, each alone or as the first of a list. */
const isAbout = (e, node) => [...names(e.data.node), ...names(e.data.tasks)].includes(node);

function List({ show, job, node, q }) {
  const kinds = (SHOW.find(([id]) => id === show) ?? SHOW[0])[2];
  const asked = { kind: kinds ?? [], job, node };
  const { data, error } = useData((signal) => get(['events'], { ...asked, limit: PAGE }, signal), ['events'], { every: 1500, keep: true });
  const news = useNews((e) => (!kinds || kinds.includes(e.kind)) && (!job || e.data.job === job) && (!node || isAbout(e, node)));
  const [older, setOlder] = useState({ events: [], before: 0, failed: null });
  const all = useMemo(() => {
    const seen = new Set();
    return [...older.events, ...[...(data?.events ?? []), ...news].slice(-MOST - PAGE)].filter((e) => !seen.has(e.sequence) && seen.add(e.sequence)).sort((a, b) => b.sequence - a.sequence);
  }, [data, news, older]);
  const text = q.toLowerCase();
  const shown = useMemo(() => text ? all.filter((e) => `${e.kind.replaceAll('_', ' ')} ${e.kind} ${JSON.stringify(e.data)}`.toLowerCase().includes(text)) : all, [all, text]);
  const before = older.before || (data?.searched_after >= 0 ? data.searched_after + 1 : all[all.length - 1]?.sequence ?? 0);
  const back = async () => {
    try {
      const page = await get(['events'], { ...asked, limit: PAGE, before });
      setOlder({ events: [...page.events, ...older.events].slice(-MOST_OLDER), before: page.searched_after + 1, failed: null });
    } catch (e) { setOlder({ ...older, failed: e }); }
  };
  const more = data && before > data.oldest && older.events.length < MOST_OLDER;
  return t.div({ class: 'page' },
    c(Title, { sub: 'The newest on top, as they happen.' }, 'Events'),
    c(Failure, { error: error ?? older.failed }),
    t.div({ class: 'toolbar' },
      c(Search, { value: q, label: 'Filter events', placeholder: 'Filter those below by any text', change: (v) => refine({ q: v }) }),
      t.div({ class: 'chips', role: 'group', 'aria-label': 'Show' }, SHOW.map(([id, word]) => t.button({ key: id, type: 'button', class: 'chip', 'aria-pressed': id === show ? 'true' : 'false', onClick: () => refine({ show: id }) }, word))),
      job && t.button({ type: 'button', class: 'chip', 'aria-pressed': 'true', onClick: () => refine({ job: '' }) }, 'Job ', t.span({ dir: 'auto' }, job), t.span({ class: 'hidden' }, ': remove this filter')),
      node ? t.button({ type: 'button', class: 'chip', 'aria-pressed': 'true', onClick: () => refine({ node: '' }) }, 'Node ', t.span({ class: 'name', dir: 'auto' }, node), t.span({ class: 'hidden' }, ': remove this filter')) : c(OfNode)),
    !data ? !error && c(Waiting) : shown.length === 0 ? c(Empty, { title: 'No such events' }, more ? `Among the newest ${count(Math.max(0, data.newest - before + 1))} there are none.` : '')
      : c(Panel, null, c(EventTable, { events: shown })),
    more && t.nav({ class: 'pager', 'aria-label': 'Older events' }, t.button({ type: 'button', onClick: back }, 'Older')));
}

export function EventTable({ events }) {
  return t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Events' }, t.table(
    t.thead(t.tr(t.th({ scope: 'col' }, 'When'), t.th({ scope: 'col' }, 'What'), t.th({ scope: 'col' }, 'Job'), t.th({ scope: 'col' }, 'Node'), t.th({ scope: 'col' }, 'Details'))),
    t.tbody(events.map((e) => c(Row, { key: e.sequence, e })))));
}

const isBad = (e) => ['failed', 'error', 'error_backoff', 'lost'].includes(e.data.status) || (['job_state', 'set_state'].includes(e.kind) && ['failed', 'stuck'].includes(e.data.to)) || ['problem_raised', 'deadline_at_risk', 'orphan_killed', 'over_limit_killed'].includes(e.kind) || (e.kind === 'worker_changed' && ['lost', 'unhealthy'].includes(e.data.state));

function Row({ e }) {
  const { job, node } = e.data;
  const of = typeof job === 'string';
  return t.tr({ class: cls(isBad(e) && 'hurt') },
    t.td({ class: 'nowrap' }, c(At, { ms: e.time_ms, millis: true })), t.td({ class: 'tight' }, t.strong(e.kind.replaceAll('_', ' '))),
    t.td(of ? t.a({ href: jobLink(job), dir: 'auto' }, job) : '–'),
    t.td(typeof node !== 'string' ? '–' : of ? t.a({ class: 'name', href: taskLink(job, node), 'data-row': true, dir: 'auto' }, node) : t.span({ class: 'name', dir: 'auto' }, node)),
    t.td({ class: 'wide', dir: 'auto' }, c(Details, { e })));
}

/** What people say of an event; members without words of their own follow as they are. */
function Details({ e }) {
  const { job, node, row, status, failure, author, reason, from, to: into, worker, attempt, duration_ms, waited_ms, backoff_sec, exit_code, signal, data, message, source,
    // Numbers for programs.
    invocation, fingerprint, result_bits, start_ms, worker_instance, ...rest } = e.data;
  const words = [
    typeof status === 'string' && c(Status, { status }), into && `${from} → ${into}`, attempt > 1 && `attempt ${attempt}`,
    duration_ms !== undefined && `took ${millis(duration_ms)}`, waited_ms > 1000 && `had waited ${millis(waited_ms)}`,
    exit_code > 0 && `exit ${exit_code}`, signal !== undefined && `signal ${signal}`, backoff_sec > 0 && `tried again in ${millis(1000 * backoff_sec)}`,
    worker && t.span('on ', t.a({ href: workerLink(worker), dir: 'auto' }, worker)), source && c(Badge, null, source),
    failure ?? message ?? (typeof data?.exception === 'string' ? data.exception : data && JSON.stringify(data)),
    author && t.span('by ', t.strong({ dir: 'auto' }, author)), reason,
    ...Object.entries(rest).filter(([, value]) => value !== '').map(([name, value]) => `${name.replaceAll('_', ' ')} ${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ].filter(Boolean);
  return words.map((w, i) => t.span({ key: i }, i > 0 && ' · ', typeof w === 'string' && w.length > 200 ? `${w.slice(0, 200)} …` : w));
}
