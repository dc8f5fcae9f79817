import { splitFile } from '../../lib/head-text.js';
import { sha256 } from '../../platform/hash.js';
import type {
  AgentDefinition,
  AgentDocument,
  AgentFinding,
  AgentProblem,
  DefinitionSource,
  HiddenAgent,
} from './definition.js';
import type { DefinitionFile, SkippedFile } from './find.js';
import type { ReadHostAgents } from './host.js';
import { typeKey } from './names.js';
import type { ReadDefinition } from './reader.js';
import { asPlugin } from './trust.js';

/** Who has a name. Without a definition its file is not whole, and nobody else gets the name. */
export interface Registration {
  readonly name: string;
  readonly source: DefinitionSource;
  /** The file, or what stands for one. */
  readonly place: string;
  readonly definition?: AgentDefinition;
  readonly findings: readonly AgentFinding[];
  /** The file, its real path and the text it was read from; absent for what is no file. */
  readonly read?: { readonly file: string; readonly real: string; readonly text?: string };
  /** The directory whose trust decides; absent where no project's does. */
  readonly level?: string;
  /** The built-in whose name it has taken. */
  readonly replaces?: AgentDefinition;
}

/** Everything there is at one moment. */
export interface DefinitionRegistry {
  readonly claims: ReadonlyMap<string, Registration>;
  readonly problems: readonly AgentProblem[];
  readonly hidden: readonly HiddenAgent[];
  readonly documents: readonly AgentDocument[];
}

export interface RegistryFile extends DefinitionFile {
  readonly read: ReadDefinition;
}

export interface RegistryDeps {
  /** Strongest first. */
  readonly files: readonly RegistryFile[];
  readonly skipped: readonly SkippedFile[];
  readonly host?: ReadHostAgents | undefined;
  readonly builtin: readonly AgentDefinition[];
  trusts(directory: string): Promise<boolean>;
}

/** Decides who has which name: administrator, host, project, user, plugins, program. */
export async function buildRegistry(deps: RegistryDeps): Promise<DefinitionRegistry> {
  const shelf = new Shelf(deps);
  const of = (source: DefinitionSource): readonly RegistryFile[] =>
    deps.files.filter(({ root }) => root.source === source);
  const users = new Map(of('user').map(({ read, file }) => [typeKey(read.name ?? ''), file]));
  for (const file of of('managed')) shelf.file(file);
  for (const definition of deps.host?.definitions ?? []) shelf.given(definition, '--agents');
  for (const file of of('project')) {
    const mine = file.read.name === undefined ? undefined : users.get(typeKey(file.read.name));
    // fail-closed: what people allow their own agent is not for one of a foreign folder.
    if (mine !== undefined && !(await deps.trusts(file.root.level ?? '')))
      shelf.foreign(file, mine);
    else shelf.file(file);
  }
  for (const file of [...of('user'), ...of('plugin')]) shelf.file(file);
  for (const definition of deps.builtin) shelf.given(definition, 'built-in');
  return shelf;
}

class Shelf implements DefinitionRegistry {
  readonly claims = new Map<string, Registration>();
  readonly problems: AgentProblem[];
  readonly hidden: HiddenAgent[] = [];
  readonly documents: AgentDocument[] = [];
  readonly #builtin: ReadonlyMap<string, AgentDefinition>;
  readonly #real = new Map<string, string>();
  readonly #roots = new Map<string, string>();

  constructor({ skipped, host, builtin }: RegistryDeps) {
    this.#builtin = new Map(builtin.map((one) => [typeKey(one.name), one]));
    this.problems = [
      ...(host?.problems ?? []),
      ...skipped.map(
        ({ root, file, reason }): AgentProblem => ({
          severity: 'error',
          source: root.source,
          place: file,
          message: reason,
        }),
      ),
    ];
  }

  file(one: RegistryFile): void {
    const { root, file, read } = one;
    const { source } = root;
    if (read.isDocument) {
      this.documents.push({ file, source });
      // Who names a plugin looks for its agents; in a project's folder such files are mostly notes.
      if (source === 'plugin' && !/(?:^|[\\/])readme\.md$/i.test(file)) {
        const message = 'it is no agent: begin it with ---, name, description and ---';
        this.problems.push({ severity: 'warning', told: true, source, place: file, message });
      }
      return;
    }
    const name = nameOf(one);
    const same = this.#real.get(one.real);
    if (same !== undefined && same !== file) {
      this.hidden.push(hiddenFrom(one, `it is the same file as ${same}`));
      return;
    }
    this.#real.set(one.real, file);
    for (const finding of read.findings) {
      this.problems.push({ ...finding, source, place: file, name });
    }
    if (name === undefined) return;
    this.#claim(claimOf(one, name), root.directory);
  }

  given(definition: AgentDefinition, place: string): void {
    const { name, source } = definition;
    this.#claim({ name, source, place, definition, findings: [] }, place);
  }

  /** A project's file that may not take the user's name. */
  foreign(one: RegistryFile, mine: string): void {
    const { root, file, read } = one;
    const message = `${mine} has the same name and stays in force, as this folder is not trusted; start with --trust if this one is meant`;
    const name = read.name ?? '';
    this.hidden.push(hiddenFrom(one, message));
    this.problems.push({
      severity: 'warning',
      source: root.source,
      place: file,
      name,
      message,
      line: read.line,
    });
  }

  #claim(claim: Registration, root: string): void {
    const key = typeKey(claim.name);
    const holder = this.claims.get(key);
    if (holder === undefined) {
      const replaced = claim.source === 'builtin' ? undefined : this.#builtin.get(key);
      this.claims.set(key, replaced === undefined ? claim : { ...claim, replaces: replaced });
      this.#roots.set(key, root);
      return;
    }
    const { name, source, place } = claim;
    const reason = `${holder.place} has the same name and goes first`;
    this.hidden.push({ name, source, place, reason });
    // Of two in one tree nobody meant one to hide the other.
    if (this.#roots.get(key) !== root) return;
    const line = claim.definition?.line;
    this.problems.push({
      severity: 'warning',
      source,
      place,
      name,
      message: `it is not in force: ${reason}`,
      line,
    });
  }
}

/** What an agent is called by: a plugin's with the plugin and the folders before it. */
function nameOf({ root, folders, read }: RegistryFile): string | undefined {
  if (read.name === undefined || root.prefix === undefined) return read.name;
  return [root.prefix, ...folders, read.name].join(':');
}

function claimOf({ root, file, real, read }: RegistryFile, name: string): Registration {
  const { source, level } = root;
  const { fields, text = '', line, findings } = read;
  const claim = {
    name,
    source,
    place: file,
    read: { file, real, text: read.text },
    findings,
    level,
  };
  if (fields === undefined) return claim;
  const definition = {
    ...fields,
    name,
    source,
    file,
    line,
    prompt: async () => splitFile(text).body.trim(),
    contentHash: () => sha256(text),
  };
  return { ...claim, definition: source === 'plugin' ? asPlugin(definition) : definition };
}

function hiddenFrom(one: RegistryFile, reason: string): HiddenAgent {
  const { root, file, read } = one;
  return { name: nameOf(one) ?? read.name ?? '', source: root.source, place: file, reason };
}
