import { expect, it } from 'vitest';
import { HOOK_EVENTS as EVENTS } from '../protocol/hooks/hook-events.js';
import { HOOK_EVENTS } from './constants.js';

it('HOOK_EVENTS names every event, our own among them', () => {
  expect(HOOK_EVENTS).toContain('ToolInputInvalid');
  expect([...HOOK_EVENTS].sort()).toEqual(Object.keys(EVENTS).sort());
});
