// What tasks have written anywhere, merged by time: newest first.
import { t, c, cls, useEffect, useState } from '../dom.js';
import { get } from '../api.js';
import { useData } from '../live.js';
import { refine, taskLink } from '../route.js';
import { At, Badge, Empty, Failure, Title, Waiting } from '../parts.js';
import { count, plural } from '../format.js';
import { Host, KIND } from './parts.js';

const LIMIT = 100;

function Missing({ page }) {
  if (page.missing_total === 0) return null;
  return t.details({ class: 'notice' }, t.summary(`${plural(page.missing_total, 'scheduler')} of ${count(page.asked)} did not give all their lines`),
    t.ul(page.missing.map((m) => t.li({ key: m.host }, c(Host, { id: m.host }), ' ', c(Badge, { kind: KIND[m.state] }, m.state), ' ', m.detail))));
}

function Line({ line }) {
  return t.li({ class: `from-${line.stream}` }, c(At, { ms: line.time_ms, millis: true }),
    c(Host, { id: line.host, hash: taskLink(line.job, line.node) }), t.span({ class: 'soft', dir: 'auto' }, `${line.job} · ${line.node}`), t.pre({ dir: 'auto' }, line.text.replace(/\n$/, '')));
}

export default function Logs({ route }) {
  const asked = Object.fromEntries(['job', 'node', 'stream', 'regex', 'host'].map((k) => [k, route.query.get(k) ?? '']));
  const [form, setForm] = useState(asked);
  const [older, setOlder] = useState([]);
  const [failed, setFailed] = useState(null);
  const key = JSON.stringify(asked);
  useEffect(() => { setForm(asked); setOlder([]); setFailed(null); }, [key]);
  // With older lines below it the first page must not move on.
  const { data, error, again } = useData((signal) => older.length > 0 ? Promise.resolve(older[0].first) : get(['fleet', 'logs'], { ...asked, limit: LIMIT }, signal), ['logs', key, older.length > 0], { keep: true, every: 4000 });
  const pages = data ? [data, ...older.map((o) => o.page)] : [];
  const last = pages[pages.length - 1];
  const more = async () => {
    try {
      const page = await get(['fleet', 'logs'], { ...asked, limit: LIMIT, after: last.next });
      setOlder([...older, { first: older[0]?.first ?? data, page }]);
      setFailed(null);
    } catch (e) { setFailed(e); }
  };
  const input = (name, label) => t.label(label, t.input({ value: form[name], autocomplete: 'off', spellcheck: false, onInput: (e) => setForm({ ...form, [name]: e.target.value }) }));
  return t.div({ class: 'page' },
    c(Title, null, 'Logs'),
    t.form({ class: 'asked toolbar', onSubmit: (e) => { e.preventDefault(); refine(form); } },
      input('job', 'Job'), input('node', 'Node'),
      t.label('Stream', t.select({ value: form.stream, onChange: (e) => setForm({ ...form, stream: e.target.value }) },
        [['', 'stdout'], ['stderr', 'stderr'], ['statuses', 'statuses']].map(([v, w]) => t.option({ key: v, value: v, selected: v === form.stream }, w)))),
      input('regex', 'Regular expression'), input('host', 'Scheduler'), t.button({ type: 'submit', class: 'primary' }, 'Show')),
    c(Failure, { error: error ?? failed, retry: again }),
    !data ? !error && c(Waiting) : t.div(
      c(Missing, { page: last }),
      pages[0].lines.length === 0 ? c(Empty, { title: 'No lines' }) : t.section({ class: cls('panel'), 'aria-label': 'Lines' },
        t.ol({ class: 'merged' }, pages.flatMap((p) => p.lines).map((l) => c(Line, { key: `${l.host} ${l.id} ${l.stream}`, line: l })))),
      last.next && t.nav({ class: 'pager', 'aria-label': 'Older lines' }, t.button({ type: 'button', onClick: more }, 'Older'))));
}
