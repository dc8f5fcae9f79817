import { type CorpusTable, withHead } from './rows.js';

const NAMED = ['name: pdf-forms', 'description: Fills in PDF forms'];
/** Nothing but text: the model starts it unasked. */
const TEXT = { loads: true, asks: [], description: 'Fills in PDF forms' };

/** Files called `SKILL.md`. */
export const skills: CorpusTable = {
  kind: 'skill',
  rows: [
    { title: 'name and description', text: withHead(...NAMED), reads: { ...TEXT, notes: [] } },
    {
      title: 'a version',
      text: withHead(...NAMED, 'version: 0.1.0'),
      reads: TEXT,
    },
  ],
};
