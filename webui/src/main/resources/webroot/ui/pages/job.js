// One job: how far it is, what went wrong, what waits for what, its tasks, its configuration and its past.
import { t, c, useState } from '../dom.js';
import { get, may, maySteer, maybe } from '../api.js';
import { useData } from '../live.js';
import { jobLink, nodeLink, refine, taskLink, to } from '../route.js';
import { Ago, At, Badge, Bar, Counts, Crumbs, Failure, Names, Panel, ProblemList, Tabs, Title, Waiting, WorkerName } from '../parts.js';
import { count, millis, plural, rate, seconds, share } from '../format.js';
import { JobBadges, timeLeft, wordsOf } from './overview.js';
import { JobActions, forgive, rerun } from './job-actions.js';
import { Tasks } from './job-tasks.js';
import { Config, History } from './job-config.js';
import { Output } from './output.js';
import { Hour, useActivity } from '../charts.js';
import { Grid } from './grid.js';
import { WhatIf } from './what-if.js';
import { levelResources, override } from './limits.js';

export default function Job({ route }) {
  const name = route.parts[1];
  const tab = route.parts[2] ?? '';
  const { data: job, error, again } = useData((signal) => get(['jobs', name], {}, signal), ['job', name]);
  const tabs = [['', 'Progress', jobLink(name)], ['tasks', 'Tasks', jobLink(name, 'tasks')],
    ['config', 'Configuration', jobLink(name, 'config')], ['history', 'History', jobLink(name, 'history')], ['output', 'Output', jobLink(name, 'output')], may('operator') && ['what-if', 'What if', jobLink(name, 'what-if')]];
  return t.div({ class: 'page' },
    c(Crumbs, { trail: [['Jobs', '#/'], [name]] }),
    c(Title, { badges: job && c(JobBadges, { job }), actions: job && c(JobActions, { job }), sub: job && c(About, { job }) }, name),
    c(Failure, { error, retry: again }),
    !job ? !error && c(Waiting) : t.div(
      (job.description || job.labels || job.links) && c(Info, { job }),
      c(Stands, { job }),
      job.paused && c(Paused, { job }),
      job.problems?.length > 0 && tab !== 'config' && c(Problems, { job }),
      c(Tabs, { label: 'Sections of the job', current: tab, tabs }),
      tab === 'tasks' ? c(Tasks, { key: name, job, route }) : tab === 'config' ? c(Config, { key: name, job })
        : tab === 'history' ? c(History, { key: name, job })
          : tab === 'what-if' ? c(WhatIf, { key: name, job }) : tab === 'output' ? c(Output, { key: name, job: name, regex: route.query.get('regex') ?? '', search: (regex) => refine({ regex }) }) : c(Progress, { key: name, job, route })));
}

/** The jobs that wait for this one. */
function useUsers(job) {
  const { data } = useData((signal) => get(['jobs'], {}, signal), ['jobs'], { every: 15000 });
  return (data?.jobs ?? []).filter((j) => j.depends_on.includes(job.name)).map((j) => j.name);
}

function About({ job }) {
  const users = useUsers(job);
  return t.span(job.owner && t.span('owned by ', t.span({ dir: 'auto' }, job.owner), ' · '), 'on level ', t.span({ dir: 'auto' }, job.level), ` · priority ${job.priority}`,
    job.queue && t.span(' · queue ', t.a({ href: to(['queues'], { q: job.queue }), dir: 'auto' }, job.queue)),
    job.max_concurrent && t.span(` · at most ${count(job.max_concurrent)} at once`),
    job.max_starting && t.span(` · at most ${count(job.max_starting)} starts in flight`),
    job.start_rate && t.span(` · starts ${rate(job.start_rate.per_second)}, up to ${count(job.start_rate.burst)} at once after a rest`),
    job.complete_by_ms && t.span(' · complete by ', c(At, { ms: job.complete_by_ms })),
    job.depends_on.length > 0 && t.span(' · after ', c(Names, { names: job.depends_on, link: jobLink })),
    users.length > 0 && t.span(' · before ', c(Names, { names: users.slice(0, 5), link: jobLink, total: users.length })),
    ' · ', t.a({ href: to(['events'], { job: job.name }) }, 'events'));
}

/** What the job tells people about itself; the server refuses links that are not http or https, and so does this. */
function Info({ job }) {
  const links = Object.entries(job.links ?? {}).filter(([, url]) => /^https?:\/\//i.test(url));
  const label = ([name, value]) => `${name}=${value}`;
  return t.div({ class: 'info' },
    job.description && t.p({ class: 'said', dir: 'auto' }, job.description),
    (links.length > 0 || job.labels) && t.p(
      links.map(([name, url]) => t.a({ key: name, href: url, target: '_blank', rel: 'noopener noreferrer', dir: 'auto' }, name)),
      Object.entries(job.labels ?? {}).map(label).map((text) => t.a({ key: text, class: 'badge', href: to([''], { q: text }), title: 'Jobs with this label', dir: 'auto' }, text))));
}

// Only what a bar of its tasks does not say: an end, why, and how to go on from there.
function Stands({ job }) {
  if (job.state === 'open') return t.p({ class: 'notice is-good' }, t.strong('Open'), ': it never ends by itself. What is done stays done, and nodes that come are taken up.');
  if (job.state === 'stuck') return t.p({ class: 'notice is-bad' }, t.strong('Stuck'), ': ', t.span({ dir: 'auto' }, job.state_reason), '. Nothing of it can start unless somebody acts or nodes come.');
  if (job.state === 'halted') return t.p({ class: 'notice is-bad' }, t.strong('Halted'), ' ', t.span({ dir: 'auto' }, job.state_reason), '. Nothing more of it is started. ', t.strong('Resume'), ' goes on with the stage, ', t.strong('Promote'), ' opens the next one.');
  if (job.state !== 'failed' && job.state !== 'succeeded') return null;
  const p = job.progress ?? {};
  const rest = (p.blocked ?? 0) + (p.ready ?? 0) + (p.waiting ?? 0);
  const failed = job.state === 'failed';
  return t.p({ class: failed ? 'notice is-bad' : 'notice is-good' }, t.strong(failed ? 'Failed' : 'Succeeded'),
    job.state_since_ms && t.span(' at ', c(At, { ms: job.state_since_ms }), ', ', c(Ago, { ms: job.state_since_ms })), job.state_reason && t.span(': ', t.span({ dir: 'auto' }, job.state_reason)), '. ',
    rest > 0 ? t.span(`The ${plural(rest, 'task')} left ${rest === 1 ? 'is' : 'are'} not started. `, t.strong('Resume'), failed ? ' lets them run: only what ends from then on counts. ' : ' lets them run all the same.',
      failed && t.span(t.strong('Forgive'), ' or ', t.strong('Rerun'), ' gives failed ones another try as well.'))
      : failed && p.failed > 0 && t.span(t.strong('Forgive'), ' or ', t.strong('Rerun'), ' its failed tasks to open it again.'));
}

function Paused({ job }) {
  const p = job.pause ?? { reason: job.pause_reason };
  return t.p({ class: 'notice' }, t.strong(job.state === 'stopped' || job.pause?.stopped ? 'Stopped' : 'Paused'), p.author && t.span(' by ', t.span({ dir: 'auto' }, p.author)), p.since_ms && t.span(' ', c(Ago, { ms: p.since_ms })),
    p.reason && t.span(': ', t.span({ dir: 'auto' }, p.reason)), '. Nothing more of it is started',
    p.expires_at_ms ? t.span(' until ', c(At, { ms: p.expires_at_ms }), '.') : ' until it is resumed.');
}

function Problems({ job }) {
  return c(Panel, { title: 'Problems of its configuration', id: 'h-problems', class: 'is-bad' }, c(ProblemList, { problems: job.problems }));
}

function Progress({ job, route }) {
  const waiting = useData((signal) => maybe(['jobs', job.name, 'waiting'], {}, signal), ['waiting', job.name], { every: 2000 });
  const activity = useActivity(job.name);
  return t.div(
    c(Now, { job, waiting: waiting.data, activity }),
    job.rollout && c(Stages, { job }),
    t.div({ class: 'grid' }, c(Failures, { job }), c(Reasons, { job, ...waiting })),
    c(Grid, { jobs: [job.name, ...job.depends_on, ...useUsers(job)], route }),
    c(RunningNow, { job, activity }));
}

const VERDICT = { passed: 'done', running: 'running', soaking: 'waiting', halted: 'failed', closed: 'blocked' };
const PHASE = { running: 'runs', soaking: 'soaks', waiting: 'has passed and waits for somebody who promotes the job', halted: 'is halted', passed: 'has passed' };

/** The stages side by side, each as wide as the others: the first ones would be slivers. */
function Stages({ job }) {
  const r = job.rollout;
  const open = r.stages[r.stage - 1];
  const words = (s, i) => `stage ${i + 1} (${s.size}): ${s.verdict}, ${plural(s.tasks, 'task')}`;
  return c(Panel, { title: 'Stages', id: 'h-stages', note: t.span(`stage ${r.stage} of ${r.stages.length} (${open.size}) ${r.reason ? `${r.phase === 'waiting' ? 'waits for somebody who promotes the job' : PHASE[r.phase]}: ${r.reason}` : PHASE[r.phase]}`, ', open ', c(Ago, { ms: r.opened_ms })) },
    t.div({ class: 'bar tall', role: 'img', 'aria-label': r.stages.map(words).join('; ') },
      r.stages.map((s, i) => t.span({ key: i, class: `s-${VERDICT[s.verdict]}`, style: { flexGrow: 1 }, title: words(s, i) }))),
    t.ul({ class: 'tiles' }, r.stages.map((s, i) => t.li({ key: i, class: 'tile' }, t.span({ class: 'tile-label' }, `Stage ${i + 1}`), t.span({ class: 'tile-value' }, s.size),
      t.span({ class: 'tile-note' }, `${s.verdict}, ${plural(s.tasks, 'task')}`, i === r.stage - 1 && r.counted > 0 && `; ${count(r.failed)} of ${count(r.counted)} failed`)))));
}

/** What a task that neither runs nor has ended waits for, in the order of what somebody can do about it. */
const FOR = {
  resource: 'for slots', no_worker: 'for a worker', max_concurrent: 'for slots', start_rate: 'for the start rate', starting: 'for starts', queue_limit: 'for slots', group: 'for their groups', reserved: 'for slots', startable: 'start next',
  dependency: 'for jobs', job_dependency: 'for jobs', backoff: 'backing off',
};

/** "ready" and "blocked" in words that say what is waited for; the same tasks, looked at a moment earlier. */
function split(job, waiting) {
  if (!waiting || waiting.sampled || waiting.reasons.length === 0) return [];
  const sums = {};
  waiting.reasons.forEach((r) => { const word = r.never ? 'can never start' : FOR[r.kind] ?? 'held'; sums[word] = (sums[word] ?? 0) + r.count; });
  return Object.entries(sums).filter(([word]) => word !== 'backing off')
    .map(([word, n]) => [word === 'can never start' ? 'failed' : word === 'for jobs' || word === 'held' ? 'blocked' : 'ready', n, word.startsWith('for ') ? `wait${n === 1 ? 's' : ''} ${word}` : word]);
}

function Now({ job, waiting, activity }) {
  const p = job.progress;
  const more = split(job, waiting);
  const tile = (label, value, note) => t.li({ class: 'tile' }, t.span({ class: 'tile-label' }, label), t.span({ class: 'tile-value' }, value), t.span({ class: 'tile-note' }, note));
  return t.section({ class: 'total', 'aria-label': 'Progress' },
    t.ul({ class: 'tiles' },
      tile('Done', share(p?.done ?? 0, p?.total ?? 0) || '–', p ? `${count(p.done)} of ${count(p.total)}` : ''),
      tile('Running', count(p?.running ?? 0), 'tasks'),
      tile('Rate', rate(job.rate_per_second), 'over the last minute'),
      activity?.p50_ms !== undefined && tile('Takes', millis(activity.p50_ms), `half of its tasks; 95 % at most ${millis(activity.p95_ms)}`),
      job.waited_p50_sec !== undefined && tile('Waited', seconds(job.waited_p50_sec), `half of its tasks; 95 % at most ${seconds(job.waited_p95_sec)}`),
      c(TimeLeft, { job, tile })),
    c(Bar, { states: p, total: p?.total, tall: true, label: job.name, words: wordsOf(job) }),
    c(Counts, { states: more.length > 0 ? { ...p, ready: 0, blocked: 0 } : p, words: wordsOf(job), more }),
    c(Hour, { activity, label: job.name }),
    job.counters && t.ul({ class: 'tiles', 'aria-label': 'What its tasks have counted' }, job.counters.map((x) => t.li({ key: x.name, class: 'tile' }, t.span({ class: 'tile-label' }, x.name), t.span({ class: 'tile-value' }, count(x.total)), t.span({ class: 'tile-note' }, x.rate_per_sec > 0 ? rate(x.rate_per_sec) : '')))));
}

/** By the narrowest place of the tree; at the present rate where nothing is known about how long tasks take. */
function TimeLeft({ job, tile }) {
  const { data: eta } = useData((signal) => maybe(['jobs', job.name, 'eta'], {}, signal), ['eta', job.name], { every: 10000 });
  const plain = timeLeft(job);
  if (['stopped', 'paused', 'halted', 'stuck'].includes(plain) || !(eta?.p50_seconds > 0 && eta.never === 0)) {
    return tile('Time left', plain, job.seconds_left > 0 && plain === seconds(job.seconds_left) ? 'at this rate' : '');
  }
  const n = eta.bottleneck;
  const most = seconds(eta.p90_seconds);
  return tile('Time left', seconds(eta.p50_seconds), t.span(most !== seconds(eta.p50_seconds) && `90 % at most ${most}`,
    n && t.span(' · for ', narrowPlace(n)),
    may('operator') && t.span(' · ', t.a({ href: jobLink(job.name, 'what-if') }, 'what if?'))));
}

/** What a job waits for most. */
function narrowPlace(n) {
  const ofQueue = n.resource ? `${n.name}.${n.resource}` : n.name;
  const named = { start_rate: 'the start rate', max_concurrent: 'max_concurrent', queue: `the queue ${ofQueue}`, group: `the group ${n.name}` };
  if (!n.node) return t.span({ dir: 'auto' }, named[n.kind] ?? `workers’ ${n.resource}`);
  const what = n.kind === 'level_start_rate' ? `the start rate of ${n.node}` : n.resource ? `${n.node}.${n.resource}` : n.node;
  return t.a({ href: nodeLink(n.level, n.node), dir: 'auto' }, what);
}

function Failures({ job }) {
  const { data, error } = useData((signal) => maybe(['jobs', job.name, 'failures'], { limit: 50 }, signal), ['failures', job.name], { every: 2000 });
  if (data === null) return null;
  return c(Panel, { title: 'Failures by cause', id: 'h-failures', note: data?.total > 0 && plural(data.total, 'task') },
    c(Failure, { error }), !data ? !error && c(Waiting) : data.groups.length === 0 ? t.p({ class: 'soft' }, 'No task has failed.')
      : t.ul({ class: 'groups' }, data.groups.map((g) => t.li({ key: g.fingerprint },
        t.div({ class: 'group-head' }, t.strong({ class: 'group-count' }, count(g.count)), t.span({ class: 'group-message', dir: 'auto' }, g.message || 'no message')),
        t.p({ class: 'soft' }, g.failed > 0 && `${count(g.failed)} for good`, g.failed > 0 && g.waiting > 0 && ', ', g.waiting > 0 && `${count(g.waiting)} tried again`,
          g.newest_ms && t.span(' · newest ', c(Ago, { ms: g.newest_ms }))),
        t.p({ class: 'samples' }, c(Names, { names: g.samples.slice(0, 6), link: (n) => taskLink(job.name, n), total: g.count })),
        t.div({ class: 'actions' }, t.a({ class: 'button', href: `${jobLink(job.name, 'tasks')}?fingerprint=${encodeURIComponent(g.fingerprint)}` }, 'Show tasks'),
          maySteer(job) && t.button({ type: 'button', class: 'small', onClick: () => forgive(job, { fingerprint: g.fingerprint }, g.message) }, 'Forgive'),
          maySteer(job) && t.button({ type: 'button', class: 'small', onClick: () => rerun(job, { fingerprint: g.fingerprint }, g.message) }, 'Rerun'))))));
}

function Reasons({ job, data, error }) {
  if (data === null) return null;
  const most = data?.reasons[0]?.count ?? 1;
  return c(Panel, { title: 'What waits for what', id: 'h-waiting', note: data?.at_ms && t.span(data.sampled ? `sample of ${count(data.counted)} of ${count(data.total)}, ` : '', c(Ago, { ms: data.at_ms })) },
    c(Failure, { error }), !data ? !error && c(Waiting) : data.reasons.length === 0 ? t.p({ class: 'soft' }, 'Nothing waits.')
      : t.ul({ class: 'groups' }, data.reasons.map((r, i) => t.li({ key: i },
        t.div({ class: 'group-head' }, t.strong({ class: 'group-count' }, count(r.count)), t.span({ class: 'group-message', dir: 'auto' }, r.message, r.until_ms > 0 && t.span({ class: 'soft' }, ' · the next may go on at ', c(At, { ms: r.until_ms }), ', ', c(Ago, { ms: r.until_ms })))),
        t.div({ class: 'reason-track', 'aria-hidden': 'true' }, t.span({ style: { width: `${100 * r.count / most}%` } })),
        t.p({ class: 'samples' }, c(Names, { names: r.samples.slice(0, 4), link: (n) => taskLink(job.name, n), total: r.count })),
        c(WayOut, { job, r })))));
}

/** From a reason on to what is in the way, and what can be done about it. */
function WayOut({ job, r }) {
  const { data } = useData((signal) => r.resource ? get(['settings'], {}, signal) : Promise.resolve(null), ['settings', Boolean(r.resource)], { every: 60000 });
  const level = r.resource && levelResources(data).find((x) => x.resource === r.resource)?.level;
  return t.div({ class: 'actions' },
    level && r.node && t.a({ class: 'button', href: nodeLink(level, r.node) }, t.span({ class: 'name', dir: 'auto' }, r.node)),
    level && !r.node && t.a({ class: 'button', href: to(['tree'], { resource: r.resource }) }, 'In the tree'),
    t.a({ class: 'button', href: to(['jobs', job.name, 'tasks'], { reason: r.kind }) }, 'Show tasks'),
    may('operator') && r.never && level && t.button({ type: 'button', class: 'small', onClick: () => override({ level, resource: r.resource, node: r.node, limit: 1 }) }, r.node ? 'Raise the limit …' : `Limit of ${level} …`));
}

const MOST_RUNNING = 500;
const SHOWN_RUNNING = 12;

function RunningNow({ job, activity }) {
  const running = job.progress?.running ?? 0;
  const { data } = useData((signal) => running > 0 ? get(['running'], { job: job.name, limit: MOST_RUNNING }, signal) : Promise.resolve({ running: [] }), ['running', job.name, running > 0]);
  if (!data || data.running.length === 0) return null;
  // Those that have run longest are those that hang, if any do.
  const longest = [...data.running].sort((a, b) => a.started_at_ms - b.started_at_ms).slice(0, SHOWN_RUNNING);
  return c(Panel, { title: 'Running now', id: 'h-running', note: `${data.total > longest.length ? `${count(longest.length)} of ${count(data.total)}, ` : ''}longest first${data.total > data.running.length ? ` of ${count(data.running.length)}` : ''}${activity?.stragglers_total > 0 ? ` · ${plural(activity.stragglers_total, 'task runs', 'tasks run')} far longer than usual` : ''}` },
    c(RunningTable, { tasks: longest, slow: new Set(activity?.stragglers.map((s) => s.node)) }));
}

export function RunningTable({ tasks, withJob, slow }) {
  return t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Running tasks' }, t.table(
    t.thead(t.tr(withJob && t.th({ scope: 'col' }, 'Job'), t.th({ scope: 'col' }, 'Task'), t.th({ scope: 'col', class: 'num' }, 'Attempt'), t.th({ scope: 'col' }, 'Worker'), t.th({ scope: 'col' }, 'Since'), t.th({ scope: 'col' }, 'Time limit'), t.th({ scope: 'col' }, 'Its progress'))),
    t.tbody(tasks.map((x) => t.tr({ key: `${x.job} ${x.node}` },
      withJob && t.td(t.a({ href: jobLink(x.job), dir: 'auto' }, x.job)),
      t.td(t.a({ href: taskLink(x.job, x.node), class: 'name', 'data-row': true, dir: 'auto' }, x.node)),
      t.td({ class: 'num' }, x.attempt), t.td(c(WorkerName, { worker: x.worker })), t.td({ class: 'nowrap' }, c(Ago, { ms: x.started_at_ms }), slow?.has(x.node) && t.span(' ', c(Badge, { kind: 'warn', title: 'More than twice as long as 95 % of the tasks before it' }, 'far longer than usual'))), t.td({ class: 'nowrap' }, x.timeout_at_ms ? c(Ago, { ms: x.timeout_at_ms }) : '–'),
      t.td(x.progress?.total > 0 ? t.span(t.progress({ max: x.progress.total, value: x.progress.done, 'aria-label': `progress of ${x.node}` }), ` ${share(x.progress.done, x.progress.total)}`,
        x.progress.seconds_left !== undefined && t.small(` ${seconds(x.progress.seconds_left)} left`)) : '–'))))));
}

