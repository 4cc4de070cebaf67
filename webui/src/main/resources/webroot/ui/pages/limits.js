// Limits that somebody changed while it runs, and how to take that back.
import { t, c } from '../dom.js';
import { get, may, maybe, request } from '../api.js';
import { useData } from '../live.js';
import { nodeLink } from '../route.js';
import { Ago, At, Empty, Failure, Icon, Panel, Title, Waiting } from '../parts.js';
import { ask } from '../dialogs.js';
import { command } from '../shell.js';
import { brakeAll } from '../brakes.js';
import { Quarantines } from '../quarantines.js';
import { count, plural } from '../format.js';
import { Groups } from './groups.js';

const PERIODS = [['', 'until it is removed'], ['900', '15 minutes'], ['3600', '1 hour'], ['14400', '4 hours'], ['86400', '1 day'], ['604800', '1 week']];

/** Asks for a new limit. @param where {level, resource, node: absent for the whole level, limit: the present one} */
export function override(where) {
  const { level, resource, node, limit } = where;
  ask({
    title: `Limit of ${resource} on ${node ?? `all nodes of ${level}`}`, button: 'Set', text: 'It counts at once. Lowered below what is in use, it kills nothing: nothing more starts until there is room.',
    fields: [{ name: 'limit', label: 'Limit', type: 'number', min: '0', step: '1', value: String(limit ?? ''), required: true }, { name: 'seconds', label: 'How long', options: PERIODS, value: '3600' }],
    cli: ({ limit: value, seconds, reason }) => command(['set-limit', level, resource, value], { node, for: seconds && `${seconds / 60}m`, reason }),
    act: async ({ limit: value, seconds, reason }) => {
      await request('PUT', ['limits', level, resource, ...(node === undefined ? [] : [node])], { body: { limit: Number(value), ...(seconds ? { expires_in_seconds: Number(seconds) } : {}), ...(reason ? { reason } : {}) } });
      return `The limit of ${resource} on ${node ?? level} is ${count(Number(value))}`;
    },
  });
}

export function removeOverride({ level, resource, node, configured }) {
  ask({ title: `Back to the configured limit of ${resource}`, text: configured === undefined ? '' : `It will be ${count(configured)} again on ${node ?? `all nodes of ${level}`}.`, button: 'Remove the override', cli: ({ reason }) => command(['clear-limit', level, resource], { node, reason }),
    act: async ({ reason }) => { await request('DELETE', ['limits', level, resource, ...(node === undefined ? [] : [node])], { query: { reason } }); return 'The configured limit counts again'; } });
}

/** Resources by level, from the settings in force. */
export function levelResources(settings) {
  return Object.entries(settings?.effective?.resources ?? {}).flatMap(([level, all]) => Object.entries(all ?? {}).map(([resource, r]) => ({ level, resource, limit: r?.limit })));
}

/** Nodes to which an operator has given another limit. */
function Single({ r, overrides }) {
  const own = overrides.filter((o) => o.level === r.level && o.resource === r.resource && o.node !== undefined);
  if (own.length === 0) return '–';
  return t.span(own.slice(0, 5).map((o) => t.span({ key: o.node }, t.a({ href: nodeLink(o.level, o.node), class: 'name', dir: 'auto' }, o.node), ` ${count(o.limit)} `)),
    own.length > 5 && `and ${count(own.length - 5)} more`);
}

const MOST_RULES = 200;

/** Which nodes an entry of node_resources_override means. */
function Meant({ rule }) {
  if (rule.name !== undefined) {
    return rule.level === 'worker' ? t.span({ class: 'name', dir: 'auto' }, rule.name) : t.a({ href: nodeLink(rule.level, rule.name), class: 'name', dir: 'auto' }, rule.name);
  }
  const [words, text] = rule.tag !== undefined ? ['with the tag', rule.tag] : rule.regex !== undefined ? ['whose name matches', rule.regex] : ['with the attribute', rule.value === undefined ? rule.attribute : `${rule.attribute} = ${rule.value}`];
  return t.span(words, ' ', t.span({ class: 'name', dir: 'auto' }, text));
}

/** The limits of single nodes, as the configuration gives them. */
function Configured({ rules }) {
  const rows = rules.flatMap((rule, i) => (rule.limits ? Object.entries(rule.limits) : [[rule.resource]]).map(([resource, limit]) => ({ key: `${i} ${resource}`, rule, resource, limit })));
  return c(Panel, { title: 'Of single nodes', id: 'h-nodes', note: 'as configured; of several that match a node, the last counts' },
    t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Limits of single nodes' }, t.table(
      t.thead(t.tr(t.th({ scope: 'col' }, 'Level'), t.th({ scope: 'col' }, 'Nodes'), t.th({ scope: 'col' }, 'Resource'), t.th({ scope: 'col', class: 'num' }, 'Limit'))),
      t.tbody(rows.slice(0, MOST_RULES).map(({ key, rule, resource, limit }) => t.tr({ key }, t.td({ dir: 'auto' }, rule.level), t.td(c(Meant, { rule })), t.td({ dir: 'auto' }, resource),
        t.td({ class: 'num' }, limit === undefined ? t.span('its ', t.span({ class: 'name', dir: 'auto' }, rule.attribute)) : t.strong(count(limit)))))))),
    rows.length > MOST_RULES && t.p({ class: 'soft' }, `and ${count(rows.length - MOST_RULES)} more`));
}

export default function Limits({ route }) {
  const { data, error, again } = useData((signal) => maybe(['limits'], {}, signal), ['limits']);
  const { data: settings } = useData((signal) => get(['settings'], {}, signal), ['settings'], { every: 10000 });
  const resources = levelResources(settings);
  const rules = settings?.effective?.node_resources_override ?? [];
  return t.div({ class: 'page' },
    c(Title, { sub: 'What counts now in place of the configuration. Limits of single nodes are changed in the tree.', actions: may('operator') && t.button({ type: 'button', class: 'danger', onClick: brakeAll }, 'Brake everything') }, 'Limits'),
    c(Failure, { error, retry: again }),
    data === null ? c(Empty, { title: 'Not offered' }, 'This server cannot change limits while it runs.')
      : !data ? !error && c(Waiting) : t.div(
        c(Panel, { title: 'Overrides', id: 'h-overrides', note: plural(data.overrides.length, 'override') }, data.overrides.length === 0
          ? c(Empty, { title: 'No overrides' }, 'Every limit is as configured.')
          : t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'List of overrides' }, t.table(
            t.thead(t.tr(t.th({ scope: 'col' }, 'Where'), t.th({ scope: 'col' }, 'Resource'), t.th({ scope: 'col', class: 'num' }, 'Limit'), t.th({ scope: 'col', class: 'num' }, 'Configured'), t.th({ scope: 'col' }, 'Until'), t.th({ scope: 'col' }, 'Who, why'), may('operator') && t.th({ scope: 'col' }, t.span({ class: 'hidden' }, 'Actions')))),
            t.tbody(data.overrides.map((o) => t.tr({ key: `${o.level} ${o.resource} ${o.node}` },
              t.td(o.node !== undefined ? t.a({ href: nodeLink(o.level, o.node), class: 'name', 'data-row': true, dir: 'auto' }, o.node || 'instance') : t.span('all of ', t.strong({ dir: 'auto' }, o.level))), t.td({ dir: 'auto' }, o.resource),
              t.td({ class: 'num' }, t.strong(count(o.limit))), t.td({ class: 'num' }, count(o.configured)), t.td({ class: 'nowrap' }, o.expires_at_ms ? t.span(c(At, { ms: o.expires_at_ms }), ' ', t.small(c(Ago, { ms: o.expires_at_ms }))) : 'removed'),
              t.td({ dir: 'auto' }, [o.author, o.reason].filter(Boolean).join(': '), ' ', t.small(c(Ago, { ms: o.set_at_ms }))),
              may('operator') && t.td(t.div({ class: 'actions' }, t.button({ type: 'button', class: 'small', onClick: () => override({ ...o }) }, 'Change'), t.button({ type: 'button', class: 'small', onClick: () => removeOverride(o) }, 'Remove'))))))))),
        resources.length > 0 && c(Panel, { title: 'By level', id: 'h-levels', note: 'as configured, and what is in force' }, t.div({ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Limits by level' }, t.table(
          t.thead(t.tr(t.th({ scope: 'col' }, 'Level'), t.th({ scope: 'col' }, 'Resource'), t.th({ scope: 'col', class: 'num' }, 'Configured for each node'), t.th({ scope: 'col', class: 'num' }, 'In force'), t.th({ scope: 'col' }, 'Overrides of single nodes'), may('operator') && t.th({ scope: 'col' }, t.span({ class: 'hidden' }, 'Actions')))),
          t.tbody(resources.map((r) => t.tr({ key: `${r.level} ${r.resource}` }, t.td({ dir: 'auto' }, r.level), t.td({ dir: 'auto' }, r.resource), t.td({ class: 'num' }, count(r.limit)), t.td({ class: 'num' }, t.strong(count(data.overrides.find((o) => o.level === r.level && o.resource === r.resource && o.node === undefined)?.limit ?? r.limit))), t.td(c(Single, { r, overrides: data.overrides })),
            may('operator') && t.td(t.div({ class: 'actions' }, t.button({ type: 'button', class: 'small', 'aria-label': `Override ${r.resource} on ${r.level}`, onClick: () => override(r) }, c(Icon, { name: 'edit' }), 'Override'))))))))),
        rules.length > 0 && c(Configured, { rules }),
        c(Quarantines),
        c(Groups, { route })));
}
