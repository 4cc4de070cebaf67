// Brakes and windows: what every page shows while there are some, and how to set and release them.
import { t, c } from './dom.js';
import { may, request } from './api.js';
import { Ago, At, Icon } from './parts.js';
import { ask } from './dialogs.js';
import { command } from './shell.js';

const TARGETS = ['node', 'queue', 'set', 'job'];

/** Asks whether everything is to stop. */
export function brakeAll() {
  ask({ title: 'Start nothing more, anywhere', text: 'Running tasks go on. It is in force at once, and until somebody releases it.', button: 'Brake', danger: true,
    fields: [{ name: 'throttle', type: 'checkbox', label: 'Ask running tasks to pause', hint: 'Tasks that read ESPALIER_TASK_THROTTLE do.' }],
    cli: ({ throttle, reason }) => command(['brake'], { 'throttle-running': throttle || undefined, reason }),
    act: async ({ throttle, reason }) => {
      const set = await request('POST', ['brakes'], { body: { ...(throttle ? { throttle_running: true } : {}), ...(reason ? { reason } : {}) } });
      return `Nothing more starts.${set.durable ? '' : ' The store does not answer: a crash now would undo this.'}${unconfirmed(set)}`;
    } });
}

function release(brake) {
  const place = Object.fromEntries([...TARGETS, 'level'].filter((name) => brake[name] !== undefined).map((name) => [name, brake[name]]));
  ask({ title: `Release the brake on ${brake.words}`, text: brake.ramp ? 'It is released by its ramp.' : 'All limits count again at once.', button: 'Release', cli: ({ reason }) => command(['release'], { ...place, reason }),
    act: async ({ reason }) => { await request('POST', ['brakes', 'release'], { body: { ...place, ...(reason ? { reason } : {}) } }); return 'The brake is released'; } });
}

/** Which workers may still start what they were given before. */
function unconfirmed({ unconfirmed: number, unconfirmed_workers: names }) {
  if (!number) return '';
  const named = names.slice(0, 3);
  return ` Not confirmed by ${named.join(', ')}${number > named.length ? ` and ${number - named.length} more workers` : ''}: what was given to them before may start until their lease ends.`;
}

function left(brake) { return brake.factor === 0 ? 'nothing starts' : `${Math.round(brake.factor * 10000) / 100} % of each limit is left`; }

/** A line for each brake. */
export function Brakes({ brakes }) {
  if (!brakes?.length) return null;
  return t.div({ class: 'braked', role: 'status' }, brakes.map((b) => t.p({ key: b.words }, c(Icon, { name: 'warn' }), ' ',
    t.strong('Brake on ', t.span({ dir: 'auto' }, b.words)), `: ${left(b)}`, b.throttle_running && (b.factor === 0 ? ', and running tasks pause' : ', and running tasks slow down to it'), b.author && t.span(', by ', t.span({ dir: 'auto' }, b.author)), ', set ', c(Ago, { ms: b.set_at_ms }),
    b.released_at_ms !== undefined ? ', released by its ramp' : b.expires_at_ms !== undefined && t.span(', until ', c(At, { ms: b.expires_at_ms })),
    b.reason && t.span(': ', t.span({ dir: 'auto' }, b.reason)),
    b.unconfirmed > 0 && t.strong({ dir: 'auto' }, '.', unconfirmed(b)),
    may('operator') && t.button({ type: 'button', class: 'quiet', onClick: () => release(b) }, 'Release'))));
}

/** A line for each of the first closed windows; what is open is no news. */
export function Windows({ windows }) {
  const closed = (windows ?? []).filter((w) => !w.open);
  if (!closed.length) return null;
  return t.div({ class: 'closed', role: 'status' }, closed.slice(0, 3).map((w) => t.p({ key: w.message, dir: 'auto' }, w.message)),
    closed.length > 3 && t.p(`and ${closed.length - 3} more closed windows`));
}
