// Pieces of the pages over many schedulers.
import { t, c, cls } from '../dom.js';
import { may, post } from '../api.js';
import { ask } from '../dialogs.js';
import { curl } from '../shell.js';
import { go, to } from '../route.js';
import { Act, Ago, Badge, Icon } from '../parts.js';
import { count, plural } from '../format.js';

export const KIND = { answered: 'good', slow: 'warn', dead: 'bad', refused: 'bad', error: 'bad', waiting: '' };
export const ORDER = ['answered', 'slow', 'dead', 'refused', 'error', 'waiting'];
export const RESULT = { ok: 'good', refused: 'bad', failed: 'bad', unreachable: 'bad', unknown: 'warn', pending: '' };

/** The page of one scheduler, at a place of its own. */
export const schedulerLink = (id, hash = '') => `s/${encodeURIComponent(id)}/${hash}`;

/** @param row whether its row of a table leads there */
export function Host({ id, name, hash, row }) {
  return t.a({ href: schedulerLink(id, hash), class: 'name', dir: 'auto', ...(row ? { 'data-row': true } : {}) }, name ?? id);
}

export function Hosts({ ids, total, hash }) {
  return t.span({ class: 'hosts' }, ids.map((id) => c(Host, { key: id, id, hash })),
    total > ids.length && t.span({ class: 'soft' }, `and ${count(total - ids.length)} more`));
}

/** How a scheduler answers, and how old what is shown of it is. */
export function State({ host }) {
  return t.span(c(Badge, { kind: KIND[host.state] }, host.state), ' ',
    host.state === 'answered' ? null : t.small({ class: 'soft' }, host.detail ?? '',
      host.answered_at_ms && t.span(host.detail ? '; ' : '', 'as of ', c(Ago, { ms: host.answered_at_ms }))));
}

/** What is not as it should be with the answers of all of them. */
export function Missing({ summary }) {
  const s = summary.states;
  const bad = ORDER.filter((k) => k !== 'answered' && s[k] > 0);
  if (bad.length === 0 && summary.same_scheduler === 0) return null;
  return t.p({ class: 'notice', role: 'status' }, c(Icon, { name: 'warn' }), ' ',
    `${count(s.answered)} of ${plural(summary.total, 'scheduler')} answer. `,
    bad.map((k, i) => t.span({ key: k }, i > 0 && ', ', t.a({ href: to(['schedulers'], { state: k }) }, `${count(s[k])} ${k}`))),
    bad.length > 0 && '. ',
    summary.from_memory > 0 && `${count(summary.from_memory)} of them ${summary.from_memory === 1 ? 'counts with what it' : 'count with what they'} said before. `,
    summary.same_scheduler > 0 && `${plural(summary.same_scheduler, 'address leads', 'addresses lead')} to a scheduler that is listed already.`);
}

const STATUSES = [['failed', 'failed'], ['cancelled', 'cancelled'], ['done', 'done'], ['error_backoff', 'backing off after an error'], ['all', 'all']];

/** So many at once are worth a second look. */
const MANY = 200;

const ACTIONS = {
  pause: { word: 'Pause', icon: 'pause', text: 'Nothing new is started; what runs goes on.', fields: [{ name: 'minutes', label: 'For so many minutes', type: 'number', min: 1, hint: 'Empty: until it is resumed.' }] },
  resume: { word: 'Resume', icon: 'play', text: 'Tasks are started again.' },
  forgive: { word: 'Forgive', icon: 'heart', text: 'Failed tasks and those that back off are tried again.' },
  rerun: { word: 'Rerun', icon: 'redo', text: 'Tasks begin again: attempts, back-off and what they said are forgotten, history stays. Running ones are left alone.', fields: [{ name: 'status', label: 'Which', options: STATUSES, value: 'failed' }] },
  stop: { word: 'Stop', icon: 'stop', text: 'The job is paused, and all of its running tasks are ended.', danger: true },
};

function body(values) {
  const seconds = Math.round(Number(values.minutes) * 60);
  return { ...(values.reason ? { reason: values.reason } : {}), ...(seconds > 0 ? { expires_in_seconds: seconds } : {}) };
}

/** Two teams may have a job of one name: who acts on it everywhere acts on both. */
function kinds(job) {
  const words = [job.owners.length > 1 && `owners ${job.owners.join(', ')}`, job.levels.length > 1 && `levels ${job.levels.join(', ')}`].filter(Boolean);
  return words.length > 0 ? `These may be different jobs: ${words.join('; ')}.` : job.variants > 1 ? `Its settings are of ${count(job.variants)} kinds.` : '';
}

/** Which tasks: those of a cause, or as the dialog says; undefined where the action is one of the job as a whole. */
const chosen = (action, selector, { status }) => selector ?? (action !== 'rerun' ? undefined : status === 'all' ? { all: true } : { statuses: [status] });

/**
 * @param kind hash of the settings of those schedulers that are meant; empty: all that have the job
 * @param selector which tasks, for forgive and rerun; none: as the dialog asks
 */
export function act(of, action, kind = '', selector = undefined) {
  const a = ACTIONS[action];
  const job = of.name;
  const only = kind ? { kind } : {};
  const order = (values, preview) => {
    const select = chosen(action, selector, values);
    return { ...body(values), ...only, ...(select ? { selector: select } : {}), expect_hosts: preview?.expect };
  };
  ask({
    title: `${a.word} ${job} ${kind ? 'where it has these settings' : 'everywhere'}`, text: a.text, more: () => !kind && kinds(of) && t.p({ class: 'notice' }, kinds(of)), button: a.word, danger: a.danger, fields: selector ? [] : a.fields,
    cli: (values, preview) => curl(['fleet', 'jobs', job, action], order(values, preview)),
    preview: async (values) => {
      const select = chosen(action, selector, values);
      const p = await post(['fleet', 'jobs', job, action], { preview: true, ...only, ...(select ? { selector: select } : {}) });
      if (select) {
        return { expect: p.meant, empty: p.finished && !(p.matched > 0), many: p.matched >= MANY, samples: p.hosts.filter((h) => h.matched > 0).slice(0, 12).map((h) => `${h.host} ${count(h.matched)}`),
          text: `${plural(p.matched ?? 0, 'task')} on ${plural(p.hosts.filter((h) => h.matched > 0).length, 'scheduler')}${p.results.ok < p.meant ? `; ${count(p.meant - p.results.ok)} of ${count(p.meant)} did not say` : ''}.` };
      }
      const away = p.hosts.filter((h) => h.state !== 'answered').length;
      return { expect: p.meant, samples: p.hosts.slice(0, 12).map((h) => h.host), text: `${plural(p.meant, 'scheduler')} will be told`
        + (away > 0 ? `; ${count(away)} of them ${away === 1 ? 'does' : 'do'} not answer now` : '')
        + (p.without_job > 0 ? `. ${plural(p.without_job, 'other does', 'others do')} not have the job.` : '.') };
    },
    act: async (values, preview) => {
      const run = await post(['fleet', 'jobs', job, action], order(values, preview));
      go(to(['actions', run.id]));
      return outcome(run);
    },
  });
}

/** In words: never silently partial. */
export function outcome(run) {
  const r = run.results;
  const bad = ['refused', 'failed', 'unreachable', 'unknown', 'pending'].filter((k) => r[k] > 0).map((k) => `${count(r[k])} ${k}`);
  return `${run.action}: ${count(r.ok)} of ${count(run.meant)} did it${bad.length > 0 ? `; ${bad.join(', ')}` : ''}`;
}

export function JobActs({ job, kind }) {
  if (!may('operator')) return null;
  return [
    job.paused_on < job.schedulers && c(Act, { key: 'p', icon: 'pause', onClick: () => act(job, 'pause', kind) }, 'Pause'),
    job.paused_on > 0 && c(Act, { key: 'r', icon: 'play', onClick: () => act(job, 'resume', kind) }, 'Resume'),
    c(Act, { key: 'f', icon: 'heart', onClick: () => act(job, 'forgive', kind) }, 'Forgive'),
    c(Act, { key: 'a', icon: 'redo', onClick: () => act(job, 'rerun', kind) }, 'Rerun'),
    c(Act, { key: 's', icon: 'stop', danger: true, onClick: () => act(job, 'stop', kind) }, 'Stop'),
  ];
}

export function JobBadges({ job }) {
  const on = (n) => n === job.schedulers ? 'everywhere' : `on ${count(n)} of ${count(job.schedulers)}`;
  const p = job.progress;
  const finished = p.total > 0 && p.done + p.failed + p.cancelled === p.total;
  return t.span({ class: 'badges' },
    job.invalid_on > 0 && c(Badge, { kind: 'bad' }, `invalid ${on(job.invalid_on)}`),
    job.enabled_on < job.schedulers && c(Badge, null, `disabled ${on(job.schedulers - job.enabled_on)}`),
    job.failed_on > 0 && c(Badge, { kind: 'bad' }, `failed ${on(job.failed_on)}`),
    job.halted_on > 0 && c(Badge, { kind: 'bad', title: 'Its roll-out has stopped there' }, `halted ${on(job.halted_on)}`),
    job.stuck_on > 0 && t.a({ href: to(['jobs', job.name], { only: 'hindered' }) }, c(Badge, { kind: 'bad', title: 'Nothing of it can start there unless somebody acts or nodes come' }, `stuck ${on(job.stuck_on)}`)),
    job.hindered_on > job.stuck_on && t.a({ href: to(['jobs', job.name], { only: 'hindered' }) }, c(Badge, { kind: 'bad', title: 'They need more than the limits allow' }, `${count(job.tasks_hindered)} can never start`)),
    job.paused_on > 0 && c(Badge, { kind: 'warn' }, `paused ${on(job.paused_on)}`),
    job.past_deadline_on > 0 && c(Badge, { kind: 'bad' }, `past its deadline ${on(job.past_deadline_on)}`),
    job.tied ? c(Badge, { kind: 'warn', title: 'They may be two jobs of one name' }, `${count(job.variants)} kinds`)
      : job.differing_on > 0 && c(Badge, { kind: 'warn', title: 'Its settings there are not those of most schedulers' }, `differs on ${count(job.differing_on)}`),
    job.from_memory > 0 && c(Badge, { title: 'They do not answer now and count with what they said before' }, `${count(job.from_memory)} from memory`),
    finished && (p.failed > 0 ? c(Badge, { kind: 'bad' }, 'ended with failures') : c(Badge, { kind: 'good' }, 'finished')));
}

export function Chips({ label, options, current, change }) {
  return t.div({ class: 'chips', role: 'group', 'aria-label': label }, options.map(([id, word, n]) =>
    t.button({ key: id, type: 'button', class: 'chip', 'aria-pressed': id === current ? 'true' : 'false', onClick: () => change(id) },
      word, n !== undefined && ' ', n !== undefined && t.small(count(n)))));
}

/** A list of which the server gives so many; more of it on demand. */
export function More({ shown, total, more }) {
  if (shown >= total) return null;
  return t.nav({ class: 'pager', 'aria-label': 'More' }, t.span(`${count(shown)} of ${count(total)}`),
    t.button({ type: 'button', onClick: more }, 'Show more'));
}

export function TroubleList({ problems }) {
  return t.ul({ class: 'problems' }, problems.map((p, i) => t.li({ key: i },
    c(Badge, { kind: p.severity === 'error' ? 'bad' : 'warn' }, p.severity),
    t.div(t.strong({ dir: 'auto' }, p.message), p.source && t.span({ class: 'soft', dir: 'auto' }, ` · ${p.source}`),
      t.div({ class: cls('soft') }, `${plural(p.count, 'scheduler')}: `, c(Hosts, { ids: p.hosts.slice(0, 8), total: p.count }))))));
}
