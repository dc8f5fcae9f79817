import { z } from 'zod';
import {
  anything,
  COMMAND,
  count,
  ELSEWHERE,
  FENCE_LATER,
  flag,
  key,
  LATER,
  list,
  MANAGED_FENCE,
  table,
  text,
} from './setting-key.schema.js';

const ttl = z.enum(['5m', '1h']);

export const modelSettings = {
  model: key(text(), 'The model a session starts with: an id or an alias.', { live: true }),
  fallbackModel: key(list(), 'Models to try when the first is overloaded.', {
    ...LATER,
    whole: true,
  }),
  availableModels: key(list(), 'The only models that may be chosen.', {
    ...FENCE_LATER,
    unenforced: true,
  }),
  enforceAvailableModels: key(flag(), 'Binds the default model to the list too.', {
    ...FENCE_LATER,
    unenforced: true,
  }),
  availableModelsMatch: key(z.enum(['prefix', 'exact']), 'How the list is compared.', FENCE_LATER),
  deniedModels: key(list(), 'Models that may not be chosen.', {
    ...MANAGED_FENCE,
    unenforced: true,
  }),
  allowedProviders: key(list(), 'Providers that may be used.', {
    ...MANAGED_FENCE,
    unenforced: true,
  }),
  effortLevel: key(z.enum(['low', 'medium', 'high', 'xhigh', 'max']), 'How hard to think.', LATER),
  maxEffortLevel: key(
    z.enum(['low', 'medium', 'high', 'xhigh', 'max']),
    'The most that effort may be.',
    LATER,
  ),
  alwaysThinkingEnabled: key(flag(), 'false turns thinking off.', LATER),
  outputStyle: key(
    text(),
    'How the model answers: default, Explanatory, Learning, or a file of `output-styles/`.',
  ),
  language: key(text(), 'The language of answers.', LATER),
  modelOverrides: key(z.record(z.string(), z.string()), 'Names of models at a provider.', LATER),
  modelPricing: key(table(), 'Prices for cost figures.', LATER),
  modelSettings: key(table(), 'Settings by model.', LATER),
  modelPicker: key(anything(), 'What a picker shows.', { ...ELSEWHERE, whole: true }),
  promptCacheTtl: key(ttl, 'How long prompts stay cached.', LATER),
  subagentPromptCacheTtl: key(ttl, 'The same for subagents.', LATER),
};

export const sessionSettings = {
  $schema: key(text(), 'Address of the JSON schema of this file, for editors.', { live: true }),
  env: key(
    z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    'Variables of the session and of what it starts.',
    { needsTrust: true },
  ),
  cleanupPeriodDays: key(count(1), 'How long transcripts are kept.', LATER),
  autoCompactEnabled: key(
    flag(),
    'False: long conversations are summarised only on request (`/compact`). Default true.',
    { live: true },
  ),
  autoCompactWindow: key(count(1), 'Tokens from which it does.', LATER),
  precomputeCompactionEnabled: key(flag(), 'Prepares summaries.', LATER),
  idleCompaction: key(flag(), 'Summarises when idle.', LATER),
  fileCheckpointingEnabled: key(
    flag(),
    'Keeps what rewind needs. Default true; over the wire only where the host asks for it.',
    { needsTrust: true, strict: true },
  ),
  plansDirectory: key(text(), 'Where plans are written.', COMMAND),
  claudeMd: key(text(), "An administrator's instructions.", { scope: 'managed' }),
  claudeMdExcludes: key(
    list(),
    "Patterns of instruction files that are not read. Of a project: not for the user's own.",
    { needsTrust: true },
  ),
  autoMemoryEnabled: key(flag(), 'Whether notes of earlier sessions are shown at the start.', {
    live: true,
  }),
  autoMemoryDirectory: key(text(), 'Where these notes are: absolute or ~/….', {
    needsTrust: true,
  }),
  autoDreamEnabled: key(flag(), 'Tidies the memory.', LATER),
  includeGitInstructions: key(flag(), 'Tells the model how to commit.', LATER),
  includeCoAuthoredBy: key(flag(), 'Older form of attribution.', LATER),
  attribution: key(z.union([flag(), table()]), 'What commits and requests carry.', LATER),
  worktree: key(
    z.looseObject({
      baseRef: key(
        z.enum(['fresh', 'head']),
        'Where an agent starts: at the last commit of the one that started it (head, the default), or at the default branch of the remote as last fetched.',
      ),
      symlinkDirectories: key(
        list(),
        'Directories of the project that a worktree gets as links: node_modules.',
      ),
      sparsePaths: key(list(), 'The only paths that a worktree holds.'),
      bgIsolation: key(z.enum(['worktree', 'none']), 'Worktrees of background sessions.', LATER),
      location: key(text(), 'Where worktrees are made.', LATER),
    }),
    'How worktrees of agents are made.',
    { needsTrust: true, live: true },
  ),
  bashOutputMaxChars: key(count(4000, 128000), 'Longest output of a command.', LATER),
  taskOutputMaxChars: key(count(1), 'Longest output of a task.', LATER),
  skipWebFetchPreflight: key(flag(), 'No look-up before fetching.', LATER),
  respectGitignore: key(flag(), 'Hides ignored files in pickers.', LATER),
  defaultShell: key(z.enum(['bash', 'powershell']), 'The shell of commands.', LATER),
  crossSessionInbound: key(
    z.enum(['accept', 'hold', 'refuse']),
    'Messages of other sessions.',
    FENCE_LATER,
  ),
  isolatePeerMachines: key(flag(), 'No sessions of other machines.', {
    ...FENCE_LATER,
    strict: true,
    strictest: true,
  }),
  bashEditDiffEnabled: key(flag(), 'Shows what commands changed.', LATER),
  todoFeatureEnabled: key(flag(), 'Offers a list of tasks.', LATER),
  teammateMode: key(
    z.enum(['auto', 'tmux', 'iterm2', 'in-process']),
    'Where teammates run: in the process of the lead, or in a pane as a process of their own. auto: in a pane where the lead runs in tmux.',
    { live: true },
  ),
};
