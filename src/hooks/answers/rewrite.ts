import { canonicalJson } from '../../settings/trust/digest.js';
import { type Agreement, agree } from './round.js';

type Input = Readonly<Record<string, unknown>>;

/** A new input for a call that a hook gives, and whether the hook says yes to it. */
export interface Rewrite {
  /** The label of the hook. */
  readonly by: string;
  readonly input: Input;
  readonly allowed: boolean;
  /** The hooks that want it; they have seen it. */
  readonly authors: readonly string[];
}

/**
 * The one new input; a text when two hooks want different ones; undefined when the input stays. A
 * hook that gives back one of the inputs `now` (as it is, as it was shown) changes nothing.
 */
export function oneRewrite(
  wanted: readonly Rewrite[],
  now: readonly Input[],
): Rewrite | { readonly conflict: string } | undefined {
  const same = now.map((one) => canonicalJson(one));
  const wishes = wanted
    .map((rewrite) => ({ by: rewrite.by, value: { rewrite, text: canonicalJson(rewrite.input) } }))
    .filter(({ value }) => !same.includes(value.text));
  const agreed: Agreement<(typeof wishes)[number]['value']> = agree(
    wishes,
    (a, b) => a.text === b.text,
  );
  if (agreed.kind === 'none') return undefined;
  if (agreed.kind === 'conflict') {
    // fail-closed: no order between hooks says whose input is the safe one.
    return { conflict: `${agreed.between.join(' and ')} want different inputs` };
  }
  const allowing = wishes.find(({ value }) => value.rewrite.allowed);
  const authors = wishes.flatMap(({ value }) => value.rewrite.authors);
  return { ...(allowing ?? agreed.wish).value.rewrite, authors };
}
