// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the words are those of plugins
import { afterEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { loadPlugins } from '../../src/plugins/load.js';
import { describeProblem } from '../../src/settings/types.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';

let project: TempProject | undefined;
afterEach(() => project?.remove());

async function loaded(files: ProjectFiles, over: { readonly forbidden?: string } = {}) {
  project = makeTempProject({ files });
  const { plugins, problems } = await loadPlugins([{ directory: 'kit' }], {
    fs: nodeFileSystem,
    cwd: project.directory,
    configDir: project.home,
    check: { knownTools: ['Bash', 'Read'] },
    ...over,
  });
  const said = problems.map((one) => `${one.severity}: ${describeProblem(one)}`);
  return {
    plugins,
    plugin: plugins[0],
    said,
    fatal: said.filter((one) => one.startsWith('fatal')),
  };
}

const guardOf = (matcher: string) => ({ matcher, hooks: [{ type: 'command', command: 'g' }] });

const MANIFEST = 'kit/.claude-plugin/plugin.json';

describe('a plugin', () => {
  it('without a manifest is called like its directory', async () => {
    const { plugin, said } = await loaded({ 'kit/skills/a/SKILL.md': 'A' });
    expect(said).toEqual([]);
    expect(plugin).toMatchObject({ name: 'kit', hooks: [], servers: [], skills: [] });
  });

  it('brings hooks and servers of files and of its manifest, each once', async () => {
    const guard = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'g' }] }] };
    const { plugin, fatal } = await loaded({
      [MANIFEST]: {
        json: {
          name: 'tools',
          version: '2.0.0',
          hooks: ['./hooks/hooks.json', './more.json', { Stop: [] }],
          mcpServers: { inline: { url: 'http://127.0.0.1:1/' } },
        },
      },
      'kit/hooks/hooks.json': { json: { description: 'd', hooks: guard } },
      'kit/more.json': { json: { hooks: { SessionEnd: [] } } },
      'kit/.mcp.json': {
        json: {
          mcpServers: {
            local: {
              command: '${CLAUDE_PLUGIN_ROOT}/run',
              args: ['${CLAUDE_PLUGIN_DATA}', '${X}'],
            },
          },
        },
      },
    });
    expect(fatal).toEqual([]);
    expect(plugin).toMatchObject({ name: 'tools', version: '2.0.0' });
    expect(plugin?.hooks.map(({ hooks }) => hooks)).toEqual([
      guard,
      { SessionEnd: [] },
      { Stop: [] },
    ]);
    const { root, data } = plugin?.paths ?? { root: '', data: '' };
    expect(root).toBe(project?.at('kit'));
    expect(data.endsWith('plugins/data/tools')).toBe(true);
    expect(plugin?.servers.map(({ servers }) => servers)).toEqual([
      {
        'plugin:tools:local': {
          command: `${root}/run`,
          args: [data, '${X}'],
          env: { CLAUDE_PLUGIN_ROOT: root, CLAUDE_PLUGIN_DATA: data },
        },
      },
      { 'plugin:tools:inline': { url: 'http://127.0.0.1:1/' } },
    ]);
  });

  it('says what of it has no effect here', async () => {
    const { said, fatal } = await loaded({
      [MANIFEST]: { json: { name: 'kit', outputStyles: './s', nmae: 'x' } },
      'kit/bin/tool': 'x',
      'kit/.lsp.json': '{}',
    });
    expect(fatal).toEqual([]);
    expect(said.join('\n')).toMatch(/`outputStyles` has no effect/);
    expect(said.join('\n')).toMatch(/plugin\.json:4: there is no field `nmae`/);
    expect(said.join('\n')).toMatch(/language servers of plugins are not used/);
    expect(said.join('\n')).toMatch(/programs for the shell of plugins are not used/);
  });

  it.each<[string, ProjectFiles, RegExp]>([
    ['not there', {}, /kit: the plugin cannot be loaded: it is not there/],
    ['a file', { kit: 'x' }, /it is no directory/],
    [
      'a manifest that is no JSON',
      { [MANIFEST]: '{\n"name": "a",\n}' },
      /plugin\.json:3: it is not/,
    ],
    ['a manifest without a name', { [MANIFEST]: '{}' }, /`name` is missing/],
    ['a name with a colon', { [MANIFEST]: '{"name":"a:b"}' }, /"a:b" is no name for a plugin/],
    ['a name that leads away', { [MANIFEST]: '{"name":"../x"}' }, /is no name for a plugin/],
    [
      'a field of the wrong shape',
      { [MANIFEST]: '{"name":"a","hooks":7}' },
      /`hooks` has the wrong/,
    ],
    [
      'a path out of the plugin',
      { [MANIFEST]: '{"name":"a","hooks":"./../h.json"}', 'h.json': '{}' },
      /"\.\/\.\.\/h\.json" is no path inside/,
    ],
    [
      'an absolute path',
      { [MANIFEST]: '{"name":"a","agents":"/etc"}' },
      /"\/etc" is no path inside/,
    ],
    [
      'a link out of the plugin',
      { [MANIFEST]: '{"name":"a","agents":"./out"}', 'kit/out': { symlink: '/etc' } },
      /leads out of the plugin/,
    ],
    [
      'a named file that is missing',
      { [MANIFEST]: '{"name":"a","hooks":"./gone.json"}' },
      /"\.\/gone\.json" is not there/,
    ],
    [
      'hooks that are no JSON',
      { 'kit/hooks/hooks.json': '{' },
      /hooks\.json:1: it is not valid JSON/,
    ],
    [
      'a guard at an event that there is not',
      { 'kit/hooks/hooks.json': '{"description":"d","PreTolUse":[]}' },
      /hooks\.json: `hooks\.PreTolUse` never runs: there is no event PreTolUse\. Did you mean PreToolUse\?/,
    ],
    ['hooks that are a list', { 'kit/hooks/hooks.json': '[]' }, /it is not a JSON object/],
    ['servers that are a list', { 'kit/.mcp.json': '{"mcpServers":[]}' }, /no table of servers/],
    [
      'a hook that needs an option',
      {
        'kit/hooks/hooks.json':
          '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"${user_config.KEY}"}]}]}}',
      },
      /a hook needs an option of the plugin/,
    ],
    [
      'two servers of one name',
      {
        [MANIFEST]: '{"name":"a","mcpServers":{"s":{"url":"http://x/"}}}',
        'kit/.mcp.json': '{"mcpServers":{"s":{"command":"c"}}}',
      },
      /two servers called "s"/,
    ],
    [
      'guards behind a link that leads nowhere',
      { 'kit/hooks/hooks.json': { symlink: 'gone.json' } },
      /hooks\.json: "\.\/hooks\/hooks\.json" is not there/,
    ],
    [
      'guards behind a link out of the plugin',
      { 'kit/hooks/hooks.json': { symlink: '../../out.json' }, 'out.json': '{"hooks":{}}' },
      /leads out of the plugin/,
    ],
    [
      'a manifest behind a link out of the plugin',
      { [MANIFEST]: { symlink: '../../out.json' }, 'out.json': '{"name":"a"}' },
      /leads out of the plugin to .*out\.json/,
    ],
    [
      'a component that stands twice in the manifest',
      { [MANIFEST]: '{"name":"a","hooks":{},"hooks":"./h.json"}', 'kit/h.json': '{"hooks":{}}' },
      /plugin\.json:1: `hooks` stands twice/,
    ],
    [
      'guards that are a directory',
      { 'kit/hooks/hooks.json/x': '' },
      /hooks\.json: it is no regular file/,
    ],
    [
      'a matcher that fits no tool',
      { 'kit/hooks/hooks.json': { json: { hooks: { PreToolUse: [guardOf('Bsah')] } } } },
      /hooks\.json:\d+: the matcher "Bsah".*Did you mean Bash\?/,
    ],
    [
      'a guard beside the others',
      { 'kit/hooks/hooks.json': { json: { hooks: {}, PreToolUse: [guardOf('Bash')] } } },
      /`PreToolUse` stands beside `hooks`/,
    ],
    [
      'a component under nearly its name',
      { [MANIFEST]: '{"name":"a","hook":{}}' },
      /there is no field `hook`/,
    ],
    ...['hooks/hook.json', 'hooks/Hooks.json', 'hook/hooks.json', 'hooks.json', 'plugin.json'].map(
      (name): [string, ProjectFiles, RegExp] => [
        `guards in ${name}`,
        { [`kit/${name}`]: { json: { hooks: { PreToolUse: [guardOf('Bash')] } } } },
        /it holds hooks, and hooks are not read from a file of this name/,
      ],
    ),
    [
      'skills that are a file',
      { [MANIFEST]: '{"name":"a","skills":"./x.md"}', 'kit/x.md': '' },
      /x\.md is no directory/,
    ],
    [
      'agents that are no Markdown',
      { [MANIFEST]: '{"name":"a","agents":"./x.txt"}', 'kit/x.txt': '' },
      /no directory and no Markdown/,
    ],
    [
      'a key that stands twice',
      { 'kit/.mcp.json': '{"mcpServers":{"s":{"command":"a"},"s":{"command":"b"}}}' },
      /stands twice/,
    ],
  ])('stops the start: %s', async (_, files, words) => {
    const { fatal } = await loaded(files);
    expect(fatal).toHaveLength(1);
    expect(fatal[0]).toMatch(words);
  });

  it('with hooks at an event of another program is loaded, and that is told', async () => {
    const { fatal, said } = await loaded({ 'kit/hooks/hooks.json': '{"hooks":{"BeforeTool":[]}}' });
    expect(fatal).toEqual([]);
    expect(said.join()).toMatch(
      /^warning: .*`hooks\.BeforeTool` never runs: BeforeTool is an event of another/,
    );
  });

  it('is refused where an administrator forbids it', async () => {
    const { plugins, fatal } = await loaded({ 'kit/x': '' }, { forbidden: 'not here' });
    expect(plugins).toEqual([]);
    expect(fatal).toEqual([expect.stringContaining('not here')]);
  });

  it('without a path is refused', async () => {
    project = makeTempProject({ files: { 'hooks/hooks.json': '{"hooks":{}}' } });
    const { plugins, problems } = await loadPlugins([{ directory: ' ' }], {
      fs: nodeFileSystem,
      cwd: project.directory,
      configDir: project.home,
      check: {},
    });
    expect(plugins).toEqual([]);
    expect(problems).toMatchObject([{ severity: 'fatal' }]);
  });

  it('that is given twice is without its servers where one of them says so', async () => {
    project = makeTempProject({
      files: { 'kit/.mcp.json': '{"mcpServers":{"s":{"command":"c"}}}' },
    });
    const given = [{ directory: 'kit' }, { directory: './kit', withoutServers: true }];
    const { plugins } = await loadPlugins(given, {
      fs: nodeFileSystem,
      cwd: project.directory,
      configDir: project.home,
      check: {},
    });
    expect(plugins).toMatchObject([{ name: 'kit', servers: [] }]);
  });

  it('of a name that another has is refused', async () => {
    project = makeTempProject({
      files: { 'a/kit/x': '', 'b/kit/x': '', link: { symlink: 'a/kit' } },
    });
    const given = ['a/kit', 'link', 'b/kit'].map((directory) => ({ directory }));
    const { plugins, problems } = await loadPlugins(given, {
      fs: nodeFileSystem,
      cwd: project.directory,
      configDir: project.home,
      check: {},
    });
    expect(plugins).toHaveLength(1);
    expect(problems.map(describeProblem)).toEqual([
      expect.stringMatching(/b\/kit: the plugin cannot be loaded: .*a\/kit is called "kit" too/),
    ]);
  });
});
