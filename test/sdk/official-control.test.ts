import { official } from './official.js';
import { control } from './suite/control.js';
import { interrupt } from './suite/interrupt.js';
import { mcp } from './suite/mcp.js';

mcp(official);
control(official);
interrupt(official);
