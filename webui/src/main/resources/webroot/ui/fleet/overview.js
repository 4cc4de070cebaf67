// All jobs over all schedulers: errors in front.
import { t, c, cls, useState } from '../dom.js';
import { get } from '../api.js';
import { useData } from '../live.js';
import { jobLink, refine, to } from '../route.js';
import { Ago, Badge, Bar, Choice, Counts, Empty, Failure, Panel, Search, Title, Waiting, STATES } from '../parts.js';
import { compact, count, plural, rate, seconds, share } from '../format.js';
import { Chips, Host, JobBadges, Missing, More, TroubleList } from './parts.js';

const STEP = 50;
const MOST = 1000;
const MOST_HINDERED = 5;
const isOver = ({ progress: p }) => p.total > 0 && p.done + p.failed + p.cancelled === p.total;
const SHOW = [
  ['', 'All', () => true],
  ['attention', 'Need attention', (j) => j.invalid_on > 0 || j.failed_on > 0 || j.halted_on > 0 || j.hindered_on > 0 || j.progress.failed > 0 || (j.past_deadline_on > 0 && !isOver(j))],
  ['running', 'Running', (j) => j.progress.running > 0],
  ['stuck', 'Stuck', (j) => j.hindered_on > 0],
  ['paused', 'Paused', (j) => j.paused_on > 0],
  ['differing', 'Other settings', (j) => j.variants > 1],
  ['unfinished', 'Unfinished', (j) => !isOver(j)],
  ['finished', 'Finished', isOver],
];

function Row({ job }) {
  const p = job.progress;
  const over = isOver(job);
  return t.li({ class: cls('job', (job.invalid_on > 0 || p.failed > 0 || job.halted_on > 0 || job.hindered_on > 0) && 'hurt', job.paused_on > 0 && 'is-paused') },
    t.div({ class: 'job-name' },
      t.a({ href: jobLink(job.name), 'data-row': true, dir: 'auto', title: job.name }, job.name),
      c(JobBadges, { job }),
      t.span({ class: 'soft' }, `on ${count(job.schedulers)} · `, t.span({ dir: 'auto' }, job.owners.join(', ')), job.owner ? ' · ' : '', t.span({ dir: 'auto' }, job.levels.join(', ')))),
    t.div({ class: 'job-progress' },
      c(Bar, { states: p, total: p.total, label: job.name }),
      job.problem ? t.p({ class: 'job-problem' }, job.problem) : c(Counts, { states: p })),
    t.dl({ class: 'job-figures' },
      t.div(t.dt('Done'), t.dd(share(p.done, p.total) || '–')),
      t.div(t.dt('Rate'), t.dd(rate(job.rate_per_second))),
      t.div(t.dt('Time left'), t.dd(over ? '–' : p.running + p.waiting === 0 ? '–' : seconds(job.seconds_left)))));
}

function Total({ data }) {
  const p = data.progress;
  const s = data.schedulers;
  const away = s.total - s.states.answered;
  const tile = (label, value, note, kind, href) => t.li({ class: cls('tile', kind) },
    t.span({ class: 'tile-label' }, label), href ? t.a({ class: 'tile-value', href }, value) : t.span({ class: 'tile-value' }, value), t.span({ class: 'tile-note' }, note || ''));
  return t.section({ class: 'total', 'aria-label': 'All schedulers together' },
    t.ul({ class: 'tiles' },
      tile('Schedulers', count(s.states.answered), away > 0 ? `of ${count(s.total)} answer` : 'all answer', away > 0 && 'is-bad', to(['schedulers'])),
      tile('Jobs', count(data.jobs_total), ''),
      tile('Running', compact(p.running), '', 'is-running'),
      tile('Done', share(p.done, p.total) || '–', `${compact(p.done)} of ${compact(p.total)}`, 'is-done'),
      tile('Backing off', compact(p.waiting), p.waiting > 0 ? 'tried again by itself' : '', p.waiting > 0 && 'is-waiting'),
      tile('Failed', compact(p.failed), p.failed > 0 ? 'until forgiven or rerun' : '', p.failed > 0 && 'is-bad'),
      data.jobs_hindered > 0 && tile('Stuck', count(data.jobs_hindered), data.jobs_hindered === 1 ? 'job' : 'jobs', 'is-bad', to([], { show: 'stuck' }))),
    c(Bar, { states: p, total: p.total, tall: true, label: 'all jobs' }),
    t.ul({ class: 'legend', 'aria-label': 'Colours' }, STATES.map(([k, word]) => t.li({ key: k, class: `k-${k}` }, word))));
}

/** Schedulers that say the same of a job, together. */
function byReason(hosts) {
  const groups = new Map();
  hosts.forEach((h) => { const said = `${h.stuck} ${h.reason}`; groups.set(said, [...groups.get(said) ?? [], h]); });
  return [...groups.values()];
}

/** Jobs of which something can never start as things are: where, how much of them, and why. */
function Hindered({ jobs, total }) {
  return c(Panel, { title: 'Cannot start unless somebody acts', id: 'h-hindered', note: plural(total, 'job'),
    actions: total > MOST_HINDERED && t.a({ class: 'button', href: to([], { show: 'stuck' }) }, 'All of them') },
  t.ul({ class: 'groups' }, jobs.slice(0, MOST_HINDERED).map((j) => t.li({ key: j.job },
    t.div({ class: 'group-head' }, t.strong(t.a({ href: jobLink(j.job), dir: 'auto' }, j.job)), t.span({ class: 'soft' }, `${plural(j.tasks, 'task')} on ${plural(j.schedulers, 'scheduler')}`)),
    byReason(j.hosts).map((hosts) => t.p({ key: hosts[0].id, class: 'where' },
      hosts[0].stuck && c(Badge, { kind: 'bad' }, 'stuck'),
      hosts.map((h) => t.span({ key: h.id }, c(Host, { id: h.id, hash: jobLink(j.job) }), ' ', t.small(count(h.tasks)))),
      t.span({ class: 'soft', dir: 'auto' }, hosts[0].reason))),
    j.schedulers > j.hosts.length && t.p(t.a({ href: to(['jobs', j.job], { only: 'hindered' }) }, `and ${plural(j.schedulers - j.hosts.length, 'more scheduler')}`))))));
}

export default function Overview({ route }) {
  const q = route.query.get('q') ?? '';
  const sort = route.query.get('sort') ?? 'trouble';
  const show = route.query.get('show') ?? '';
  const [more, setLimit] = useState(STEP);
  // Which of them are meant is known here only.
  const limit = show ? MOST : more;
  const { data, error, again } = useData((signal) => get(['fleet', 'overview'], { match: q, sort, limit }, signal), ['overview', q, sort, limit], { keep: true });
  const jobs = (data?.jobs ?? []).filter((SHOW.find(([id]) => id === show) ?? SHOW[0])[2]);
  const errors = data?.problems.filter((p) => p.severity === 'error') ?? [];
  return t.div({ class: 'page' },
    c(Title, { sub: data?.schedulers.oldest_answer_ms && t.span('The oldest answer is from ', c(Ago, { ms: data.schedulers.oldest_answer_ms }), '.') }, 'All schedulers'),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : t.div(
      c(Missing, { summary: data.schedulers }),
      errors.length > 0 && c(Panel, { title: 'Errors', id: 'h-errors', note: count(data.errors_total), actions: t.a({ class: 'button', href: to(['problems']) }, 'All problems') },
        c(TroubleList, { problems: errors.slice(0, 5) })),
      data.hindered.length > 0 && c(Hindered, { jobs: data.hindered, total: data.jobs_hindered }),
      c(Total, { data }),
      t.div({ class: 'toolbar' },
        c(Search, { value: q, label: 'Filter jobs', placeholder: 'Part of a name', change: (v) => refine({ q: v }) }),
        c(Chips, { label: 'Show', options: SHOW.map(([id, word]) => [id, word]), current: show, change: (id) => refine({ show: id }) }),
        c(Choice, { label: 'Sort', value: sort, options: [['trouble', 'Urgency'], ['name', 'Name']], change: (v) => refine({ sort: v === 'trouble' ? '' : v }) })),
      jobs.length === 0
        ? c(Empty, { title: q || show ? 'No job matches' : data.schedulers.states.answered === 0 ? 'No scheduler has answered yet' : 'No jobs yet' })
        : t.ol({ class: 'jobs', 'aria-label': 'Jobs' }, jobs.map((job) => c(Row, { key: job.name, job }))),
      show && data.jobs_matching > MOST && t.p({ class: 'soft' }, `Of the first ${count(MOST)} of ${plural(data.jobs_matching, 'job')}.`),
      c(More, { shown: data.jobs.length, total: Math.min(MOST, data.jobs_matching), more: () => setLimit(limit + 4 * STEP > MOST ? MOST : limit + 4 * STEP) })));
}
