// From anywhere to a job or a node and whatever else a page can find, by a part of its name.
import { t, c, useEffect, useRef, useState } from './dom.js';
import { get } from './api.js';
import { go, jobLink, nodeLink, taskLink, workerLink } from './route.js';
import { Icon } from './parts.js';

const MOST = 8;

/** Of one scheduler: what has a text in its name, as [what it is, name, link]. */
export async function search(text, signal) {
  const part = text.toLowerCase();
  const has = (name) => name.toLowerCase().includes(part);
  // What a server does not offer is not found.
  const asked = (path, query) => get(path, query, signal).catch(() => ({}));
  const nodesLike = async (prefix) => (await asked(['nodes'], { prefix, limit: MOST })).nodes ?? [];
  let [jobs, nodes, workers] = await Promise.all([asked(['jobs']), nodesLike(text), asked(['workers'])]);
  // Names of nodes may have blanks; only where there is no such node, what follows the blank is a job.
  const blank = text.lastIndexOf(' ');
  const of = nodes.length === 0 && blank > 0 ? text.slice(blank + 1).toLowerCase() : '';
  if (of) nodes = await nodesLike(text.slice(0, blank).trim());
  const tasks = nodes.flatMap((n) => (jobs.jobs ?? []).filter((j) => j.level === n.level && (!of || j.name.toLowerCase().includes(of))).map((j) => [`task of ${j.name}`, n.name, taskLink(j.name, n.name)]));
  return [
    ...(jobs.jobs ?? []).filter((j) => has(j.name) || has(j.owner ?? '')).slice(0, MOST).map((j) => ['job', j.name, jobLink(j.name)]),
    ...(of ? [] : nodes).map((n) => [n.level, n.name, nodeLink(n.level, n.name)]),
    ...tasks.slice(0, MOST),
    ...(workers.workers ?? []).filter((w) => has(w.shard) || has(w.host)).slice(0, MOST).map((w) => ['worker', w.shard, workerLink(w.shard)]),
  ];
}

/** @param search finds by a text, as [what it is, name, link]; @param label what can be found; @param hint the same in the field */
export function Find({ close, search, label, hint }) {
  const ref = useRef(null);
  const [text, setText] = useState('');
  const [found, setFound] = useState(null);
  useEffect(() => {
    const dialog = ref.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  useEffect(() => {
    if (!text.trim()) { setFound(null); return undefined; }
    const control = new AbortController();
    const id = setTimeout(() => search(text.trim(), control.signal).then((r) => { if (!control.signal.aborted) setFound(r); }), 150);
    return () => { clearTimeout(id); control.abort(); };
  }, [text]);
  const open = (href) => { close(); go(href); };
  const move = (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!by) return;
    e.preventDefault();
    const all = [...ref.current.querySelectorAll('input, li a')];
    all[Math.min(all.length - 1, Math.max(0, all.indexOf(document.activeElement) + by))]?.focus();
  };
  return t.dialog({ ref, class: 'ask finder', 'aria-label': 'Go to', onCancel: (e) => { e.preventDefault(); close(); }, onKeyDown: move },
    t.form({ onSubmit: (e) => { e.preventDefault(); if (found?.length > 0) open(found[0][2]); } },
      t.label({ class: 'search' }, c(Icon, { name: 'search' }), t.span({ class: 'hidden' }, label),
        t.input({ type: 'search', value: text, placeholder: hint, autocomplete: 'off', spellcheck: false, autofocus: true, onInput: (e) => setText(e.target.value) }))),
    t.div({ role: 'status' }, found?.length === 0 && t.p({ class: 'soft' }, 'Nothing is called like that.')),
    found?.length > 0 && t.ul({ class: 'hits' }, found.map(([kind, name, href]) => t.li({ key: `${kind} ${name}` },
      t.a({ href, onClick: (e) => { e.preventDefault(); open(href); } }, t.span({ class: 'name', dir: 'auto' }, name || 'instance'), t.small({ dir: 'auto' }, kind))))));
}
