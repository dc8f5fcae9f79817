import { splitFile } from '../../lib/frontmatter/head-text.js';
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
import { typeKey } from './names.js';
import type { ReadDefinition } from './reader.js';
import { asPlugin } from './trust.js';

/** The owner of a name. Without a definition its file is invalid, and the name stays blocked. */
export interface Registration {
  readonly name: string;
  readonly source: DefinitionSource;
  /** The file, or the flag that gave the definition. */
  readonly place: string;
  readonly definition?: AgentDefinition;
  readonly findings: readonly AgentFinding[];
  /** The file, its real path and the text that was read; absent for other sources. */
  readonly read?: { readonly file: string; readonly real: string; readonly text?: string };
  /** The directory whose trust decides; absent outside projects. */
  readonly level?: string;
  /** The built-in agent of the same name. */
  readonly replaces?: AgentDefinition;
}

export interface RegistryFile extends DefinitionFile {
  readonly read: ReadDefinition;
}

/** One scan's result: the owner of every name, and why other definitions are not in force. */
export class DefinitionRegistry {
  readonly claims = new Map<string, Registration>();
  readonly problems: AgentProblem[] = [];
  /** Valid definitions that are not in force because another has their name. */
  readonly hidden: HiddenAgent[] = [];
  readonly documents: AgentDocument[] = [];
  /** The definitions in force, computed on first use because checking trust is slow. */
  listed: Promise<readonly AgentDefinition[]> | undefined;
  readonly #builtin: ReadonlyMap<string, AgentDefinition>;
  readonly #real = new Map<string, string>();
  readonly #roots = new Map<string, string>();

  constructor(builtin: readonly AgentDefinition[]) {
    this.#builtin = new Map(builtin.map((one) => [typeKey(one.name), one]));
  }

  addFile(one: RegistryFile): void {
    const { root, file, real, read } = one;
    const { source } = root;
    if (read.isDocument) {
      this.documents.push({ file, source });
      // Plugins are added for their agents; in a project's folder such files are mostly notes.
      if (source === 'plugin' && !/(?:^|[\\/])readme\.md$/i.test(file)) {
        const message = 'it is no agent: begin it with ---, name, description and ---';
        this.problems.push({ severity: 'warning', told: true, source, place: file, message });
      }
      return;
    }
    const same = this.#real.get(real);
    if (same !== undefined && same !== file) {
      this.#hide(one, `it is the same file as ${same}`);
      return;
    }
    this.#real.set(real, file);
    const name = nameOf(one);
    for (const finding of read.findings) {
      this.problems.push({ ...finding, source, place: file, name });
    }
    if (name !== undefined) this.#claim(claimOf(one, name), root.directory);
  }

  addGiven(definition: AgentDefinition, place: string): void {
    const { name, source } = definition;
    this.#claim({ name, source, place, definition, findings: [] }, place);
  }

  addSkipped({ root: { source }, file: place, reason }: SkippedFile): void {
    this.problems.push({ severity: 'error', source, place, message: reason });
  }

  /** Records a project's file that may not replace `mine`, the user's file of the same name. */
  addForeign(one: RegistryFile, mine: string): void {
    const message = `${mine} has the same name and stays in force, as this folder is not trusted; start with --trust if this one is meant`;
    this.#hide(one, message);
    const { root, file: place, read } = one;
    const { name, line } = read;
    this.problems.push({ severity: 'warning', source: root.source, place, name, message, line });
  }

  #hide(one: RegistryFile, reason: string): void {
    const name = nameOf(one) ?? '';
    this.hidden.push({ name, source: one.root.source, place: one.file, reason });
  }

  #claim(claim: Registration, root: string): void {
    const { name, source, place } = claim;
    const key = typeKey(name);
    const holder = this.claims.get(key);
    if (holder === undefined) {
      const replaces = source === 'builtin' ? undefined : this.#builtin.get(key);
      this.claims.set(key, { ...claim, replaces });
      this.#roots.set(key, root);
      return;
    }
    const reason = `${holder.place} has the same name and goes first`;
    this.hidden.push({ name, source, place, reason });
    // Two definitions of one name in the same tree are a mistake worth a warning.
    if (this.#roots.get(key) !== root) return;
    const message = `it is not in force: ${reason}`;
    const line = claim.definition?.line;
    this.problems.push({ severity: 'warning', source, place, name, message, line });
  }
}

/** The agent's name; a plugin's agent is prefixed with the plugin and its folders. */
function nameOf({ root, folders, read }: RegistryFile): string | undefined {
  if (read.name === undefined || root.prefix === undefined) return read.name;
  return [root.prefix, ...folders, read.name].join(':');
}

function claimOf({ root, file, real, read }: RegistryFile, name: string): Registration {
  const { source, level } = root;
  const { fields, text, line, findings } = read;
  const claim = { name, source, place: file, read: { file, real, text }, findings, level };
  if (fields === undefined || text === undefined) return claim;
  const definition: AgentDefinition = {
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
