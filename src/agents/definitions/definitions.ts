import { err, ok, type Result } from '../../lib/result.js';
import { visible } from '../../lib/text/visible.js';
import type { UsedDocument } from '../../settings/trust/types.js';
import { isTrusted, openHomes, rememberedTrust } from '../../skills/discovery/homes.js';
import { someNames } from '../../skills/discovery/names.js';
import type { SkillPlaces } from '../../skills/discovery/roots.js';
import { builtinAgents } from './builtin-agents.js';
import {
  type AgentDefinition,
  type AgentDocument,
  type AgentProblem,
  type DefinitionSource,
  type HiddenAgent,
  placeOf,
} from './definition.js';
import { definitionRoots, findDefinitions } from './find.js';
import type { ReadHostAgents } from './host.js';
import { typeKey } from './names.js';
import { DefinitionReader, readText } from './reader.js';
import { DefinitionRegistry, type Registration, type RegistryFile } from './registry.js';
import { didYouMean } from './schema.js';
import { KNOWN_TOOLS } from './tools.js';
import { fieldsThatNeedTrust, keepBans, withoutTrust } from './trust.js';

export interface AgentBookDeps extends SkillPlaces {
  /**
   * Whether the current contents of this directory's `.claude` may grant and execute. `used` is the
   * document about to be used, in that very version.
   */
  trusts(directory: string, used?: UsedDocument): Promise<boolean>;
  /** Definitions of `--agents` or the host, as `readHostAgents` returns them. */
  readonly host?: ReadHostAgents | undefined;
  /** Names that `tools` may contain; by default those that rules know. */
  readonly knownTools?: readonly string[];
}

const MOST_TOLD = 3;

/** One line at the start of a session about invalid definitions; undefined when all are valid. */
export function agentNotice(problems: readonly AgentProblem[]): string | undefined {
  const notices = [
    noticeOf('agents that are not in force', (one) => one.severity === 'error'),
    noticeOf('agents with mistakes', (one) => one.told === true),
  ].filter((notice) => notice !== undefined);
  if (notices.length === 0) return undefined;
  return `${notices.join('. ')}. \`portcullis agents validate\` shows all`;

  function noticeOf(what: string, isMeant: (one: AgentProblem) => boolean): string | undefined {
    const meant = problems.filter(isMeant);
    if (meant.length === 0) return undefined;
    const told = meant.slice(0, MOST_TOLD).map((one) => `${placeOf(one)}: ${one.message}`);
    const more = meant.length - told.length;
    return `${what}: ${visible(told.join('; '))}${more === 0 ? '' : `; ${more} more`}`;
  }
}

/** The agent types of a session, read on first use. */
export class AgentBook {
  readonly #deps: AgentBookDeps;
  #scanned: Promise<DefinitionRegistry> | undefined;

  constructor(deps: AgentBookDeps) {
    this.#deps = deps;
  }

  /** Agent types in force, sorted by name, without the parts that need trust and have none. */
  async list(): Promise<readonly AgentDefinition[]> {
    const registry = await this.#registry();
    registry.listed ??= this.#effective(registry);
    return await registry.listed;
  }

  /**
   * Finds a type by its exact name, else by the only one that differs in case alone, with the file's
   * current content.
   */
  async find(name: string): Promise<AgentDefinition | undefined> {
    const found = await this.resolve(name);
    return found.ok ? found.value : undefined;
  }

  /**
   * The same, or the reason: what is wrong with its file, or similar names. Fields, prompt and trust
   * all refer to the same bytes.
   */
  async resolve(name: string): Promise<Result<AgentDefinition, string>> {
    const claim = await this.#fresh(name);
    if (claim === undefined) return err(await this.#unknown(name));
    const { definition, level, read } = claim;
    if (definition === undefined) return err(brokenText(claim));
    if (level === undefined || read?.text === undefined) return ok(definition);
    const trusted = await isTrusted(this.#deps, level, { file: read.real, text: read.text });
    return ok(trusted ? { ...definition, trusted } : restrained(claim, definition));
  }

  async problems(): Promise<readonly AgentProblem[]> {
    return (await this.#registry()).problems;
  }

  async hidden(): Promise<readonly HiddenAgent[]> {
    return (await this.#registry()).hidden;
  }

  async documents(): Promise<readonly AgentDocument[]> {
    return (await this.#registry()).documents;
  }

  /** Scans all directories again; true when the list has changed. */
  async refresh(): Promise<boolean> {
    const before = this.#scanned === undefined ? undefined : signatureOf(await this.#scanned);
    this.#scanned = undefined;
    return signatureOf(await this.#registry()) !== before;
  }

  #registry(): Promise<DefinitionRegistry> {
    if (this.#scanned !== undefined) return this.#scanned;
    const scan = this.#scan();
    this.#scanned = scan;
    scan.catch(() => {
      // A failed scan is repeated on the next request.
      if (this.#scanned === scan) this.#scanned = undefined;
    });
    return scan;
  }

  /** The registration, scanned again when its file has changed. */
  async #fresh(name: string): Promise<Registration | undefined> {
    const key = typeKey(name.trim());
    const claim = (await this.#registry()).claims.get(key);
    if (claim?.read === undefined) return claim;
    // fail-closed: an unreadable file counts as changed.
    const text = await readText(this.#deps.fs, claim.read).catch(() => undefined);
    // fail-closed: decisions about an earlier text do not hold for a new one.
    if (text !== undefined && text === claim.read.text) return claim;
    this.#scanned = undefined;
    return (await this.#registry()).claims.get(key);
  }

  async #unknown(name: string): Promise<string> {
    const all = [...(await this.#registry()).claims.values()];
    const names = all.flatMap(({ definition }) => definition?.name ?? []).sort();
    // Suggests invalid definitions, too: asking for one shows what is wrong with it.
    const hint = didYouMean(
      name,
      all.map((claim) => claim.name),
    );
    const shown = someNames(names, MOST_NAMES);
    return `there is no agent "${visible(name).slice(0, 100)}"${hint || '.'} Available: ${shown}`;
  }

  async #effective({ claims }: DefinitionRegistry): Promise<readonly AgentDefinition[]> {
    const trusts = rememberedTrust(this.#deps);
    const listed: AgentDefinition[] = [];
    for (const claim of claims.values()) {
      const { definition, level } = claim;
      if (definition === undefined) continue;
      // Trust is checked only where it changes the definition, because checking is slow.
      const isSettled = level === undefined || !dependsOnTrust(claim, definition);
      const counts = isSettled || (await trusts(level));
      listed.push(counts ? definition : restrained(claim, definition));
    }
    return listed.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  /** Assigns names in this order: administrator, host, project, user, plugins, program. */
  async #scan(): Promise<DefinitionRegistry> {
    const { fs, knownTools = KNOWN_TOOLS, host } = this.#deps;
    const reader = new DefinitionReader(fs, knownTools);
    const trusts = rememberedTrust(this.#deps);
    const homes = await openHomes({ userFolder: 'agents', ...this.#deps, trusts });
    const builtin = builtinAgents();
    const registry = new DefinitionRegistry(builtin);
    registry.problems.push(...(host?.problems ?? []));
    const files: RegistryFile[] = [];
    for (const root of await definitionRoots(this.#deps)) {
      const found = await findDefinitions(root, { fs, homes });
      for (const file of found.files) files.push({ ...file, read: await reader.read(file) });
      for (const skipped of found.skipped) registry.addSkipped(skipped);
    }
    const of = (source: DefinitionSource): readonly RegistryFile[] =>
      files.filter(({ root }) => root.source === source);
    const users = new Map(of('user').map(({ read, file }) => [typeKey(read.name ?? ''), file]));
    for (const file of of('managed')) registry.addFile(file);
    for (const definition of host?.definitions ?? []) registry.addGiven(definition, '--agents');
    for (const file of of('project')) {
      const { name } = file.read;
      const mine = name === undefined ? undefined : users.get(typeKey(name));
      // fail-closed: permissions for the person's own agent do not apply to a namesake from an untrusted folder.
      const isForeign = mine !== undefined && !(await trusts(file.root.level ?? ''));
      if (isForeign) registry.addForeign(file, mine);
      else registry.addFile(file);
    }
    for (const file of [...of('user'), ...of('plugin')]) registry.addFile(file);
    for (const definition of builtin) registry.addGiven(definition, 'built-in');
    return registry;
  }
}

const MOST_NAMES = 40;

function dependsOnTrust({ replaces }: Registration, definition: AgentDefinition): boolean {
  const bans = replaces?.disallowedTools.length ?? 0;
  return bans > 0 || fieldsThatNeedTrust(definition).length > 0;
}

/** The definition as it applies in an untrusted folder. */
function restrained({ replaces }: Registration, definition: AgentDefinition): AgentDefinition {
  return keepBans(withoutTrust(definition), replaces);
}

function brokenText({ name, place, findings }: Registration): string {
  const errors = findings
    .filter(({ severity }) => severity === 'error')
    .map(({ line, message }) => (line === undefined ? message : `line ${line}: ${message}`));
  return `the agent "${name}" is not in force: ${visible(`${place}: ${errors.join('; ')}`)}`;
}

/** Changes whenever the list changes. */
function signatureOf({ claims }: DefinitionRegistry): string {
  return JSON.stringify(
    [...claims.values()].map(({ name, definition }) => [name, definition?.contentHash()]),
  );
}
