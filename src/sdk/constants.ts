import { HOOK_EVENTS as EVENTS } from '../protocol/hooks/hook-events.js';
import type { HookEvent, OwnHookInputs } from './types/index.js';

/** Every event that a hook may be registered for. */
export const HOOK_EVENTS = Object.keys(EVENTS) as readonly (HookEvent | keyof OwnHookInputs)[];

export const EXIT_REASONS = ['clear', 'resume', 'logout', 'prompt_input_exit', 'other'] as const;

/** Stands in a list of prompt parts where those begin that change; it is no text for the model. */
export const SYSTEM_PROMPT_DYNAMIC_BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';
