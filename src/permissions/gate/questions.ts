import { messageOf } from '../../errors.js';
import { orAbort } from '../../lib/abort.js';
import { freezeJson } from '../../lib/frozen-json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { displayPath, resolve } from '../../platform/fs/paths.js';
import { readAnswerScope, readPermissionUpdates } from '../../protocol/permission-updates.js';
import type { Finding } from './guard.js';
import type { AskAnswer, Asker, AskRequest, GateCall } from './types.js';

/** Puts a question. Never throws: a question that cannot be put is answered no. */
export type PutQuestion = (
  request: AskRequest,
  asker: Asker,
) => Promise<{
  /** Absent when no answer came. */
  readonly given?: AskAnswer;
  readonly decision: 'allow' | 'deny';
  /** For the receipt, and for the model when the answer is no. */
  readonly text: string;
}>;

/** Equal questions that are open at the same time are put once; the answer counts for the calls that waited for it, not for later ones. */
export function createQuestions(): PutQuestion {
  const open = new Map<string, { asker: Asker; answer: Promise<AskAnswer> }>();

  const ask = (request: AskRequest, asker: Asker): Promise<AskAnswer> => {
    const { tool, input, workspace, agent } = request.call;
    // What one background agent is allowed, another is not.
    const whose = agent.background ? agent.path : '';
    const { mode, reason } = request;
    // The same words in another directory are another question.
    const key = JSON.stringify([tool.name, workspace.cwd, whose, mode, reason, input]);
    const waiting = open.get(key);
    if (waiting?.asker === asker) return waiting.answer;
    const answer = asker(request).finally(() => open.delete(key));
    open.set(key, { asker, answer });
    return answer;
  };

  return async (request, asker) => {
    const { tool, signal } = request.call;
    try {
      const given = await orAbort(ask(request, asker), signal);
      if (given?.behavior === 'allow') {
        return { given, decision: 'allow', text: `allowed when asked: ${request.reason}` };
      }
      // fail-closed: anything but a clear yes is a no.
      return { given, decision: 'deny', text: given?.message || `The user refused ${tool.name}.` };
    } catch (thrown) {
      // fail-closed: no answer is a no.
      const why = messageOf(thrown);
      const text = `${tool.name} requires approval, and the question was not answered (${why}).`;
      return { decision: 'deny', text };
    }
  };
}

/** The very question that was just answered needs no second answer; another one was never put. */
export function isAnswered(finding: Finding, question: Finding | undefined): boolean {
  if (finding.settledByAnswer === true) return true;
  return (
    finding.decision === 'ask' &&
    question?.decision === 'ask' &&
    finding.source !== undefined &&
    finding.source === question.source &&
    finding.blockedPath === question.blockedPath
  );
}

type SteadyFileSystem = Pick<FileSystem, 'realPath' | 'lstat'>;

/** One steady asker for each: questions that are the same are recognised by whom they are put to. */
export function createSteadying(fs: SteadyFileSystem): (asker: Asker) => Asker {
  const made = new WeakMap<Asker, Asker>();
  return (asker) => {
    const known = made.get(asker) ?? steadyAsker(fs, asker);
    made.set(asker, known);
    return known;
  };
}

/**
 * A yes covers the files as they were when the question was put. It is void if the directory, a file that
 * the call names or a script that it runs was replaced while the question was open.
 */
function steadyAsker(fs: SteadyFileSystem, asker: Asker): Asker {
  return async (request) => {
    const { call } = request;
    const before = await stampsOf(fs, call);
    const answer = await asker(request);
    if (answer.behavior !== 'allow') return answer;
    const after = await stampsOf(fs, call);
    const changed = [...before].find(([path, stamp]) => after.get(path) !== stamp)?.[0];
    if (changed === undefined) return answer;
    // fail-closed: the answer was about something else.
    const name = displayPath(changed, call.workspace.cwd) || changed;
    const message = `${call.tool.name} was not run: ${name} changed while the question about it was open. Look at it again, then ask again.`;
    return { behavior: 'deny', message };
  };
}

/** Scripts by their name, and whatever is started by its path. */
const SCRIPT = /\.(sh|bash|zsh|py|js|mjs|cjs|ts|pl|rb|php|ps1|mk)$|(^|\/)Makefile$/i;

async function stampsOf(
  fs: SteadyFileSystem,
  { workspace, subject }: GateCall,
): Promise<ReadonlyMap<string, string>> {
  const stamps = new Map<string, string>();
  const real = await fs.realPath(workspace.cwd);
  const directory = await fs.lstat(real);
  stamps.set(workspace.cwd, `${real} ${directory?.inode}`);
  for (const { path } of subject.paths) stamps.set(path, await fs.realPath(path));
  for (const word of (subject.command ?? '').match(/[^\s'"`;|&()<>]+/g) ?? []) {
    if (!SCRIPT.test(word) && !word.includes('/')) continue;
    const path = resolve(workspace.cwd, word);
    const target = await fs.realPath(path).catch(() => path);
    const stat = await fs.lstat(target).catch(() => undefined);
    const isProgram = stat?.kind === 'file' && (SCRIPT.test(word) || (stat.mode & 0o111) !== 0);
    if (isProgram) {
      stamps.set(path, [target, stat.inode, stat.size, stat.mtimeMs, stat.ctimeMs].join(' '));
    }
  }
  return stamps;
}

/** Reads allow or deny as `can_use_tool` and PermissionRequest hooks give it. */
export function readAskAnswer(answer: unknown): Result<AskAnswer, string> {
  if (!isRecord(answer)) return err('the answer is not an object');
  const { behavior, message, interrupt } = answer;
  if (behavior === 'deny') {
    const text = typeof message === 'string' && message !== '' ? message : 'The user said no';
    return ok({ behavior: 'deny', message: text, interrupt: interrupt === true });
  }
  if (behavior !== 'allow') return err(`unknown behavior ${JSON.stringify(behavior)}`);
  const wanted = answer.updatedInput ?? undefined;
  if (wanted !== undefined && !isRecord(wanted)) return err('updatedInput is not an object');
  const updatedInput = wanted === undefined ? undefined : freezeJson(wanted);
  if (updatedInput?.ok === false) return err(`updatedInput is not plain: ${updatedInput.error}`);
  const updates = readPermissionUpdates(answer.updatedPermissions);
  if (!updates.ok) return updates;
  const scope = readAnswerScope(answer.scope);
  if (!scope.ok) return scope;
  return ok({
    behavior: 'allow',
    scope: scope.value,
    updatedInput: updatedInput?.value,
    ...(updates.value.length === 0 ? {} : { updatedPermissions: updates.value }),
  });
}

interface UnansweredQuestion {
  readonly reason: string;
  readonly suggestion: string | undefined;
  readonly dontAsk: boolean;
}

/** What the model reads when a call is refused: the reason, and what would help. */
export function refusalText(
  tool: string,
  finding: Finding | undefined,
  question?: UnansweredQuestion,
): string {
  if (finding?.refusal === 'rule' && finding.detail !== undefined) {
    return `Permission to use ${tool} has been denied by permission rule ${finding.source}: ${finding.detail}. Do not look for another way to that file.`;
  }
  if (finding?.refusal === 'rule') {
    return `Permission to use ${tool} has been denied by permission rule ${finding.source}. Do not look for another way to the same effect; go on without it or tell the user.`;
  }
  if (finding?.refusal === 'guard-failed') {
    return `${tool} was refused because ${finding.reason}. A guard that cannot answer refuses; tell the user.`;
  }
  if (question === undefined)
    return `${tool} was refused: ${finding?.reasonForModel ?? finding?.reason ?? 'no reason was given'}.`;
  const { suggestion, dontAsk } = question;
  const reason = finding?.reasonForModel ?? question.reason;
  const help =
    suggestion === undefined
      ? 'Do not try another way to the same effect: go on without it, or end and tell the user.'
      : `What is missing is the rule ${suggestion}. Do not try another way to the same effect: go on without it, or end and tell the user.`;
  if (dontAsk) {
    return `Permission to use ${tool} has been denied: ${reason}, and no person is asked in don't ask mode. ${help}`;
  }
  if (finding?.refusal === 'shell-text') {
    return `${tool} was not run: ${reason}. Write the command in plainer shell syntax.`;
  }
  if (finding?.refusal === 'plan') {
    return `${tool} cannot be used while in plan mode. Finish the plan and have it approved first.`;
  }
  return `${tool} requires approval, and no person is here to give it: ${reason}. ${help}`;
}
