export type * from '../../../build/generated/sdk-types.js';
export type * from './hooks.js';
export type * from './mcp.js';
export type * from './options.js';
export type * from './permissions.js';
export type * from './query.js';
export type * from './sessions.js';
