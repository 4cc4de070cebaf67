// The place is in the fragment: #/jobs/NAME/tasks?status=failed. Each part is percent-encoded, so any name works.
import { useEffect, useState } from './dom.js';

const decode = (part) => { try { return decodeURIComponent(part); } catch { return part; } };

export function parse(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { parts: path.split('/').filter((p) => p !== '').map(decode), query: new URLSearchParams(query), path };
}

export function to(parts, query = {}) {
  const kept = Object.entries(query).filter(([, v]) => v !== undefined && v !== null && v !== '' && v !== false);
  const search = new URLSearchParams(kept).toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${search ? `?${search}` : ''}`;
}

export const jobLink = (job, ...more) => to(['jobs', job, ...more]);
export const taskLink = (job, node) => to(['jobs', job, 'task', node]);
export const workerLink = (shard) => to(['workers', shard]);
export const nodeLink = (level, node) => to(['tree'], { node: `${level}/${node}` });

export function go(href) { if (href.startsWith('#')) location.hash = href; else location.assign(href); }

/** Changes parts of the query: without a new entry in the browser's history, unless it is `another` page of a list. */
export function refine(changes, another = false) {
  const { parts, query } = parse(location.hash);
  const next = { ...Object.fromEntries(query), ...changes };
  history[another ? 'pushState' : 'replaceState'](another ? null : history.state, '', to(parts, next));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

// Each entry of the browser's history has a number, under which it is kept how far it was scrolled.
const scrolled = new Map();
let entries = Date.now();
let place = 0;

/** Returns how far the place was scrolled to which one comes back; undefined for a new one. */
function arrive() {
  const known = history.state?.entry;
  place = known ?? ++entries;
  if (known === undefined) history.replaceState({ entry: place }, '');
  return scrolled.get(known);
}

/** What `arrive` said of the place that is shown. */
export const comingTo = () => coming;
let coming;

if ('scrollRestoration' in history) {
  arrive();
  // The event of the last scrolling may come only after one has left.
  addEventListener('hashchange', () => { scrolled.set(place, scrollY); coming = arrive(); });
  history.scrollRestoration = 'manual';
  addEventListener('scroll', () => { if (history.state?.entry === place) scrolled.set(place, scrollY); }, { passive: true });
}

/** Scrolls there as soon as the page is long enough, unless somebody moves meanwhile. */
export function scrollBack(y) {
  const there = () => { scrollTo(0, y); return Math.abs(scrollY - y) < 2; };
  if (there()) return;
  const seen = new ResizeObserver(() => { if (there()) stop(); });
  const stop = () => { seen.disconnect(); ['wheel', 'keydown', 'pointerdown'].forEach((e) => removeEventListener(e, stop)); };
  seen.observe(document.querySelector('main'));
  ['wheel', 'keydown', 'pointerdown'].forEach((e) => addEventListener(e, stop, { once: true }));
  setTimeout(stop, 20000);
}

/** Which page led to one, by cursor: pages of a server's list can only be followed forwards. */
const before = new Map();

/** The pages of a list that the server cuts: where one is, and the way on and back. */
export function useCursor(query) {
  const after = query.get('after') ?? '';
  const page = Number(query.get('page') ?? 1) || 1;
  return {
    after, page,
    next: (cursor) => { before.set(`${location.hash.split('?')[0]} ${cursor}`, after); refine({ after: cursor, page: page + 1 }, true); },
    back: () => {
      const known = before.get(`${location.hash.split('?')[0]} ${after}`);
      refine(known ? { after: known, page: page - 1 } : { after: '', page: '' }, true);
    },
  };
}

export function useRoute() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const moved = () => setHash(location.hash);
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return parse(hash);
}
