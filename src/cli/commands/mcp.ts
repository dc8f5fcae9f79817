import { runSubcommands } from './subcommands.js';

/** `portcullis mcp …`: the servers that sessions here can use. */
export const run = runSubcommands('mcp', [
  {
    name: 'list',
    help: '                    what is declared here, from where, and how each stands; starts nothing',
    load: () => import('./mcp-list.js'),
  },
  {
    name: 'get',
    help: '<name>               one of them',
    load: () => import('./mcp-get.js'),
  },
  {
    name: 'add',
    help: '<name> -- <command>  add a program, or --transport http <name> <url> (--scope, --env, --header)',
    load: () => import('./mcp-add.js'),
  },
  {
    name: 'add-json',
    help: '<name> <json>   add an entry as it stands',
    load: () => import('./mcp-add-json.js'),
  },
  {
    name: 'remove',
    help: '<name>            take one out of its file (--scope)',
    load: () => import('./mcp-remove.js'),
  },
  {
    name: 'approve',
    help: '<name>           let a server of .mcp.json be used, as it is now (--yes, --decline); --tools: its changed tools',
    load: () => import('./mcp-approve.js'),
  },
  {
    name: 'status',
    help: '[name]            connect, and show how each stands, its tools and what has changed (--json)',
    load: () => import('./mcp-status.js'),
  },
  {
    name: 'call',
    help: '<server> <tool> [json]  call a tool, through the gate (--allowedTools, --json)',
    load: () => import('./mcp-call.js'),
  },
  {
    name: 'serve',
    help: '                   offer our own tools to an MCP client on standard input and output (--tools a,b)',
    load: () => import('./mcp-serve.js'),
  },
  {
    name: 'auth',
    help: '<name>              sign in to a server (--no-browser)',
    load: () => import('./mcp-auth.js'),
  },
  {
    name: 'login',
    help: '<name>             the same',
    load: () => import('./mcp-auth.js'),
  },
  {
    name: 'logout',
    help: '<name>            forget its tokens',
    load: () => import('./mcp-logout.js'),
  },
  {
    name: 'reset-project-choices',
    help: '   forget all such answers of this project',
    load: () => import('./mcp-reset.js'),
  },
]);
