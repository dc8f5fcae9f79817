import type { FileAnswer, HostRequests } from '../agents/core/host-requests.js';
import { err, ok } from '../lib/result.js';
import { judgedNames, targetPath } from '../tools/files/file-target.js';
import type { AnyTool } from '../tools/tool.js';
import { isOwn, type OutsideInvoke, outsideInvoke, REPLACED } from './host-tool-calls.js';
import type { OpenInstructions } from './instructions.js';
import type { LiveSessionSettings } from './live-settings.js';
import type { OpenServersOfSession } from './mcp-servers.js';
import { resourceReader } from './resource-reader.js';
import type { SessionEnvironment } from './session-environment.js';
import type { ToolRuntime } from './tool-runtime.js';

export interface HostCallParts {
  readonly toolRuntime: ToolRuntime;
  readonly instructions: Pick<OpenInstructions, 'countIn'>;
  readonly mcp: Pick<OpenServersOfSession, 'connections' | 'settle'> | undefined;
  readonly rules: Pick<LiveSessionSettings, 'refreshForHost'>;
}

type HostCalls = Pick<HostRequests, 'readFile' | 'readResource' | 'callTool'>;

/** Calls that the host makes itself. They go the one way in, past the same rules as the agent's. */
export function hostCalls(environment: SessionEnvironment, parts: HostCallParts): HostCalls {
  const { toolRuntime, instructions, mcp, rules } = parts;
  const judged = outsideInvoke(environment, {
    toolRuntime,
    instructions,
    as: 'host',
    shownIn: undefined,
  });
  const invoke: OutsideInvoke = async (...call) => {
    // No request to a model goes before it, beside which the rules would be looked at.
    await rules.refreshForHost();
    return await judged(...call);
  };
  return {
    readFile: fileReader(environment, toolRuntime, invoke),
    readResource: resourceReader(environment, () => mcp?.connections() ?? [], invoke),
    async callTool({ tool: name, input }, signal) {
      // A host may call before a server has said what it offers.
      if (toolRuntime.builtins.pool.resolve(name) === undefined) await mcp?.settle(signal);
      const tool = toolRuntime.builtins.pool.resolve(name);
      if (tool?.origin === undefined) return err(`no MCP server offers a tool named ${name}`);
      return await invoke(tool, input, { signal, unattended: false });
    },
  };
}

function fileReader(
  { fs }: SessionEnvironment,
  toolRuntime: ToolRuntime,
  invoke: OutsideInvoke,
): HostCalls['readFile'] {
  return async ({ path, maxBytes }, signal) => {
    const read = toolRuntime.builtins.pool.resolve('Read');
    // fail-closed: a session that cannot read files does not read them for its host either.
    if (read === undefined) return err('there is no Read tool here');
    let found: FileAnswer | undefined;
    const output = { content: '', structured: { type: 'text', file: { filePath: path } } };
    const tool: AnyTool = {
      ...read,
      async run(input, context) {
        const file = targetPath(String(input.file_path), context.workspace);
        const stat = await fs.stat(file);
        if (stat?.kind !== 'file') return { content: `${file} is no file`, isError: true };
        const bytes = await fs.readHead(file, maxBytes, {
          realPath: judgedNames(context, file)?.real,
        });
        found = { absolutePath: file, bytes, truncated: stat.size > bytes.length };
        return output;
      },
    };
    const answer = await invoke(tool, { file_path: path }, { signal, unattended: true });
    if (!answer.ok) return answer;
    return found !== undefined && isOwn(answer.value, output) ? ok(found) : err(REPLACED);
  };
}
