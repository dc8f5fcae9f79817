import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

/** From the number of a published weakness to the test that shows it is none of ours, or why there is none. */
type CaseTable = Readonly<Record<string, string | { readonly left_out: string }>>;

const HERE = import.meta.dirname;
const KIT = path.resolve(HERE, '../../../shared/security/cases.json');
/** The parts of the runtime whose cases must all be in the table. */
const LAYERS = new Set([
  'permissions',
  'bash',
  'settings',
  'trust',
  'env',
  'git',
  'files',
  'hooks',
  'http',
  'memory',
  'skills',
  'context',
  'mcp',
  'sandbox',
  'checkpoint',
  'worktrees',
]);

const table = JSON.parse(readFileSync(path.join(HERE, 'case-table.json'), 'utf8')) as CaseTable;

describe('published weaknesses', () => {
  it('each names a test that exists, or a reason', () => {
    const wrong: string[] = [];
    for (const [id, entry] of Object.entries(table)) {
      if (typeof entry !== 'string') {
        if (entry.left_out.length < 20) wrong.push(`${id}: no reason`);
        continue;
      }
      const [file = '', title = ''] = entry.split(' > ');
      const source = path.join(HERE, file);
      if (!existsSync(source) || !readFileSync(source, 'utf8').includes(`'${title}'`)) {
        wrong.push(`${id}: ${entry}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.runIf(existsSync(KIT))('none of these layers is missing', () => {
    const { cases } = JSON.parse(readFileSync(KIT, 'utf8')) as {
      cases: { id: string; layer: string }[];
    };
    const missing = cases.filter(({ id, layer }) => LAYERS.has(layer) && !Object.hasOwn(table, id));
    expect(missing.map(({ id, layer }) => `${id} (${layer})`)).toEqual([]);
  });
});
