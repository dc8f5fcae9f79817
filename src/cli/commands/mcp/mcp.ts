import { commandGroup } from '../project-call.js';
import { add, addJson } from './mcp-add.js';
import { approve } from './mcp-approve.js';
import { auth, logout } from './mcp-auth.js';
import { get, list, remove, reset } from './mcp-config.js';
import { serve } from './mcp-serve.js';
import { call, status } from './mcp-use.js';

export const command = commandGroup('Manage the MCP servers that sessions here can use.', {
  list,
  get,
  status,
  add,
  'add-json': addJson,
  remove,
  approve,
  'reset-project-choices': reset,
  auth,
  login: { ...auth, summary: 'Same as auth.' },
  logout,
  call,
  serve,
});
