// What is wrong right now. Each goes away by itself when it is put right.
import { t, c } from '../dom.js';
import { get } from '../api.js';
import { useData } from '../live.js';
import { refine, useCursor } from '../route.js';
import { Ago, Badge, Choice, CursorPager, Empty, Failure, Panel, ProblemList, Title, Waiting } from '../parts.js';
import { count } from '../format.js';
import { Notifications } from '../notifications.js';

const SIZE = 100;

export default function Problems({ route }) {
  const which = route.query.get('severity') ?? '';
  const cursor = useCursor(route.query);
  const { data, error, again } = useData((signal) => get(['problems'], { limit: SIZE, after: cursor.after, severity: which }, signal), ['problems', which, cursor.after]);
  return t.div({ class: 'page' },
    c(Title, { sub: 'Each goes away by itself when it is put right.' }, 'Problems'),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : data.errors.length + data.total === 0 && !which ? c(Empty, { title: 'No problems' }, 'Why tasks fail is said on the pages of their jobs.')
      : t.div(
        !data.config_in_force && t.p({ class: 'notice' }, 'No configuration is in force: nothing starts.'),
        data.errors.length > 0 && c(Panel, { title: 'Errors', id: 'h-errors', note: count(data.errors.length) }, t.ul({ class: 'problems' }, data.errors.map((e, i) => t.li({ key: i },
          c(Badge, { kind: 'bad' }, 'error'), t.div(t.strong({ dir: 'auto' }, e.source), ' ', t.span({ dir: 'auto' }, e.message), e.since_ms && t.span({ class: 'soft' }, ' · since ', c(Ago, { ms: e.since_ms }))))))),
        (data.total > 0 || which) && c(Panel, { title: 'Configuration', id: 'h-config', note: count(data.total),
          actions: c(Choice, { label: 'Severity', value: which, options: [['', 'all'], ['error', 'errors'], ['warning', 'warnings']], change: (v) => refine({ severity: v, after: '', page: '' }) }) },
        data.problems.length > 0 ? c(ProblemList, { problems: data.problems }) : t.p({ class: 'soft' }, data.total > 0 ? 'No more problems' : 'No such problems'),
        c(CursorPager, { cursor, next: data.next }))),
    c(Notifications));
}
