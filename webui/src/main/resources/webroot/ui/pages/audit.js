// Who changed what, newest first.
import { t, c } from '../dom.js';
import { maybe } from '../api.js';
import { useData } from '../live.js';
import { useCursor } from '../route.js';
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
            t.thead(t.tr(['When', 'Who', 'Role', 'From', 'What', 'Of', 'Reason', 'Result'].map((h) => t.th({ key: h, scope: 'col' }, h)))),
            t.tbody(data.entries.map((e) => t.tr({ key: e.id },
              t.td({ class: 'nowrap' }, c(At, { ms: e.at_ms, 'data-row': true, tabIndex: -1 })), t.td({ dir: 'auto' }, e.who || '–'), t.td(e.role ?? '–'), t.td({ class: 'soft' }, e.address ?? ''),
              t.td(t.strong((e.action ?? '').replaceAll('_', ' ')), details(e.details)), t.td({ class: 'name', dir: 'auto' }, target(e.target)), t.td({ dir: 'auto' }, e.reason ?? ''),
              t.td(c(Badge, { kind: e.status >= 400 ? 'bad' : 'good' }, String(e.status)))))))),
          c(CursorPager, { cursor, next: data.next, back: 'Newer', on: 'Older' })));
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
