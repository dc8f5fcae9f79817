import { describe, expect, it } from 'vitest';
import { fakeConnection } from '../../../test/support/fake-connection.js';
import type { TypedText } from '../../context/prompt/mention-places.js';
import { err } from '../../lib/result.js';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import { attachedResources, type ResourceMentionParts } from './prompt-mentions.js';

async function asked(typed: TypedText): Promise<readonly unknown[]> {
  const uris: unknown[] = [];
  const connection = {
    ...fakeConnection('docs'),
    rootsChanged: async () => undefined,
    stderr: () => '',
  };
  const parts: ResourceMentionParts = {
    log: {} as ResourceMentionParts['log'],
    mcp: { connections: () => [connection] },
    typed,
    async invoke(_tool, input) {
      uris.push(input.uri);
      return err('not here');
    },
    signal: new AbortController().signal,
    tell: () => undefined,
  };
  await attachedResources({ fs }, parts);
  return uris;
}

describe('resources that a prompt names', () => {
  const texts = ['see @docs:x://a and', '@docs:x://b, not @docs:x://a'];

  it('are read', async () => {
    expect(await asked({ texts })).toEqual(['x://a', 'x://b']);
  });

  it('are not read where a hook took them out, whatever else begins or stands beside like them', async () => {
    const changed = { texts: ['see @docs:x://ab and', '@docs:x://b!'], beside: '' };
    expect(await asked({ texts, changed })).toEqual(['x://b']);
    expect(await asked({ texts, changed: { ...changed, beside: '@docs:x://b' } })).toEqual([]);
  });
});
