import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../build/generated/settings-table.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import type { SettingNode, SettingTable } from '../../protocol/settings/setting-node.js';
import { describeProblem } from '../types.js';
import { loadSettings } from './load.js';

interface Restriction {
  readonly path: readonly string[];
  readonly node: SettingNode;
}

/** Every key of the schema whose loss would let more through. */
function restrictionsIn(
  keys: SettingTable,
  path: readonly string[] = [],
  inherited = false,
): readonly Restriction[] {
  return Object.entries(keys).flatMap(([name, node]) => {
    const at = [...path, name];
    const restricts = node.facts?.restricts ?? inherited;
    const named = node.type === 'map' && node.of.type === 'object' ? node.of : undefined;
    return [
      ...(restricts ? [{ path: at, node }] : []),
      ...(node.type === 'object' ? restrictionsIn(node.keys, at, restricts) : []),
      ...(named === undefined ? [] : restrictionsIn(named.keys, [...at, 'reviewer'], restricts)),
    ];
  });
}

async function problemsOf(path: readonly string[], value: unknown) {
  const content = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  const { problems } = await loadSettings({
    fs: nodeFileSystem,
    cwd: '/nowhere',
    configDir: '/nowhere',
    managedDir: '/nowhere',
    sources: ['user'],
    trustProject: true,
    env: {},
    only: { file: 'settings.json', text: JSON.stringify(content, null, 2) },
  });
  return problems;
}

const RIGHT: Readonly<Record<SettingNode['type'], unknown>> = {
  any: true,
  string: 'x',
  boolean: true,
  number: 5,
  integer: 5,
  choice: 'x',
  list: ['Bash'],
  map: { PreToolUse: [] },
  object: { deny: ['Bash'] },
  one: true,
};

const WRONG: Readonly<Partial<Record<SettingNode['type'], readonly unknown[]>>> = {
  string: [null, 5, true, [], {}],
  boolean: [null, 5, 'true', [], {}],
  number: [null, '5', true, [], {}],
  integer: [null, '5', 1.5, true, [], {}],
  choice: [null, 5, 'no such word', [], {}],
  list: [null, 5, 'Bash', true, {}, [null]],
  map: [null, 5, 'x', true, []],
  object: [null, 5, 'x', true, []],
};

function misspelt(name: string): readonly string[] {
  const swapped = name.replace(/(.)(.)$/, '$2$1');
  return [name.slice(0, -1), `${name}s`, name.toUpperCase(), swapped].filter((one) => one !== name);
}

describe('every restriction of the schema', () => {
  const all = restrictionsIn(SETTINGS);
  const known = new Set(all.map(({ path }) => path.join('.')));

  it('stops the start where its value is wrong, with file, line and remedy', async () => {
    for (const { path, node } of all) {
      for (const value of WRONG[node.type] ?? []) {
        const problems = await problemsOf(path, value);
        const what = `${path.join('.')}: ${JSON.stringify(value)}`;
        expect(problems, what).toContainEqual(expect.objectContaining({ severity: 'fatal' }));
        for (const one of problems) {
          expect(describeProblem(one), what).toMatch(/^settings\.json:\d+: .*\. \S.*/s);
        }
      }
    }
  });

  it('stops the start where its name is misspelt', async () => {
    for (const { path, node } of all) {
      for (const name of misspelt(path.at(-1) ?? '')) {
        const at = [...path.slice(0, -1), name];
        if (known.has(at.join('.'))) continue;
        const value = node.type === 'choice' ? node.values[0] : RIGHT[node.type];
        const problems = await problemsOf(at, value);
        expect(problems, at.join('.')).toContainEqual(
          expect.objectContaining({ severity: 'fatal' }),
        );
      }
    }
  });
});
