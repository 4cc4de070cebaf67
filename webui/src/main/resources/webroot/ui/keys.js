// The keys of the page of one scheduler and of the one over many.
import { useEffect, useRef } from './dom.js';
import { go, to } from './route.js';
import { refresh } from './live.js';
import { turnTheme } from './frame.js';
import { anyDialog, askForKeys, askWhereTo } from './dialogs.js';

/** A row of a list leads where its name does; links and buttons in it, and marking text, work as ever. */
function openRow(e) {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.shiftKey || e.target.closest('a, button, input, select, summary, label, th') || String(getSelection())) return;
  e.target.closest('main tbody tr')?.querySelector('a[data-row], button[data-row]')?.click();
}

function rows() { return Array.from(document.querySelectorAll('main [data-row]')).filter((e) => e.offsetParent !== null); }

function move(by) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

/** @param pages as [path, word, key after g] */
export function useKeys(pages) {
  const prefix = useRef(0);
  useEffect(() => {
    const press = (e) => {
      if ((e.ctrlKey || e.metaKey) && e.key === 'k' && !anyDialog()) { e.preventDefault(); askWhereTo(); return; }
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || anyDialog()) return;
      const field = e.target.closest?.('input, textarea, select');
      if (field) {
        if (e.key === 'Escape') field.blur();
        return;
      }
      const afterG = Date.now() - prefix.current < 1500;
      prefix.current = 0;
      if (afterG) {
        const page = pages.find(([, , key]) => key === e.key);
        if (page) { e.preventDefault(); go(to(page[0] ? [page[0]] : [])); return; }
      }
      const tab = /^[1-9]$/.test(e.key) && document.querySelectorAll('.tabs a')[Number(e.key) - 1];
      if (tab) { e.preventDefault(); tab.click(); return; }
      const known = {
        g: () => { prefix.current = Date.now(); },
        '?': askForKeys,
        '/': () => document.querySelector('[data-search]')?.focus(),
        j: () => move(1), k: () => move(-1),
        r: refresh,
        '.': () => document.querySelector('button.live')?.click(),
        d: turnTheme,
        u: () => document.querySelector('[data-up]')?.click(),
        '[': () => document.querySelector('[data-key="["]')?.click(),
        ']': () => document.querySelector('[data-key="]"]')?.click(),
      }[e.key];
      if (known) { e.preventDefault(); known(); }
    };
    addEventListener('keydown', press);
    addEventListener('click', openRow);
    return () => { removeEventListener('keydown', press); removeEventListener('click', openRow); };
  }, []);
}
