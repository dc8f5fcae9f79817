import { BANS, canonicalName, isNearName } from '../../lib/field-names.js';
import { isRecord } from '../../lib/own.js';

export const FENCE = 'fence-tools';
/** What only counts when it is written exactly so. */
export const GRANT = 'allowed-tools';
/** What holds things back, or may: it is never passed over. */
export const RESTRICTIONS: readonly string[] = ['disallowed-tools', 'hooks', 'portcullis'];
export const WHO_MAY_CALL: readonly string[] = ['disable-model-invocation', 'user-invocable'];

const CANONICAL_FENCE = canonicalName(FENCE);
const CANONICAL_GRANT = canonicalName(GRANT);
const names = [...RESTRICTIONS, FENCE, ...WHO_MAY_CALL].map((field) => ({
  field,
  plain: canonicalName(field),
}));
/** Other words are as short as `hooks`, and as near to it. */
const LONG = 8;

export function isFence(written: string): boolean {
  return canonicalName(written) === CANONICAL_FENCE;
}

/** The restriction that a name is up to two mistakes away from, or another word for. */
export function nearRestriction(written: string): string | undefined {
  const plain = canonicalName(written);
  const near = names.find((name) => isNearName(plain, name.plain, LONG))?.field;
  return near ?? (BANS.test(plain) ? RESTRICTIONS[0] : undefined);
}

/** Whether a name is up to two mistakes away from `allowed-tools`, which many take for a restriction. */
export function isNearGrant(written: string): boolean {
  return isNearName(canonicalName(written), CANONICAL_GRANT, LONG);
}

/** Restrictions in a name of several parts (`portcullis.fence-tools`), or in what is to be merged. */
export function hiddenRestriction(written: string, value: unknown): string | undefined {
  const parts = written === '<<' ? namesIn(value) : written.split(/[.:/]/);
  return parts.length > 1 || written === '<<'
    ? parts.map(nearRestriction).find((field) => field !== undefined)
    : undefined;
}

function namesIn(value: unknown): readonly string[] {
  const maps: readonly unknown[] = Array.isArray(value) ? value : [value];
  return maps.flatMap((map) => (isRecord(map) ? Object.keys(map) : []));
}
