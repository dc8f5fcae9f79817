import type { Clock } from '../env/clock.js';
import { homeDirectory } from '../env/paths.js';
import { PortcullisError } from '../errors.js';
import type { PermissionMode } from '../protocol/permissions.js';
import type { SessionNews } from '../protocol/session-events.js';
import { refuseBroken } from '../settings/refuse.js';
import type { PermissionSettings, SourcedRule } from '../settings/types.js';
import { createGate } from './gate.js';
import type { PathFileSystem } from './paths.js';
import { splitRuleList } from './rule-list.js';
import { parseRules } from './rules.js';
import type { Asker, Gate } from './types.js';

export interface PermissionParts {
  readonly fs: PathFileSystem;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isRoot: boolean;
  readonly cwd: string;
  readonly settings: PermissionSettings;
  /** Values of `--allowedTools`: allow rules. */
  readonly allowedTools: readonly string[];
  /** Values of `--disallowedTools`: bare names are bans, scoped ones deny rules. */
  readonly disallowedTools: readonly string[];
  readonly mode: PermissionMode | undefined;
  /** Whether bypassPermissions may be chosen later. */
  readonly bypassArmed: boolean;
  readonly asker: Asker | undefined;
  emit(news: SessionNews): void;
}

/** The gate of a session and the mode it goes by. */
export interface Permissions {
  readonly gate: Gate;
  mode(): PermissionMode;
  /** Throws when the mode may not be chosen now. */
  setMode(mode: PermissionMode): void;
  /** Tool names that allow rules mention. */
  readonly allowedNames: readonly string[];
  /** Tools that are taken out of the pool. */
  readonly bannedNames: readonly string[];
}

export function openPermissions(parts: PermissionParts): Permissions {
  const home = homeDirectory(parts.env);
  const fromFlag = (text: string): SourcedRule => ({
    value: { text, root: parts.cwd },
    source: 'cli',
    trusted: true,
  });
  const { settings } = parts;
  const deny = [...splitRuleList(parts.disallowedTools).map(fromFlag), ...settings.deny];
  const allow = [...splitRuleList(parts.allowedTools).map(fromFlag), ...settings.allow];
  const { rules, problems } = parseRules(
    { deny, ask: settings.ask, allow },
    { cwd: parts.cwd, home },
  );
  refuseBroken(problems, parts.emit);
  let mode = startMode(parts);
  const gate = createGate({
    fs: parts.fs,
    home,
    clock: parts.clock,
    mode: () => mode,
    rules: () => rules,
    asker: () => parts.asker,
  });
  return {
    gate,
    mode: () => mode,
    setMode(next) {
      if (next === 'bypassPermissions') refuseBypass(parts, { armed: parts.bypassArmed });
      mode = next;
      parts.emit({ type: 'mode', mode });
    },
    allowedNames: allow.map((rule) => nameOf(rule)),
    bannedNames: deny.filter((rule) => !rule.value.text.includes('(')).map((rule) => nameOf(rule)),
  };
}

function nameOf(rule: SourcedRule): string {
  return rule.value.text.split('(')[0]?.trim() ?? '';
}

function startMode(parts: PermissionParts): PermissionMode {
  const mode = parts.mode ?? parts.settings.defaultMode?.value ?? 'default';
  if (mode === 'bypassPermissions') refuseBypass(parts, { armed: true });
  return mode;
}

/** fail-closed: with all checks off, root could do anything at all. */
function refuseBypass(parts: PermissionParts, { armed }: { armed: boolean }): void {
  const { bypassDisabled } = parts.settings;
  if (bypassDisabled !== undefined) {
    throw new PortcullisError('config', 'bypassPermissions is disabled by settings', {
      remedy: `see disableBypassPermissionsMode in ${bypassDisabled.file ?? bypassDisabled.source}`,
    });
  }
  if (!armed) {
    throw new PortcullisError(
      'config',
      'bypassPermissions was not enabled when the session was started',
      {
        remedy: 'start with --allow-dangerously-skip-permissions',
      },
    );
  }
  if (parts.isRoot && parts.env.IS_SANDBOX !== '1') {
    throw new PortcullisError('config', 'bypassPermissions is refused for root outside a sandbox', {
      remedy: 'run as another user, or set IS_SANDBOX=1 inside a container that may be lost',
    });
  }
}
