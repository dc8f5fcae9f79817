import { unknown } from '../effects/effect.js';
import { custom, type Program, rows, unmodelled } from '../effects/program.js';

const CD = custom(
  (words) => [
    { kind: 'shell-state', what: 'directory' },
    ...words.filter(({ literal }) => !literal).map((word) => unknown('word', word)),
  ],
  { facts: { builtin: true, takesText: true } },
);

/** Builtins that change the shell, or what the commands after them mean. */
export const BUILTINS: Readonly<Record<string, Program>> = {
  cd: CD,
  ...rows(
    `bg break caller case continue dirs disown fg help logout popd pushd return shift suspend times ulimit umask`,
    unmodelled({ builtin: true }),
  ),
  jobs: unmodelled({ builtin: true, runsAfter: /^-\w*x.*$/s }),
  ...rows('hash enable set shopt fc', unmodelled({ builtin: true, steers: true })),
  ...rows('bind compopt unalias', unmodelled({ builtin: true, steers: true })),
  ...rows(
    `export declare typeset local readonly unset read readarray mapfile getopts let alias complete compgen`,
    unmodelled({ builtin: true, steers: true, names: true }),
  ),
  '.': unmodelled({ builtin: true, steers: true, runsAnything: true }),
};
