import { HOOK_EVENTS as EVENTS } from '../protocol/hooks/hook-events.js';
import type { HookEvent, OwnHookInputs } from './types/index.js';

/** Every event that a hook may be registered for. */
export const HOOK_EVENTS = Object.keys(EVENTS) as readonly (HookEvent | keyof OwnHookInputs)[];

export const EXIT_REASONS = ['clear', 'resume', 'logout', 'prompt_input_exit', 'other'] as const;

/** Separates the stable parts of a system prompt from those that change; it is not sent to the model. */
export const SYSTEM_PROMPT_DYNAMIC_BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';
