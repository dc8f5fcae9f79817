import { type CorpusTable, withHead } from './rows.js';

const NAMED = ['name: reviewer', 'description: Reviews changes'];

/** Files of `.claude/agents`. */
export const agents: CorpusTable = {
  kind: 'agent',
  rows: [
    {
      title: 'name and description',
      text: withHead(...NAMED),
      reads: { loads: true, name: 'reviewer', errors: [], warnings: [] },
    },
  ],
};
