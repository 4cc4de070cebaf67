// Who changed what, newest first.
import { t, c } from '../dom.js';
import { maybe } from '../api.js';
import { useData } from '../live.js';
import { jobLink, taskLink, useCursor } from '../route.js';
import { At, Badge, CursorPager, Empty, Failure, Panel, Title, Waiting } from '../parts.js';

export default function Audit({ route }) {
  const cursor = useCursor(route.query);
  const { after } = cursor;
  const { data, error, again } = useData((signal) => maybe(['audit'], { after, limit: 100 }, signal), ['audit', after], { every: 2000 });
  return t.div({ class: 'page' },
    c(Title, { sub: 'Everything that people and programs changed through this server.' }, 'Audit'),
    c(Failure, { error, retry: again }),
    data === null ? c(Empty, { title: 'No audit log' }, 'This server does not keep one.')
      : !data ? !error && c(Waiting) : data.entries.length === 0 ? c(Empty, { title: 'Nothing was changed yet' })
        : c(Panel, null,
          t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Audit log' }, t.table(
            t.thead(t.tr(['When', 'Who', 'Role', 'From', 'Change', 'Of', 'Reason', 'Result'].map((h) => t.th({ key: h, scope: 'col' }, h)))),
            t.tbody(data.entries.map((e) => t.tr({ key: e.id },
              t.td({ class: 'nowrap' }, c(At, { ms: e.at_ms, 'data-row': true, tabIndex: -1 })), t.td({ class: 'nowrap', dir: 'auto' }, e.who || '–'), t.td(e.role ?? '–'), t.td({ class: 'soft nowrap' }, e.address ?? ''),
              t.td(t.strong(WORDS[e.action] ?? (e.action ?? '').replaceAll(/[_-]/g, ' ')), details(e.details)), t.td({ class: 'name', dir: 'auto' }, place(e)), t.td({ dir: 'auto' }, e.reason ?? ''),
              t.td(c(Badge, { kind: e.status >= 400 ? 'bad' : 'good', title: `HTTP ${e.status}` }, e.status >= 400 ? `refused, ${e.status}` : 'done'))))))),
          c(CursorPager, { cursor, next: data.next, back: 'Newer', on: 'Older' })));
}

/** What the API calls otherwise than people do. */
const WORDS = { 'put jobs': 'save job', 'delete jobs': 'delete job', 'put limits': 'set limit', 'delete limits': 'take back limit' };
const OF_JOBS = ['pause', 'resume', 'halt', 'promote', 'stop', 'forgive', 'rerun', 'kill', 'extend', 'rollback', 'put jobs', 'delete jobs', 'cancel'];

/** A job, or a task of one, is a link. */
function place(e) {
  const [job, node] = (e.target ?? '').split('/').map(target);
  if (!OF_JOBS.includes(e.action) || !e.target) return target(e.target);
  return t.a({ href: node ? taskLink(job, node) : jobLink(job), dir: 'auto' }, node ? `${job}/${node}` : job);
}

/** Names with slashes between them, each percent-encoded. */
const target = (x) => {
  try { return x ? decodeURIComponent(x) : '–'; } catch { return x; }
};

function details(d) {
  if (!d || (typeof d === 'object' && Object.keys(d).length === 0)) return null;
  const text = typeof d === 'string' ? d : JSON.stringify(d);
  return text.length < 60 ? t.div({ class: 'soft name' }, text) : t.details(t.summary('Details'), t.pre({ class: 'config' }, typeof d === 'string' ? d : JSON.stringify(d, null, 2)));
}
