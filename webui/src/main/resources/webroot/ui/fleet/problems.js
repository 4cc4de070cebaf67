// What is wrong anywhere, each thing once.
import { t, c, useState } from '../dom.js';
import { get } from '../api.js';
import { useData } from '../live.js';
import { Ago, Choice, Empty, Failure, Panel, Title, Waiting } from '../parts.js';
import { count, plural } from '../format.js';
import { Hosts, TroubleList } from './parts.js';

function Duplicates({ title, id, found, group }) {
  return c(Panel, { title, id, note: count(found.total) },
    t.p({ class: 'soft' }, found.checked_hosts === 0 ? 'Not compared yet.' : t.span(`${plural(found.checked, 'name')} of ${plural(found.checked_hosts, 'scheduler')} were compared `, c(Ago, { ms: found.at_ms }),
      found.not_wholly_checked_hosts > 0 ? `; ${plural(found.not_wholly_checked_hosts, 'scheduler has', 'schedulers have')} more than what was looked at.` : '.')),
    found.duplicates.length > 0 && t.ul({ class: 'problems' }, found.duplicates.slice(0, 50).map((d) => t.li({ key: `${d[group]} ${d.node}` },
      t.span({ class: 'soft', dir: 'auto' }, d[group]), t.div(t.strong({ dir: 'auto' }, d.node), ' ', c(Hosts, { ids: d.hosts }))))));
}

export default function Problems() {
  const { data, error, again } = useData((signal) => get(['fleet', 'problems'], {}, signal), ['problems']);
  const [kind, setKind] = useState('');
  const kinds = [...new Set((data?.problems ?? []).map((p) => p.kind))].sort();
  const shown = (data?.problems ?? []).filter((p) => !kind || p.kind === kind);
  return t.div({ class: 'page' },
    c(Title, { sub: 'Each goes away by itself when it is put right.' }, 'Problems'),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : t.div(
      data.list.problems.length > 0 && c(Panel, { title: 'List of schedulers', id: 'h-list' }, t.ul(data.list.problems.map((p) => t.li({ key: p, dir: 'auto' }, p)))),
      data.problems.length === 0 ? c(Empty, { title: 'No problems' }, 'Why tasks fail is said on the pages of their jobs.')
        : c(Panel, { title: 'On schedulers', id: 'h-problems', note: count(data.total), actions: c(Choice, { label: 'Kind', value: kind, options: [['', 'all'], ...kinds.map((k) => [k, k])], change: setKind }) },
          c(TroubleList, { problems: shown })),
      c(Duplicates, { title: 'Nodes that several schedulers have', id: 'h-nodes', found: data.duplicate_nodes, group: 'level' }),
      c(Duplicates, { title: 'Tasks that run on several schedulers', id: 'h-tasks', found: data.duplicate_tasks, group: 'job' })));
}
