// Numbers and times for people. All times of the server are epoch milliseconds.
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const UNITS = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];

export const count = (n) => n === undefined || n === null ? '–' : whole.format(n);

export const compact = (n) => n < 1000000 ? whole.format(n) : short.format(n);

export function plural(n, one, many = `${one}s`) { return `${count(n)} ${n === 1 ? one : many}`; }

export function share(part, total) {
  if (!(total > 0)) return '';
  const p = 100 * part / total;
  // Never "100 %" while something is left, nor "0 %" when something is there.
  if (p > 99 && part < total) return p > 99.9 ? '> 99.9 %' : `${Math.floor(p * 10) / 10} %`;
  if (p > 0 && p < 0.1) return '< 0.1 %';
  return p < 10 && p > 0 ? `${p.toFixed(1)} %` : `${Math.floor(p)} %`;
}

/** The two largest units, such as "2 h 5 min". */
export function seconds(s) {
  if (s === undefined || s === null || !Number.isFinite(s)) return '–';
  if (s < 1) return s <= 0 ? '0 s' : '< 1 s';
  if (s > 86400 * 400) return `${count(Math.round(s / 86400))} d`;
  const parts = [];
  let rest = Math.round(s);
  for (const [unit, size] of UNITS) {
    const n = Math.floor(rest / size);
    if (n > 0 || parts.length > 0) { if (n > 0) parts.push(`${n} ${unit}`); rest -= n * size; if (parts.length === 2 || unit === 's') break; }
  }
  return parts.slice(0, 2).join(' ');
}

export const millis = (ms) => ms === undefined || ms === null ? '–' : ms > 0 && ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms / 1000);

export function ago(ms, now = Date.now()) {
  if (!ms) return '–';
  const s = (now - ms) / 1000;
  if (s < 0) return `in ${seconds(-s)}`;
  return s < 2 ? 'just now' : `${seconds(s)} ago`;
}

export function rate(perSecond) {
  if (perSecond === undefined || perSecond === null) return '–';
  if (perSecond === 0) return '0 / s';
  if (perSecond < 1 / 60) return `${(perSecond * 3600).toFixed(1)} / h`;
  if (perSecond < 1) return `${(perSecond * 60).toFixed(1)} / min`;
  return perSecond < 100 ? `${perSecond.toFixed(1)} / s` : `${compact(Math.round(perSecond))} / s`;
}

export function bytes(n) {
  if (n === undefined || n === null) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

const LOCAL = Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'local time';
let utc = false;
try { utc = localStorage.getItem('espalier.zone') === 'UTC'; } catch { /* Then it is the browser's own. */ }

/** The zone of all times on the page: the browser's own, or UTC as in logs of servers. */
export const zone = () => utc ? 'UTC' : LOCAL;

/** The browser's own zone in place of UTC, or the other way round. */
export function turnZone() {
  utc = !utc;
  try { utc ? localStorage.setItem('espalier.zone', 'UTC') : localStorage.removeItem('espalier.zone'); } catch { /* Until it is reloaded. */ }
  dispatchEvent(new Event('zonechange'));
}

/** A date whose UTC fields are those of the zone. */
const shifted = (ms) => new Date(utc ? ms : ms - 60000 * new Date(ms).getTimezoneOffset());

/** In the zone of the page; the day only when it is not today. */
export function time(ms, withMillis = false) {
  if (!ms) return '–';
  const [day, clock] = shifted(ms).toISOString().split('T');
  const short = clock.slice(0, withMillis ? 12 : 8);
  return day === shifted(Date.now()).toISOString().slice(0, 10) ? short : `${day} ${short}`;
}

/** Day, time and zone, such as "2026-11-23 09:58:01.250 Europe/Berlin". */
export const stamp = (ms) => ms ? `${shifted(ms).toISOString().slice(0, 23).replace('T', ' ')} ${zone()}` : '';

export const fullTime = (ms) => ms ? new Date(ms).toISOString() : '';

/** Where a task runs or ran: the worker as the list of workers names it. */
export const workerName = (worker) => worker || 'this scheduler';
