// A job that is not there yet: written, checked, counted, and saved only if there is still none of its name.
import { t, c, useMemo, useRef } from '../dom.js';
import { ApiError, get, may, maybe, request, session } from '../api.js';
import { useData } from '../live.js';
import { Crumbs, Empty, Panel, Title, Waiting } from '../parts.js';
import { ask } from '../dialogs.js';
import { command } from '../shell.js';
import { go, jobLink } from '../route.js';
import { Editor, parsed, planned, text, useCheck, useDraft } from './job-config.js';

const begin = () => text({ owner: session.me?.authenticated ? session.me.name : '', command: [], status_from: 'exit_code' });

/** What a scheduler adds when it saves a job. */
const STAMPS = ['version_id', 'create_time', 'modify_time'];

function same(job, value) {
  const bare = (of) => JSON.stringify(Object.entries(of).filter(([key]) => !STAMPS.includes(key)).sort());
  return bare(job.original) === bare(value);
}

/** Saves it once: where an answer was lost and it is asked again, what it finds is its own. */
async function create(name, value, query) {
  try {
    await request('PUT', ['jobs', name], { body: value, query, headers: { 'If-None-Match': '*' } });
  } catch (e) {
    if (!(e instanceof ApiError && e.status === 412)) throw e;
    const there = await maybe(['jobs', name]);
    if (!there || !same(there, value)) throw new Error(`There is a job called ${name} already. Choose another name, or edit that one.`);
  }
  // It is in force about half a second later.
  for (let i = 0; i < 20 && !await maybe(['jobs', name]); i++) await new Promise((r) => { setTimeout(r, 250); });
}

export default function NewJob() {
  const trail = c(Crumbs, { trail: [['Jobs', '#/'], ['New job']] });
  // A scheduler that keeps no versions cannot save either, and says why.
  const { data } = useData((signal) => get(['jobs', 'new', 'history'], {}, signal).then(() => ({}), (e) => {
    if (e instanceof ApiError && e.missing) return { refused: e.message };
    throw e;
  }), ['may save jobs']);
  return t.div({ class: 'page' }, trail, c(Title, null, 'New job'),
    !may('admin') ? c(Empty, { title: 'Only admins create jobs' })
      : !data ? c(Waiting) : data.refused ? c(Empty, { title: 'Jobs cannot be created here' }, data.refused) : c(Form));
}

function Form() {
  const [kept, keep] = useDraft('');
  const area = useRef(null);
  const name = kept?.name ?? '';
  const source = kept?.text ?? begin();
  const read = useMemo(() => parsed(source), [source]);
  const checked = useCheck(name || 'new', kept ? source : null, read.problem);
  const save = () => ask({
    title: `Create ${name}`, text: 'It is in force about half a second later, and its tasks start as soon as they may.', button: 'Create',
    fields: [{ name: 'author', label: 'Your name', hint: 'For the history of the job.' }],
    preview: planned({ [`bistro_job->${name}`]: read.value }),
    cli: ({ reason }) => command(['save-job', name, `${name.replaceAll(/[^\w.-]/g, '_')}.json`], { 'version-id': 0, reason }),
    act: async ({ author, reason }) => {
      await create(name, read.value, { author, reason });
      keep(null);
      go(jobLink(name));
      return `${name} is created`;
    },
  });
  const change = (next) => keep({ name, text: source, ...next });
  const wrong = !name || read.problem || !checked?.valid;
  return c(Panel, { title: 'Job', id: 'h-new', note: kept ? 'not saved; it stays in this tab' : 'as in the file of the configuration',
    actions: [kept && t.button({ key: 'x', type: 'button', onClick: () => keep(null) }, 'Discard'), t.button({ key: 's', type: 'button', class: 'primary', disabled: Boolean(wrong), onClick: save }, 'Create …')] },
  t.div({ class: 'field' }, t.label({ htmlFor: 'new-name' }, 'Name'),
    t.input({ id: 'new-name', type: 'text', value: name, autocomplete: 'off', spellcheck: false, dir: 'auto', onInput: (e) => change({ name: e.target.value }) })),
  c(Editor, { area, source, problem: read.problem, checked, change: (next) => change({ text: next }) }));
}
