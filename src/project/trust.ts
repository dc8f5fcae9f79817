import { visible } from '../lib/text/visible.js';
import { digest } from '../settings/trust/digest.js';
import { declarationLines } from '../settings/trust/messages.js';
import type { TrustCheck } from '../settings/trust/types.js';

export { declarationLines } from '../settings/trust/messages.js';
export type { ProjectTrust } from '../settings/trust/project-trust.js';
export type { TrustCheck } from '../settings/trust/types.js';

/** What a person has to read before trusting a folder. */
export function trustRequestText(seen: TrustCheck): string {
  const head =
    seen.verdict === 'changed'
      ? `What the files of ${visible(seen.root)} run or allow has changed since it was trusted (+ new, ~ changed):`
      : `Files of ${visible(seen.root)} want to run programs or to allow things without asking:`;
  return [
    '',
    head,
    ...declarationLines(seen),
    '',
    'Trust this folder only if you know its authors. Its deny rules and CLAUDE.md apply in any case.',
    '',
  ].join('\n');
}

/** The declarations of a folder as data, with the text of the files. */
export function trustData(seen: TrustCheck): Readonly<Record<string, unknown>> {
  const { root, verdict } = seen;
  const pending = new Map(seen.pending.map(({ declaration, was }) => [declaration, was]));
  const declarations = seen.declarations.map((one) => {
    const { kind, name, text, file, level, line, pinned, digest: own } = one;
    return { kind, name, text, file, level, line, pinned, digest: own, pending: pending.get(one) };
  });
  return { root, verdict, digest: digest(seen.declarations), declarations };
}
