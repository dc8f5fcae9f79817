import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readDefinition } from '../../src/agents/definitions/reader.js';
import { KNOWN_TOOLS } from '../../src/agents/definitions/tools.js';
import { readRuleHead } from '../../src/context/instructions/rules.js';
import { captureHooks } from '../../src/hooks/registry/capture.js';
import type { ScopedHooks } from '../../src/hooks/registry/captured.js';
import { patternProblem } from '../../src/permissions/rules/agent-rules.js';
import { ruleChecker } from '../../src/permissions/rules/rules.js';
import { RULE_TOOLS } from '../../src/permissions/rules/tools.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { loadPlugins } from '../../src/plugins/load.js';
import { loadSettings } from '../../src/settings/files/load.js';
import { type ConfigProblem, describeProblem } from '../../src/settings/types.js';
import { reasonsToAsk } from '../../src/skills/grants/approval.js';
import { readSkill } from '../../src/skills/head/head.js';
import { temporaryDirectory } from '../process/helpers.js';

type Reading = Readonly<Record<string, unknown>>;

/** Reads a file as a session does and says what came of it. One reader for each kind of table. */
export const READINGS: Readonly<Record<string, (text: string) => Promise<Reading>>> = {
  skill: (text) => skillReading(text, { isCommand: false }),
  command: (text) => skillReading(text, { isCommand: true }),
  agent: agentReading,
  rule: ruleReading,
  settings: settingsReading,
  'hook file': hookFileReading,
};

/** `loads`, `refusal`, `asks` (why a call of the model asks), `notes`, and the fields of the head. */
async function skillReading(text: string, how: { readonly isCommand: boolean }): Promise<Reading> {
  const { head, body, problems, refusal } = await readSkill(text, how);
  return {
    ...head,
    loads: refusal === undefined,
    refusal: refusal === undefined ? undefined : `${refusal.message}. ${refusal.remedy ?? ''}`,
    asks: reasonsToAsk({ head }, body),
    notes: problems.map(({ message }) => message),
    body: body.trim(),
  };
}

/** `loads`, `isDocument`, `name`, the fields of the definition, `errors` and `warnings`. */
async function agentReading(text: string): Promise<Reading> {
  const read = await readDefinition(text, { knownTools: KNOWN_TOOLS });
  const said = (severity: string): readonly string[] =>
    read.findings.filter((one) => one.severity === severity).map(({ message }) => message);
  return {
    ...read.fields,
    name: read.name,
    isDocument: read.isDocument,
    loads: read.fields !== undefined,
    errors: said('error'),
    warnings: said('warning'),
  };
}

/** `globs` (absent: the rule applies always), `notes`, `body`. */
async function ruleReading(text: string): Promise<Reading> {
  const { globs, notes, body } = await readRuleHead(text);
  return { globs, notes, body: body.trim() };
}

const CHECKS = {
  knownTools: Object.keys(RULE_TOOLS),
  checkAgents: patternProblem,
  checkRule: ruleChecker('/p', '/h'),
};

/**
 * The text as settings of the user: `starts`, `mode`, `deny`, `allow`, `asked` and `off` (hooks, by event), and what
 * is told: `refusals`, `warnings`, `notes`.
 */
async function settingsReading(text: string): Promise<Reading> {
  const { settings, problems } = await loadSettings({
    fs: nodeFileSystem,
    cwd: '/nowhere/p',
    configDir: '/nowhere/h',
    managedDir: '/nowhere/m',
    sources: [],
    trustProject: true,
    env: { HOME: '/nowhere/h' },
    flagSettings: text,
    ...CHECKS,
  });
  const { permissions, values } = settings;
  return {
    ...told(problems),
    ...hooksReading(values),
    mode: permissions.defaultMode?.value,
    deny: permissions.deny.map(({ value }) => value.text),
    allow: permissions.allow.map(({ value }) => value.text),
  };
}

/** The text as `hooks/hooks.json` of a plugin: as above, but for what only settings have. */
async function hookFileReading(text: string): Promise<Reading> {
  const directory = temporaryDirectory();
  mkdirSync(path.join(directory, 'kit', 'hooks'), { recursive: true });
  writeFileSync(path.join(directory, 'kit', 'hooks', 'hooks.json'), text);
  const { plugins, problems } = await loadPlugins([{ directory: 'kit' }], {
    fs: nodeFileSystem,
    cwd: directory,
    configDir: directory,
    check: CHECKS,
  });
  const scoped = plugins.flatMap(({ name, hooks }) =>
    hooks.map(
      (one): ScopedHooks => ({ kind: 'plugin', name, source: 'cli', trusted: true, ...one }),
    ),
  );
  const values = { get: () => undefined, list: () => [], said: () => [], has: () => false };
  return { ...told(problems), ...hooksReading(values, scoped) };
}

function hooksReading(
  values: Parameters<typeof captureHooks>[0]['values'],
  scoped: readonly ScopedHooks[] = [],
): Reading {
  const { hooks, skipped } = captureHooks({ values, scoped });
  return {
    asked: Object.values(hooks).flatMap((list) =>
      list.map(({ hook, broken }) =>
        [
          hook.event,
          hook.matcher ?? '*',
          broken === undefined ? nameOf(hook.handler) : 'broken',
          hook.onFailure,
        ].join(' '),
      ),
    ),
    off: skipped.map(({ label, why }) => `${label}: ${why}`),
  };
}

function nameOf(handler: object): string {
  const [what = ''] = ['command', 'url', 'prompt', 'tool'].flatMap((key) =>
    key in handler ? [String((handler as Record<string, unknown>)[key])] : [],
  );
  return what;
}

function told(problems: readonly ConfigProblem[]): Reading {
  const said = (severity: string): string =>
    problems
      .filter((one) => one.severity === severity)
      .map((one) => describeProblem({ ...one, file: undefined, line: undefined } as ConfigProblem))
      .join('\n');
  return {
    starts: said('fatal') === '',
    refusals: said('fatal'),
    warnings: said('warning'),
    notes: said('note'),
  };
}
