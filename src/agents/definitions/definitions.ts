import { nearest } from '../../lib/nearest.js';
import { err, ok, type Result } from '../../lib/result.js';
import { visible } from '../../lib/visible.js';
import type { UsedDocument } from '../../settings/trust/types.js';
import { isTrusted, openHomes, rememberedTrust } from '../../skills/discovery/homes.js';
import type { SkillPlaces } from '../../skills/discovery/roots.js';
import { builtinAgents } from './builtin-agents.js';
import {
  type AgentDefinition,
  type AgentDocument,
  type AgentProblem,
  type HiddenAgent,
  placeOf,
} from './definition.js';
import { definitionRoots, findDefinitions, type SkippedFile } from './find.js';
import type { ReadHostAgents } from './host.js';
import { typeKey } from './names.js';
import { type DefinitionReader, openDefinitionReader } from './reader.js';
import {
  buildRegistry,
  type DefinitionRegistry,
  type Registration,
  type RegistryFile,
} from './registry.js';
import { KNOWN_TOOLS } from './tools.js';
import { fieldsThatNeedTrust, withBansOf, withoutTrust } from './trust.js';

export interface AgentBookDeps extends SkillPlaces {
  /**
   * Whether what stands in the `.claude` of this directory may grant and execute, as it is now.
   * `used`: the one document that is about to be used, in the text in which that happens.
   */
  trusts(directory: string, used?: UsedDocument): Promise<boolean>;
  /** Of `--agents` or of the host, as `readHostAgents` gives them. */
  readonly host?: ReadHostAgents | undefined;
  /** Names that `tools` may hold; those of the rules unless said otherwise. */
  readonly knownTools?: readonly string[];
}

const MOST_TOLD = 3;

/** One line for the start of a session in which definitions are not whole; undefined when all are. */
export function agentNotice(problems: readonly AgentProblem[]): string | undefined {
  const notices = [
    noticeOf(
      'agents that are not in force',
      problems.filter(({ severity }) => severity === 'error'),
    ),
    noticeOf(
      'agents with mistakes',
      problems.filter(({ told }) => told === true),
    ),
  ].filter((notice) => notice !== undefined);
  if (notices.length === 0) return undefined;
  return `${notices.join('. ')}. \`portcullis agents validate\` shows all`;
}

function noticeOf(what: string, problems: readonly AgentProblem[]): string | undefined {
  if (problems.length === 0) return undefined;
  const told = problems.slice(0, MOST_TOLD).map((one) => `${placeOf(one)}: ${one.message}`);
  const more = problems.length - told.length;
  return `${what}: ${visible(told.join('; '))}${more === 0 ? '' : `; ${more} more`}`;
}

/** The kinds of agents of a session. Nothing is read before something is asked for. */
export class AgentBook {
  readonly #deps: AgentBookDeps;
  readonly #reader: DefinitionReader;
  #shelf: Promise<DefinitionRegistry> | undefined;
  readonly #listed = new WeakMap<DefinitionRegistry, Promise<readonly AgentDefinition[]>>();

  constructor(deps: AgentBookDeps) {
    this.#deps = deps;
    const { fs, knownTools = KNOWN_TOOLS } = deps;
    this.#reader = openDefinitionReader({ fs, knownTools });
  }

  /** In force, sorted by name. What needs trust and has none is taken out of them. */
  async list(): Promise<readonly AgentDefinition[]> {
    const shelf = await this.#registry();
    const known = this.#listed.get(shelf) ?? this.#effective(shelf);
    this.#listed.set(shelf, known);
    return await known;
  }

  /** By its exact name, else by the only one that differs in case alone; as its file is now. */
  async find(name: string): Promise<AgentDefinition | undefined> {
    const found = await this.resolve(name);
    return found.ok ? found.value : undefined;
  }

  /**
   * The same, or why not: what is wrong with its file, or what is near. Head and prompt are of the bytes that are there
   * now, and trust in exactly those.
   */
  async resolve(name: string): Promise<Result<AgentDefinition, string>> {
    const claim = await this.#fresh(name);
    if (claim === undefined) return err(await this.#unknown(name));
    const found = definitionOf(claim);
    const { level, read } = claim;
    if (!found.ok || level === undefined || read?.text === undefined) return found;
    const trusted = await isTrusted(this.#deps, level, { file: read.real, text: read.text });
    return trusted ? ok({ ...found.value, trusted }) : ok(restrained(claim, found.value));
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

  #registry(): Promise<DefinitionRegistry> {
    this.#shelf ??= this.#scan().catch((thrown: unknown) => {
      // The next who asks looks again.
      this.#shelf = undefined;
      throw thrown;
    });
    return this.#shelf;
  }

  /** Looks at all places again. True: the list is another one. */
  async refresh(): Promise<boolean> {
    const before = this.#shelf === undefined ? undefined : signatureOf(await this.#shelf);
    return signatureOf(await this.#rescan()) !== before;
  }

  async #rescan(): Promise<DefinitionRegistry> {
    const next = await this.#scan();
    this.#shelf = Promise.resolve(next);
    return next;
  }

  /** The claim, read again where its file is another by now. */
  async #fresh(name: string): Promise<Registration | undefined> {
    const key = typeKey(name.trim());
    const claim = (await this.#registry()).claims.get(key);
    if (claim?.read === undefined) return claim;
    const text = await this.#reader.textOf(claim.read);
    // fail-closed: what was decided by an earlier text does not hold for another one.
    if (text !== undefined && text === claim.read.text) return claim;
    return (await this.#rescan()).claims.get(key);
  }

  async #unknown(name: string): Promise<string> {
    const { claims } = await this.#registry();
    const all = [...claims.values()];
    const names = all.flatMap(({ definition }) => definition?.name ?? []).sort();
    // Also one that is not whole: whoever asks for that is told what is wrong with it.
    const close = nearest(
      name,
      all.map((claim) => claim.name),
    );
    const hint = close === undefined ? '.' : `; did you mean ${close}?`;
    const shown = names.slice(0, MOST_NAMES).join(', ');
    const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
    return `there is no agent "${visible(name).slice(0, 100)}"${hint} Available: ${shown}${more}`;
  }

  async #effective({ claims }: DefinitionRegistry): Promise<readonly AgentDefinition[]> {
    const trusts = rememberedTrust(this.#deps);
    const listed: AgentDefinition[] = [];
    for (const claim of claims.values()) {
      const { definition, level } = claim;
      if (definition === undefined) continue;
      // A folder is asked about only where the answer changes something: the answer costs time.
      const isSettled = level === undefined || !dependsOnTrust(claim, definition);
      const counts = isSettled || (await trusts(level));
      listed.push(counts ? definition : restrained(claim, definition));
    }
    return listed.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  async #scan(): Promise<DefinitionRegistry> {
    this.#reader.begin();
    const trusts = rememberedTrust(this.#deps);
    const homes = await openHomes({ userFolder: 'agents', ...this.#deps, trusts });
    const files: RegistryFile[] = [];
    const skipped: SkippedFile[] = [];
    for (const root of await definitionRoots(this.#deps)) {
      const found = await findDefinitions(root, { fs: this.#deps.fs, homes });
      for (const file of found.files) {
        files.push({ ...file, read: await this.#reader.read(file) });
      }
      skipped.push(...found.skipped);
    }
    const { host } = this.#deps;
    return await buildRegistry({ files, skipped, host, builtin: builtinAgents(), trusts });
  }
}

const MOST_NAMES = 40;

function definitionOf(claim: Registration): Result<AgentDefinition, string> {
  return claim.definition === undefined ? err(brokenText(claim)) : ok(claim.definition);
}

function dependsOnTrust({ replaces }: Registration, definition: AgentDefinition): boolean {
  const bans = replaces?.disallowedTools.length ?? 0;
  return bans > 0 || fieldsThatNeedTrust(definition).length > 0;
}

/** As it counts in a folder that is not trusted. */
function restrained({ replaces }: Registration, definition: AgentDefinition): AgentDefinition {
  return withBansOf(withoutTrust(definition), replaces);
}

function brokenText({ name, place, findings }: Registration): string {
  const errors = findings
    .filter(({ severity }) => severity === 'error')
    .map(({ line, message }) => (line === undefined ? message : `line ${line}: ${message}`));
  return `the agent "${name}" is not in force: ${visible(`${place}: ${errors.join('; ')}`)}`;
}

/** All that a list is made of. */
function signatureOf({ claims }: DefinitionRegistry): string {
  return JSON.stringify(
    [...claims.values()].map(({ name, definition }) => [name, definition?.contentHash()]),
  );
}
