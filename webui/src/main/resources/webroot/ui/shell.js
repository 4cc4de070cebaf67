// The same from the command line: what a dialog does, as a command that can be copied.
import { t, c } from './dom.js';
import { hasToken } from './api.js';
import { Copy } from './parts.js';

const quoted = (word) => /^[\w./:@%+=,-]+$/.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`;

/** The address to give with --server: where this page lies. */
const server = () => new URL('.', document.baseURI).href.replace(/\/$/, '');

/**
 * @param words the command and its arguments
 * @param flags by name without dashes; one that is empty is left out, an array is repeated, true has no value
 */
export function command(words, flags = {}) {
  const given = Object.entries({ ...flags, server: server() }).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).filter((v) => v !== undefined && v !== '' && v !== false).map((v) => v === true ? `--${name}` : `--${name} ${quoted(v)}`));
  return ['espalier', ...words.map(quoted), ...given].join(' ');
}

/** A call of the API, for what no command does. Tokens are in a variable: a history of commands is no place for them. */
export function curl(path, body) {
  const url = new URL(['api/v1', ...path.map(encodeURIComponent)].join('/'), document.baseURI).href;
  const token = hasToken() ? ' --header "Authorization: Bearer $ESPALIER_TOKEN"' : '';
  return `curl --fail-with-body${token} --header 'Content-Type: application/json' --data ${quoted(JSON.stringify(body))} ${quoted(url)}`;
}

export function Cli({ text }) {
  return t.details({ class: 'cli' }, t.summary('The same from the command line'), t.div(t.code({ dir: 'ltr' }, text), c(Copy, { text })));
}
