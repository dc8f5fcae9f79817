import { editDistance } from '../../lib/nearest.js';
import { isRecord } from '../../lib/own.js';

/** `allowed-tools`, `allowedTools` and `Allowed_Tools` are one name. */
export function canonical(name: string): string {
  return name.replace(/[-_\s]/g, '').toLowerCase();
}

export const FENCE = 'fence-tools';
/** What only counts when it is written exactly so. */
export const GRANT = 'allowed-tools';
/** What holds things back, or may: it is never passed over. */
export const RESTRICTIONS: readonly string[] = ['disallowed-tools', 'hooks', 'portcullis'];
export const WHO_MAY_CALL: readonly string[] = ['disable-model-invocation', 'user-invocable'];

const CANONICAL_FENCE = canonical(FENCE);
const CANONICAL_GRANT = canonical(GRANT);
const names = [...RESTRICTIONS, FENCE, ...WHO_MAY_CALL].map((field) => ({
  field,
  plain: canonical(field),
}));
/** Other words are as short as `hooks`, and as near to it. */
const SHORT = 8;

export function isFence(written: string): boolean {
  return canonical(written) === CANONICAL_FENCE;
}

/** Other words for `disallowed-tools`, in canonical form. */
export const BANS =
  /^(?:den(?:y|ied)|block(?:ed)?|ban(?:ned)?|disabled?|forbidden|excluded?)tools?$/;

/** The restriction that a name is up to two mistakes away from, or another word for. */
export function nearRestriction(written: string): string | undefined {
  const plain = canonical(written);
  const near = names.find((name) => isNear(plain, name.plain))?.field;
  return near ?? (BANS.test(plain) ? RESTRICTIONS[0] : undefined);
}

/** Whether a name is up to two mistakes away from `allowed-tools`, which many take for a restriction. */
export function isNearGrant(written: string): boolean {
  return isNear(canonical(written), CANONICAL_GRANT);
}

function isNear(plain: string, name: string): boolean {
  const most = name.length < SHORT ? 1 : 2;
  return Math.abs(plain.length - name.length) <= most && editDistance(plain, name) <= most;
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
