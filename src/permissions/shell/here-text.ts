import type { Redirection } from 'unbash';

/** Text that the command line itself gives to a command. */
export function inputOf(redirections: readonly Redirection[]): string {
  return redirections
    .map((one) => {
      if (one.type === 'HereDoc') return one.body.text;
      return one.type === 'HereString' ? (one.target?.text ?? '') : '';
    })
    .join('\n');
}
