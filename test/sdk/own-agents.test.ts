import { own } from './own.js';
import { subagents } from './suite/subagents.js';

subagents(own);
