import type { CommandSpec } from '../command.js';

export const command: CommandSpec = {
  summary: 'Manage the MCP servers that sessions here can use.',
  subcommands: {
    list: {
      summary: 'List configured servers with source and status. Does not connect.',
      load: async () => ({ command: (await import('./mcp-config.js')).list }),
    },
    get: {
      summary: 'Show one server.',
      load: async () => ({ command: (await import('./mcp-config.js')).get }),
    },
    status: {
      summary: 'Connect servers, and show their state and tools.',
      load: async () => ({ command: (await import('./mcp-use.js')).status }),
    },
    add: {
      summary: 'Add a server: a program or an address.',
      load: async () => ({ command: (await import('./mcp-add.js')).add }),
    },
    'add-json': {
      summary: 'Add a server as JSON.',
      load: async () => ({ command: (await import('./mcp-add.js')).addJson }),
    },
    remove: {
      summary: 'Remove a server from the file of its scope.',
      load: async () => ({ command: (await import('./mcp-config.js')).remove }),
    },
    approve: {
      summary: 'Approve a server of .mcp.json, or its changed tools.',
      load: async () => ({ command: (await import('./mcp-approve.js')).approve }),
    },
    'reset-project-choices': {
      summary: 'Forget your answers about the servers of this project.',
      load: async () => ({ command: (await import('./mcp-config.js')).reset }),
    },
    auth: {
      summary: 'Sign in to a server.',
      load: async () => ({ command: (await import('./mcp-auth.js')).auth }),
    },
    login: {
      summary: 'Same as auth.',
      load: async () => ({ command: (await import('./mcp-auth.js')).auth }),
    },
    logout: {
      summary: 'Forget and revoke the tokens of a server.',
      load: async () => ({ command: (await import('./mcp-auth.js')).logout }),
    },
    call: {
      summary: 'Call a tool of a server, as rules and hooks allow.',
      load: async () => ({ command: (await import('./mcp-use.js')).call }),
    },
    serve: {
      summary: 'Offer the built-in tools to an MCP client on stdin and stdout.',
      load: async () => ({ command: (await import('./mcp-serve.js')).serve }),
    },
  },
};
