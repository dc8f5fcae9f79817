import { expect } from 'vitest';
import type { CorpusRow, CorpusTable } from './rows.js';

type Fields = Readonly<Record<string, unknown>>;

const G = { type: 'command', command: './g.sh' } as const;
const SAYS = (text: string | RegExp): unknown =>
  typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text);

/** A row whose file is this value, written as people do. */
function row(title: string, file: unknown, reads: Fields): CorpusRow {
  return { title, text: JSON.stringify(file, null, 2), reads };
}

const guard = (group: Fields = {}, handler: Fields = {}): Fields => ({
  hooks: { PreToolUse: [{ matcher: 'Bash', ...group, hooks: [{ ...G, ...handler }] }] },
});

const SILENT = { starts: true, refusals: '', warnings: '', notes: '' };
const ASKED = ['PreToolUse Bash ./g.sh block'];

/** Keys that describe: the hook is asked as without them, and nothing is told. */
const METADATA: readonly Fields[] = [
  { id: 'bash-guard' },
  { id: 7 },
  { name: 'Bash guard' },
  { description: 'Keeps production safe.' },
  { enabled: true },
  { priority: 100 },
  { version: '1.2.0' },
  { author: 'ops' },
  { author: { name: 'ops', email: 'ops@example.com' } },
  { rewakeMessage: 'Done', rewakeSummary: 'x' },
  { id: 'a', name: 'b', description: 'c', version: 1, author: 'd', priority: 1 },
  { _comment: 'why', '//': 'this' },
];

/** Keys by which people mean to limit a hook; here they limit nothing, which is told. */
const LIMITS = ['filePattern', 'file_pattern', 'paths', 'glob', 'condition', 'when', 'exclude'];

/** Near misses of what says what a hook is. */
const MISSPELT: readonly (readonly [string, Fields, string])[] = [
  ['mather', { hooks: { PreToolUse: [{ mather: 'Bash', hooks: [G] }] } }, 'Did you mean matcher?'],
  ['match', { hooks: { PreToolUse: [{ match: 'Bash', hooks: [G] }] } }, 'Did you mean matcher?'],
  ['hook', { hooks: { PreToolUse: [{ matcher: 'Bash', hook: [G] }] } }, 'hooks` is missing'],
  ['PreToolUze', { hooks: { PreToolUze: [{ hooks: [G] }] } }, 'Did you mean PreToolUse?'],
  ['pre_tool_use', { hooks: { pre_tool_use: [{ hooks: [G] }] } }, 'Did you mean PreToolUse?'],
  [
    'comand',
    { hooks: { PreToolUse: [{ hooks: [{ type: 'command', comand: 'x' }] }] } },
    'Did you mean command?',
  ],
  [
    'typ',
    { hooks: { PreToolUse: [{ hooks: [{ typ: 'command', command: 'x' }] }] } },
    'type` is missing',
  ],
  ['onFailur', guard({}, { onFailur: 'continue' }), 'Did you mean onFailure?'],
  ['timout', guard({}, { timout: 5 }), 'Did you mean timeout?'],
  ['agnets', guard({ agnets: 'main' }), 'Did you mean agents?'],
];

export const hookFiles: CorpusTable = {
  kind: 'hook file',
  rows: [
    row('a plain guard', guard(), { ...SILENT, asked: ASKED }),
    ...METADATA.map((more) =>
      row(`a group with ${JSON.stringify(more)}`, guard(more), { ...SILENT, asked: ASKED }),
    ),
    ...METADATA.map((more) =>
      row(`a hook with ${JSON.stringify(more)}`, guard({}, more), { ...SILENT, asked: ASKED }),
    ),
    row(
      'metadata beside hooks',
      { name: 'kit', version: '1', author: 'x', description: 'd', id: 1, priority: 2, ...guard() },
      { ...SILENT, asked: ASKED },
    ),
    row('a schema beside hooks', { $schema: 'https://example.com/x.json', ...guard() }, SILENT),
    row(
      'a text inside hooks',
      { hooks: { description: 'd', ...(guard().hooks as Fields) } },
      {
        ...SILENT,
        asked: ASKED,
      },
    ),
    row(
      'unknown words beside hooks',
      { licence: 'MIT', ...guard() },
      {
        starts: true,
        asked: ASKED,
        notes: SAYS('`licence` is not known here'),
      },
    ),
    row('a group that is switched off', guard({ enabled: false }), {
      starts: true,
      asked: [],
      off: [SAYS('"enabled": false switches it off')],
    }),
    row('a hook that is switched off', guard({}, { enabled: false }), {
      starts: true,
      asked: [],
      off: [SAYS('"enabled": false switches it off')],
    }),
    row('"enabled" as a text leaves the guard on', guard({}, { enabled: 'false' }), {
      starts: true,
      asked: ASKED,
      warnings: SAYS('enabled` must be true or false'),
    }),
    row('"enabled": 0 leaves the guard on', guard({ enabled: 0 }), { starts: true, asked: ASKED }),
    row('"enabled": null leaves the guard on', guard({ enabled: null }), { asked: ASKED }),
    row('"enabeld" is told and leaves the guard on', guard({ enabeld: false }), {
      starts: true,
      asked: ASKED,
      warnings: SAYS('Did you mean enabled?'),
    }),
    row(
      '"enabled" beside hooks switches nothing off',
      { enabled: false, ...guard() },
      {
        starts: true,
        asked: ASKED,
        warnings: SAYS('switches nothing off'),
      },
    ),
    row(
      '"enabled" inside hooks switches nothing off',
      { hooks: { enabled: false, ...(guard().hooks as Fields) } },
      { starts: true, asked: ASKED, warnings: SAYS('switches nothing off') },
    ),
    row('a broken guard that is switched off', guard({ enabled: false, mather: 'x' }), {
      starts: true,
      asked: [],
    }),
    row('continueOnError does not let a guard pass', guard({}, { continueOnError: true }), {
      starts: true,
      asked: ASKED,
      warnings: SAYS('Write "onFailure": "continue"'),
    }),
    row('continueOnError: false is told', guard({ continueOnError: false }), {
      starts: true,
      asked: ASKED,
      warnings: SAYS('Write "onFailure": "block"'),
    }),
    row('a name of a wrong type', guard({}, { name: 7 }), { starts: true, asked: ASKED }),
    ...LIMITS.map((key) =>
      row(`${key} on a group limits nothing`, guard({ [key]: '*.ts' }), {
        starts: true,
        asked: ASKED,
        warnings: SAYS(`${key}\` limits nothing here`),
      }),
    ),
    row('tools on a hook limits nothing', guard({}, { tools: ['Edit'] }), {
      starts: true,
      asked: ASKED,
      warnings: SAYS('Write tools into "matcher"'),
    }),
    row('blocking says nothing about failures', guard({}, { blocking: true }), {
      starts: true,
      warnings: SAYS('Write "onFailure": "block"'),
    }),
    row('env of a hook is not passed on', guard({}, { env: { A: '1' } }), {
      starts: true,
      warnings: SAYS('Set it in the command itself'),
    }),
    row('an unknown word on a hook', guard({}, { severity: 'high' }), {
      starts: true,
      asked: ASKED,
      notes: SAYS('severity` is not known here'),
    }),
    ...MISSPELT.map(([name, file, words]) =>
      row(`${name} stops the start`, file, { starts: false, refusals: SAYS(words) }),
    ),
    row(
      'a guard beside hooks',
      { hooks: {}, PreToolUse: [{ hooks: [G] }] },
      {
        starts: false,
        refusals: SAYS('Move it into "hooks"'),
      },
    ),
    row(
      'a misspelt guard beside hooks',
      { hooks: {}, PreTolUse: [{ hooks: [G] }] },
      {
        starts: false,
      },
    ),
    row(
      'hooks under another name beside hooks',
      { hooks: {}, extra: { Stop: [{ hooks: [G] }] } },
      {
        starts: false,
      },
    ),
    row(
      'a list under a descriptive name inside hooks',
      { hooks: { name: [{ hooks: [G] }] } },
      {
        starts: false,
      },
    ),
    row(
      'a hook without its group',
      { hooks: { PreToolUse: [G] } },
      {
        starts: false,
        refusals: SAYS('is a hook without its group'),
      },
    ),
    row(
      'an event of another program',
      { hooks: { BeforeTool: [{ hooks: [G] }] } },
      {
        starts: true,
        warnings: SAYS('an event of another program'),
      },
    ),
    row(
      'metadata where hooks only watch',
      { hooks: { SessionStart: [{ id: 'a', hooks: [{ ...G, priority: 1, enabled: true }] }] } },
      { ...SILENT, asked: ['SessionStart * ./g.sh continue'] },
    ),
    row(
      'metadata at Stop and PostToolUse',
      {
        hooks: {
          Stop: [{ id: 1, hooks: [G] }],
          PostToolUse: [{ matcher: 'Edit|Write', author: 'x', hooks: [G] }],
        },
      },
      { ...SILENT, asked: ['PostToolUse Edit|Write ./g.sh continue', 'Stop * ./g.sh continue'] },
    ),
  ],
};
