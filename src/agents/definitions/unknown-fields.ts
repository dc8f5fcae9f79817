import { editDistance } from '../../lib/nearest.js';
import { oneLine } from '../../skills/discovery/names.js';
import { BANS } from '../../skills/head/restrictions.js';
import { OWN_NAMES, plain } from './values.js';

/** Fields that hold an agent back: without them it may do more than was meant. */
export const LIMITS: readonly string[] = [
  'tools',
  'disallowedTools',
  'permissionMode',
  'maxTurns',
  'isolation',
  'hooks',
  'portcullis',
];

/** The limit that an unknown field was meant to be, as a remedy; undefined when it was none. */
export function limitMeant(written: string): string | undefined {
  const name = plain(written);
  if (name.length > LONGEST) return undefined;
  const [first = '', ...inner] = name.split(/[.:/]/);
  if (inner.length > 0 && isNear(first, 'portcullis')) {
    return `write "${oneLine(inner.join('.'))}" in a map below "portcullis:"`;
  }
  const ours = OWN_NAMES.find((one) => plain(one) === name);
  if (ours !== undefined) return `"${ours}" stands below "portcullis:"`;
  const close = nearLimit(name);
  return close === undefined ? undefined : `the field is called ${close}`;
}

/** The limit that a name is a mistake or two away from, or another word for. */
export function nearLimit(written: string): string | undefined {
  const name = plain(written);
  if (name.length > LONGEST) return undefined;
  const close = spellings.find((one) => isNear(name, one.plain))?.field;
  return close ?? (BANS.test(name) ? 'disallowedTools' : undefined);
}

/** Several words in one, as no sentence has them. */
export function isCompound(word: string): boolean {
  return /[a-z][A-Z]|[-_]/.test(word);
}

/** More is no slip of the pen. */
const LONGEST = 40;
/** Shorter names are as near to other words. */
const LONG = 10;

const spellings = [
  ...LIMITS.map((field) => ({ field, plain: plain(field) })),
  // Of skills, which call it so.
  { field: 'tools', plain: 'allowedtools' },
  { field: 'tools', plain: 'fencetools' },
];

function isNear(name: string, limit: string): boolean {
  const most = limit.length < LONG ? 1 : 2;
  return Math.abs(name.length - limit.length) <= most && editDistance(name, limit) <= most;
}
