import { runSubcommands } from './subcommands.js';

/** `portcullis agents <list|show|validate|teams|cleanup>`: the kinds of agents, and those that work together. */
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
  {
    name: 'teams',
    help: '                 the teams that there are and who is in them',
    load: () => import('./agents-teams.js'),
  },
  {
    name: 'cleanup',
    help: '<team>        takes away what a team left behind whose lead is gone',
    load: () => import('./agents-cleanup.js'),
  },
]);
