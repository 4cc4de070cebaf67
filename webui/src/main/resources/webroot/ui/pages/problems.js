// What is wrong right now. Each goes away by itself when it is put right.
import { t, c, useState } from '../dom.js';
import { get } from '../api.js';
import { useData } from '../live.js';
import { Ago, Badge, Choice, Empty, Failure, Panel, ProblemList, Title, Waiting } from '../parts.js';
import { count } from '../format.js';
import { Notifications } from '../notifications.js';

const MOST = 500;

export default function Problems() {
  const { data, error, again } = useData((signal) => get(['problems'], {}, signal), ['problems']);
  const [which, setWhich] = useState('');
  const problems = (data?.problems ?? []).filter((p) => !which || p.severity === which).sort((a, b) => (a.severity === b.severity ? 0 : a.severity === 'error' ? -1 : 1));
  return t.div({ class: 'page' },
    c(Title, { sub: 'Each goes away by itself when it is put right.' }, 'Problems'),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : data.errors.length + data.problems.length === 0 ? c(Empty, { title: 'No problems' }, 'Everything is as it should be.')
      : t.div(
        !data.config_in_force && t.p({ class: 'notice' }, 'The newest configuration is not in force; the last good one is.'),
        data.errors.length > 0 && c(Panel, { title: 'Errors', id: 'h-errors', note: count(data.errors.length) }, t.ul({ class: 'problems' }, data.errors.map((e, i) => t.li({ key: i },
          c(Badge, { kind: 'bad' }, 'error'), t.div(t.strong({ dir: 'auto' }, e.source), ' ', t.span({ dir: 'auto' }, e.message), e.since_ms && t.span({ class: 'soft' }, ' · since ', c(Ago, { ms: e.since_ms }))))))),
        data.problems.length > 0 && c(Panel, { title: 'Configuration', id: 'h-config', note: count(data.problems.length),
          actions: c(Choice, { label: 'Severity', value: which, options: [['', 'all'], ['error', 'errors'], ['warning', 'warnings']], change: setWhich }) },
        c(ProblemList, { problems: problems.slice(0, MOST) }), problems.length > MOST && t.p({ class: 'soft' }, `and ${count(problems.length - MOST)} more`))),
    c(Notifications));
}
