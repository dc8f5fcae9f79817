import { own } from './own.js';
import { control } from './suite/control.js';
import { interrupt } from './suite/interrupt.js';
import { mcp } from './suite/mcp.js';

control(own);
interrupt(own);
mcp(own);
