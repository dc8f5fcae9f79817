import { official } from './official.js';
import { subagents } from './suite/subagents.js';

subagents(official);
