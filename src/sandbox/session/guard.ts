import { messageOf, PortcullisError } from '../../errors.js';
import { originOf } from '../../lib/sourced.js';
import type { RuleSet } from '../../permissions/rules/rules.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import { fatalOf } from '../../settings/files/load.js';
import type { ConfigProblem, EffectiveSettings } from '../../settings/types.js';
import { Finder } from '../policy/find.js';
import { type PlantedFiles, watchForPlanted } from '../policy/places.js';
import { type PolicyOrder, type PolicyParts, sandboxPolicy } from '../policy/policy.js';
import {
  namedSettings,
  placeOf,
  type SandboxSettings,
  sandboxSettings,
} from '../policy/settings.js';
import type { Sandbox, SandboxAvailability, SandboxPolicy, WrappedProgram } from '../types.js';
import { fencedEnvironment } from './environment.js';
import { createSandboxGate, type FenceState, type SandboxGate } from './placement.js';
import type { FenceOrder } from './supervisor.js';

/** The kinds of programs that run inside the sandbox. */
export type FencedKind = 'shell' | 'hook' | 'mcp';

export interface FenceParts
  extends Omit<PolicyParts, 'settings' | 'settingsFiles' | 'rules' | 'finder'> {
  readonly fs: PolicyParts['fs'] & PlantedFiles & Pick<FileSystem, 'writeAtomic'>;
  readonly settings: EffectiveSettings;
  /** Programs start only once the rules are known. */
  readonly rules: Promise<(agent: AgentRef) => RuleSet>;
  now(): number;
  /** Reports what programs left behind, each text once. */
  tell(text: string): void;
  /** Opens the machine's sandbox on first use; never rejects. */
  open(options: { readonly bwrapPath?: string; readonly unixSockets?: 'all' }): Promise<Sandbox>;
  /** The session's working directories. */
  roots(): readonly string[];
  /** Session files that programs may read: long outputs and the transcript. */
  readonly kept: { readonly outputs: string; readonly transcript: string };
}

/** A session's sandbox; every program of a kind starts through the supervisor of that kind. */
export class SessionFence {
  readonly gate: SandboxGate;
  readonly #parts: FenceParts;
  readonly #finder: Finder;
  #settings: SandboxSettings;
  #files: readonly string[];
  #opening: Promise<Sandbox> | undefined;
  #sandbox: Sandbox | undefined;

  constructor(parts: FenceParts) {
    this.#parts = parts;
    this.#finder = new Finder(parts.fs, parts.now);
    this.#settings = sandboxSettings(parts.settings.values, parts);
    this.#files = namedSettings(parts.settings);
    this.gate = createSandboxGate({
      settings: () => this.#settings,
      state: () => this.#state(),
    });
  }

  /** Problems that prevent the start. */
  async problems(): Promise<readonly ConfigProblem[]> {
    return this.#settings.enabled === undefined ? [] : this.#problemsWith(await this.#open());
  }

  /** Problems that prevent a change of settings. */
  check({ values }: EffectiveSettings): readonly ConfigProblem[] {
    const { enabled, problems } = sandboxSettings(values, this.#parts);
    return enabled === undefined ? [] : problems;
  }

  /** Applies settings to future programs. */
  replace(settings: EffectiveSettings): void {
    this.#settings = sandboxSettings(settings.values, this.#parts);
    this.#files = namedSettings(settings);
  }

  async close(): Promise<void> {
    await (await this.#opening)?.close();
  }

  async #open(): Promise<Sandbox> {
    const { bwrapPath, unixSockets } = this.#settings;
    this.#opening ??= this.#parts.open({
      bwrapPath,
      unixSockets: unixSockets === 'all' ? unixSockets : undefined,
    });
    this.#sandbox = await this.#opening;
    return this.#sandbox;
  }

  #state(): FenceState {
    if (this.#settings.enabled === undefined) return { kind: 'off' };
    const availability = this.#sandbox?.availability;
    if (availability?.kind === 'unavailable' && !this.#settings.required) {
      return { kind: 'missing', why: availability.missing };
    }
    // fail-closed: while the state is unknown, or the required sandbox is missing, nothing runs outside.
    const driver = availability?.kind === 'available' ? availability.driver : 'not opened yet';
    return { kind: 'up', driver };
  }

  /** The problems of the settings, and a missing sandbox. */
  #problemsWith({ availability }: Sandbox): readonly ConfigProblem[] {
    const { enabled, required, problems } = this.#settings;
    if (availability.kind === 'available' || enabled === undefined) return problems;
    const { missing, remedy } = availability;
    const message = `sandbox.enabled is true (${originOf(enabled)}), and there is no sandbox here: ${missing}.`;
    const problem: ConfigProblem = required
      ? {
          severity: 'fatal',
          message,
          remedy: `${remedy} To run without one, set sandbox.failIfUnavailable to false.`,
        }
      : {
          severity: 'warning',
          message: `${message} Commands, hooks and servers run WITHOUT one.`,
          remedy,
        };
    return [...problems, { ...problem, ...placeOf(enabled) }];
  }

  /** Wraps a program; undefined when it runs unsandboxed, and rejects when it must not run. */
  async enter(kind: FencedKind, order: FenceOrder): Promise<WrappedProgram | undefined> {
    if (!this.#isFenced(kind, order)) return undefined;
    const sandbox = await this.#open();
    const [fatal] = fatalOf(this.#problemsWith(sandbox));
    // fail-closed: nothing runs when the settings cannot be honoured.
    if (fatal !== undefined) {
      throw new PortcullisError('denied', fatal.message, { remedy: fatal.remedy });
    }
    if (sandbox.availability.kind === 'unavailable') return undefined;
    const policy = await this.#policy(await this.#orderOf(kind, order));
    const { command, args, cwd } = order;
    const env = fencedEnvironment(order.env, this.#settings);
    const look = await watchForPlanted(policy.writable, this.#parts.fs);
    const wrapped = await sandbox.wrap({ command, args, cwd, env }, policy);
    const { mayLeave } = this.#settings;
    return {
      ...wrapped,
      refusals(result) {
        const refused = wrapped.refusals(result);
        return kind === 'shell' && refused !== undefined ? withWayOut(refused, mayLeave) : refused;
      },
      release: async () => {
        await wrapped.release();
        const taken = await look().catch((thrown: unknown) => {
          this.#parts.tell(`what a command left could not be looked at: ${messageOf(thrown)}`);
          return [];
        });
        for (const path of taken) {
          this.#parts.tell(`a command made ${path}, which would steer git; it was taken away`);
        }
      },
    };
  }

  /** The settings, and what a program of the main agent may do. */
  async inspect(): Promise<{
    readonly settings: SandboxSettings;
    readonly availability: SandboxAvailability;
    readonly policy: SandboxPolicy;
  }> {
    const { availability } = await this.#open();
    const policy = await this.#policy({ agent: MAIN_AGENT, roots: this.#parts.roots() });
    return { settings: this.#settings, availability, policy };
  }

  async #policy(order: PolicyOrder): Promise<SandboxPolicy> {
    const rules = await this.#parts.rules;
    const changing = { rules, finder: this.#finder, settings: this.#settings };
    return await sandboxPolicy({ ...this.#parts, ...changing, settingsFiles: this.#files }, order);
  }

  #isFenced(kind: FencedKind, { owner }: FenceOrder): boolean {
    const { enabled, hooks, servers, excludedServers } = this.#settings;
    if (enabled === undefined) return false;
    if (kind === 'hook') return hooks;
    if (kind === 'mcp') return servers && !excludedServers.has(owner.server ?? '');
    return owner.outside === undefined;
  }

  async #orderOf(kind: FencedKind, { owner, env }: FenceOrder): Promise<PolicyOrder> {
    const { outputs, transcript } = this.#parts.kept;
    const whose = { agent: owner.agent ?? MAIN_AGENT, roots: owner.roots ?? this.#parts.roots() };
    if (kind === 'mcp') return whose;
    if (kind === 'shell') {
      // Hooks and servers do not share this, because they are the project's programs.
      return {
        ...whose,
        lent: { readable: [outputs] },
        scratch: `shell ${whose.agent.path}`,
        hidesCheckout: true,
      };
    }
    const file = env.CLAUDE_ENV_FILE;
    // Only the file itself: next to it, a hook could place a link and choose what we write to.
    const { fs } = this.#parts;
    if (file !== undefined && (await fs.lstat(file)) === undefined) {
      await fs.writeAtomic(file, '', { mode: 0o600 });
    }
    const writable = file === undefined ? [] : [file];
    return { ...whose, lent: { readable: [outputs, transcript], writable } };
  }
}

/** Adds to a refusal what the model can do about it. */
function withWayOut(refused: string, mayLeave: boolean): string {
  const settings =
    'a person can open more in the settings: sandbox.filesystem.allowWrite, sandbox.network.allowedDomains, sandbox.excludedCommands';
  const leave = 'call Bash again with dangerouslyDisableSandbox: true, and a person is asked';
  return `${refused}\nIf it is needed, ${mayLeave ? `${leave}; or ` : ''}${settings}.`;
}
