import { z } from 'zod';
import { flag, list, open, text, words } from '../declare.schema.js';
import {
  anything,
  command,
  count,
  elsewhere,
  fenceLater,
  key,
  later,
  live,
  managedLater,
  trusted,
} from './setting-key.schema.js';

const ttl = words('5m 1h');

export const modelSettings = {
  model: live(text, 'The model a session starts with: an id or an alias.'),
  fallbackModel: later(list, 'Models to try when the first is overloaded.', { whole: true }),
  availableModels: fenceLater(list, 'The only models that may be chosen.', { unenforced: true }),
  enforceAvailableModels: fenceLater(flag, 'Binds the default model to the list too.', {
    unenforced: true,
  }),
  availableModelsMatch: fenceLater(words('prefix exact'), 'How the list is compared.'),
  deniedModels: managedLater(list, 'Models that may not be chosen.', { unenforced: true }),
  allowedProviders: managedLater(list, 'Providers that may be used.', { unenforced: true }),
  effortLevel: later(words('low medium high xhigh max'), 'How hard to think.'),
  maxEffortLevel: later(words('low medium high xhigh max'), 'The most that effort may be.'),
  alwaysThinkingEnabled: later(flag, 'false turns thinking off.'),
  outputStyle: key(
    text,
    'How the model answers: default, Explanatory, Learning, or a file of `output-styles/`.',
  ),
  language: later(text, 'The language of answers.'),
  modelOverrides: later(z.record(z.string(), z.string()), 'Names of models at a provider.'),
  modelPricing: later(open, 'Prices for cost figures.'),
  modelSettings: later(open, 'Settings by model.'),
  modelPicker: elsewhere(anything, 'What a picker shows.', { whole: true }),
  promptCacheTtl: later(ttl, 'How long prompts stay cached.'),
  subagentPromptCacheTtl: later(ttl, 'The same for subagents.'),
};

export const sessionSettings = {
  $schema: live(text, 'Address of the JSON schema of this file, for editors.'),
  env: trusted(
    z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    'Variables of the session and of what it starts.',
  ),
  cleanupPeriodDays: later(count(1), 'How long transcripts are kept.'),
  autoCompactEnabled: live(
    flag,
    'False: long conversations are summarised only on request (`/compact`). Default true.',
  ),
  autoCompactWindow: later(count(1), 'Tokens from which it does.'),
  precomputeCompactionEnabled: later(flag, 'Prepares summaries.'),
  idleCompaction: later(flag, 'Summarises when idle.'),
  fileCheckpointingEnabled: trusted(
    flag,
    'Keeps what rewind needs. Default true; over the wire only where the host asks for it.',
    { strict: true },
  ),
  plansDirectory: command(text, 'Where plans are written.'),
  claudeMd: key(text, "An administrator's instructions.", { scope: 'managed' }),
  claudeMdExcludes: trusted(
    list,
    "Patterns of instruction files that are not read. Of a project: not for the user's own.",
  ),
  autoMemoryEnabled: live(flag, 'Whether notes of earlier sessions are shown at the start.'),
  autoMemoryDirectory: trusted(text, 'Where these notes are: absolute or ~/….'),
  autoDreamEnabled: later(flag, 'Tidies the memory.'),
  includeGitInstructions: later(flag, 'Tells the model how to commit.'),
  includeCoAuthoredBy: later(flag, 'Older form of attribution.'),
  attribution: later(z.union([flag, open]), 'What commits and requests carry.'),
  worktree: trusted(
    z.looseObject({
      baseRef: key(
        words('fresh head'),
        'Where an agent starts: at the last commit of the one that started it (head, the default), or at the default branch of the remote as last fetched.',
      ),
      symlinkDirectories: key(
        list,
        'Directories of the project that a worktree gets as links: node_modules.',
      ),
      sparsePaths: key(list, 'The only paths that a worktree holds.'),
      bgIsolation: later(words('worktree none'), 'Worktrees of background sessions.'),
      location: later(text, 'Where worktrees are made.'),
    }),
    'How worktrees of agents are made.',
    { live: true },
  ),
  bashOutputMaxChars: later(count(4000, 128000), 'Longest output of a command.'),
  taskOutputMaxChars: later(count(1), 'Longest output of a task.'),
  skipWebFetchPreflight: later(flag, 'No look-up before fetching.'),
  respectGitignore: later(flag, 'Hides ignored files in pickers.'),
  defaultShell: later(words('bash powershell'), 'The shell of commands.'),
  crossSessionInbound: fenceLater(words('accept hold refuse'), 'Messages of other sessions.'),
  isolatePeerMachines: fenceLater(flag, 'No sessions of other machines.', {
    strict: true,
    strictest: true,
  }),
  bashEditDiffEnabled: later(flag, 'Shows what commands changed.'),
  todoFeatureEnabled: later(flag, 'Offers a list of tasks.'),
  teammateMode: live(
    words('auto tmux iterm2 in-process'),
    'Where teammates run: in the process of the lead, or in a pane as a process of their own. auto: in a pane where the lead runs in tmux.',
  ),
};
