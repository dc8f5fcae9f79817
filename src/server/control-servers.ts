import { isRecord } from '../lib/own.js';
import { ACKNOWLEDGED, ControlError, type Handler, text } from './control-request.js';

/** Requests about MCP servers. */
export const SERVER_HANDLERS: Readonly<Record<string, Handler>> = {
  async mcp_status(handling) {
    return { response: { mcpServers: (await handling.runner.session)?.mcp.status() ?? [] } };
  },
  mcp_message({ sdkServers }, request) {
    const from = text(request, 'server_name');
    // Handed on at once: the session that listens may still be opening.
    if (sdkServers.receive(from, request.message)) return ACKNOWLEDGED;
    throw new ControlError('invalid_request', `Server not found: ${from}`);
  },
  async mcp_set_servers(handling, { servers }) {
    if (!isRecord(servers)) throw new ControlError('invalid_request', 'servers is not an object');
    return { response: { ...(await (await handling.open({})).mcp.set(servers)) } };
  },
  async mcp_reconnect(handling, request) {
    const name = text(request, 'serverName');
    await (await handling.open({})).mcp.reconnect(name);
    return ACKNOWLEDGED;
  },
  async mcp_toggle(handling, request) {
    const name = text(request, 'serverName');
    const { enabled } = request;
    if (typeof enabled !== 'boolean') {
      throw new ControlError('invalid_request', 'enabled is neither true nor false');
    }
    await (await handling.open({})).mcp.toggle(name, enabled);
    return ACKNOWLEDGED;
  },
  async mcp_read_resource(handling, request, { signal }) {
    const server = text(request, 'serverName');
    const uri = text(request, 'uri');
    // fail-closed: everything else is for the agent, who has a tool for it.
    if (!uri.startsWith('ui://')) {
      throw new ControlError('invalid_request', 'only resources of the kind ui:// can be read');
    }
    const { requests } = await handling.open({});
    const read = await requests.readResource({ server, uri }, signal);
    if (!read.ok) throw new ControlError('read_failed', read.error);
    return { response: { contents: read.value } };
  },
  async mcp_call(handling, request, { signal }) {
    const tool = text(request, 'tool');
    const { arguments: input = {}, input_files: inputs, output_files: outputs } = request;
    if (!isRecord(input)) throw new ControlError('invalid_request', 'arguments is not an object');
    if (inputs !== undefined || outputs !== undefined) {
      throw new ControlError('unsupported_request', 'calls with files are not supported');
    }
    const { requests } = await handling.open({});
    const answer = await requests.callTool({ tool, input }, signal);
    if (!answer.ok) {
      throw new ControlError('call_failed', `The tool did not run: ${answer.error}`);
    }
    const { content } = answer.value;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    return { response: { content: blocks } };
  },
};
