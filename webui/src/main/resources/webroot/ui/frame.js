// What the page of one scheduler and the one over many have around their content: theme, zone, no answer, title and place.
import { t, c, cls, useEffect, useRef, useState } from './dom.js';
import { comingTo, scrollBack } from './route.js';
import { schedulerName } from './api.js';
import { refresh, useBeats, useLiveState, useNow } from './live.js';
import { Icon } from './parts.js';
import { seconds, stamp, time, turnZone, zone } from './format.js';

const THEMES = { '': 'dark', dark: 'light', light: '' };
const theme = () => document.documentElement.dataset.theme ?? '';

export function turnTheme() {
  const next = THEMES[theme()];
  if (next) document.documentElement.dataset.theme = next; else delete document.documentElement.dataset.theme;
  try { next ? localStorage.setItem('espalier.theme', next) : localStorage.removeItem('espalier.theme'); } catch { /* Until it is reloaded. */ }
  dispatchEvent(new Event('themechange'));
}

/** Draws again when something of the whole page has changed, such as its theme or its zone. */
export function useTurned(event) {
  const [, again] = useState(0);
  useEffect(() => {
    const w = () => again((n) => n + 1);
    addEventListener(event, w);
    return () => removeEventListener(event, w);
  }, [event]);
}

export function Theme() {
  useTurned('themechange');
  return t.button({ type: 'button', class: 'quiet icon-only', onClick: turnTheme, title: 'Theme (d)', 'aria-label': `Theme: ${theme() || 'as the system'}` },
    c(Icon, { name: theme() === 'dark' ? 'moon' : 'sun' }), t.small({ 'aria-hidden': 'true' }, theme() === '' ? 'auto' : ''));
}

/** In which zone all times are; press for the other one. */
export function Zone() {
  return t.button({ type: 'button', class: 'link', onClick: turnZone, title: zone() === 'UTC' ? 'Press for the zone of this browser' : 'Press for UTC, as in the logs of servers' }, `Times: ${zone()}`);
}

/** Beats once each time the page has looked again; stands still while nothing happens. */
export function Pulse() {
  return t.span({ class: 'pulse', 'aria-hidden': 'true' }, t.span({ key: useBeats() }));
}

/** Since when nobody answers, and how old what is shown is. */
export function NoAnswer() {
  const { lostSince, answeredAt } = useLiveState();
  const now = useNow(1000);
  if (!lostSince) return null;
  return t.div({ class: 'no-answer', role: 'alert' }, c(Icon, { name: 'warn' }),
    t.span(t.strong(`No answer since ${time(lostSince)}`), t.span({ 'aria-hidden': 'true' }, ` (${seconds(Math.max(0, (now - lostSince) / 1000))})`), '. ',
      answeredAt ? t.span({ title: stamp(answeredAt) }, `What is shown is as of ${time(answeredAt)}. `) : '', 'It is tried again by itself.'),
    t.button({ type: 'button', class: 'quiet', onClick: refresh }, 'Try now'));
}

/**
 * After a move the focus is on the new page's heading, so that a screen reader reads it and Tab goes on there, and the
 * page is where it was left if one came back to it.
 *
 * @param path which page it is; the title of the window names it
 * @param part which part of a list, where that is a place of its own
 */
export function usePlace(path, part) {
  const first = useRef(true);
  const name = schedulerName();
  useEffect(() => {
    const back = comingTo();
    const focus = () => {
      const heading = document.querySelector('main h1');
      if (!heading) return false;
      document.title = [heading.textContent, heading.dataset.of, schedulerName(), 'Espalier'].filter(Boolean).join(' · ');
      if (!first.current && !document.querySelector('main').contains(document.activeElement)) {
        heading.focus({ preventScroll: true });
        if (back) scrollBack(back); else scrollTo(0, 0);
      }
      first.current = false;
      return true;
    };
    if (!first.current) document.activeElement?.blur?.();
    if (focus()) return undefined;
    const seen = new MutationObserver(() => { if (focus()) seen.disconnect(); });
    seen.observe(document.querySelector('main'), { childList: true, subtree: true });
    return () => seen.disconnect();
  }, [path]);
  useEffect(() => {
    const heading = document.querySelector('main h1');
    if (heading && name) document.title = [heading.textContent, heading.dataset.of, schedulerName(), 'Espalier'].filter(Boolean).join(' · ');
  }, [name]);
  const before = useRef([path, part]);
  useEffect(() => {
    const [oldPath, oldPart] = before.current;
    before.current = [path, part];
    if (oldPath === path && oldPart !== part) scrollBack(comingTo() ?? 0);
  }, [path, part]);
}

/** The content; dim while nobody answers. */
export function Main({ page, children }) {
  const { lostSince } = useLiveState();
  return t.main({ id: 'main', 'data-page': page, class: cls(lostSince > 0 && 'is-old') }, children);
}
