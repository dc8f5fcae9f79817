/** What programs read and write of permissions: modes, changes of rules, the report of what is in force. */
import { z } from 'zod';
import { type Declaration, declare, flag, list, open, text, words } from './declare.schema.js';

export const PERMISSION_TYPES: Declaration[] = [];

const type = <T extends z.ZodType>(name: string, about: string, schema: T): T =>
  declare(PERMISSION_TYPES, name, about, schema);

export const uuid = type(
  'UUID',
  'A UUID in its usual form.',
  z.templateLiteral([text, '-', text, '-', text, '-', text, '-', text]),
);
export const permissionMode = type(
  'PermissionMode',
  '`auto` is known so that code which names it compiles; a session that asks for it is refused.',
  words('default acceptEdits bypassPermissions plan dontAsk auto'),
);
const behavior = type('PermissionBehavior', 'What a rule does.', words('allow deny ask'));
const destination = type(
  'PermissionUpdateDestination',
  'Where a change is kept.',
  words('userSettings projectSettings localSettings session cliArg'),
);
const rules = z.array(
  type(
    'PermissionRuleValue',
    'A rule: `Bash(npm test)` has the tool `Bash` and the content `npm test`.',
    z.object({ toolName: text, ruleContent: text.optional() }),
  ),
);
const change = <F extends z.ZodRawShape>(kind: string, fields: F) =>
  z.object({ type: z.literal(kind), ...fields, destination });

export const permissionUpdate = type(
  'PermissionUpdate',
  'A change of the rules, the mode or the directories.',
  z.union([
    change('addRules', { rules, behavior }),
    change('replaceRules', { rules, behavior }),
    change('removeRules', { rules, behavior }),
    change('setMode', { mode: permissionMode }),
    change('addDirectories', { directories: list }),
    change('removeDirectories', { directories: list }),
  ]),
);
export const serverProvenance = type(
  'McpServerProvenance',
  'The server that a tool belongs to, and where it is declared.',
  z.object({ name: text, source: text }),
);
export const policyReport = type(
  'PolicyReport',
  'What decides calls in a session before a person or a callback is asked.',
  z.object({
    mode: permissionMode,
    modePreempts: text.describe(
      'What the mode alone lets through or refuses without asking; empty: it asks.',
    ),
    rules: z.array(
      type(
        'PolicyRule',
        'One permission rule in force.',
        z.object({
          rule: text,
          behavior,
          source: text.describe(
            '`userSettings`, `projectSettings`, `localSettings`, `flagSettings`, `policySettings` or `cliArg`.',
          ),
          file: text
            .describe('Where it was written; absent for what the program itself gave.')
            .optional(),
          line: z.number().optional(),
          preemptsCallback: flag.describe('Calls that it covers never come before `canUseTool`.'),
        }),
      ),
    ),
    directories: list.describe('Directories that count as inside.'),
    managedOnly: flag.describe("Only an administrator's rules grant."),
    fileGrantsIgnored: flag.describe(
      'Allow rules of settings files are ignored (`ignoreFileGrants`).',
    ),
    asks: z
      .enum(['canUseTool', 'tool', 'nobody'])
      .describe('Who answers calls that no rule decides. `nobody`: they are refused.'),
  }),
);
type(
  'PermissionRequestHookSpecificOutput',
  'The answer of a hook in place of a person.',
  z.object({
    hookEventName: z.literal('PermissionRequest'),
    decision: z.union([
      z.object({
        behavior: z.literal('allow'),
        updatedInput: open.optional(),
        updatedPermissions: z.array(permissionUpdate).optional(),
      }),
      z.object({
        behavior: z.literal('deny'),
        message: text.optional(),
        interrupt: flag.optional(),
      }),
    ]),
  }),
);
