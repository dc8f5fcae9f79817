/** Tests, options and actions of find that change nothing, with the number of their arguments. */
export const primaries: ReadonlyMap<string, number> = new Map([
  ...[
    '-empty',
    '-print',
    '-print0',
    '-ls',
    '-prune',
    '-not',
    '-a',
    '-and',
    '-o',
    '-or',
    '!',
    '(',
    ')',
    ',',
  ].map(none),
  ...[
    '-readable',
    '-writable',
    '-executable',
    '-depth',
    '-xdev',
    '-mount',
    '-daystart',
    '-quit',
  ].map(none),
  ...['-true', '-false', '-nouser', '-nogroup', '-noleaf', '-ignore_readdir_race', '-nowarn'].map(
    none,
  ),
  ...['-name', '-iname', '-path', '-ipath', '-wholename', '-iwholename', '-regex', '-iregex'].map(
    one,
  ),
  ...['-regextype', '-type', '-xtype', '-maxdepth', '-mindepth', '-size', '-mtime', '-mmin'].map(
    one,
  ),
  ...[
    '-ctime',
    '-cmin',
    '-atime',
    '-amin',
    '-newer',
    '-anewer',
    '-cnewer',
    '-newermt',
    '-user',
  ].map(one),
  ...[
    '-group',
    '-uid',
    '-gid',
    '-perm',
    '-links',
    '-inum',
    '-samefile',
    '-printf',
    '-used',
    '-lname',
  ].map(one),
]);

const NAMES_A_FILE = new Set(['-newer', '-anewer', '-cnewer', '-samefile']);

/** The files that a find looks at, or undefined when it may do more than look. */
export function readsOfFind(values: readonly string[]): readonly string[] | undefined {
  let at = 0;
  while (values[at] === '-P') at++;
  const reads: string[] = [];
  for (; at < values.length; at++) {
    const value = values[at] ?? '';
    if (value.startsWith('-') || value === '(' || value === '!') break;
    reads.push(value);
  }
  for (; at < values.length; at++) {
    const primary = values[at] ?? '';
    const count = primaries.get(primary);
    if (count === undefined || at + count >= values.length) return undefined;
    if (NAMES_A_FILE.has(primary)) reads.push(values[at + 1] ?? '');
    at += count;
  }
  return reads;
}

function none(name: string): [string, number] {
  return [name, 0];
}

function one(name: string): [string, number] {
  return [name, 1];
}
