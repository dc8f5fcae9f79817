import { runSubcommands } from './subcommands.js';

/** `portcullis hooks <list|test|probe>`: tools for authors of hooks. */
export const run = runSubcommands('hooks', [
  {
    name: 'list',
    help: '[--event E]       the hooks in force, and those that are skipped and why',
    load: () => import('./hooks-list.js'),
  },
  {
    name: 'test',
    help: '<event>           ask the hooks of an event really, and show what would follow',
    load: () => import('./hooks-test.js'),
  },
  {
    name: 'probe',
    help: '[--all]          ask every guard once, and prove that it answers in time',
    load: () => import('./hooks-probe.js'),
  },
]);
