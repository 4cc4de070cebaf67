// Why tasks of a job fail, and what they wait for, over all schedulers that have it.
import { t, c } from '../dom.js';
import { get, may } from '../api.js';
import { useData } from '../live.js';
import { jobLink, taskLink, to } from '../route.js';
import { Ago, Badge, Failure, Panel, Waiting } from '../parts.js';
import { count, plural } from '../format.js';
import { Host, act, schedulerLink } from './parts.js';

const SHOWN = 10;
const HOSTS = 4;

/** Where a group is: its schedulers with their numbers, and some of its tasks. */
function Where({ job, group, hash }) {
  const hosts = group.hosts.slice(0, HOSTS);
  const samples = hosts.flatMap((h) => h.samples.slice(0, 2).map((node) => [h.id, node])).slice(0, 6);
  return [t.p({ key: 'hosts', class: 'hosts' }, hosts.map((h) => t.span({ key: h.id }, c(Host, { id: h.id, hash }), ' ', t.small(count(h.count)))),
    group.schedulers > hosts.length && t.span({ class: 'soft' }, `and ${count(group.schedulers - hosts.length)} more`)),
  t.p({ key: 'samples', class: 'samples' }, samples.map(([id, node]) => t.a({ key: `${id} ${node}`, class: 'name', dir: 'auto', href: schedulerLink(id, taskLink(job, node)), title: `on ${id}` }, node)))];
}

function Groups({ title, id, none, path, member, job, kind, draw }) {
  const { data, error, again } = useData((signal) => get(['fleet', 'jobs', job, path], { kind }, signal), [path, job, kind], { every: 5000 });
  const groups = data?.[member] ?? [];
  return c(Panel, { title, id, note: data && t.span([data.total > 0 && plural(data.total, 'task'), data.missing_total > 0 && `${count(data.missing_total)} of ${plural(data.asked, 'scheduler')} did not answer`].filter(Boolean).join(' · ')) },
    c(Failure, { error, retry: again }),
    !data ? !error && c(Waiting) : groups.length === 0 ? t.p({ class: 'soft' }, none)
      : t.ul({ class: 'groups' }, groups.slice(0, SHOWN).map((g, i) => t.li({ key: i }, draw(g)))),
    data?.groups_total > SHOWN && t.p({ class: 'soft' }, `and ${plural(data.groups_total - SHOWN, 'more')}`.replace(/mores$/, 'more')));
}

/** @param job as the page over many schedulers has it; of one kind of settings only, where one is chosen */
export function Causes({ job, kind }) {
  const head = (g, more) => t.div({ class: 'group-head' }, t.strong({ class: 'group-count' }, count(g.count)), t.span({ class: 'group-message', dir: 'auto' }, g.message || 'no message'), more);
  return t.div({ class: 'grid' },
    c(Groups, { title: 'Failures by cause', id: 'h-failures', none: 'No task has failed.', path: 'failures', member: 'groups', job: job.name, kind, draw: (g) => [
      head(g), t.p({ class: 'soft' }, g.failed > 0 && `${count(g.failed)} for good`, g.failed > 0 && g.waiting > 0 && ', ', g.waiting > 0 && `${count(g.waiting)} tried again`, ` · on ${plural(g.schedulers, 'scheduler')}`, g.newest_ms && t.span(' · newest ', c(Ago, { ms: g.newest_ms }))),
      c(Where, { job: job.name, group: g, hash: to(['jobs', job.name, 'tasks'], { fingerprint: g.fingerprint }) }),
      may('operator') && t.div({ class: 'actions' }, ['forgive', 'rerun'].map((a) => t.button({ key: a, type: 'button', class: 'small', onClick: () => act(job, a, kind, { fingerprint: g.fingerprint }) }, a === 'rerun' ? 'Rerun' : 'Forgive')))] }),
    c(Groups, { title: 'What waits for what', id: 'h-waiting', none: 'Nothing waits.', path: 'waiting', member: 'reasons', job: job.name, kind, draw: (g) => [
      head(g, g.never && c(Badge, { kind: 'bad' }, 'never')), t.p({ class: 'soft' }, `on ${plural(g.schedulers, 'scheduler')}`), c(Where, { job: job.name, group: g, hash: jobLink(job.name) })] }));
}
