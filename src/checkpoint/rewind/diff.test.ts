import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../../test/checkpoint/tree-states.js';
import type { Change, NodeState } from '../types.js';
import { countLines, diffOf } from './diff.js';

const store = memoryStore();

async function file(content: string | Uint8Array, mode = 0o644): Promise<NodeState> {
  const bytes = Buffer.from(content);
  const blob = await store.put(bytes);
  return { kind: 'file', size: bytes.length, mode, blob };
}

function change(about: Partial<Change>): Change {
  return { seq: 1, path: 'a.txt', at: 0, authors: [{ kind: 'user' }], ...about };
}

describe('the diff of a change', () => {
  it('is unified, with the names and modes of git', async () => {
    const text = await diffOf(
      change({ before: await file('one\ntwo\n'), after: await file('one\n2\n', 0o755) }),
      store,
    );
    expect(text).toBe(
      [
        'diff --git a/a.txt b/a.txt',
        'old mode 100644',
        'new mode 100755',
        '--- a/a.txt',
        '+++ b/a.txt',
        '@@ -1,2 +1,2 @@',
        ' one',
        '-two',
        '+2',
        '',
      ].join('\n'),
    );
  });

  it('shows what came and what went', async () => {
    expect(await diffOf(change({ after: await file('x\n') }), store)).toContain(
      'new file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n',
    );
    expect(await diffOf(change({ before: await file('x') }), store)).toContain(
      '--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n',
    );
  });

  it('says that bytes are no text', async () => {
    const text = await diffOf(
      change({ before: await file('x\n'), after: await file(new Uint8Array([0, 1, 2])) }),
      store,
    );
    expect(text).toContain('Binary files a/a.txt and b/a.txt differ\n');
    const invalid = await diffOf(
      change({ after: await file(new Uint8Array([0xff, 0xfe])) }),
      store,
    );
    expect(invalid).toContain('Binary files /dev/null and b/a.txt differ\n');
  });

  it('shows where a link leads', async () => {
    const text = await diffOf(change({ after: { kind: 'link', target: '../x' } }), store);
    expect(text).toContain('new file mode 120000\n');
    expect(text).toContain('+../x\n');
  });

  it('shows a mode and a new name alone', async () => {
    const same = await file('x\n');
    const mode = await diffOf(
      change({ before: same, after: { ...same, mode: 0o600 } as NodeState }),
      store,
    );
    expect(mode).toBe('diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100600\n');
    const moved = await diffOf(change({ after: same, renamedFrom: 'old' }), store);
    expect(moved).toContain('rename from old\nrename to a.txt\n');
  });

  it('says why bytes are not there', async () => {
    const after: NodeState = { kind: 'file', size: 1e9, mode: 0o644, unstored: 'too-large' };
    expect(await diffOf(change({ after }), store)).toContain('Contents not kept: it is too large');
  });

  it('quotes a name that would look like a line of its own', async () => {
    const text = await diffOf(change({ path: 'a\n+evil', after: await file('x\n') }), store);
    expect(text).toContain('+++ "b/a\\n+evil"\n');
  });

  it('counts lines', async () => {
    const count = await countLines(await file('a\nb\n'), await file('a\nc\nd\n'), store);
    expect(count).toEqual({ insertions: 2, deletions: 1 });
  });
});
