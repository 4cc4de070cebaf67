// The last hour: what started and ended in each minute.
import { t, c } from './dom.js';
import { maybe } from './api.js';
import { useData } from './live.js';
import { jobLink, taskLink } from './route.js';
import { Ago } from './parts.js';
import { count, millis, plural, time } from './format.js';

const HIGH = 100;
/** Steps to which the scale is rounded up, so that it does not jump with every minute. */
const STEPS = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];

function ceiling(most) {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return Math.max(4, power * STEPS.find((s) => s * power >= most));
}

/** What a job, or all of them, did in the last hour; null of a server that does not tell. */
export function useActivity(job) {
  return useData((signal) => maybe(['activity'], job ? { job } : {}, signal), ['activity', job ?? ''], { every: 5000, keep: !job }).data;
}

/** Ends as bars, of which errors are another colour, and starts as a line above them; nothing before anything has happened. */
export function Hour({ activity, label }) {
  if (!activity || !activity.starts.some((n, i) => n + activity.ends[i] > 0)) return null;
  const { starts, ends, errors, from_ms: from } = activity;
  const top = ceiling(Math.max(...starts, ...ends));
  const high = (n) => HIGH * n / top;
  const line = starts.slice(0, -1).map((n, i) => `${i + 0.5},${HIGH - high(n)}`).join(' ');
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const all = `${plural(sum(starts), 'start')}, ${plural(sum(ends), 'end')}, ${plural(sum(errors), 'of them an error', 'of them errors')}`;
  return t.figure({ class: 'hour' },
    t.figcaption(t.span('Per minute, in the last hour'), t.span({ class: 'k-done' }, 'ends'), t.span({ class: 'k-failed' }, 'errors'), t.span({ class: 'is-line' }, 'starts'), t.span({ class: 'hour-sum' }, all)),
    t.div({ class: 'hour-plot' },
      t.svg({ viewBox: `0 0 ${starts.length} ${HIGH}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${label}: in the last hour ${all}; at most ${count(Math.max(...ends))} ends in a minute` },
        ends.map((n, i) => t.g({ key: from + i * 60000, class: i === ends.length - 1 ? 'is-open' : undefined },
          t.rect({ class: 'minute', x: i, y: 0, width: 1, height: HIGH }, t.title(`${time(from + i * 60000).slice(0, -3)}: ${plural(starts[i], 'start')}, ${plural(n, 'end')}, ${plural(errors[i], 'error')}`)),
          n > errors[i] && t.rect({ class: 'is-end', x: i + 0.1, y: HIGH - high(n), width: 0.8, height: high(n - errors[i]) }),
          errors[i] > 0 && t.rect({ class: 'is-error', x: i + 0.1, y: HIGH - high(errors[i]), width: 0.8, height: high(errors[i]) }))),
        t.polyline({ points: line, 'vector-effect': 'non-scaling-stroke' })),
      t.span({ class: 'hour-top', 'aria-hidden': 'true' }, count(top))),
    t.div({ class: 'hour-scale', 'aria-hidden': 'true' }, t.span(time(from).slice(0, -3)), t.span(time(from + 30 * 60000).slice(0, -3)), t.span('now')));
}

const WIDE = 1000;

/** A number over time, as things are and with a change. @param now @param then {ms, values}; no `then`: nothing changes */
export function Course({ title, now, then }) {
  const both = then ? [now, then] : [now];
  const last = (of) => of.ms[of.ms.length - 1] ?? 0;
  const whole = Math.max(1, ...both.map(last));
  const most = Math.max(...both.flatMap((of) => of.values));
  const top = ceiling(most);
  // Steps: between two samples nothing has happened, or too little to be kept.
  const line = (of) => of.ms.map((ms, i) => {
    const x = WIDE * ms / whole;
    const y = (n) => HIGH - HIGH * n / top;
    return `${i > 0 ? `${x},${y(of.values[i - 1])} ` : ''}${x},${y(of.values[i])}`;
  }).join(' ');
  const words = (of) => `at most ${count(Math.max(...of.values))}, ${count(of.values[of.values.length - 1])} after ${millis(last(of))}`;
  return t.figure({ class: 'hour course' },
    t.figcaption(t.strong(title), t.span({ class: 'is-now' }, 'as things are'), then && t.span({ class: 'is-then' }, 'with the change')),
    t.div({ class: 'hour-plot' },
      t.svg({ viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${title}: as things are ${words(now)}${then ? `; with the change ${words(then)}` : ''}` },
        t.polyline({ class: 'is-now', points: line(now), 'vector-effect': 'non-scaling-stroke' }),
        then && t.polyline({ class: 'is-then', points: line(then), 'vector-effect': 'non-scaling-stroke' })),
      t.span({ class: 'hour-top', 'aria-hidden': 'true' }, count(top))),
    t.div({ class: 'hour-scale', 'aria-hidden': 'true' }, t.span('now'), t.span(millis(whole / 2)), t.span(millis(whole))));
}

/** Tasks of all jobs that run far longer than those before them; nothing while there are none. */
export function Stragglers({ activity }) {
  if (!activity?.stragglers_total) return null;
  const shown = activity.stragglers.slice(0, 5);
  return t.section({ class: 'panel stragglers', 'aria-labelledby': 'h-stragglers' },
    t.header(t.h2({ id: 'h-stragglers' }, 'Run far longer than usual'), t.span({ class: 'note' }, plural(activity.stragglers_total, 'task'))),
    t.ul({ class: 'problems' }, shown.map((s) => t.li({ key: `${s.job} ${s.node}` }, t.a({ class: 'name', href: taskLink(s.job, s.node), dir: 'auto' }, s.node),
      t.span(t.a({ href: jobLink(s.job), dir: 'auto' }, s.job), t.span({ class: 'soft' }, ' · began ', c(Ago, { ms: s.started_at_ms }), `; 95 % of them took at most ${millis(s.usual_ms)}`))))),
    activity.stragglers_total > shown.length && t.p({ class: 'soft' }, `and ${plural(activity.stragglers_total - shown.length, 'more', 'more')}`));
}
