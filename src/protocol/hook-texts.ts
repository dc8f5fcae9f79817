import type { HookEventName } from './hook-events.js';

export interface HookText {
  /** When it fires, as the end of "It fires …". */
  readonly when: string;
  /** What a no does: `decision: "block"`, `deny`, exit code 2. Absent: nothing. */
  readonly no?: string;
  /** What is worth knowing besides. */
  readonly note?: string;
}

const GOES_ON = 'the agent goes on, with the reason as its next instruction';

/** Words for the reference page; the program itself needs none of them. */
export const HOOK_TEXTS: Readonly<Record<HookEventName, HookText>> = {
  SessionStart: {
    when: 'when a session starts, is resumed, cleared, compacted or forked, before the first prompt',
  },
  Setup: { when: 'once, when the program is run to prepare or to maintain a project' },
  InstructionsLoaded: { when: 'when a file of instructions or rules is added to the context' },
  UserPromptSubmit: {
    when: 'when a prompt was submitted, before the model reads it',
    no: 'the prompt is dropped; the person reads the reason',
  },
  UserPromptExpansion: {
    when: 'when a typed command, skill or MCP prompt expands',
    no: 'it does not expand',
  },
  MessageDisplay: { when: 'when text of the model is about to be shown' },
  PreToolUse: {
    when: 'before a tool runs, once its input has the right form, for every agent',
    no: 'the call is refused; the model reads the reason',
    note: 'A yes opens only what no rule holds. `continue: false` refuses the call as well.',
  },
  PermissionRequest: {
    when: 'when somebody is about to be asked about a call, or would have to be asked where nobody is',
    no: 'the call is refused',
    note: 'It runs beside the question to the host; the first answer counts, and rules are checked again.',
  },
  PermissionDenied: { when: 'when plan mode refused a command and nobody could be asked' },
  PostToolUse: {
    when: 'when a tool has succeeded, before the model reads its result',
    no: 'the model reads the reason after the result; nothing is undone',
  },
  PostToolUseFailure: {
    when: 'when a tool that ran has failed; not for refused calls and invalid inputs',
    no: 'the model reads the reason after the error',
  },
  PostToolBatch: {
    when: "when all calls of one of the model's answers have their results",
    no: 'the turn ends',
  },
  ToolInputInvalid: {
    when: 'when the input of a tool call arrived broken or does not fit the tool',
    note: 'Ours: other programs have no such event.',
  },
  Notification: { when: 'when the attention of a person is wanted' },
  SubagentStart: { when: 'when a subagent starts, before its first request' },
  SubagentStop: { when: 'when a subagent is about to finish', no: GOES_ON },
  Stop: {
    when: 'when the main agent is about to finish; not after an interrupt or an error of the model',
    no: GOES_ON,
    note: '`additionalContext` makes it go on as well. A hook that sees `stop_hook_active` should let it end.',
  },
  StopFailure: { when: 'in place of Stop, when an error of the model ended the turn' },
  TaskCreated: {
    when: 'when a task is put on the list',
    no: 'the task is taken off again; the model reads the reason',
  },
  TaskCompleted: {
    when: 'when a task is marked as completed',
    no: 'it stays open; the model reads the reason',
  },
  TeammateIdle: { when: 'when a teammate is about to rest', no: 'it goes on working' },
  ConfigChange: {
    when: 'when a file of settings or skills changed while a session runs',
    no: "the change is not applied; an administrator's is, whatever a hook says",
  },
  CwdChanged: { when: 'when the working directory has changed' },
  DirectoryAdded: { when: 'when a directory was added to the working ones during a session' },
  FileChanged: {
    when: 'when a watched file changed on disk, whoever changed it',
    note: 'A matcher names files, `package.json|.env`; these are watched from the start.',
  },
  WorktreeCreate: {
    when: 'when a working tree is needed; the hook makes it in place of git',
    no: 'no tree is made, and what needed it fails',
    note: 'Every exit code but 0 is a failure here.',
  },
  WorktreeRemove: { when: 'when a working tree that a hook made is no longer needed' },
  PreCompact: {
    when: 'before the conversation is replaced by a summary',
    no: 'it is not compacted',
  },
  PostCompact: { when: 'when the conversation was replaced by a summary' },
  PreModelSwitch: {
    when: 'before the model of a session is changed',
    no: 'the model stays; an ask that nobody can answer is a no',
  },
  PostModelSwitch: { when: 'when the model of a session was changed' },
  Elicitation: {
    when: 'when an MCP server asks for input, before anybody else is asked',
    no: 'the question is declined',
  },
  ElicitationResult: {
    when: 'before the answer to an MCP server is sent',
    no: 'the answer becomes a decline',
  },
  SessionEnd: { when: 'when a session ends' },
};
