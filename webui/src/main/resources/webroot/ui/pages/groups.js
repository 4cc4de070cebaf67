// Redundancy groups: the kinds in numbers, and of one kind which members are busy and with what.
import { t, c } from '../dom.js';
import { get, maybe } from '../api.js';
import { useData } from '../live.js';
import { nodeLink, refine, taskLink, useCursor } from '../route.js';
import { Badge, Choice, CursorPager, Empty, Failure, Panel, Waiting } from '../parts.js';
import { count, plural } from '../format.js';

const SIZE = 50;
const NAMED = 3;

function Kinds({ kinds, picked }) {
  return t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Kinds of redundancy groups' }, t.table(
    t.thead(t.tr(t.th({ scope: 'col' }, 'Kind'), t.th({ scope: 'col' }, 'Members'), t.th({ scope: 'col', class: 'num' }, 'Groups'), t.th({ scope: 'col', class: 'num', title: 'Groups in which no further member may become busy' }, 'Full'),
      t.th({ scope: 'col', class: 'num' }, 'Busy members'), t.th({ scope: 'col', class: 'num', title: 'Members with a task to start whose group was full' }, 'Waiting members'), t.th({ scope: 'col', class: 'num', title: 'Nodes of the level that are in no group' }, 'Outside'))),
    t.tbody(kinds.map((k) => t.tr({ key: k.name },
      t.th({ scope: 'row' }, t.button({ type: 'button', class: 'link', dir: 'auto', 'data-row': true, 'aria-expanded': k.name === picked ? 'true' : 'false', onClick: () => refine({ kind: k.name === picked ? '' : k.name, full: '', after: '', page: '' }) }, k.name), ' ', t.small({ dir: 'auto' }, k.by)),
      t.td({ dir: 'auto' }, `${plural(k.members, k.level)}`), t.td({ class: 'num' }, count(k.groups)), t.td({ class: 'num' }, t.strong(count(k.full))), t.td({ class: 'num' }, count(k.busy)), t.td({ class: 'num' }, count(k.waiting)), t.td({ class: 'num' }, count(k.outside)))))));
}

function Members({ level, group }) {
  const busy = group.members.filter((m) => m.running > 0);
  return busy.length === 0 ? t.span({ class: 'soft' }, 'none') : t.ul({ class: 'held' }, busy.slice(0, NAMED).map((m) => t.li({ key: m.node },
    t.a({ href: nodeLink(level, m.node), class: 'name', dir: 'auto' }, m.node), ' ',
    m.task && t.small(t.a({ href: taskLink(m.job, m.task), dir: 'auto' }, `${m.job} ${m.task}`), m.running > 1 && ` and ${count(m.running - 1)} more`))),
  group.busy > NAMED && t.li({ class: 'soft' }, `and ${count(group.busy - NAMED)} more`));
}

function OfKind({ kind, query }) {
  const full = query.get('full') === '1';
  const cursor = useCursor(query);
  const { data, error, again } = useData((signal) => get(['groups', kind.name], { limit: SIZE, after: cursor.after, state: full ? 'full' : '' }, signal), ['groups', kind.name, full, cursor.after], { every: 2000 });
  return t.div(
    t.div({ class: 'toolbar' }, c(Choice, { label: `Groups of ${kind.name}`, value: full ? '1' : '', options: [['', 'all'], ['1', 'full']], change: (v) => refine({ full: v, after: '', page: '' }) })),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : data.groups.length === 0 ? c(Empty, { title: full ? 'No group is full' : 'No groups' }, full ? 'In each of them another member may become busy.' : 'No node of the level has the attribute or tag.')
      : t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': `Groups of ${kind.name}` }, t.table({ class: 'members' },
        t.thead(t.tr(t.th({ scope: 'col' }, 'Group'), t.th({ scope: 'col', class: 'num' }, 'Busy, of allowed'), t.th({ scope: 'col', class: 'num' }, 'Members'), t.th({ scope: 'col' }, 'Busy members'))),
        t.tbody(data.groups.map((g) => t.tr({ key: g.name },
          t.th({ scope: 'row' }, t.span({ class: 'name', dir: 'auto' }, g.name), g.busy > g.limit && t.span(' ', c(Badge, { kind: 'warn', title: 'Tasks ran before the limit was there. Nothing starts in the group until enough members are idle.' }, 'over'))),
          t.td({ class: 'num' }, t.strong(count(g.busy)), ` / ${count(g.limit)}`), t.td({ class: 'num' }, count(g.size)), t.td(c(Members, { level: kind.level, group: g }))))))),
    c(CursorPager, { cursor, next: data?.next }));
}

/** A panel; nothing where no groups are configured. */
export function Groups({ route }) {
  const { data } = useData((signal) => maybe(['groups'], {}, signal), ['groups'], { every: 2000 });
  const kinds = data?.kinds ?? [];
  const picked = kinds.find((k) => k.name === route.query.get('kind'));
  if (kinds.length === 0) return null;
  return c(Panel, { title: 'Redundancy groups', id: 'h-groups', note: 'how many members may have running tasks at once' },
    c(Kinds, { kinds, picked: picked?.name }), picked && c(OfKind, { key: picked.name, kind: picked, query: route.query }));
}
