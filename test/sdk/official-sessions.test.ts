import { official } from './official.js';
import { limits } from './suite/limits.js';
import { resume } from './suite/resume.js';
import { sessions } from './suite/sessions.js';

resume(official);
sessions(official);
limits(official);
