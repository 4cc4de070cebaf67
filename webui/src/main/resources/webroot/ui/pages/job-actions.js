// What an operator may do to a job. Everything that touches many tasks counts them first.
import { t, c } from '../dom.js';
import { ApiError, maySteer, post } from '../api.js';
import { Act } from '../parts.js';
import { ask } from '../dialogs.js';
import { command } from '../shell.js';
import { count, plural } from '../format.js';

const PERIODS = [['', 'until resumed'], ['900', '15 minutes'], ['3600', '1 hour'], ['14400', '4 hours'], ['86400', '1 day']];
const STATUSES = [['failed', 'failed'], ['cancelled', 'cancelled'], ['done', 'done'], ['error_backoff', 'backing off after an error'], ['all', 'all']];

/** So many at once are worth a second look. */
const MANY = 200;

const words = (reason) => reason ? { reason } : {};

export function JobActions({ job }) {
  if (!maySteer(job)) return null;
  const p = job.progress ?? {};
  return t.div({ class: 'actions' },
    ...rolloutActions(job),
    job.paused || job.state === 'halted' || ((job.state === 'failed' || job.state === 'succeeded') && p.blocked + p.waiting > 0) ? c(Act, { icon: 'play', primary: true, onClick: () => resume(job) }, 'Resume') : c(Act, { icon: 'pause', onClick: () => pause(job) }, 'Pause'),
    c(Act, { icon: 'heart', onClick: () => forgive(job), disabled: !(p.failed > 0 || p.waiting > 0 || p.cancelled > 0), title: 'Failed and cancelled tasks and those in back-off become startable' }, 'Forgive'),
    c(Act, { icon: 'redo', onClick: () => rerun(job) }, 'Rerun'),
    c(Act, { icon: 'stop', danger: true, onClick: () => stop(job) }, 'Stop'));
}

function pause(job) {
  ask({
    title: `Pause ${job.name}`, text: 'Nothing more of it is started. What runs goes on.', button: 'Pause',
    fields: [{ name: 'seconds', label: 'How long', options: PERIODS }],
    cli: ({ seconds, reason }) => command(['pause', job.name], { for: seconds && `${seconds / 60}m`, reason }),
    act: async ({ reason, seconds }) => {
      await post(['jobs', job.name, 'pause'], { ...words(reason), ...(seconds ? { expires_in_seconds: Number(seconds) } : {}) });
      return `${job.name} is paused`;
    },
  });
}

/** What people can do about the stages of a job. */
function rolloutActions(job) {
  const r = job.rollout;
  if (!r || r.phase === 'passed') return [];
  return [r.stage < r.stages.length && c(Act, { key: 'promote', icon: 'play', primary: r.phase === 'waiting', onClick: () => steer(job, 'promote', 'Promote') }, 'Promote'),
    r.phase !== 'halted' && c(Act, { key: 'halt', icon: 'pause', onClick: () => steer(job, 'halt', 'Halt') }, 'Halt')];
}

function steer(job, verb, word) {
  ask({ title: `${word} the roll-out of ${job.name}`, button: word, cli: ({ reason }) => command([verb, job.name], { reason }), act: async ({ reason }) => { const { rollout } = await post(['jobs', job.name, verb], words(reason)); return `${job.name} is in stage ${rollout.stage} of ${rollout.stages.length}`; } });
}

function resume(job) {
  ask({ title: `Resume ${job.name}`, button: 'Resume', cli: ({ reason }) => command(['resume', job.name], { reason }), act: async ({ reason }) => { await post(['jobs', job.name, 'resume'], words(reason)); return `${job.name} goes on`; } });
}

function stop(job) {
  ask({
    title: `Stop ${job.name}`, text: job.progress?.running > 0 ? `It is paused, and ${job.progress.running === 1 ? 'its running task is' : `its ${count(job.progress.running)} running tasks are`} killed.` : 'It is paused. None of its tasks runs now.', button: 'Stop', danger: true,
    cli: ({ reason }) => command(['stop', job.name], { reason }),
    act: async ({ reason }) => { const r = await post(['jobs', job.name, 'stop'], words(reason)); return `${job.name} is stopped; ${plural(r.signaled, 'task')} signalled`; },
  });
}

/** A selector as the command line takes it. */
const flags = (s) => ({ all: s.all === true && !s.prefix, status: (s.statuses ?? []).join(','), prefix: s.prefix, fingerprint: s.fingerprint, node: s.nodes });

function previewOf(job, action, selector) {
  return async (values) => {
    const s = selector(values);
    try {
      const r = await post(['jobs', job.name, action], { selector: s, preview: true });
      return { many: r.matched >= MANY, text: `${plural(r.matched, 'task')}${r.running > 0 ? `; ${count(r.running)} that run now are left alone` : ''}`,
        samples: r.samples ?? [], empty: r.matched === 0, matched: r.matched, selector: s };
    } catch (e) {
      // A server that cannot count beforehand.
      if (action === 'forgive' && e instanceof ApiError && e.status === 400 && !selector(values).fingerprint) return { text: 'all failed tasks and all in back-off', plain: true };
      throw e;
    }
  };
}

export function forgive(job, selector, what) {
  ask({
    title: `Forgive tasks of ${job.name}`, text: what ?? 'Back-offs are lifted, and failed and cancelled tasks become startable. Attempts count from one again.', button: 'Forgive',
    preview: previewOf(job, 'forgive', () => selector ?? { all: true }),
    cli: ({ reason }) => command(['forgive', job.name], { ...flags(selector ?? {}), reason }),
    act: async ({ reason }, p) => {
      const r = await post(['jobs', job.name, 'forgive'], { ...words(reason), ...(p.plain ? {} : { selector: p.selector, expect: p.matched }) });
      return `${plural(r.changed, 'task')} forgiven`;
    },
  });
}

export function cancel(job, selector) {
  ask({
    title: `Cancel tasks of ${job.name}`, text: 'They count as ended, neither done nor failed, until somebody forgives them. Running ones are killed; those that are done stay done.', button: 'Cancel tasks', danger: true,
    preview: previewOf(job, 'cancel', () => selector),
    cli: ({ reason }) => command(['cancel', job.name, ...(selector.nodes ?? [])], { ...flags({ ...selector, nodes: undefined }), reason }),
    act: async ({ reason }, p) => {
      const r = await post(['jobs', job.name, 'cancel'], { ...words(reason), selector: p.selector, expect: p.matched });
      return `${plural(r.changed, 'task')} cancelled`;
    },
  });
}

export function rerun(job, selector, what) {
  const chosen = ({ status, prefix }) => selector ?? (status === 'all' ? { all: true, ...(prefix ? { prefix } : {}) } : { statuses: [status], ...(prefix ? { prefix } : {}) });
  ask({
    title: `Rerun tasks of ${job.name}`, text: what ?? 'They begin again: attempts, back-off and what they said are forgotten, history stays. Running ones are left alone.', button: 'Rerun',
    fields: selector ? [] : [{ name: 'status', label: 'Which', options: STATUSES, value: 'failed' }, { name: 'prefix', label: 'Only nodes that begin with', placeholder: 'all' }],
    preview: previewOf(job, 'rerun', chosen),
    cli: (values, p) => command(['rerun', job.name], { ...flags(chosen(values)), expect: p?.matched, reason: values.reason }),
    act: async ({ reason }, p) => {
      const r = await post(['jobs', job.name, 'rerun'], { ...words(reason), selector: p.selector, expect: p.matched, preview: false });
      return `${plural(r.changed, 'task')} will run again`;
    },
  });
}
