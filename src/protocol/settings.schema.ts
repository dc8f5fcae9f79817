/**
 * Every key of a settings file, once. From here come `schema/settings.json`, the reference page and
 * the table that settings are checked and merged by.
 */
import { z } from 'zod';
import { HOOK_EVENTS } from './hook-events.js';
import type { KeyFacts } from './setting-node.js';

export const FACTS = 'x-portcullis';

function key<T extends z.ZodType>(schema: T, description: string, facts: KeyFacts = {}) {
  return schema.meta({ description, [FACTS]: facts }).optional();
}

const text = () => z.string();
const flag = () => z.boolean();
const list = () => z.array(z.string());
const count = (least: number, most?: number) =>
  most === undefined ? z.int().min(least) : z.int().min(least).max(most);
const anything = () => z.unknown();
const table = () => z.record(z.string(), z.unknown());

const LATER = { status: 'later' } as const;
const ELSEWHERE = { status: 'elsewhere' } as const;
const COMMAND = { needsTrust: true, status: 'later' } as const;
const FENCE_LATER = { restricts: true, status: 'later' } as const;
const MANAGED_FENCE = { restricts: true, scope: 'managed', status: 'later' } as const;

const permissions = z.strictObject({
  allow: key(list(), 'Calls that need no asking.', { needsTrust: true, restricts: false }),
  ask: key(list(), 'Calls that are asked about, whatever allows them.', { restricts: true }),
  deny: key(list(), 'Calls that are refused, whatever allows them.', { restricts: true }),
  additionalDirectories: key(list(), 'Directories that count as inside, beside the working one.', {
    needsTrust: true,
    restricts: false,
  }),
  defaultMode: key(
    z.enum(['default', 'manual', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions']),
    'The mode a session starts in. A project can lower it, not raise it.',
    { restricts: true },
  ),
  disableBypassPermissionsMode: key(z.literal('disable'), 'Forbids the mode bypassPermissions.', {
    restricts: true,
    strict: 'disable',
    strictest: true,
  }),
  disableAutoMode: key(
    z.literal('disable'),
    'Forbids the mode auto, which is not available here.',
    {
      restricts: true,
      strict: 'disable',
      strictest: true,
    },
  ),
  blockReadsOutsideWorkingDirectories: key(
    flag(),
    'Refuses to read outside the working directories.',
    {
      restricts: true,
      strict: true,
      strictest: true,
      status: 'later',
      unenforced: true,
    },
  ),
  blockWritesOutsideWorkingDirectories: key(
    flag(),
    'Refuses to write outside the working directories.',
    { restricts: true, strict: true, strictest: true, status: 'later', unenforced: true },
  ),
  blockReadsExemptPaths: key(list(), 'Exceptions from the fence for reading.', {
    needsTrust: true,
    restricts: false,
    status: 'later',
  }),
  denyInsteadOfPrompting: key(flag(), 'Refuses whatever would be asked.', {
    restricts: true,
    strict: true,
    strictest: true,
  }),
  workingDirectoriesAsGiven: key(flag(), 'Takes the given directories as they are.', LATER),
});

const commonHandler = {
  if: key(text(), 'One permission rule; the hook runs only for calls that it fits.'),
  timeout: key(z.number().positive(), 'Seconds until the hook counts as failed.'),
  statusMessage: key(text(), 'Shown while the hook runs.'),
  once: key(flag(), 'Runs at most once in a session.'),
  description: key(text(), 'For people.'),
  name: key(text(), 'For people.'),
};
const onFailure = key(
  z.enum(['block', 'continue']),
  'What it means when the hook fails: refuse, or go on.',
);

const handler = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('command'),
    command: text(),
    args: key(list(), 'Arguments; the command is then started without a shell.'),
    shell: key(z.enum(['bash', 'powershell']), 'The shell of a command without args.'),
    async: key(flag(), 'Runs beside the session and decides nothing.'),
    asyncRewake: key(flag(), 'As async; exit code 2 wakes the model.'),
    persistent: key(
      flag(),
      'One process for all calls of the session: each input is one line of JSON on its standard input, each answer one line on its standard output. Not together with async, asyncRewake or once.',
    ),
    allowedEnvVars: key(list(), 'Variables that pass although they look secret.'),
    onFailure,
    ...commonHandler,
  }),
  z.strictObject({
    type: z.literal('http'),
    url: text(),
    headers: key(z.record(z.string(), z.string()), 'Headers; $NAME only for listed variables.'),
    allowedEnvVars: key(list(), 'Variables that headers may use.'),
    onFailure,
    ...commonHandler,
  }),
  z.strictObject({
    type: z.literal('mcp_tool'),
    server: text(),
    tool: text(),
    input: key(table(), 'Input of the tool.'),
    onFailure,
    ...commonHandler,
  }),
  z.strictObject({
    type: z.literal('prompt'),
    prompt: text(),
    model: key(text(), 'The model that is asked.'),
    continueOnBlock: key(flag(), 'A no refuses the call and lets the turn go on.'),
    onFailure,
    ...commonHandler,
  }),
  z.strictObject({
    type: z.literal('agent'),
    prompt: text(),
    model: key(text(), 'The model of the agent.'),
    onFailure,
    ...commonHandler,
  }),
]);

const hookGroup = z.strictObject({
  matcher: key(text(), 'Names, a list a|b, or a regular expression; absent or * for all.'),
  agents: key(
    text(),
    'Only for these agents: a pattern over agent paths or types (main, main/*, **/reviewer#*, reviewer).',
  ),
  hooks: z.array(handler),
  description: key(text(), 'For people.'),
});

const eventNames = Object.keys(HOOK_EVENTS) as [string, ...string[]];
const hooks = z.partialRecord(z.enum(eventNames), z.array(hookGroup));

const allowing = { needsTrust: true, restricts: false } as const;
const allowingLater = { ...allowing, status: 'later' } as const;
const fencing = { restricts: true } as const;

const sandbox = z.strictObject({
  enabled: key(
    flag(),
    'Runs shell commands, hooks and MCP servers in a sandbox. A project cannot switch off what its user has switched on.',
    { restricts: true, needsTrust: true, strict: true },
  ),
  failIfUnavailable: key(
    flag(),
    'Refuses to start where there is no sandbox. Default true; false: runs without one, with a warning.',
    { restricts: true, needsTrust: true, strict: true, strictest: true },
  ),
  autoAllowBashIfSandboxed: key(
    flag(),
    'Asks for no command that runs inside. Deny and ask rules and plan mode hold all the same. Default false.',
    { ...allowing, strict: false },
  ),
  allowUnsandboxedCommands: key(
    flag(),
    'Whether a command may ask to run outside. Default true; false refuses such commands, and from an administrator or the command line also lets no project widen the sandbox.',
    { ...fencing, needsTrust: true, strict: false, strictest: true },
  ),
  excludedCommands: key(
    list(),
    'Commands that run outside, as rules for Bash name them ("docker *"). Every part of a command line must be among them.',
    allowing,
  ),
  ignoreViolations: key(
    z.record(z.string(), z.array(z.string())),
    'Violations not told.',
    allowingLater,
  ),
  enableWeakerNestedSandbox: key(flag(), 'A weaker sandbox inside containers.', {
    ...allowingLater,
    strict: false,
  }),
  enableWeakerNetworkIsolation: key(flag(), 'Weaker network isolation.', {
    ...allowingLater,
    strict: false,
  }),
  allowNestedUserNamespaces: key(
    flag(),
    'Lets programs inside make user namespaces of their own, which weakens the fence.',
    { ...allowing, strict: false },
  ),
  allowAppleEvents: key(flag(), 'Apple events.', { ...allowingLater, strict: false }),
  ripgrep: key(
    z.strictObject({ command: text(), args: list().optional() }),
    'The search program to use.',
    { ...allowingLater, scope: 'user' },
  ),
  bwrapPath: key(text(), 'Where bubblewrap is.', { ...allowing, scope: 'managed' }),
  socatPath: key(text(), 'Where socat is; it is not needed.', {
    ...allowingLater,
    scope: 'managed',
  }),
  network: key(
    z.strictObject({
      allowedDomains: key(
        list(),
        'Domains that may be reached from inside: example.com, *.example.com. Beside them those of WebFetch allow rules. None: no network at all.',
        allowing,
      ),
      deniedDomains: key(
        list(),
        'Domains that may not be reached, whatever allows them. WebFetch deny rules count too.',
        fencing,
      ),
      strictAllowlist: key(
        flag(),
        'Refuses other domains instead of asking. They are always refused here.',
        { ...fencing, strict: true, strictest: true },
      ),
      allowManagedDomainsOnly: key(
        flag(),
        'Only domains that an administrator allows may be reached.',
        { ...fencing, scope: 'managed' },
      ),
      allowUnixSockets: key(
        list(),
        'Unix sockets that may be used. A socket of docker or of an agent gives what it serves.',
        allowing,
      ),
      allowAllUnixSockets: key(flag(), 'All Unix sockets.', { ...allowing, strict: false }),
      allowLocalBinding: key(flag(), 'Local ports may be opened to the outside.', {
        ...allowing,
        strict: false,
      }),
      allowMachLookup: key(list(), 'Mach services that may be looked up.', allowingLater),
      httpProxyPort: key(count(1, 65535), 'Port of a proxy of your own.', allowingLater),
      socksProxyPort: key(count(1, 65535), 'Port of a proxy of your own.', allowingLater),
      tlsTerminate: key(table(), 'Inspection of TLS.', {
        ...allowingLater,
        whole: true,
        scope: 'user',
      }),
    }),
    'What sandboxed programs reach.',
  ),
  filesystem: key(
    z.strictObject({
      allowWrite: key(
        list(),
        'Directories that may be written beside the working ones: /absolute, ~/in/the/home, in/the/project. No patterns.',
        allowing,
      ),
      denyWrite: key(list(), 'Paths that may not be written. Edit deny rules count too.', fencing),
      denyRead: key(list(), 'Paths that cannot be read. Read deny rules count too.', fencing),
      allowRead: key(
        list(),
        'Exceptions from denyRead and from what is hidden by itself. The more specific path wins; state of this program stays hidden.',
        allowing,
      ),
      allowManagedReadPathsOnly: key(flag(), 'Only an administrator reopens paths.', {
        ...fencing,
        scope: 'managed',
      }),
      disabled: key(flag(), 'No fence around files, only around the network.', {
        ...allowing,
        strict: false,
        scope: 'user',
      }),
    }),
    'What sandboxed programs touch.',
  ),
  credentials: key(
    z.strictObject({
      files: key(
        z.array(table()),
        'Files that sandboxed programs do not see: [{"path": "~/.token", "mode": "deny"}]. Other modes are refused.',
        fencing,
      ),
      envVars: key(
        z.array(table()),
        'Variables that sandboxed programs do not get: [{"name": "DATABASE_URL", "mode": "deny"}]. Other modes are refused.',
        fencing,
      ),
      awsPairs: key(z.array(table()), 'Pairs of AWS keys.', {
        ...fencing,
        status: 'later',
        unenforced: true,
      }),
      sigv4: key(table(), 'Signing of AWS requests.', LATER),
      allowPlaintextInject: key(flag(), 'Secrets over plain HTTP.', {
        ...allowingLater,
        strict: false,
      }),
    }),
    'Secrets that sandboxed programs do not see.',
  ),
});

const ruleLists = z.strictObject({
  allow: key(list(), 'As permissions.allow.', { needsTrust: true, restricts: false }),
  ask: key(list(), 'As permissions.ask.', { restricts: true }),
  deny: key(list(), 'As permissions.deny.', { restricts: true }),
});

const ownSandbox = z.strictObject({
  hooks: key(
    flag(),
    'Whether command hooks run in the sandbox too, where sandbox.enabled is true. Default true.',
    { restricts: true, strict: true, strictest: true },
  ),
  mcpServers: key(
    flag(),
    'Whether stdio MCP servers run in the sandbox too, where sandbox.enabled is true. Default true.',
    { restricts: true, strict: true, strictest: true },
  ),
  excludedMcpServers: key(list(), 'Names of stdio MCP servers that run outside.', {
    restricts: false,
  }),
});

const portcullis = z.strictObject({
  strict: key(
    flag(),
    'false: a restriction that cannot be honoured only warns. Counts in the settings of the user or an administrator.',
    { restricts: true },
  ),
  askReadOnly: key(flag(), 'Also asks for commands that only read.', {
    restricts: true,
    strict: true,
    strictest: true,
  }),
  hookFailure: key(
    z.enum(['closed', 'open', 'block', 'continue']),
    'What it means when a guarding hook fails that does not say so itself. closed (the default): what it guards is refused. open: it passes, with a warning. block and continue are other words for the two.',
    { restricts: true, strict: 'closed', strictest: true, scope: 'user' },
  ),
  hookTimeouts: key(
    z.partialRecord(z.enum(eventNames), z.number().positive()),
    'Milliseconds by event, for hooks that name no timeout: {"PreToolUse": 5000}. Of a project: where nobody else says anything.',
    { restricts: true, needsTrust: true },
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
    { restricts: false, strict: false, scope: 'user' },
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
    { restricts: true, scope: 'user' },
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
      seconds: key(z.number().positive(), 'Seconds in which somebody was at work.', {
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
    { restricts: false, scope: 'user' },
  ),
  inbox: key(
    z.strictObject({
      expiryMinutes: key(
        count(1, 1440),
        'How long a question of a background agent waits for an answer. Default 30.',
        { restricts: true },
      ),
      unattended: key(
        flag(),
        'true: somebody reads the inbox, so that background agents wait for answers although no host is there to ask.',
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
    { restricts: true },
  ),
  agents: key(
    z.record(z.string(), ruleLists),
    'Rules for some agents: a pattern over agent paths or types (main, main/*, **/reviewer#*, reviewer) and its rules.',
    { restricts: true },
  ),
});

const statusLine = z.looseObject({
  type: z.literal('command'),
  command: text(),
  padding: z.number().optional(),
  refreshInterval: z.number().optional(),
  hideVimModeIndicator: flag().optional(),
});

const serverEntry = z.union([
  z.strictObject({ serverName: text() }),
  z.strictObject({ serverCommand: z.array(z.string()) }),
  z.strictObject({ serverUrl: text() }),
]);

const names = z.union([text(), list()]);
const ttl = z.enum(['5m', '1h']);

/** By group, in the order of the reference page. */
export const SETTING_GROUPS = {
  'Permissions and guards': {
    permissions: key(permissions, 'Rules, modes and working directories.', { restricts: true }),
    hooks: key(hooks, 'Programs that are asked or told at events.', {
      restricts: true,
      needsTrust: true,
    }),
    sandbox: key(sandbox, 'A fence of the operating system around programs.', {
      restricts: true,
    }),
    portcullis: key(portcullis, 'Settings of this program alone.', { restricts: true }),
    allowManagedPermissionRulesOnly: key(
      flag(),
      'Only managed rules grant. Deny and ask rules of all sources stay.',
      { restricts: true, scope: 'managed' },
    ),
    disableAllHooks: key(
      flag(),
      'No hooks but those of an administrator and of the host. Of an administrator: none of his either. Of a project: none of its own; those of others stay.',
      { restricts: true, needsTrust: true, strict: false },
    ),
    allowManagedHooksOnly: key(
      flag(),
      'Only hooks of an administrator run; callbacks of the host can still refuse.',
      { restricts: true, scope: 'managed' },
    ),
    allowedHttpHookUrls: key(
      list(),
      'The only URLs that HTTP hooks may call, whoever wrote them; * stands for anything, [] allows none.',
      { restricts: true, needsTrust: true },
    ),
    httpHookAllowedEnvVars: key(
      list(),
      'The only variables that headers of HTTP hooks may use, of those that a hook lists itself.',
      { restricts: true, needsTrust: true },
    ),
    disableAutoMode: key(z.literal('disable'), 'As permissions.disableAutoMode.', {
      restricts: true,
      strict: 'disable',
      strictest: true,
    }),
    skipDangerousModePermissionPrompt: key(flag(), 'No confirmation of bypassPermissions.', {
      needsTrust: true,
      status: 'later',
    }),
    autoMode: key(table(), 'Rules of the mode auto, which is not available here.', {
      ...ELSEWHERE,
      scope: 'user',
    }),
    useAutoModeDuringPlan: key(flag(), 'Review by the mode auto.', ELSEWHERE),
    skipAutoPermissionPrompt: key(flag(), 'Notice of the mode auto.', ELSEWHERE),
    strictPluginOnlyCustomization: key(
      z.union([flag(), list()]),
      'Only plugins and administrators customise.',
      MANAGED_FENCE,
    ),
    disableSideloadFlags: key(flag(), 'Refuses flags that add agents or servers.', MANAGED_FENCE),
  },
  'Model and answers': {
    model: key(text(), 'The model a session starts with: an id or an alias.'),
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
    availableModelsMatch: key(
      z.enum(['prefix', 'exact']),
      'How the list is compared.',
      FENCE_LATER,
    ),
    deniedModels: key(list(), 'Models that may not be chosen.', {
      ...MANAGED_FENCE,
      unenforced: true,
    }),
    allowedProviders: key(list(), 'Providers that may be used.', {
      ...MANAGED_FENCE,
      unenforced: true,
    }),
    effortLevel: key(
      z.enum(['low', 'medium', 'high', 'xhigh', 'max']),
      'How hard to think.',
      LATER,
    ),
    maxEffortLevel: key(
      z.enum(['low', 'medium', 'high', 'xhigh', 'max']),
      'The most that effort may be.',
      LATER,
    ),
    alwaysThinkingEnabled: key(flag(), 'false turns thinking off.', LATER),
    outputStyle: key(text(), 'Name of an output style.', LATER),
    language: key(text(), 'The language of answers.', LATER),
    modelOverrides: key(z.record(z.string(), z.string()), 'Names of models at a provider.', LATER),
    modelPricing: key(table(), 'Prices for cost figures.', LATER),
    modelSettings: key(table(), 'Settings by model.', LATER),
    modelPicker: key(anything(), 'What a picker shows.', { ...ELSEWHERE, whole: true }),
    promptCacheTtl: key(ttl, 'How long prompts stay cached.', LATER),
    subagentPromptCacheTtl: key(ttl, 'The same for subagents.', LATER),
    switchModelsOnFlag: key(flag(), 'Another model after a refusal.', ELSEWHERE),
    showThinkingSummaries: key(flag(), 'Shows thinking.', ELSEWHERE),
    advisorModel: key(text(), 'A second model.', ELSEWHERE),
    fastMode: key(flag(), 'A faster tier.', ELSEWHERE),
    fastModePerSessionOptIn: key(flag(), 'The faster tier by session.', ELSEWHERE),
  },
  'MCP servers, skills, plugins': {
    enableAllProjectMcpServers: key(flag(), 'Accepts every server of .mcp.json.', {
      needsTrust: true,
      strict: false,
    }),
    enabledMcpjsonServers: key(names, 'Servers of .mcp.json that are accepted.', {
      needsTrust: true,
    }),
    disabledMcpjsonServers: key(names, 'Servers of .mcp.json that are not used.', {
      restricts: true,
    }),
    allowedMcpServers: key(z.array(serverEntry), 'The only servers that may be used; [] none.', {
      restricts: true,
    }),
    deniedMcpServers: key(z.array(serverEntry), 'Servers that may not be used.', {
      restricts: true,
    }),
    allowManagedMcpServersOnly: key(flag(), 'Only the managed list counts.', {
      restricts: true,
      scope: 'managed',
    }),
    managedMcpServers: key(table(), 'Servers of an administrator.', { scope: 'managed' }),
    allowAllClaudeAiMcps: key(flag(), 'Connectors of an account.', ELSEWHERE),
    disableClaudeAiConnectors: key(flag(), 'No connectors of an account.', {
      restricts: true,
      strict: true,
      strictest: true,
    }),
    disableSkillShellExecution: key(flag(), 'Skills run no commands of their own.', {
      restricts: true,
      needsTrust: true,
      strict: true,
    }),
    skillOverrides: key(
      z.record(z.string(), z.enum(['on', 'name-only', 'user-invocable-only', 'off'])),
      'Which skills are offered.',
    ),
    disableBundledSkills: key(flag(), 'Hides built-in skills.'),
    skillListingBudgetFraction: key(
      z.number().positive(),
      'Share of the window for the list of skills.',
    ),
    skillListingMaxDescChars: key(count(1), 'Longest entry in the list of skills.'),
    enabledPlugins: key(z.record(z.string(), z.unknown()), 'Which plugins are on.', COMMAND),
    pluginConfigs: key(table(), 'Options of plugins.', { ...LATER, scope: 'user' }),
    extraKnownMarketplaces: key(table(), 'Where plugins come from.', COMMAND),
    additionalMarketplaces: key(table(), 'The same.', COMMAND),
    strictKnownMarketplaces: key(anything(), 'The only marketplaces.', MANAGED_FENCE),
    allowedMarketplaces: key(anything(), 'The same.', MANAGED_FENCE),
    blockedMarketplaces: key(anything(), 'Marketplaces that are refused.', MANAGED_FENCE),
    disableCommandPluginSources: key(flag(), 'No plugins from commands.', MANAGED_FENCE),
    agent: key(text(), 'The agent that the main conversation runs as.', { needsTrust: true }),
    syncClaudeAiSkills: key(flag(), 'Skills of an account.', ELSEWHERE),
    syncClaudeAiPlugins: key(flag(), 'Plugins of an account.', ELSEWHERE),
    pluginSuggestionMarketplaces: key(anything(), 'Suggestions.', ELSEWHERE),
    pluginTrustMessage: key(text(), 'Text of a dialog.', ELSEWHERE),
    allowedChannelPlugins: key(anything(), 'Channels.', ELSEWHERE),
    channelsEnabled: key(flag(), 'Channels.', ELSEWHERE),
    prependPlugins: key(anything(), 'Order of plugins.', ELSEWHERE),
    appendPlugins: key(anything(), 'Order of plugins.', ELSEWHERE),
    allowClaudeInChromeWithManagedMcp: key(flag(), 'A browser extension.', ELSEWHERE),
  },
  'Environment, memory, sessions': {
    $schema: key(text(), 'Address of the JSON schema of this file, for editors.'),
    env: key(
      z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
      'Variables of the session and of what it starts.',
      { needsTrust: true },
    ),
    cleanupPeriodDays: key(count(1), 'How long transcripts are kept.', LATER),
    autoCompactEnabled: key(
      flag(),
      'False: long conversations are summarised only when somebody asks for it. Default true.',
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
    autoMemoryEnabled: key(flag(), 'Whether notes of earlier sessions are shown at the start.'),
    autoMemoryDirectory: key(text(), 'Where these notes are: absolute or ~/….', {
      needsTrust: true,
    }),
    autoDreamEnabled: key(flag(), 'Tidies the memory.', LATER),
    includeGitInstructions: key(flag(), 'Tells the model how to commit.', LATER),
    includeCoAuthoredBy: key(flag(), 'Older form of attribution.', LATER),
    attribution: key(z.union([flag(), table()]), 'What commits and requests carry.', LATER),
    worktree: key(
      z.looseObject({
        baseRef: z.enum(['fresh', 'head']).optional(),
        symlinkDirectories: list().optional(),
        sparsePaths: list().optional(),
        bgIsolation: z.enum(['worktree', 'none']).optional(),
        location: text().optional(),
      }),
      'How worktrees are made.',
      COMMAND,
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
    ),
    disableReplyCheck: key(flag(), 'Checks of replies.', ELSEWHERE),
    autoContinueAtUsageLimit: key(flag(), 'Usage limits.', ELSEWHERE),
    disableWindowsBashCommandSplit: key(flag(), 'Windows.', ELSEWHERE),
    disableAgentView: key(flag(), 'A view of agents.', ELSEWHERE),
    daemonColdStart: key(anything(), 'A background program.', ELSEWHERE),
    autoUploadSessions: key(anything(), 'Uploads.', ELSEWHERE),
    ultracode: key(anything(), 'Workflows.', ELSEWHERE),
    workflowKeywordTriggerEnabled: key(flag(), 'Workflows.', ELSEWHERE),
    workflowSizeGuideline: key(text(), 'Workflows.', ELSEWHERE),
    disableWorkflows: key(flag(), 'Workflows.', ELSEWHERE),
    enableWorkflows: key(flag(), 'Workflows.', ELSEWHERE),
  },
  'Programs that settings start': {
    apiKeyHelper: key(text(), 'Command that prints the API key.', COMMAND),
    proxyAuthHelper: key(text(), 'Command that prints proxy credentials.', COMMAND),
    awsAuthRefresh: key(text(), 'Command that refreshes AWS credentials.', COMMAND),
    awsCredentialExport: key(text(), 'Command that prints AWS credentials.', COMMAND),
    gcpAuthRefresh: key(text(), 'Command that refreshes GCP credentials.', COMMAND),
    otelHeadersHelper: key(text(), 'Command that prints telemetry headers.', COMMAND),
    statusLine: key(statusLine, 'Command that prints a status line.', COMMAND),
    subagentStatusLine: key(statusLine, 'The same for agents.', COMMAND),
    fileSuggestion: key(statusLine, 'Command that suggests files.', COMMAND),
    processWrapper: key(anything(), 'Program around every process.', { ...COMMAND, scope: 'user' }),
    policyHelper: key(table(), 'Program that prints managed settings.', {
      ...MANAGED_FENCE,
      unenforced: true,
    }),
  },
  'Accounts, updates, delivery': {
    forceLoginMethod: key(text(), 'How to log in.', ELSEWHERE),
    forceLoginOrgUUID: key(z.union([text(), list()]), 'Who may log in.', ELSEWHERE),
    forceLoginGatewayUrl: key(text(), 'Where to log in.', ELSEWHERE),
    gatewayInternalNetworks: key(anything(), 'Networks of a gateway.', ELSEWHERE),
    autoUpdatesChannel: key(text(), 'Updates.', ELSEWHERE),
    minimumVersion: key(text(), 'Updates.', ELSEWHERE),
    requiredMinimumVersion: key(text(), 'Versions of another program.', ELSEWHERE),
    requiredMaximumVersion: key(text(), 'Versions of another program.', ELSEWHERE),
    parentSettingsBehavior: key(text(), 'Settings of the host.', ELSEWHERE),
    managedSourcesBehavior: key(text(), 'Several managed sources.', ELSEWHERE),
    forceRemoteSettingsRefresh: key(flag(), 'Remote settings.', ELSEWHERE),
    wslInheritsWindowsSettings: key(flag(), 'Windows.', ELSEWHERE),
    remoteControlAtStartup: key(flag(), 'Remote control.', ELSEWHERE),
    disableRemoteControl: key(flag(), 'Remote control.', ELSEWHERE),
  },
  'Look and feel of other programs': Object.fromEntries(
    `theme tui editorMode vimInsertModeRemaps keybindingFlavor verbose viewMode
    syntaxHighlightingDisabled prefersReducedMotion axScreenReader showTurnDuration
    showMessageTimestamps timeFormat timeZone maxProseWidth spinnerTipsEnabled spinnerTipsOverride
    spinnerVerbs terminalProgressBarEnabled terminalTitleFromRename autoScrollEnabled
    wheelScrollAccelerationEnabled emojiCompletionEnabled spellcheck voice voiceEnabled
    promptSuggestionEnabled footerLinksRegexes companyAnnouncements prUrlTemplate defaultView
    askUserQuestionTimeout dialogExpiry showClearContextOnPlanAccept preferredNotifChannel
    inputNeededNotifEnabled agentPushNotifEnabled awaySummaryEnabled respondToBashCommands
    feedbackSurveyRate feedbackDrafts disableArtifact enableArtifact remote sshConfigs
    sshHostAllowlist sshHostCommands disableDeepLinkRegistration browserExternalPageTools
    disableBrowserExternalNavigation disableMobileSimulatorTools desktopSessionCleanupPeriodDays
    attributionProject attributionProjectPolicy autoConnectIde autoInstallIdeExtension diffTool
    externalEditorContext permissionExplainerEnabled teammateDefaultModel`
      .split(/\s+/)
      .map((name) => [name, key(anything(), '', ELSEWHERE)]),
  ) as Record<string, z.ZodOptional<z.ZodUnknown>>,
};

export const Settings = z.looseObject(Object.assign({}, ...Object.values(SETTING_GROUPS)));
