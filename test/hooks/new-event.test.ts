import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { hookFiles } from '../../scripts/generate/hooks.js';
import { text } from '../../src/protocol/declare.schema.js';
import { defineHookEvent, is, may, PLAIN } from '../../src/protocol/hooks/hook-event.schema.js';
import { HOOK_DEFINITIONS } from '../../src/protocol/hooks/hook-events.schema.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

describe('a new hook event', () => {
  it('is one definition, from which tables, schemas, samples and the page come', () => {
    const DeployStarted = defineHookEvent({
      role: 'gate',
      matcherField: 'target',
      kinds: PLAIN,
      timeoutMs: 5000,
      when: 'before a deployment starts',
      no: 'nothing is deployed',
      input: { target: is(text, 'Where to.', 'staging') },
      output: { ticket: may(text, 'The change that it belongs to.') },
    });
    const files = hookFiles({ ...HOOK_DEFINITIONS, DeployStarted });
    const input = JSON.parse(files['schema/hooks/DeployStarted.input.json'] ?? '');
    expect(input.required).toEqual(expect.arrayContaining(['session_id', 'target']));
    expect(files['schema/hooks/DeployStarted.output.json']).toContain('"ticket"');
    const table = files['build/generated/hook-events.ts'] ?? '';
    expect(table).toMatch(/"?DeployStarted"?: \{"role":"gate","matcherField":"target"/);
    expect(table).toContain('"matches":"value"');
    expect(table).toMatch(/"?DeployStarted"?: \{"own":\{.*"keys":\{"ticket":\{"type":"string"\}/);
    expect(files['build/generated/hook-samples.ts']).toContain('{"target":"staging"}');
    expect(files['docs/reference/hooks.md']).toContain(
      '## DeployStarted\n\nFires before a deployment starts. Role gate:',
    );
  });

  it.each(['DirectoryAdded', 'PostCompact'])(
    '%s is named by its definition and where it fires',
    (event) => {
      const mentions = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
        .filter((file) => readFileSync(path.join(ROOT, 'src', file), 'utf8').includes(event));
      expect(mentions).toHaveLength(2);
    },
  );
});
