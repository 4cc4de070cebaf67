// One worker: how it is, what runs on it and needs how much, and what has happened to it.
import { t, c } from '../dom.js';
import { get, may } from '../api.js';
import { useData } from '../live.js';
import { Ago, Crumbs, Empty, Failure, Panel, Title, Waiting } from '../parts.js';
import { bytes, count, share } from '../format.js';
import { Health, labelled, Load, WorkerActions } from './workers.js';
import { EventTable } from './events.js';
import { RunningTable } from './job.js';

const MOST_RUNNING = 500;
const SHOWN_RUNNING = 100;
const EVENTS = 1000;
const SHOWN_EVENTS = 50;
const KINDS = ['worker_changed', 'worker_cordoned', 'worker_drained', 'worker_uncordoned'];

export default function WorkerPage({ route }) {
  const shard = route.parts[1];
  const { data, error, again } = useData((signal) => get(['workers'], {}, signal), ['workers']);
  // A process that came in place of a lost one has its name.
  const all = (data?.workers ?? []).filter((w) => w.shard === shard).sort((a, b) => b.last_seen_ms - a.last_seen_ms);
  const w = all[0];
  return t.div({ class: 'page' },
    c(Crumbs, { trail: [['Workers', '#/workers'], [shard]] }),
    c(Title, { actions: w && may('operator') && c(WorkerActions, { w }), sub: w && t.span(t.span({ dir: 'auto' }, w.host), w.address && ` · ${w.address}`, labelled(w) && t.span(' · ', t.span({ dir: 'auto' }, labelled(w)))) }, shard),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : t.div(
      !w ? c(Empty, { title: 'This worker is not connected' }, 'What it did before is below.') : t.div({ class: 'grid' }, all.map((one, i) => c(Panel, { key: one.instance, title: i === 0 ? 'Now' : 'Another process of this name', id: `h-worker-${one.instance}` },
        t.div(c(Health, { w: one })), c(Load, { w: one }), one.kind === 'remote' && c(Measured, { measured: one.measured ?? {} }),
        one.last_seen_ms > 0 && t.p({ class: 'soft' }, 'in this state since ', c(Ago, { ms: one.since_ms }), ', last seen ', c(Ago, { ms: one.last_seen_ms }))))),
      c(OnIt, { shard: w && w.kind !== 'remote' ? '' : shard }),
      c(Past, { shard })));
}

/** How busy its host is, as it measures it: all programs on it, not only tasks. */
function Measured({ measured }) {
  const item = (name, value) => t.div({ key: name }, t.dt(name), t.dd(value));
  const percent = (part) => part === undefined ? '–' : share(part, 1);
  const free = (part, all) => part === undefined ? '–' : `${bytes(part)} of ${bytes(all)}`;
  return t.dl({ class: 'facts' },
    item('CPU in use', percent(measured.cpu_use)), item('Memory in use', percent(measured.memory_use)),
    item('Load', measured.load_1min?.toFixed(2) ?? '–'), item('Memory available', free(measured.memory_available_bytes, measured.memory_total_bytes)),
    item('Disk free', free(measured.disk_free_bytes, measured.disk_total_bytes)), item('Measured', measured.at_ms ? c(Ago, { ms: measured.at_ms }) : '–'));
}

/** @param shard empty: the scheduler itself, on which everything runs */
function OnIt({ shard }) {
  const { data, error } = useData((signal) => get(['running'], { worker: shard, limit: MOST_RUNNING }, signal), ['running on', shard]);
  const tasks = [...(data?.running ?? [])].sort((a, b) => a.started_at_ms - b.started_at_ms).slice(0, SHOWN_RUNNING);
  const memory = (data?.running ?? []).reduce((n, x) => n + (x.usage?.memory_bytes ?? 0), 0);
  return c(Panel, { title: 'Tasks on it', id: 'h-on-it', note: tasks.length > 0 && `${data.total > tasks.length ? `${count(tasks.length)} of ${count(data.total)}, ` : ''}longest first${memory > 0 ? ` · ${bytes(memory)} of memory together` : ''}` },
    c(Failure, { error }),
    !data ? !error && c(Waiting) : tasks.length === 0 ? t.p({ class: 'soft' }, 'Nothing runs on it.') : c(RunningTable, { tasks, withJob: true }));
}

function Past({ shard }) {
  const { data, error } = useData((signal) => get(['events'], { kind: KINDS, limit: EVENTS }, signal), ['events of workers'], { every: 3000 });
  const events = (data?.events ?? []).filter((e) => e.data.worker === shard).slice(-SHOWN_EVENTS).reverse();
  return c(Panel, { title: 'What happened to it', id: 'h-past' },
    c(Failure, { error }),
    !data ? !error && c(Waiting) : events.length === 0 ? t.p({ class: 'soft' }, `Nothing among the newest ${count(data.events.length)} events of workers.`) : c(EventTable, { events }));
}
