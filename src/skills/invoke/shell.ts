import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Skill } from '../skill.js';
import type { RenderedPart } from './render.js';

/** A command in the text of a skill, with everything put in: what the gate judges and a shell gets. */
export interface ShellCommand {
  readonly text: string;
  readonly agent: AgentRef;
  readonly skill: string;
  readonly file: string;
  /** From 1: its line in the file. */
  readonly line: number;
}

export type ShellAnswer =
  | {
      readonly kind: 'ran';
      /** What takes the command's place. */
      readonly text: string;
      /** As the shell tool sees it: a search that finds nothing is no error. */
      readonly isError: boolean;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Runs a command the one way in, through the gate. Nobody is asked: what is not allowed beforehand is
 * refused.
 */
export type RunShell = (command: ShellCommand, signal: AbortSignal) => Promise<ShellAnswer>;

/** What becomes of the commands of a skill. */
export type ShellPolicy =
  | { readonly kind: 'run' }
  /** They are words like all others. */
  | { readonly kind: 'text' }
  /** A notice takes their place. */
  | { readonly kind: 'notice' }
  /** A skill that has any is not invoked. */
  | { readonly kind: 'refuse'; readonly reason: string };

export const SHELL_IS_OFF =
  '[not run: skills run no commands here, by the setting disableSkillShellExecution]';

export function shellPolicyOf(
  { origin, source, trusted, head, file }: Skill,
  { isOff }: { readonly isOff: boolean },
): ShellPolicy {
  // fail-closed: a server is somebody else's machine; nothing that it says runs on this one.
  if (origin === 'mcp' || source === 'mcp') return { kind: 'text' };
  if (isOff && source !== 'managed' && source !== 'builtin') return { kind: 'notice' };
  if (!trusted) {
    // fail-closed: a text that counts on a command's output is not given without it.
    const reason = `it runs commands, and the folder it comes from is not trusted (${file}). The user can look at them and accept them with \`portcullis trust\``;
    return { kind: 'refuse', reason };
  }
  if (head.shell === 'powershell') {
    return { kind: 'refuse', reason: 'it wants PowerShell for its commands, which is not there' };
  }
  return { kind: 'run' };
}

type CommandPart = Extract<RenderedPart, { kind: 'command' }>;

/** The whole text, each command replaced by its output; or why there is none. */
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
      // fail-closed: a command that fails to answer was not run.
      const answer = await run(part).catch(
        (thrown: unknown): ShellAnswer => ({ kind: 'refused', reason: messageOf(thrown) }),
      );
      const command = `its command \`${sliceWhole(part.command, 0, SHOWN_COMMAND)}\``;
      // One command after the other: none runs after one that failed.
      if (answer.kind === 'refused') return err(`${command} was refused: ${answer.reason}`);
      if (answer.isError) return err(`${command} failed: ${answer.text}`);
      texts.push(answer.text);
    }
  }
  return ok(texts.join(''));
}

const SHOWN_COMMAND = 200;
