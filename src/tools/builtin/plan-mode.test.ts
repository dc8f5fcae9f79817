import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callTool } from '../../../test/support/permitted-call.js';
import { temporaryDirectory } from '../../../test/support/tool-call.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import { enterPlanModeTool, exitPlanModeTool } from './plan-mode.js';

function modes() {
  const set: PermissionMode[] = [];
  return { set, setMode: (mode: PermissionMode) => void set.push(mode) };
}

describe('EnterPlanMode', () => {
  it('turns plan mode on and says what it means', async () => {
    const { set, setMode } = modes();
    const output = await callTool(enterPlanModeTool(), {}, { mode: 'acceptEdits', setMode });
    expect(set).toEqual(['plan']);
    expect(output.structured).toEqual({ message: output.content });
    expect(output.content).toContain('ExitPlanMode');
  });

  it('helps when it is on already', async () => {
    const { set, setMode } = modes();
    const output = await callTool(enterPlanModeTool(), {}, { mode: 'plan', setMode });
    expect(output.isError).toBe(true);
    expect(set).toEqual([]);
  });
});

describe('ExitPlanMode', () => {
  const setUp = () => {
    const plansDirectory = path.join(temporaryDirectory(), 'plans');
    return { plansDirectory, tool: exitPlanModeTool({ fs: nodeFileSystem, plansDirectory }) };
  };

  it('keeps the approved plan, leaves plan mode and returns the plan', async () => {
    const { plansDirectory, tool } = setUp();
    const { set, setMode } = modes();
    const output = await callTool(tool, { plan: '# Plan\n\n1. do\n' }, { mode: 'plan', setMode });
    const filePath = path.join(plansDirectory, 'session-1.md');
    expect(tool.needsPerson).toBe(true);
    expect(set).toEqual(['default']);
    expect(output.structured).toEqual({ plan: '# Plan\n\n1. do', isAgent: false, filePath });
    expect(output.content).toContain('# Plan\n\n1. do');
    expect(readFileSync(filePath, 'utf8')).toBe('# Plan\n\n1. do\n');
    const again = await callTool(tool, {}, { mode: 'plan', setMode });
    expect(again.structured).toMatchObject({ plan: '# Plan\n\n1. do' });
  });

  it('keeps the file inside its directory whatever the session is called', async () => {
    const { plansDirectory, tool } = setUp();
    const options = { mode: 'plan', sessionId: '../../x' } as const;
    const output = await callTool(tool, { plan: 'p' }, options);
    expect(output.structured).toMatchObject({
      filePath: path.join(plansDirectory, '..%2F..%2Fx.md'),
    });
  });

  it('asks for the plan when there is none', async () => {
    const { tool } = setUp();
    const { set, setMode } = modes();
    for (const input of [{}, { plan: '  ' }]) {
      const output = await callTool(tool, input, { mode: 'plan', setMode });
      expect(output.isError).toBe(true);
      expect(output.content).toContain('`plan`');
    }
    expect(set).toEqual([]);
  });

  it('has nothing to do outside of plan mode', async () => {
    const { set, setMode } = modes();
    const output = await callTool(setUp().tool, { plan: 'p' }, { mode: 'default', setMode });
    expect(output.isError).toBe(true);
    expect(output.content).toContain('not on');
    expect(set).toEqual([]);
  });

  it('leaves the mode that the approval chose', async () => {
    const { set, setMode } = modes();
    const options = { mode: 'acceptEdits', judgedIn: 'plan', setMode } as const;
    const output = await callTool(setUp().tool, { plan: 'p' }, options);
    expect(output.isError).toBeUndefined();
    expect(set).toEqual([]);
  });

  it('does not fail an approved plan because the disk does', async () => {
    const directory = temporaryDirectory();
    const plansDirectory = path.join(directory, 'file');
    writeFileSync(plansDirectory, '');
    const tool = exitPlanModeTool({ fs: nodeFileSystem, plansDirectory });
    const { set, setMode } = modes();
    const output = await callTool(tool, { plan: 'p' }, { mode: 'plan', setMode });
    expect(output.isError).toBeUndefined();
    expect(output.structured).toEqual({ plan: 'p', isAgent: false });
    expect(output.content).toContain('could not be kept');
    expect(set).toEqual(['default']);
  });

  it('takes the open fields that older models send', async () => {
    const { tool } = setUp();
    const input = { plan: 'p', allowedPrompts: [{ tool: 'Bash', prompt: 'x' }], other: 1 };
    expect(await tool.validate(input)).toEqual([]);
  });
});
