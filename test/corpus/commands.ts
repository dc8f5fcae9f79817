import { type CorpusTable, withHead } from './rows.js';

/** Files of `.claude/commands`. */
export const commands: CorpusTable = {
  kind: 'command',
  rows: [
    {
      title: 'no head: the first line describes it',
      text: 'Fix the issue $ARGUMENTS.\n',
      reads: { loads: true, asks: [], description: 'Fix the issue $ARGUMENTS.' },
    },
    {
      title: 'a grant',
      text: withHead('allowed-tools: Bash(git add:*), Bash(git status:*)', 'description: Commits'),
      reads: {
        allowedTools: ['Bash(git add:*)', 'Bash(git status:*)'],
        asks: ['sets allowed-tools'],
      },
    },
  ],
};
