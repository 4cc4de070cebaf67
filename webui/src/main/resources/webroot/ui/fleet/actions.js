// What all schedulers were told, and what each of them made of it.
import { t, c, cls, useState } from '../dom.js';
import { get } from '../api.js';
import { useData } from '../live.js';
import { jobLink, to } from '../route.js';
import { Ago, Badge, Crumbs, Empty, Failure, Title, Waiting } from '../parts.js';
import { count, plural } from '../format.js';
import { Chips, Host, RESULT, outcome } from './parts.js';

const ORDER = ['failed', 'refused', 'unreachable', 'unknown', 'pending', 'ok'];
const WHY = {
  ok: 'did it', refused: 'said no', failed: 'failed there', unreachable: 'was never asked: no connection',
  unknown: 'was asked and did not answer: it may have been done', pending: 'has not answered yet',
};

function Run({ id }) {
  const { data, error, again } = useData((signal) => get(['fleet', 'actions', id], {}, signal), ['action', id]);
  const [only, setOnly] = useState('');
  const hosts = (data?.hosts ?? []).filter((h) => !only || h.result === only).sort((a, b) => ORDER.indexOf(a.result) - ORDER.indexOf(b.result));
  return t.div({ class: 'page' },
    c(Crumbs, { trail: [['Actions', to(['actions'])], [data ? `${data.action} ${data.job}` : id]] }),
    c(Title, { sub: data && t.span(`${plural(data.meant, 'scheduler')} were meant · `, c(Ago, { ms: data.begun_ms }), data.finished ? '' : ' · still going on') }, data ? `${data.action} ${data.job}` : 'Action'),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : t.div(
      t.p({ class: cls(data.results.ok === data.meant ? '' : 'notice'), role: 'status' }, outcome(data), data.changed !== undefined && ` · ${plural(data.changed, 'task')} changed`, data.signaled !== undefined && ` · ${plural(data.signaled, 'task')} signaled`),
      t.div({ class: 'toolbar' }, c(Chips, { label: 'Result', current: only, change: setOnly, options: [['', 'all', data.meant], ...ORDER.filter((k) => data.results[k] > 0).map((k) => [k, k, data.results[k]])] })),
      t.section({ class: 'panel', 'aria-label': 'Results' }, t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Result of each scheduler' }, t.table(
        t.thead(t.tr(t.th({ scope: 'col' }, 'Scheduler'), t.th({ scope: 'col' }, 'Result'), t.th({ scope: 'col' }, 'What it said'))),
        t.tbody(hosts.slice(0, 2000).map((h) => t.tr({ key: h.host, class: cls(['failed', 'refused', 'unreachable'].includes(h.result) && 'hurt') },
          t.th({ scope: 'row' }, c(Host, { id: h.host, hash: jobLink(data.job), row: true })), t.td(c(Badge, { kind: RESULT[h.result], title: WHY[h.result] }, h.result)),
          t.td({ dir: 'auto' }, h.detail ?? WHY[h.result])))))))));
}

export default function Actions({ route }) {
  const { data, error, again } = useData((signal) => get(['fleet', 'actions'], {}, signal), ['actions']);
  if (route.parts[1]) return c(Run, { key: route.parts[1], id: route.parts[1] });
  return t.div({ class: 'page' },
    c(Title, { sub: 'The latest ones, kept until this process ends.' }, 'Actions'),
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : data.actions.length === 0 ? c(Empty, { title: 'Nothing was done yet' }, 'What you do to a job over all schedulers is listed here, with what each of them said.')
      : t.section({ class: 'panel', 'aria-label': 'Actions' }, t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'List of actions' }, t.table(
        t.thead(t.tr(['When', 'Action', 'Job', 'Outcome'].map((w) => t.th({ key: w, scope: 'col' }, w)))),
        t.tbody(data.actions.map((a) => t.tr({ key: a.id }, t.td({ class: 'nowrap' }, c(Ago, { ms: a.begun_ms })), t.td(a.preview ? `${a.action} (preview)` : a.action),
          t.td(t.a({ href: jobLink(a.job), dir: 'auto' }, a.job)), t.td(t.a({ href: to(['actions', a.id]), 'data-row': true }, `${count(a.results.ok)} of ${count(a.meant)} ok`), a.finished ? '' : ' · still going on'))))))));
}
