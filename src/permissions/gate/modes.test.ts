import { describe, expect, it } from 'vitest';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import { childMode, createAgentModes } from './modes.js';

const at = (path: string) => ({ ...MAIN_AGENT, path, depth: path.split('/').length - 1 });

describe('the mode of an agent', () => {
  it.each([
    ['default', 'acceptEdits', 'acceptEdits'],
    ['default', 'bypassPermissions', 'default'],
    ['default', 'plan', 'plan'],
    ['plan', 'acceptEdits', 'plan'],
    ['plan', 'default', 'plan'],
    ['dontAsk', 'acceptEdits', 'dontAsk'],
    ['acceptEdits', 'default', 'default'],
    ['bypassPermissions', 'plan', 'plan'],
    ['bypassPermissions', 'acceptEdits', 'acceptEdits'],
  ] as const)('under %s, which says %s, is %s', (parent, said, mode) => {
    expect(childMode(parent, said)).toBe(mode);
  });

  it('follows the session, and holds below whoever has it, also after that one has gone', () => {
    let session: PermissionMode = 'default';
    const modes = createAgentModes(() => session);
    const leave = modes.admit(at('main/a#1'), ['plan']);
    const leaveBelow = modes.admit(at('main/a#1/b#1'), ['plan', 'acceptEdits']);
    expect(modes.of(at('main/a#1/b#1/hook#1'))).toBe('plan');
    leave();
    expect(modes.of(at('main/a#1/b#1'))).toBe('plan');
    leaveBelow();
    expect(modes.of(at('main/a#1/b#1'))).toBe('default');
    session = 'acceptEdits';
    expect(modes.of(at('main/x#1'))).toBe('acceptEdits');
    expect(modes.of()).toBe('acceptEdits');
  });

  it('goes down with the session where it has one of its own, and never up', () => {
    let session: PermissionMode = 'acceptEdits';
    let own: PermissionMode = 'acceptEdits';
    const modes = createAgentModes(() => session);
    modes.admit(at('main/mate#1'), [], () => own);
    const now = (mode: PermissionMode, mine: PermissionMode): PermissionMode => {
      session = mode;
      own = mine;
      expect(modes.of(at('main/mate#1/below#1'))).toBe(modes.of(at('main/mate#1')));
      return modes.of(at('main/mate#1'));
    };
    expect(now('acceptEdits', 'acceptEdits')).toBe('acceptEdits');
    expect(now('default', 'acceptEdits')).toBe('default');
    expect(now('plan', 'acceptEdits')).toBe('plan');
    expect(now('dontAsk', 'acceptEdits')).toBe('dontAsk');
    expect(now('default', 'bypassPermissions')).toBe('default');
    expect(now('bypassPermissions', 'default')).toBe('default');
    expect(now('acceptEdits', 'plan')).toBe('plan');
  });
});
