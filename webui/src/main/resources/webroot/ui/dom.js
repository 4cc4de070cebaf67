// Elements as functions: t.p({class: 'soft'}, 'text', t.b('more')). Strings only ever become text nodes.
import { h, Fragment, isValidElement, render, createRef } from './lib/preact.js';
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback } from './lib/hooks.js';

export { h, Fragment, render, createRef, useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback };

const isProps = (x) => x !== null && typeof x === 'object' && !Array.isArray(x) && !isValidElement(x);

export const t = new Proxy({}, {
  get: (made, tag) => made[tag] ??= (...args) =>
    isProps(args[0]) ? h(tag, args[0], ...args.slice(1)) : h(tag, null, ...args),
});

/** A component with children: c(Panel, {title: 'x'}, ...). */
export const c = h;

export const cls = (...names) => names.filter(Boolean).join(' ');
