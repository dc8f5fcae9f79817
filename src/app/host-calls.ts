import type { FileAnswer, HostRequests } from '../agents/core/host-requests.js';
import type { SessionConfig } from '../agents/core/session-config.js';
import { err, ok } from '../lib/result.js';
import { judgedNames, targetPath } from '../tools/files/file-target.js';
import type { AnyTool } from '../tools/tool.js';
import type { Ground } from './ground.js';
import type { Hands } from './hands.js';
import type { OpenInstructions } from './instructions.js';
import type { OpenServersOfSession } from './mcp-servers.js';
import { isOwn, type OutsideInvoke, outsideInvoke, REPLACED } from './outside-calls.js';
import { resourceReader } from './resource-reader.js';
import type { RulesInForce } from './rules-in-force.js';

export interface HostCallParts {
  readonly hands: Hands;
  readonly instructions: Pick<OpenInstructions, 'countIn'>;
  readonly mcp: Pick<OpenServersOfSession, 'connections'> | undefined;
  readonly rules: Pick<RulesInForce, 'refreshForHost'>;
}

type HostCalls = Pick<HostRequests, 'readFile' | 'readResource' | 'callTool'>;

/** Calls that the host makes itself. They go the one way in, past the same rules as the agent's. */
export function hostCalls(config: SessionConfig, ground: Ground, parts: HostCallParts): HostCalls {
  const { hands, instructions, mcp, rules } = parts;
  const judged = outsideInvoke(config, ground, {
    hands,
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
    readFile: fileReader(ground, hands, invoke),
    readResource: resourceReader(ground, () => mcp?.connections() ?? [], invoke),
    async callTool({ tool: name, input }, signal) {
      const tool = hands.builtins.pool.resolve(name);
      if (tool?.origin === undefined) return err(`no MCP server offers a tool named ${name}`);
      return await invoke(tool, input, { signal, unattended: false });
    },
  };
}

function fileReader({ fs }: Ground, hands: Hands, invoke: OutsideInvoke): HostCalls['readFile'] {
  return async ({ path, maxBytes }, signal) => {
    const read = hands.builtins.pool.resolve('Read');
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
