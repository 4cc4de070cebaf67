// Which scheduler has a task. Where it is one, its own page of the task is gone to.
import { t, c, useEffect } from '../dom.js';
import { get } from '../api.js';
import { useData } from '../live.js';
import { jobLink, taskLink } from '../route.js';
import { Badge, Crumbs, Empty, Failure, Title, Waiting } from '../parts.js';
import { count, plural } from '../format.js';
import { Host, KIND, schedulerLink } from './parts.js';

export default function Task({ route }) {
  const [, job, , node] = route.parts;
  const { data, error, again } = useData((signal) => get(['fleet', 'jobs', job, 'tasks', node], {}, signal), ['task', job, node]);
  const only = data?.hosts.length === 1 ? data.hosts[0].id : null;
  // In place of this page, so that "back" does not lead here again.
  useEffect(() => { if (only) location.replace(schedulerLink(only, taskLink(job, node))); }, [only]);
  return t.div({ class: 'page' },
    c(Crumbs, { trail: [['All schedulers', '#/'], [job, jobLink(job)], [node]] }),
    c(Title, { sub: data && `${plural(data.asked, 'scheduler')} asked` }, node),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : t.div(
      data.missing_total > 0 && t.details({ class: 'notice' }, t.summary(`${count(data.missing_total)} of ${plural(data.asked, 'scheduler')} did not answer`),
        t.ul(data.missing.map((m) => t.li({ key: m.host }, c(Host, { id: m.host }), ' ', c(Badge, { kind: KIND[m.state] }, m.state), ' ', m.detail)))),
      data.hosts.length === 0
        ? c(Empty, { title: data.missing_total > 0 ? 'No scheduler that answers has this task' : 'No scheduler has this task' })
        : t.ul({ class: 'problems' }, data.hosts.map((h) => t.li({ key: h.id }, c(Host, { id: h.id, name: h.name, hash: taskLink(job, node) }))))));
}
