// All jobs: errors in front, then what needs somebody, then the rest.
import { t, c, cls, useEffect, useMemo, useRef } from '../dom.js';
import { get, may, maybe } from '../api.js';
import { useData } from '../live.js';
import { jobLink, refine, to } from '../route.js';
import { At, Badge, Bar, Choice, Counts, Empty, Failure, Icon, Pager, Search, Title, Waiting, STATES } from '../parts.js';
import { Hour, Stragglers, useActivity } from '../charts.js';
import { compact, count, plural, rate, seconds, share } from '../format.js';

const SIZE = 50;
const SHOW = [
  ['', 'All', () => true],
  ['attention', 'Need attention', needsAttention],
  ['running', 'Running', (j) => j.progress?.running > 0],
  ['paused', 'Paused', (j) => j.paused],
  ['failed', 'Failed', (j) => j.state === 'failed'],
  ['halted', 'Halted', (j) => j.state === 'halted'],
  ['stuck', 'Stuck', (j) => j.state === 'stuck' || isStanding(j)],
  ['unfinished', 'Unfinished', (j) => !finished(j)],
  ['finished', 'Finished', finished],
  ['off', 'Disabled', (j) => !j.enabled],
];
const collator = new Intl.Collator(undefined, { numeric: true });
const byName = (a, b) => collator.compare(a.name, b.name);
const of = (j, state) => j.progress?.[state] ?? 0;
const SORT = {
  attention: ['Urgency', (a, b) => urgency(b) - urgency(a) || byName(a, b)],
  name: ['Name', byName],
  running: ['Running', (a, b) => of(b, 'running') - of(a, 'running') || byName(a, b)],
  failed: ['Failed', (a, b) => of(b, 'failed') - of(a, 'failed') || byName(a, b)],
  left: ['Most to do', (a, b) => todo(b) - todo(a) || byName(a, b)],
  priority: ['Priority', (a, b) => b.priority - a.priority || byName(a, b)],
};

function todo(j) { return of(j, 'total') - of(j, 'done') - of(j, 'failed') - of(j, 'cancelled'); }
function finished(j) { if (j.state === 'succeeded') return true; if (j.state === 'verifying') return false; return of(j, 'total') > 0 && todo(j) === 0; }
let standing = {};
/** How many of its tasks can never start, and why. The scheduler does not count those that a limit of 0 on all nodes stops: these are in `standing`. */
const whyNever = (j) => j.tasks_never > 0 ? { never: j.tasks_never, reason: { message: j.never_reason } } : standing[j.name];
const isStanding = (j) => whyNever(j) !== undefined;

function needsAttention(j) { if (isStanding(j)) return true; if (j.state === 'failed') return true; if (j.state === 'succeeded') return false; return !j.valid || (j.warning && !finished(j)) || of(j, 'failed') > 0 || j.state === 'stuck' || j.state === 'halted' || (j.past_deadline && !finished(j)); }
function urgency(j) {
  if (!j.valid) return 6;
  if (['failed', 'halted', 'stuck'].includes(j.state) || isStanding(j)) return 5;
  if (j.past_deadline && !finished(j)) return 5;
  if (of(j, 'failed') > 0) return 4;
  if (j.warning && !finished(j)) return 4;
  if (of(j, 'waiting') > 0) return 3;
  if (of(j, 'running') > 0) return 2;
  return finished(j) || !j.enabled ? 0 : 1;
}

/** What "ready" and "blocked" mean of a job: for slots, for jobs, or held by somebody. */
export function wordsOf(job) {
  const held = !job.enabled || !job.valid || job.paused || ['failed', 'succeeded', 'stopped'].includes(job.state) || job.past_deadline;
  return { ready: 'to start', blocked: held ? 'held' : job.depends_on.length > 0 ? `wait${of(job, 'blocked') === 1 ? 's' : ''} for ${job.depends_on.length === 1 ? job.depends_on[0] : 'other jobs'}` : 'blocked' };
}

/** It could run, and nothing of it does or comes back by itself: why not? */
const stands = (j) => !(j.tasks_never > 0) && j.valid && j.enabled && !j.paused && ['running', 'waiting', 'open'].includes(j.state) && of(j, 'ready') > 0 && of(j, 'running') + of(j, 'waiting') === 0;
const MOST_ASKED = 10;

/** Why jobs stand still, by name; only those that do are asked about. */
function useStanding(jobs) {
  const names = (jobs ?? []).filter(stands).slice(0, MOST_ASKED).map((j) => j.name);
  const { data } = useData(async (signal) => Object.fromEntries(await Promise.all(names.map(async (name) => [name, await maybe(['jobs', name, 'waiting'], {}, signal)]))), ['standing', names], { every: 4000, keep: true });
  const why = {};
  names.forEach((name) => {
    const never = data?.[name]?.reasons.filter((r) => r.never) ?? [];
    if (never.length > 0) why[name] = { never: never.reduce((n, r) => n + r.count, 0), all: never.length === data[name].reasons.length, reason: never[0] };
  });
  return why;
}

/** Only of what gets on: a rate of the last minute says nothing of a job that has come to rest since. */
export function timeLeft(job) {
  if (['stopped', 'paused', 'halted', 'stuck'].includes(job.state)) return job.state;
  return !job.progress || ['failed', 'disabled', 'invalid'].includes(job.state) || finished(job) || of(job, 'running') + of(job, 'waiting') === 0 ? '–' : seconds(job.seconds_left);
}

export function JobBadges({ job }) {
  return t.span({ class: 'badges' },
    !job.valid && c(Badge, { kind: 'bad' }, 'invalid'),
    job.valid && job.warning && c(Badge, { kind: 'warn', title: job.warning }, 'warning'),
    !job.enabled && c(Badge, null, 'disabled'),
    job.state === 'verifying' && c(Badge, { title: job.state_reason }, 'verifying'),
    job.state === 'open' && c(Badge, { title: 'It never ends by itself' }, 'open'),
    job.state === 'failed' && c(Badge, { kind: 'bad', title: job.state_reason }, 'failed'),
    job.state === 'halted' && c(Badge, { kind: 'bad', title: job.state_reason }, 'halted'),
    job.state === 'stuck' && c(Badge, { kind: 'bad', title: job.state_reason }, 'stuck'),
    job.state === 'succeeded' && c(Badge, { kind: 'good', title: job.state_reason }, 'succeeded'),
    job.paused && c(Badge, { kind: 'warn', title: job.pause?.reason ?? job.pause_reason }, job.state === 'stopped' || job.pause?.stopped ? 'stopped' : 'paused'),
    job.past_deadline && c(Badge, { kind: 'bad' }, 'past its deadline'),
    job.state === undefined && job.enabled && job.valid && finished(job) && (of(job, 'failed') > 0 ? c(Badge, { kind: 'bad' }, 'ended with failures') : c(Badge, { kind: 'good' }, 'finished')));
}

function Row({ job, why }) {
  const p = job.progress;
  return t.li({ class: cls('job', (!job.valid || job.state === 'failed' || job.state === 'stuck' || job.state === 'halted' || why || (p?.failed > 0 && job.state !== 'succeeded')) && 'hurt', job.paused && 'is-paused') },
    t.div({ class: 'job-name' },
      t.a({ href: jobLink(job.name), 'data-row': true, dir: 'auto', title: job.name }, job.name),
      c(JobBadges, { job }), why && job.state !== 'stuck' && c(Badge, { kind: 'bad', title: why.reason.message }, `${count(why.never)} can never start`),
      t.span({ class: 'soft' }, t.span({ dir: 'auto' }, job.owner), job.owner ? ' · ' : '', 'on ', t.span({ dir: 'auto' }, job.level),
        job.depends_on.length > 0 && t.span(' · after ', t.span({ dir: 'auto' }, job.depends_on.slice(0, 3).join(', ')), job.depends_on.length > 3 && ` and ${count(job.depends_on.length - 3)} more`),
        job.max_concurrent && ` · at most ${count(job.max_concurrent)} at once`, job.complete_by_ms && t.span(' · by ', c(At, { ms: job.complete_by_ms })))),
    t.div({ class: 'job-progress' },
      c(Bar, { states: p, total: p?.total, label: job.name, words: wordsOf(job) }),
      job.problem ? t.p({ class: 'job-problem' }, job.problem) : c(Counts, { states: p, words: wordsOf(job) }),
      why && job.state !== 'stuck' && t.p({ class: 'job-problem' }, t.span({ dir: 'auto' }, why.reason.message)),
      (job.state === 'stuck' || job.state === 'halted') && t.p({ class: 'job-problem' }, job.state === 'stuck' ? 'Stuck: ' : 'Halted ', t.span({ dir: 'auto' }, job.state_reason)), !job.problem && job.warning && t.p({ class: 'job-warning' }, job.warning)),
    t.dl({ class: 'job-figures' },
      t.div(t.dt('Done'), t.dd(share(p?.done ?? 0, p?.total ?? 0) || '–')),
      t.div(t.dt('Rate'), t.dd(rate(job.rate_per_second))),
      t.div(t.dt('Time left'), t.dd(timeLeft(job)))));
}

function sum(jobs) {
  const all = { total: 0, rate: 0 };
  for (const [k] of STATES) all[k] = 0;
  for (const j of jobs) {
    for (const [k] of STATES) all[k] += of(j, k);
    all.total += of(j, 'total');
    all.rate += j.rate_per_second ?? 0;
  }
  return all;
}

function Total({ jobs, activity }) {
  const all = useMemo(() => sum(jobs), [jobs]);
  const attention = jobs.filter(needsAttention).length;
  const tile = (label, value, note, kind, href) => t.li({ class: cls('tile', kind) },
    t.span({ class: 'tile-label' }, label), href ? t.a({ class: 'tile-value', href }, value) : t.span({ class: 'tile-value' }, value), t.span({ class: 'tile-note' }, note || ''));
  return t.section({ class: 'total', 'aria-label': 'All jobs together' },
    t.ul({ class: 'tiles' },
      attention > 0 ? tile('Need attention', count(attention), `of ${plural(jobs.length, 'job')}`, 'is-bad', to([], { show: 'attention' })) : tile('Jobs', count(jobs.length), all.waiting > 0 ? 'tasks back off' : 'none needs attention'),
      tile('Running', compact(all.running), jobs.some((j) => j.rate_per_second !== undefined) && rate(all.rate), 'is-running'),
      tile('Done', share(all.done, all.total) || '–', `${compact(all.done)} of ${compact(all.total)}`, 'is-done'),
      tile('Backing off', compact(all.waiting), all.waiting > 0 ? 'tried again by itself' : '', all.waiting > 0 && 'is-waiting'),
      tile('Failed', compact(all.failed), all.failed > 0 ? 'until forgiven or rerun' : '', all.failed > 0 && 'is-bad')),
    c(Bar, { states: all, total: all.total, tall: true, label: 'all jobs' }),
    t.ul({ class: 'legend', 'aria-label': 'Colours' }, STATES.map(([k, word]) => t.li({ key: k, class: `k-${k}` }, word))),
    c(Hour, { activity, label: 'all jobs' }));
}

function Errors() {
  const { data } = useData((signal) => get(['problems'], {}, signal), ['problems'], { every: 3000 });
  const errors = data ? [...data.errors.filter((e) => e.source !== 'configuration').map((e) => [e.source, e.message]), ...data.problems.filter((p) => p.severity === 'error' || p.path === 'workers').map((p) => [p.path, p.message])] : [];
  if (errors.length === 0) return null;
  return t.section({ class: 'errors', 'aria-label': 'Errors' },
    t.ul(errors.slice(0, 3).map(([where, what], i) => t.li({ key: i }, c(Icon, { name: 'warn' }), t.span(t.b({ dir: 'auto' }, where), ' ', t.span({ dir: 'auto' }, what))))),
    t.a({ href: '#/problems' }, errors.length > 3 ? `All ${count(errors.length)} problems` : 'Problems'));
}

export function Overview({ route }) {
  const { data, error, again } = useData((signal) => get(['jobs'], {}, signal), ['jobs']);
  const q = route.query.get('q') ?? '';
  const show = route.query.get('show') ?? '';
  const sort = route.query.get('sort') ?? 'attention';
  const page = Number(route.query.get('page') ?? 0) || 0;
  const list = useRef(null);
  const set = route.query.get('set') ?? '';
  const sets = [...new Set((data?.jobs ?? []).map((j) => j.set).filter(Boolean))].sort();
  const jobs = useMemo(() => data?.jobs.filter((j) => !set || j.set === set), [data, set]);
  standing = useStanding(jobs);
  const activity = useActivity();
  const known = Object.keys(standing).join();
  const chosen = useMemo(() => {
    if (!jobs) return [];
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = (SHOW.find(([id]) => id === show) ?? SHOW[0])[2];
    return jobs.filter((j) => wanted(j) && words.every((w) => j.name.toLowerCase().includes(w) || (j.owner ?? '').toLowerCase().includes(w)
      || Object.entries(j.labels ?? {}).some(([name, value]) => `${name}=${value}`.toLowerCase().includes(w))))
      .sort((SORT[sort] ?? SORT.attention)[1]);
  }, [jobs, q, show, sort, known]);
  useEffect(() => { if (page > 0) list.current?.scrollIntoView({ block: 'start' }); }, [page]);
  const pages = Math.max(1, Math.ceil(chosen.length / SIZE));
  const at = Math.min(page, pages - 1);
  return t.div({ class: 'page' },
    c(Title, { actions: may('admin') && t.a({ class: 'button', href: '#/new' }, 'New job') }, 'Jobs'),
    c(Failure, { error, retry: again }),
    c(Errors),
    !jobs ? !error && c(Waiting) : data.jobs.length === 0
      ? c(Empty, { title: 'No jobs yet' }, 'A job is an entry ', t.code('bistro_job->NAME'), ' of the configuration.')
      : t.div(
        c(Total, { jobs, activity }),
        c(Stragglers, { activity }),
        t.div({ class: 'toolbar', ref: list },
          c(Search, { value: q, label: 'Filter jobs', placeholder: 'Filter by name, owner or label', change: (v) => refine({ q: v, page: '' }) }),
          t.div({ class: 'chips', role: 'group', 'aria-label': 'Show' }, SHOW.map(([id, word, test]) => {
            const n = id === '' ? jobs.length : jobs.filter(test).length;
            return (n > 0 || id === show || id === '') && t.button({ key: id, type: 'button', class: 'chip', 'aria-pressed': id === show ? 'true' : 'false',
              onClick: () => refine({ show: id, page: '' }) }, word, ' ', t.small(count(n)));
          })),
          (sets.length > 0 || set) && c(Choice, { label: 'Set', value: set, options: [['', 'all'], ...sets.map((s) => [s, s])], change: (v) => refine({ set: v, page: '' }) }),
          c(Choice, { label: 'Sort', value: sort, options: Object.entries(SORT).map(([id, [word]]) => [id, word]), change: (v) => refine({ sort: v === 'attention' ? '' : v, page: '' }) })),
        chosen.length === 0
          ? c(Empty, { title: 'No job matches' }, t.button({ type: 'button', onClick: () => refine({ q: '', show: '', set: '', page: '' }) }, 'Show all'))
          : t.ol({ class: 'jobs', 'aria-label': plural(chosen.length, 'job') }, chosen.slice(at * SIZE, (at + 1) * SIZE).map((job) => c(Row, { key: job.name, job, why: whyNever(job) }))),
        c(Pager, { page: at, size: SIZE, total: chosen.length, turn: (n) => refine({ page: n || '' }) })));
}
