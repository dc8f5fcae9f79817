/**
 * What an event's hooks can do. `gate`: their failure refuses. `block`: they may hold things up, but
 * their failure lets them pass. `observe`: they only watch.
 */
export type HookRole = 'gate' | 'block' | 'observe';

export interface HookEventFacts {
  readonly role: HookRole;
  /** What a matcher is compared with. */
  readonly matches: 'tool' | 'value' | 'nothing';
}

const row = (role: HookRole, matches: HookEventFacts['matches']): HookEventFacts => ({
  role,
  matches,
});

export const HOOK_EVENTS: Readonly<Record<string, HookEventFacts>> = {
  SessionStart: row('observe', 'value'),
  Setup: row('observe', 'value'),
  InstructionsLoaded: row('observe', 'value'),
  UserPromptSubmit: row('gate', 'nothing'),
  UserPromptExpansion: row('gate', 'value'),
  MessageDisplay: row('observe', 'nothing'),
  PreToolUse: row('gate', 'tool'),
  PermissionRequest: row('gate', 'tool'),
  PermissionDenied: row('observe', 'tool'),
  PostToolUse: row('block', 'tool'),
  PostToolUseFailure: row('observe', 'tool'),
  PostToolBatch: row('block', 'nothing'),
  ToolInputInvalid: row('observe', 'tool'),
  Notification: row('observe', 'value'),
  SubagentStart: row('observe', 'value'),
  SubagentStop: row('block', 'value'),
  Stop: row('block', 'nothing'),
  StopFailure: row('observe', 'value'),
  TaskCreated: row('block', 'nothing'),
  TaskCompleted: row('block', 'nothing'),
  TeammateIdle: row('block', 'nothing'),
  ConfigChange: row('gate', 'value'),
  CwdChanged: row('observe', 'nothing'),
  DirectoryAdded: row('observe', 'value'),
  FileChanged: row('observe', 'value'),
  WorktreeCreate: row('gate', 'nothing'),
  WorktreeRemove: row('observe', 'nothing'),
  PreCompact: row('block', 'value'),
  PostCompact: row('observe', 'value'),
  PreModelSwitch: row('gate', 'nothing'),
  PostModelSwitch: row('observe', 'nothing'),
  Elicitation: row('gate', 'value'),
  ElicitationResult: row('gate', 'value'),
  SessionEnd: row('observe', 'value'),
};

/** Events of other programs whose files people copy. They never fire here, which is said. */
export const FOREIGN_HOOK_EVENTS: readonly string[] = [
  'BeforeTool',
  'AfterTool',
  'BeforeAgent',
  'AfterAgent',
  'BeforeModel',
  'AfterModel',
  'BeforeToolSelection',
  'PreCompress',
  'beforeShellExecution',
  'beforeMCPExecution',
  'beforeReadFile',
  'afterFileEdit',
  'beforeSubmitPrompt',
  'userPromptSubmitted',
  'errorOccurred',
  'TaskStart',
  'TaskResume',
  'TaskCancel',
];
