import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = path.resolve(import.meta.dirname, '../src');

interface Import {
  readonly specifier: string;
  /** Path from src/ for our own files, undefined for packages. */
  readonly target: string | undefined;
  readonly lazy: boolean;
  readonly typeOnly: boolean;
}

interface SourceFile {
  readonly name: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const files = listFiles(SRC).map(readSource);
const shipped = files.filter((file) => !file.name.endsWith('.test.ts'));
const byName = new Map(files.map((file) => [file.name, file]));

/** Layer of a file: its folder, or the file itself at the root. */
function area(name: string): string {
  return name.includes('/') ? (name.split('/')[0] ?? '') : name;
}

const GROUND = ['protocol', 'lib', 'errors.ts', 'version.ts', 'markdown.d.ts'];
/** Facts of the hook events: data alone, made of the schemas of the ground. */
const GROUND_TABLES = ['generated/hook-events.ts'];
const FEATURES = [
  'config',
  'settings',
  'permissions',
  'hooks',
  'journal',
  'tools',
  'context',
  'skills',
  'mcp',
  'session',
  'budget',
  'checkpoint',
  'sandbox',
  'plugins',
];

/** What each area may import besides itself and the ground. `folder/file` names a single file. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  platform: [],
  model: ['platform'],
  loop: ['model/client.ts', 'model/stream/accumulate.ts'],
  settings: ['platform', 'model', 'generated'],
  permissions: ['platform', 'model', 'tools/tool.ts', 'settings'],
  hooks: [
    'config',
    'platform',
    'model',
    'generated',
    'settings',
    'permissions',
    'tools/tool.ts',
    'loop/types.ts',
    'context/prompt/reminders.ts',
  ],
  skills: [
    'config',
    'platform',
    'settings',
    'permissions',
    'tools/tool.ts',
    'tools/define-tool.ts',
    'context/compaction/tokens.ts',
    'context/instructions/path-matcher.ts',
    'context/instructions/text.ts',
    'context/instructions/includes.ts',
    'context/instructions/text-extensions.ts',
    'context/prompt/reminders.ts',
    'hooks/events/config.ts',
    'hooks/session/session-hooks.ts',
  ],
  mcp: [
    'config',
    'platform',
    'settings',
    'permissions',
    'generated',
    'tools/tool.ts',
    'tools/files/file-type.ts',
    'tools/output.ts',
    'tools/define-tool.ts',
    'tools/deferral.ts',
    'tools/pool.ts',
    'context/compaction/tokens.ts',
    'context/prompt/reminders.ts',
    'hooks/dispatch/scene.ts',
    'hooks/events/elicitation.ts',
    'hooks/session/session-hooks.ts',
  ],
  tools: [
    'platform',
    'model',
    'generated',
    'permissions/gate/permit.ts',
    'permissions/gate/types.ts',
  ],
  context: [
    'config',
    'platform',
    'model',
    'settings',
    'permissions',
    'loop/types.ts',
    'tools/tool.ts',
  ],
  session: ['platform', 'model', 'loop/types.ts', 'loop/conversation.ts'],
  journal: ['platform'],
  budget: ['platform', 'model', 'loop/types.ts'],
  checkpoint: [
    'config',
    'platform',
    'settings',
    'permissions',
    'tools/tool.ts',
    'tools/invocation.ts',
    'tools/bash/shells.ts',
  ],
  sandbox: ['config', 'platform', 'settings', 'permissions'],
  plugins: ['platform', 'settings'],
  // What a session is given and where it runs. It names types of features that name nothing of it.
  config: [
    'platform',
    'settings',
    'permissions',
    'plugins',
    'loop/types.ts',
    'session/open.ts',
    'session/transcript/store.ts',
    'session/transcript/open-log.ts',
    'budget/units.ts',
    'journal/journal.ts',
    'hooks/registry/hook.ts',
    'hooks/registry/host-callbacks.ts',
    'hooks/registry/captured.ts',
    'context/instructions/include-approvals.ts',
    'context/prompt/output-styles.ts',
    'mcp/config/types.ts',
    'mcp/connection/deps.ts',
    'generated/session-options.ts',
    'tools/invocation.ts',
    'tools/tool.ts',
    'tools/workspace.ts',
    'agents/definitions/definition.ts',
    'agents/teams/records.ts',
  ],
  agents: ['platform', 'model', 'loop', ...FEATURES],
  'app.ts': ['platform', 'model', 'loop', 'agents', 'generated', 'app', ...FEATURES],
  app: ['platform', 'model', 'loop', 'agents', 'generated', ...FEATURES],
  project: ['platform', 'model', 'loop', 'agents', 'generated', 'app', 'app.ts', ...FEATURES],
  client: ['app.ts', 'project'],
  tui: ['client'],
  fleet: ['app.ts', 'client', 'platform', 'journal', 'session', 'tools/tool.ts'],
  console: ['app.ts', 'client', 'project', 'platform', 'fleet'],
  server: ['app.ts', 'client', 'console', 'generated'],
  sdk: ['app.ts', 'client', 'console', 'server', 'generated'],
  cli: [
    'app.ts',
    'client',
    'project',
    'console',
    'server',
    'tui',
    'fleet',
    'platform',
    'model/catalog/discover.ts',
  ],
  'index.ts': ['app.ts', 'client', 'console', 'server', 'sdk'],
  testing: ['platform', 'model', 'loop', 'agents', ...FEATURES],
};

/** Folders that are an edge to the operating system and may use Node's modules. */
const EDGES = [
  'platform',
  'cli',
  'console',
  'server',
  'tui',
  'fleet',
  'testing',
  'agents/teams/host',
  'checkpoint/disk',
  'project/doctor/disk',
  'sandbox/host',
];

function mayUseNode({ name }: SourceFile): boolean {
  return EDGES.some((folder) => name.startsWith(`${folder}/`));
}

describe('architecture', () => {
  it('keeps the import direction between the layers', () => {
    const wrong: string[] = [];
    for (const file of shipped) {
      const from = area(file.name);
      if (GROUND.includes(from)) {
        for (const { target } of file.imports) {
          if (target === undefined || GROUND_TABLES.includes(target)) continue;
          if (!GROUND.includes(area(target))) wrong.push(`${file.name} → ${target}`);
        }
        continue;
      }
      const allowed = [from, ...GROUND, ...(MAY_IMPORT[from] ?? [])];
      for (const { target } of file.imports) {
        if (target === undefined || target.endsWith('.md')) continue;
        if (!allowed.includes(area(target)) && !allowed.includes(target))
          wrong.push(`${file.name} → ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('has a rule for every folder', () => {
    const areas = [...new Set(shipped.map((file) => area(file.name)))];
    expect(
      areas.filter((name) => !GROUND.includes(name) && MAY_IMPORT[name] === undefined),
    ).toEqual([]);
  });

  it('has no import cycle, types included', () => {
    expect(findCycle()).toEqual([]);
  });

  it('uses node: modules only at the edges', () => {
    const wrong = shipped.flatMap((file) =>
      mayUseNode(file)
        ? []
        : file.imports
            .filter(({ specifier }) => specifier.startsWith('node:'))
            .map(({ specifier }) => `${file.name} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  it('reads process.env only at the edges', () => {
    const wrong = shipped.filter(
      (file) => !mayUseNode(file) && /\bprocess\.(env|cwd|argv|exit)\b/.test(file.text),
    );
    expect(wrong.map((file) => file.name)).toEqual([]);
  });

  it('parses addresses by parseUrl: URL.canParse of Node 20 is wrong about letters beyond ASCII', () => {
    const wrong = shipped.filter(({ text }) => /\bURL\.canParse\(/.test(text));
    expect(wrong.map((file) => file.name)).toEqual([]);
  });

  it('imports zod only in schema files, and schema files only for their types', () => {
    const wrong: string[] = [];
    for (const file of shipped) {
      for (const { specifier } of file.imports) {
        if (specifier === 'zod' && !file.name.endsWith('.schema.ts'))
          wrong.push(`${file.name} imports zod`);
      }
      // A schema may be put together from others; the program itself takes no more than their types.
      if (file.name.endsWith('.schema.ts')) continue;
      for (const match of file.text.matchAll(/^import (?!type\b)[^;]*\.schema\.js'/gm)) {
        wrong.push(`${file.name}: ${match[0]}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('loads rarely needed libraries lazily: none is reachable at start', () => {
    const rare = [
      'turndown',
      'unpdf',
      'ajv',
      'commander',
      'unbash',
      '@vscode/ripgrep',
      'marked',
      'highlight.js',
      'diff',
      'get-east-asian-width',
      'pg',
      '@dbos-inc/dbos-sdk',
      'node:https',
      'node:zlib',
      'node:dns',
    ];
    const wrong: string[] = [];
    for (const name of loadedAtStart('cli/main.ts')) {
      for (const { specifier, lazy, typeOnly } of byName.get(name)?.imports ?? []) {
        if (lazy || typeOnly) continue;
        if (rare.some((library) => specifier === library || specifier.startsWith(`${library}/`))) {
          wrong.push(`${name} imports ${specifier}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('has one way in: only tools/invoke.ts runs a tool, only the gate issues a permit', () => {
    // Everything that has a `run` of another kind, by the name it goes under; a new one is looked at here.
    const others = [
      'agent',
      'compaction',
      'session',
      'supervisor',
      'processes',
      'runner',
      'load()',
      // Runs programs, not tools.
      'host',
      'output',
      // Slash commands.
      'command',
      'parts',
      'background',
      'rounds',
    ];
    const runs = shipped.flatMap((file) =>
      [...file.text.matchAll(/([\w$]+(?:\(\))?)\)?\s*\.run\(/g)]
        .filter(([, receiver = '']) => !others.includes(receiver))
        .map(([, receiver]) => `${file.name}: ${receiver}.run`),
    );
    expect(runs).toEqual(['tools/invoke.ts: tool.run']);
    const issues = shipped.filter((file) => /= takePermitIssuer\(/.test(file.text));
    expect(issues.map((file) => file.name)).toEqual(['permissions/gate/gate.ts']);
  });

  it.each([
    ['a tool', 'taskStopTool', ['tools/builtin/builtin-tools.ts', 'tools/tasks/task-stop.ts']],
    [
      'a hook event',
      'PostCompact',
      ['hooks/events/compact.ts', 'protocol/hooks/hook-events-project.schema.ts'],
    ],
    [
      'a setting',
      'agentConcurrency',
      ['agents/runtime/spawn-limits.ts', 'protocol/settings/settings-own.schema.ts'],
    ],
    [
      'a slash command',
      '(?:const addDir|^ {2}addDir,$)',
      ['client/commands/registry.ts', 'client/commands/settings.ts'],
    ],
  ])('adds %s in two files: what declares it and what uses it', (_, word, places) => {
    const pattern = new RegExp(`(?<![\\w.])${word}(?!\\w)`, 'm');
    const found = shipped.filter(({ text }) => pattern.test(text)).map(({ name }) => name);
    expect(found.toSorted()).toEqual(places);
  });

  it('keeps files and the heart of the runtime short', () => {
    const lines = (name: string): number => (byName.get(name)?.text ?? '').split('\n').length;
    expect(lines('loop/loop.ts')).toBeLessThan(200);
    expect(lines('tools/invoke.ts')).toBeLessThan(180);
    expect(lines('permissions/gate/gate.ts')).toBeLessThan(150);
    const long = shipped.filter(
      (file) => !file.name.endsWith('.schema.ts') && file.text.split('\n').length > 400,
    );
    expect(long.map((file) => file.name)).toEqual([]);
  });

  it('has no default exports, no suppressed checks without a reason, no leftover markers', () => {
    const wrong: string[] = [];
    for (const file of shipped) {
      if (file.name === 'markdown.d.ts') continue;
      if (/^export default /m.test(file.text)) wrong.push(`${file.name}: default export`);
      if (/@ts-(ignore|expect-error|nocheck)/.test(file.text))
        wrong.push(`${file.name}: suppressed type check`);
      if (/\b(TODO|FIXME|XXX)\b/.test(file.text)) wrong.push(`${file.name}: leftover marker`);
      if (/biome-ignore [\w/]+:\s*$/m.test(file.text))
        wrong.push(`${file.name}: suppression without a reason`);
    }
    expect(wrong).toEqual([]);
  });
});

function listFiles(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(directory, entry.name);
    if (entry.isDirectory()) return listFiles(full);
    return entry.name.endsWith('.ts') ? [full] : [];
  });
}

function readSource(full: string): SourceFile {
  const text = readFileSync(full, 'utf8');
  const name = path.relative(SRC, full).split(path.sep).join('/');
  const imports: Import[] = [];
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  for (const match of code.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s*'([^']+)'|(?:^|\n)import\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g,
  )) {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    const target = specifier.startsWith('.')
      ? path.posix
          .join(path.posix.dirname(name), specifier)
          .replace(/\.js$/, '.ts')
          .replace(/^\.\.\/build\/generated\//, 'generated/')
      : undefined;
    const typeOnly = /^\s*(?:import|export)\s+type\b/.test(match[0].trimStart());
    imports.push({ specifier, target, lazy: match[3] !== undefined, typeOnly });
  }
  return { name, text, imports };
}

/** The files of one cycle, empty when there is none. */
function findCycle(): readonly string[] {
  const state = new Map<string, 'open' | 'done'>();
  const visit = (name: string, trail: readonly string[]): readonly string[] => {
    if (state.get(name) === 'done') return [];
    if (state.get(name) === 'open') return [...trail.slice(trail.indexOf(name)), name];
    state.set(name, 'open');
    for (const { target } of byName.get(name)?.imports ?? []) {
      if (target === undefined || !byName.has(target)) continue;
      const cycle = visit(target, [...trail, name]);
      if (cycle.length > 0) return cycle;
    }
    state.set(name, 'done');
    return [];
  };
  for (const file of shipped) {
    const cycle = visit(file.name, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

/** Every file that is evaluated when `entry` is: what it imports neither lazily nor for types alone. */
function loadedAtStart(entry: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name) || !byName.has(name)) return;
    seen.add(name);
    for (const { target, lazy, typeOnly } of byName.get(name)?.imports ?? []) {
      if (target !== undefined && !lazy && !typeOnly) visit(target);
    }
  };
  visit(entry);
  return seen;
}
