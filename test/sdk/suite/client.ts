import type * as official from '@anthropic-ai/claude-agent-sdk';
import type {
  McpSdkServerConfigWithInstance,
  Options,
  Query,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import type { World } from './world.js';

export type ClientOptions = Options;
export type ClientQuery = Query;
export type UserInput = SDKUserMessage;
export type ServerConfig = McpSdkServerConfigWithInstance;

/** What the suite needs of a client library; every one of them passes the same tests. */
export interface Client
  extends Pick<
    typeof official,
    | 'query'
    | 'tool'
    | 'createSdkMcpServer'
    | 'startup'
    | 'listSessions'
    | 'getSessionInfo'
    | 'getSessionMessages'
    | 'forkSession'
    | 'renameSession'
    | 'tagSession'
    | 'deleteSession'
    | 'listSubagents'
    | 'getSubagentMessages'
  > {
  readonly name: string;
  /** The session runs in a process of its own: spawning, signals and standard error can be looked at. */
  readonly ownProcess: boolean;
  /** The options that every test starts from: where it runs, which model, nobody's own settings. */
  options(world: World, extra?: ClientOptions): ClientOptions;
}
