// The same from the command line: what a dialog does, as a command that can be copied.
import { t, c } from './dom.js';
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

export function Cli({ text }) {
  return t.details({ class: 'cli' }, t.summary('The same from the command line'), t.div(t.code({ dir: 'ltr' }, text), c(Copy, { text })));
}
