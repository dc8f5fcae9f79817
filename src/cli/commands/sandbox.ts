import { runSubcommands } from './subcommands.js';

/** `portcullis sandbox …`: the fence around commands, hooks and servers. */
export const run = runSubcommands('sandbox', [
  {
    name: 'status',
    help: '            whether there is a sandbox on this machine, whether settings want it, and what it lets through (--json)',
    load: () => import('./sandbox-status.js'),
  },
  {
    name: 'run',
    help: '-- <command>  a command as an agent here would run it, inside',
    load: () => import('./sandbox-run.js'),
  },
]);
