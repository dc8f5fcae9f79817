import { type CorpusTable, withHead } from './rows.js';

const TS = { globs: ['src/**/*.ts'], body: 'Do it.' };

/** Files of `.claude/rules`. */
export const rules: CorpusTable = {
  kind: 'rule',
  rows: [
    { title: 'no head applies always', text: 'Do it.\n', reads: { globs: undefined, notes: [] } },
    { title: 'paths as a list', text: withHead('paths:', '  - "src/**/*.ts"'), reads: TS },
    { title: 'paths as a text', text: withHead('paths: src/**/*.ts'), reads: TS },
    {
      title: 'paths as a text with commas and braces',
      text: withHead('paths: src/**/*.{ts,tsx}, lib/*.js'),
      reads: { globs: ['src/**/*.{ts,tsx}', 'lib/*.js'] },
    },
    {
      title: 'a glob without quotes',
      text: withHead('paths: **/*.ts'),
      reads: { globs: ['**/*.ts'] },
    },
    {
      title: 'a list of globs without quotes',
      text: withHead('paths:', '  - **/*.ts', '  - src/*.js'),
      reads: { globs: ['**/*.ts', 'src/*.js'] },
    },
    {
      title: 'Windows line ends and a byte order mark',
      text: `\uFEFF${withHead('paths: src/**/*.ts').replaceAll('\n', '\r\n')}`,
      reads: TS,
    },
    {
      title: 'unknown fields say nothing about when it applies',
      text: withHead(
        'description: Style',
        'alwaysApply: false',
        'author: me',
        'paths: src/**/*.ts',
      ),
      reads: { ...TS, notes: [] },
    },
    {
      title: 'a description with a colon keeps the paths',
      text: withHead('description: Style: how we write', 'paths: src/**/*.ts'),
      reads: TS,
    },
    {
      title: 'the universal glob is no condition',
      text: withHead('paths: "**"'),
      reads: { globs: undefined },
    },
  ],
};
