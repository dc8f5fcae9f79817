/**
 * Values that others build on, frozen as literals. When one of these fails, the question is not how to
 * make it pass but whether users may be broken: change it only with a line in the changelog.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { TOOL_SCHEMAS } from '../../build/generated/tool-schemas.js';
import { EXIT } from '../../src/cli/exit-code.js';
import * as library from '../../src/index.js';
import { PERMISSION_MODES, RESTRICTIONS, strictest } from '../../src/protocol/permissions.js';
import * as kit from '../../src/testing/index.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const readJson = (name: string) => JSON.parse(readFileSync(path.join(ROOT, name), 'utf8'));

describe('pins', () => {
  it('exit codes', () => {
    expect(EXIT).toEqual({
      done: 0,
      error: 1,
      usage: 2,
      config: 3,
      denied: 4,
      maxTurns: 5,
      budget: 6,
      stuck: 7,
      interrupted: 130,
      terminated: 143,
    });
  });

  it('what the library and the test kit export', () => {
    expect(Object.keys(library).sort()).toEqual([
      'AbortError',
      'EXIT_REASONS',
      'FileSessionStore',
      'HOOK_EVENTS',
      'InMemorySessionStore',
      'PortcullisClient',
      'PortcullisError',
      'ResultError',
      'SYSTEM_PROMPT_DYNAMIC_BOUNDARY',
      'VERSION',
      'createSdkMcpServer',
      'deleteSession',
      'forkSession',
      'getSessionInfo',
      'getSessionMessages',
      'getSubagentMessages',
      'importSessionToStore',
      'listSessions',
      'listSubagents',
      'openSession',
      'query',
      'renameSession',
      'serveConsole',
      'startup',
      'tagSession',
      'tool',
    ]);
    expect(Object.keys(kit).sort()).toEqual([
      'FakeModel',
      'makeTempProject',
      'modelClientContract',
      'runScenario',
      'sessionStoreContract',
      'startFakeModelServer',
      'transcriptStoreContract',
    ]);
  });

  it('entry points of the package', () => {
    const { name, bin, exports, engines } = readJson('package.json');
    expect({ name, bin, entries: Object.keys(exports), engines }).toEqual({
      name: 'portcullis',
      bin: { portcullis: 'bin/portcullis' },
      entries: ['.', './testing', './package.json'],
      engines: { node: '>=20.19' },
    });
  });

  it('permission modes and the order of restrictions', () => {
    expect(PERMISSION_MODES).toEqual([
      'default',
      'acceptEdits',
      'plan',
      'dontAsk',
      'bypassPermissions',
    ]);
    expect(RESTRICTIONS).toEqual(['none', 'ask', 'defer', 'deny']);
    expect(strictest(['none', 'deny', 'ask'])).toBe('deny');
    expect(strictest([])).toBe('none');
  });

  it('required and closed inputs of the tools', () => {
    const shape = Object.fromEntries(
      Object.entries(
        TOOL_SCHEMAS as Record<
          string,
          { required?: readonly string[]; additionalProperties?: unknown }
        >,
      ).map(([name, schema]) => [
        name,
        `${(schema.required ?? []).join(' ')}${schema.additionalProperties === false ? '' : ' (open)'}`,
      ]),
    );
    expect(shape).toEqual({
      Agent: 'description prompt',
      AskUserQuestion: 'questions',
      Bash: 'command',
      BashOutput: 'task_id',
      Edit: 'file_path old_string new_string',
      EnterPlanMode: '',
      ExitPlanMode: ' (open)',
      Glob: 'pattern',
      Grep: 'pattern',
      ListAgents: '',
      ListMcpResourcesTool: '',
      NotebookEdit: 'notebook_path new_source',
      Read: 'file_path',
      ReadMcpResourceTool: 'server uri',
      SendMessage: 'to message',
      Skill: 'skill',
      TaskCreate: 'subject description',
      TaskGet: 'taskId',
      TaskList: '',
      TaskStop: '',
      TaskUpdate: 'taskId',
      TeamMessage: 'to message',
      TodoWrite: 'todos',
      WaitForAgents: '',
      WebFetch: 'url prompt',
      Write: 'file_path content',
      WriteDraft: 'draft_id',
    });
  });
});
