import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Skill } from '../skill.js';
import type { RenderedPart } from './render.js';

/** A command of a skill's text with values inserted, as the gate judges it and the shell runs it. */
export interface ShellCommand {
  readonly text: string;
  readonly agent: AgentRef;
  readonly skill: string;
  readonly file: string;
  /** Its line in the file, from 1. */
  readonly line: number;
}

export type ShellAnswer =
  | {
      readonly kind: 'ran';
      /** The output that replaces the command. */
      readonly text: string;
      /** As the Bash tool reports it: a search that finds nothing is no error. */
      readonly isError: boolean;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/** Runs a command through the gate without asking a person: a command that no rule allows is refused. */
export type RunShell = (command: ShellCommand, signal: AbortSignal) => Promise<ShellAnswer>;

/** What happens to a skill's commands. */
export type ShellPolicy =
  | { readonly kind: 'run' }
  /** They stay text. */
  | { readonly kind: 'text' }
  /** A notice replaces them. */
  | { readonly kind: 'notice' }
  /** A skill with any command is refused. */
  | { readonly kind: 'refuse'; readonly reason: string };

export const SHELL_IS_OFF =
  '[not run: skills run no commands here, by the setting disableSkillShellExecution]';

export function shellPolicyOf(
  { origin, source, trusted, head, file }: Skill,
  { isOff }: { readonly isOff: boolean },
): ShellPolicy {
  // fail-closed: a server's text must not run local commands, because the server is another machine.
  if (origin === 'mcp' || source === 'mcp') return { kind: 'text' };
  if (isOff && source !== 'managed' && source !== 'builtin') return { kind: 'notice' };
  if (!trusted) {
    // fail-closed: a text that relies on a command's output is not given without it.
    const reason = `it runs commands, and the folder it comes from is not trusted (${file}). The user can look at them and accept them with \`portcullis trust\``;
    return { kind: 'refuse', reason };
  }
  if (head.shell === 'powershell') {
    return { kind: 'refuse', reason: 'it wants PowerShell for its commands, which is not there' };
  }
  return { kind: 'run' };
}

type CommandPart = Extract<RenderedPart, { kind: 'command' }>;

/** The text with each command replaced by its output, or the reason for a failure. */
export async function fillShell(
  parts: readonly RenderedPart[],
  policy: ShellPolicy,
  run: (part: CommandPart) => Promise<ShellAnswer>,
): Promise<Result<string, string>> {
  const texts: string[] = [];
  for (const part of parts) {
    if (part.kind === 'text') texts.push(part.text);
    else if (policy.kind === 'text') texts.push(part.written);
    else if (policy.kind === 'notice') texts.push(SHELL_IS_OFF);
    else if (policy.kind === 'refuse') return err(policy.reason);
    else {
      // fail-closed: a command that throws counts as refused.
      const answer = await run(part).catch(
        (thrown: unknown): ShellAnswer => ({ kind: 'refused', reason: messageOf(thrown) }),
      );
      const command = `its command \`${sliceWhole(part.command, 0, SHOWN_COMMAND)}\``;
      // Commands run in order, and none after one that failed.
      if (answer.kind === 'refused') return err(`${command} was refused: ${answer.reason}`);
      if (answer.isError) return err(`${command} failed: ${answer.text}`);
      texts.push(answer.text);
    }
  }
  return ok(texts.join(''));
}

const SHOWN_COMMAND = 200;
