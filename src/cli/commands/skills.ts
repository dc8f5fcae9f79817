import { runSubcommands } from './subcommands.js';

/** `portcullis skills <list|show|validate|test|ledger>`: tools for authors of skills. */
export const run = runSubcommands('skills', [
  {
    name: 'list',
    help: '                 what was found, from where, and why some of it is not in force',
    load: () => import('./skills-list.js'),
  },
  {
    name: 'show',
    help: '<name>           head, text and files of a skill',
    load: () => import('./skills-show.js'),
  },
  {
    name: 'validate',
    help: '[paths]      hold skills against the specification',
    load: () => import('./skills-validate.js'),
  },
  {
    name: 'test',
    help: '<file>           ask a model which skill it takes for each prompt of a table',
    load: () => import('./skills-test.js'),
  },
  {
    name: 'ledger',
    help: '[name]         how often skills were offered, chosen and skipped in sessions',
    load: () => import('./skills-ledger.js'),
  },
]);
