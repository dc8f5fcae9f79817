import {
  custom,
  effectsOfProgram,
  type Program,
  program,
  rows,
  unmodelled,
} from '../effects/program.js';
import { effectsOfContainerCopy } from './transfers.js';
import { needsOption } from './version.js';

const DOCKER = program('-v version', 'none', {
  also: needsOption,
  partial: true,
  subcommands: {
    ps: program('-aqnls -f: all quiet filter: format: last: latest no-trunc size', 'none'),
    images: program('-aq -f: all quiet filter: format: digests no-trunc tree', 'text', {
      most: 1,
    }),
    version: program('', 'none'),
  },
});

/** Programs that speak to containers, clusters, clouds and the services of the machine. */
export const SERVICES: Readonly<Record<string, Program>> = {
  docker: custom(
    (words) => [...effectsOfProgram(DOCKER, words), ...effectsOfContainerCopy(words)],
    {
      facts: {
        runsImages: true,
        subcommands: { groups: /^(compose|container|image|network|volume)$/ },
      },
    },
  ),
  ...rows('docker-compose heroku helm', unmodelled({ subcommands: {} })),
  az: unmodelled({ subcommands: { words: 2 } }),
  gh: unmodelled({ subcommands: { words: 2, runs: /^(alias|api|extension)$/ } }),
  glab: unmodelled({ subcommands: { words: 2 } }),
  systemctl: unmodelled({ subcommands: { runs: /^edit$/ } }),
  terraform: unmodelled({ subcommands: { groups: /^(state|workspace)$/ } }),
  tofu: unmodelled({ subcommands: {} }),
  ...rows('hg jj svn', unmodelled({ subcommands: {} })),
};
