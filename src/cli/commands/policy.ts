import { runSubcommands } from './subcommands.js';

/** `portcullis policy <check|test|diff|replay>`: questions to the gate, without a session. */
export const run = runSubcommands('policy', [
  {
    name: 'check',
    help: '--jsonl            judge one call a line from standard input, for machines',
    load: () => import('./policy-check.js'),
  },
  {
    name: 'test',
    help: '[files]             run the table tests that are kept beside the settings',
    load: () => import('./policy-test.js'),
  },
  {
    name: 'diff',
    help: 'A B                 show which calls two sets of settings judge differently',
    load: () => import('./policy-diff.js'),
  },
  {
    name: 'replay',
    help: '                  judge the calls of recorded sessions again (--hooks runs hooks, too)',
    load: () => import('./policy-replay.js'),
  },
]);
