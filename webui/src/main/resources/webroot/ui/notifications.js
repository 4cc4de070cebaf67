// Who is told of failed jobs, problems and the like, and what waits for whom.
import { t, c } from './dom.js';
import { get, may, request } from './api.js';
import { useData } from './live.js';
import { Ago, Badge, Panel } from './parts.js';
import { ask } from './dialogs.js';
import { command } from './shell.js';
import { count } from './format.js';

const KINDS = { idle: 'good', waiting: 'warn', failing: 'bad' };

function test(name) {
  ask({ title: `Send a test to ${name}`, text: 'It is sent once, at once.', button: 'Send', cli: ({ reason }) => command(['notify', 'test', name], { reason }),
    act: async ({ reason }) => {
      const { sent, error } = await request('POST', ['notifications', name, 'test'], { body: reason ? { reason } : {} });
      if (!sent) throw new Error(error);
      return `${name} has got it`;
    } });
}

/** A line for each receiver; nothing without receivers. */
export function Notifications() {
  const { data } = useData((signal) => get(['notifications'], {}, signal), ['notifications'], { every: 5000 });
  if (!data?.notifiers?.length) return null;
  return c(Panel, { title: 'Notifications', id: 'h-notifications', note: count(data.notifiers.length) },
    t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'List of notifiers' }, t.table(
      t.thead(t.tr(['Receiver', 'State', 'Waiting', 'Sent', 'Latest', ''].map((name, i) => t.th({ key: i, scope: 'col' }, name)))),
      t.tbody(data.notifiers.map((n) => t.tr({ key: n.name },
        t.td(t.strong({ dir: 'auto' }, n.name), ' ', t.span({ class: 'soft', dir: 'auto' }, n.target)),
        t.td(c(Badge, { kind: KINDS[n.state] }, n.state), n.failing_since_ms && t.span(' since ', c(Ago, { ms: n.failing_since_ms }), ': ', t.span({ dir: 'auto' }, n.last_error))),
        t.td(count(n.waiting), n.oldest_ms && t.span({ class: 'soft' }, ' oldest ', c(Ago, { ms: n.oldest_ms }))),
        t.td(count(n.sent)),
        t.td(n.last_sent_ms ? c(Ago, { ms: n.last_sent_ms }) : 'none'),
        t.td(may('operator') && t.button({ type: 'button', onClick: () => test(n.name) }, 'Test'))))))));
}
