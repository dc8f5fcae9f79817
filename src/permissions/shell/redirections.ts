import type { Redirect, Redirection } from 'unbash';
import type { ShellRedirection, ShellWord } from './model.js';

/** Text that the command line itself gives to a command. */
export function inputOf(redirections: readonly Redirection[]): string {
  return redirections
    .map((one) => {
      if (one.type === 'HereDoc') return one.body.text;
      return one.type === 'HereString' ? (one.target?.text ?? '') : '';
    })
    .join('\n');
}

/** What a redirection to or from a file does. */
export function fileRedirection(
  { operator }: Redirect,
  target: ShellWord | undefined,
): ShellRedirection {
  // fail-closed: a redirection without a visible target leads anywhere.
  if (target === undefined) {
    return { access: 'write', target: { value: '', literal: false, raw: '' } };
  }
  const copies = /^[<>]&$/.test(operator) && target.literal && /^(\d+-?|-)$/.test(target.value);
  if (copies) return { access: 'none' };
  return { access: operator === '<' ? 'read' : 'write', target };
}
