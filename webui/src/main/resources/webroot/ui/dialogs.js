// Questions to the operator, and short news for him. Dialogs are the browser's own: modal, closed by Escape, and the
// focus goes back to where it was.
import { t, c, cls, useEffect, useRef, useState } from './dom.js';
import { Icon } from './parts.js';
import { Cli } from './shell.js';
import { Find } from './find.js';
import { hasToken, onSession, schedulerName, session, useToken } from './api.js';
import { refresh } from './live.js';

const open = { dialog: null, toasts: [] };
let redraw = () => {};
let ids = 0;

export function toast(text, bad = false) {
  const id = ++ids;
  open.toasts = [...open.toasts.slice(-3), { id, text, bad }];
  redraw();
  setTimeout(() => { open.toasts = open.toasts.filter((x) => x.id !== id); redraw(); }, bad ? 12000 : 6000);
}

function show(dialog) { open.dialog = dialog; redraw(); }
function closeDialog() { open.dialog = null; redraw(); }

/**
 * Asks, and then does it.
 *
 * @param ask {title, text, button, danger, fields: [{name, label, type, value, hint, options, required}], reason: bool,
 *     cli: (values, preview) => what does the same on the command line, preview: async (values) => text or {text, samples, empty}, act: async (values) => text of the news}
 */
export function ask(question) { show({ ...question, id: ++ids }); }

export function Field({ field, value, change }) {
  const id = `f-${field.name}`;
  const common = { id, value, required: field.required, 'aria-describedby': field.hint ? `${id}-hint` : undefined,
    onInput: (e) => change(field.type === 'checkbox' ? e.target.checked : e.target.value) };
  return t.div({ class: 'field' },
    t.label({ htmlFor: id }, field.label),
    field.options
      ? t.select({ ...common, onChange: common.onInput }, field.options.map(([v, word]) => t.option({ key: v, value: v, selected: v === value }, word)))
      : t.input({ type: field.type ?? 'text', min: field.min, step: field.step, autocomplete: 'off', placeholder: field.placeholder, ...common }),
    field.hint && t.p({ id: `${id}-hint`, class: 'soft' }, field.hint));
}

const REASON = { name: 'reason', label: 'Reason', placeholder: 'for the record', hint: 'It is kept in the audit log.' };

function Question({ q }) {
  const ref = useRef(null);
  const fields = [...(q.fields ?? []), ...(q.reason === false ? [] : [REASON])];
  const [values, setValues] = useState(Object.fromEntries(fields.map((f) => [f.name, f.value ?? ''])));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const [preview, setPreview] = useState(null);
  useEffect(() => {
    const dialog = ref.current;
    dialog.showModal();
    (dialog.querySelector('input, select') ?? dialog.querySelector('button.go'))?.focus();
    return () => dialog.close();
  }, []);
  const asked = JSON.stringify({ ...values, reason: '' });
  useEffect(() => {
    if (!q.preview) return undefined;
    let over = false;
    setPreview(null);
    const id = setTimeout(async () => {
      try {
        const p = await q.preview(values);
        if (!over) { setPreview(typeof p === 'string' ? { text: p } : p); setError(''); }
      } catch (e) {
        if (!over) { setPreview({ text: '', failed: true }); setError(e.message); }
      }
    }, 200);
    return () => { over = true; clearTimeout(id); };
  }, [asked]);
  const submit = async (e) => {
    e.preventDefault();
    setBusy(true);
    try {
      const news = await q.act(values, preview);
      closeDialog();
      if (news) toast(news);
      refresh();
    } catch (x) {
      setError(x instanceof TypeError ? 'The scheduler does not answer.' : x.message);
      setBusy(false);
    }
  };
  return t.dialog({ ref, class: 'ask', 'aria-labelledby': 'ask-title', onCancel: (e) => { e.preventDefault(); closeDialog(); } },
    t.form({ onSubmit: submit },
      t.h2({ id: 'ask-title' }, t.span({ dir: 'auto' }, q.title), schedulerName() && t.small(' on ', t.span({ dir: 'auto' }, schedulerName()))),
      q.text && t.p(q.text),
      fields.map((f) => c(Field, { key: f.name, field: f, value: values[f.name], change: (v) => setValues((old) => ({ ...old, [f.name]: v })) })),
      q.preview && t.div({ class: 'preview', role: 'status' },
        preview === null ? 'Counting …' : preview.text,
        preview?.samples?.length > 0 && t.p({ class: 'samples' }, preview.samples.map((n) => t.span({ key: n, class: 'name', dir: 'auto' }, n)))),
      q.more?.(),
      q.cli && c(Cli, { text: q.cli(values, preview) }),
      error && t.p({ class: 'failure', role: 'alert' }, c(Icon, { name: 'warn' }), t.span(error)),
      t.div({ class: 'buttons' },
        t.button({ type: 'button', onClick: closeDialog }, 'Cancel'),
        t.button({ type: 'submit', class: cls('go', q.danger || preview?.many ? 'danger' : 'primary'), disabled: busy || (q.preview && (!preview || preview.empty || preview.failed)) },
          busy ? 'Working …' : q.button))));
}

function TokenDialog() {
  const ref = useRef(null);
  const [text, setText] = useState('');
  useEffect(() => {
    ref.current.showModal();
    return () => ref.current?.close();
  }, []);
  // A browser closes a dialog at the second Escape whatever the page says: without a token there is nothing behind it.
  const again = () => { if (session.needsToken && ref.current && !ref.current.open) ref.current.showModal(); };
  return t.dialog({ ref, class: 'ask', 'aria-labelledby': 'token-title', onCancel: (e) => e.preventDefault(), onClose: again },
    t.form({ onSubmit: (e) => { e.preventDefault(); if (text.trim()) useToken(text); } },
      t.h2({ id: 'token-title' }, 'Token'),
      t.p('This scheduler tells nothing without a token. It is kept in this tab only, until you close it.'),
      t.div({ class: 'field' }, t.label({ htmlFor: 'token' }, 'Token'),
        t.input({ id: 'token', type: 'password', value: text, autocomplete: 'off', autofocus: true, onInput: (e) => setText(e.target.value) })),
      session.refused && t.p({ class: 'failure', role: 'alert' }, c(Icon, { name: 'warn' }), t.span(session.refused)),
      t.div({ class: 'buttons' }, t.button({ type: 'submit', class: 'primary go', disabled: !text.trim() }, 'Sign in'))));
}

export function askForKeys() { show({ keys: true }); }
export function askWhereTo() { show({ find: true }); }

function Keys({ keys: groups }) {
  const ref = useRef(null);
  useEffect(() => { const d = ref.current; d.showModal(); return () => d.close(); }, []);
  return t.dialog({ ref, class: 'ask keys', 'aria-labelledby': 'keys-title', onCancel: (e) => { e.preventDefault(); closeDialog(); } },
    t.h2({ id: 'keys-title' }, 'Keys'),
    t.div({ class: 'key-groups' }, groups.map(([title, keys]) => t.section({ key: title }, t.h3(title),
      t.dl(keys.map(([k, what]) => t.div({ key: k }, t.dt(k.split(/\s+/).map((x) => t.kbd({ key: x }, x))), t.dd(what))))))),
    t.div({ class: 'buttons' }, t.button({ type: 'button', class: 'go', onClick: closeDialog }, 'Close')));
}

/** @param keys by group, as [its title, [keys, what they do]]; @param find what `Find` takes */
export function Dialogs({ keys, find }) {
  const [, again] = useState(0);
  redraw = () => again((n) => n + 1);
  useEffect(() => {
    const off = onSession(() => redraw());
    // The server may have asked before this was there.
    redraw();
    return off;
  }, []);
  const d = open.dialog;
  return t.div(
    t.div({ class: 'toasts', role: 'status', 'aria-live': 'polite' },
      open.toasts.map((x) => t.p({ key: x.id, class: cls('toast', x.bad && 'bad') }, x.text))),
    d && (d.keys ? c(Keys, { key: 'keys', keys }) : d.find ? c(Find, { key: 'find', close: closeDialog, ...find }) : c(Question, { key: d.id, q: d })),
    session.needsToken && c(TokenDialog, { key: `token${hasToken()}` }));
}

export const anyDialog = () => open.dialog !== null || session.needsToken;
