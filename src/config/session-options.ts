import { SESSION_OPTIONS, type SessionOptions } from '../../build/generated/session-options.js';
import { isRecord, own } from '../lib/own.js';
import { err, ok, type Result } from '../lib/result.js';
import { visible } from '../lib/text/visible.js';
import { NO_AUTO_MODE } from '../protocol/permissions.js';
import type { SettingNode } from '../protocol/settings/setting-node.js';
import type { SessionStart } from '../session/open.js';
import { fits } from '../settings/schema/type-check.js';
import type { SessionConfig } from './session-config.js';

export type OptionName = keyof SessionOptions;

/** The part of a session's configuration that its options set; options that were not given are absent. */
export type SessionFields = Pick<SessionConfig, 'start' | 'fork' | 'persist' | 'trust'> &
  Partial<Omit<SessionConfig, 'cwd' | 'env' | 'entrypoint' | 'emit' | 'asker'>>;

/**
 * Validates a caller's options; the command line, the library and the wire share these rules and
 * messages. `nameOf` gives the name that the caller's user knows an option by (`--max-turns`). An
 * undefined or null option counts as not given.
 */
export function readSessionOptions(
  raw: Readonly<Record<string, unknown>>,
  nameOf: (option: OptionName) => string = (option) => option,
): Result<SessionFields, string> {
  const given = Object.fromEntries(
    Object.entries(raw).filter(([, value]) => value !== undefined && value !== null),
  );
  for (const [option, value] of Object.entries(given)) {
    const node = own(SESSION_OPTIONS, option);
    // fail-closed: an unknown option may have been meant as a restriction.
    if (node === undefined) return err(`${visible(option)} is not an option of a session`);
    const name = nameOf(option as OptionName);
    if (option === 'permissionMode' && value === 'auto')
      return err(`${name}: "auto" needs a classifier: ${NO_AUTO_MODE}`);
    const problem = problemOf(node, value);
    if (problem !== undefined) return err(`${name}${problem}`);
  }
  const options: SessionOptions = given;
  const conflict = conflictOf(options, nameOf);
  return conflict === undefined ? ok(fieldsOf(options)) : err(conflict);
}

/** What is wrong with a value, described for its innermost invalid part. */
function problemOf(node: SettingNode, value: unknown): string | undefined {
  if (!fits(node, value) || value === Number.POSITIVE_INFINITY) {
    const shown =
      typeof value === 'string' ? `: "${visible(value)}"` : isPlain(value) ? `: ${value}` : '';
    return `${shown} ${node.problem ?? 'cannot be read'}`;
  }
  if (node.type === 'one') {
    const variant = node.of.find((one) => fits(one, value));
    return variant === undefined ? undefined : problemOf(variant, value);
  }
  if (node.type === 'list' && Array.isArray(value))
    return value.map((item) => problemOf(node.of, item)).find((one) => one !== undefined);
  if (node.type !== 'object' || !isRecord(value)) return undefined;
  const unknown =
    node.open === true ? undefined : Object.keys(value).find((k) => !own(node.keys, k));
  if (unknown !== undefined) return `: "${visible(unknown)}" is unknown; it ${node.problem}`;
  if (node.required?.some((key) => value[key] === undefined) === true) return ` ${node.problem}`;
  for (const [key, inner] of Object.entries(node.keys)) {
    const problem = value[key] === undefined ? undefined : problemOf(inner, value[key]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isPlain(value: unknown): value is number | boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}

/** Options that contradict or need each other. fail-closed: a session must not differ from the one asked for. */
function conflictOf(
  options: SessionOptions,
  nameOf: (option: OptionName) => string,
): string | undefined {
  const { resume, sessionId, resumeSessionAt, resumeDropsTurn, permissionMode: mode } = options;
  const [next, again, fork, id, at] = (
    ['continue', 'resume', 'forkSession', 'sessionId', 'resumeSessionAt'] as const
  ).map(nameOf);
  const resumes = options.continue === true || resume !== undefined;
  const forks = options.forkSession === true;
  if (options.continue === true && resume !== undefined)
    return `${next} and ${again} exclude each other`;
  if (forks && !resumes) return `${fork} needs ${next} or ${again}`;
  if (resumes && sessionId !== undefined && !forks)
    return `${id} with ${next} or ${again} needs ${fork}: a session keeps its id`;
  if (resumeSessionAt !== undefined && resume === undefined)
    return `${at} needs ${again} with an id`;
  if (resumeDropsTurn !== undefined && resumeSessionAt === undefined)
    return `${nameOf('resumeDropsTurn')} needs ${at}`;
  const skips = options.dangerouslySkipPermissions === true;
  if (skips && mode !== undefined && mode !== 'bypassPermissions')
    return `${nameOf('dangerouslySkipPermissions')} contradicts ${nameOf('permissionMode')} ${mode}`;
  return undefined;
}

function fieldsOf(options: SessionOptions): SessionFields {
  const {
    fallbackModel,
    additionalDirectories: addDirs,
    permissionMode,
    dangerouslySkipPermissions,
    allowDangerouslySkipPermissions,
    permissionPromptToolName: promptTool,
    plugins,
    mcpServers,
    sessionId,
    continue: continues,
    resume,
    forkSession,
    resumeSessionAt: at,
    resumeDropsTurn: dropsTurn,
    persistSession,
    trustProject,
    ...same
  } = options;
  const named = permissionMode === 'manual' ? 'default' : permissionMode;
  const mode = dangerouslySkipPermissions === true ? 'bypassPermissions' : named;
  const fallbackModels = fallbackModel?.split(',').map((name) => name.trim());
  const start: SessionStart =
    continues === true
      ? { kind: 'continue', newId: sessionId }
      : resume === undefined
        ? { kind: 'new', id: sessionId }
        : { kind: 'resume', id: resume, newId: sessionId, at, dropsTurn };
  return {
    ...same,
    ...(fallbackModels && { fallbackModels: fallbackModels.filter((name) => name !== '') }),
    ...(addDirs && { addDirs }),
    ...(mode && { permissionMode: mode }),
    bypassArmed: mode === 'bypassPermissions' || allowDangerouslySkipPermissions === true,
    ...(promptTool && { promptTool }),
    ...(mcpServers && Object.keys(mcpServers).length > 0 && { mcpConfig: [mcpServers] }),
    ...(plugins && {
      plugins: plugins.map(({ path: directory, skipMcpDiscovery }) =>
        skipMcpDiscovery === true ? { directory, withoutServers: true } : { directory },
      ),
    }),
    start,
    fork: forkSession === true,
    persist: persistSession !== false,
    trust: trustProject === true,
  };
}
