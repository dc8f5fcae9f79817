import type { CommandSpec, Subcommand } from '../../command.js';

const config = () => import('./mcp-config.js');
const add = () => import('./mcp-add.js');
const auth = () => import('./mcp-auth.js');
const use = () => import('./mcp-use.js');

function leaf(summary: string, load: () => Promise<CommandSpec>): Subcommand {
  return { summary, load: async () => ({ command: await load() }) };
}

export const command: CommandSpec = {
  summary: 'Manage the MCP servers that sessions here can use.',
  subcommands: {
    list: leaf(
      'List configured servers with source and status. Does not connect.',
      async () => (await config()).list,
    ),
    get: leaf('Show one server.', async () => (await config()).get),
    status: leaf(
      'Connect servers, and show their state and tools.',
      async () => (await use()).status,
    ),
    add: leaf('Add a server: a program or an address.', async () => (await add()).add),
    'add-json': leaf('Add a server as JSON.', async () => (await add()).addJson),
    remove: leaf(
      'Remove a server from the file of its scope.',
      async () => (await config()).remove,
    ),
    approve: leaf(
      'Approve a server of .mcp.json, or its changed tools.',
      async () => (await import('./mcp-approve.js')).approve,
    ),
    'reset-project-choices': leaf(
      'Forget your answers about the servers of this project.',
      async () => (await config()).reset,
    ),
    auth: leaf('Sign in to a server.', async () => (await auth()).auth),
    login: leaf('Same as auth.', async () => (await auth()).auth),
    logout: leaf('Forget and revoke the tokens of a server.', async () => (await auth()).logout),
    call: leaf(
      'Call a tool of a server, as rules and hooks allow.',
      async () => (await use()).call,
    ),
    serve: leaf(
      'Offer the built-in tools to an MCP client on stdin and stdout.',
      async () => (await import('./mcp-serve.js')).serve,
    ),
  },
};
