import { describe, expect, it } from 'vitest';
import { gitBashPath } from './command.js';

describe('gitBashPath', () => {
  it.each([
    ['C:\\x\\y', '/c/x/y'],
    ['c:/x/y', '/c/x/y'],
    ['D:\\', '/d'],
    ['D:', '/d'],
    ['C:\\Program Files\\Git\\bin\\', '/c/Program Files/Git/bin/'],
    ['C:\\$(x) `y` "z"', '/c/$(x) `y` "z"'],
    ['C:\\ä\\日本', '/c/ä/日本'],
    ['sub\\dir', 'sub/dir'],
    ['..\\up', '../up'],
    ['/c/already', '/c/already'],
    ['', ''],
    // Relative to a drive's own directory, which Git Bash has no way to say.
    ['C:rel\\x', 'C:rel/x'],
    ['ab:\\x', 'ab:/x'],
  ])('%s is %s', (given, wanted) => expect(gitBashPath(given)).toBe(wanted));

  it.each(['\\\\server\\share\\x', '//server/share', '\\\\?\\C:\\long'])(
    'leaves the network path %s alone',
    (path) => expect(gitBashPath(path)).toBe(path),
  );

  it('changes nothing the second time', () => {
    const once = gitBashPath('C:\\x\\y');
    expect(gitBashPath(once)).toBe(once);
  });
});
