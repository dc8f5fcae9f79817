// What the golden runs play. A scenario is one or more runs of the program in one project; paths in it are relative to
// that project. Fields of a run are those of `runScenario`; `host` drives the run over the wire (see host.mjs).
import path from 'node:path';

const HERE = import.meta.dirname;
const PACKAGES = path.join(HERE, '../../node_modules/@modelcontextprotocol');
const SETTINGS = '.claude/settings.json';
const SESSION = '11111111-1111-4111-8111-111111111111';

const bash = (command, more = {}) => ({ tool: 'Bash', input: { command, ...more } });
const read = (file_path) => ({ tool: 'Read', input: { file_path } });
const write = (file_path, content = 'new\n') => ({ tool: 'Write', input: { file_path, content } });
const edit = (file_path, old_string, new_string) => ({
  tool: 'Edit',
  input: { file_path, old_string, new_string },
});
const skill = (name, args) => ({ tool: 'Skill', input: { skill: name, args } });
const agent = (prompt, more = {}) => ({
  tool: 'Agent',
  input: {
    description: 'a task',
    subagent_type: 'general-purpose',
    prompt,
    run_in_background: false,
    ...more,
  },
});
const call = (tool, input = {}) => ({ tool, input });
const actors = (replies, others) => [
  ...Object.entries(others).map(([match, list]) => ({
    name: match,
    match: { firstUser: match },
    replies: list,
  })),
  { name: 'main', replies },
];
const rules = (allow = [], deny = [], ask = []) => ({ permissions: { allow, deny, ask } });
const settings = (value) => ({ [SETTINGS]: { json: value } });
/** A hook: a shell script of the project that prints and exits as told. */
const hook = (event, matcher, command) => ({
  [event]: [{ matcher, hooks: [{ type: 'command', command }] }],
});
const says = (value) => `cat > /dev/null; printf '%s' '${JSON.stringify(value)}'`;
const decides = (permissionDecision, more = {}) =>
  says({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision,
      permissionDecisionReason: 'because',
      ...more,
    },
  });
const definition = (head, body) => `---\n${head}\n---\n${body}\n`;
/** Files for stdio servers of the project, each with its specification. */
const servers = (specs, more = {}) => ({
  '.mcp.json': {
    json: {
      mcpServers: Object.fromEntries(
        Object.keys(specs).map((name) => [
          name,
          {
            command: 'node',
            args: [path.join(HERE, '../mcp/tools-e2e.fixture.mjs'), `server-${name}.json`],
          },
        ]),
      ),
    },
  },
  ...Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [`server-${name}.json`, { json: spec }]),
  ),
  ...settings({ enableAllProjectMcpServers: true, ...more }),
});
const published = (name, ...args) => ({
  '.mcp.json': {
    json: {
      mcpServers: {
        pub: { command: 'node', args: [path.join(PACKAGES, name, 'dist/index.js'), ...args] },
      },
    },
  },
  ...settings({ enableAllProjectMcpServers: true, ...rules(['mcp__pub']) }),
});
const TOOLS = [
  { name: 'one', do: { echo: true } },
  { name: 'two', do: { text: 'second' } },
  { name: 'bad', do: { error: 'it failed' } },
  { name: 'data', do: { structured: { a: 1, b: ['x', 'y'] } } },
  { name: 'picture', do: { image: true } },
  { name: 'long', do: { long: 300_000 } },
  {
    name: 'typed',
    inputSchema: {
      type: 'object',
      properties: { n: { type: 'number' } },
      required: ['n'],
      additionalProperties: false,
    },
    do: { echo: true },
  },
];
const TRUST = ['--trust'];
const ASK = ['--permission-prompt-tool', 'stdio'];
const allow = () => ({ behavior: 'allow' });

export const SCENARIOS = {
  // Prompts and answers
  'prompt-plain': { files: { 'CLAUDE.md': 'Rules of the house.\n' }, script: ['Hello.'] },
  'prompt-text-format': { format: 'text', script: ['Hello.'] },
  'prompt-json-format': { format: 'json', script: ['Hello.'] },
  'prompt-thinking-partial': {
    args: ['--include-partial-messages'],
    script: [{ thinking: 'hm', text: 'Hello.' }],
  },
  'prompt-error-retry': { script: [{ error: { status: 529, retryAfterMs: 1 } }, 'Hello.'] },
  'prompt-error-final': { script: [{ error: { status: 400, message: 'no such thing' } }] },
  'prompt-max-turns': { args: ['--max-turns', '2'], script: [bash('echo 1'), bash('echo 2')] },
  'prompt-schema': {
    args: [
      '--json-schema',
      '{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}',
    ],
    script: [call('StructuredOutput', { n: 'x' }), call('StructuredOutput', { n: 1 })],
  },
  'prompt-mention': {
    files: { 'a.txt': 'alpha\n', 'd/b.txt': 'beta\n' },
    prompt: 'Look at @a.txt and @d and @none.txt',
    script: ['ok'],
  },
  'prompt-includes': {
    files: {
      'CLAUDE.md': 'See @extra.md\n',
      'extra.md': 'More rules.\n',
      'sub/CLAUDE.md': 'Rules below.\n',
      'sub/f.txt': 'f\n',
    },
    args: TRUST,
    script: [read('sub/f.txt'), 'ok'],
  },
  'prompt-slash-unknown': { prompt: '/nonsense', script: [] },
  'prompt-openai': {
    args: ['--model', 'openai/some-model'],
    env: { OPENAI_BASE_URL: '{{MODEL}}/v1', OPENAI_API_KEY: 'k' },
    script: [bash('echo hi'), 'Hello.'],
  },

  // Built-in tools
  'tools-files': {
    files: { 'a.txt': 'one\ntwo\n' },
    args: ['--permission-mode', 'acceptEdits'],
    script: [
      read('a.txt'),
      edit('a.txt', 'two', 'three'),
      write('b.txt'),
      edit('a.txt', 'zzz', 'y'),
      read('none.txt'),
      'done',
    ],
  },
  'tools-search': {
    files: { 'a.ts': 'let x = 1;\n', 'd/b.ts': 'let y = 2;\n' },
    script: [
      call('Glob', { pattern: '**/*.ts' }),
      call('Grep', { pattern: 'let', output_mode: 'content' }),
      'done',
    ],
  },
  'tools-bash': {
    script: [
      bash('echo out; echo err >&2'),
      bash('exit 3'),
      bash('cd /; pwd'),
      bash('pwd'),
      'done',
    ],
    args: ['--allowedTools', 'Bash'],
  },
  'tools-bash-background': {
    args: ['--allowedTools', 'Bash'],
    script: [
      bash('echo late', { run_in_background: true }),
      bash('sleep 0.3'),
      bash('true'),
      'done',
    ],
  },
  'tools-todo': {
    script: [
      call('TodoWrite', { todos: [{ content: 'a', status: 'pending', activeForm: 'doing a' }] }),
      'done',
    ],
  },
  'tools-parallel': {
    files: { 'a.txt': 'a\n', 'b.txt': 'b\n' },
    script: [{ blocks: [read('a.txt'), read('b.txt'), call('Nope', {})] }, 'done'],
  },
  'tools-broken-input': {
    script: [{ tool: 'Read', rawInput: '{"file_path": ' }, call('Read', { wrong: 1 }), 'done'],
  },
  'tools-notebook': {
    files: {
      'n.ipynb': {
        json: {
          cells: [
            {
              cell_type: 'code',
              source: ['1'],
              metadata: {},
              outputs: [],
              execution_count: null,
              id: 'c1',
            },
          ],
          metadata: {},
          nbformat: 4,
          nbformat_minor: 5,
        },
      },
    },
    args: ['--permission-mode', 'acceptEdits'],
    script: [
      read('n.ipynb'),
      call('NotebookEdit', { notebook_path: 'n.ipynb', cell_id: 'c1', new_source: '2' }),
      'done',
    ],
  },

  // Permissions
  'permissions-default': {
    files: { 'a.txt': 'a\n' },
    script: [bash('touch x'), write('n.txt'), read('/etc/hostname'), bash('git status'), 'done'],
    git: true,
  },
  'permissions-rules': {
    files: settings(
      rules(['Bash(touch *)', 'Write(/ok/**)'], ['Bash(touch secret*)'], ['Bash(touch ask*)']),
    ),
    args: TRUST,
    script: [
      bash('touch x'),
      bash('touch secret'),
      bash('touch ask'),
      write('ok/a.txt'),
      write('no/a.txt'),
      bash('touch y && rm y'),
      'done',
    ],
  },
  'permissions-plan': {
    args: ['--permission-mode', 'plan'],
    script: [bash('touch x'), write('n.txt'), bash('ls'), 'done'],
  },
  'permissions-accept-edits': {
    files: { 'a.txt': 'a\n' },
    args: ['--permission-mode', 'acceptEdits'],
    script: [
      bash('mkdir d'),
      bash('echo hi > r.txt'),
      write('.claude/settings.json', '{}'),
      bash('python3 -c 1'),
      'done',
    ],
  },
  'permissions-dont-ask': {
    args: ['--permission-mode', 'dontAsk', '--allowedTools', 'Bash(touch *)'],
    script: [bash('touch x'), bash('mkdir d'), 'done'],
  },
  'permissions-bypass': {
    env: { IS_SANDBOX: '1' },
    files: settings(rules([], ['Bash(touch *)'])),
    args: ['--permission-mode', 'bypassPermissions'],
    script: [bash('touch x'), bash('mkdir d'), 'done'],
  },
  'permissions-decisions': {
    args: ['--include-decisions', '--disallowedTools', 'Write'],
    script: [bash('echo a | wc -l'), write('x'), 'done'],
  },
  'permissions-bad-settings': { files: { [SETTINGS]: '{ broken' }, args: TRUST, script: [] },
  'permissions-untrusted': {
    files: {
      ...settings({
        ...rules(['Bash'], ['Bash(rm *)']),
        hooks: hook('PreToolUse', 'Bash', decides('allow')),
      }),
    },
    script: [bash('touch x'), bash('rm x'), 'done'],
  },

  // Hooks
  'hooks-allow': {
    files: settings({ hooks: hook('PreToolUse', 'Bash', decides('allow')) }),
    args: [...TRUST, '--include-hook-events'],
    script: [bash('touch x'), 'done'],
  },
  'hooks-deny': {
    files: settings({ ...rules(['Bash']), hooks: hook('PreToolUse', 'Bash', decides('deny')) }),
    args: TRUST,
    script: [bash('touch x'), 'done'],
  },
  'hooks-rewrite': {
    files: settings({
      hooks: hook(
        'PreToolUse',
        'Bash',
        decides('allow', { updatedInput: { command: 'touch other' } }),
      ),
    }),
    args: TRUST,
    script: [bash('touch x'), 'done'],
  },
  'hooks-failing': {
    files: settings({
      ...rules(['Bash']),
      hooks: {
        ...hook('PreToolUse', 'Bash', 'cat > /dev/null; exit 7'),
        ...hook('PostToolUse', 'Bash', 'cat > /dev/null; echo late >&2; exit 2'),
      },
    }),
    args: TRUST,
    script: [bash('touch x'), 'done'],
  },
  'hooks-prompt': {
    files: settings({
      hooks: {
        ...hook('UserPromptSubmit', undefined, 'cat > /dev/null; echo more context'),
        ...hook('SessionStart', undefined, 'cat > /dev/null; echo at the start'),
        ...hook('SessionEnd', undefined, 'cat > ended.json'),
      },
    }),
    args: [...TRUST, '--include-hook-events'],
    script: ['done'],
  },
  'hooks-prompt-block': {
    files: {
      'CLAUDE.md': 'Rules.\n',
      ...settings({
        hooks: hook('UserPromptSubmit', undefined, says({ decision: 'block', reason: 'not now' })),
      }),
    },
    args: TRUST,
    script: [],
  },
  'hooks-stop': {
    files: settings({
      hooks: hook(
        'Stop',
        undefined,
        `cat > /dev/null; test -e stopped || { touch stopped; printf '{"decision":"block","reason":"once more"}'; }`,
      ),
    }),
    args: TRUST,
    script: ['first', 'second'],
  },

  // Wire
  'wire-allow': { args: ASK, script: [bash('touch x'), 'done'], host: { canUseTool: allow } },
  'wire-deny': {
    args: ASK,
    script: [bash('touch x'), 'done'],
    host: { canUseTool: () => ({ behavior: 'deny', message: 'no' }) },
  },
  'wire-suggestions': {
    args: ASK,
    script: [bash('touch x'), bash('touch y'), write('n.txt'), 'done'],
    host: {
      canUseTool: ({ input, permission_suggestions }) => ({
        behavior: 'allow',
        updatedInput: input,
        updatedPermissions: permission_suggestions,
      }),
    },
  },
  'wire-prompts': { script: ['one', 'two'], host: { prompts: ['first', 'second', '/cost'] } },
  'wire-compact': {
    script: [bash('echo hi'), 'one', 'A summary of it.', 'two'],
    host: { prompts: ['first', '/compact', 'second'] },
  },
  'wire-controls': {
    script: ['one'],
    host: {
      controls: [
        { subtype: 'get_settings' },
        { subtype: 'set_permission_mode', mode: 'acceptEdits' },
        { subtype: 'set_model', model: 'haiku' },
        { subtype: 'mcp_status' },
        { subtype: 'read_my_mind' },
      ],
    },
  },
  'wire-hook-callback': {
    args: ['--allowedTools', 'Bash'],
    script: [bash('touch x'), 'done'],
    host: {
      initialize: { hooks: { PreToolUse: [{ matcher: 'Bash', hookCallbackIds: ['cb'] }] } },
      callback: () => ({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'host',
        },
      }),
    },
  },
  'wire-sdk-server': {
    args: ['--allowedTools', 'mcp__insdk'],
    script: [call('mcp__insdk__ping', { x: 'y' }), 'done'],
    host: { initialize: { sdkMcpServers: ['insdk'] }, mcp: true },
  },

  // Sessions
  'sessions-resume': {
    runs: [
      { args: ['--session-id', SESSION], script: [bash('echo hi'), 'one'] },
      { args: ['--resume', SESSION], prompt: 'more', script: ['two'] },
    ],
  },
  'sessions-continue-fork': {
    runs: [
      { args: ['--session-id', SESSION], script: ['one'] },
      { args: ['--continue', '--fork-session'], prompt: 'more', script: ['two'] },
    ],
  },
  'sessions-compaction': {
    env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000' },
    script: [
      { ...bash('echo hi'), usage: { input_tokens: 99_000, output_tokens: 10 } },
      'A summary of it.',
      'two',
    ],
  },
  'sessions-rewind': {
    files: { 'a.txt': 'one\n' },
    git: true,
    runs: [
      {
        args: ['--session-id', SESSION, '--permission-mode', 'acceptEdits'],
        script: [read('a.txt'), edit('a.txt', 'one', 'two'), write('b.txt'), 'done'],
      },
      {
        args: ['--resume', SESSION, '--rewind-files', '{{FIRST_PROMPT}}'],
        prompt: null,
        script: [],
      },
    ],
  },

  // Agents
  'agents-foreground': {
    files: { 'a.txt': 'a\n' },
    actors: actors([agent('SUBTASK'), 'end'], {
      SUBTASK: [read('a.txt'), bash('touch x'), 'the report'],
    }),
  },
  'agents-background': {
    actors: actors([agent('SUBTASK', { run_in_background: true }), 'end', 'after the report'], {
      SUBTASK: [{ ...bash('echo sub'), delayMs: 150 }, 'the report'],
    }),
  },
  'agents-definition': {
    files: {
      '.claude/agents/a.md': definition(
        'name: a1\ndescription: d\ntools: Read, Bash\nmodel: haiku\nmaxTurns: 2',
        'MARKONE',
      ),
      '.claude/agents/bad.md': definition('name: a2\ntools: 7', 'x'),
    },
    args: TRUST,
    actors: actors(
      [
        agent('SUBTASK', { subagent_type: 'a1' }),
        agent('OTHER', { subagent_type: 'nosuch' }),
        'end',
      ],
      { SUBTASK: [bash('echo 1'), bash('echo 2')] },
    ),
  },
  'agents-resume': {
    actors: actors(
      [
        agent('SUBTASK', { name: 'helper' }),
        call('SendMessage', { to: 'helper', message: 'go on' }),
        'end',
        'after',
      ],
      { SUBTASK: ['first report', 'second report'] },
    ),
  },
  'agents-worktree': {
    git: true,
    files: { 'a.txt': 'a\n', ...settings(rules(['Bash', 'Write', 'Edit'])) },
    args: TRUST,
    actors: actors([agent('SUBTASK', { isolation: 'worktree' }), 'end'], {
      SUBTASK: [write('new.txt'), 'the report'],
    }),
  },
  'agents-main': {
    files: {
      '.claude/agents/a.md': definition('name: a1\ndescription: d\ntools: Read, Bash', 'MARKONE'),
    },
    args: [...TRUST, '--agent', 'a1'],
    script: [bash('echo hi'), 'end'],
  },

  // Skills
  'skills-invoke': {
    files: {
      '.claude/skills/sk/SKILL.md': definition(
        'name: sk\ndescription: d\nallowed-tools: Bash(touch *)',
        'BODY $ARGUMENTS\n!`echo ran`',
      ),
      '.claude/skills/sk/ref.md': 'ref\n',
      ...settings(rules(['Skill'])),
    },
    args: TRUST,
    script: [skill('sk', 'with args'), read('.claude/skills/sk/ref.md'), bash('touch x'), 'done'],
  },
  'skills-typed': {
    files: {
      '.claude/skills/sk/SKILL.md': definition(
        'description: d\ndisable-model-invocation: true',
        'BODY $1',
      ),
      '.claude/commands/cmd.md': 'CMD $ARGUMENTS\n',
    },
    args: TRUST,
    prompt: '/sk one',
    script: [skill('sk'), skill('cmd', 'x'), 'done'],
  },
  'skills-fork': {
    files: {
      '.claude/skills/fk/SKILL.md': definition(
        'description: d\ncontext: fork\nagent: Explore',
        'FORKBODY $ARGUMENTS',
      ),
      ...settings(rules(['Skill'])),
    },
    args: TRUST,
    actors: actors([skill('fk', 'z'), 'end'], { FORKBODY: ['fork report'] }),
  },
  'skills-broken': {
    files: {
      '.claude/skills/b1/SKILL.md': '---\ndescription: "open\n---\nONE\n',
      '.claude/skills/b2/SKILL.md': definition('description: [a, b]\nallowed-tools: 7', 'TWO'),
      '.claude/skills/b3/SKILL.md': 'no head\n',
      '.claude/skills/b4/SKILL.md': definition(
        'description: d\nallowed_tools: Bash\nunknown-key: 1',
        'FOUR',
      ),
    },
    args: TRUST,
    script: [skill('b1'), skill('b2'), skill('b3'), skill('b4'), 'done'],
  },
  'skills-paths-nested': {
    files: {
      '.claude/skills/cond/SKILL.md': definition('description: d\npaths: src/**', 'COND'),
      'src/a.txt': 'a\n',
      'pkg/.claude/skills/nest/SKILL.md': definition('description: nested', 'NEST'),
      'pkg/f.txt': 'f\n',
    },
    args: TRUST,
    script: [read('src/a.txt'), read('pkg/f.txt'), skill('cond'), skill('nest'), 'done'],
  },

  // MCP
  'mcp-stdio': {
    files: servers({ srv: { tools: TOOLS, instructions: 'Call one first.' } }, rules(['mcp__srv'])),
    args: TRUST,
    script: [
      call('mcp__srv__one', { x: 'y' }),
      call('mcp__srv__two'),
      call('mcp__srv__bad'),
      call('mcp__srv__data'),
      call('mcp__srv__picture'),
      call('mcp__srv__typed', { n: 'x' }),
      call('mcp__srv__none'),
      'done',
    ],
  },
  'mcp-stdio-long': {
    files: servers({ srv: { tools: TOOLS } }, rules(['mcp__srv'])),
    args: TRUST,
    script: [call('mcp__srv__long'), 'done'],
  },
  'mcp-stdio-denied': {
    files: servers({ srv: { tools: TOOLS } }, rules(['mcp__srv__one'], ['mcp__srv__two'])),
    args: TRUST,
    script: [
      call('mcp__srv__one', { x: 'y' }),
      call('mcp__srv__two'),
      call('mcp__srv__data'),
      'done',
    ],
  },
  'mcp-stdio-crash': {
    files: servers(
      { srv: { tools: [...TOOLS, { name: 'die', do: { crash: true } }] }, gone: {} },
      rules(['mcp__srv']),
    ),
    args: TRUST,
    script: [call('mcp__srv__die'), call('mcp__srv__two'), 'done'],
  },
  'mcp-stdio-change': {
    files: servers(
      {
        srv: {
          tools: [
            {
              name: 'turn',
              do: {
                become: {
                  tools: [{ name: 'turn', description: 'something else', do: { text: 'x' } }],
                },
              },
            },
          ],
        },
      },
      rules(['mcp__srv']),
    ),
    args: TRUST,
    script: [call('mcp__srv__turn'), call('mcp__srv__turn'), 'done'],
  },
  'mcp-stdio-elicit': {
    files: servers({ srv: { tools: [{ name: 'ask', do: { ask: true } }] } }, rules(['mcp__srv'])),
    args: TRUST,
    script: [call('mcp__srv__ask'), 'done'],
  },
  'mcp-resources': {
    files: servers(
      {
        srv: {
          tools: TOOLS,
          resources: [{ uri: 'note://a', text: 'the note' }],
          prompts: ['greet'],
        },
      },
      rules(['mcp__srv', 'ListMcpResourcesTool', 'ReadMcpResourceTool']),
    ),
    args: TRUST,
    prompt: 'Look at @srv:note://a',
    script: [
      call('ListMcpResourcesTool'),
      call('ReadMcpResourceTool', { server: 'srv', uri: 'note://a' }),
      'done',
    ],
  },
  'mcp-prompt': {
    files: servers({ srv: { tools: TOOLS, prompts: ['greet'] } }),
    args: TRUST,
    prompt: '/mcp__srv__greet word',
    script: ['done'],
  },
  'mcp-untrusted': {
    files: servers({ srv: { tools: TOOLS } }),
    script: [call('mcp__srv__one'), 'done'],
  },
  'mcp-bad-entries': {
    files: {
      '.mcp.json': {
        json: {
          mcpServers: {
            missing: { command: '/no/such/program' },
            odd: { nonsense: true },
            wrong: { type: 'http', url: 'not a url' },
          },
        },
      },
      ...settings({ enableAllProjectMcpServers: true }),
    },
    args: TRUST,
    script: ['done'],
  },
  'mcp-http': {
    http: { tools: TOOLS, instructions: 'Over HTTP.' },
    args: [
      ...TRUST,
      '--allowedTools',
      'mcp__web',
      '--mcp-config',
      '{"mcpServers":{"web":{"type":"http","url":"{{MCP}}","headers":{"x-mine":"1"}}}}',
    ],
    script: [
      call('mcp__web__one', { x: 'y' }),
      call('mcp__web__data'),
      call('mcp__web__bad'),
      'done',
    ],
  },
  'mcp-http-refused': {
    http: { status: 500 },
    args: [...TRUST, '--mcp-config', '{"mcpServers":{"web":{"type":"http","url":"{{MCP}}"}}}'],
    script: ['done'],
  },
  'mcp-agent': {
    files: servers({ srv: { tools: TOOLS } }, rules(['mcp__srv'], ['mcp__srv__two'])),
    args: TRUST,
    actors: actors([agent('SUBTASK'), 'end'], {
      SUBTASK: [call('mcp__srv__one', { x: 'y' }), call('mcp__srv__two'), 'the report'],
    }),
  },
  'mcp-many-tools': {
    files: servers(
      {
        srv: {
          tools: Array.from({ length: 80 }, (_, n) => ({
            name: `tool_${n}`,
            description: `Does the work of number ${n} at great length. `.repeat(30),
          })),
        },
      },
      rules(['mcp__srv']),
    ),
    args: TRUST,
    script: [
      call('ToolSearch', { query: 'select:mcp__srv__tool_7' }),
      call('mcp__srv__tool_7'),
      'done',
    ],
  },
  'mcp-everything': {
    files: published('server-everything'),
    args: TRUST,
    script: [
      call('mcp__pub__echo', { message: 'hi' }),
      call('mcp__pub__get-sum', { a: 1, b: 2 }),
      'done',
    ],
  },
  'mcp-filesystem': {
    files: { 'a.txt': 'alpha\n', ...published('server-filesystem', '.') },
    args: TRUST,
    script: [
      call('mcp__pub__list_directory', { path: '.' }),
      call('mcp__pub__read_text_file', { path: 'a.txt' }),
      call('mcp__pub__read_text_file', { path: '/etc/hostname' }),
      'done',
    ],
  },
  'mcp-memory': {
    files: published('server-memory'),
    env: { MEMORY_FILE_PATH: 'memory.json' },
    args: TRUST,
    script: [
      call('mcp__pub__create_entities', {
        entities: [{ name: 'a', entityType: 't', observations: ['o'] }],
      }),
      call('mcp__pub__read_graph'),
      'done',
    ],
  },
  'plugin-skill-hook': {
    files: {
      'plug/.claude-plugin/plugin.json': {
        json: { name: 'plug', version: '1.0.0', description: 'p' },
      },
      'plug/skills/ps/SKILL.md': definition('description: of a plugin', 'PLUGBODY'),
      'plug/hooks/hooks.json': { json: { hooks: hook('PreToolUse', 'Bash', decides('deny')) } },
    },
    args: [...TRUST, '--plugin-dir', 'plug'],
    script: [skill('plug:ps'), bash('touch x'), 'done'],
  },
};
