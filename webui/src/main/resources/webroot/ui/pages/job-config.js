// A job's configuration: look, edit, check, see what would change, save, create; and the versions that were.
import { t, c, cls, useEffect, useMemo, useRef, useState } from '../dom.js';
import { ApiError, may, maybe, post, request } from '../api.js';
import { useData } from '../live.js';
import { Ago, At, Badge, Copy, Empty, Failure, Icon, Panel, ProblemList, Waiting } from '../parts.js';
import { ask } from '../dialogs.js';
import { command } from '../shell.js';
import { diff, folded } from '../diff.js';
import { go } from '../route.js';
import { count, plural, seconds, time } from '../format.js';

export const text = (json) => `${JSON.stringify(json, null, 2)}\n`;

export function parsed(source) {
  try {
    const value = JSON.parse(source);
    return value && typeof value === 'object' && !Array.isArray(value) ? { value } : { problem: 'A job is one JSON object.' };
  } catch (e) {
    return { problem: `This is not JSON: ${e.message}` };
  }
}

/** Chooses a line of the editor. */
function show(area, line) {
  const lines = area.value.split('\n');
  const from = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
  area.focus();
  area.setSelectionRange(from, from + (lines[line - 1] ?? '').length);
  area.scrollTop = area.scrollHeight * (line - 4) / lines.length;
}


/** Peaks and ends that change, one sentence each. */
function forecast(expected) {
  if (!expected) return [];
  const use = (u) => u ? `${count(u.used)} of ${count(u.slots)} slots` : 'no slots';
  const end = (eta) => !eta ? 'nothing left' : eta.p50_seconds === undefined ? 'end unknown'
    : `${seconds(eta.p50_seconds)} to ${seconds(eta.p90_seconds)} left${eta.never > 0 ? `, ${count(eta.never)} never` : ''}`;
  return [
    ...expected.peaks.map((p) => [`${p.level}.${p.resource}: at most`, use(p.now), use(p.then)]),
    ...expected.ends.map((e) => [`${e.job}:`, end(e.now), end(e.then)]),
  ].map(([what, now, then]) => now === then ? `${what} ${now}` : `${what} ${now} now, ${then} then`);
}

/** What a plan says, in short: {text, samples: peaks and ends, many: whether it deserves a second look}. */
export function effect(plan) {
  if (!plan.impact) return { text: `What it would do is not known: ${plan.uncounted ?? 'it has errors'}.` };
  const i = plan.impact;
  const parts = [`${plural(i.tasks_added, 'task')} new, ${count(i.tasks_removed)} gone.`];
  if (i.orphans > 0) parts.push(`${plural(i.orphans, 'running task')} would be orphaned, ${count(i.orphan_kills)} of them killed.`);
  if (i.over_limit > 0) parts.push(`${plural(i.over_limit, 'node')} would go over the limit, at most ${plural(i.over_limit_kills, 'task')} killed for it.`);
  const left = i.jobs.reduce((n, job) => n + job.statuses_left, 0);
  if (left > 0) parts.push(`${count(left)} stored statuses would stay behind.`);
  i.never.forEach((problem) => parts.push(`${problem.message}.`));
  return { text: parts.join(' '), samples: forecast(plan.forecast), many: Object.keys(plan.consent).length > 0 };
}

/** Asks once what saving would do; saving does not depend on the answer. */
export function planned(config, prune = false) {
  let answer = null;
  return () => {
    answer ??= post(['plans'], { config, prune }).then(effect, (e) => ({ text: `What it would do cannot be told: ${e.message}` }));
    return answer;
  };
}

function Diff({ before, after, label }) {
  const lines = useMemo(() => folded(diff(before, after)), [before, after]);
  const added = lines.filter((l) => l?.[0] === '+').length;
  const removed = lines.filter((l) => l?.[0] === '-').length;
  if (added + removed === 0) return t.p({ class: 'soft' }, 'Nothing changes.');
  return t.div({ class: 'diff', role: 'region', tabIndex: 0, 'aria-label': `${label}: ${plural(added, 'line')} added, ${removed} removed` },
    lines.map((l, i) => l === null ? t.div({ key: i, class: 'fold', 'aria-hidden': 'true' }, '⋯')
      : t.div({ key: i, class: l[0] === '+' ? 'add' : l[0] === '-' ? 'del' : '' }, t.span({ class: 'sign' }, l[0]), t.code(l[1]))));
}

/** What was written and not saved, kept in this tab until it is saved or discarded: {text, base, tag}. */
export function useDraft(job) {
  const key = `espalier.draft ${new URL('.', document.baseURI).pathname} ${job}`;
  const [draft, setDraft] = useState(() => { try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; } });
  const keep = (next) => {
    setDraft(next);
    try { next ? sessionStorage.setItem(key, JSON.stringify(next)) : sessionStorage.removeItem(key); } catch { /* Only while this page is open. */ }
  };
  return [draft, keep];
}

/** What the scheduler says of a text for a job, asked while somebody writes; null for a text that is not JSON, or none. */
export function useCheck(name, source, broken) {
  const [checked, setChecked] = useState(null);
  useEffect(() => {
    if (source === null || broken) { setChecked(null); return undefined; }
    const control = new AbortController();
    const id = setTimeout(async () => {
      try {
        const r = await request('POST', ['jobs', name, 'validate'], { body: source, text: true, signal: control.signal });
        setChecked(await r.json());
      } catch (e) {
        if (!control.signal.aborted) setChecked(e instanceof ApiError && e.missing ? { unknown: true } : { failed: e.message });
      }
    }, 400);
    return () => { clearTimeout(id); control.abort(); };
  }, [name, source, Boolean(broken)]);
  return checked;
}

/** A text for a job with what is wrong with it; `problem` is known here, `checked` is what the scheduler says. */
export function Editor({ area, source, problem, checked, change }) {
  return t.div({ class: 'editor' },
    t.textarea({ ref: area, class: 'config', spellcheck: false, rows: Math.min(40, source.split('\n').length + 2), value: source, 'aria-label': 'Configuration', 'aria-invalid': problem || checked?.valid === false ? 'true' : 'false', 'aria-describedby': 'config-check',
      onInput: (e) => change(e.target.value) }),
    t.div({ id: 'config-check', role: 'status' },
      problem ? t.p({ class: 'failure' }, c(Icon, { name: 'warn' }), t.span(problem))
        : checked?.failed ? t.p({ class: 'failure' }, c(Icon, { name: 'warn' }), t.span(checked.failed))
          : checked?.problems?.length > 0 ? c(ProblemList, { problems: checked.problems, toLine: (line) => show(area.current, line) })
            : checked?.valid ? t.p({ class: 'valid' }, c(Icon, { name: 'check' }), ' Checked by the scheduler: no problems.') : null));
}

export function Config({ job }) {
  const [kept, keep] = useDraft(job.name);
  const draft = kept?.text ?? null;
  const base = kept?.base;
  const [just, setJust] = useState(null);
  // What was saved a moment ago is not in force yet.
  const coming = just && just.version > job.version ? just : null;
  const saved = useMemo(() => text(coming?.config ?? job.original), [JSON.stringify(coming?.config ?? job.original)]);
  const area = useRef(null);
  const source = draft ?? saved;
  const read = useMemo(() => parsed(source), [source]);
  const checked = useCheck(job.name, draft, read.problem);
  const changed = draft !== null && draft.trim() !== (base ?? saved).trim();
  const edit = async () => {
    // The version this edit is based on: a save on top of somebody else's is refused.
    const response = await request('GET', ['jobs', job.name]);
    const fresh = text((await response.json()).original);
    keep({ text: fresh, base: fresh, tag: response.headers.get('ETag') });
    setTimeout(() => area.current?.focus(), 0);
  };
  const save = () => ask({
    title: `Save ${job.name}`, text: 'It is in force about half a second later.', button: 'Save',
    fields: [{ name: 'author', label: 'Your name', hint: 'For the history of the job.' }],
    preview: planned({ [`bistro_job->${job.name}`]: read.value }),
    cli: ({ reason }) => command(['save-job', job.name, `${job.name.replaceAll(/[^\w.-]/g, '_')}.json`], { 'version-id': job.version, reason }),
    act: async ({ reason, author }) => {
      try {
        const answer = await request('PUT', ['jobs', job.name], { body: read.value, query: { author, reason }, headers: kept.tag ? { 'If-Match': kept.tag } : {} });
        setJust(await answer.json());
      } catch (e) {
        if (e instanceof ApiError && e.status === 412) throw new Error('Somebody else has saved this job since you began. Copy your text, discard it, and edit again.');
        throw e;
      }
      keep(null);
      return `${job.name} is saved`;
    },
  });
  const remove = () => ask({
    title: `Delete ${job.name}`, text: 'Statuses of its tasks stay; tasks that run become orphans.', button: 'Delete', danger: true, preview: planned({ [`bistro_job->${job.name}`]: null }), cli: ({ reason }) => command(['delete-job', job.name], { reason }),
    act: async ({ reason }) => { await request('DELETE', ['jobs', job.name], { query: { reason } }); go('#/'); return `${job.name} is deleted`; },
  });
  const wrong = read.problem || checked?.valid === false;
  return t.div(
    c(Panel, { title: draft === null ? 'As it was written' : 'Edit', id: 'h-config', note: draft === null ? coming && c(Badge, { kind: 'warn' }, 'saved, in force in a moment') : changed ? 'not saved; it stays in this tab' : 'no changes',
      actions: draft === null && !may('admin') ? c(Copy, { text: saved }) : may('admin') && (draft === null
        ? [c(Copy, { key: 'c', text: saved }), t.button({ key: 'e', type: 'button', onClick: edit }, c(Icon, { name: 'edit' }), 'Edit'), t.button({ key: 'd', type: 'button', class: 'danger', onClick: remove }, 'Delete')]
        : [t.button({ key: 'x', type: 'button', onClick: () => keep(null) }, 'Discard'), t.button({ key: 's', type: 'button', class: 'primary', disabled: !changed || Boolean(wrong), onClick: save }, 'Save …')]) },
    draft === null
      ? t.pre({ class: 'config', tabIndex: 0, 'aria-label': 'Configuration' }, saved)
      : c(Editor, { area, source, problem: read.problem, checked, change: (next) => keep({ ...kept, text: next }) })),
    draft !== null && !read.problem && changed && c(Panel, { title: 'What would change', id: 'h-diff' }, c(Diff, { before: base ?? saved, after: text(read.value), label: 'What would change' })),
    job.problems?.length > 0 && draft === null && c(Panel, { title: 'Problems', id: 'h-config-problems' }, c(ProblemList, { problems: job.problems })),
    c(Panel, { title: 'In effect', id: 'h-effective', note: 'with everything that is inherited' },
      t.details(t.summary('Show'), c(Copy, { text: text(checked?.effective ?? job.effective) }), t.pre({ class: 'config', tabIndex: 0, 'aria-label': 'Effective configuration' }, text(checked?.effective ?? job.effective)))));
}

const VERSIONS = 20;
const MOST_VERSIONS = 1000;

/** What saving writes into a job, whatever was changed. */
const STAMPS = ['version_id', 'create_time', 'modify_time'];
const unstamped = (job) => text(Object.fromEntries(Object.entries(job).filter(([key]) => !STAMPS.includes(key))));

export function History({ job }) {
  const [shown, setShown] = useState(VERSIONS);
  // One more than is shown: the oldest that is shown is compared with it.
  const { data, error } = useData((signal) => maybe(['jobs', job.name, 'history'], { order: 'desc', limit: Math.min(MOST_VERSIONS, shown + 1) }, signal), ['history', job.name, shown], { every: 3000, keep: true });
  if (data === null) return c(Empty, { title: 'No history' }, 'This configuration comes from where versions are not kept.');
  if (!data) return error ? c(Failure, { error }) : c(Waiting);
  if (data.versions.length === 0) return c(Empty, { title: 'No versions yet' }, 'Each time the job is saved here, by the command line or through the API, it becomes a version.');
  // The page may know the job as it was a moment ago; the newest version is what is replaced.
  const versions = data.versions;
  const newest = versions[0];
  const back = (v) => ask({
    title: `Roll ${job.name} back to version ${v.version}`, text: 'What the job was then is saved as its next version.', button: 'Roll back',
    cli: ({ reason }) => command(['save-job', job.name], { 'back-to': v.version, reason }),
    more: () => c(Diff, { before: unstamped(newest.config ?? job.original), after: unstamped(v.config), label: 'What changes' }),
    act: async ({ reason }) => { const r = await post(['jobs', job.name, 'rollback'], { version: v.version, ...(reason ? { reason } : {}) }); return `${job.name} is as in version ${v.version}, saved as ${r.version}`; },
  });
  return c(Panel, { title: 'Versions', id: 'h-history' }, t.ol({ class: 'versions' }, versions.slice(0, shown).map((v, i) => t.li({ key: v.version, class: cls(i === 0 && 'current') },
    t.div({ class: 'version-head' }, t.strong(`Version ${v.version}`), i === 0 && c(Badge, { kind: 'good' }, 'newest'), v.deleted && c(Badge, { kind: 'bad' }, 'deleted'),
      t.span({ class: 'soft' }, c(At, { ms: v.at_ms }), ' (', c(Ago, { ms: v.at_ms }), ')', v.author && t.span(' by ', t.span({ dir: 'auto' }, v.author)), v.reason && t.span(': ', t.span({ dir: 'auto' }, v.reason))),
      i > 0 && v.config && may('admin') && t.button({ type: 'button', class: 'small', onClick: () => back(v) }, 'Roll back')),
    v.config && t.details(t.summary(versions[i + 1]?.config ? 'What it changed' : 'The job'),
      versions[i + 1]?.config ? c(Diff, { before: unstamped(versions[i + 1].config), after: unstamped(v.config), label: `Version ${v.version}` }) : t.pre({ class: 'config', tabIndex: 0 }, text(v.config)))))),
  versions.length > shown && t.nav({ class: 'pager', 'aria-label': 'More' }, t.button({ type: 'button', onClick: () => setShown(Math.min(MOST_VERSIONS, shown + 5 * VERSIONS)) }, 'Show more')));
}

