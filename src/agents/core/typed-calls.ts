import type { SessionEnvironment } from '../../config/session-environment.js';
import { PortcullisError } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { escapeReservedTags } from '../../lib/text/reserved-tags.js';
import type { InputMessage } from '../../loop/types.js';
import { expandHome, homeDirectory, isInside } from '../../platform/fs/paths.js';
import { isRunByAgent } from '../../platform/process/run-by-agent.js';
import { type ResultBlock, type ToolUseBlock, textOf } from '../../protocol/content.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import { targetPath } from '../../tools/files/file-target.js';
import { fileTypeOf } from '../../tools/files/file-type.js';
import { readImage } from '../../tools/files/read-image.js';
import type { HostRequests, PromptImage } from './host-requests.js';
import type { JoinedParts } from './live-settings.js';
import { outsideCall } from './outside-calls.js';
import type { TypedShell } from './session.js';

/** A command that has run; `inputs` shows it to the model. */
interface RanShell {
  readonly result: ToolCallResult;
  readonly inputs: readonly InputMessage[];
}

/** A generous timeout, because the person can interrupt. */
const LONGEST_MS = 600_000;

/**
 * Runs a command that a person typed as a call of Bash, through the gate, hooks, sandbox, receipts and
 * journal. Only the question for a missing allow rule is skipped, because the person has just typed the
 * command.
 */
export async function typedShell(
  environment: SessionEnvironment,
  { toolRuntime, hooks, instructions, events, rules }: JoinedParts,
  { uuid, toolUseId, command }: TypedShell,
  signal: AbortSignal,
): Promise<RanShell> {
  await rules.refresh();
  const tool = toolRuntime.builtins.pool.resolve('Bash');
  // fail-closed: a session without a Bash tool runs no commands for its person either.
  if (tool === undefined) throw new PortcullisError('usage', 'this session has no Bash tool');
  const input = { command, timeout: LONGEST_MS };
  // fail-closed: input typed by an agent that runs this program is asked about like any other.
  const isTyped = !isRunByAgent(environment.env);
  const made = await outsideCall(
    environment,
    { toolRuntime, instructions, shownIn: instructions.book },
    { tool, id: toolUseId, input, signal, unattended: false, isTyped },
  );
  await events.moved(signal);
  const { result } = made;
  const call: ToolUseBlock = { type: 'tool_use', id: toolUseId, name: tool.name, input };
  const after = await toolRuntime.events.afterBatch([{ call, result }], hooks.scene(signal));
  const text = shellText(String(made.input.command), result);
  const said = { uuid, content: [{ type: 'text' as const, text }], verbatim: true };
  return { result, inputs: [said, ...after.inputs] };
}

/** The command and its output as the model reads them with the next prompt. */
function shellText(command: string, { block }: ToolCallResult): string {
  const { content, is_error: failed } = block;
  const words = escapeReservedTags(typeof content === 'string' ? content : textOf(content));
  const [output, errors] = failed === true ? ['', words] : [words, ''];
  return `<bash-input>${escapeReservedTags(command)}</bash-input>\n<bash-stdout>${output}</bash-stdout><bash-stderr>${errors}</bash-stderr>`;
}

const NAMED_IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;
const CLIPBOARD = 'The pasted image';

/**
 * Reads an image that a person adds to a prompt. A path is read as a call of Read, under deny rules and
 * hooks; pasted bytes pass the same checks of type and size.
 */
export function typedImage(
  environment: SessionEnvironment,
  { toolRuntime, instructions, rules }: JoinedParts,
): HostRequests['readImage'] {
  return async (image, signal) => {
    if (!('path' in image)) {
      const bytes = new Uint8Array(Buffer.from(image.data, 'base64'));
      const type = fileTypeOf(bytes);
      if (type === undefined || type === 'pdf')
        return err(`${CLIPBOARD} is no png, jpeg, gif or webp.`);
      const shown = readImage({ path: CLIPBOARD, bytes, type, note: () => undefined });
      return imageIn(shown.content, shown.isError);
    }
    const path = targetPath(
      expandHome(image.path, homeDirectory(environment.env)),
      environment.workspace,
    );
    if (!NAMED_IMAGE.test(path) || (await environment.fs.stat(path))?.kind !== 'file')
      return ok(undefined);
    const tool = toolRuntime.builtins.pool.resolve('Read');
    // fail-closed: a session that cannot read files does not read them for a prompt either.
    if (tool === undefined) return err('this session has no Read tool');
    await rules.refresh();
    // fail-closed: a link in the project may lead elsewhere than the person means.
    const isLink =
      environment.workspace.roots.some((root) => isInside(path, root)) &&
      (await environment.fs.realPath(path)) !== path;
    const id = `typed_${environment.clock.uuid()}`;
    const isTyped = !isLink && !isRunByAgent(environment.env);
    const { result } = await outsideCall(
      environment,
      { toolRuntime, instructions, shownIn: undefined },
      { tool, id, input: { file_path: path }, signal, unattended: false, isTyped },
    );
    if (result.stop !== undefined) return err(`a hook stopped it: ${result.stop}`);
    return imageIn(result.block.content, result.block.is_error);
  };
}

function imageIn(
  content: string | readonly ResultBlock[],
  failed: boolean | undefined,
): Result<PromptImage | undefined, string> {
  if (failed === true) return err(typeof content === 'string' ? content : textOf(content));
  const block =
    typeof content === 'string' ? undefined : content.find(({ type }) => type === 'image');
  if (block?.type !== 'image' || block.source.type !== 'base64') return ok(undefined);
  return ok({ block, bytes: Math.floor((block.source.data.length * 3) / 4) });
}
