// What is shown is fetched again when the scheduler says that something happened: at most once a second, less often
// when answers take long, and not at all while nobody looks.
import { useEffect, useRef, useState } from './dom.js';
import { onSession, session, stream } from './api.js';

const PERIOD_MS = 1000;
const IDLE_MS = 15000;
const HIDDEN_MS = 30000;
// More events than anybody could follow: looking once a second costs both sides less than reading them all.
const BUSY_EVENTS = 400;
const BUSY_MS = 10000;

export const live = { state: 'connecting', paused: false };
const beatWatchers = new Set();
const watchers = new Set();
const eventWatchers = new Set();
const stateWatchers = new Set();
let timer = 0;
let last = 0;
let stop = null;
let hiding = 0;

function setState(state) {
  if (live.state !== state) { live.state = state; stateWatchers.forEach((w) => w()); }
}

/** Everybody looks again soon. */
export function soon() {
  if (timer || document.hidden || live.paused) return;
  timer = setTimeout(() => {
    timer = 0;
    last = Date.now();
    beatWatchers.forEach((w) => w());
    watchers.forEach((w) => w());
  }, Math.max(0, last + PERIOD_MS - Date.now()));
}

export function refresh() { watchers.forEach((w) => w(true)); }

export function setPaused(paused) {
  live.paused = paused;
  stateWatchers.forEach((w) => w());
  if (!paused) refresh();
}

let second = 0;
let events = 0;
let busy = 0;

function countOne() {
  const now = Math.floor(performance.now() / 1000);
  if (now !== second) { second = now; events = 0; }
  if (++events < BUSY_EVENTS || busy) return;
  close();
  busy = setInterval(soon, PERIOD_MS);
  setTimeout(() => { clearInterval(busy); busy = 0; if (!document.hidden) open(); }, BUSY_MS);
}

function open() {
  if (busy) return;
  stop ??= stream(['events'], {
    on: (message) => { eventWatchers.forEach((w) => w(message)); soon(); countOne(); },
    state: (state) => { setState(state === 'refused' ? 'polling' : state === 'open' ? 'live' : 'away'); soon(); },
  });
}

function close() { stop?.(); stop = null; }

export function start() {
  open();
  setInterval(soon, IDLE_MS);
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding);
    if (document.hidden) {
      // A browser has few connections for one server; a tab in the background keeps none.
      hiding = setTimeout(close, HIDDEN_MS);
    } else {
      open();
      soon();
    }
  });
}

export function useLiveState() {
  const [, again] = useState(0);
  useEffect(() => {
    const w = () => again((n) => n + 1);
    stateWatchers.add(w);
    const off = onSession(w);
    w();
    return () => { stateWatchers.delete(w); off(); };
  }, []);
  return { ...live, me: session.me, answeredAt: session.answeredAt, lostSince: session.lostSince };
}

/** Counts how often everybody has looked again. */
export function useBeats() {
  const [beats, setBeats] = useState(0);
  useEffect(() => {
    const w = () => setBeats((n) => n + 1);
    beatWatchers.add(w);
    return () => beatWatchers.delete(w);
  }, []);
  return beats;
}

export function useEvents(on) {
  const latest = useRef(on);
  latest.current = on;
  useEffect(() => {
    const w = (message) => latest.current(message);
    eventWatchers.add(w);
    return () => eventWatchers.delete(w);
  }, []);
}

/**
 * The answer of `load(signal)`, kept current. `deps` say when it is another question: then the old answer goes, unless
 * `keep`. Errors leave the last good answer in place and come beside it.
 */
export function useData(load, deps, { keep = false, every = 0 } = {}) {
  const [held, setHeld] = useState({ data: undefined, error: null, key: null });
  const key = JSON.stringify(deps);
  const again = useRef(() => {});
  useEffect(() => {
    const control = new AbortController();
    let busy = false;
    let wanted = false;
    let notBefore = 0;
    let later = 0;
    const look = async (now) => {
      if (control.signal.aborted) return;
      if (busy) { wanted = true; return; }
      const wait = notBefore - Date.now();
      if (!now && wait > 0) {
        later ||= setTimeout(() => { later = 0; look(); }, wait);
        return;
      }
      busy = true;
      const began = performance.now();
      try {
        const data = await load(control.signal);
        if (!control.signal.aborted) setHeld({ data, error: null, key });
      } catch (error) {
        if (!control.signal.aborted) setHeld((old) => ({ data: old.key === key || keep ? old.data : undefined, error, key }));
      }
      busy = false;
      // An expensive answer is asked for less often.
      notBefore = Date.now() + Math.max(every, 4 * (performance.now() - began));
      if (wanted) { wanted = false; soon(); }
    };
    again.current = () => look(true);
    watchers.add(look);
    look(true);
    return () => { control.abort(); clearTimeout(later); watchers.delete(look); };
  }, [key]);
  const current = held.key === key;
  return {
    data: current || keep ? held.data : undefined,
    error: current ? held.error : null,
    loading: !current,
    again: () => again.current(),
  };
}

/** One clock for each period, however many ages are shown; none while no age is. */
const clocks = new Map();

function onTick(periodMs, listener) {
  const clock = clocks.get(periodMs) ?? { listeners: new Set(), id: 0 };
  clocks.set(periodMs, clock);
  clock.listeners.add(listener);
  clock.id ||= setInterval(() => { if (!document.hidden) clock.listeners.forEach((l) => l()); }, periodMs);
  return () => {
    clock.listeners.delete(listener);
    if (clock.listeners.size === 0) { clearInterval(clock.id); clock.id = 0; }
  };
}

/** The time, so that ages grow while nothing else changes. */
export function useNow(periodMs = 1000) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => onTick(periodMs, () => setNow(Date.now())), [periodMs]);
  return now;
}
