import { describe, expect, it } from 'vitest';
import type { FileStat } from '../env/fs.js';
import { nodeFileSystem } from '../env/node-fs.js';
import { SeenText } from '../env/seen-text.js';
import { openDefinitionReader, readDefinition } from './definition-reader.js';
import { KNOWN_TOOLS } from './definition-tools.js';

const file = (head: string): string => `---\n${head}\n---\n\nYou help.\n`;

describe('a definition with a plain head', () => {
  it('says the same when it is read at once', async () => {
    const heads = [
      'name: a\ndescription: B c',
      'description: B c\nname: a',
      'name: a',
      'description: B',
      'Name: a\ndescription: B',
      'name: a b\ndescription: B',
      'name: main\ndescription: B',
      'name: mcp__a\ndescription: B',
      'name: a\ndescription: B\nmodel: haiku',
      'name: a\ndescription: B\ntools: Read, Bash',
      'name: a\ndescription: B\nallowedTools: Read',
      'name: a\ndescription: B\ncolour: red',
    ];
    for (const [inode, head] of heads.entries()) {
      const text = file(head);
      const reader = openDefinitionReader({ fs: nodeFileSystem, knownTools: KNOWN_TOOLS });
      const stat: FileStat = {
        kind: 'file',
        size: text.length,
        mtimeMs: 1,
        mode: 0o644,
        ctimeMs: 1,
        inode,
      };
      const seen = new SeenText(nodeFileSystem, '/a.md', { text, stat });
      const found = reader.known('/a.md', seen);
      const careful = await readDefinition(text, { knownTools: KNOWN_TOOLS });
      expect(found, head).toMatchObject(careful);
      expect(found?.fields, head).toEqual(careful.fields);
      expect(found?.version).toBe(seen);
      expect(reader.known('/a.md', { ...stat })).toBe(found);
      expect(reader.known('/a.md', { ...stat, mtimeMs: 2 })).toBeUndefined();
    }
  });
});
