import { runSubcommands } from './subcommands.js';

/** `portcullis agents <list|show|validate>`: the kinds of agents, for those who write them. */
export const run = runSubcommands('agents', [
  {
    name: 'list',
    help: '                 what was found, from where, and why some of it is not in force',
    load: () => import('./agents-list.js'),
  },
  {
    name: 'show',
    help: '<name>           all fields of an agent and its prompt',
    load: () => import('./agents-show.js'),
  },
  {
    name: 'validate',
    help: '[paths]      what is wrong with definitions, by file and line',
    load: () => import('./agents-validate.js'),
  },
]);
