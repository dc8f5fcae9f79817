import type { ServerDeclaration } from '../server.js';
import type { ListedTool } from '../tools/listing.js';
import type { ApprovedTools, ToolApprovals } from './tool-approvals.js';

/** What a session's tools are held against. */
export interface SessionApprovals {
  read(server: ServerDeclaration): ApprovedTools;
  record(server: ServerDeclaration, tools: readonly ListedTool[]): Promise<void>;
  recordWords(server: ServerDeclaration, words: string): Promise<void>;
}

/**
 * Keeps nothing of servers in the host's own process: their entries say nothing by which those of two
 * hosts could be told apart, and no command could reach one to approve it. What a session has agreed to
 * counts until its end, and a change within it asks.
 */
export function besidesHostServers(kept: ToolApprovals): SessionApprovals {
  const isKept = ({ entry }: ServerDeclaration): boolean => entry?.type !== 'sdk';
  return {
    read: (server) => (isKept(server) ? kept.read(server) : NOTHING_APPROVED),
    async record(server, tools) {
      if (isKept(server)) await kept.record(server, tools);
    },
    async recordWords(server, words) {
      if (isKept(server)) await kept.recordWords(server, words);
    },
  };
}

const NOTHING_APPROVED: ApprovedTools = {
  damaged: false,
  fingerprint: () => undefined,
  sameName: () => undefined,
  definition: () => undefined,
  wordsFingerprint: () => undefined,
  words: () => undefined,
};
