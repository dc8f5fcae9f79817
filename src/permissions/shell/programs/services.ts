import { hazards } from '../effects/facts.js';
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
        runsAfter: /^(run|exec)$/,
        hazards: hazards('-H host context config'),
        subcommands: { groups: /^(compose|container|image|network|volume)$/ },
      },
    },
  ),
  'docker-compose': unmodelled({ subcommands: {}, runsAfter: /^(run|exec)$/ }),
  'podman-compose': unmodelled({ runsAfter: /^(run|exec)$/ }),
  heroku: unmodelled({ subcommands: {}, runsAfter: /^run(:\w+)?$/ }),
  helm: unmodelled({ subcommands: {} }),
  adb: unmodelled({ runsAfter: /^shell$/ }),
  ctr: unmodelled({ runsAfter: /^(run|exec)$/ }),
  ...rows('crictl nomad', unmodelled({ runsAfter: /^exec$/ })),
  distrobox: unmodelled({ runsAfter: /^enter$/ }),
  fly: unmodelled({ runsAfter: /^(ssh|console)$/ }),
  vagrant: unmodelled({ runsAfter: /^ssh$/ }),
  az: unmodelled({ subcommands: { words: 2 } }),
  gh: unmodelled({
    subcommands: { words: 2, runs: /^(alias|api|extension)$/ },
    hazards: hazards('-X method', /^(alias|ext|extensions?|cs|codespace|config)$/),
  }),
  glab: unmodelled({ subcommands: { words: 2 } }),
  systemctl: unmodelled({ subcommands: { runs: /^edit$/ } }),
  terraform: unmodelled({
    subcommands: { groups: /^(state|workspace)$/ },
    hazards: hazards('', /^--?(chdir|out|state|state-out|backup|plugin-dir)\b/),
  }),
  tofu: unmodelled({ subcommands: {} }),
  ...rows('hg jj svn', unmodelled({ subcommands: {} })),
};
