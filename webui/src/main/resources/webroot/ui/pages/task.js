// One task: why it does not run, what it did, and what it says right now.
import { t, c, cls, Fragment, useState } from '../dom.js';
import { get, may, maySteer, maybe, post, session } from '../api.js';
import { useData, useNow } from '../live.js';
import { jobLink, nodeLink, taskLink, to } from '../route.js';
import { Act, Ago, At, Badge, Copy, Crumbs, Empty, Failure, Gauge, Icon, Panel, Status, Title, Waiting } from '../parts.js';
import { ask } from '../dialogs.js';
import { command } from '../shell.js';
import { Output } from './output.js';
import { cancel, rerun, forgive } from './job-actions.js';
import { override } from './limits.js';
import { bytes, count, millis, plural, seconds, workerName } from '../format.js';

export default function Task({ route }) {
  const [, job, , node] = route.parts;
  const { data: task, error, again } = useData((signal) => get(['jobs', job, 'tasks', node], {}, signal), ['task', job, node]);
  const [attempt, setAttempt] = useState('');
  // After a failure what it wrote says more than the reasons why it does not run again.
  const failed = task && !task.running && causeOf(task) !== null;
  const output = c(Output, { key: `${job} ${node} ${attempt}`, job, node, invocation: attempt });
  return t.div({ class: 'page' },
    c(Crumbs, { trail: [['Jobs', '#/'], [job, jobLink(job)], [node]] }),
    c(Title, { badges: task && t.span({ class: 'badges' }, c(Status, { status: task.status }), task.phase && task.phase !== task.status && c(Badge, { title: 'Its phase: the same in fewer words' }, task.phase)), actions: task && c(Actions, { task }),
      sub: task && t.span('on level ', t.a({ href: nodeLink(task.level, node) }, task.level), ` · ${attemptsText(task)}`, !task.running && task.step && ` · next step ${task.step}`, task.step_note && ` · ${task.step_note}`,
        task.since_ms && t.span(' · since ', c(Ago, { ms: task.since_ms })), task.until_ms > Date.now() && t.span(' · backs off until ', c(At, { ms: task.until_ms })), ' · ', t.a({ href: to(['events'], { job, node }) }, 'events')), of: job }, node),
    c(Failure, { error, retry: again }),
    !task ? !error && c(Waiting) : t.div(
      c(Cause, { task }),
      failed && output,
      task.running && c(Running, { task }),
      !task.running && task.status !== 'done' && c(Explain, { job, node }),
      c(Said, { task }),
      c(Attempts, { task, attempt, setAttempt }),
      !failed && output));
}

/** The latest attempt, if it failed and says why; null otherwise. */
function causeOf(task) {
  const last = task.history.attempts[task.history.attempts.length - 1];
  return last?.message && task.status !== 'done' ? last : null;
}

/** Whether the task began again between two attempts: a rerun and forgiveness let its attempts count from 1. */
const beganAgain = (a, before) => before !== undefined && (a.attempt < before.attempt
  // One that was not started does not count, and the steps of an attempt share its number.
  || (a.attempt === before.attempt && before.end !== 'not_started' && !a.step && !before.step));

/** How many attempts count, and how many there were in all if the task has begun again. */
function attemptsText(task) {
  const { attempts: past, ended } = task.history;
  const last = past[past.length - 1];
  const all = task.running ? [...past, { attempt: task.running.attempt, step: task.running.step }] : past;
  const reset = !task.running && task.attempts === 0 && last !== undefined && last.end !== 'not_started';
  const counting = plural(task.attempts, 'attempt');
  return reset || all.some((a, i) => beganAgain(a, all[i - 1])) ? `${counting} since it began again, ${count(ended + (task.running ? 1 : 0))} in all` : counting;
}

/** Why its latest attempt failed: what one came for. */
function Cause({ task }) {
  const last = causeOf(task);
  if (!last) return null;
  const text = said(last.message);
  return t.section({ class: 'cause', 'aria-label': 'Why it failed' },
    t.p({ class: 'cause-head' }, c(Icon, { name: 'warn' }), t.strong(`Attempt ${last.attempt}${task.running ? '' : ` of ${task.attempts || last.attempt}`} failed`), t.span(' ', c(Ago, { ms: last.ended_at_ms })),
      last.exit_code > 0 && c(Badge, null, `exit ${last.exit_code}`), last.signal !== undefined && c(Badge, null, `signal ${last.signal}`), last.stop_reason && c(Badge, null, last.stop_reason.replaceAll('_', ' ')),
      task.running && t.span(' · it runs again'), c(Copy, { text })),
    t.pre({ dir: 'auto' }, text));
}

const said = (message) => typeof message === 'string' ? message.trimEnd() : JSON.stringify(message);

function Actions({ task }) {
  const { job, node } = task;
  // Only the job tells its queue.
  const { data } = useData((signal) => session.me?.operates_queues ? maybe(['jobs', job], {}, signal) : Promise.resolve(null), ['queue of', job], { every: 60000 });
  if (!may('operator') && !(data && maySteer(data))) return null;
  const target = { name: job, progress: {} };
  const words = (reason) => reason ? { reason } : {};
  const limited = task.running && (task.running.timeout_at_ms || task.running.deadline_ms);
  return t.div({ class: 'actions' },
    task.running && c(Act, { icon: 'kill', danger: true, onClick: () => ask({ title: `Kill ${node}`, text: `Its process is signalled as ${job} says. What happens then is up to its back-off.`, button: 'Kill', danger: true, cli: ({ reason }) => command(['kill', job, node], { reason }),
      act: async ({ reason }) => { await post(['jobs', job, 'tasks', node, 'kill'], words(reason)); return `${node} will be signalled`; } }) }, 'Kill'),
    limited && c(Act, { icon: 'clock', onClick: () => ask({ title: `More time for ${node}`, text: 'Its time limit and its deadline move.', button: 'Extend',
      fields: [{ name: 'minutes', label: 'Minutes', type: 'number', min: '0.1', step: 'any', value: '10', required: true }], cli: ({ reason, minutes }) => command(['extend', job, node, String(Math.round(Number(minutes) * 60))], { reason }),
      act: async ({ reason, minutes }) => { await post(['jobs', job, 'tasks', node, 'extend'], { seconds: Number(minutes) * 60, ...words(reason) }); return `${node} has ${minutes} minutes more`; } }) }, 'Extend'),
    !task.running && c(Act, { icon: 'heart', onClick: () => forgive(target, { nodes: [node] }, 'It becomes startable.') }, 'Forgive'),
    !task.running && c(Act, { icon: 'redo', onClick: () => rerun(target, { nodes: [node] }, 'It begins again; its history stays.') }, 'Rerun'),
    task.status !== 'done' && task.status !== 'cancelled' && c(Act, { icon: 'stop', danger: true, onClick: () => cancel(target, { nodes: [node] }) }, 'Cancel'));
}

function Running({ task }) {
  const now = useNow(1000);
  const r = task.running;
  const u = r.usage ?? {};
  const p = r.progress;
  const item = (name, value) => value !== undefined && value !== null && value !== false && t.div({ key: name }, t.dt(name), t.dd(value));
  return c(Panel, { title: 'Running', id: 'h-running', note: `attempt ${r.attempt}${r.step ? `, step ${r.step}` : ''}` },
    p?.total > 0 && t.p(t.progress({ class: 'broad', max: p.total, value: p.done, 'aria-label': 'its own progress' }), ` ${count(p.done)} of ${count(p.total)}`,
      p.seconds_left !== undefined && `, ${seconds(p.seconds_left)} left`),
    t.dl({ class: 'facts' },
      item('For', seconds((now - r.started_at_ms) / 1000)), item('Worker', workerName(r.worker)), item('Batch', r.batch),
      item('Time limit', r.timeout_at_ms && `in ${seconds((r.timeout_at_ms - now) / 1000)}`), item('Deadline', r.deadline_ms && c(At, { ms: r.deadline_ms })),
      item('Speed', r.throttle && t.span({ dir: 'auto' }, r.throttle.ratio === 0 ? 'told to pause' : `told to work at ${Math.ceil(r.throttle.ratio * 100)} %`, r.throttle.reason && `: ${r.throttle.reason}`)),
      item('Stopping', r.stopping && t.span({ dir: 'auto' }, `for ${seconds((now - r.stopping.since_ms) / 1000)}: ${r.stopping.reason}`)),
      item('Service', r.call && `called over ${r.call.executor}; ${r.call.awaits === 'callback' ? 'it is to call back' : r.call?.in_doubt ? 'nobody can ask it' : 'it is to answer'}`),
      item(r.call?.in_doubt ? 'In doubt' : 'Last poll', r.call?.polled_at_ms && `${seconds((now - r.call.polled_at_ms) / 1000)} ago: ${r.call.poll_answer}`),
      item('Next poll', r.call?.next_poll_at_ms && c(At, { ms: r.call.next_poll_at_ms })),
      item('Outcome unknown', r.call?.unknown_hold_ms !== undefined && `after ${millis(r.call.unknown_hold_ms)} without any confirmation`),
      item('Longest silence', r.no_output_timeout_ms && millis(r.no_output_timeout_ms)),
      item('CPU time', u.cpu_ms !== undefined && millis(u.cpu_ms)), item('Memory', u.memory_bytes !== undefined && bytes(u.memory_bytes)), item('Peak memory', u.peak_memory_bytes !== undefined && bytes(u.peak_memory_bytes)),
      item('Read', u.read_bytes !== undefined && bytes(u.read_bytes)), item('Written', u.written_bytes !== undefined && bytes(u.written_bytes)), item('GPUs', u.gpus?.length > 0 && u.gpus.join(', '))));
}

const words = (kind) => kind.replaceAll('_', ' ');

function Explain({ job, node }) {
  const { data, error } = useData((signal) => get(['jobs', job, 'tasks', node, 'explain'], {}, signal), ['explain', job, node]);
  if (!data) return error ? c(Failure, { error }) : null;
  const at = (reason, step) => reason.node === step.node;
  const path = data.path ?? [];
  const elsewhere = data.reasons.filter((r) => !path.some((step) => at(r, step)));
  return c(Panel, { title: data.startable ? 'It can start' : 'Why it does not run', id: 'h-explain', note: data.startable ? 'in one of the next rounds' : plural(data.reasons.length, 'reason') },
    elsewhere.length > 0 && t.ul({ class: 'reasons' }, elsewhere.map((r, i) => c(Reason, { key: i, r }))),
    path.length > 0 && c(Folded, { open: path.some((step) => step.blocks), title: 'The way from the root to the task is open' }, t.ol({ class: 'rootpath', 'aria-label': 'From the root to the task' }, path.map((step, i) => {
      const reasons = data.reasons.filter((r) => at(r, step));
      return t.li({ key: i, class: cls(step.blocks && 'blocks', !step.enabled && 'is-off') },
        t.div({ class: 'step-dot', 'aria-hidden': 'true' }, c(Icon, { name: step.blocks ? 'kill' : 'check' })),
        t.div({ class: 'step' },
          t.div({ class: 'step-head' }, t.a({ href: nodeLink(step.level, step.node), class: 'name', dir: 'auto' }, step.node || 'instance'), t.span({ class: 'soft', dir: 'auto' }, step.level),
            !step.enabled && c(Badge, { kind: 'bad' }, 'disabled'), step.blocks ? c(Badge, { kind: 'bad' }, 'blocks') : t.span({ class: 'hidden' }, 'is open')),
          step.resources?.length > 0 && t.div({ class: 'gauges' }, step.resources.map((r) => c(Gauge, { key: r.resource, name: r.resource, used: r.used, limit: r.limit, need: r.need }))),
          reasons.length > 0 && t.ul({ class: 'reasons' }, reasons.map((r, k) => c(Reason, { key: k, r, level: step.level })))));
    }))));
}

/** What nobody has to read lies behind one line. */
function Folded({ open, title, children }) {
  return open ? children : t.details(t.summary(title), children);
}

function Reason({ r, level }) {
  return t.li(
    t.p(c(Badge, { kind: r.kind === 'backoff' || r.kind === 'job_paused' ? 'warn' : 'bad' }, words(r.kind)), ' ', t.span({ dir: 'auto' }, r.message),
      r.until_ms > Date.now() && t.span({ class: 'soft' }, ' · until ', c(At, { ms: r.until_ms })), r.free_at_ms && t.span({ class: 'soft' }, ` · expected to be free ${r.free_at_ms > Date.now() ? `in ${seconds((r.free_at_ms - Date.now()) / 1000)}` : 'any moment'}`)),
    may('operator') && level && r.kind === 'resource' && r.need > r.limit && t.button({ type: 'button', class: 'small', onClick: () => override({ level, resource: r.resource, node: r.node, limit: r.need }) }, 'Raise the limit …'),
    r.holders?.length > 0 && t.details({ open: r.holders.length <= 6 }, t.summary(`Held by ${plural(r.holders_total ?? r.holders.length, 'task')}`), c(Holders, { holders: r.holders, of: `of ${r.resource} on ${r.node || 'instance'}` })));
}

/** @param of what they hold, for those who only hear the page */
export function Holders({ holders, of }) {
  return t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': `Holders ${of}` }, t.table(
    t.thead(t.tr(t.th({ scope: 'col' }, 'Job'), t.th({ scope: 'col' }, 'Task'), t.th({ scope: 'col', class: 'num' }, 'Slots'), t.th({ scope: 'col' }, 'Since'), t.th({ scope: 'col' }, 'Expected end'))),
    t.tbody(holders.map((h, i) => t.tr({ key: i },
      t.td(t.a({ href: jobLink(h.job), dir: 'auto' }, h.job)), t.td(t.a({ href: taskLink(h.job, h.node), class: 'name', dir: 'auto' }, h.node)),
      t.td({ class: 'num' }, count(h.slots)), t.td({ class: 'nowrap' }, c(Ago, { ms: h.since_ms })), t.td({ class: 'nowrap' }, h.expected_end_ms ? c(Ago, { ms: h.expected_end_ms }) : '–'))))));
}

function Said({ task }) {
  const latest = task.history.attempts[task.history.attempts.length - 1];
  // An exception alone is what the head of the page says already.
  const has = (x) => x && Object.keys(x).length > 0 && !(Object.keys(x).length === 1 && x.exception !== undefined && x.exception === latest?.message);
  if (!has(task.data) && !has(task.checkpoint)) return null;
  return t.div({ class: 'grid' },
    has(task.data) && c(Panel, { title: 'What it said', id: 'h-said' }, t.pre({ class: 'config', tabIndex: 0, 'aria-label': 'What it said' }, JSON.stringify(task.data, null, 2))),
    has(task.checkpoint) && c(Panel, { title: 'How far it came', id: 'h-checkpoint', note: 'handed to its next attempt' }, t.pre({ class: 'config', tabIndex: 0, 'aria-label': 'Checkpoint' }, JSON.stringify(task.checkpoint, null, 2))));
}

const KIND = (a) => a.status === 'done' ? 'done' : a.status === 'cancelled' ? 'cancelled' : a.status === 'failed' || a.end === 'lost' || a.end === 'start_failed' ? 'failed' : a.status.startsWith('error') ? 'failed' : 'waiting';

function how(a) {
  const parts = [a.end.replaceAll('_', ' ')];
  if (a.exit_code !== undefined) parts.push(`code ${a.exit_code}`);
  if (a.signal !== undefined) parts.push(`signal ${a.signal}`);
  if (a.core_dumped) parts.push('core dumped');
  if (a.stop_reason) parts.push(a.stop_reason.replaceAll('_', ' '));
  if (a.made_progress) parts.push('made progress');
  if (a.backoff_sec) parts.push(`then a back-off of ${seconds(a.backoff_sec)}`);
  return parts.join(', ');
}

function Attempts({ task, attempt, setAttempt }) {
  const now = useNow(1000);
  const h = task.history;
  const past = h.attempts;
  const running = task.running && { attempt: task.running.attempt, invocation: task.running.invocation, worker: task.running.worker, started_at_ms: task.running.started_at_ms, waited_ms: task.running.waited_ms, step: task.running.step, live: true };
  const all = running ? [...past, running] : past;
  if (all.length === 0) return c(Panel, { title: 'Attempts', id: 'h-attempts' }, c(Empty, { title: 'It was never started' }));
  const from = Math.min(...all.map((a) => a.started_at_ms));
  const until = Math.max(...all.map((a) => a.ended_at_ms ?? now), from + 1);
  const hasSteps = all.some((a) => a.step);
  const choose = (a) => {
    setAttempt(attempt === a.invocation ? '' : a.invocation);
    requestAnimationFrame(() => document.getElementById('h-logs')?.scrollIntoView({ block: 'nearest' }));
  };
  const left = (ms) => `${100 * (ms - from) / (until - from)}%`;
  return c(Panel, { title: 'Attempts', id: 'h-attempts', note: t.span(h.ended > past.length && `the newest ${past.length} of ${count(h.ended)}; `, h.cpu_ms > 0 && `${millis(h.cpu_ms)} of CPU time in all`) },
    t.div({ class: 'timeline', 'aria-hidden': 'true' },
      all.map((a) => t.div({ key: a.invocation, class: 'lane' }, t.span({ class: cls('run', a.live ? 's-running' : `s-${KIND(a)}`), title: `attempt ${a.attempt}`,
        style: { left: `min(${left(a.started_at_ms)}, 100% - 4px)`, width: `max(4px, ${100 * ((a.ended_at_ms ?? now) - a.started_at_ms) / (until - from)}%)` } }))),
      t.div({ class: 'scale' }, c(At, { ms: from }), until === now ? t.span('now') : c(At, { ms: until }))),
    t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'List of attempts' }, t.table(
      t.thead(t.tr(t.th({ scope: 'col', class: 'num' }, 'No.'), hasSteps && t.th({ scope: 'col' }, 'Step'), t.th({ scope: 'col' }, 'Status'), t.th({ scope: 'col', class: 'num' }, 'Waited'), t.th({ scope: 'col' }, 'Started'), t.th({ scope: 'col', class: 'num' }, 'Took'), t.th({ scope: 'col' }, 'End'), t.th({ scope: 'col' }, 'Worker'), t.th({ scope: 'col', class: 'num' }, 'Memory'), t.th({ scope: 'col' }, 'What went wrong'), t.th({ scope: 'col' }, t.span({ class: 'hidden' }, 'Its output')))),
      t.tbody(all.map((a, i) => c(Fragment, { key: a.invocation }, t.tr(
        t.td({ class: 'num' }, a.attempt), hasSteps && t.td({ dir: 'auto' }, a.step ?? '–'), t.td(c(Status, { status: a.live ? 'running' : a.status })), t.td({ class: 'num' }, a.waited_ms === undefined ? '–' : millis(a.waited_ms)), t.td({ class: 'nowrap' }, c(At, { ms: a.started_at_ms })),
        t.td({ class: 'num' }, millis((a.ended_at_ms ?? now) - a.started_at_ms)), t.td(a.live ? '–' : how(a)), t.td({ dir: 'auto' }, workerName(a.worker)),
        t.td({ class: 'num' }, a.usage?.peak_memory_bytes !== undefined ? bytes(a.usage.peak_memory_bytes) : '–'), t.td({ class: 'wide', dir: 'auto' }, a.message ?? ''),
        t.td(t.button({ type: 'button', class: 'small', 'aria-pressed': attempt === a.invocation ? 'true' : 'false', 'aria-label': `Output of attempt ${a.attempt}`, onClick: () => choose(a) }, attempt === a.invocation ? 'All output' : 'Output'))),
      beganAgain(a, all[i - 1]) && t.tr({ class: 'again' }, t.td({ colSpan: hasSteps ? 11 : 10 }, 'It began again here: rerun or forgiven')))).reverse()))));
}
