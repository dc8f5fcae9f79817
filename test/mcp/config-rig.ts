import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach } from 'vitest';
import { openMcpApprovals } from '../../src/mcp/approval/project-approvals.js';
import { loadMcpConfiguration } from '../../src/mcp/config/load.js';
import type { McpConfigDeps, McpConfiguration } from '../../src/mcp/config/types.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { loadSettings } from '../../src/settings/files/load.js';
import { openProjectTrust } from '../../src/settings/trust/project-trust.js';
import { describeProblem } from '../../src/settings/types.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';

const projects = new Set<TempProject>();
afterEach(() => {
  for (const project of projects) project.remove();
  projects.clear();
});

export interface ConfigWorldOptions extends Partial<Omit<McpConfigDeps, 'home'>> {
  readonly files?: ProjectFiles;
  readonly home?: ProjectFiles;
  /** In the administrator's directory, by file name. */
  readonly managed?: Readonly<Record<string, unknown>>;
  /** `--settings`. */
  readonly flag?: Readonly<Record<string, unknown>>;
}

export interface ConfigWorld {
  readonly project: TempProject;
  readonly approvals: McpConfigDeps['approvals'];
  load(
    more?: Partial<McpConfigDeps> & { flag?: Readonly<Record<string, unknown>> },
  ): Promise<McpConfiguration>;
  /** How each server stands, by its name. */
  standings(more?: Parameters<ConfigWorld['load']>[0]): Promise<Readonly<Record<string, string>>>;
  /** A person trusts the folder as it is now. */
  trust(): Promise<void>;
}

/** A project, a home and an administrator's directory on disk. */
export function configWorld(options: ConfigWorldOptions = {}): ConfigWorld {
  const { files = {}, home = {}, managed = {}, flag, ...deps } = options;
  const project = makeTempProject({ files, home });
  projects.add(project);
  const managedDir = path.join(project.root, 'managed');
  mkdirSync(managedDir);
  for (const [name, value] of Object.entries(managed))
    writeFileSync(
      path.join(managedDir, name),
      typeof value === 'string' ? value : JSON.stringify(value),
    );
  const places = {
    fs: nodeFileSystem,
    cwd: project.directory,
    configDir: path.join(project.home, '.claude'),
    managedDir,
    stateDirectory: path.join(project.home, '.portcullis'),
    sources: ['user', 'project', 'local'] as const,
    now: () => 0,
    env: { HOME: project.home },
  };
  const approvals = openMcpApprovals(places);
  const folder = openProjectTrust(places);
  const trusted = async (): Promise<boolean> => (await folder.check()).verdict === 'trusted';

  const load: ConfigWorld['load'] = async ({ flag: said, ...more } = {}) => {
    const given = said ?? flag;
    const { settings, problems } = await loadSettings({
      ...places,
      trustProject: await trusted(),
      ...(given === undefined ? {} : { flagSettings: JSON.stringify(given) }),
    });
    const fatal = problems.filter(({ severity }) => severity === 'fatal');
    if (fatal.length > 0) throw new Error(fatal.map(describeProblem).join('\n'));
    return await loadMcpConfiguration({
      ...places,
      levels: [project.directory],
      home: project.home,
      startEnv: places.env,
      values: settings.values,
      trusted,
      approvals,
      ...deps,
      ...more,
    });
  };
  return {
    project,
    approvals,
    load,
    async standings(more) {
      const { servers } = await load(more);
      return Object.fromEntries(servers.map(({ name, standing }) => [name, standing.kind]));
    },
    async trust() {
      await folder.accept(await folder.check(), { store: true });
    },
  };
}

export const problemsOf = ({ problems }: McpConfiguration): string =>
  problems.map((one) => `${one.severity} ${describeProblem(one)}`).join('\n');

export const reasonOf = ({ servers }: McpConfiguration, name: string): string => {
  const standing = servers.find((one) => one.name === name)?.standing;
  return standing === undefined || standing.kind === 'ready' ? '' : standing.reason;
};

export const json = (value: unknown): string => JSON.stringify(value);
export const servers = (table: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ mcpServers: table }, null, 2);

/** A reference to a variable, as entries write it. */
export const ref = (name: string): string => ['$', '{', name, '}'].join('');
