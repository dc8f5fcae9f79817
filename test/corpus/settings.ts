import { expect } from 'vitest';
import type { CorpusRow, CorpusTable } from './rows.js';

type Fields = Readonly<Record<string, unknown>>;

const SAYS = (text: string): unknown => expect.stringContaining(text);

function row(title: string, file: unknown, reads: Fields): CorpusRow {
  return { title, text: JSON.stringify(file, null, 2), reads };
}

const warns = (words: string): Fields => ({ starts: true, warnings: SAYS(words) });
const stops = (words: string): Fields => ({ starts: false, refusals: SAYS(words) });
const DENY = { permissions: { deny: ['Read(./.env)'] } };
const HOOKED = {
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'g' }] }] },
};

export const settings: CorpusTable = {
  kind: 'settings',
  rows: [
    row('an empty file', {}, { starts: true, warnings: '', notes: '' }),
    row(
      'rules where they belong',
      { permissions: { allow: ['Bash(ls *)'], deny: ['Read(./.env)'] } },
      {
        starts: true,
        warnings: '',
        allow: ['Bash(ls *)'],
        deny: ['Read(./.env)'],
      },
    ),
    ...['acceptEdits', 'bypassPermissions', 'auto'].map((mode) =>
      row(
        `defaultMode "${mode}" in the wrong place`,
        { defaultMode: mode, ...DENY },
        {
          ...warns('Write it as permissions.defaultMode'),
          mode: undefined,
          deny: ['Read(./.env)'],
        },
      ),
    ),
    ...['plan', 'dontAsk', 'default'].map((mode) =>
      row(
        `defaultMode "${mode}" in the wrong place`,
        { defaultMode: mode },
        {
          ...stops('Write it as permissions.defaultMode'),
        },
      ),
    ),
    row('permissionMode that widens', { permissionMode: 'acceptEdits' }, warns('defaultMode')),
    row('permissionMode that restricts', { permissionMode: 'plan' }, stops('defaultMode')),
    row(
      'allow in the wrong place',
      { allow: ['Bash(ls *)'] },
      {
        ...warns('Write it as permissions.allow'),
        allow: [],
      },
    ),
    row('deny in the wrong place', { deny: ['Bash(rm *)'] }, stops('permissions.deny')),
    row('ask in the wrong place', { ask: ['Bash(git push *)'] }, stops('permissions.ask')),
    row('allowedTools', { allowedTools: ['Bash'] }, warns('permissions.allow')),
    row('disallowedTools', { disallowedTools: ['Bash'] }, stops('permissions.deny')),
    row(
      'additionalDirectories in the wrong place',
      { additionalDirectories: ['../docs'] },
      warns('permissions.additionalDirectories'),
    ),
    row(
      'a switch that opens, in the wrong place',
      { allowUnsandboxedCommands: true },
      warns('Write it as sandbox.allowUnsandboxedCommands'),
    ),
    row(
      'the same switch when it closes',
      { allowUnsandboxedCommands: false },
      stops('Write it as sandbox.allowUnsandboxedCommands'),
    ),
    row(
      'hookFailure in the wrong place, open',
      { hookFailure: 'open' },
      warns('portcullis.hookFailure'),
    ),
    row(
      'hookFailure in the wrong place, strict',
      { hookFailure: 'strict' },
      stops('portcullis.hookFailure'),
    ),
    row('an event in the wrong place', HOOKED.hooks, stops('Write it as hooks.PreToolUse')),
    row('hooks under another name', { guards: HOOKED.hooks }, stops('holds `PreToolUse`')),
    row('misspelt permissions', { permisions: { deny: ['Bash'] } }, stops('permissions')),
    row('misspelt deny', { permissions: { denny: ['Bash'] } }, stops('Did you mean deny?')),
    row('misspelt hooks', { hook: HOOKED.hooks }, stops('hook')),
    row(
      'descriptive words at the top',
      { name: 'team', description: 'Ours', version: '1', author: 'x', tags: ['a'], ...DENY },
      { ...warns('have no effect'), deny: ['Read(./.env)'] },
    ),
    row(
      'descriptive words beside hooks',
      { description: 'd', version: 2, ...HOOKED },
      {
        starts: true,
        asked: ['PreToolUse Bash g block'],
      },
    ),
    row(
      'comments',
      { _comment: 'x', '//': 'y', $schema: 'https://example.com/s.json' },
      {
        starts: true,
        warnings: '',
      },
    ),
    row(
      'strict hooks',
      { portcullis: { hookFailure: 'strict' }, ...HOOKED },
      {
        starts: true,
        warnings: '',
        asked: ['PreToolUse Bash g block'],
      },
    ),
    row(
      'open hooks are told',
      { portcullis: { hookFailure: 'open' }, ...HOOKED },
      {
        ...warns('refuses nothing'),
        asked: ['PreToolUse Bash g continue'],
      },
    ),
  ],
};
