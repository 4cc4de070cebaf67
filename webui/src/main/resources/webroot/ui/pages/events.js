// What happens, as it happens.
import { t, c, useMemo, useRef, useState } from '../dom.js';
import { get } from '../api.js';
import { useData, useEvents } from '../live.js';
import { At, Empty, Failure, Panel, Search, Title, Waiting } from '../parts.js';
import { refine, taskLink, jobLink } from '../route.js';

const MOST = 500;

export default function Events({ route }) {
  const q = (route.query.get('q') ?? '').toLowerCase();
  const { data, error } = useData((signal) => get(['events'], { limit: 200, ...(route.query.get('after') ? { after: route.query.get('after') } : {}) }, signal), ['events'], { every: 1500, keep: true });
  const [more, setMore] = useState([]);
  const pending = useRef([]);
  const timer = useRef(0);
  useEvents((message) => {
    if (message.type !== 'message') return;
    pending.current.push(JSON.parse(message.data));
    timer.current ||= setTimeout(() => {
      timer.current = 0;
      const news = pending.current;
      pending.current = [];
      setMore((old) => [...old, ...news].slice(-MOST));
    }, 500);
  });
  const shown = useMemo(() => {
    const seen = new Set();
    return [...(data?.events ?? []), ...more].filter((e) => !seen.has(e.sequence) && seen.add(e.sequence))
      .filter((e) => !q || `${e.kind} ${JSON.stringify(e.data)}`.toLowerCase().includes(q)).sort((a, b) => b.sequence - a.sequence).slice(0, MOST);
  }, [data, more, q]);
  return t.div({ class: 'page' },
    c(Title, { sub: 'The newest on top, as they happen.' }, 'Events'),
    c(Failure, { error }),
    t.div({ class: 'toolbar' }, c(Search, { value: route.query.get('q') ?? '', label: 'Filter events', placeholder: 'Filter by kind, job, node …', change: (v) => refine({ q: v }) })),
    !data ? !error && c(Waiting) : shown.length === 0 ? c(Empty, { title: 'No events' })
      : c(Panel, null, t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Events' }, t.table(
        t.thead(t.tr(t.th({ scope: 'col' }, 'When'), t.th({ scope: 'col' }, 'What'), t.th({ scope: 'col' }, 'Job'), t.th({ scope: 'col' }, 'Node'), t.th({ scope: 'col' }, 'Details'))),
        t.tbody(shown.map((e) => t.tr({ key: e.sequence },
          t.td({ class: 'nowrap' }, c(At, { ms: e.time_ms, millis: true })), t.td({ class: 'tight' }, t.strong(e.kind.replaceAll('_', ' '))),
          t.td(typeof e.data.job === 'string' ? t.a({ href: jobLink(e.data.job), dir: 'auto' }, e.data.job) : '–'),
          t.td(typeof e.data.node === 'string' ? typeof e.data.job === 'string' ? t.a({ class: 'name', href: taskLink(e.data.job, e.data.node), 'data-row': true, dir: 'auto' }, e.data.node) : t.span({ class: 'name', dir: 'auto' }, e.data.node) : '–'),
          t.td({ class: 'wide name' }, rest(e.data)))))))));
}

/** What a reader does not need: where it lies in the store. */
function rest({ job, node, row, ...more }) {
  const text = Object.entries(more).map(([k, v]) => `${k}=${typeof v === 'string' ? v : JSON.stringify(v)}`).join(' ');
  return text.length > 200 ? `${text.slice(0, 200)} …` : text;
}
