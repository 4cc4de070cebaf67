// Pieces that all pages are made of.
import { t, c, cls, Fragment, useEffect, useRef, useState } from './dom.js';
import { count, share, ago, fullTime, stamp, time, workerName } from './format.js';
import { useNow } from './live.js';
import { workerLink } from './route.js';

/** States in the order of a bar, with the words for them. */
export const STATES = [
  ['done', 'done'], ['running', 'running'], ['ready', 'ready'], ['waiting', 'backing off'],
  ['blocked', 'blocked'], ['cancelled', 'cancelled'], ['failed', 'failed'],
];
const OUTSIDE = [['avoided', 'avoided'], ['disabled', 'disabled']];

/** Which state of a bar a task's status belongs to. */
const STATE_OF = {
  unstarted: 'ready', running: 'running', done: 'done', incomplete: 'ready', incomplete_backoff: 'waiting',
  error: 'waiting', error_backoff: 'waiting', failed: 'failed', cancelled: 'cancelled', never_started: 'ready', was_not_running: 'ready',
  lost: 'waiting', interrupted: 'ready', avoided: 'avoided', disabled: 'disabled',
};

export const statesText = (p, other = {}) => [...STATES, ...OUTSIDE].filter(([k]) => p?.[k] > 0)
  .map(([k, word]) => `${count(p[k])} ${other[k] ?? word}`).join(', ') || 'no tasks';

const ICONS = {
  pause: 'M7 5v14M17 5v14', play: 'M7 4l13 8-13 8z', stop: 'M6 6h12v12H6z',
  redo: 'M20 11a8 8 0 1 0-2.3 6.3M20 4v7h-7', heart: 'M12 20s-7.5-4.6-7.5-10A4.3 4.3 0 0 1 12 7.4 4.3 4.3 0 0 1 19.500 10c0 5.400-7.500 10-7.500 10z',
  kill: 'M6 6l12 12M18 6L6 18', clock: 'M12 7v5l3.500 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
  warn: 'M12 4L2.500 20h19zM12 10v5M12 17.500v.5', search: 'M10.500 4a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13zM15.500 15.500L21 21',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2.500M12 19.500V22M2 12h2.500M19.500 12H22M4.900 4.900l1.800 1.800M17.300 17.300l1.800 1.800M4.900 19.100l1.800-1.800M17.300 6.700l1.800-1.800',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z', keys: 'M3 7h18v11H3zM7 11h.01M11 11h.01M15 11h.01M8 14.500h8',
  next: 'M9 5l7 7-7 7', prev: 'M15 5l-7 7 7 7', up: 'M12 19V5M5 12l7-7 7 7', check: 'M5 12.500l5 5L19.500 7', drain: 'M4 5h16l-6 8v6l-4-2v-4z',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4', user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.500 20c1-4 4-5.500 7.500-5.500s6.500 1.500 7.500 5.500',
  dot: 'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z', copy: 'M8 8h11v12H8zM5 16V4h11',
};

export function Icon({ name }) {
  return t.svg({ class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' }, t.path({ d: ICONS[name] }));
}

/** A stacked bar of counts; its label says the same in words. */
export function Bar({ states, total, label = '', tall, quiet, words }) {
  const p = states ?? {};
  const all = total ?? STATES.reduce((sum, [k]) => sum + (p[k] ?? 0), 0);
  const parts = STATES.filter(([k]) => p[k] > 0);
  const text = `${label ? `${label}: ` : ''}${statesText(p, words)}`;
  return t.div({ class: cls('bar', tall && 'tall'), ...(quiet ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': text }), title: text },
    parts.map(([k]) => t.span({ key: k, class: `s-${k}`, style: { flexGrow: grow(p[k], all) } })));
}

// Few among many must still be seen: never narrower than a sliver.
const grow = (n, all) => Math.max(n / Math.max(all, 1), 0.004);

/** @param words other words for states, as `wordsOf` knows them for a job; @param more further counts, as [colour, count, words] */
export function Counts({ states, words = {}, more = [] }) {
  const shown = [...STATES, ...OUTSIDE].filter(([k]) => states?.[k] > 0).map(([k, word]) => [k, states[k], words[k] ?? word]).concat(more);
  if (shown.length === 0) return t.p({ class: 'counts' }, 'no tasks');
  return t.ul({ class: 'counts' }, shown.map(([k, n, word]) =>
    t.li({ key: word, class: `k-${k}` }, t.b(count(n)), ` ${word}`)));
}

export function Status({ status }) {
  return t.span({ class: cls('status', `k-${STATE_OF[status] ?? 'ready'}`) }, (status ?? '').replaceAll('_', ' '));
}

/** A worker, with the way to its page; the scheduler itself has none. */
export function WorkerName({ worker }) {
  return worker === undefined ? '–' : worker ? t.a({ href: workerLink(worker), class: 'name', dir: 'auto' }, worker) : workerName(worker);
}

export function Badge({ kind = '', children, title }) {
  return t.span({ class: cls('badge', kind), title }, children);
}

/** Used of a limit, as a small gauge. */
export function Gauge({ name, used, limit, need = 0, configured, override }) {
  const part = limit > 0 ? Math.min(1, used / limit) : used > 0 ? 1 : 0;
  const full = used + need > limit || (limit === 0 && need > 0);
  return t.span({ class: cls('gauge', full && need > 0 && 'full', part >= 1 && 'spent') },
    t.span({ class: 'gauge-name' }, name),
    t.span({ class: 'gauge-track', 'aria-hidden': 'true' }, t.span({ style: { width: `${100 * part}%` } })),
    t.span({ class: 'gauge-text' }, `${count(used)} / ${count(limit)}`, need > 0 && t.small(` needs ${count(need)}`),
      override !== undefined && t.small({ class: 'override' }, ` override of ${count(configured)}`)));
}

export function Ago({ ms }) {
  const now = useNow(5000);
  return t.time({ dateTime: fullTime(ms), title: stamp(ms) }, ago(ms, Math.max(now, Date.now())));
}

/** A moment, with day and zone on demand. */
export function At({ ms, millis, ...more }) {
  return t.time({ dateTime: fullTime(ms), title: stamp(ms), ...more }, time(ms, millis));
}

export function Panel({ title, note, actions, children, id, class: more }) {
  return t.section({ class: cls('panel', more), 'aria-labelledby': id },
    title && t.header(t.h2({ id }, title), note && t.span({ class: 'note' }, note), actions && t.div({ class: 'actions' }, actions)),
    children);
}

export function Failure({ error, retry }) {
  // That nobody answers is said once, at the head of the page.
  if (!error || error instanceof TypeError) return null;
  return t.div({ class: 'failure', role: 'alert' }, c(Icon, { name: 'warn' }), t.span(error.message),
    retry && t.button({ type: 'button', class: 'quiet', onClick: retry }, 'Try again'));
}

export function Waiting() { return t.p({ class: 'waiting', 'aria-busy': 'true' }, t.span({ class: 'spinner', 'aria-hidden': 'true' }), 'Loading …'); }

export function Empty({ title, children }) {
  return t.div({ class: 'empty' },
    t.svg({ viewBox: '0 0 64 48', 'aria-hidden': 'true' }, t.path({ d: 'M32 46V4M32 36H12V20M32 36h20V20M32 22H18V10M32 22h14V10' })),
    t.p(t.strong(title)), children && t.p(children));
}

/** Pages of a list that is already here. */
export function Pager({ page, size, total, turn }) {
  const pages = Math.max(1, Math.ceil(total / size));
  if (pages === 1) return null;
  return t.nav({ class: 'pager', 'aria-label': 'Pages of the list' },
    t.button({ type: 'button', disabled: page <= 0, onClick: () => turn(page - 1), 'data-key': '[' }, c(Icon, { name: 'prev' }), 'Previous'),
    t.span(`${count(page * size + 1)} – ${count(Math.min(total, (page + 1) * size))} of ${count(total)}`),
    t.button({ type: 'button', disabled: page >= pages - 1, onClick: () => turn(page + 1), 'data-key': ']' }, 'Next', c(Icon, { name: 'next' })));
}

/** Pages of a list that the server cuts, with `useCursor`. */
export function CursorPager({ cursor, next, back = 'Previous', on = 'Next' }) {
  if (!cursor.after && !next) return null;
  return t.nav({ class: 'pager', 'aria-label': 'Pages of the list' },
    t.button({ type: 'button', disabled: !cursor.after, onClick: cursor.back, 'data-key': '[' }, c(Icon, { name: 'prev' }), back),
    t.span(`Page ${count(cursor.page)}`),
    t.button({ type: 'button', disabled: !next, onClick: () => cursor.next(next), 'data-key': ']' }, on, c(Icon, { name: 'next' })));
}

/** A filter that does not search at every key. */
export function Search({ value, change, label, placeholder }) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value !== sent.current) { sent.current = value; setText(value); }
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return undefined;
    const id = setTimeout(() => { sent.current = text; change(text); }, 180);
    return () => clearTimeout(id);
  }, [text]);
  return t.label({ class: 'search' }, c(Icon, { name: 'search' }), t.span({ class: 'hidden' }, label),
    t.input({ type: 'search', value: text, placeholder: placeholder ?? label, 'data-search': true, autocomplete: 'off', spellcheck: false,
      onInput: (e) => setText(e.target.value) }));
}

/** @param options as [value, word]; those of a group as [its name, options] */
export function Choice({ label, value, options, change }) {
  const option = ([v, word]) => Array.isArray(word) ? t.optgroup({ key: v, label: v }, word.map(option)) : t.option({ key: v, value: v, selected: v === value }, word);
  return t.label({ class: 'choice' }, t.span(label), t.select({ value, onChange: (e) => change(e.target.value) }, options.map(option)));
}

/** Puts a text on the clipboard. */
export function Copy({ text, label = 'Copy' }) {
  const [did, setDid] = useState('');
  const copy = async () => {
    try { await navigator.clipboard.writeText(text); setDid('Copied'); } catch { setDid('Not allowed by the browser'); }
    setTimeout(() => setDid(''), 2000);
  };
  return t.button({ type: 'button', class: 'small', onClick: copy }, c(Icon, { name: 'copy' }), t.span({ role: 'status' }, did || label));
}

/** Gives a text out as a file. */
export function save(name, text, type) {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** A button that only those see who may press it. */
export function Act({ icon, children, onClick, danger, primary, disabled, title }) {
  return t.button({ type: 'button', class: cls(danger && 'danger', primary && 'primary'), onClick, disabled, title },
    icon && c(Icon, { name: icon }), children);
}

export function Title({ children, sub, badges, actions, of }) {
  return t.div({ class: 'title' },
    t.div({ class: 'title-text' }, t.h1({ tabIndex: -1, dir: 'auto', ...(of ? { 'data-of': of } : {}) }, children), badges, sub && t.p({ class: 'sub' }, sub)),
    actions && t.div({ class: 'actions' }, actions));
}

export function Crumbs({ trail }) {
  return t.nav({ class: 'crumbs', 'aria-label': 'Path' }, t.ol(trail.map(([word, href], i) =>
    t.li({ key: i }, href ? t.a({ href, dir: 'auto', ...(i === trail.length - 2 ? { 'data-up': true } : {}) }, word) : t.span({ 'aria-current': 'page', dir: 'auto' }, word)))));
}

export function Tabs({ tabs, current, label }) {
  return t.nav({ class: 'tabs', 'aria-label': label }, tabs.filter(Boolean).map(([id, word, href]) =>
    t.a({ key: id, href, ...(id === current ? { 'aria-current': 'page' } : {}) }, word)));
}

export function Names({ names, link, total }) {
  return c(Fragment, null, names.map((n, i) => c(Fragment, { key: n }, i > 0 && ' ', link
    ? t.a({ href: link(n), class: 'name', dir: 'auto' }, n) : t.span({ class: 'name', dir: 'auto' }, n))),
  total > names.length && t.span({ class: 'soft' }, ` and ${count(total - names.length)} more`));
}

/** What is wrong with a configuration, with its place and a hint. */
export function ProblemList({ problems, toLine }) {
  return t.ul({ class: 'problems' }, problems.map((p, i) => t.li({ key: i },
    c(Badge, { kind: p.severity === 'error' ? 'bad' : 'warn' }, p.severity), t.div(
    t.code(p.path), p.line ? toLine ? t.span(' ', t.button({ type: 'button', class: 'link', onClick: () => toLine(p.line) }, `line ${p.line}`)) : t.span({ class: 'soft' }, ` line ${p.line}`) : null, ' ', t.span(p.message),
    p.value !== undefined && t.span({ class: 'soft' }, ' · found ', t.code(String(p.value))),
    p.expected && t.span({ class: 'soft' }, ` · expected ${p.expected}`), p.hint && t.span({ class: 'soft' }, ` · ${p.hint}`)))));
}
