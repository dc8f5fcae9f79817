/**
 * What a caller may ask of a session. The command line, the library and the wire give it under these names,
 * so that one check and one error text serve all three. A description completes the sentence `maxTurns: 0 …`.
 */
import { z } from 'zod';
import { PERMISSION_MODES } from './permissions.js';

const text = z.string().describe('is not a text');
const texts = z.array(text).describe('is not a list of texts');
const flag = z.boolean().describe('is neither true nor false');
const uuid = z
  .string()
  .regex(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/)
  .describe('is not a UUID');
const limit = z.number().min(0).describe('is not an amount of at least 0');

function choice<const T extends readonly string[]>(values: T) {
  return z.enum(values).describe(`is not one of ${values.join(', ')}`);
}

export const SessionOptionsSchema = z
  .object({
    model: text,
    fallbackModel: text,
    effort: text,
    thinking: choice(['adaptive', 'enabled', 'disabled']),
    thinkingDisplay: choice(['summarized', 'omitted']),
    maxThinkingTokens: z.int().min(0).describe('is not a whole number of at least 0'),
    betas: texts,
    maxTurns: z.int().min(1).describe('is not a whole number of at least 1'),
    maxBudgetUsd: z.number().positive().describe('is not an amount above 0'),
    budget: z
      .strictObject({ turns: limit, tokens: limit, usd: limit, seconds: limit, fanOut: limit })
      .partial()
      .describe('knows only turns, tokens, usd, seconds and fanOut'),
    systemPrompt: z.union([text, texts]).describe('is neither a text nor a list of texts'),
    appendSystemPrompt: text,
    planModeInstructions: text,
    additionalDirectories: texts,
    tools: texts,
    allowedTools: texts,
    disallowedTools: texts,
    permissionMode: z
      .enum([...PERMISSION_MODES, 'manual'])
      .describe(`is an unknown permission mode; known are ${PERMISSION_MODES.join(', ')}`),
    dangerouslySkipPermissions: flag,
    allowDangerouslySkipPermissions: flag,
    permissionPromptToolName: z
      .string()
      .regex(/^mcp__.+__.+$/)
      .describe('is not the name of an MCP tool (mcp__server__tool)'),
    settings: text,
    managedSettings: text,
    settingSources: z
      .array(choice(['user', 'project', 'local']))
      .describe('is not a list of user, project, local'),
    jsonSchema: z.record(z.string(), z.unknown()).describe('is not a JSON object'),
    mcpServers: z
      .record(z.string(), z.unknown())
      .describe('is not an object of servers by their names'),
    strictMcpConfig: flag,
    plugins: z
      .array(
        z
          .looseObject({
            type: z.literal('local').describe('is no kind of plugin, "local" is'),
            path: z.string().regex(/\S/).describe('is not the path of a plugin'),
            skipMcpDiscovery: z
              .boolean()
              .describe('is no value of skipMcpDiscovery: true and false are')
              .optional(),
          })
          .describe('has an entry that is not { type: "local", path }'),
      )
      .describe('is not a list of { type: "local", path }'),
    agents: z
      .record(z.string(), z.unknown())
      .describe('is not an object of definitions by their names: {"name": {…}}'),
    agent: text,
    skills: z.array(text).describe('is not a list of names'),
    sessionId: uuid,
    continue: flag,
    resume: z.string().regex(/\S/).describe('is not the id of a session'),
    forkSession: flag,
    resumeSessionAt: text,
    resumeDropsTurn: text,
    title: text,
    persistSession: flag,
    trustProject: flag,
    script: text,
  })
  .partial();
