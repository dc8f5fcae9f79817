import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../env/node-fs.js';
import type { SourcedRule } from '../settings/types.js';
import { makeTempProject, type TempProject } from '../testing/temp-project.js';
import { hiddenBy } from './hidden-files.js';
import { parseRules } from './rules.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': 'a', 'secrets/key.txt': 'k', 'sub/.env': 'e' } });
});
afterAll(() => project.remove());

function hidden(lists: { deny?: readonly string[]; ask?: readonly string[] }) {
  const root = project.directory;
  const sourced = (texts: readonly string[] = []): SourcedRule[] =>
    texts.map((text) => ({ value: { text, root }, source: 'user', trusted: true }));
  const { rules } = parseRules(
    { allow: [], ask: sourced(lists.ask), deny: sourced(lists.deny) },
    { cwd: root, home: project.home },
  );
  return hiddenBy(rules, { fs: nodeFileSystem, roots: [root], home: project.home });
}

describe('files that searches do not show', () => {
  it('are those that may not be read', async () => {
    const isHidden = hidden({ deny: ['Read(./secrets/**)', 'Read(.env)'] });
    expect(await isHidden?.(project.at('secrets/key.txt'))).toBe(true);
    expect(await isHidden?.(project.at('sub/.env'))).toBe(true);
    expect(await isHidden?.(project.at('a.txt'))).toBe(false);
  });

  it('are those too that somebody must be asked about', async () => {
    const isHidden = hidden({ ask: ['Read(./secrets/**)'] });
    expect(await isHidden?.(project.at('secrets/key.txt'))).toBe(true);
  });

  it('are not those that only may not be written', async () => {
    const isHidden = hidden({ deny: ['Edit(./secrets/**)'] });
    expect(await isHidden?.(project.at('secrets/key.txt'))).toBe(false);
  });

  it('need no look when no rule speaks of paths', () => {
    expect(hidden({ deny: ['Bash(rm:*)', 'WebFetch'] })).toBeUndefined();
  });
});
