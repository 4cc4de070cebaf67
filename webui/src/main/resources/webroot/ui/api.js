// Requests to /api/v1, relative to where the page lies, so that it also works below another path.
const BASE = new URL('api/v1/', document.baseURI);
const KEY = `espalier.token ${BASE.pathname}`;
const ROLES = ['viewer', 'operator', 'admin'];

let token = stored();
let asking = null;
const listeners = new Set();

/** What the page knows about the one who looks at it. */
export const session = { me: null, needsToken: false, refused: '', answeredAt: 0, lostSince: 0 };

export class ApiError extends Error {
  constructor(status, body) {
    super(body?.detail || body?.title || `the server answered ${status}`);
    this.status = status;
    this.body = body ?? {};
  }

  /** The server does not offer that at all, or there is no such thing. */
  get missing() { return this.status === 404 || this.status === 405 || this.status === 501; }
}

function stored() { try { return sessionStorage.getItem(KEY) ?? ''; } catch { return ''; } }

export function onSession(listener) { listeners.add(listener); return () => listeners.delete(listener); }
function tell() { listeners.forEach((l) => l()); }

export function url(path, query = {}) {
  // No path can hold "." and "..", which only nodes are called.
  const odd = path.find((part) => part === '.' || part === '..');
  const made = new URL(path.map((part) => part === odd ? '-' : encodeURIComponent(part)).join('/'), BASE);
  if (odd) made.searchParams.append('node', odd);
  for (const [name, value] of Object.entries(query)) {
    for (const v of Array.isArray(value) ? value : [value]) {
      if (v !== undefined && v !== null && v !== '') made.searchParams.append(name, v);
    }
  }
  return made;
}

function headers(more) {
  return token ? { Authorization: `Bearer ${token}`, ...more } : more;
}

/** The dialog answers here; empty gives up. */
export function useToken(given) {
  token = given.trim();
  try { token ? sessionStorage.setItem(KEY, token) : sessionStorage.removeItem(KEY); } catch { /* Only for this page then. */ }
  session.needsToken = false;
  const waiting = asking;
  asking = null;
  waiting?.resolve();
  tell();
  if (token) learnWhoIAm();
}

/** Nothing that was seen with it stays. */
export function forgetToken() {
  try { sessionStorage.clear(); } catch { /* Nothing was there. */ }
  location.reload();
}

export const hasToken = () => token !== '';

/** Waits until somebody has given a token; all requests wait for the same one. */
function askForToken() {
  if (!asking) {
    session.needsToken = true;
    session.refused = token ? 'The server does not accept this token.' : '';
    let resolve;
    asking = { promise: new Promise((r) => { resolve = r; }) };
    asking.resolve = resolve;
    tell();
  }
  return asking.promise;
}

/** A response that is good; asks for a token when the server wants one. */
export async function request(method, path, { query, body, headers: more, signal, text } = {}) {
  for (;;) {
    const used = token;
    const response = await early(method, path, query) ?? await reach(url(path, query), {
      method,
      signal,
      cache: 'no-store',
      credentials: 'same-origin',
      headers: headers({
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(method === 'GET' ? {} : { 'Idempotency-Key': key() }),
        ...more,
      }),
      body: body === undefined ? undefined : text ? body : JSON.stringify(body),
    });
    if (response.status === 401) {
      if (used === token) await askForToken();
      continue;
    }
    if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => null));
    return response;
  }
}

/** As fetch; remembers when there was an answer, and since when there is none. */
async function reach(where, how) {
  try {
    const response = await fetch(where, how);
    session.answeredAt = Date.now();
    if (session.lostSince) { session.lostSince = 0; tell(); }
    return response;
  } catch (e) {
    if (e.name !== 'AbortError' && !session.lostSince) { session.lostSince = Date.now(); tell(); }
    throw e;
  }
}

/** The answer that early.js has asked for, once. */
async function early(method, path, query) {
  const begun = globalThis.espalierEarly;
  if (!begun || method !== 'GET' || path.length !== 1 || path[0] !== 'jobs' || Object.keys(query ?? {}).length > 0) return null;
  delete globalThis.espalierEarly;
  return begun.token === token ? begun.jobs.catch(() => null) : null;
}

function key() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join('');
}

export async function get(path, query, signal) {
  return (await request('GET', path, { query, signal })).json();
}

/** As get, but null where the server does not know the resource. */
export async function maybe(path, query, signal) {
  try {
    return await get(path, query, signal);
  } catch (e) {
    if (e instanceof ApiError && e.missing) return null;
    throw e;
  }
}

export async function post(path, body = {}) {
  return (await request('POST', path, { body })).json();
}

export async function learnWhoIAm() {
  try {
    session.me = await maybe(['me']) ?? { name: '', role: 'admin', authenticated: false, open: true };
  } catch {
    session.me = null;
  }
  tell();
}

/** Below /s/ID/ this is the page of one of many schedulers: what it is called there. Empty elsewhere. */
export const ofMany = decodeURIComponent(BASE.pathname.match(/\/s\/([^/]+)\/api\/v1\/$/)?.[1] ?? '');

/** What people call this scheduler: as in the list of many, or by its own name. */
export const schedulerName = () => ofMany || (session.me?.scheduler ?? '');

/** Whether the one who looks may do what needs that role. Not known yet: no. */
export function may(role) {
  return session.me !== null && ROLES.indexOf(session.me.role) >= ROLES.indexOf(role);
}

/** Whether the one who looks may steer the tasks of a job: as an operator of all, or of its queue. */
export const maySteer = (job) => may('operator') || (session.me?.operates_queues ?? []).includes(job.queue);

/**
 * Server-sent events through fetch, which can carry a token. Calls `on` with {id, type, data} and `state` with
 * 'open' or 'closed'; comes back by itself with the last id. Returns what ends it.
 */
export function stream(path, { query, on, state = () => {}, from }) {
  let last = from ?? '';
  let over = false;
  let pause = 500;
  let control = new AbortController();
  (async () => {
    while (!over) {
      try {
        const response = await request('GET', path, {
          query, signal: control.signal,
          headers: { Accept: 'text/event-stream', ...(last ? { 'Last-Event-ID': last } : {}) },
        });
        state('open');
        pause = 500;
        await read(response.body, (message) => {
          if (message.id) last = message.id;
          if (on(message) === 'end') { over = true; control.abort(); }
        }, () => over);
      } catch (e) {
        if (over || e.name === 'AbortError') break;
        if (e instanceof ApiError && e.status >= 400 && e.status < 500 && e.status !== 429) { state('refused', e); break; }
      }
      if (over) break;
      state('closed');
      await new Promise((r) => { setTimeout(r, pause * (0.75 + Math.random() / 2)); });
      pause = Math.min(pause * 2, 15000);
    }
  })();
  return () => { over = true; control.abort(); };
}

async function read(body, on, over) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let message = { id: '', type: 'message', data: [] };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
      if (line === '') {
        if (over()) return;
        if (message.data.length > 0) on({ ...message, data: message.data.join('\n') });
        message = { id: '', type: 'message', data: [] };
        continue;
      }
      const colon = line.indexOf(':');
      if (colon === 0) continue;
      const name = colon < 0 ? line : line.slice(0, colon);
      const text = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (name === 'data') message.data.push(text);
      else if (name === 'id') message.id = text;
      else if (name === 'event') message.type = text;
    }
  }
}
