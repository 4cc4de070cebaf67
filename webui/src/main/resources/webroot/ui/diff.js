/** The lines of two texts side by side: [[' ', both], ['-', old], ['+', new]]. Longest common subsequence. */
export function diff(before, after) {
  const a = before.split('\n');
  const b = after.split('\n');
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const x = a.slice(head, a.length - tail);
  const y = b.slice(head, b.length - tail);
  const same = (l) => [' ', l];
  return [...a.slice(0, head).map(same), ...middle(x, y), ...a.slice(a.length - tail).map(same)];
}

function middle(x, y) {
  // Too much to compare line by line: all of it is another.
  if (x.length * y.length > 4_000_000) return [...x.map((l) => ['-', l]), ...y.map((l) => ['+', l])];
  const w = y.length + 1;
  const common = new Uint32Array((x.length + 1) * w);
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      common[i * w + j] = x[i] === y[j] ? common[(i + 1) * w + j + 1] + 1 : Math.max(common[(i + 1) * w + j], common[i * w + j + 1]);
    }
  }
  const made = [];
  let i = 0;
  let j = 0;
  while (i < x.length && j < y.length) {
    if (x[i] === y[j]) { made.push([' ', x[i]]); i++; j++; }
    else if (common[(i + 1) * w + j] >= common[i * w + j + 1]) made.push(['-', x[i++]]);
    else made.push(['+', y[j++]]);
  }
  while (i < x.length) made.push(['-', x[i++]]);
  while (j < y.length) made.push(['+', y[j++]]);
  return made;
}

/** Only what changed, with `around` lines beside it; null stands for lines that were left out. */
export function folded(all, around = 3) {
  const end = all[all.length - 1];
  // What comes after the last line break of both texts is no line.
  const lines = end && end[0] === ' ' && end[1] === '' ? all.slice(0, -1) : all;
  const near = new Array(lines.length).fill(false);
  lines.forEach(([kind], i) => { if (kind !== ' ') near.fill(true, Math.max(0, i - around), i + around + 1); });
  // A fold takes a line itself.
  const isAlone = (i) => near[i - 1] !== false && near[i + 1] !== false;
  const made = [];
  lines.forEach((line, i) => { if (near[i] || isAlone(i)) made.push(line); else if (i === 0 || near[i - 1]) made.push(null); });
  return made;
}
