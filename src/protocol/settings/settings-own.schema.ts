import { z } from 'zod';
import { flag, list, words } from '../declare.schema.js';
import {
  convenience,
  count,
  fence,
  grant,
  liveFence,
  strictFence,
  trustedFence,
} from './setting-key.schema.js';
import { eventNames } from './settings-hooks.schema.js';
import { ruleLists } from './settings-permissions.schema.js';
import { ownSandbox } from './settings-sandbox.schema.js';

/** The keys of this program alone, below `portcullis`. */
export const portcullis = z.strictObject({
  strict: liveFence(
    flag,
    'false: a restriction that cannot be honoured only warns. Counts in the settings of the user or an administrator.',
  ),
  askReadOnly: strictFence(flag, 'Also asks for commands that only read.', { live: true }),
  hookFailure: fence(
    words('strict closed open block continue'),
    'What it means when a guarding hook fails that does not say so itself. closed (the default): what it guards is refused, except when the hook ends with exit code 1. strict: exit code 1 refuses, too. open: a failure passes, with a warning. block and continue are other words for closed and open.',
    { strict: ['strict', 'closed'], strictest: true, scope: 'user', live: true },
  ),
  hookTimeouts: trustedFence(
    z.partialRecord(z.enum(eventNames), z.number().positive()),
    'Milliseconds by event, for hooks that name no timeout: {"PreToolUse": 5000}. A value of a project counts only where no other settings file has one.',
  ),
  probeHooks: strictFence(
    flag,
    'Asks every guarding hook once at the start, to find out whether it answers.',
  ),
  teamMemory: grant(
    flag,
    'Also shows the notes that a team shares, .claude/team-memory/MEMORY.md, in a trusted folder.',
    { strict: false },
  ),
  teams: convenience(
    flag,
    'Agents that are started with a name become teammates, in a conversation with a person. CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS goes before it.',
    { strict: false, scope: 'user' },
  ),
  forks: convenience(
    flag,
    'Offers the agent type fork: a copy of the agent that starts it, with all that was said. CLAUDE_CODE_FORK_SUBAGENT goes before it.',
    { strict: false, scope: 'user', live: true },
  ),
  limits: fence(
    z.strictObject({
      agentDepth: fence(count(0, 16), 'How deep agents may start agents; 0: none. Default 3.'),
      agentConcurrency: fence(count(1, 1000), 'How many agents may run at once. Default 20.'),
    }),
    'Limits on agents. Not from the files of a project.',
    { scope: 'user', live: true },
  ),
  budget: fence(
    z.strictObject({
      turns: fence(count(1), 'Model round-trips of all agents.'),
      tokens: fence(count(1), 'Tokens of all agents, those read from a cache included.'),
      usd: fence(
        z.number().positive(),
        'Dollars of all agents. A model without a known price is then refused.',
      ),
      seconds: fence(z.number().positive(), 'Seconds of active work by any agent.'),
      fanOut: fence(count(0), 'Agents that may be started in all.'),
    }),
    'What a session may use up, with all its agents. Of several files the lowest holds.',
  ),
  sandbox: fence(ownSandbox, 'What else runs in the sandbox. Not from the files of a project.', {
    scope: 'user',
  }),
  passEnv: convenience(
    list,
    'Names of variables that shell commands get although they look like secrets or hold a password. Not from the files of a project.',
    { scope: 'user', live: true },
  ),
  inbox: fence(
    z.strictObject({
      expiryMinutes: liveFence(
        count(1, 1440),
        'How long a question of a background agent waits for an answer. Default 30.',
      ),
      unattended: convenience(
        flag,
        'true: a person reads the inbox, so background agents wait for answers even without a host to ask.',
      ),
    }),
    'Questions of background agents. Not from the files of a project.',
    { scope: 'user' },
  ),
  checkpoints: convenience(
    z.strictObject({
      ignored: convenience(
        words('skip keep'),
        'Whether files that ignore files name are left out (skip, the default) or kept as well.',
      ),
      maxFiles: convenience(
        count(100),
        'Files from which a tree is not journalled. Default 300000.',
      ),
      maxFileBytes: convenience(count(1024), 'Longest file whose bytes are kept. Default 50 MiB.'),
      maxStoreBytes: convenience(
        count(1_048_576),
        'Bytes that all contents may take. Default 2 GiB.',
      ),
      keepDays: convenience(count(1), 'How long contents are kept. Default 30.'),
      waitMs: convenience(
        count(0, 60_000),
        'How long a call may wait until what stood before it is safe; then the point says that it is partial. Default 1000.',
      ),
    }),
    'The change journal behind rewind. Not from the files of a project.',
    { scope: 'user' },
  ),
  effects: liveFence(
    z.strictObject({
      onViolation: fence(
        words('report rollback'),
        'What happens when a call that was let through because it changes nothing has changed files: it is reported (the default), or also taken back at once.',
        { strict: 'rollback', strictest: true },
      ),
    }),
    'What calls may do to files, judged by what they did.',
  ),
  agents: liveFence(
    z.record(z.string(), ruleLists),
    'Rules for some agents: a pattern over agent paths or types (main, main/*, **/reviewer#*, reviewer) and its rules.',
  ),
});
