import { runSubcommands } from './subcommands.js';

/** Questions of background agents that wait for an answer. */
export const run = runSubcommands('inbox', [
  {
    name: 'list',
    help: '[--json]                                     what is asked, by whom, and until when',
    load: () => import('./inbox-list.js'),
  },
  {
    name: 'answer',
    help: '<id> allow|deny [--scope once|session] [--message TEXT]  answer one of them',
    load: () => import('./inbox-answer.js'),
  },
]);
