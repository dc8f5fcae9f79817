import { linkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import type { SourcedRule } from '../../settings/types.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { parseRules } from '../rules/rules.js';
import { hiddenBy } from './hidden-files.js';

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

describe('files with several names that searches do not show', () => {
  let linked: TempProject;
  beforeAll(() => {
    linked = makeTempProject({
      files: { '.env': 'e', 'src/a.ts': 'a', 'locked/x': 'x', 'node_modules/m/a.js': 'm' },
    });
    linkSync(linked.at('.env'), linked.at('src/plain.txt'));
    linkSync(linked.at('src/a.ts'), linked.at('src/b.ts'));
    linkSync(linked.at('node_modules/m/a.js'), linked.at('node_modules/m/b.js'));
  });
  afterAll(() => linked.remove());
  const hiddenIn = (deny: readonly string[], fs = nodeFileSystem) => {
    const { directory: root, home } = linked;
    const rules = deny.map((text): SourcedRule => {
      return { value: { text, root }, source: 'user', trusted: true };
    });
    const parsed = parseRules({ allow: [], ask: [], deny: rules }, { cwd: root, home });
    return hiddenBy(parsed.rules, { fs, roots: [root], home });
  };

  it('are those of which another name may not be read', async () => {
    const isHidden = hiddenIn(['Read(.env)']);
    expect(await isHidden?.(linked.at('src/plain.txt'))).toBe(true);
    expect(await isHidden?.(linked.at('src/b.ts'))).toBe(false);
    expect(await isHidden?.(linked.at('src/a.ts'))).toBe(false);
    expect(await isHidden?.(linked.at('node_modules/m/b.js'))).toBe(false);
    expect(await hiddenIn(['Edit(.env)'])?.(linked.at('src/plain.txt'))).toBe(false);
  });

  it('are gone through once for all results', async () => {
    let lists = 0;
    const fs: typeof nodeFileSystem = {
      ...nodeFileSystem,
      list(at) {
        lists++;
        return nodeFileSystem.list(at);
      },
    };
    const isHidden = hiddenIn(['Read(.env)'], fs);
    await isHidden?.(linked.at('locked/x'));
    expect(lists).toBe(0);
    await isHidden?.(linked.at('src/b.ts'));
    const once = lists;
    await isHidden?.(linked.at('src/plain.txt'));
    await isHidden?.(linked.at('src/a.ts'));
    expect(lists).toBe(once);
  });

  it('are all but those of packages where not every name can be seen', async () => {
    const fs: typeof nodeFileSystem = {
      ...nodeFileSystem,
      list: (at) =>
        at === linked.at('locked')
          ? Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }))
          : nodeFileSystem.list(at),
    };
    const isHidden = hiddenIn(['Read(./locked/**)'], fs);
    expect(await isHidden?.(linked.at('src/b.ts'))).toBe(true);
    expect(await isHidden?.(linked.at('node_modules/m/b.js'))).toBe(false);
  });
});
