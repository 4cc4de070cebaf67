// One job over all schedulers that have it: who is how far, and whose settings are others.
import { t, c, cls, useState } from '../dom.js';
import { get } from '../api.js';
import { useData } from '../live.js';
import { go, jobLink, refine, taskLink, to } from '../route.js';
import { Badge, Bar, Counts, Crumbs, Empty, Failure, Panel, Search, Title, Waiting } from '../parts.js';
import { count, plural, rate, seconds, share } from '../format.js';
import { Causes } from './causes.js';
import { Chips, Host, Hosts, JobActs, JobBadges, Missing, More, State } from './parts.js';

const STEP = 100;
const MOST = 1000;
const ONLY = [['', 'All'], ['failed', 'With failures'], ['hindered', 'Stuck'], ['running', 'Running'], ['paused', 'Paused'], ['differing', 'Other settings'], ['invalid', 'Invalid']];
const text = (value) => value === undefined ? '(nothing)' : JSON.stringify(value);

function Differences({ changes, tied }) {
  return t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'What differs' }, t.table(
    t.thead(t.tr(t.th({ scope: 'col' }, 'Setting'), t.th({ scope: 'col' }, tied ? 'Kind 1' : 'Most schedulers'), t.th({ scope: 'col' }, 'Here'))),
    t.tbody(changes.map((d) => t.tr({ key: d.path }, t.th({ scope: 'row' }, t.code({ dir: 'auto' }, d.path)),
      t.td(t.code({ dir: 'auto' }, text(d.majority))), t.td(t.code({ dir: 'auto' }, text(d.here))))))));
}

/** Jobs of one name that are set up in different ways may be different jobs: one is looked at without the others. */
function Kinds({ job, kind }) {
  const all = job.configs.reduce((n, v) => n + v.count, 0);
  return t.div({ class: 'toolbar' }, c(Chips, { label: 'Kind of settings', current: kind, change: (id) => refine({ kind: id, only: '' }),
    options: [['', 'All kinds', all], ...job.configs.map((v, i) => [v.hash, t.span({ dir: 'auto' }, `Kind ${i + 1}${v.owners.length > 0 ? `: ${v.owners.slice(0, 3).join(', ')}` : ''}`), v.count])] }));
}

function Settings({ job, kind }) {
  const disagreed = job.attributes.filter((a) => !a.agreed);
  return c(Panel, { title: 'Settings', id: 'h-settings', note: kind ? `kind ${job.configs.findIndex((v) => v.hash === kind) + 1}` : job.variants === 1 ? 'the same everywhere' : `${count(job.variants)} kinds` },
    disagreed.length > 0 && t.ul({ class: 'problems' }, disagreed.map((a) => t.li({ key: a.name }, c(Badge, { kind: 'warn' }, 'differs'),
      t.div(t.strong(a.name), ': ', a.values.map((v, i) => t.span({ key: v.value }, i > 0 && '; ', t.b({ dir: 'auto' }, v.value || '(empty)'), ` on ${count(v.count)}`,
        i > 0 && t.span(' (', c(Hosts, { ids: v.hosts.slice(0, 5), total: v.count, hash: jobLink(job.name) }), ')'))))))),
    t.ul({ class: 'variants' }, job.configs.map((v, i) => (!kind || v.hash === kind) && t.li({ key: v.hash },
      t.div({ class: 'variant-head' }, !kind && job.variants > 1 && c(Badge, { kind: job.tied ? '' : v.majority ? 'good' : 'warn' }, job.tied ? `kind ${i + 1}` : v.majority ? 'most' : 'other'), t.b(plural(v.count, 'scheduler')),
        (!v.majority || job.tied) && c(Hosts, { ids: v.hosts.slice(0, 10), total: v.count, hash: jobLink(job.name) })),
      v.differences && c(Differences, { changes: v.differences, tied: job.tied || kind }),
      v.settings
        ? t.details(t.summary('All settings'), t.pre({ class: 'config' }, JSON.stringify(v.settings, null, 2)))
        : t.p({ class: 'soft' }, 'Nobody who has them answers now.')))),
    !kind && job.variants > job.configs.length && t.p({ class: 'soft' }, `and ${plural(job.variants - job.configs.length, 'more kind')}`));
}

/** A user who knows a node need not know which scheduler has it. */
function FindTask({ job }) {
  const [node, setNode] = useState('');
  return t.form({ class: 'asked toolbar', onSubmit: (e) => { e.preventDefault(); if (node.trim() !== '') go(taskLink(job, node.trim())); } },
    t.label('Task on node', t.input({ value: node, autocomplete: 'off', spellcheck: false, dir: 'auto', onInput: (e) => setNode(e.target.value) })),
    t.button({ type: 'submit' }, 'Find'));
}

function Member({ host, job }) {
  return t.tr({ class: cls((!host.valid || host.progress.failed > 0 || ['stuck', 'halted'].includes(host.job_state) || host.tasks_never > 0) && 'hurt') },
    t.th({ scope: 'row' }, c(Host, { id: host.id, name: host.name, hash: jobLink(job), row: true })),
    t.td(c(State, { host })),
    t.td({ class: 'bars' }, c(Bar, { states: host.progress, total: host.progress.total, label: host.name }), host.problem ? t.p({ class: 'job-problem' }, host.problem) : c(Counts, { states: host.progress }),
      ['stuck', 'halted'].includes(host.job_state) ? t.p({ class: 'job-problem', dir: 'auto' }, host.job_state_reason) : host.tasks_never > 0 && t.p({ class: 'job-problem', dir: 'auto' }, host.never_reason)),
    t.td(t.span({ class: 'badges' }, !host.valid && c(Badge, { kind: 'bad' }, 'invalid'), !host.enabled && c(Badge, null, 'disabled'),
      host.job_state === 'failed' && c(Badge, { kind: 'bad', title: host.job_state_reason }, 'failed'),
      host.job_state === 'halted' && c(Badge, { kind: 'bad', title: host.job_state_reason }, 'halted'),
      host.job_state === 'stuck' && c(Badge, { kind: 'bad', title: host.job_state_reason }, 'stuck'),
      host.job_state !== 'stuck' && host.tasks_never > 0 && c(Badge, { kind: 'bad', title: host.never_reason }, `${count(host.tasks_never)} can never start`),
      host.job_state === 'succeeded' && c(Badge, { kind: 'good', title: host.job_state_reason }, 'succeeded'),
      host.paused && c(Badge, { kind: 'warn', title: host.pause_reason }, 'paused'), host.differs && c(Badge, { kind: 'warn' }, 'other settings'))),
    t.td({ class: 'num' }, share(host.progress.done, host.progress.total) || '–'));
}

export default function Job({ route }) {
  const name = route.parts[1];
  const only = route.query.get('only') ?? '';
  const q = route.query.get('q') ?? '';
  const kind = route.query.get('kind') ?? '';
  const [limit, setLimit] = useState(STEP);
  const { data, error, again } = useData((signal) => get(['fleet', 'jobs', name], { only, match: q, kind, limit }, signal), ['job', name, only, q, kind, limit], { keep: true });
  return t.div({ class: 'page' },
    c(Crumbs, { trail: [['All schedulers', '#/'], [name]] }),
    c(Title, { badges: data && c(JobBadges, { job: data }), actions: data && c(JobActs, { job: data, kind }),
      sub: data && t.span(`on ${plural(data.schedulers, 'scheduler')}`, data.owner && ' · ', t.span({ dir: 'auto' }, data.owners.join(', ')), ' · tasks on ', t.span({ dir: 'auto' }, data.levels.join(', '))) }, name),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : t.div(
      c(Missing, { summary: data.fleet }),
      data.configs.length > 1 && c(Kinds, { job: data, kind }),
      t.section({ class: 'total', 'aria-label': 'Progress over all schedulers' },
        c(Bar, { states: data.progress, total: data.progress.total, tall: true, label: name }), c(Counts, { states: data.progress }),
        t.p({ class: 'soft' }, `${share(data.progress.done, data.progress.total) || '0 %'} done`, data.rate_per_second !== undefined && ` · ${rate(data.rate_per_second)}`,
          data.seconds_left !== undefined && data.progress.running + data.progress.waiting > 0 && ` · about ${seconds(data.seconds_left)} left`, ' · ', t.a({ href: to(['logs'], { job: name }) }, 'logs'))),
      c(Causes, { key: kind, job: data, kind }),
      c(FindTask, { job: name }),
      c(Settings, { job: data, kind }),
      t.div({ class: 'toolbar' },
        c(Search, { value: q, label: 'Filter schedulers', placeholder: 'Part of a name', change: (v) => refine({ q: v }) }),
        c(Chips, { label: 'Show', options: ONLY, current: only, change: (id) => refine({ only: id }) })),
      data.hosts.length === 0 ? c(Empty, { title: 'No scheduler matches' }) : t.section({ class: 'panel', 'aria-label': 'Schedulers' },
        t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Schedulers with this job' }, t.table(
          t.thead(t.tr(['Scheduler', 'Answer', 'Tasks', ''].map((w, i) => t.th({ key: i, scope: 'col' }, w || t.span({ class: 'hidden' }, 'Remarks'))), t.th({ scope: 'col', class: 'num' }, 'Done'))),
          t.tbody(data.hosts.map((host) => c(Member, { key: host.id, host, job: name })))))),
      c(More, { shown: data.hosts.length, total: Math.min(MOST, data.matching), more: () => setLimit(MOST) })));
}
