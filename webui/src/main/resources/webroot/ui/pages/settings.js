// What is in force, and by what right this scheduler leads.
import { t, c } from '../dom.js';
import { get, may, maybe, post } from '../api.js';
import { useData } from '../live.js';
import { Badge, Failure, Panel, Title, Waiting } from '../parts.js';
import { ask } from '../dialogs.js';
import { command } from '../shell.js';
import { Copy } from '../parts.js';
import { millis } from '../format.js';

export default function Settings() {
  const { data, error } = useData(async (signal) => ({ settings: await get(['settings'], {}, signal), leadership: await maybe(['leadership'], {}, signal) }), ['settings'], { every: 5000 });
  const l = data?.leadership;
  return t.div({ class: 'page' },
    c(Title, { sub: data && `Espalier ${data.settings.version} · runner ${data.settings.runner}` }, 'Settings'),
    c(Failure, { error }),
    !data ? !error && c(Waiting) : t.div(
      l?.elected && c(Panel, { title: 'Leadership', id: 'h-lead', note: `epoch ${l.epoch}`,
        actions: may('admin') && l.candidates.length > 1 && t.button({ type: 'button', class: 'danger', onClick: () => ask({ title: 'Step down', text: 'Another scheduler leads within a second. Tasks go on.', button: 'Step down', danger: true, cli: ({ reason }) => command(['step-down'], { reason }),
          act: async ({ reason }) => { await post(['leadership', 'step-down'], reason ? { reason } : {}); return 'Another scheduler takes over'; } }) }, 'Step down') },
      l.problem && t.p({ class: 'notice' }, l.problem),
      t.p({ class: 'soft' }, l.certain_ms !== undefined && `Certain for ${millis(l.certain_ms)} more.`),
      t.ol({ class: 'problems' }, l.candidates.map((x, i) => t.li({ key: x }, c(Badge, { kind: i === 0 ? 'good' : '' }, i === 0 ? 'leads' : 'stands by'), t.span({ class: 'name' }, x))))),
      c(Panel, { title: 'In force', id: 'h-force', note: 'with every default; secrets are hidden', actions: c(Copy, { text: JSON.stringify(data.settings.effective, null, 2) }) },
        t.pre({ class: 'config', tabIndex: 0, 'aria-label': 'Settings in force' }, JSON.stringify(data.settings.effective, null, 2)))));
}
