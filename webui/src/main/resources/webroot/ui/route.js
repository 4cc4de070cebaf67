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
export const nodeLink = (level, node) => to(['tree'], { node: `${level}/${node}` });

export function go(href) { location.hash = href; }

/** Changes parts of the query without a new entry in the browser's history. */
export function refine(changes) {
  const { parts, query } = parse(location.hash);
  const next = { ...Object.fromEntries(query), ...changes };
  history.replaceState(null, '', to(parts, next));
  dispatchEvent(new HashChangeEvent('hashchange'));
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
