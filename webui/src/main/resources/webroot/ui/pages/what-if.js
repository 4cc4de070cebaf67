// What a change would do to the ends of jobs. Beside the scheduler, a process of its own simulates it; nothing changes.
import { t, c, useEffect, useRef, useState } from '../dom.js';
import { get, may, request } from '../api.js';
import { useData } from '../live.js';
import { jobLink, nodeLink } from '../route.js';
import { At, Empty, Failure, Names, Panel, Waiting } from '../parts.js';
import { Field } from '../dialogs.js';
import { Cli, command } from '../shell.js';
import { Course } from '../charts.js';
import { count, millis, plural } from '../format.js';
import { levelResources } from './limits.js';

const HORIZONS = [['1d', '1 day'], ['7d', '7 days'], ['31d', '31 days'], ['366d', '366 days']];
const RUNS = [['1', '1, the quickest'], ['3', '3'], ['5', '5'], ['20', '20']];
const DAY = 86400;
const MOST_JOBS = 50;

const key = (r) => `${r.level}.${r.resource}`;

/** The other parameters of the job, each as `JOB.KEY=VALUE`. */
function parameters(v, job, resources) {
  const need = resources.find((r) => key(r) === v.need);
  const given = [['enabled', v.enabled], ['max_concurrent', v.concurrent], ['priority', v.priority]].filter(([, value]) => value !== '');
  if (need) given.push([`resources.${need.resource}`, v.needed]);
  return given.map(([name, value]) => `${job.name}.${name}=${value}`);
}

/** The changes as `espalier simulate` takes them. @param v the fields @param of {job, resources} */
function changes(v, { job, resources }) {
  const changed = resources.find((r) => key(r) === v.resource);
  const node = v.node.trim();
  const workers = Math.trunc(Number(v.workers));
  return {
    set: changed ? [`${changed.level}${node && `/${node}`}.${changed.resource}=${v.limit}`] : [],
    brake: v.braked.trim() ? [`${v.braked.trim()}=${v.share === '' ? '' : Number(v.share) / 100}`] : [],
    resume: v.resume ? [job.name] : [],
    job: parameters(v, job, resources),
    workers,
  };
}

const signed = (n) => n > 0 ? `+${n}` : `${n}`;

function body(v, of) {
  const { set, brake, resume, job, workers } = changes(v, of);
  return {
    ...(set.length ? { set } : {}), ...(brake.length ? { brake } : {}), ...(resume.length ? { resume } : {}), ...(job.length ? { job } : {}), ...(workers ? { workers } : {}),
    horizon_seconds: DAY * parseInt(v.horizon, 10), runs: Number(v.runs), ...(v.assume ? { assume_seconds: Number(v.assume) } : {}),
  };
}

function shell(v, of) {
  const { set, brake, resume, job, workers } = changes(v, of);
  return command(['simulate'], { set, brake, resume, job, workers: workers ? signed(workers) : '', horizon: v.horizon, assume: v.assume && `${v.assume}s`, runs: v.runs });
}

export function WhatIf({ job }) {
  const { data: settings, error } = useData((signal) => get(['settings'], {}, signal), ['settings'], { every: 10000 });
  if (!may('operator')) return c(Empty, { title: 'Only operators simulate' }, 'It costs a processor up to a minute.');
  return settings ? c(Ask, { job, resources: levelResources(settings) }) : t.div(c(Failure, { error }), !error && c(Waiting));
}

function Ask({ job, resources }) {
  const [values, setValues] = useState({ resource: '', node: '', limit: '', braked: '', share: '', workers: '', resume: job.paused === true, enabled: '', concurrent: '', priority: '', need: '', needed: '', horizon: '7d', assume: '', runs: '3' });
  const [state, setState] = useState({});
  const control = useRef(null);
  useEffect(() => () => control.current?.abort(), []);
  const field = (name, label, more) => c(Field, { field: { name: `what-if-${name}`, label, ...more }, value: values[name], change: (v) => setValues((old) => ({ ...old, [name]: v })) });
  const simulate = async (e) => {
    e.preventDefault();
    control.current?.abort();
    const mine = new AbortController();
    control.current = mine;
    setState({ busy: true });
    try {
      const answer = await request('POST', ['what-if'], { body: body(values, { job, resources }), signal: mine.signal });
      const forecast = await answer.json();
      if (!mine.signal.aborted) setState({ forecast });
    } catch (error) {
      if (!mine.signal.aborted) setState({ error });
    }
  };
  const stop = () => { control.current?.abort(); setState({}); };
  return t.div(
    c(Panel, { title: 'What if', id: 'h-what-if', note: 'the scheduler’s core runs in virtual time, from a copy of its state; nothing changes' },
      t.form({ class: 'what-if', onSubmit: simulate, noValidate: true },
        t.fieldset(t.legend('Another limit'),
          field('resource', 'Limit', { options: [['', 'as it is'], ...resources.map((r) => [key(r), `${key(r)}, configured ${count(r.limit)}`])] }),
          values.resource && field('node', 'Node', { placeholder: 'all nodes' }),
          values.resource && field('limit', 'New limit', { type: 'number', step: '1' })),
        t.fieldset(t.legend('A brake'),
          field('braked', 'On', { placeholder: 'no brake', hint: 'A node, such as host/h1, with all below it; or all.' }),
          values.braked && field('share', 'Left of the limits, in %', { type: 'number', step: 'any' })),
        t.fieldset(t.legend('Workers and pauses'),
          field('workers', 'More workers', { type: 'number', step: '1', placeholder: '0', hint: 'Each like the first one; fewer: -2.' }),
          job.paused && t.div({ class: 'field' }, t.label({ htmlFor: 'what-if-resume' }, `Without the pause of ${job.name}`),
            t.input({ id: 'what-if-resume', type: 'checkbox', checked: values.resume, onChange: (e) => setValues((old) => ({ ...old, resume: e.target.checked })) }))),
        t.fieldset(t.legend(`Other parameters of ${job.name}`),
          field('enabled', 'Enabled', { options: [['', 'as it is'], ['true', 'yes'], ['false', 'no']] }),
          field('concurrent', 'Tasks at once', { type: 'number', step: '1', placeholder: 'as it is', hint: 'max_concurrent' }),
          field('priority', 'Priority', { type: 'number', step: 'any', placeholder: 'as it is' }),
          field('need', 'A task needs', { options: [['', 'as it is'], ...resources.map((r) => [key(r), key(r)])] }),
          values.need && field('needed', 'Slots of it', { type: 'number', step: '1' })),
        t.fieldset(t.legend('How it is simulated'),
          field('horizon', 'Look ahead', { options: HORIZONS }),
          field('runs', 'Runs', { options: RUNS, hint: 'Each draws other durations.' }),
          field('assume', 'A task takes, in seconds', { type: 'number', step: '1', placeholder: 'as measured', hint: 'Of jobs of which none has ended since the scheduler began (--assume).' })),
        t.div({ class: 'buttons' },
          t.button({ type: 'submit', class: 'primary', disabled: state.busy }, 'Simulate'),
          state.busy && t.button({ type: 'button', onClick: stop }, 'Stop'),
          t.span({ role: 'status', class: 'soft' }, state.busy ? 'Simulating …' : ''))),
      c(Failure, { error: state.error }),
      c(Cli, { text: shell(values, { job, resources }) })),
    state.forecast && c(Outcome, { job, forecast: state.forecast }));
}

/** @param of an end of a job or of all; how it is said that there is none depends on the horizon */
function End({ of, complete }) {
  if (!of || of.p50_ms === undefined) return t.span({ class: 'soft' }, complete ? 'never' : 'not within that time');
  const [half, most] = [millis(of.p50_ms), of.p90_ms === undefined ? 'never' : millis(of.p90_ms)];
  return t.span(t.strong(half), most !== half && t.small(` · 90 %: ${most}`));
}

function difference(now, then) {
  const [a, b] = [now?.p50_ms, then?.p50_ms];
  if (a === undefined || b === undefined) return a === b ? '' : b === undefined ? 'does not end' : 'ends';
  return a === b ? '' : b > a ? `${millis(b - a)} later` : `${millis(a - b)} sooner`;
}

const course = (of, member) => of && { ms: of.tasks.ms, values: of.tasks[member] };

function Outcome({ job, forecast }) {
  const { now, then } = forecast;
  const shown = then ?? now;
  const begun = (name) => [now, then].some((f) => f?.jobs[name] && (f.jobs[name].p50_ms !== 0 || f.jobs[name].never > 0));
  const names = Object.keys(now.jobs).filter(begun).sort((a, b) => (b === job.name) - (a === job.name) || a.localeCompare(b));
  const row = (key, name, a, b) => t.tr({ key }, t.th({ scope: 'row' }, name), t.td(c(End, { of: a, complete: now.complete })),
    then && t.td(c(End, { of: b, complete: then.complete })), then && t.td({ class: 'nowrap' }, difference(a, b)), t.td({ class: 'num' }, count((b ?? a).never ?? 0)));
  const left = (of) => Object.values(of.jobs).reduce((sum, one) => sum + one.never, 0);
  const missed = Object.entries(shown.jobs).filter(([, one]) => one.windows_missed > 0);
  return c(Panel, { title: 'When it ends', id: 'h-outcome', note: t.span(plural(now.runs, 'run'), ' from the state at ', c(At, { ms: forecast.at_ms })) },
    t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Ends of jobs' }, t.table(
      t.thead(t.tr(t.th({ scope: 'col' }, 'Job'), t.th({ scope: 'col' }, 'Ends in, as things are'), then && t.th({ scope: 'col' }, 'With the change'), then && t.th({ scope: 'col' }, 'Difference'), t.th({ scope: 'col', class: 'num' }, 'Tasks that never end'))),
      t.tbody(names.slice(0, MOST_JOBS).map((name) => row(name, t.a({ href: jobLink(name), dir: 'auto' }, name), now.jobs[name], then?.jobs[name])),
        row('', 'All jobs', { ...now, never: left(now) }, then && { ...then, never: left(then) })))),
    names.length > MOST_JOBS && t.p({ class: 'soft' }, `and ${plural(names.length - MOST_JOBS, 'more job')}`),
    c(Course, { title: 'Tasks left', now: course(now, 'left'), then: course(then, 'left') }),
    c(Course, { title: 'Running tasks', now: course(now, 'running'), then: course(then, 'running') }),
    shown.hot_nodes.length > 0 && t.p('Busiest: ', shown.hot_nodes.slice(0, 5).map((n, i) => t.span({ key: i }, i > 0 && ', ', t.a({ href: nodeLink(n.level, n.node), class: 'name', dir: 'auto' }, `${n.node}.${n.resource}`), ` ${Math.round(100 * n.use)} %`)), '.'),
    shown.starved.length > 0 && t.p({ class: 'notice' }, 'These have tasks left and start none: ', c(Names, { names: shown.starved.slice(0, 5), link: jobLink, total: shown.starved.length }), '.'),
    missed.length > 0 && t.p({ class: 'notice' }, 'Windows that close while tasks are left: ', missed.slice(0, 5).map(([name, one], i) => t.span({ key: name, dir: 'auto' }, `${i > 0 ? ', ' : ''}${name} ${count(one.windows_missed)}`)), '.'),
    forecast.paused.length > 0 && t.p({ class: 'soft' }, 'Paused now: ', c(Names, { names: forecast.paused.slice(0, 5).map((p) => p.job), link: jobLink, total: forecast.paused.length }), '.'),
    forecast.ignored.length > 0 && t.p({ class: 'soft' }, `Not simulated: ${forecast.ignored.join('; ')}.`));
}
