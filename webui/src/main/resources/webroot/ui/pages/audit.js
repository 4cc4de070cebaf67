// Who changed what, newest first.
import { t, c } from '../dom.js';
import { maybe } from '../api.js';
import { useData } from '../live.js';
import { jobLink, refine, taskLink, useCursor } from '../route.js';
import { At, Badge, CursorPager, Empty, Failure, Panel, Search, Title, Waiting } from '../parts.js';

export default function Audit({ route }) {
  const cursor = useCursor(route.query);
  const { after } = cursor;
  const [who, change] = ['who', 'change'].map((name) => route.query.get(name) ?? '');
  const { data, error, again } = useData((signal) => maybe(['audit'], { after, limit: 100, who, action: actionOf(change) }, signal), ['audit', after, who, change], { every: 2000 });
  const search = (name, value, label) => c(Search, { key: name, value, label, change: (v) => refine({ [name]: v, after: '', page: '' }) });
  return t.div({ class: 'page' },
    c(Title, { sub: 'Everything that people and programs changed through this server.' }, 'Audit'),
    c(Failure, { error, retry: again }),
    data !== null && t.div({ class: 'toolbar' }, search('who', who, 'Who, by the whole name'), search('change', change, 'Change, such as pause')),
    data === null ? c(Empty, { title: 'No audit log' }, 'This server does not keep one.')
      : !data ? !error && c(Waiting) : data.entries.length === 0 && !data.next && !after ? c(Empty, { title: who || change ? 'No such changes' : 'Nothing was changed yet' })
        : c(Panel, null,
          data.entries.length === 0 ? c(Empty, { title: 'No such changes on this page' }) : t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Audit log' }, t.table(
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

/** What the API calls a change. */
const actionOf = (words) => Object.keys(WORDS).find((action) => WORDS[action] === words.trim()) ?? words.trim();

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
