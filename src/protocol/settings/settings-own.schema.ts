import { z } from 'zod';
import { count, flag, key, list } from './setting-key.schema.js';
import { eventNames } from './settings-hooks.schema.js';
import { ruleLists } from './settings-permissions.schema.js';
import { ownSandbox } from './settings-sandbox.schema.js';

/** The keys of this program alone, below `portcullis`. */
export const portcullis = z.strictObject({
  strict: key(
    flag(),
    'false: a restriction that cannot be honoured only warns. Counts in the settings of the user or an administrator.',
    { restricts: true, live: true },
  ),
  askReadOnly: key(flag(), 'Also asks for commands that only read.', {
    restricts: true,
    strict: true,
    strictest: true,
    live: true,
  }),
  hookFailure: key(
    z.enum(['strict', 'closed', 'open', 'block', 'continue']),
    'What it means when a guarding hook fails that does not say so itself. closed (the default): what it guards is refused, except when the hook ends with exit code 1. strict: exit code 1 refuses, too. open: a failure passes, with a warning. block and continue are other words for closed and open.',
    { restricts: true, strict: ['strict', 'closed'], strictest: true, scope: 'user', live: true },
  ),
  hookTimeouts: key(
    z.partialRecord(z.enum(eventNames), z.number().positive()),
    'Milliseconds by event, for hooks that name no timeout: {"PreToolUse": 5000}. A value of a project counts only where no other settings file has one.',
    { restricts: true, needsTrust: true, live: true },
  ),
  probeHooks: key(
    flag(),
    'Asks every guarding hook once at the start, to find out whether it answers.',
    { restricts: true, strict: true, strictest: true },
  ),
  teamMemory: key(
    flag(),
    'Also shows the notes that a team shares, .claude/team-memory/MEMORY.md, in a trusted folder.',
    { needsTrust: true, restricts: false, strict: false },
  ),
  teams: key(
    flag(),
    'Agents that are started with a name become teammates, in a conversation with a person. CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS goes before it.',
    { restricts: false, strict: false, scope: 'user' },
  ),
  forks: key(
    flag(),
    'Offers the agent type fork: a copy of the agent that starts it, with all that was said. CLAUDE_CODE_FORK_SUBAGENT goes before it.',
    { restricts: false, strict: false, scope: 'user', live: true },
  ),
  limits: key(
    z.strictObject({
      agentDepth: key(count(0, 16), 'How deep agents may start agents; 0: none. Default 3.', {
        restricts: true,
      }),
      agentConcurrency: key(count(1, 1000), 'How many agents may run at once. Default 20.', {
        restricts: true,
      }),
    }),
    'Limits on agents. Not from the files of a project.',
    { restricts: true, scope: 'user', live: true },
  ),
  budget: key(
    z.strictObject({
      turns: key(count(1), 'Model round-trips of all agents.', { restricts: true }),
      tokens: key(count(1), 'Tokens of all agents, those read from a cache included.', {
        restricts: true,
      }),
      usd: key(
        z.number().positive(),
        'Dollars of all agents. A model without a known price is then refused.',
        { restricts: true },
      ),
      seconds: key(z.number().positive(), 'Seconds of active work by any agent.', {
        restricts: true,
      }),
      fanOut: key(count(0), 'Agents that may be started in all.', { restricts: true }),
    }),
    'What a session may use up, with all its agents. Of several files the lowest holds.',
    { restricts: true },
  ),
  sandbox: key(ownSandbox, 'What else runs in the sandbox. Not from the files of a project.', {
    restricts: true,
    scope: 'user',
  }),
  passEnv: key(
    list(),
    'Names of variables that shell commands get although they look like secrets or hold a password. Not from the files of a project.',
    { restricts: false, scope: 'user', live: true },
  ),
  inbox: key(
    z.strictObject({
      expiryMinutes: key(
        count(1, 1440),
        'How long a question of a background agent waits for an answer. Default 30.',
        { restricts: true, live: true },
      ),
      unattended: key(
        flag(),
        'true: a person reads the inbox, so background agents wait for answers even without a host to ask.',
        { restricts: false },
      ),
    }),
    'Questions of background agents. Not from the files of a project.',
    { restricts: true, scope: 'user' },
  ),
  checkpoints: key(
    z.strictObject({
      ignored: key(
        z.enum(['skip', 'keep']),
        'Whether files that ignore files name are left out (skip, the default) or kept as well.',
        { restricts: false },
      ),
      maxFiles: key(count(100), 'Files from which a tree is not journalled. Default 300000.', {
        restricts: false,
      }),
      maxFileBytes: key(count(1024), 'Longest file whose bytes are kept. Default 50 MiB.', {
        restricts: false,
      }),
      maxStoreBytes: key(count(1_048_576), 'Bytes that all contents may take. Default 2 GiB.', {
        restricts: false,
      }),
      keepDays: key(count(1), 'How long contents are kept. Default 30.', { restricts: false }),
      waitMs: key(
        count(0, 60_000),
        'How long a call may wait until what stood before it is safe; then the point says that it is partial. Default 1000.',
        { restricts: false },
      ),
    }),
    'The change journal behind rewind. Not from the files of a project.',
    { restricts: false, scope: 'user' },
  ),
  effects: key(
    z.strictObject({
      onViolation: key(
        z.enum(['report', 'rollback']),
        'What happens when a call that was let through because it changes nothing has changed files: it is reported (the default), or also taken back at once.',
        { restricts: true, strict: 'rollback', strictest: true },
      ),
    }),
    'What calls may do to files, judged by what they did.',
    { restricts: true, live: true },
  ),
  agents: key(
    z.record(z.string(), ruleLists),
    'Rules for some agents: a pattern over agent paths or types (main, main/*, **/reviewer#*, reviewer) and its rules.',
    { restricts: true, live: true },
  ),
});
