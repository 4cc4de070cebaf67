// What tasks have written: of one task as it is written, or of all tasks of a job, searched.
import { t, c, useEffect, useRef, useState } from '../dom.js';
import { get, maybe, stream } from '../api.js';
import { taskLink } from '../route.js';
import { At, Choice, Failure, Panel, Search, save } from '../parts.js';
import { plural, stamp } from '../format.js';

const STREAMS = [['', 'stdout and stderr'], ['stdout', 'stdout'], ['stderr', 'stderr'], ['statuses', 'statuses'], ['all', 'all']];
const MOST_LINES = 2000;
const PAGE = 200;
/** A search may look at much and find little: so many pages are asked for at once. */
const TRIES = 25;
const MOST_SAVED = 100000;

const text = (line) => line.text.replace(/\r?\n$/, '');

/** The newest lines of a query before a place, newest first, where it goes on, and whose lines are missing. */
async function newest(query, from) {
  const lines = [];
  let next = from;
  let missing = [];
  for (let i = 0; i < TRIES && lines.length < PAGE; i++) {
    const page = await maybe(['logs'], { ...query, order: 'desc', limit: PAGE, from: next });
    if (!page) break;
    lines.push(...page.lines);
    next = page.next;
    missing = page.missing ?? [];
    if (!next) break;
  }
  return { lines, next, missing };
}

/** Everything that a query finds, as a file. */
async function saved(query, name) {
  const lines = [];
  let next = '';
  let missing = [];
  do {
    const page = await get(['logs'], { ...query, order: 'asc', limit: 1000, from: next });
    page.lines.forEach((l) => lines.push(`${stamp(l.time_ms)} ${l.stream} ${query.node ? '' : `${l.node} `}${text(l)}`));
    next = page.next;
    missing = page.missing ?? [];
  } while (next && lines.length < MOST_SAVED);
  save(`${name}.log`, `${[...missing.map((m) => `# without ${m}`), ...lines].join('\n')}\n`, 'text/plain');
}

/**
 * @param node absent for all tasks of the job
 * @param regex which lines, with `search` to choose others; without them the panel keeps it
 */
export function Output({ job, node, invocation, regex: given, search }) {
  const [kind, setKind] = useState('');
  const [own, setOwn] = useState('');
  const [lines, setLines] = useState([]);
  const [follow, setFollow] = useState(node !== undefined);
  const [state, setState] = useState('');
  const [error, setError] = useState(null);
  const [older, setOlder] = useState('');
  const [missing, setMissing] = useState([]);
  const [busy, setBusy] = useState(true);
  const box = useRef(null);
  const regex = given ?? own;
  const streams = node !== undefined || follow;
  const query = { job, node, invocation, regex, stream: kind === 'all' ? ['stdout', 'stderr', 'statuses'] : kind || ['stdout', 'stderr'] };
  useEffect(() => {
    let over = false;
    let stop = () => {};
    let pending = [];
    let timer = 0;
    const flush = () => {
      timer = 0;
      const more = pending;
      pending = [];
      setLines((old) => { const known = new Set(old.map((l) => l.id)); return [...old, ...more.filter((l) => !known.has(l.id))].slice(-MOST_LINES); });
    };
    setError(null);
    setState('');
    setBusy(true);
    (async () => {
      try {
        const page = await newest(query, '');
        if (over) return;
        const first = page.lines.reverse();
        setLines(first);
        setOlder(page.next);
        setMissing(page.missing);
        if (streams) {
          stop = stream(['logs'], {
            query, from: first[first.length - 1]?.id ?? '', state: (s, e) => { if (!over) { setState(s); if (e) setError(e); } },
            on: (message) => {
              if (message.type === 'message') { pending.push(JSON.parse(message.data)); timer ||= setTimeout(flush, 150); }
              if (message.type === 'missing') setMissing(JSON.parse(message.data).missing);
              return message.type;
            },
          });
        }
      } catch (e) {
        if (!over) { setError(e); setLines([]); }
      }
      if (!over) setBusy(false);
    })();
    return () => { over = true; clearTimeout(timer); stop(); };
  }, [job, node, invocation, kind, regex, streams]);
  useEffect(() => { if (box.current && (follow || node === undefined)) box.current.scrollTop = box.current.scrollHeight; }, [lines, follow]);
  const before = async () => {
    if (node !== undefined) setFollow(false);
    setBusy(true);
    try {
      const page = await newest(query, older);
      setLines((old) => { const known = new Set(old.map((l) => l.id)); return [...page.lines.reverse().filter((l) => !known.has(l.id)), ...old]; });
      setOlder(page.next);
    } catch (e) { setError(e); }
    setBusy(false);
  };
  const download = async () => {
    setBusy(true);
    try { await saved(query, [job, node, invocation].filter(Boolean).join('-').replaceAll('/', '_')); } catch (e) { setError(e); }
    setBusy(false);
  };
  const attempt = (l, i) => i > 0 && node !== undefined && l.invocation && lines[i - 1].invocation && l.invocation !== lines[i - 1].invocation;
  return c(Panel, { title: 'Output', id: 'h-logs', note: busy ? 'reading …' : state === 'open' ? 'live' : state === 'closed' ? 'no connection' : '',
    actions: [c(Search, { key: 's', value: regex, label: 'Regular expression', change: search ?? setOwn }),
      c(Choice, { key: 'c', label: 'Stream', value: kind, options: STREAMS, change: setKind }),
      t.label({ key: 'f', class: 'choice' }, t.input({ type: 'checkbox', checked: follow, onChange: (e) => setFollow(e.target.checked) }), 'Follow'),
      t.button({ key: 'd', type: 'button', class: 'small', onClick: download, disabled: lines.length === 0 || busy, title: `The matching lines as a file, at most ${MOST_SAVED.toLocaleString('en')}` }, 'Download')] },
  c(Failure, { error }),
  missing.length > 0 && t.details({ class: 'notice' }, t.summary(`The output on ${plural(missing.length, 'worker')} cannot be read now`),
    t.ul(missing.map((m) => t.li({ key: m, dir: 'auto' }, m)))),
  t.div({ class: 'logs', ref: box, tabIndex: 0, role: 'log', 'aria-label': 'Output', 'aria-live': 'off',
    onScroll: (e) => { const b = e.target; const end = b.scrollHeight - b.scrollTop - b.clientHeight < 30; if (node !== undefined && end !== follow && !end) setFollow(false); } },
  older && t.button({ type: 'button', class: 'small', onClick: before, disabled: busy }, 'Older lines'),
  lines.length === 0 ? t.p({ class: 'soft' }, busy ? 'Reading …' : regex ? older ? 'Nothing found in the newest lines.' : 'No line matches.' : missing.length > 0 ? 'Nothing that can be read now.' : 'Nothing was written yet.')
    : lines.map((l, i) => t.div({ key: l.id, class: `line is-${l.stream}${attempt(l, i) ? ' is-next' : ''}` }, c(At, { ms: l.time_ms, millis: true }), t.span({ class: 'hidden' }, `${l.stream} `),
      node === undefined && t.a({ class: 'line-node', href: taskLink(job, l.node), dir: 'auto' }, l.node), t.span({ class: 'line-text' }, text(l))))));
}
