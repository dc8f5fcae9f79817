import type { McpServer } from '@modelcontextprotocol/server';

export function modernServer(options?: { onGrow?: () => void }): McpServer;
